"""`certify`: the only maker of certificates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NoReturn

from noisewright.mechanisms.base import Mechanism
from noisewright.problem.errors import EnclosureError, UncertifiedError
from noisewright.problem.matrices import Unchanging
from noisewright.problem.numbers import above, show
from noisewright.problem.privacy import METRIC, MetricPrivacy, PureDP, Requirement
from noisewright.problem.records import load_package
from noisewright.proof.provers import PROVERS, current_rule

load_package("noisewright.proof", later=("profiles", "costs"))

_MAKER = object()


@dataclass(frozen=True, slots=True, init=False)
class Certificate(Unchanging):
    """What was proven: the bound, by which rule, for the mechanism with this digest.

    The bound is the proven value of the requirement's last parameter (epsilon for pure
    differential privacy), at most what was required. `neighbours` says which datasets it is about: those that differ
    by one person who comes or goes (`add-remove`) or is replaced (`replace`), whose element changes (`metric`), or
    those for whom a sensitivity was `declared`. Guarantees: instances come from `certify` alone.

    >>> noise = nw.mechanisms.Additive(nw.Scalar(1), nw.laws.Laplace(1), nw.laws.Lattice.cells("0.01"))
    >>> proven = nw.certify(noise, nw.ApproxDP(1, delta="1e-6"))
    >>> proven.rule, proven.bound, proven.neighbours
    ('approximate/pure/laplace', Fraction(0, 1), 'declared')
    """

    requirement: Requirement
    bound: Fraction
    rule: str
    mechanism: str
    neighbours: str

    def __init__(
        self, requirement: Requirement, bound: Fraction, rule: str, mechanism: str, neighbours: str, maker: object
    ) -> None:
        if maker is not _MAKER or hasattr(self, "mechanism"):
            raise UncertifiedError("a certificate is made by certify(mechanism, requirement) and by nothing else.")
        given = (requirement, bound, rule, mechanism, neighbours)
        for name, value in zip(("requirement", "bound", "rule", "mechanism", "neighbours"), given, strict=True):
            object.__setattr__(self, name, value)

    def __setstate__(self, state: Any) -> NoReturn:
        raise UncertifiedError("a certificate is made by certify(mechanism, requirement) and by nothing else.")

    def __reduce__(self) -> NoReturn:
        raise UncertifiedError("a certificate is proven, not copied; save the certified mechanism and load it.")

    def __str__(self) -> str:
        return f"{self.requirement}: proven with bound {show(self.bound)} by rule {self.rule}"

    def to_dict(self) -> dict[str, Any]:
        """Plain data, numbers as exact text."""
        return {
            "requirement": self.requirement.to_dict(),
            "bound": str(self.bound),
            "rule": self.rule,
            "mechanism": self.mechanism,
            "neighbours": self.neighbours,
        }


def certify(mechanism: Mechanism, requirement: Requirement) -> Certificate:
    """Prove that the mechanism meets the requirement, or refuse.

    Guarantees: for every pair of answers that one person can turn into one another, the requirement
    holds for the law that is drawn. May refuse a true claim; never accepts a false one. Uses exact
    rationals and balls only.

    >>> noise = nw.mechanisms.Additive(nw.Scalar(1), nw.laws.Laplace(1), nw.laws.Lattice.cells("0.01"))
    >>> nw.certify(noise, nw.PureDP(1)).bound
    Fraction(1, 1)
    >>> nw.certify(noise, nw.PureDP("0.9"))
    Traceback (most recent call last):
        ...
    UncertifiedError: refused: over the differences that one person can make, the likelihood ...
    """
    rule = PROVERS.get((type(mechanism), type(requirement)))
    if rule is None:
        raise UncertifiedError(
            f"there is no rule that proves {type(requirement).__name__} for {type(mechanism).__name__} mechanisms."
        )
    try:
        bound, name = rule(mechanism, requirement)
    except ArithmeticError as error:
        raise EnclosureError(
            f"refused: {requirement} of this mechanism is about numbers too large or too small to be computed with"
            f" ({type(error).__name__}); use another unit, or noise of another size."
        ) from None
    if not isinstance(bound, Fraction) or bound < 0:
        raise UncertifiedError(f"refused: rule {name} gave {bound!r}, which is no proven bound; give exact numbers.")
    # Rules bound the last parameter; those for a metric return the largest cost over distance, at most 1.
    claim: Any = requirement
    parameter = list(claim.CARD.given)[-1]
    claimed = getattr(claim, parameter)
    limit = claimed if isinstance(claimed, Fraction) else Fraction(1)
    if bound > limit:
        least = above(bound)
        reached = (
            f"the likelihood ratio reaches e^{least}" if type(requirement) is PureDP else f"{parameter} reaches {least}"
        )
        raise UncertifiedError(
            f"refused: over the differences that one person can make, {reached}, but {parameter} = {show(limit)} was"
            f" claimed (rule {name}). Use noise that is wide enough, or claim {parameter} >= {least}.",
            bound=bound,
            requirement=requirement,
        )
    # A metric is a statement about pairs of elements, whatever the question says of people.
    neighbours = METRIC if type(requirement) is MetricPrivacy else mechanism.relation
    return Certificate(requirement, bound, name, mechanism.digest, neighbours, _MAKER)


def certificate_matches(certificate: Certificate, claimed: Mapping[str, Any]) -> bool:
    """Whether a claim read from a file says exactly what was proven just now.

    Claims of older versions do not name their neighbours; one that does must name the right ones. Rules may be called
    as they were at first.
    """
    said = {"neighbours": certificate.neighbours, **claimed}
    if isinstance(said.get("rule"), str):
        said["rule"] = current_rule(said["rule"])
    return certificate.to_dict() == said

"""`certify`: the only maker of certificates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from noisewright.mechanisms.additive import Additive
from noisewright.problem.errors import UncertifiedError
from noisewright.problem.numbers import show
from noisewright.problem.privacy import PureDP
from noisewright.proof.pure import pure_bound

_MAKER = object()


@dataclass(frozen=True, slots=True)
class Certificate:
    """What was proven: the bound, by which rule, for the mechanism with this digest.

    Guarantees: instances come from `certify` alone.
    """

    requirement: PureDP
    bound: Fraction
    rule: str
    mechanism: str
    maker: object

    def __post_init__(self) -> None:
        if self.maker is not _MAKER:
            raise UncertifiedError("a certificate is made by certify(mechanism, requirement) and by nothing else.")

    def __str__(self) -> str:
        return f"{self.requirement}: proven with bound {show(self.bound)} by rule {self.rule}"

    def to_dict(self) -> dict[str, Any]:
        return {
            "requirement": self.requirement.to_dict(),
            "bound": str(self.bound),
            "rule": self.rule,
            "mechanism": self.mechanism,
        }


def certify(mechanism: Additive, requirement: PureDP) -> Certificate:
    """Prove that the mechanism meets the requirement, or refuse.

    Guarantees: for every pair of answers within the query's sensitivity, and every set of
    released values, the probabilities differ by a factor of at most e^bound, and bound <=
    epsilon. May refuse a true claim; never accepts a false one. Uses exact rationals only.

    Rule: rounding the answer to cells of a step that divides the sensitivity keeps the
    sensitivity; rounding the noise is post-processing; so the bound of the law over all shifts up
    to the sensitivity is the bound of the release.
    """
    if not isinstance(mechanism, Additive):
        raise UncertifiedError(f"there is no rule for mechanisms of type {type(mechanism).__name__}.")
    if not isinstance(requirement, PureDP):
        raise UncertifiedError(f"there is no rule for requirements of type {type(requirement).__name__}.")
    bound, rule = pure_bound(mechanism.law, mechanism.query.sensitivity)
    if bound > requirement.epsilon:
        raise UncertifiedError(
            f"refused: the likelihood ratio of this mechanism reaches e^{_above(bound)}, but epsilon ="
            f" {show(requirement.epsilon)} was claimed (rule {rule}). Use noise that is wide enough, or claim"
            f" epsilon >= {_above(bound)}.",
            bound=bound,
            requirement=requirement,
        )
    return Certificate(requirement, bound, rule, mechanism.digest, _MAKER)


def certificate_matches(certificate: Certificate, claimed: Mapping[str, Any]) -> bool:
    """Whether a claim read from a file says exactly what was proven just now."""
    return certificate.to_dict() == dict(claimed)


def _above(bound: Fraction) -> str:
    """A decimal that is not below the bound."""
    digits = Fraction(f"{float(bound):.6g}")
    return f"{float(digits if digits >= bound else digits * (1 + Fraction(1, 10**5))):.6g}"

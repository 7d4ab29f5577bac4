"""`certify`: the only maker of certificates."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NoReturn

from noisewright.mechanisms.additive import Additive
from noisewright.mechanisms.base import Mechanism
from noisewright.mechanisms.blend import Blend
from noisewright.mechanisms.choice import PermuteAndFlip, RandomExponential
from noisewright.mechanisms.composite import Composite
from noisewright.mechanisms.exponential import MinkowskiExponential
from noisewright.mechanisms.linear import LinearElliptical, LinearLaplace
from noisewright.mechanisms.linear_gaussian import LinearGaussian
from noisewright.mechanisms.norm_shaped import NormShaped
from noisewright.mechanisms.per_coordinate import PerCoordinate
from noisewright.mechanisms.rows import Rows
from noisewright.mechanisms.selection import MetricExponential, MetricMWEM, MetricSmallDB
from noisewright.mechanisms.truncated import Truncated
from noisewright.problem.errors import UncertifiedError
from noisewright.problem.matrices import Unchanging
from noisewright.problem.numbers import above, show
from noisewright.problem.privacy import (
    ApproxDP,
    MetricPrivacy,
    ProbabilisticDP,
    PureDP,
    RenyiDP,
    Requirement,
    ZeroConcentratedDP,
)
from noisewright.proof import metric, vector_gaussian
from noisewright.proof.approximate import approximate_delta
from noisewright.proof.bounded import pure_bounded
from noisewright.proof.choice import pure_choice, pure_exponential, pure_permute_and_flip
from noisewright.proof.probabilistic import probabilistic_delta
from noisewright.proof.pure import pure_bound
from noisewright.proof.renyi import concentrated_rho, renyi_divergence
from noisewright.proof.vectors import norm_shaped_bound, per_coordinate_bound

_MAKER = object()

PROVERS: dict[tuple[type, type], Callable[[Any, Any], tuple[Fraction, str]]] = {
    # Rule: rounding the answer to cells of a step that divides the sensitivity keeps the sensitivity; rounding the
    # noise is post-processing. So what holds for the law over all shifts up to the sensitivity holds for the release:
    # a pure bound, a delta, a divergence. Only probabilistic privacy, which rounding can harm, is that of the lattice.
    (Additive, PureDP): lambda made, wanted: pure_bound(made.law, made.query.sensitivity),
    (Additive, ApproxDP): lambda made, wanted: approximate_delta(made.law, wanted.epsilon, made.query.sensitivity),
    (Additive, ProbabilisticDP): lambda made, wanted: probabilistic_delta(made, wanted.epsilon),
    (Additive, RenyiDP): lambda made, wanted: renyi_divergence(made.law, wanted.alpha, made.query.sensitivity),
    (Additive, ZeroConcentratedDP): lambda made, wanted: concentrated_rho(made.law, made.query.sensitivity),
    (LinearLaplace, MetricPrivacy): metric.metric_laplace,
    (LinearElliptical, MetricPrivacy): metric.metric_elliptical,
    (MetricExponential, MetricPrivacy): metric.metric_exponential,
    (MetricSmallDB, MetricPrivacy): metric.metric_smalldb,
    (MetricMWEM, MetricPrivacy): metric.metric_mwem,
    (RandomExponential, PureDP): pure_choice,
    (PermuteAndFlip, PureDP): pure_permute_and_flip,
    (MinkowskiExponential, PureDP): pure_exponential,
    (PerCoordinate, PureDP): lambda made, wanted: per_coordinate_bound(made),
    (NormShaped, PureDP): lambda made, wanted: norm_shaped_bound(made),
    (PerCoordinate, ApproxDP): vector_gaussian.approximate_per_coordinate,
    (NormShaped, ApproxDP): vector_gaussian.approximate_norm_shaped,
    (LinearGaussian, ApproxDP): vector_gaussian.approximate_linear_gaussian,
    (Rows, PureDP): pure_bounded,
    (Composite, PureDP): pure_bounded,
    (Blend, PureDP): pure_bounded,
    (Truncated, PureDP): pure_bounded,
}
"""Which rule proves which requirement for which mechanism: it returns a bound of the requirement's last parameter and
its own name, or refuses; `certify` compares the bound with what was claimed."""


@dataclass(frozen=True, slots=True, init=False)
class Certificate(Unchanging):
    """What was proven: the bound, by which rule, for the mechanism with this digest.

    The bound is the proven value of the requirement's last parameter (epsilon for pure
    differential privacy), at most what was required. Guarantees: instances come from `certify` alone.
    """

    requirement: Requirement
    bound: Fraction
    rule: str
    mechanism: str

    def __init__(self, requirement: Requirement, bound: Fraction, rule: str, mechanism: str, maker: object) -> None:
        if maker is not _MAKER or hasattr(self, "mechanism"):
            raise UncertifiedError("a certificate is made by certify(mechanism, requirement) and by nothing else.")
        for name, value in (("requirement", requirement), ("bound", bound), ("rule", rule), ("mechanism", mechanism)):
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
        }


def certify(mechanism: Mechanism, requirement: Requirement) -> Certificate:
    """Prove that the mechanism meets the requirement, or refuse.

    Guarantees: for every pair of answers that one person can turn into one another, the requirement
    holds for the law that is drawn. May refuse a true claim; never accepts a false one. Uses exact
    rationals and balls only.
    """
    rule = PROVERS.get((type(mechanism), type(requirement)))
    if rule is None:
        raise UncertifiedError(
            f"there is no rule that proves {type(requirement).__name__} for {type(mechanism).__name__} mechanisms."
        )
    bound, name = rule(mechanism, requirement)
    if not isinstance(bound, Fraction) or bound < 0:
        raise UncertifiedError(f"refused: rule {name} gave {bound!r}, which is no proven bound; give exact numbers.")
    parameter, limit = _claimed(requirement)
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
    return Certificate(requirement, bound, name, mechanism.digest, _MAKER)


def _claimed(requirement: Any) -> tuple[str, Fraction]:
    """The last parameter, which rules bound; those for a metric return the largest cost over distance, at most 1."""
    parameter = list(requirement.CARD.given)[-1]
    value = getattr(requirement, parameter)
    return parameter, value if isinstance(value, Fraction) else Fraction(1)


def certificate_matches(certificate: Certificate, claimed: Mapping[str, Any]) -> bool:
    """Whether a claim read from a file says exactly what was proven just now."""
    return certificate.to_dict() == dict(claimed)

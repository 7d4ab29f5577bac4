"""Additive noise on a lattice."""

from __future__ import annotations

from fractions import Fraction

from noisewright.mechanisms.additive import Additive
from noisewright.problem.errors import UncertifiedError
from noisewright.problem.numbers import show
from noisewright.problem.privacy import (
    ApproxDP,
    ProbabilisticDP,
    PureDP,
    RenyiDP,
    Requirement,
    ZeroConcentratedDP,
)
from noisewright.proof.approximate import approximate_delta
from noisewright.proof.probabilistic import probabilistic_delta
from noisewright.proof.pure import pure_bound
from noisewright.proof.renyi import concentrated_rho, renyi_divergence


def pure_additive(mechanism: Additive, requirement: PureDP) -> tuple[Fraction, str]:
    """Bound of the release from the bound of the law.

    Rule: rounding the answer to cells of a step that divides the sensitivity keeps the
    sensitivity; rounding the noise is post-processing; so the bound of the law over all shifts up
    to the sensitivity is the bound of the release.
    """
    bound, rule = pure_bound(mechanism.law, mechanism.query.sensitivity)
    if bound > requirement.epsilon:
        raise UncertifiedError(
            f"refused: the likelihood ratio of this mechanism reaches e^{above(bound)}, but epsilon ="
            f" {show(requirement.epsilon)} was claimed (rule {rule}). Use noise that is wide enough, or claim"
            f" epsilon >= {above(bound)}.",
            bound=bound,
            requirement=requirement,
        )
    return bound, rule


def approximate_additive(mechanism: Additive, requirement: ApproxDP) -> tuple[Fraction, str]:
    """Delta of the release from that of the law: rounding is post-processing, as above."""
    delta, rule = approximate_delta(mechanism.law, requirement.epsilon, mechanism.query.sensitivity)
    return _at_most(delta, requirement.delta, "delta", rule, requirement)


def probabilistic_additive(mechanism: Additive, requirement: ProbabilisticDP) -> tuple[Fraction, str]:
    """Delta of the lattice noise itself, which rounding can raise."""
    delta, rule = probabilistic_delta(mechanism, requirement.epsilon)
    return _at_most(delta, requirement.delta, "delta", rule, requirement)


def renyi_additive(mechanism: Additive, requirement: RenyiDP) -> tuple[Fraction, str]:
    """Divergence of the release from that of the law: rounding is post-processing."""
    bound, rule = renyi_divergence(mechanism.law, requirement.alpha, mechanism.query.sensitivity)
    return _at_most(bound, requirement.epsilon, "epsilon", rule, requirement)


def concentrated_additive(mechanism: Additive, requirement: ZeroConcentratedDP) -> tuple[Fraction, str]:
    """Concentration of the release from that of the law: rounding is post-processing."""
    bound, rule = concentrated_rho(mechanism.law, mechanism.query.sensitivity)
    return _at_most(bound, requirement.rho, "rho", rule, requirement)


def _at_most(bound: Fraction, limit: Fraction, name: str, rule: str, requirement: Requirement) -> tuple[Fraction, str]:
    if bound > limit:
        raise UncertifiedError(
            f"refused: {name} reaches {above(bound)}, but at most {show(limit)} was claimed (rule {rule}). Use noise"
            f" that is wide enough, or claim {name} >= {above(bound)}.",
            bound=bound,
            requirement=requirement,
        )
    return bound, rule


def above(bound: Fraction) -> str:
    """A decimal of seven digits that is not below the bound."""
    digits = Fraction(f"{float(bound):.6e}")
    shown = digits if digits >= bound else digits * (1 + Fraction(1, 10**6))
    return f"{float(shown):.7g}"

"""Additive noise on a lattice."""

from __future__ import annotations

from fractions import Fraction

from noisewright.mechanisms.additive import Additive
from noisewright.problem.errors import UncertifiedError
from noisewright.problem.numbers import show
from noisewright.problem.privacy import PureDP
from noisewright.proof.pure import pure_bound


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


def above(bound: Fraction) -> str:
    """A decimal of seven digits that is not below the bound."""
    digits = Fraction(f"{float(bound):.6e}")
    shown = digits if digits >= bound else digits * (1 + Fraction(1, 10**6))
    return f"{float(shown):.7g}"

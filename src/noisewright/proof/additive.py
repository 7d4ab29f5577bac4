"""Additive noise on a lattice."""

from __future__ import annotations

from fractions import Fraction

from noisewright.mechanisms.additive import Additive
from noisewright.problem.privacy import ApproxDP, ProbabilisticDP, PureDP, RenyiDP, ZeroConcentratedDP
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
    return pure_bound(mechanism.law, mechanism.query.sensitivity)


def approximate_additive(mechanism: Additive, requirement: ApproxDP) -> tuple[Fraction, str]:
    """Delta of the release from that of the law: rounding is post-processing, as above."""
    return approximate_delta(mechanism.law, requirement.epsilon, mechanism.query.sensitivity)


def probabilistic_additive(mechanism: Additive, requirement: ProbabilisticDP) -> tuple[Fraction, str]:
    """Delta of the lattice noise itself, which rounding can raise."""
    return probabilistic_delta(mechanism, requirement.epsilon)


def renyi_additive(mechanism: Additive, requirement: RenyiDP) -> tuple[Fraction, str]:
    """Divergence of the release from that of the law: rounding is post-processing."""
    return renyi_divergence(mechanism.law, requirement.alpha, mechanism.query.sensitivity)


def concentrated_additive(mechanism: Additive, requirement: ZeroConcentratedDP) -> tuple[Fraction, str]:
    """Concentration of the release from that of the law: rounding is post-processing."""
    return concentrated_rho(mechanism.law, mechanism.query.sensitivity)


def above(bound: Fraction) -> str:
    """A decimal of seven digits that is not below the bound."""
    digits = Fraction(f"{float(bound):.6e}")
    shown = digits if digits >= bound else digits * (1 + Fraction(1, 10**6))
    return f"{float(shown):.7g}"

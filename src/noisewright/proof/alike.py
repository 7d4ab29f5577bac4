"""Histograms: one person changes so many bins, each by one, and every bin has the same noise."""

from __future__ import annotations

from contextlib import suppress
from fractions import Fraction

from noisewright.mechanisms.per_coordinate import IdenticalNoise
from noisewright.problem.errors import InvalidPrivacyError, UncertifiedError
from noisewright.problem.privacy import ApproxDP, ProbabilisticDP, PureDP, RenyiDP, ZeroConcentratedDP
from noisewright.proof.approximate import additive_delta
from noisewright.proof.composed import joint_delta, move_of
from noisewright.proof.probabilistic import probabilistic_delta
from noisewright.proof.provers import proves
from noisewright.proof.pure import pure_bound
from noisewright.proof.renyi import concentrated_rho, renyi_divergence

Proven = tuple[Fraction, str]
_ONE = Fraction(1)


@proves(PureDP, IdenticalNoise)
def pure_alike(mechanism: IdenticalNoise, requirement: PureDP) -> Proven:
    """Log-ratios of independent noises add up over the bins that change."""
    bound, rule = pure_bound(mechanism.part.law, _ONE)
    return mechanism.query.together * bound, f"{rule}, alike"


@proves(ZeroConcentratedDP, IdenticalNoise)
def concentrated_alike(mechanism: IdenticalNoise, requirement: ZeroConcentratedDP) -> Proven:
    """Divergences of independent noises add up."""
    bound, rule = concentrated_rho(mechanism.part.law, _ONE)
    return mechanism.query.together * bound, f"{rule}, alike"


@proves(RenyiDP, IdenticalNoise)
def renyi_alike(mechanism: IdenticalNoise, requirement: RenyiDP) -> Proven:
    """Divergences of independent noises add up."""
    bound, rule = renyi_divergence(mechanism.part.law, requirement.alpha, _ONE)
    return mechanism.query.together * bound, f"{rule}, alike"


@proves(ProbabilisticDP, IdenticalNoise)
def probabilistic_alike(mechanism: IdenticalNoise, requirement: ProbabilisticDP) -> Proven:
    """A loss above epsilon needs one of the bins that change to be above its share of it."""
    together = mechanism.query.together
    bound, rule = probabilistic_delta(mechanism.part, requirement.epsilon / together, _ONE)
    return min(_ONE, together * bound), f"{rule}, alike"


@proves(ApproxDP, IdenticalNoise)
def approximate_alike(mechanism: IdenticalNoise, requirement: ApproxDP) -> Proven:
    """One bin at a time as one number; several by their pure bound, by equal shares, or by composing their losses."""
    together, law = mechanism.query.together, mechanism.part.law
    if together == 1:
        delta, rule = additive_delta(law, requirement, _ONE)
        return delta, f"{rule}, alike"
    with suppress(UncertifiedError):
        bound, rule = pure_bound(law, _ONE)
        if together * bound <= requirement.epsilon:
            return Fraction(0), f"{rule.replace('pure/', 'approximate/pure-', 1)}, alike"
    found = []
    with suppress(UncertifiedError):
        found.append((joint_delta([move_of(law, _ONE)] * together, requirement.epsilon), "approximate/composed, alike"))
    # A share may be too small to be a requirement of its own.
    with suppress(UncertifiedError, InvalidPrivacyError):
        share = ApproxDP(requirement.epsilon / together, requirement.delta / together)
        found.append((together * additive_delta(law, share, _ONE)[0], "approximate/shares-of-epsilon, alike"))
    if not found:
        raise UncertifiedError(
            f"there is no rule for the privacy losses of {type(law).__name__} noise in several bins."
        )
    return min(found)

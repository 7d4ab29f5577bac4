"""Independent noises of several numbers: Renyi, concentrated and probabilistic privacy, and histograms.

Divergences of independent noises add up, so the costs of the numbers that one person moves do. A privacy loss of
several numbers beyond epsilon needs one of them to be beyond its share, so the chances of that add up. Norm-shaped
noise is proven purely, where a delta is allowed too.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction

from noisewright.mechanisms.linear_gaussian import LinearGaussian
from noisewright.mechanisms.norm_shaped import NormShaped
from noisewright.mechanisms.per_coordinate import IdenticalNoise, PerCoordinate
from noisewright.problem.errors import InvalidPrivacyError, UncertifiedError
from noisewright.problem.numbers import show
from noisewright.problem.privacy import ApproxDP, ProbabilisticDP, PureDP, RenyiDP, ZeroConcentratedDP
from noisewright.problem.sensitivity import NormBall
from noisewright.proof.approximate import additive_delta
from noisewright.proof.composed import joint_delta, move_of
from noisewright.proof.probabilistic import probabilistic_delta
from noisewright.proof.provers import proves
from noisewright.proof.pure import pure_bound
from noisewright.proof.renyi import concentrated_rho, pure_to_renyi, renyi_divergence
from noisewright.proof.vector_gaussian import frame_squared_sensitivity, gaussian_in_ball
from noisewright.proof.vectors import (
    Cost,
    largest_sum,
    most_moving,
    moved,
    norm_shaped_bound,
    part_costs,
    per_coordinate_bound,
    worst_cost,
)

Proven = tuple[Fraction, str]


@proves(ZeroConcentratedDP, PerCoordinate)
def concentrated_per_coordinate(mechanism: PerCoordinate, requirement: ZeroConcentratedDP) -> Proven:
    """The largest sum of the numbers' own concentrations, or half the square of the pure bound."""
    cost = part_costs(mechanism, lambda part, far: concentrated_rho(part.law, moved(part, far))[0])
    found = _summed(mechanism, cost, Fraction(1, 2)), "concentrated/independent"
    return found if found[0] <= requirement.rho else _smaller(found, mechanism, "concentrated", lambda e: e**2 / 2)


@proves(RenyiDP, PerCoordinate)
def renyi_per_coordinate(mechanism: PerCoordinate, requirement: RenyiDP) -> Proven:
    """The largest sum of the numbers' own divergences, or what the pure bound implies."""
    alpha = requirement.alpha
    cost = part_costs(mechanism, lambda part, far: renyi_divergence(part.law, alpha, moved(part, far))[0])
    found = _summed(mechanism, cost, alpha / 2), "renyi/independent"
    return (
        found
        if found[0] <= requirement.epsilon
        else _smaller(found, mechanism, "renyi", lambda e: pure_to_renyi(e, alpha))
    )


def _smaller(found: Proven, mechanism: PerCoordinate, notion: str, implied: Callable[[Fraction], Fraction]) -> Proven:
    """The smaller of a proven bound and of what the pure bound implies, where there is one.

    Rule: both hold. In a ball the sum counts every number at its farthest, though they cannot all move so far at once;
    the pure bound knows that. [theory#several-noises-under, theory#the-privacy-profile-of-one-number]
    """
    try:
        pure, rule = per_coordinate_bound(mechanism)
    except UncertifiedError:
        return found
    return min(found, (implied(pure), rule.replace("pure/", f"{notion}/pure-", 1)))


def _summed(mechanism: PerCoordinate, cost: Cost, per_square: Fraction) -> Fraction:
    """The largest sum of costs; Gaussian noise in a ball costs `per_square` times the squared length."""

    def in_ball(chosen: NormBall, start: int) -> Fraction:
        places = range(start, start + chosen.dimension)
        squared = gaussian_in_ball([mechanism.parts[i] for i in places], chosen)
        if squared is None:
            return sum((cost(i, chosen.radius) for i in places), Fraction(0))
        return per_square * squared

    return worst_cost(mechanism.query.sensitivity, cost, in_ball)


@proves(ZeroConcentratedDP, NormShaped)
def concentrated_norm_shaped(mechanism: NormShaped, requirement: ZeroConcentratedDP) -> Proven:
    """Pure epsilon implies epsilon^2 / 2."""
    bound, rule = norm_shaped_bound(mechanism)
    return bound**2 / 2, rule.replace("pure/", "concentrated/pure-", 1)


@proves(RenyiDP, NormShaped)
def renyi_norm_shaped(mechanism: NormShaped, requirement: RenyiDP) -> Proven:
    """Randomised response is the worst of pure privacy."""
    bound, rule = norm_shaped_bound(mechanism)
    return pure_to_renyi(bound, requirement.alpha), rule.replace("pure/", "renyi/pure-", 1)


@proves(ZeroConcentratedDP, LinearGaussian)
def concentrated_linear_gaussian(mechanism: LinearGaussian, requirement: ZeroConcentratedDP) -> Proven:
    """Half the squared length of the longest image of a difference in the frame, in deviations."""
    return _frame(mechanism) / 2, "concentrated/gaussian-frame"


@proves(RenyiDP, LinearGaussian)
def renyi_linear_gaussian(mechanism: LinearGaussian, requirement: RenyiDP) -> Proven:
    """The order times that."""
    return requirement.alpha * _frame(mechanism) / 2, "renyi/gaussian-frame"


def _frame(mechanism: LinearGaussian) -> Fraction:
    longest = frame_squared_sensitivity(mechanism.query, mechanism.matrix, mechanism.step)
    return longest * (mechanism.step / mechanism.std) ** 2


@proves(ProbabilisticDP, PerCoordinate)
def probabilistic_per_coordinate(mechanism: PerCoordinate, requirement: ProbabilisticDP) -> Proven:
    """Zero by the pure bound, or else the largest sum of the chances that a number's loss exceeds its share.

    Rule: if t numbers move, a loss above epsilon needs one of them above epsilon / t. Chances are those of the lattice
    noise in both directions, as for one number. [theory#the-privacy-profile-of-one-number]
    """
    query, epsilon = mechanism.query, requirement.epsilon
    share = epsilon / most_moving(query.sensitivity, query.whole)
    cost = part_costs(mechanism, lambda part, far: probabilistic_delta(part, share, moved(part, far))[0])
    with suppress(UncertifiedError):
        if per_coordinate_bound(mechanism)[0] <= epsilon:
            return Fraction(0), "probabilistic/pure-independent"

    def in_ball(chosen: NormBall, start: int) -> Fraction:
        costs = (cost(i, chosen.radius) for i in range(start, start + chosen.dimension))
        return largest_sum(costs, most_moving(chosen, query.whole, start))

    delta = worst_cost(query.sensitivity, cost, in_ball)
    return min(Fraction(1), delta), "probabilistic/shares-of-epsilon"


@proves(ApproxDP, NormShaped)
@proves(ProbabilisticDP, NormShaped)
def norm_shaped_without_delta(mechanism: NormShaped, requirement: ApproxDP | ProbabilisticDP) -> Proven:
    """Pure differential privacy implies both with delta = 0; nothing else is known."""
    bound, rule = norm_shaped_bound(mechanism)
    if bound > requirement.epsilon:
        raise UncertifiedError(
            f"refused: norm-shaped noise is certified by its pure bound, {float(bound):.6g}, which exceeds epsilon ="
            f" {show(requirement.epsilon)}.",
            bound=bound,
        )
    return Fraction(0), rule.replace("pure/", f"{requirement.CARD.kind}/pure-", 1)


# Histograms: one person changes so many bins, each by one, and every bin has the same noise.

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

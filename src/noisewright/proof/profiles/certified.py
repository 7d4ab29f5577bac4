"""The profile of a certified mechanism, and the pairs of neighbours that bound it from below."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from functools import singledispatch
from typing import TYPE_CHECKING, Any, TypeVar

from noisewright.laws.gaussian import Gaussian
from noisewright.mechanisms.additive import Additive
from noisewright.mechanisms.base import Mechanism
from noisewright.mechanisms.linear.noise import ColumnGaussian
from noisewright.mechanisms.linear_gaussian import LinearGaussian
from noisewright.mechanisms.norm_shaped import NormShaped
from noisewright.mechanisms.per_coordinate import IdenticalNoise, PerCoordinate
from noisewright.mechanisms.selection import RandomExponential
from noisewright.mechanisms.strategies.strategy import GaussianStrategy, LaplaceStrategy
from noisewright.problem.errors import UncertifiedError
from noisewright.problem.privacy import ApproxDP, MetricPrivacy, ProbabilisticDP, PureDP, RenyiDP, ZeroConcentratedDP
from noisewright.problem.sensitivity import Groups, NormBall
from noisewright.proof.linear import column_squared_sensitivity
from noisewright.proof.metric import farthest
from noisewright.proof.profiles.base import GaussianProfile, LowerPair, PairProfile, Profile, least, most
from noisewright.proof.profiles.choice import BoundedRangeProfile
from noisewright.proof.profiles.joint import joint
from noisewright.proof.profiles.laws import law_profile, lower_pair
from noisewright.proof.profiles.renyi import ConcentratedProfile, RenyiProfile
from noisewright.proof.strategies import strategy_l1_sensitivity, strategy_squared_sensitivity
from noisewright.proof.vector_gaussian import frame_squared_sensitivity, vector_squared_sensitivity
from noisewright.proof.vectors import norm_shaped_bound, per_coordinate_bound, refuse_uncovered, worst_moves

if TYPE_CHECKING:
    from noisewright.proof.certify import Certificate  # which loads this package, and this file with it

ProfileRule = TypeVar("ProfileRule", bound=Callable[[Any], Profile])
CountedPairs = tuple[tuple[LowerPair, int], ...]

PROFILES: dict[type, Callable[[Any], Profile]] = {}
"""The rule that gives a kind of mechanism its profile."""


def profiled(*mechanisms: type) -> Callable[[ProfileRule], ProfileRule]:
    """Enter the rule below as the one that gives these mechanisms their profile."""

    def enter(rule: ProfileRule) -> ProfileRule:
        PROFILES.update(dict.fromkeys(mechanisms, rule))
        return rule

    return enter


def profile_of(mechanism: Mechanism, certificate: Certificate) -> Profile:
    """Upper bounds of delta(epsilon) over every ordered pair of neighbours of the certificate.

    A mechanism without a rule of its own, or whose rule refuses it, is known by what its certificate implies. Raises
    UncertifiedError for a certificate of another mechanism, and where neither says anything about delta.
    """
    if certificate.mechanism != mechanism.digest:
        raise UncertifiedError("refused: the certificate belongs to another mechanism; certify this one.")
    if (rule := PROFILES.get(type(mechanism))) is not None:
        with suppress(UncertifiedError):
            return rule(mechanism)
    return _of_requirement(certificate.requirement, certificate.bound)


@singledispatch
def _of_requirement(requirement: Any, bound: Fraction) -> Profile:
    """What a requirement, with its last parameter replaced by the proven bound, says about delta."""
    raise UncertifiedError(
        f"refused: {requirement} has no single delta at an epsilon, and {type(requirement).__name__} is all that is"
        " known of this mechanism; certify it for pure or approximate privacy."
    )


@_of_requirement.register
def _profile_implied_by_pure_dp(requirement: PureDP, bound: Fraction) -> Profile:
    return PairProfile(bound)


@_of_requirement.register(ApproxDP)
@_of_requirement.register(ProbabilisticDP)
def _profile_implied_by_approximate_dp(requirement: ApproxDP | ProbabilisticDP, bound: Fraction) -> Profile:
    """Probabilistic privacy implies the approximate one with the same numbers."""
    return PairProfile(requirement.epsilon, bound)


@_of_requirement.register
def _profile_implied_by_metric_privacy(requirement: MetricPrivacy, bound: Fraction) -> Profile:
    """No two elements are told apart at more than the largest distance; what nearer ones keep is not told."""
    return PairProfile(bound * farthest(requirement.metric), rule="profile/largest-distance")


@_of_requirement.register
def _profile_implied_by_zero_concentrated_dp(requirement: ZeroConcentratedDP, bound: Fraction) -> Profile:
    return ConcentratedProfile(bound)


@_of_requirement.register
def _profile_implied_by_renyi_dp(requirement: RenyiDP, bound: Fraction) -> Profile:
    return RenyiProfile(requirement.alpha, bound)


@profiled(Additive)
def additive_profile(mechanism: Additive) -> Profile:
    """The profile of the law at the sensitivity.

    Rule: rounding the answer to cells of a step that divides the sensitivity keeps the sensitivity; rounding the noise
    is post-processing. [theory#what-a-certificate-says]
    """
    return law_profile(mechanism.law, mechanism.query.sensitivity)


@profiled(IdenticalNoise)
def alike_profile(mechanism: IdenticalNoise) -> Profile:
    """One person changes so many bins by one each, and their noises are independent."""
    return joint([(law_profile(mechanism.part.law, Fraction(1)), mechanism.query.together)])


@profiled(PerCoordinate)
def per_coordinate_profile(mechanism: PerCoordinate) -> Profile:
    """Gaussian noise by the longest difference; else the worst of the choices of numbers that move together.

    Rule: profiles are those of all shifts up to the extent of a number, so that a choice which moves the same laws at
    least as far covers another one (see `composed`). A ball lies in the box of its radius; its pure bound, where
    there is one, is that of the ball itself, and the smaller of the two holds. [theory#several-noises-under]
    """
    query = mechanism.query
    refuse_uncovered(query, [part is not None for part in mechanism.parts])
    laws = [part.law for part in mechanism.parts if part is not None]
    if laws and all(isinstance(law, Gaussian) for law in laws):
        return GaussianProfile(vector_squared_sensitivity(mechanism), "profile/gaussian-vector")
    choices = worst_moves(mechanism, query.sensitivity, lambda law, far: (law, far))
    # Whole numbers that could move by less than one do not move at all.
    found = most(*([joint([(law_profile(*move), 1) for move in choice]) for choice in choices] or [joint([])]))
    if isinstance(query.sensitivity, NormBall | Groups):
        with suppress(UncertifiedError):
            bound, rule = per_coordinate_bound(mechanism)
            return least(found, PairProfile(bound, rule=f"profile/{rule}"))
    return found


@profiled(NormShaped)
def norm_shaped_profile(mechanism: NormShaped) -> Profile:
    """Known by its pure bound alone."""
    bound, rule = norm_shaped_bound(mechanism)
    return PairProfile(bound, rule=f"profile/{rule}")


@profiled(LinearGaussian)
def linear_gaussian_profile(mechanism: LinearGaussian) -> Profile:
    """The longest image of a difference in the frame, in deviations."""
    longest = frame_squared_sensitivity(mechanism.query, mechanism.matrix, mechanism.step)
    return GaussianProfile(longest * (mechanism.step / mechanism.std) ** 2, "profile/gaussian-frame")


@profiled(ColumnGaussian)
def column_gaussian_profile(mechanism: ColumnGaussian) -> Profile:
    """The longest difference of two columns, rounding included, in deviations (see `linear`)."""
    return GaussianProfile(column_squared_sensitivity(mechanism) / mechanism.std**2, "profile/gaussian-columns")


@profiled(GaussianStrategy)
def gaussian_strategy_profile(mechanism: GaussianStrategy) -> Profile:
    """How far one person moves the measured rows, in deviations (see `strategy`)."""
    return GaussianProfile(strategy_squared_sensitivity(mechanism), "profile/gaussian-strategy")


@profiled(LaplaceStrategy)
def laplace_strategy_profile(mechanism: LaplaceStrategy) -> Profile:
    """Known by its pure bound."""
    return PairProfile(strategy_l1_sensitivity(mechanism), rule="profile/laplace-strategy")


@profiled(RandomExponential)
def exponential_profile(mechanism: RandomExponential) -> Profile:
    """Bounded ranges (see `BoundedRangeProfile`); scores read from floats have their room in the rate."""
    return BoundedRangeProfile(mechanism.epsilons, mechanism.weights)


def lower_pairs_of(mechanism: Mechanism) -> CountedPairs | None:
    """Pairs of neighbours, and how often each, whose losses add up to those of one pair of the mechanism.

    The pair is the one that all releases of a plan may share: every answer is larger by its sensitivity on the same
    side. None where no such pair is known. Compose all of them as they are, or all of them `turned`; either is a lower
    end of what a plan loses.
    """
    if isinstance(mechanism, Additive):
        found = lower_pair(mechanism.law, mechanism.query.sensitivity, mechanism.lattice)
        return None if found is None else ((found, 1),)
    if isinstance(mechanism, IdenticalNoise) and not mechanism.query.replace:
        found = lower_pair(mechanism.part.law, Fraction(1), mechanism.part.lattice)
        return None if found is None else ((found, mechanism.query.together),)
    return None

"""What a certified release costs in every currency that a sum over releases may be kept in, proven.

A ledger adds up epsilons, (epsilon, delta) pairs, concentrations, squared lengths of Gaussian curves or divergences of
one order. `MechanismCosts` says what a mechanism with a certificate costs in each; None where nothing is proven.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import singledispatch
from statistics import NormalDist
from typing import Any, Protocol

from noisewright.laws.gaussian import Gaussian, GeneralizedGaussian
from noisewright.mechanisms.additive import Additive
from noisewright.mechanisms.linear.noise import ColumnGaussian
from noisewright.mechanisms.linear_gaussian import LinearGaussian
from noisewright.mechanisms.per_coordinate import IdenticalNoise, PerCoordinate
from noisewright.mechanisms.strategies.strategy import GaussianStrategy
from noisewright.numerics.balls import ball, certainly_at_most, precision
from noisewright.problem.errors import InvalidPrivacyError, UncertifiedError
from noisewright.problem.privacy import (
    LARGEST_DIVERGENCE,
    LARGEST_EPSILON,
    ApproxDP,
    MetricPrivacy,
    ProbabilisticDP,
    PureDP,
    RenyiDP,
    Requirement,
    ZeroConcentratedDP,
)
from noisewright.proof.linear import column_squared_sensitivity
from noisewright.proof.provers import PROVERS
from noisewright.proof.renyi import concentrated_rho, pure_to_renyi
from noisewright.proof.strategies import strategy_squared_sensitivity
from noisewright.proof.vector_gaussian import frame_squared_sensitivity, vector_squared_sensitivity

EpsilonDelta = tuple[Fraction, Fraction]
NO_DELTA = Fraction(0)
_BITS = 192
_GRID = 1 << 80
_WORTH_A_DELTA = Fraction(9, 10)
_SMALL, _LARGE = Fraction(1, 1 << 20), 600


class Costs(Protocol):
    """What one release, or a whole plan of them, costs; every number is a proven upper bound, None if there is none.

    `spare` is a delta that a rule can well spare: a plan, which knows an epsilon for every delta, takes the one there.
    A single release has its delta already.
    """

    def pure(self) -> Fraction | None:
        """Epsilon of pure privacy."""

    def pair(self, spare: Fraction = NO_DELTA) -> EpsilonDelta | None:
        """One (epsilon, delta), chosen once."""

    def gaussian(self, spare: Fraction = NO_DELTA) -> EpsilonDelta | None:
        """(mu^2, delta): but for delta, no easier to tell apart than normal laws at distance mu."""

    def concentrated(self, spare: Fraction = NO_DELTA) -> EpsilonDelta | None:
        """(rho, delta): but for delta, the Renyi divergence of every order a > 1 is at most rho a."""

    def divergence(self, order: Fraction) -> Fraction | None:
        """The Renyi divergence of one order."""

    def metric(self) -> Any | None:
        """The distance up to which two elements can be told apart, for metric privacy; None for all other kinds."""


class MechanismCosts:
    """What a mechanism costs by what its certificate says and by what else the verifier proves of it.

    Guarantees: each answer holds for the law that is drawn, over the neighbours of the certificate. Under metric
    privacy only `metric` is known.
    """

    def __init__(self, mechanism: Any, certificate: Any) -> None:
        self._mechanism, self._certificate = mechanism, certificate
        self._held = certificate.requirement
        self._on_a_metric = isinstance(self._held, MetricPrivacy)
        self._found: dict[Requirement, Fraction | None] = {}

    def metric(self) -> Any | None:
        """The certificate's own metric, if it is one of metric privacy."""
        return self._held.metric if isinstance(self._held, MetricPrivacy) else None

    def pure(self) -> Fraction | None:
        """The certificate's bound, or what a claim of pure privacy would be proven with, whichever is smaller.

        Rule: (epsilon, 0) is pure epsilon. [DworkRoth14]
        """
        if isinstance(self._held, PureDP):
            return self._certificate.bound  # type: ignore[no-any-return]  # a rational
        said = self._held.epsilon if self._said_pair() and not self._certificate.bound else None
        return _smaller(said, self._proven(PureDP(LARGEST_EPSILON)))

    def pair(self, spare: Fraction = NO_DELTA) -> EpsilonDelta | None:
        """What the certificate says; (epsilon, 0) where pure privacy is proven at no larger an epsilon."""
        pure = self.pure()
        if self._said_pair() and (pure is None or pure > self._held.epsilon):
            return self._held.epsilon, self._certificate.bound
        return None if pure is None else (pure, Fraction(0))

    def gaussian(self, spare: Fraction = NO_DELTA) -> EpsilonDelta | None:
        """The squared length of the longest difference in units of continuous Gaussian noise, or what a pair implies.

        Rule: the worst (epsilon, delta)-private pair of laws is revealed with probability delta and else randomised
        response, whose trade-off curve has one corner, at 1/(1 + e^epsilon); the normal curve through that corner is
        convex and so lies below (`squared_of_pure`). Discrete Gaussian noise has no mu of its own: at small deviations
        its delta exceeds that of the continuous law. [KairouzOhViswanath15, DongRothSu22]
        """
        if self._on_a_metric:
            return None
        square = _attempt(lambda: gaussian_square(self._mechanism))
        pure = self.pure()
        implied = None if pure is None else squared_of_pure(pure)
        pair = self.pair()
        return _chosen(_smaller(square, implied), None if pair is None else (squared_of_pure(pair[0]), pair[1]))

    def concentrated(self, spare: Fraction = NO_DELTA) -> EpsilonDelta | None:
        """The proven rho; epsilon^2 / 2 of pure privacy, or of a pair with its delta.

        Rule: pure epsilon implies rho = epsilon^2 / 2; what a pair leaves open is a pure release but for delta.
        [BunSteinke16]
        """
        if self._on_a_metric:
            return None
        said = self._certificate.bound if isinstance(self._held, ZeroConcentratedDP) else None
        rho = _smaller(said, self._proven(ZeroConcentratedDP(LARGEST_DIVERGENCE)))
        pure = self.pure()
        rho = _smaller(rho, None if pure is None else pure**2 / 2)
        pair = self.pair()
        return _chosen(rho, None if pair is None else (pair[0] ** 2 / 2, pair[1]))

    def divergence(self, order: Fraction) -> Fraction | None:
        """The proven divergence; what pure privacy, a concentration or a certificate of a higher order implies."""
        if self._on_a_metric:
            return None
        said = None
        if isinstance(self._held, RenyiDP) and self._held.alpha >= order:
            said = self._certificate.bound
        found = _smaller(said, self._proven(RenyiDP(order, LARGEST_DIVERGENCE)))
        pure, concentrated = self.pure(), self.concentrated()
        found = _smaller(found, None if pure is None else pure_to_renyi(pure, order) if pure else pure)
        # A concentration that holds but for a delta bounds no divergence.
        return _smaller(found, concentrated[0] * order if concentrated and not concentrated[1] else None)

    def _said_pair(self) -> bool:
        return isinstance(self._held, ApproxDP | ProbabilisticDP)

    def _proven(self, requirement: Requirement) -> Fraction | None:
        if self._on_a_metric:
            return None
        if requirement not in self._found:
            rule = PROVERS.get((type(self._mechanism), type(requirement)))
            found = None if rule is None else _attempt(lambda: rule(self._mechanism, requirement)[0])
            self._found[requirement] = found if isinstance(found, Fraction) and found >= 0 else None
        return self._found[requirement]


def _attempt(prove: Any) -> Fraction | None:
    """What a rule proves; None where it refuses, or balls do not enclose it."""
    try:
        return prove()  # type: ignore[no-any-return]  # a rational or None
    except (UncertifiedError, InvalidPrivacyError, ArithmeticError):
        return None


def _smaller(one: Fraction | None, other: Fraction | None) -> Fraction | None:
    found = [bound for bound in (one, other) if bound is not None]
    return min(found, default=None)


def _chosen(whole: Fraction | None, but_for_delta: EpsilonDelta | None) -> EpsilonDelta | None:
    """What holds without a delta, unless what holds but for one is smaller by more than a tenth."""
    if but_for_delta is None or (whole is not None and whole <= but_for_delta[0] / _WORTH_A_DELTA):
        return None if whole is None else (whole, Fraction(0))
    return but_for_delta


def squared_of_pure(epsilon: Fraction) -> Fraction:
    """A rational at or above mu^2 for mu = -2 Phi^-1(1 / (1 + e^epsilon)).

    Guarantees: its root m was checked, Phi(-m/2) <= 1/(1 + e^epsilon), so m >= mu; it is within a millionth of it
    for every epsilon from 1e-5 to 32.
    """
    if not epsilon:
        return Fraction(0)
    start = _about(epsilon)
    slack = Fraction(1, 1 << 40)
    while True:
        root = Fraction(-(-start * (1 + slack) * _GRID // 1), _GRID)
        if _beyond(root, epsilon):
            return root**2
        slack *= 2


def _about(epsilon: Fraction) -> Fraction:
    """About mu, in floats, or by its limits where floats are too coarse: sqrt(pi / 2) epsilon, sqrt(8 epsilon)."""
    if epsilon < _SMALL:
        return epsilon * Fraction(math.sqrt(math.pi / 2))
    if epsilon > _LARGE:
        return Fraction(math.isqrt(math.ceil(8 * epsilon)))
    return Fraction(-2 * NormalDist().inv_cdf(1 / (1 + ball_exp(epsilon))))


def ball_exp(epsilon: Fraction) -> float:
    """e^epsilon as a float, for a search whose result is checked."""
    with precision(_BITS):
        return float(ball(epsilon).exp().mid())


def _beyond(root: Fraction, epsilon: Fraction) -> bool:
    """Whether Phi(-root/2) <= 1/(1 + e^epsilon) for sure."""
    with precision(_BITS):
        tail = (ball(root) / (2 * ball(2).sqrt())).erfc() / 2
        return certainly_at_most(tail, 1 / (1 + ball(epsilon).exp()))


@singledispatch
def gaussian_square(mechanism: Any) -> Fraction | None:
    """mu^2 of a mechanism whose noise is continuous Gaussian noise, rounded or not; None for all others.

    Rule: Gaussian laws shifted by d are told apart as normal laws at distance |d| in units of the noise, the longer
    the easier; rounding to the lattice is post-processing. [BalleWang18, DongRothSu22]
    """
    return None


@gaussian_square.register
def _gaussian_square_of_additive(mechanism: Additive) -> Fraction | None:
    return law_square(mechanism.law, mechanism.query.sensitivity)


@gaussian_square.register
def _gaussian_square_of_alike(mechanism: IdenticalNoise) -> Fraction | None:
    """Squared lengths of the bins that change add up."""
    one = law_square(mechanism.part.law, Fraction(1))
    return None if one is None else mechanism.query.together * one


@gaussian_square.register
def _gaussian_square_of_per_coordinate(mechanism: PerCoordinate) -> Fraction | None:
    laws = [part.law for part in mechanism.parts if part is not None]
    return vector_squared_sensitivity(mechanism) if laws and all(isinstance(law, Gaussian) for law in laws) else None


@gaussian_square.register
def _gaussian_square_of_linear_gaussian(mechanism: LinearGaussian) -> Fraction | None:
    longest = frame_squared_sensitivity(mechanism.query, mechanism.matrix, mechanism.step)
    return longest * (mechanism.step / mechanism.std) ** 2


@gaussian_square.register
def _gaussian_square_of_gaussian_strategy(mechanism: GaussianStrategy) -> Fraction | None:
    return strategy_squared_sensitivity(mechanism)


@gaussian_square.register
def _gaussian_square_of_column_gaussian(mechanism: ColumnGaussian) -> Fraction | None:
    return column_squared_sensitivity(mechanism) / mechanism.std**2


def law_square(law: Any, sensitivity: Fraction) -> Fraction | None:
    """mu^2 of continuous Gaussian noise on a number that moves by so much at most; None for other laws."""
    normal = isinstance(law, Gaussian) or (isinstance(law, GeneralizedGaussian) and law.power == 2)
    return 2 * concentrated_rho(law, sensitivity)[0] if normal else None

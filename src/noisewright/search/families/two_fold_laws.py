"""Parametric second folds: shapes searched in floats, scales calibrated to epsilon in balls.

Multiplying the rate by a factor multiplies every distance by it, so whatever the shape of a fold, one
factor makes its privacy exactly epsilon; only the shape is searched.

Under (epsilon, delta) the best mixture of two Gaussian noises likewise. Corollary F.3 of the R2DP paper takes the mean
of the parts' deltas, under which a mixture never helps where delta is small; its exact profile is much smaller, because
the wide part hides what the tails of the narrow one tell.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from noisewright.laws.gaussian import GaussianMixture
from noisewright.laws.two_fold import (
    Ensemble,
    Fold,
    GammaFold,
    NoncentralChiSquaredFold,
    RayleighFold,
    TruncatedNormalFold,
    TwoFold,
    UniformFold,
)
from noisewright.numerics.bisection import first_true, gallop
from noisewright.numerics.fields import FLOATS
from noisewright.problem.errors import EnclosureError, InvalidLawError, SolverError
from noisewright.problem.privacy import ApproxDP
from noisewright.problem.queries import Scalar
from noisewright.problem.utilities import Utility
from noisewright.proof.mixtures import mixture_delta
from noisewright.proof.pure import pure_bound
from noisewright.search.families.approximate import float_value
from noisewright.search.families.calibration import rounded_up

_DIGITS = 10**6
_MOSTLY = 8.0
_MOST_BITS = 44

Shape = Sequence[float]
Cost = Callable[[Fold, float], float]
"""What a fold costs when the given distance of it is made one sensitivity."""
_STARTS = ((1.0, -1.0), (2.0, -2.5), (0.7, 0.0), (3.0, -4.0))
_EVALUATIONS = 80
_POINTS = 1500
_WIDEST = 5.0
_RATIO_DIGITS = 1000
_MARGIN = 2.0**-22
_MOST_MARGINS = 40


@dataclass(frozen=True, slots=True)
class Family:
    """A family of folds up to scale: how many shape parameters, where to start, how to make one."""

    name: str
    start: tuple[float, ...]
    make: Callable[[Shape], Fold]
    more_starts: tuple[tuple[float, ...], ...] = ()
    evaluations: int = 120


def _rational(value: float, low: float, high: float) -> Fraction:
    return Fraction(min(max(value, low), high)).limit_denominator(_DIGITS)


def _positive(log_value: float, low: float, high: float) -> Fraction:
    return _rational(math.exp(min(max(log_value, -50), 50)), low, high)


def _truncated(shape: Shape) -> Fold:
    low = _positive(shape[1], 1e-3, 12.0)
    high = low + _positive(shape[2], 0.05, 12.0)
    # Within six spreads floats tell the two ends apart.
    centre = _rational(shape[0], float(low) - 6, float(high) + 6)
    return TruncatedNormalFold(centre, Fraction(1), low, high)


FAMILIES = (
    Family("gamma fold", (1.5,), lambda s: GammaFold(_positive(s[0], 0.02, 500), Fraction(1))),
    Family("uniform fold", (-1.0,), lambda s: UniformFold(_positive(s[0], 1e-6, 0.999), Fraction(1))),
    Family("truncated normal fold", (1.0, -1.0, 1.0), _truncated),
    Family(
        "noncentral chi-squared fold",
        (2.0, 1.0),
        lambda s: NoncentralChiSquaredFold(_positive(s[0], 0.02, 500), _positive(s[1], 1e-3, 500), Fraction(1)),
    ),
    Family("Rayleigh fold", (), lambda s: RayleighFold(Fraction(1))),
)
"""The folds of the R2DP paper that have parameters to search."""


def ensemble_family(parts: list[Fold]) -> Family:
    """Positive combinations of the given folds; the first coefficient is 1, since scale is free."""

    def make(shape: Shape) -> Fold:
        return Ensemble((Fraction(1), *(_positive(s, 1e-5, 1e5) for s in shape)), tuple(parts))

    # All alike, then each part almost alone: the ensemble should not end below its best part.
    count = len(parts) - 1
    alone = tuple(tuple(_MOSTLY if i == j else 0.0 for j in range(count)) for i in range(count))
    return Family("ensemble of folds", (0.0,) * count, make, ((-_MOSTLY,) * count, *alone), 50)


def best_fold(family: Family, cost_at: Cost, epsilon: Fraction) -> Fold:
    """The best fold of a family, as far as the search finds it, calibrated to sensitivity 1.

    Guarantees: the returned fold was checked in balls to be epsilon-DP at sensitivity 1.
    """

    def cost(shape: Shape) -> float:
        try:
            fold = family.make(shape)
            return min(cost_at(fold, calibrating_distance(fold, float(epsilon))), 1e300)
        except (InvalidLawError, ArithmeticError):
            return 1e300

    shape: Shape = family.start
    if shape:
        from scipy.optimize import minimize

        more = family.more_starts or [[s + shift for s in family.start] for shift in (-2.0, 2.0, 4.0)]
        options = {"maxfev": family.evaluations, "xatol": 1e-5, "fatol": 0.0}
        found = minimize(cost, min([family.start, *more], key=cost), method="Nelder-Mead", options=options)
        shape = [float(s) for s in found.x]
    return calibrated(family.make(shape), epsilon)


def calibrating_distance(fold: Fold, rate: float) -> float:
    """The distance at which the density of the noise has fallen by e^rate: what the sensitivity should be."""
    top = float(fold.slope(0.0, FLOATS))

    def drop(x: float) -> float:
        here = float(fold.slope(x, FLOATS))
        return math.log(top / here) if here > 0 else math.inf

    low, high = 0.0, rate / top
    while drop(high) < rate:
        low, high = high, 2 * high
        if high > 1e200:
            raise EnclosureError("the density of this fold does not fall far enough")
    return first_true(lambda x: drop(x) < rate, high, low)


def cost_of(fold: Fold, utility: Utility, distance: float) -> float:
    """Cost in sensitivities when `distance` of the unscaled fold is one sensitivity, in floats."""
    if utility.edges:
        return float(fold.transform(float(utility.edges[0]) * distance, FLOATS))
    if utility.power is not None:
        moment = float(fold.inverse_moment(utility.power, FLOATS))
        return float(math.gamma(float(utility.power) + 1) * moment / distance ** float(utility.power))
    outside = 1 - float(utility.confidence)

    def reached(x: float) -> bool:
        return float(fold.transform(x, FLOATS)) <= outside

    return first_true(reached, *gallop(reached, 0.0, 1.0)) / distance


def calibrated(fold: Fold, epsilon: Fraction, sensitivity: Fraction = Fraction(1)) -> Fold:
    """The fold scaled so that its noise is epsilon-DP at the sensitivity; the returned end was checked in balls."""
    distance = Fraction(calibrating_distance(fold, float(epsilon))) / sensitivity
    for bits in range(_MOST_BITS, 0, -1):
        scaled = fold.scaled((distance * (1 - Fraction(1, 2**bits))).limit_denominator(2**64))
        if pure_bound(TwoFold(scaled), sensitivity)[0] <= epsilon:
            return scaled
    raise SolverError("a second fold could not be calibrated to this epsilon.", epsilon=epsilon)


def best_mixture(query: Scalar, privacy: ApproxDP, utility: Utility) -> GaussianMixture:
    """The mixture of two deviations that is best for the utility, as far as the search finds it.

    Guarantees: delta at the returned deviations was bounded in balls and is at most the requirement's.
    """
    from scipy.optimize import minimize

    sign = -1 if utility.larger_is_better else 1
    epsilon, delta, reach = float(privacy.epsilon), float(privacy.delta), float(query.sensitivity)

    def cost(shape: Sequence[float]) -> float:
        ratio, weight = _shape(shape)
        narrow = Fraction(reach * _scale(float(ratio), float(weight), epsilon, delta))
        return sign * float_value(_law(narrow, ratio, weight), utility)

    start = min(_STARTS, key=cost)
    options = {"maxfev": _EVALUATIONS, "xatol": 1e-3, "fatol": 0.0}
    ratio, weight = _shape(minimize(cost, start, method="Nelder-Mead", options=options).x)
    guess = _scale(float(ratio), float(weight), epsilon, delta)
    for doublings in range(_MOST_MARGINS):
        law = _law(rounded_up(guess * (1 + _MARGIN * 2**doublings)) * query.sensitivity, ratio, weight)
        if mixture_delta(law, privacy.epsilon, query.sensitivity) <= privacy.delta:
            return law
    raise SolverError(f"no Gaussian mixture near {guess:.6g} could be proven for {privacy}; report this problem.")


def _shape(shape: Sequence[float]) -> tuple[Fraction, Fraction]:
    """The ratio of the deviations, and the weight of the wide one, from two free numbers."""
    ratio = math.exp(min(max(float(shape[0]), 0.01), _WIDEST))
    weight = 1 / (1 + math.exp(-min(max(float(shape[1]), -12.0), 12.0)))
    return Fraction(ratio).limit_denominator(_RATIO_DIGITS), Fraction(weight).limit_denominator(10**6)


def _law(narrow: Fraction, ratio: Fraction, weight: Fraction) -> GaussianMixture:
    return GaussianMixture((narrow, narrow * ratio), (1 - weight, weight))


def _scale(ratio: float, weight: float, epsilon: float, delta: float) -> float:
    """The narrow deviation for sensitivity 1 at which delta is met, in floats."""

    def private(log_scale: float) -> bool:
        return _float_delta(math.exp(-log_scale), ratio, weight, epsilon) <= delta

    if private(0.0):
        passes, fails = gallop(lambda x: not private(x), 0.0, -1.0)
    else:
        fails, passes = gallop(private, 0.0, 1.0)
    return math.exp(first_true(private, fails, passes, within=1e-7))


def _float_delta(shift: float, ratio: float, weight: float, epsilon: float) -> float:
    """Delta of the mixture of deviations 1 and `ratio`, over cells where the density is certainly the larger."""
    from scipy.special import erfc

    inner = np.linspace(-shift / 2, min(9.0, 9 * ratio), _POINTS)
    x = np.concatenate([inner, np.linspace(inner[-1], 9 * ratio + shift, _POINTS)[1:]])

    def tails(y: np.ndarray) -> np.ndarray:
        root = math.sqrt(2)
        return np.asarray((1 - weight) * erfc(y / root) + weight * erfc(y / (root * ratio))) / 2

    return float(np.sum(np.maximum(-np.diff(tails(x)) + math.exp(epsilon) * np.diff(tails(x + shift)), 0.0)))

"""The best two-fold noise: rates found in floats, calibrated in balls, and the proof that no second fold does better.

In units of the sensitivity, a law of the rate u costs E phi(u) and is epsilon-DP exactly if
E h(u) <= 0 with h(u) = u (1 - e^(epsilon - u)). Both are linear in the law of u, so some best law has at
most two atoms, and its value is the largest v for which some multiplier m >= 0 gives
phi(u) + m h(u) >= v for every u > 0.

Of parametric folds only the shape is searched: multiplying the rate by a factor multiplies every distance by it, so
whatever the shape, one factor makes its privacy exactly epsilon. So is the best mixture of two Gaussian noises under
(epsilon, delta). Corollary F.3 of the R2DP paper takes the mean of the parts' deltas, under which a mixture never helps
where delta is small; its exact profile is much smaller, because the wide part hides what the tails of the narrow one
tell.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from noisewright.laws.gaussian import GaussianMixture
from noisewright.laws.two_fold import (
    Atoms,
    Ensemble,
    Fold,
    GammaFold,
    NoncentralChiSquaredFold,
    RayleighFold,
    TruncatedNormalFold,
    TwoFold,
    UniformFold,
    point_fold,
)
from noisewright.numerics.balls import Ball, ball, hull, precision, upper
from noisewright.numerics.bisection import first_true, gallop, geometric
from noisewright.numerics.fields import BALLS, FLOATS
from noisewright.problem.errors import EnclosureError, InvalidLawError, SolverError
from noisewright.problem.privacy import ApproxDP
from noisewright.problem.queries import Scalar
from noisewright.problem.utilities import Usefulness, Utility
from noisewright.proof.mixtures import mixture_delta
from noisewright.proof.pure import pure_bound
from noisewright.search.families.approximate import float_value
from noisewright.search.families.calibration import rounded_up

_SIDE = 3000
_TIE = 1e-9
_RATE_BITS = 40
NEGLIGIBLE = 1e-290
"""Below this a cost is as good as 0, and floats could not tell two laws apart."""
_WEIGHT_BITS = 160
_SLACK = Fraction(1, 2**150)


@dataclass(frozen=True, slots=True)
class TwoFoldOptimum:
    """The best rates in units of the sensitivity, with the multiplier that shows it.

    `fold` was calibrated on the side that is private; `cost` and `laplace` are E phi(u) of it and of
    plain Laplace noise, in floats; `helps` says whether it beats Laplace noise at all.
    """

    utility: Utility
    epsilon: Fraction
    fold: Atoms
    multiplier: float
    cost: float
    laplace: float

    @property
    def helps(self) -> bool:
        return len(self.fold.rates) > 1


def two_fold_optimum(utility: Utility, epsilon: Fraction) -> TwoFoldOptimum:
    """The optimum over all second folds, for errors measured in sensitivities.

    Usefulness is charged as the probability of missing. For a quantile, the smallest half-width whose
    best usefulness reaches the confidence is found first.
    """
    if utility.confidence is not None:
        return _best_quantile(utility, epsilon)
    rate = float(epsilon)
    plain = float(_cost(utility, rate))
    if plain < NEGLIGIBLE:
        return TwoFoldOptimum(utility, epsilon, point_fold(epsilon), 0.0, plain, plain)
    low, high, value = _polished(utility, rate, *_touching(utility, rate))
    if value >= plain * (1 - _TIE):
        return TwoFoldOptimum(utility, epsilon, point_fold(epsilon), _tangent(utility, rate), plain, plain)
    slope = (_cost(utility, low) - _cost(utility, high)) / (_excess(high, rate) - _excess(low, rate))
    return TwoFoldOptimum(utility, epsilon, calibrated_atoms(low, high, epsilon), float(slope), value, plain)


def _cost(utility: Utility, u: Any) -> Any:
    if utility.edges:
        return np.exp(-u * float(utility.edges[0]))
    power = float(utility.power)
    return math.gamma(power + 1) * u**-power


def _excess(u: Any, rate: float) -> Any:
    return -u * np.expm1(rate - u)


def _tangent(utility: Utility, rate: float) -> float:
    """The multiplier that makes phi + m h stationary at the rate of Laplace noise: -phi'(rate) / rate."""
    if utility.edges:
        within = float(utility.edges[0])
        return within * math.exp(-rate * within) / rate
    power = float(utility.power)
    return float(math.gamma(power + 1) * power * rate ** (-power - 2))


def _touching(utility: Utility, rate: float) -> tuple[float, float]:
    """The lowest points of phi + m h on either side of the rate of Laplace noise, at the best multiplier m.

    That is where min over u of phi + m h is largest: it is concave in m, and h at the minimiser is its slope.
    """
    below = rate * np.exp(-np.geomspace(1e-4, 18.0, _SIDE))[::-1]
    above = rate * np.exp(np.geomspace(1e-4, 30.0, _SIDE))
    u = np.concatenate([below, [rate], above])
    cost, excess = _cost(utility, u), _excess(u, rate)

    def falls(multiplier: float) -> bool:
        return bool(excess[int(np.argmin(cost + multiplier * excess))] <= 0)

    total = cost + first_true(falls, 1e-280, 1e280, relative=1e-15, middle=geometric) * excess
    return float(u[int(np.argmin(total[: _SIDE + 1]))]), float(u[_SIDE + int(np.argmin(total[_SIDE:]))])


def _mixed(utility: Utility, rate: float, low: Any, high: Any) -> Any:
    """Cost of the two rates, weighted so that privacy is tight."""
    below, above = _excess(low, rate), _excess(high, rate)
    span = above - below
    weight = np.where(span > 0, above / np.where(span > 0, span, 1.0), 1.0)
    return weight * _cost(utility, low) + (1 - weight) * _cost(utility, high)


def _polished(utility: Utility, rate: float, low: float, high: float) -> tuple[float, float, float]:
    """Shrinking grids around the two rates; the cost is smooth there."""
    width = 0.02
    best = float(_mixed(utility, rate, low, high))
    for _ in range(16):
        offsets = np.linspace(-1, 1, 17) * width
        lows = np.minimum(low * np.exp(offsets), rate)
        highs = np.maximum(high * np.exp(offsets), rate)
        values = _mixed(utility, rate, lows[:, None], highs[None, :])
        i, j = np.unravel_index(int(np.argmin(values)), values.shape)
        if values[i, j] <= best:
            low, high, best = float(lows[i]), float(highs[j]), float(values[i, j])
        width *= 0.4
    return low, high, best


def calibrated_atoms(low: float, high: float, epsilon: Fraction) -> Atoms:
    """Rational rates and a rational weight on the side where E h <= 0 was checked in interval arithmetic."""
    first, second = (Fraction(math.floor(x * 2**_RATE_BITS), 2**_RATE_BITS) for x in (low, high))
    with precision(_WEIGHT_BITS + 64):
        below, above = (ball(u) * (1 - (ball(epsilon) - ball(u)).exp()) for u in (first, second))
        least = upper(above / (above - below)) + _SLACK
    # A little more weight than needed on the low rate, so that rounding the proven bound up stays below epsilon.
    weight = Fraction(math.ceil((least + Fraction(1, 2**54)) * 2**_WEIGHT_BITS), 2**_WEIGHT_BITS)
    return Atoms((first, second), (weight, 1 - weight))


def _best_quantile(utility: Utility, epsilon: Fraction) -> TwoFoldOptimum:
    outside = 1 - float(utility.confidence)
    high = -math.log(outside) / float(epsilon)

    def reached(width: float) -> bool:
        return two_fold_optimum(Usefulness(width), epsilon).cost <= outside

    # Mostly no second fold helps, and the quantile is that of Laplace noise: one look just below it tells.
    nearly = high * (1 - 1e-9)
    width = first_true(reached, high / 64, nearly, relative=1e-12) if reached(nearly) else high
    return two_fold_optimum(Usefulness(width), epsilon)


# Parametric second folds.


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

    Guarantees: the returned fold was checked in interval arithmetic to be epsilon-DP at sensitivity 1.
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
        """By how many powers of e the density has fallen at a distance."""
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

    Guarantees: delta at the returned deviations was bounded in interval arithmetic and is at most the requirement's.
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


# The dual inequality, checked in interval arithmetic for every rate.


_PROOF_SLACK = Fraction(1, 10**9)
_MOST_BOXES = 50_000
_MOST_DOUBLINGS = 400


def proven_cost(optimum: TwoFoldOptimum) -> Fraction:
    """A rational v, a billionth below the optimum's cost, that no epsilon-DP second fold undercuts.

    Rule: weak duality. If phi(u) + m h(u) >= v for every u > 0 with m >= 0, then E phi(u) >= v for
    every law of u with E h(u) <= 0, which is what privacy says (theory of two-fold noise).
    [theory#when-a-second-fold-cannot-help]
    Guarantees: the inequality was shown in interval arithmetic on boxes that cover all u > 0.
    Raises SolverError where it could not be shown.
    """
    multiplier = Fraction(optimum.multiplier)
    claim = Fraction(optimum.cost) * (1 - _PROOF_SLACK)
    check_inequality(optimum.utility, optimum.epsilon, multiplier, claim)
    return claim


def check_inequality(utility: Utility, epsilon: Fraction, multiplier: Fraction, claim: Fraction) -> int:
    """Show phi(u) + multiplier h(u) >= claim for every u > 0; returns how many boxes it took, or raises."""
    if multiplier < 0:
        raise SolverError("the multiplier of a dual certificate must not be negative.")
    with precision():
        dual = _Dual(utility, epsilon, multiplier, claim)
        low, high = dual.lowest(), dual.highest()
        boxes, pending = 0, _geometric(low, high)
        while pending:
            a, b = pending.pop()
            boxes += 1
            if boxes > _MOST_BOXES:
                raise SolverError("the optimality of two-fold noise could not be proven within the allowed work.")
            if not dual.holds(a, b):
                middle = (a + b) / 2
                if b - a < a / 2**60 or dual.fails_at(middle):
                    raise SolverError("the dual certificate of two-fold noise does not hold.", at=float(middle))
                pending += [(a, middle), (middle, b)]
    return boxes


class _Dual:
    """phi(u) + m h(u) and its derivative, in balls."""

    def __init__(self, utility: Utility, epsilon: Fraction, multiplier: Fraction, claim: Fraction) -> None:
        self._utility, self._start = utility, epsilon
        self._epsilon, self._multiplier, self._claim = ball(epsilon), ball(multiplier), ball(claim)

    def holds(self, a: Fraction, b: Fraction) -> bool:
        """Whether the inequality certainly holds on [a, b], by the mean value form."""
        box, middle = hull(ball(a), ball(b)), ball((a + b) / 2)
        value = self._value(middle) + self._derivative(box) * (box - middle)
        return bool(value >= self._claim)

    def fails_at(self, u: Fraction) -> bool:
        """Whether the inequality certainly fails at a point."""
        return bool(self._value(ball(u)) < self._claim)

    def lowest(self) -> Fraction:
        """A rate below which it holds, because phi decreases and h(u) >= -u e^epsilon."""
        for u in (self._start / (1 << i) for i in range(_MOST_DOUBLINGS)):
            point = ball(u)
            if bool(self._cost(point) - self._multiplier * point * self._epsilon.exp() >= self._claim):
                return u
        raise SolverError("the dual certificate of two-fold noise has no lower end.")

    def highest(self) -> Fraction:
        """A rate above which it holds, because phi >= 0 and h increases beyond epsilon."""
        for u in (self._start * (2 << i) for i in range(_MOST_DOUBLINGS)):
            if bool(self._multiplier * self._excess(ball(u)) >= self._claim):
                return u
        raise SolverError("the dual certificate of two-fold noise has no upper end.")

    def _value(self, u: Ball) -> Ball:
        return self._cost(u) + self._multiplier * self._excess(u)

    def _derivative(self, u: Ball) -> Ball:
        decay = (self._epsilon - u).exp()
        return self._cost_slope(u) + self._multiplier * (1 - decay + u * decay)

    def _excess(self, u: Ball) -> Ball:
        return u * (1 - (self._epsilon - u).exp())

    def _cost(self, u: Ball) -> Ball:
        if self._utility.edges:
            return (-u * ball(self._utility.edges[0])).exp()
        return BALLS.gamma(self._utility.power + 1) / BALLS.power(u, self._utility.power)

    def _cost_slope(self, u: Ball) -> Ball:
        if self._utility.edges:
            return -ball(self._utility.edges[0]) * self._cost(u)
        return -ball(self._utility.power) * self._cost(u) / u


def _geometric(low: Fraction, high: Fraction) -> list[tuple[Fraction, Fraction]]:
    edges = [low]
    while edges[-1] < high:
        edges.append(min(edges[-1] * Fraction(5, 4), high))
    return list(pairwise(edges))

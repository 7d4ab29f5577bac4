"""The best two-fold noise: at most two rates, found in floats, calibrated in balls.

In units of the sensitivity, a law of the rate u costs E phi(u) and is epsilon-DP exactly if
E h(u) <= 0 with h(u) = u (1 - e^(epsilon - u)). Both are linear in the law of u, so some best law has at
most two atoms, and its value is the largest v for which some multiplier m >= 0 gives
phi(u) + m h(u) >= v for every u > 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from noisewright.laws.two_fold import Atoms, point_fold
from noisewright.numerics.balls import ball, precision, upper
from noisewright.numerics.bisection import first_true, geometric
from noisewright.problem.utilities import Usefulness, Utility

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
    """Rational rates and a rational weight on the side where E h <= 0 was checked in balls."""
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

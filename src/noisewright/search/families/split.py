"""The best staircase for the named utilities, in floats; sensitivity 1."""

from __future__ import annotations

import math
from fractions import Fraction

from noisewright.numerics.bisection import first_true
from noisewright.numerics.fields import FLOATS
from noisewright.numerics.series import geometric_power_sum
from noisewright.problem.utility import Utility

_SMALL = Fraction(1, 200)


def best_split(utility: Utility, epsilon: Fraction) -> float:
    """The split of the staircase that is best for the utility (theory 1), for real answers.

    For usefulness and quantiles the closed form; for powers the zero of an increasing function. At
    very small epsilon the split hardly matters and the one for absolute error is used.
    """
    rate = float(epsilon)
    if utility.edges:
        return float(utility.edges[0] % 1) or 1.0
    if utility.confidence is not None:
        return best_quantile(utility.confidence, epsilon)[1] or 1.0
    if utility.power == 1 or epsilon < _SMALL:
        return 1 / (1 + math.exp(rate / 2))
    return _power_split(utility.power, epsilon)


def best_quantile(confidence: Fraction, epsilon: Fraction) -> tuple[int, float]:
    """Whole part and fraction of the smallest half-width at a confidence, in sensitivities."""
    rate = float(epsilon)
    outside = 1 - float(confidence)
    whole = math.floor(-math.log(outside) / rate)
    b = math.exp(-rate)
    fraction = (math.exp(-rate * (whole + 1)) / outside - b) / -math.expm1(-rate)
    return whole, min(max(fraction, 0.0), 1.0)


def _power_split(power: Fraction, epsilon: Fraction) -> float:
    """Where the derivative of the loss with respect to the split changes sign.

    With A(g) = sum_j b^j ((j+g)^(p+1) - j^(p+1)) / (p+1), the sign of the derivative is that of
    A'(g) (g + b(1-g)) - b A(1) - (1-b) A(g), which increases with g.
    """
    b = math.exp(-float(epsilon))

    def series(start: float, exponent: Fraction) -> float:
        return float(geometric_power_sum(FLOATS, epsilon, Fraction(start), Fraction(1), exponent))

    origin = series(0.0, power + 1)

    def area(split: float) -> float:
        return (series(split, power + 1) - origin) / float(power + 1)

    whole = area(1.0)

    def slope(split: float) -> float:
        return series(split, power) * (split + b * (1 - split)) - b * whole - (1 - b) * area(split)

    return math.exp(first_true(lambda log: slope(math.exp(log)) >= 0, math.log(1e-14), 0.0, within=1e-16))

"""Golden sections: the lowest point of a function that falls, then rises."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

_RATIO = (math.sqrt(5) - 1) / 2
_ALL_DIGITS = 90
_EDGE = 1e-7
_DENOMINATOR = 10**9


def golden(cost: Callable[[float], float], low: float, high: float, rounds: int = _ALL_DIGITS) -> float:
    """The better of the last two places tried; of a function with several valleys it is the floor of one."""
    first, second = high - _RATIO * (high - low), low + _RATIO * (high - low)
    at_first, at_second = cost(first), cost(second)
    for _ in range(rounds):
        if at_first <= at_second:
            high, second, at_second = second, first, at_first
            first = high - _RATIO * (high - low)
            at_first = cost(first)
        else:
            low, first, at_first = first, second, at_second
            second = low + _RATIO * (high - low)
            at_second = cost(second)
    return first if at_first <= at_second else second


def lowest_share(cost: Callable[[float], float], cells: int) -> Fraction | None:
    """The share between 0 and 1 that costs least, as a short rational; None where every cost is infinite.

    A scan of so many cells brackets the minimum, golden section finds it to the precision of floats.
    """
    best = min(((i + 0.5) / cells for i in range(cells)), key=cost)
    if not math.isfinite(cost(best)):
        return None
    found = golden(cost, max(best - 1 / cells, _EDGE), min(best + 1 / cells, 1 - _EDGE))
    share = Fraction(min(best, found, key=cost)).limit_denominator(_DENOMINATOR)
    return share if math.isfinite(cost(float(share))) else Fraction(best)

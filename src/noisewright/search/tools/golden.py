"""Golden section, and how fine a lattice is."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from noisewright.laws.lattice import Lattice
from noisewright.mechanisms.additive import Additive
from noisewright.problem.queries import Scalar
from noisewright.problem.utility import Utility

_RATIO = (math.sqrt(5) - 1) / 2
_ALL_DIGITS = 90
_EDGE = 1e-7
_DENOMINATOR = 10**9
_LARGEST_ALIGNED = 20_000


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


STEPS_PER_SCALE = 1000


def on_cells(
    query: Scalar, law: Any, spread: Fraction | float, utility: Utility | None = None, per_spread: int = STEPS_PER_SCALE
) -> Additive:
    """The law on a lattice of about so many steps to its spread; a jump of the loss falls on an edge where it can."""
    steps = round_number(per_spread * query.sensitivity / spread)
    for edge in utility.edges if utility else ():
        steps = aligned(steps, edge / query.sensitivity)
    return Additive(query, law, Lattice.cells(query.sensitivity / steps))


def aligned(steps: int, within: Fraction, most: int = _LARGEST_ALIGNED) -> int:
    """At least so many steps, of which `within` is a whole number where that takes no giant lattice."""
    unit = within.denominator
    return unit * -(-steps // unit) if unit <= most else steps


def round_number(least: Fraction | float) -> int:
    """The smallest of 1, 2, 5, 10, 20, 50, … that is at least `least`."""
    size = 1
    while True:
        for digit in (1, 2, 5):
            if digit * size >= least:
                return digit * size
        size *= 10

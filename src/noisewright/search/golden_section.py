"""Golden section, how fine a lattice is, and where a slow property turns.

Such a turn is given by a narrow bracket with both ends looked at, in as few looks as may be. A property here comes with
a distance, zero where it turns and positive where it does not hold; near the turn the distance is nearly a straight
line over the logarithm of the amount, so that a few looks suffice. Steps of any size are allowed: where lines do not
help, the bracket is halved.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from noisewright.laws.lattice import Lattice
from noisewright.mechanisms.additive import Additive
from noisewright.problem.queries import Scalar
from noisewright.problem.utilities import Utility

_RATIO = (math.sqrt(5) - 1) / 2
_ALL_DIGITS = 90
_EDGE = 1e-7
_DENOMINATOR = 10**9
_LARGEST_ALIGNED = 20_000
STEPS_PER_SCALE = 1000
RELATIVE = Fraction(1, 1000)
"""How wide a bracket may be, relative to its upper end."""
_ASIDE = 3e-4
_ACROSS = Fraction(9, 10_000)
_MOST_GUESSES = 6
_GROWTHS = (1.5, 64.0)


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


@dataclass(frozen=True, slots=True)
class Look:
    """What one look found: whether the property holds, and how far it is from turning (infinite if not known)."""

    holds: bool
    distance: float = math.inf


def first_place(
    look: Callable[[Fraction], Look], start: Fraction, smallest: Fraction, largest: Fraction, slope: float
) -> tuple[Fraction, Fraction] | None:
    """(fails, holds) at most 0.1 % apart, both looked at; None if the property does not hold at `largest`.

    Where it holds at `smallest`, both are that. `slope` is a guess of how fast the distance falls over the logarithm
    of the amount (0 for none).
    Valid for: properties that turn once from false to true; others get a bracket around one of their turns.
    """
    found = _around(look, start, smallest, largest, slope)
    if found is None:
        return None
    fails, holds = found
    guesses, aside = 0, True
    while holds - fails > RELATIVE * holds:
        middle = five_digits(_next(look, fails, holds, guesses, aside=aside))
        if not fails < middle < holds:
            middle = (fails + holds) / 2
        guesses, aside = guesses + 1, not aside
        if look(middle).holds:
            holds = middle
        else:
            fails = middle
    return fails, holds


def _around(
    look: Callable[[Fraction], Look], start: Fraction, smallest: Fraction, largest: Fraction, slope: float
) -> tuple[Fraction, Fraction] | None:
    """Two amounts between which the property turns, outward from `start`."""
    here = min(max(start, smallest), largest)
    up = not look(here).holds
    while True:
        if here == (largest if up else smallest):
            return None if up else (here, here)
        factor = _growth(look(here).distance, slope)
        beyond = five_digits(here * factor if up else here / factor)
        beyond = min(largest, beyond) if up else max(smallest, beyond)
        if look(beyond).holds is up:
            return (here, beyond) if up else (beyond, here)
        here = beyond


def _growth(distance: float, slope: float) -> Fraction:
    """How far to go for the property to turn, a little more than the slope says."""
    low, high = _GROWTHS
    if not slope or not math.isfinite(distance):
        return Fraction(3)
    return Fraction(min(max(1.1 * math.exp(min(abs(distance) / slope, 10.0)), low), high))


def _next(look: Callable[[Fraction], Look], fails: Fraction, holds: Fraction, guesses: int, *, aside: bool) -> Fraction:
    """Where to look next: beside the straight line's turn, then just across the nearer end, and else half-way."""
    below, above = look(fails).distance, look(holds).distance
    half = Fraction(math.sqrt(float(fails)) * math.sqrt(float(holds)))
    if guesses >= _MOST_GUESSES or not (math.isfinite(below) and math.isfinite(above) and below > above):
        return half
    share = below / (below - above)
    turn = float(fails) * math.exp(share * math.log(float(holds / fails)))
    if aside:
        return Fraction(turn * (1 + _ASIDE))
    nearer_above = float(holds) - turn < turn - float(fails)
    return holds * (1 - _ACROSS) if nearer_above else fails * (1 + _ACROSS)


def five_digits(value: Fraction) -> Fraction:
    """Rounded up to five significant digits."""
    digits = 4 - math.floor(math.log10(float(value)))
    scale = Fraction(10) ** digits
    return Fraction(math.ceil(value * scale)) / scale

"""The central piecewise mechanism: nested steps for a sensitivity smaller than the input range.

Around the answer's place heights fall by e^-epsilon with every move that one person can make, until
the whole input range is covered; then the height stays. One person moves the steps by one of their
widths, so ratios are at most e^epsilon; the steps are symmetric, so the mean is linear.
"""

from __future__ import annotations

import math
from fractions import Fraction

from noisewright.laws.bumps import FLAT, Steps
from noisewright.mechanisms.composite import Composite
from noisewright.problem.queries import Bounded
from noisewright.search.families.shapes import fitting_cells
from noisewright.search.programmes.feasible import ratio_below
from noisewright.search.tools.golden import lowest_share

_CELLS = 1024
_FLOOR_BITS = 60
_SCAN = 200


def central(query: Bounded, epsilon: Fraction, core: Fraction) -> Composite:
    """The mechanism whose middle step takes `core` of half the outputs; tails get the rest.

    Guarantees nothing by itself: the verifier checks the steps against the largest move.
    """
    steps, share = nested_steps(query, epsilon, core)
    return Composite(query, steps, FLAT, share, query.covered, fitting_cells(query, _CELLS))


def nested_steps(query: Bounded, epsilon: Fraction, core: Fraction) -> tuple[Steps, Fraction]:
    """The activation above its floor, and its share of the mass, in rationals."""
    move = _largest_move(query)
    shells = max(1, math.ceil(1 / move)) - 1
    half = (core + 2 * shells * move) / (1 + 2 * shells * move)
    width = 2 * move * (1 - half)
    # Whole numbers, each at most e^epsilon times the one outside it: exact powers would be endless to write down.
    levels = [1 << _FLOOR_BITS]
    for _ in range(shells + 1):
        levels.append(math.floor(levels[-1] * ratio_below(epsilon)))
    floor = Fraction(levels[0])
    heights = [Fraction(level) - floor for level in reversed(levels[1:])]
    reach = [core + j * width for j in range(shells + 1)]
    edges = (*(-r for r in reversed(reach)), *reach)
    steps = Steps(edges, (*reversed(heights[1:]), heights[0], *heights[1:]))
    return steps, steps.total / (steps.total + 2 * floor)


def tuned_core(query: Bounded, epsilon: Fraction, goal: str) -> Fraction | None:
    """The core with the least worst (or average) variance whose outputs fit the bounds; None where none does."""
    limit = query.margin + query.width / 2

    def cost(core: float) -> float:
        return closed_variance(query, epsilon, core, goal) if _scale(query, epsilon, core) <= limit else math.inf

    return lowest_share(cost, _SCAN)


def closed_variance(query: Bounded, epsilon: Fraction, core: float, goal: str) -> float:
    """Worst or average variance before anything is rounded, in floats."""
    heights, reach, floor = _levels(query, epsilon, core)
    total, square = _area(heights, reach), _area(heights, reach, 2)
    share = total / (total + 2 * floor)
    half = reach[-1]
    far = (1 - half) ** 2 * (1.0 if goal == "worst" else 1 / 3)
    scale = float(query.width) / (2 * share * (1 - half))
    return scale**2 * (share * (square / total + far) + (1 - share) / 3 - share**2 * far)


def _scale(query: Bounded, epsilon: Fraction, core: float) -> float:
    heights, reach, floor = _levels(query, epsilon, core)
    total = _area(heights, reach)
    return _covered_width(query) / (2 * total / (total + 2 * floor) * (1 - reach[-1]))


def _covered_width(query: Bounded) -> float:
    low, high = query.covered
    return float(high - low)


def _levels(query: Bounded, epsilon: Fraction, core: float) -> tuple[list[float], list[float], float]:
    move = float(_largest_move(query))
    shells = max(1, math.ceil(1 / _largest_move(query))) - 1
    half = (core + 2 * shells * move) / (1 + 2 * shells * move)
    floor = math.exp(-float(epsilon) * (shells + 1))
    heights = [math.exp(-float(epsilon) * j) - floor for j in range(shells + 1)]
    return heights, [core + j * 2 * move * (1 - half) for j in range(shells + 1)], floor


def _area(heights: list[float], reach: list[float], power: int = 0) -> float:
    """Integral of z^power times the nested steps."""
    drops = [a - b for a, b in zip(heights, [*heights[1:], 0.0], strict=True)]
    return sum(2 * d * r ** (power + 1) / (power + 1) for d, r in zip(drops, reach, strict=True))


def _largest_move(query: Bounded) -> Fraction:
    """The part of the input range that one person can move the answer's grid input by."""
    cells = fitting_cells(query, _CELLS)
    return min(Fraction(1), Fraction(math.ceil(query.sensitivity / query.width * cells), cells))

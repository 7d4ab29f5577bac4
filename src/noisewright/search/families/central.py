"""The central piecewise mechanism: nested steps for a sensitivity smaller than the input range.

Around the answer's place heights fall by e^-epsilon with every move that one person can make, until
the whole input range is covered; then the height stays. One person moves the steps by one of their
widths, so ratios are at most e^epsilon; the steps are symmetric, so the mean is linear.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

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
    move, shells = _moves(query)
    width = 2 * move * (1 - core) / (1 + 2 * shells * move)
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
    return lowest_share(lambda core: closed_variance(query, epsilon, core, goal), _SCAN)


def closed_variance(query: Bounded, epsilon: Fraction, core: float, goal: str) -> float:
    """Worst or average variance before anything is rounded, in floats; infinite where outputs leave the bounds."""
    move, shells = _moves(query)
    width = 2 * float(move) * (1 - core) / (1 + 2 * shells * float(move))
    reach = core + width * np.arange(shells + 1)
    levels = np.exp(-float(epsilon) * np.arange(shells + 2))
    drops, floor = levels[:-1] - levels[1:], levels[-1]
    total, square = 2 * np.sum(drops * reach), 2 * np.sum(drops * reach**3) / 3
    share, rest = total / (total + 2 * floor), 1 - reach[-1]
    stretch = 1 / (2 * share * rest)
    low, high = query.covered
    if stretch * float(high - low) > float(query.margin + query.width / 2):
        return math.inf
    far = rest**2 * (1.0 if goal == "worst" else 1 / 3)
    scale = float(query.width) * stretch
    return float(scale**2 * (share * (square / total + far) + (1 - share) / 3 - share**2 * far))


def _moves(query: Bounded) -> tuple[Fraction, int]:
    """The part of the range that one person can move the grid input by, and how many more such moves cover it."""
    cells = fitting_cells(query, _CELLS)
    move = min(Fraction(1), Fraction(math.ceil(query.sensitivity / query.width * cells), cells))
    return move, math.ceil(1 / move) - 1

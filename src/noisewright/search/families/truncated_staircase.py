"""A staircase that ends: purely private ratios inside, and delta for the last sensitivity before its end.

Inside the support no height exceeds e^epsilon times one that is a sensitivity away, so both the approximate and the
probabilistic delta are the mass of the last sensitivity on one side.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from noisewright.laws.tabulated import HALF, Tabulated
from noisewright.problem.privacy import ApproxDP
from noisewright.problem.queries import Scalar
from noisewright.problem.utility import Utility
from noisewright.proof.approximate import approximate_delta, scaled_factor
from noisewright.search.families.calibration import Target
from noisewright.search.programmes.approximate import MOST_CELLS, Grid, cell_costs, cells_per_sensitivity, support

_BOTTOM_WEIGHT = 2**64
_LONGEST_WEIGHT_BITS = 500
_FACTOR_BITS = 128


def truncated_staircase(query: Scalar, privacy: Target, utility: Utility) -> Tabulated | None:
    """The best such law on the programme's cells; None where it would have too many cells.

    Guarantees: delta was summed exactly for every shift.
    """
    per = cells_per_sensitivity(query, privacy.epsilon, utility)
    approximate = ApproxDP(privacy.epsilon, privacy.delta)
    count = math.ceil(support(approximate, 2.0) * per) + 2
    if count > MOST_CELLS or float(privacy.epsilon) * count / per > _LONGEST_WEIGHT_BITS * math.log(2) - 64:
        return None
    grid = Grid(per, count, HALF if query.integer else Fraction(0))
    tops = range(1, per + 1) if per <= 200 else sorted({round(i * per / 200) for i in range(1, 201)} - {0})
    choices = [_best_end(grid, privacy, query, utility, top) for top in tops]
    found = [choice for choice in choices if choice is not None]
    if not found:
        return None
    _, top, cells = min(found)
    for extra in range(3):
        law = Tabulated(
            Fraction(1) if query.integer else query.sensitivity / per,
            _weights(scaled_factor(privacy.epsilon), per, top, cells + extra),
            grid.edge,
        )
        if approximate_delta(law, privacy.epsilon, query.sensitivity)[0] <= privacy.delta:
            return law
    return None


def _levels(per: int, top: int, count: int) -> NDArray[np.int64]:
    """How many steps down each cell lies."""
    i = np.arange(count)
    return np.where(i < top, 0, 1 + (i - top) // per)


def _best_end(grid: Grid, privacy: Target, query: Scalar, utility: Utility, top: int) -> tuple[float, int, int] | None:
    """(value to minimise, top, number of cells) with the fewest cells whose last sensitivity weighs at most delta."""
    mass = np.exp(-float(privacy.epsilon) * _levels(grid.per, top, grid.count)) * grid.multiplicity()
    inside = np.cumsum(mass)
    one_side = np.cumsum(mass / grid.multiplicity())
    ends = np.arange(grid.per, grid.count)
    last = one_side[ends] - one_side[ends - grid.per]
    fits = np.flatnonzero(last <= float(privacy.delta) * inside[ends])
    if not len(fits):
        return None
    end = int(ends[fits[0]])
    shares = mass[: end + 1] / inside[end]
    if utility.confidence is not None:
        value = float(np.searchsorted(np.cumsum(shares), float(utility.confidence)))
    else:
        value = float(np.sum(shares * cell_costs(grid, query, utility)[: end + 1]))
    return value, top, end + 1


def _weights(factor: int, per: int, top: int, cells: int) -> tuple[int, ...]:
    """Built inward from the lowest step, each at most e^epsilon times the one below it."""
    levels = _levels(per, top, cells)
    heights = [_BOTTOM_WEIGHT]
    for _ in range(max(levels)):
        heights.append(heights[-1] * factor >> _FACTOR_BITS)
    return tuple(heights[-1 - level] for level in levels)

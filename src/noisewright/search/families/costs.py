"""Running integrals of losses, in floats: what the linear programme charges for a cell."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from noisewright.problem.queries import Scalar
from noisewright.problem.utilities import Usefulness
from noisewright.problem.utility import Utility
from noisewright.search.bounds.chain import LossGrid, loss_grid
from noisewright.search.families.split import best_quantile
from noisewright.search.families.staircase import smallest_integer_width

Floats = NDArray[np.float64]
Primitive = Callable[[Floats], Floats]


def primitive(query: Scalar, epsilon: Fraction, utility: Utility) -> Primitive:
    """A function P of edges with P(b) - P(a) the loss charged for the cell from a to b.

    Real answers: the integral of the loss. Integers: the sum over the whole numbers between the
    two edges. Usefulness is charged as the probability of missing; a quantile as the usefulness
    at the best half-width.
    """
    if utility.tabulated:
        return _tabulated(loss_grid(query, epsilon, utility))
    if utility.confidence is not None:
        if query.integer:
            width = Fraction(smallest_integer_width(query, epsilon, utility.confidence))
        else:
            whole, part = best_quantile(utility.confidence, epsilon)
            width = query.sensitivity * (whole + Fraction(part))
        return primitive(query, epsilon, Usefulness(width))
    if utility.edges:
        edge = utility.edges[0]
        within = math.floor(edge) + 0.5 if query.integer else float(edge)
        return lambda x: np.sign(x) * np.maximum(np.abs(x) - within, 0.0)
    if not query.integer:
        exponent = float(utility.power) + 1
        return lambda x: np.sign(x) * np.abs(x) ** exponent / exponent
    return _power_sums(float(utility.power))


def _power_sums(power: float) -> Primitive:
    def total(x: Floats) -> Floats:
        top = int(np.max(np.abs(x)) + 1)
        sums = np.concatenate([[0.0], np.cumsum(np.arange(1, top + 1, dtype=np.float64) ** power)])
        return np.asarray(np.sign(x) * sums[np.floor(np.abs(x)).astype(np.intp)])

    return total


def _tabulated(grid: LossGrid) -> Primitive:
    right, left = grid.middle
    width = 1.0 if grid.query.integer else float(grid.width)
    running = np.concatenate([-np.cumsum(left)[::-1], [0.0], np.cumsum(right)]) * width
    offset = 0.5 if grid.query.integer else 0.0
    edges = (np.arange(-grid.count, grid.count + 1) - offset) * (1.0 if grid.query.integer else float(grid.width))

    def total(x: Floats) -> Floats:
        return np.asarray(np.interp(x, edges, running))

    return total

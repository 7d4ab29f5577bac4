"""Several numbers: what their errors have in common, and the largest of them, integrated in floats."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from noisewright.mechanisms.base import Mechanism
from noisewright.numerics.balls import Ball, around
from noisewright.numerics.bisection import first_true
from noisewright.numerics.fields import Field
from noisewright.problem.vector import Vector

Floats = NDArray[np.float64]


class Several(Mechanism):
    """A mechanism for several numbers.

    Moments and chances of single numbers are enclosed by balls; what concerns the largest error is integrated in
    floats from `inside`, and the ball around it is as wide as the integration may be off.
    """

    __slots__ = ()
    query: Vector

    @property
    def count(self) -> int:
        return self.query.dimension

    def inside(self, x: Floats) -> Floats:
        """P(every error is at most x), for each x, in floats."""
        self._refuse("the largest error")

    def half_width(self, confidence: Fraction, field: Field) -> Ball:
        value = self._quantile(float(confidence))
        return around(value, value * 1e-6)

    def largest(self, field: Field) -> Ball:
        """The mean of the largest error: the integral of the chance to exceed x.

        It is taken twice, on a grid and on every second point of it; four times their difference is the slack.
        """
        top = self._quantile(1 - 1e-12)
        # Points crowd near zero, where small errors of few numbers decide, and thin out in the tail.
        grid = top * np.linspace(0, 1, 601) ** 2
        exceeds = 1 - self.inside(grid)
        fine, coarse = _trapezoid(exceeds, grid), _trapezoid(exceeds[::2], grid[::2])
        value = fine + (fine - coarse) / 3
        return around(value, 4 * abs(fine - coarse) + 1e-9 * value)

    def _quantile(self, confidence: float) -> float:
        def reached(x: float) -> bool:
            return bool(1 - self.inside(np.array([x]))[0] <= 1 - confidence)

        high = 1.0
        while reached(high) and high > 1e-300:
            high /= 16
        while not reached(high):
            high *= 2
        return first_true(reached, 0.0, high, relative=1e-9)


def _trapezoid(values: Floats, grid: Floats) -> float:
    return float(np.sum((values[1:] + values[:-1]) * np.diff(grid)) / 2)

"""The optimum for any loss that does not decrease away from zero, on a grid.

Every epsilon-DP density is a mixture of nested chains of sets S_0, S_1, …, each containing the
sensitivity-neighbourhood of the one before, with weights e^(-epsilon j); for such a loss the best
chain is S_j = [left - j, right + j] in sensitivities (docs/theory.md). The optimum is therefore the
smallest ratio of two numbers over the two ends of the top step, and a loss replaced by its
smallest value on each grid cell gives a lower bound for every mechanism.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import Any

import numpy as np

from noisewright.mechanisms.losses import LossTable
from noisewright.numerics.balls import Ball, around, ball, precision
from noisewright.numerics.fields import Floats
from noisewright.numerics.remembered import Remembered
from noisewright.problem.errors import SolverError
from noisewright.problem.queries import Scalar
from noisewright.problem.utilities import Utility
from noisewright.search.golden_section import round_number

_CELLS_PER_SCALE = 700
_FAR = 34.0
_SHIFT = 12.0
_LARGEST_TABLE = 5_000_000
_MOST_CELLS = 100_000
_ROUNDS = 60


@dataclass(frozen=True, slots=True)
class TopStep:
    """Ends of the top step in grid cells, and the loss it reaches (float)."""

    left: int
    right: int
    value: float


class LossGrid:
    """A loss tabulated around zero, `per` grid cells to the sensitivity, with its running integrals.

    Positions are edges of cells. For real answers cell i is [i, i + 1) widths and the integral of
    the loss over it is bounded by its ends; for integers cell i is the whole number i and edge i
    lies half-way below it. `least` and `middle` are the least and the mean loss of each cell, outward to the
    right and to the left.
    """

    def __init__(self, query: Scalar, epsilon: Fraction, utility: Any, cells_per_scale: int = _CELLS_PER_SCALE):
        rate = float(epsilon)
        self.query, self.epsilon, self._fade = query, epsilon, math.exp(-rate)
        if query.integer:
            self.per = int(query.sensitivity)
        else:
            fine = max(1, math.ceil(cells_per_scale * rate), math.ceil(20 * math.exp(rate / 2)))
            self.per = min(round_number(fine), _MOST_CELLS)
        self.width = query.sensitivity / self.per
        growth = 2 * float(utility.growth.power)
        self.range = math.ceil(self.per * (_SHIFT / rate + 2))
        self.count = self.range + self.per * math.ceil((_FAR + growth) / rate + 1)
        if self.count > _LARGEST_TABLE:
            raise SolverError(
                "this epsilon and sensitivity need a loss table of more than five million points; use a larger"
                " epsilon or a coarser unit.",
                points=self.count,
            )
        self.table = LossTable(utility, self.width, self.count)
        right, left = np.array(self.table.right), np.array(self.table.left)
        if query.integer:
            self.least = self.middle = right[:-1], left[1:]
        else:
            self.least = right[:-1], left[:-1]
            self.middle = (right[:-1] + right[1:]) / 2, (left[:-1] + left[1:]) / 2

    def best(self, *, symmetric: bool) -> TopStep:
        """The best top step for the middle loss, by floats."""
        right, left = self._sums(*self.middle)
        if not symmetric:
            return self._lowest(right, left, 1)
        extra = int(self.query.integer)
        halves = np.arange(1 - extra, min(self.per, self.range) + 1 - extra)
        values = self._ratio(right, left, -halves, halves + extra)
        i = int(np.argmin(values))
        return TopStep(-int(halves[i]), int(halves[i]) + extra, float(values[i]))

    def _lowest(self, right: Floats, left: Floats, width: int) -> TopStep:
        """The ends, at least `width` cells apart, with the smallest ratio: the excess over it is minimised in turn."""
        slopes = np.arange(-self.range, self.range + 1) / (1 - self._fade)
        best = TopStep(0, 1, float(self._ratio(right, left, 0, 1)))
        for _ in range(_ROUNDS):
            gain_right, gain_left = right - best.value * slopes, left + best.value * slopes
            ahead = np.minimum.accumulate(gain_right[::-1])[::-1]
            start = int(np.argmin(gain_left[: len(left) - width] + ahead[width:]))
            stop = start + width + int(np.argmin(gain_right[start + width :]))
            ends = start - self.range, stop - self.range
            found = float(self._ratio(right, left, *ends))
            if not found < best.value:
                break
            best = TopStep(*ends, found)
        return best

    def _ratio(self, right: Floats, left: Floats, start: Any, stop: Any) -> Any:
        top = right[stop + self.range] + left[start + self.range]
        rest = 2 * self.per * self._fade / (1 - self._fade) ** 2
        return top / ((stop - start) / (1 - self._fade) + rest)

    def _sums(self, right: Floats, left: Floats) -> tuple[Floats, Floats]:
        """For each edge x in range: sum_j b^j C(x + j), and the mirror image; C is the running integral."""
        running = np.concatenate([-np.cumsum(left)[::-1], [0.0], np.cumsum(right)])
        return self._discounted(running), self._discounted(-running[::-1])[::-1]

    def _discounted(self, running: Floats) -> Floats:
        """Backward recursion H[x] = C[x] + b H[x + per] from the far end, for the edges in range."""
        values = running[self.count - self.range :]
        rows = math.ceil(len(values) / self.per)
        padded = np.concatenate([values, np.full(rows * self.per - len(values), values[-1])]).reshape(rows, self.per)
        padded[-1] /= 1 - self._fade
        for row in range(rows - 2, -1, -1):
            padded[row] += self._fade * padded[row + 1]
        return padded.reshape(-1)[: 2 * self.range + 1]

    def lower_bound(self) -> Fraction:
        """A rational that the mean loss of no epsilon-DP noise can go below, proven in interval arithmetic.

        Rule: chain theorem for the loss replaced by its smallest value on each cell. The ratio is
        at least `guess` if the smallest sum of the two ends' gains, enclosed in interval arithmetic, is not below 0.
        Only ends where the loss is below the bound matter, and the range contains those.
        [theory#losses-that-are-not-symmetric-the-chain-theorem]
        """
        low = self.least
        guess = self._lowest(*self._sums(*low), 0).value
        if min(self.table.right[self.range - 1], self.table.left[self.range - 1]) < guess:
            raise SolverError("the loss rises too slowly on one side for the range that was searched.")
        with precision():
            exact_right = self._ball_sums(low[0], low[1])
            exact_left = self._ball_sums(low[1], low[0])
            for shrink in (1e-11, 1e-9, 1e-7, 1e-5, 1e-3):
                bound = Fraction(guess * (1 - shrink))
                if self._proves(bound, exact_right, exact_left):
                    return bound
        raise SolverError("the lower bound could not be proven; report this problem.")

    def _ball_sums(self, outward: Floats, inward: Floats) -> list[Ball]:
        """Lower enclosures of sum_j b^j C(x + j) for x from -range to range, C running outward."""
        b = (-ball(self.epsilon)).exp()
        behind, beyond = (
            list(accumulate((around(value, 0.0) for value in side.tolist()), initial=ball(0)))
            for side in (inward[: self.range], outward)
        )
        running = [*(-total for total in behind[:0:-1]), *beyond]
        last = len(running) - 1
        rest = 1 / (1 - b)
        for i in range(last, -1, -1):
            ahead = i + self.per
            running[i] = running[i] + b * running[ahead] if ahead <= last else running[i] * rest
        return running[: 2 * self.range + 1]

    def _proves(self, bound: Fraction, right: list[Ball], left: list[Ball]) -> bool:
        b = (-ball(self.epsilon)).exp()
        slope = ball(bound) / (1 - b)
        constant = ball(bound) * (2 * self.per) * b / (1 - b) ** 2
        gains_right = np.array([_below(v - slope * (i - self.range)) for i, v in enumerate(right)])
        # Mirrored: entry i of `left` belongs to the edge range - i, whose gain moves with the other sign.
        gains_left = np.array([_below(v - slope * (i - self.range)) for i, v in enumerate(left)])[::-1]
        ahead = np.minimum.accumulate(gains_right[::-1])[::-1]
        smallest = float(np.min(gains_left + ahead))
        margin = 2.0**-50 * float(np.max(np.abs(gains_left)) + np.max(np.abs(gains_right)))
        needed = math.nextafter(float(constant.upper()), math.inf)
        return smallest - margin >= needed


def _below(value: Ball) -> float:
    """A float below the ball."""
    return math.nextafter(float(value.lower()), -math.inf)


_GRIDS: Remembered[LossGrid] = Remembered()


def loss_grid(query: Scalar, epsilon: Fraction, utility: Utility) -> LossGrid:
    """The loss on its grid, tabulated once for each problem as long as the utility lives."""
    return _GRIDS.latest(utility, (query, epsilon), lambda: LossGrid(query, epsilon, utility))

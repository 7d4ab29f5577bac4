"""Worst cases over all true answers of what a bounded mechanism's errors cost, between two ends that are proven.

An answer between two grid inputs is rounded at random to one of them, so what it costs is the average of two
rows, by its share. Rows are read as distribution functions in floats, each within a known slack of the truth; the
ends allow for that, and for the rounding of every sum.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import lru_cache
from heapq import heapify, heappop, heappush
from itertools import pairwise
from math import floor, lcm
from typing import Any, TypeVar

import numpy as np

from noisewright.numerics.fields import Floats

Ends = tuple[Fraction, Fraction]
Number = TypeVar("Number", float, Fraction)

_BLOCK = 1 << 19
_BLOCKS = 32
_CLOSE = 2.0**-13
_MOST_SPLITS = 4000
_ROUNDING = 2.0**-50
_PLACES = 40
_FEW = 64


class Table:
    """Every output in order, and P(Y <= output) for them with a 0 before them, row by row.

    `levels(first, end)` gives the probabilities of a block of rows, each within `slack` of the truth; blocks asked
    for lately are remembered.
    """

    def __init__(self, outputs: tuple[Fraction, ...], levels: Callable[[int, int], Floats], slack: float) -> None:
        self.outputs = outputs
        self.levels = levels
        self.slack = slack
        self._each = max(1, _BLOCK // len(outputs))
        self._block = lru_cache(maxsize=_BLOCKS)(self._padded)

    def row(self, i: int) -> Floats:
        """The distribution function at the i-th grid input."""
        return np.asarray(self._block(i // self._each)[i % self._each])

    def _padded(self, number: int) -> Floats:
        found = self.levels(number * self._each, (number + 1) * self._each)
        return np.asarray(np.pad(found, ((0, 0), (1, 0))))


def quotients(spread: Floats, step: float) -> Floats:
    """Distribution functions of laws rounded at random to a lattice, from their second antiderivatives on it."""
    return np.pad(np.diff(spread) / step, ((0, 0), (0, 1)), constant_values=1.0)


class _Means:
    """Mean of |error|^power, in units of the largest error to the power, on pieces of cells of the grid."""

    def __init__(self, mechanism: Any, power: Fraction) -> None:
        self._table = mechanism.table()
        x, y = mechanism.grid.points, self._table.outputs
        self.span = max(y[-1] - x[0], x[-1] - y[0], x[-1] - x[0])
        self.inputs = [float((p - x[0]) / self.span) for p in x]
        self._outputs = np.array([float((v - x[0]) / self.span) for v in y])
        self._power = float(power)
        # Sums by parts at most double the slack; each product is right to a few units in the last place, and a
        # distance is off by at most a few roundings.
        rounded = len(y) * _ROUNDING + max(self._power, 1.0) * _ROUNDING ** min(self._power, 1.0)
        self.margin = 4 * self._table.slack + rounded

    def ends(self, low: float, high: float | None = None) -> Ends:
        """Rationals around a mean, or around one between two."""
        least, most = low - self.margin, (low if high is None else high) + self.margin
        return max(Fraction(0), Fraction(least)), Fraction(most)

    def at(self, i: int) -> float:
        """The mean of the i-th row at its own input."""
        sizes = np.abs(self._outputs - self.inputs[i])
        return float(np.diff(self._table.row(i)) @ sizes**self._power)

    def piece(self, i: int, start: float, end: float) -> tuple[float, float, int, float, float]:
        """For answers from start to end inside the i-th cell: minus the highest mean, and one that is reached.

        Rule: for a power of at least 1 the mean of a row is convex in the answer, so below its chord, and the
        average of two chords is a parabola. Below 1 every output costs at most what the farther end pays.
        [theory#answers-in-bounds]
        """
        low, high = self.inputs[i], self.inputs[i + 1]
        s, t = (start - low) / (high - low), (end - low) / (high - low)
        sizes = [np.abs(self._outputs - place) for place in (start, end)]
        masses = [np.diff(self._table.row(row)) for row in (i, i + 1)]
        (a, b), (c, d) = ([float(m @ size**self._power) for size in sizes] for m in masses)
        first, last = (1 - s) * a + s * c, (1 - t) * b + t * d
        if self._power >= 1:
            top = highest(first, last, (t - s) * ((b - a) - (d - c)))
        else:
            farther = np.maximum(*sizes) ** self._power
            top = max((1 - share) * float(masses[0] @ farther) + share * float(masses[1] @ farther) for share in (s, t))
        return -top, max(first, last), i, start, end


def worst_mean(mechanism: Any, power: Fraction) -> tuple[Fraction, Ends]:
    """The largest error there is, and both ends of the largest mean of |error|^power in units of its power.

    Pieces of cells are halved, the highest first, until the ends are near. Where no answer lies between two grid
    inputs, the rows themselves are all there is.
    """
    means = _Means(mechanism, power)
    if mechanism.alone:
        return means.span, means.ends(max(means.at(i) for i in range(len(means.inputs))))
    pieces = [means.piece(i, a, b) for i, (a, b) in enumerate(pairwise(means.inputs))]
    reached = max(p[1] for p in pieces)
    heapify(pieces)
    for _ in range(_MOST_SPLITS):
        if -pieces[0][0] <= reached * (1 + _CLOSE) + means.margin:
            break
        _, _, i, start, end = heappop(pieces)
        middle = (start + end) / 2
        for part in (means.piece(i, start, middle), means.piece(i, middle, end)):
            reached = max(reached, part[1])
            heappush(pieces, part)
    return means.span, means.ends(reached, max(reached, -pieces[0][0]))


def square_ends(mechanism: Any, i: int) -> Ends:
    """Both ends of the mean squared error of a row at its own input, from the law that is drawn."""
    means = _squares(mechanism)
    low, high = means.ends(means.at(i))
    return low * means.span**2, high * means.span**2


@lru_cache(maxsize=8)
def _squares(mechanism: Any) -> _Means:
    return _Means(mechanism, Fraction(2))


def highest(a: Number, c: Number, bend: Number) -> Number:
    """Maximum over share in [0, 1] of (1 - share) a + share c + share (1 - share) bend."""
    if bend <= abs(c - a):
        return max(a, c)
    return (a + c) / 2 + bend / 4 + (c - a) ** 2 / (4 * bend)


class _Chances:
    """Chances of an error of at most a limit; places are whole numbers of a unit that all of them have."""

    def __init__(self, mechanism: Any, limit: Fraction, places: int = 0) -> None:
        self._table = mechanism.table()
        x, y = mechanism.grid.points, self._table.outputs
        self.per_unit = lcm(limit.denominator, *(p.denominator for p in (*x, *y))) << places
        self.margin = 4 * self._table.slack + _ROUNDING
        self.inputs, self.outputs = ([int(p * self.per_unit) for p in points] for points in (x, y))
        self.alone = mechanism.alone
        self.cells = range(len(x) if self.alone else len(x) - 1)

    def least(self, limit: int, cells: Iterable[int]) -> tuple[float, int]:
        """The least chance over all answers in some cells, and a cell where it is; or in some rows, at their inputs."""
        return min((self._at(limit, i) if self.alone else self._least(limit, i), i) for i in cells)

    def _at(self, limit: int, i: int) -> float:
        """The chance of a row at its own input."""
        y, x, row = self.outputs, self.inputs[i], self._table.row(i)
        return float(row[bisect_right(y, x + limit)] - row[bisect_left(y, x - limit)])

    def _least(self, limit: int, i: int) -> float:
        """The least chance in one cell.

        Rule: between answers at which an output comes or goes the chance of a row stays, so the average of two
        rows is linear there; at such an answer itself it is no smaller. [theory#answers-in-bounds]
        """
        y, (a, b) = self.outputs, self.inputs[i : i + 2]
        places = {a, b}
        for side in (limit, -limit):
            places.update(v - side for v in y[bisect_right(y, a + side) : bisect_left(y, b + side)])
        pieces = sorted(places)
        ends = [[bisect_right(y, p + side) for p in pieces[:-1]] for side in (limit, -limit)]
        rows = [self._table.row(k) for k in (i, i + 1)]
        ours, theirs = (row[ends[0]] - row[ends[1]] for row in rows)
        share = np.array([(p - a) / (b - a) for p in pieces])
        return float(min((ours + s * (theirs - ours)).min() for s in (share[:-1], share[1:])))


def worst_chance(mechanism: Any, limit: Fraction) -> Ends:
    """Both ends of the least chance, over all answers, of an error of at most the limit."""
    chances = _Chances(mechanism, limit)
    found, _ = chances.least(int(limit * chances.per_unit), chances.cells)
    return max(Fraction(0), Fraction(found - chances.margin)), min(Fraction(1), Fraction(found + chances.margin))


def worst_half_width(mechanism: Any, confidence: Fraction) -> Ends:
    """Both ends of the smallest half-width that every error stays within with the confidence, whatever the answer.

    A few cells decide the search; what they find is tried on all of them, and the worst cell joins the few.
    """
    chances = _Chances(mechanism, Fraction(1), _PLACES)
    sure, wanted = (float(confidence) + side * chances.margin for side in (2, -2))
    cells = {*chances.cells[:: max(1, len(chances.cells) // _FEW)], chances.cells[-1]}
    low, top = 0, max(chances.outputs[-1] - chances.inputs[0], chances.inputs[-1] - chances.outputs[0])
    high = top
    while True:
        while high - low > high * _CLOSE:
            middle = (low + high) // 2
            found = chances.least(middle, cells)[0]
            if found < wanted:
                low = middle
            elif found >= sure:
                high = middle
            else:
                break
        found, cell = chances.least(high, chances.cells)
        if high == top or found >= sure:
            ends = Fraction(low, chances.per_unit), Fraction(high, chances.per_unit)
            # Whole errors stay within a width exactly if they stay within its whole part.
            return (Fraction(floor(ends[0]) + (low > 0)), Fraction(floor(ends[1]))) if chances.alone else ends
        low, high = (high if found < wanted else low), top
        cells.add(cell)

"""Every pair of a universe against its budget, streamed in blocks: floats clear, exact rationals decide.

A pair's cost is a norm of the difference of two integer columns. Differences of columns below 2^52
are exact in floats, so the relative error of a float cost is a few roundings; together with the
margin of the float distances, a pair whose float cost is clearly below its float distance is cleared.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.numerics.distances import FloatView, float_view, lower_squared, root_below, upper_squared
from noisewright.numerics.fields import Floats
from noisewright.numerics.finite_components import infinitely_apart
from noisewright.problem.errors import UncertifiedError
from noisewright.problem.metrics import Hamming

LARGEST_COLUMN = 2**52
_BLOCK_ENTRIES = 1 << 21
_COST_MARGIN = 2.0**-40
_MOST_TIES = 256
_SMALLEST_RATE = Fraction(1, 10**200)


@dataclass(frozen=True, slots=True)
class Cost:
    """What telling two columns apart costs: sum of rates times |difference| (l1), or rate times its length (l2)."""

    columns: NDArray[np.int64]
    rates: tuple[Fraction, ...]
    euclidean: bool

    @classmethod
    def l1(cls, columns: Any, rates: tuple[Fraction, ...]) -> Cost:
        """Sum over k of rates[k] |difference of row k|."""
        return cls(np.array(columns, dtype=np.int64), rates, False)

    @classmethod
    def l2(cls, columns: Any, rate: Fraction) -> Cost:
        """rate times the Euclidean length of the difference."""
        return cls(np.array(columns, dtype=np.int64), (rate,), True)

    @classmethod
    def largest(cls, columns: Any, rate: Fraction) -> list[Cost]:
        """rate times the largest |difference| over rows: one cost for each row, each to be checked."""
        return [cls(np.array([row], dtype=np.int64), (rate,), False) for row in columns]

    def __post_init__(self) -> None:
        if any(not _SMALLEST_RATE <= rate <= 1 / _SMALLEST_RATE for rate in self.rates):
            raise UncertifiedError("refused: the noise is wider or narrower than floats can filter (1e-200 to 1e200).")
        if np.abs(self.columns).max(initial=0) >= LARGEST_COLUMN:
            raise UncertifiedError("refused: floats cannot hold differences of columns of 2^52 or more.")

    def rows(self, start: int, stop: int) -> Floats:
        """Float costs of rows [start, stop) against columns from `start` on."""
        total = np.zeros((stop - start, self.columns.shape[1] - start))
        for k, row in enumerate(self.columns):
            values = row.astype(np.float64)
            apart = values[start:stop, None] - values[None, start:]
            part = np.multiply(apart, apart, out=apart) if self.euclidean else np.abs(apart, out=apart)
            if not self.euclidean:
                part *= float(self.rates[k])
            total += part
        return np.multiply(np.sqrt(total, out=total), float(self.rates[0]), out=total) if self.euclidean else total

    def squared(self, i: int, j: int) -> Fraction:
        """The exact squared cost of a pair."""
        apart = [abs(int(a) - int(b)) for a, b in zip(self.columns[:, i], self.columns[:, j], strict=True)]
        if self.euclidean:
            return self.rates[0] ** 2 * sum(a * a for a in apart)
        return sum((r * a for r, a in zip(self.rates, apart, strict=True)), Fraction(0)) ** 2


def blocks(view: FloatView, cost: Cost) -> Iterator[tuple[int, Floats, Floats]]:
    """(first row, costs, distances) for successive blocks of the upper triangle."""
    start = 0
    while start < view.size:
        stop = min(view.size, start + max(1, _BLOCK_ENTRIES // (view.size - start)))
        yield start, cost.rows(start, stop), view.rows(start, stop)
        start = stop


def violation(metric: Any, cost: Cost) -> tuple[int, int] | None:
    """A pair whose exact cost exceeds its distance, or None if every pair was cleared or checked.

    Pairs at an infinite distance, which is known exactly, may cost whatever they cost.
    """
    view, cost, kept, tolerance = _compared(metric, cost)
    for start, costs, distances in blocks(view, cost):
        cleared = np.isfinite(distances) & (costs <= distances * (1 - tolerance) - 2 * view.slack)
        if (apart := view.apart(start, start + len(costs))) is not None:
            cleared |= apart
        for row, column in np.argwhere(np.triu(~cleared, 1)):
            i, j = start + int(row), start + int(column)
            if cost.squared(i, j) > lower_squared(metric, kept[i], kept[j]):
                return kept[i], kept[j]
    return None


def longer(first: Any, second: Any, factor: Fraction) -> tuple[int, int] | None:
    """A pair for which factor times the first distance exceeds the second; None if there is surely none.

    Where the second is infinite it never does; where only the first is, it always does.
    """
    ours, theirs = float_view(first), float_view(second)
    tolerance = _COST_MARGIN + 2 * (ours.margin + theirs.margin)
    for start, costs, distances in _both(ours, theirs):
        with np.errstate(over="ignore", invalid="ignore"):
            limits = float(factor) * (costs + 2 * ours.slack)
            cleared = np.isfinite(limits) & np.isfinite(distances)
            cleared &= limits <= distances * (1 - tolerance) - 2 * theirs.slack
        if (apart := theirs.apart(start, start + len(costs))) is not None:
            cleared |= apart
        for row, column in np.argwhere(np.triu(~cleared, 1)):
            i, j = start + int(row), start + int(column)
            if infinitely_apart(first, i, j):
                return i, j
            if factor**2 * upper_squared(first, i, j) > lower_squared(second, i, j):
                return i, j
    return None


def _both(ours: FloatView, theirs: FloatView) -> Iterator[tuple[int, Floats, Floats]]:
    start = 0
    while start < ours.size:
        stop = min(ours.size, start + max(1, _BLOCK_ENTRIES // (ours.size - start)))
        yield start, ours.rows(start, stop), theirs.rows(start, stop)
        start = stop


def ratio_above(first: Any, second: Any) -> Fraction:
    """A rational at or a little above the largest first / second distance, found in floats: `longer` is what proves it.

    Raises ZeroDivisionError with a pair that only the first tells apart.
    """
    best, pair = 0.0, (0, 0)
    for start, costs, distances in _both(float_view(first), float_view(second)):
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = np.triu(np.where(np.isposinf(distances) | (costs == 0), 0.0, costs / distances), 1)
        place = np.unravel_index(int(np.argmax(ratios)), ratios.shape)
        if ratios[place] > best:
            best, pair = float(ratios[place]), (start + int(place[0]), start + int(place[1]))
    if not np.isfinite(best):
        raise ZeroDivisionError(pair)
    if not best:
        return Fraction(0)
    square = upper_squared(first, *pair) / lower_squared(second, *pair)
    root = root_below(square)
    return root if root**2 == square else root * (1 + Fraction(1, 2**100))


def largest_ratio(metric: Any, cost: Cost) -> tuple[Fraction, tuple[int, int]]:
    """A rational at or above max cost/distance (equal where both are rational), and the pair.

    Raises ZeroDivisionError with the pair if two elements at distance 0 differ in cost. Found with
    floats: `violation` is what proves it.
    """
    view, cost, kept, tolerance = _compared(metric, cost)
    best = 0.0
    survivors: list[tuple[float, int, int]] = []
    for start, costs, distances in blocks(view, cost):
        costs = np.triu(costs, 1)
        if not costs.any():
            continue
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = np.where(costs > 0, costs / distances, 0.0)
        top = float(ratios.max())
        if not np.isfinite(top):
            row, column = (int(v) for v in np.argwhere(~np.isfinite(ratios))[0])
            raise ZeroDivisionError((kept[start + row], kept[start + column]))
        if not top:
            continue
        best = max(best, top)
        places = np.argwhere(ratios >= best * (1 - tolerance))
        if len(places) > _MOST_TIES:
            values = ratios[places[:, 0], places[:, 1]]
            places = places[np.argpartition(values, -_MOST_TIES)[-_MOST_TIES:]]
        survivors += [(float(ratios[r, c]), start + int(r), start + int(c)) for r, c in places]
        survivors = [s for s in survivors if s[0] >= best * (1 - tolerance)]
    result, pair = Fraction(0), (0, 0)
    for _, i, j in survivors:
        ratio = root_below(cost.squared(i, j))
        if ratio**2 < cost.squared(i, j):
            ratio *= 1 + Fraction(1, 2**100)
        ratio /= root_below(lower_squared(metric, kept[i], kept[j]))
        if ratio > result:
            result, pair = ratio, (kept[i], kept[j])
    return result, pair


def _compared(metric: Any, cost: Cost) -> tuple[FloatView, Cost, list[int], float]:
    """The distances and costs to compare, the element that each row stands for, and the tolerance of floats.

    Where all budgets are equal, elements with equal columns need only one representative.
    """
    kept = list(range(metric.size))
    if isinstance(metric, Hamming):
        _, places = np.unique(cost.columns, axis=1, return_index=True)
        kept, cost = places.tolist(), Cost(cost.columns[:, places], cost.rates, cost.euclidean)
        metric = Hamming(len(kept), metric.epsilon)
    view = float_view(metric)
    return view, cost, kept, _COST_MARGIN + 2 * view.margin

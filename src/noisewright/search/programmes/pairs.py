"""The pairs of a universe as rows of differences over distances, which of them matter, and bias traded for noise."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np

from noisewright.numerics.distances import FloatView, float_view
from noisewright.numerics.fields import Floats
from noisewright.problem.errors import InvalidQueryError
from noisewright.problem.linear import Linear
from noisewright.search.programmes.linear import Solved

Found = TypeVar("Found", bound="Solved | None")

ALL_PAIRS = 200
_BLOCK_ENTRIES = 1 << 20
_ADDED = 400
_MOST_ROUNDS = 40
_VIOLATED = 1e-9
_ROUNDS = 60


class PairTable:
    """Differences of columns divided by distances, for all pairs of a small universe or the ones asked for.

    `pairs` are the elements that each row stands for.
    `moving` are the queries that differ somewhere within a finite distance; the others need no noise and are left out.
    Raises InvalidQueryError for elements at distance 0 whose columns differ, and for queries that
    tell no two elements apart.
    """

    def __init__(self, query: Linear, metric: Any) -> None:
        whole = np.array([[v / d for v in row] for row, d in zip(query.numerators, query.denominators, strict=True)])
        self.view: FloatView = float_view(metric)
        self._query = query
        self.moving = _moving(query, self.view)
        self.matrix = whole[self.moving]
        flat = np.flatnonzero(np.ptp(whole, axis=1) == 0)
        if len(flat):
            raise InvalidQueryError(
                f"{query.names[flat[0]]} is the same for every element, so its answer is public when the number of"
                " people is; leave it out.",
                query=int(flat[0]),
            )
        self._rows: list[Floats] = []
        self.pairs: list[tuple[int, int]] = []
        self._opened = 0
        self._seen: set[tuple[int, int]] = set()
        if self.complete and self.moving:
            self._all()

    @property
    def rows(self) -> Floats:
        """Signed differences over distances, one row for each pair collected so far."""
        return np.concatenate(self._rows)

    @property
    def complete(self) -> bool:
        """Whether every pair is there."""
        return self._query.size <= ALL_PAIRS

    def spread(self, rates: Sequence[float]) -> list[float]:
        """A rate for each query from those of the moving ones; infinite where none moves."""
        found = dict(zip(self.moving, rates, strict=True))
        return [found.get(k, math.inf) for k in range(self._query.dimension)]

    def solve(self, programme: Callable[[Floats], Found], *, euclidean: bool) -> Found:
        """Solve with the pairs at hand, add what is violated, and again until nothing is.

        A solution measures columns by an ellipse, or by a rate for each of their numbers.
        """
        if self.complete:
            return programme(self.rows)
        self._open()
        for _ in range(_MOST_ROUNDS):
            found = programme(self.rows)
            if found is None:
                break
            root = np.linalg.cholesky(found.point).T if euclidean else np.diag(found.point)
            if not self._add(root @ self.matrix, euclidean):
                break
        return found

    def opening(self) -> tuple[Floats, list[tuple[int, int]]]:
        """The pairs that every search begins with, whatever was added since: the hardest ones of each query."""
        self._open()
        return self.rows[: self._opened], self.pairs[: self._opened]

    def _open(self) -> None:
        if not self._rows:
            for row in self.matrix:
                self._add(row[None, :], False)
            if len(self.matrix) > 1:
                self._add(self.matrix, False)
            self._opened = len(self.pairs)

    def _add(self, measure: Floats, euclidean: bool) -> bool:
        """Collect the pairs with the largest measured cost over distance; whether any exceeds one."""
        best: list[tuple[float, int, int]] = []
        for start, costs, distances in _blocks(self.view, measure, euclidean):
            ratios = self._ratios(start, costs, distances)
            count = min(_ADDED, ratios.size)
            places = np.argpartition(ratios, -count, axis=None)[-count:]
            first, second = np.unravel_index(places, ratios.shape)
            sides = (start + first).tolist(), (start + second).tolist()
            best = sorted([*best, *zip(ratios[first, second].tolist(), *sides, strict=True)], reverse=True)[:_ADDED]
        new = [(i, j) for v, i, j in best if v > 0 and (i, j) not in self._seen]
        self._seen.update(new)
        if new:
            ours, theirs = (np.array(side) for side in zip(*new, strict=True))
            self.pairs += new
            distances = np.array([self.view.rows(i, i + 1)[0, j - i] for i, j in new])
            self._rows.append(((self.matrix[:, ours] - self.matrix[:, theirs]) / distances).T)
        return bool(new) and best[0][0] > 1 + _VIOLATED

    def _all(self) -> None:
        size = self._query.size
        distances = self.view.rows(0, size)
        differences = self.matrix[:, :, None] - self.matrix[:, None, :]
        self._ratios(0, np.abs(differences).sum(axis=0), distances)
        first, second = np.triu_indices(size, 1)
        apart = distances[first, second]
        told = apart > 0
        rows = differences[:, first[told], second[told]].T / apart[told, None]
        kept = np.abs(rows).max(axis=1) > 0
        self._rows.append(rows[kept])
        self.pairs += zip(first[told][kept].tolist(), second[told][kept].tolist(), strict=True)
        self._opened = len(self.pairs)

    def _ratios(self, start: int, costs: Floats, distances: Floats) -> Floats:
        costs = np.triu(costs, 1)
        impossible = (distances <= 0) & (costs > 0)
        if impossible.any():
            raise at_distance_zero(*(start + int(v) for v in np.argwhere(impossible)[0]))
        return np.asarray(np.divide(costs, distances, out=np.zeros_like(costs), where=distances > 0))


def _moving(query: Linear, view: FloatView) -> list[int]:
    """The queries that differ somewhere within an island."""
    if view.islands is None:
        return list(range(query.dimension))
    marks = view.islands.tolist()
    first = {island: i for i, island in reversed(list(enumerate(marks)))}
    return [
        k
        for k, row in enumerate(query.numerators)
        if any(v != row[first[island]] for v, island in zip(row, marks, strict=True))
    ]


def at_distance_zero(i: int, j: int) -> InvalidQueryError:
    """Two elements that must not be told apart have different answers."""
    return InvalidQueryError(
        f"elements {i} and {j} are at distance 0, so nothing may tell them apart, but their columns differ. Give them"
        " equal columns, merge them, or give the pair a positive budget.",
        pair=(i, j),
    )


def _blocks(view: FloatView, measure: Floats, euclidean: bool) -> Any:
    start = 0
    while start < view.size:
        stop = min(view.size, start + max(1, _BLOCK_ENTRIES // (view.size - start)))
        total = np.zeros((stop - start, view.size - start))
        for row in measure:
            apart = row[start:stop, None] - row[None, start:]
            total += apart * apart if euclidean else np.abs(apart)
        yield start, np.sqrt(total) if euclidean else total, view.rows(start, stop)
        start = stop


@dataclass(frozen=True, slots=True)
class Traded:
    """Columns A within `bias` of the query, their noise scale, the value n^2 bias^2 + 2 scale^2 and its gap."""

    columns: list[Fraction]
    bias: float
    scale: float
    value: float
    gap: float


def best_single(table: PairTable, people: int, row: Sequence[Fraction], power: int = 2) -> Traded:
    """Minimise n^2 max (A_i - q_i)^2 + 2 c^2 subject to |A_i - A_j| <= c d(i, j), jointly in A and c.

    For absolute errors (power 1) n max |A_i - q_i| + c.

    Rule: columns within t of the query and c-Lipschitz exist exactly if |q_i - q_j| <= 2 t + c d(i, j)
    for every pair (take A_i = max over j of q_j - t - c d(i, j)). So the programme has two unknowns,
    c(t) = max over pairs of (|q_i - q_j| - 2 t) / d(i, j), and is convex in t. [theory#metric-privacy]
    """
    q, view = table.matrix[0], table.view
    n2 = float(people) ** 2

    def value(t: float) -> tuple[float, float, float]:
        c, slope = _scale(q, view, t)
        if power == 1:
            return people * t + c, people + slope, c
        return n2 * t * t + 2 * c * c, 2 * n2 * t + 4 * c * slope, c

    low, high, bound = 0.0, float(np.ptp(q)) / 2, 0.0
    at_low, at_high = value(low), value(high)
    best = (at_low[0], 0.0, at_low[2])
    if at_low[1] >= 0:
        return Traded(list(row), 0.0, best[2], best[0], 0.0)
    for _ in range(_ROUNDS):
        # Tangents at the two ends bound a convex function from below where they meet.
        meet = (at_high[0] - at_low[0] + at_low[1] * low - at_high[1] * high) / (at_low[1] - at_high[1])
        bound = at_low[0] + at_low[1] * (meet - low)
        middle = min(max(meet, low + 1e-3 * (high - low)), high - 1e-3 * (high - low))
        here = value(middle)
        if here[0] < best[0]:
            best = (here[0], middle, here[2])
        if best[0] - bound <= 1e-9 * best[0]:
            break
        if here[1] < 0:
            low, at_low = middle, here
        else:
            high, at_high = middle, here
    _, t, c = best
    columns = [Fraction(float(v)) for v in _lipschitz(q, view, t, c)]
    return Traded(columns, t, c, best[0], max(0.0, (best[0] - bound) / best[0]))


def _scale(q: Floats, view: FloatView, t: float) -> tuple[float, float]:
    """max over pairs of (|q_i - q_j| - 2 t) / d(i, j), streamed in blocks, and its slope in t."""
    best, slope, start = 0.0, 0.0, 0
    while start < view.size:
        stop = min(view.size, start + max(1, _BLOCK_ENTRIES // (view.size - start)))
        apart = np.triu(np.abs(q[start:stop, None] - q[None, start:]) - 2 * t, 1)
        distances = view.rows(start, stop)
        ratios = np.divide(apart, distances, out=np.zeros_like(apart), where=(distances > 0) & (apart > 0))
        place = int(np.argmax(ratios))
        if (top := float(ratios.flat[place])) > best:
            best, slope = top, -2.0 / float(distances.flat[place])
        start = stop
    return best, slope


def _lipschitz(q: Floats, view: FloatView, t: float, c: float) -> Floats:
    """The columns of the rule."""
    result = np.full(view.size, -np.inf)
    for i in range(view.size):
        distances = view.rows(i, i + 1)[0]
        result[i] = max(result[i], q[i] - t, float((q[i:] - t - c * distances).max()))
        result[i:] = np.maximum(result[i:], q[i] - t - c * distances)
    return result

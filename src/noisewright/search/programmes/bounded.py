"""The linear programme over conditional laws p(output | input).

Variables are the masses of each output for each grid input. Rows sum to one and have the promised
mean; masses of rows that one person can turn into one another differ by a factor of at most
e^epsilon. A problem that is its own mirror image is solved for one half of its rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from noisewright.mechanisms.conditional import Grid
from noisewright.numerics.lp import SparseRows, minimise_sparse
from noisewright.problem.queries import Bounded

Floats = NDArray[np.float64]
Places = NDArray[np.int64]

_SMALL = 40_000
_STEEP = 30.0
_DEEP = 23.0
_DEEP_IF_STEEP = 12.0


@dataclass(frozen=True)
class Programme:
    """Inputs, outputs, how far each row reaches, and what each row counts (None: only the worst row)."""

    query: Bounded
    epsilon: Fraction
    grid: Grid
    values: tuple[Fraction, ...]
    reach: tuple[int, ...]
    weights: tuple[Fraction, ...] | None

    @property
    def full(self) -> bool:
        """Whether every row can be turned into every other."""
        return self.reach[0] == self.grid.last

    @property
    def mirrored(self) -> bool:
        """Whether the problem is its own mirror image."""
        for points in (self.grid.points, self.values):
            ends = points[0] + points[-1]
            if ends != self.query.inputs[0] + self.query.inputs[1] or any(
                a + b != ends for a, b in zip(points, reversed(points), strict=True)
            ):
                return False
        last = self.grid.last
        same = all(
            (i <= self.reach[j]) == (last - j <= self.reach[last - i])
            for j in range(last + 1)
            for i in range(j, last + 1)
        )
        return same and (self.weights is None or self.weights == self.weights[::-1])

    @property
    def steep(self) -> bool:
        """Whether masses may fade below what the solver can tell from zero; it is then asked for less."""
        return not self.full and float(self.epsilon * self.query.width / self.query.sensitivity) >= _STEEP

    @property
    def tolerance(self) -> float:
        """How exactly the solver is asked to keep each row."""
        return 1e-7 if self.steep else 1e-9

    @property
    def distances(self) -> Floats:
        """Output minus input, in units of the sensitivity."""
        scale = float(self.query.sensitivity)
        x = np.array([float(p - self.query.inputs[0]) for p in self.grid.points]) / scale
        y = np.array([float(v - self.query.inputs[0]) for v in self.values]) / scale
        return np.asarray(y[None, :] - x[:, None])


@dataclass(frozen=True)
class Multipliers:
    """Duals of every row of the programme, unfolded: what each input counts, its mass, its mean, and the pairs."""

    counts: Floats
    mass: Floats
    mean: Floats
    pairs: tuple[Places, Places, Floats]
    """For each pair of rows (i, k): p_i <= e^epsilon p_k, with one multiplier for each output."""


@dataclass(frozen=True)
class Found:
    """The solver's masses and multipliers, in floats: suggestions, never evidence."""

    masses: Floats
    multipliers: Multipliers


class _Builder:
    """Collects rows of a sparse matrix block by block."""

    def __init__(self) -> None:
        self._columns: list[Places] = []
        self._values: list[Floats] = []
        self._lengths: list[Places] = []
        self._low: list[Floats] = []
        self._high: list[Floats] = []

    def add(self, columns: Places, values: Floats, low: float, high: float) -> None:
        """A block of rows of equal length, one for each line of `columns`."""
        count, length = columns.shape
        self._columns.append(columns.ravel())
        self._values.append(np.broadcast_to(values, columns.shape).ravel())
        self._lengths.append(np.full(count, length, dtype=np.int64))
        self._low.append(np.full(count, low))
        self._high.append(np.full(count, high))

    def matrix(self) -> SparseRows:
        starts = np.concatenate([[0], np.cumsum(np.concatenate(self._lengths))])
        return SparseRows(
            starts.astype(np.int32),
            np.concatenate(self._columns).astype(np.int32),
            np.concatenate(self._values),
            np.concatenate(self._low),
            np.concatenate(self._high),
        )


def solve(programme: Programme, losses: Floats) -> Found:
    """Minimise the worst or the weighted loss; `losses[i, k]` is what output k costs at input i.

    Raises SolverError where the solver finds no optimum.
    """
    folded = programme.mirrored
    last, top = programme.grid.last, len(programme.values) - 1
    rows = (last + 2) // 2 if folded else last + 1
    place = _places(last, top, rows, folded)
    own = rows * (top + 1)
    counts = None if programme.weights is None else _counts(programme, folded, rows)
    builder = _Builder()
    floor = _floor_columns(programme, folded, own) if programme.full else None
    extra = own if floor is None else int(floor.max()) + 1
    worst = extra if counts is None else None
    cost = np.zeros(extra + (1 if worst is not None else 0))
    if worst is not None:
        cost[worst] = 1.0
    bias = programme.query.bias
    limit = math.inf if bias is None else float(bias / programme.query.sensitivity)
    distances = programme.distances
    scales, row_scales = _scales(programme, place[:rows], distances, extra), []
    for i in range(rows):
        columns, repeat = (place[i], 1) if floor is None else (np.concatenate([place[i], floor]), 2)
        columns, far, loss, ones = _merged(columns, np.tile(distances[i], repeat), np.tile(losses[i], repeat))
        shrunk = scales[columns]
        builder.add(columns[None, :], shrunk * ones, 1.0, 1.0)
        builder.add(columns[None, :], shrunk * far, -limit, limit)
        loss = shrunk * loss
        if worst is None:
            assert counts is not None
            np.add.at(cost, columns, counts[i] * loss)
        else:
            builder.add(np.append(columns, worst)[None, :], np.append(loss, -1.0), -math.inf, 0.0)
    if floor is None:
        pairs = _pair_rows(programme, folded)
        for i, k in zip(*pairs, strict=True):
            both, factors = _apart(np.stack([place[i], place[k]], axis=1), math.exp(-float(programme.epsilon)))
            factors *= scales[both]
            sizes = np.abs(factors).max(axis=1)
            row_scales.append(sizes)
            builder.add(both, factors / sizes[:, None], -math.inf, 0.0)
    else:
        pairs = (np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))
        for i in range(rows):
            both = np.stack([place[i], floor], axis=1)
            builder.add(both, np.array([1.0, -math.expm1(float(programme.epsilon))]), -math.inf, 0.0)
    matrix = builder.matrix()
    crossover = len(matrix.low) < _SMALL
    solution = minimise_sparse(cost, matrix, solver="ipm", crossover=crossover, tolerance=programme.tolerance)
    masses = (solution.x * scales[: len(cost)])[place] if floor is None else solution.x[place] + solution.x[floor]
    duals = solution.duals
    if floor is None:
        head = len(duals) - sum(len(r) for r in row_scales)
        duals = np.concatenate([duals[:head], duals[head:] / np.concatenate(row_scales)])
    return Found(masses, _unfolded(programme, folded, rows, duals, pairs, counts))


def _places(last: int, top: int, rows: int, folded: bool) -> Places:
    """Which variable stands for output k of row i: mirror images share one, in the middle row too."""
    place = np.arange((last + 1) * (top + 1)).reshape(last + 1, top + 1)
    if folded:
        if last % 2 == 0:
            place[last // 2] = np.minimum(place[last // 2], place[last // 2][::-1])
        place[rows:] = place[last - np.arange(rows, last + 1)][:, ::-1]
    return place


def _scales(programme: Programme, place: Places, distances: Floats, extra: int) -> Floats:
    """What a unit of each variable stands for: masses far from the answer are tiny where they may fade.

    Where every row can be turned into every other they may not, and every unit is one.
    """
    scales = np.ones(extra + 1)
    if not programme.full:
        fades = float(programme.epsilon) * np.maximum(np.abs(distances[: len(place)]) - 1.0, 0.0)
        scales[place] = np.exp(-np.minimum(fades, _DEEP_IF_STEEP if programme.steep else _DEEP))
    return scales


def _apart(both: Places, fade: float) -> tuple[Places, Floats]:
    """Columns and factors of fade * p_i - p_k <= 0; where both are one variable the row says nothing."""
    factors = np.tile([fade, -1.0], (len(both), 1))
    same = both[:, 0] == both[:, 1]
    factors[same] = [fade - 1.0, 0.0]
    columns = both.copy()
    columns[same, 1] = np.where(columns[same, 0] > 0, columns[same, 0] - 1, columns[same, 0] + 1)
    return columns, factors


def _merged(columns: Places, distances: Floats, losses: Floats) -> tuple[Places, Floats, Floats, Floats]:
    """Entries of equal columns summed: a mirrored floor stands in a row twice."""
    unique, inverse = np.unique(columns, return_inverse=True)
    weighted = (distances, losses, np.ones(len(columns)))
    sums = [np.bincount(inverse, weights=w).astype(np.float64) for w in weighted]
    return unique, sums[0], sums[1], sums[2]


def _floor_columns(programme: Programme, folded: bool, own: int) -> Places:
    """One variable for the smallest mass of each output, shared by an output and its mirror image."""
    top = len(programme.values) - 1
    k = np.arange(top + 1)
    return own + (np.minimum(k, top - k) if folded else k)


def _counts(programme: Programme, folded: bool, rows: int) -> Floats:
    assert programme.weights is not None
    counts = np.array([float(w) for w in programme.weights])
    if not folded:
        return counts
    last = programme.grid.last
    return np.array([counts[i] + (counts[last - i] if last - i != i else 0.0) for i in range(rows)])


def _pair_rows(programme: Programme, folded: bool) -> tuple[Places, Places]:
    """Ordered pairs of rows within reach; of a pair and its mirror image only one."""
    last = programme.grid.last
    found = set()
    for i, end in enumerate(programme.reach):
        for j in range(i + 1, end + 1):
            for pair in ((i, j), (j, i)):
                found.add(min(pair, (last - pair[0], last - pair[1])) if folded else pair)
    ordered = np.array(sorted(found), dtype=np.int64)
    return ordered[:, 0], ordered[:, 1]


def _unfolded(
    programme: Programme, folded: bool, rows: int, duals: Floats, pairs: tuple[Places, Places], counts: Floats | None
) -> Multipliers:
    """Duals of the folded rows, shared out between a row and its mirror image."""
    last, top = programme.grid.last, len(programme.values) - 1
    each = 3 if counts is None else 2
    head = duals[: each * rows].reshape(rows, each)
    weight = -head[:, 2] if counts is None else counts
    unfolded = np.zeros((3, last + 1))
    for i in range(rows):
        mirror = last - i if folded else i
        part = 1.0 if mirror == i else 0.5
        for row, sign in {i: 1.0, mirror: -1.0 if folded else 1.0}.items():
            unfolded[:, row] = part * weight[i], part * head[i, 0], part * sign * head[i, 1]
        if folded and mirror == i:
            unfolded[2, i] = 0.0
    if programme.full:
        return Multipliers(unfolded[0], unfolded[1], unfolded[2], (*pairs, np.zeros((0, top + 1))))
    values = -math.exp(-float(programme.epsilon)) * duals[each * rows :].reshape(len(pairs[0]), top + 1)
    if not folded:
        return Multipliers(unfolded[0], unfolded[1], unfolded[2], (*pairs, values))
    first = np.concatenate([pairs[0], last - pairs[0]])
    second = np.concatenate([pairs[1], last - pairs[1]])
    return Multipliers(
        unfolded[0], unfolded[1], unfolded[2], (first, second, np.concatenate([values, values[:, ::-1]]) / 2)
    )

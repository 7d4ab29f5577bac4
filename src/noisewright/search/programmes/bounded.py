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

from noisewright.mechanisms.bounded.conditional import Grid
from noisewright.numerics.arrays import Floats
from noisewright.numerics.lp import SparseRows, minimise_sparse
from noisewright.problem.queries import Bounded

Places = NDArray[np.int64]
Block = tuple[Places, Floats, float, float]
"""Rows of equal length, one for each line of columns: their columns, values, lower and upper ends."""

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
        ends, last = sum(self.query.inputs), self.grid.last
        for line in (self.grid.points, self.values):
            if any(a + b != ends for a, b in zip(line, line[::-1], strict=True)):
                return False
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


def solve(programme: Programme, losses: Floats) -> Found:
    """Minimise the worst or the weighted loss; `losses[i, k]` is what output k costs at input i.

    Raises SolverError where the solver finds no optimum.
    """
    folded, full = programme.mirrored, programme.full
    last, top = programme.grid.last, len(programme.values) - 1
    rows = (last + 2) // 2 if folded else last + 1
    place = _places(last, top, rows, folded)
    outputs = np.arange(top + 1)
    # One variable for the smallest mass of each output, shared by an output and its mirror image.
    floor = rows * (top + 1) + (np.minimum(outputs, top - outputs) if folded else outputs)
    worst = int(floor.max()) + 1 if full else rows * (top + 1)
    counts = _counts(programme, folded, rows)
    cost = np.zeros(worst + (counts is None))
    cost[worst:] = 1.0
    bias = programme.query.bias
    limit = math.inf if bias is None else float(bias / programme.query.sensitivity)
    distances = programme.distances
    scales = _scales(programme, place[:rows], distances, worst)
    blocks: list[Block] = []
    for i in range(rows):
        columns, repeat = (np.concatenate([place[i], floor]), 2) if full else (place[i], 1)
        columns, far, loss, ones = _merged(columns, np.tile(distances[i], repeat), np.tile(losses[i], repeat))
        shrunk = scales[columns]
        blocks.append((columns[None, :], shrunk * ones, 1.0, 1.0))
        blocks.append((columns[None, :], shrunk * far, -limit, limit))
        if counts is None:
            blocks.append((np.append(columns, worst)[None, :], np.append(shrunk * loss, -1.0), -math.inf, 0.0))
        else:
            cost[columns] += counts[i] * (shrunk * loss)
    row_scales = [np.ones(len(blocks))]
    if full:
        growth = np.array([1.0, -math.expm1(float(programme.epsilon))])
        blocks += [(np.stack([place[i], floor], axis=1), growth, -math.inf, 0.0) for i in range(rows)]
    pairs = _pair_rows(programme, folded)
    for i, k in zip(*pairs, strict=True):
        both, factors = _apart(np.stack([place[i], place[k]], axis=1), math.exp(-float(programme.epsilon)))
        factors *= scales[both]
        row_scales.append(np.abs(factors).max(axis=1))
        blocks.append((both, factors / row_scales[-1][:, None], -math.inf, 0.0))
    matrix = _stacked(blocks)
    crossover = len(matrix.low) < _SMALL
    solution = minimise_sparse(cost, matrix, solver="ipm", crossover=crossover, tolerance=programme.tolerance)
    masses = (solution.x * scales[: len(cost)])[place] + (solution.x[floor] if full else 0.0)
    duals = solution.duals if full else solution.duals / np.concatenate(row_scales)
    return Found(masses, _unfolded(programme, folded, rows, duals, pairs, counts))


def _stacked(blocks: list[Block]) -> SparseRows:
    lengths = np.concatenate([np.full(len(columns), columns.shape[1]) for columns, *_ in blocks])
    return SparseRows(
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32),
        np.concatenate([columns.ravel() for columns, *_ in blocks]).astype(np.int32),
        np.concatenate([np.broadcast_to(values, columns.shape).ravel() for columns, values, *_ in blocks]),
        np.concatenate([np.full(len(columns), low) for columns, _, low, _ in blocks]),
        np.concatenate([np.full(len(columns), high) for columns, _, _, high in blocks]),
    )


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


def _counts(programme: Programme, folded: bool, rows: int) -> Floats | None:
    """What each row counts, together with its mirror image; None where only the worst row does."""
    if programme.weights is None:
        return None
    counts = np.array([float(w) for w in programme.weights])
    if folded:
        mirrored = np.arange(rows) != programme.grid.last - np.arange(rows)
        return np.asarray(counts[:rows] + counts[::-1][:rows] * mirrored)
    return counts


def _pair_rows(programme: Programme, folded: bool) -> tuple[Places, Places]:
    """Ordered pairs of rows within reach, of a pair and its mirror image only one; none where a floor does."""
    last = programme.grid.last
    found = set()
    for i, end in enumerate(() if programme.full else programme.reach):
        for j in range(i + 1, end + 1):
            for pair in ((i, j), (j, i)):
                found.add(min(pair, (last - pair[0], last - pair[1])) if folded else pair)
    ordered = np.array(sorted(found), dtype=np.int64).reshape(-1, 2)
    return ordered[:, 0], ordered[:, 1]


def _unfolded(
    programme: Programme, folded: bool, rows: int, duals: Floats, pairs: tuple[Places, Places], counts: Floats | None
) -> Multipliers:
    """Duals of the folded rows, shared out between a row and its mirror image, whose mean moves the other way."""
    last, top = programme.grid.last, len(programme.values) - 1
    each, (first, second) = 3 if counts is None else 2, pairs
    head, tail = duals[: each * rows].reshape(rows, each), duals[each * rows :][: len(first) * (top + 1)]
    own = np.stack([-head[:, 2] if counts is None else counts, head[:, 0], head[:, 1]])
    values = -math.exp(-float(programme.epsilon)) * tail.reshape(len(first), top + 1)
    if folded:
        half, own = own / 2, np.zeros((3, last + 1))
        own[:, :rows] += half
        own[:, last - np.arange(rows)] += half * np.array([[1.0], [1.0], [-1.0]])
        first, second = (np.concatenate([side, last - side]) for side in pairs)
        values = np.concatenate([values, values[:, ::-1]]) / 2
    return Multipliers(own[0], own[1], own[2], (first, second, values))

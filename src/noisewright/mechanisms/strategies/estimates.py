"""From noisy rows to answers: least squares, exact up to the last digits of floats. What it does is post-processing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.mechanisms.strategies.rows import (
    BlockRows,
    ContrastRows,
    DenseRows,
    MarginalRows,
    ResidualRows,
    undo_contrasts,
)
from noisewright.mechanisms.strategies.tables import MOST_CELLS
from noisewright.mechanisms.strategies.values import chosen, precisions, smaller
from noisewright.numerics.balls import Ball
from noisewright.numerics.fields import Floats
from noisewright.numerics.integer_matrices import Wholes, product
from noisewright.numerics.remembered import Remembered
from noisewright.numerics.workloads import answers
from noisewright.problem.errors import InvalidAnswerError
from noisewright.problem.workload import Workload

_FINE_BITS = 40
_REFINEMENTS = 4
_NORMAL: Remembered[tuple[Wholes, Wholes, float, Any]] = Remembered()


@singledispatch
def estimate_of(rows: Any, noise: Sequence[Ball], measured: Sequence[Wholes], fineness: int) -> Floats:
    """The table that fits the noisy rows best, each weighed by its variance; 0 where nothing was measured."""
    raise InvalidAnswerError(f"{type(rows).__name__} give no estimate of a table.")


@singledispatch
def answers_of(rows: Any, query: Workload, noise: Sequence[Ball], measured: Sequence[Wholes], fineness: int) -> Floats:
    """The answers to all questions that fit the noisy rows best."""
    return answers(query, estimate_of(rows, noise, measured, fineness))


def _normal(rows: DenseRows) -> tuple[Wholes, Wholes, float, Any]:
    """What every release of the same rows needs: C^T, C^T C, its largest entry, and a root of it in floats."""
    matrix = rows.whole()
    turned = np.ascontiguousarray(matrix.T)
    left = product(turned, matrix)
    scale = float(max(int(v) for v in np.diagonal(left)))
    return turned, left, scale, np.linalg.cholesky(left.astype(np.float64) / scale)


@estimate_of.register
def _estimate_of_dense(rows: DenseRows, noise: Sequence[Ball], measured: Sequence[Wholes], fineness: int) -> Floats:
    turned, left, scale, root = _NORMAL.latest(rows, "normal", lambda: _normal(rows))
    right = product(turned, measured[0][:, None])
    found: Any = np.zeros((len(left), 1), dtype=object)
    for _ in range(_REFINEMENTS):
        # What is left over is exact, so that each step adds digits, whatever floats have lost before.
        rest = (right.astype(object) << _FINE_BITS) - fineness * product(left, found)
        step = np.linalg.solve(root.T, np.linalg.solve(root, rest.astype(np.float64) / (scale * fineness)))
        found = found + np.array([[int(v)] for v in np.rint(step[:, 0])], dtype=object)
    columns = np.concatenate([[0.0], np.array([int(v) / 2**_FINE_BITS for v in found[:, 0]])])
    places = np.array(rows.places)
    return np.asarray(columns[places] / np.bincount(places, minlength=len(columns))[places])


@estimate_of.register
def _estimate_of_block(rows: BlockRows, noise: Sequence[Ball], measured: Sequence[Wholes], fineness: int) -> Floats:
    b, table = rows.branching, np.zeros(rows.padded)
    for level, variance, values in zip(rows.levels, noise, measured, strict=True):
        table += np.repeat(values.astype(np.float64) / (fineness * float(variance.mid())), b**level)
    found, means = np.zeros(rows.padded), table
    for level, weight in enumerate(precisions(rows, noise)):
        above = means.reshape(-1, b).mean(axis=1) if level < rows.height else None
        part = means if above is None else means - np.repeat(above, b)
        found += np.repeat(part / float(weight.mid()), b**level)
        means = means if above is None else above
    return found[: rows.size]


@estimate_of.register
def _estimate_of_contrast(
    rows: ContrastRows, noise: Sequence[Ball], measured: Sequence[Wholes], fineness: int
) -> Floats:
    b = rows.branching
    norms = np.arange(1, b) * np.arange(2, b + 1)
    sums = measured[-1].astype(np.float64) / fineness
    for level in range(rows.height - 1, -1, -1):
        parts = np.empty((len(sums), b))
        parts[:, 0] = sums / b
        parts[:, 1:] = measured[level].astype(np.float64).reshape(-1, b - 1) / (fineness * norms)
        sums = undo_contrasts(parts).ravel()
    return sums[: rows.size]


@estimate_of.register
def _estimate_of_residual(
    rows: ResidualRows, noise: Sequence[Ball], measured: Sequence[Wholes], fineness: int
) -> Floats:
    if rows.size > MOST_CELLS:
        raise InvalidAnswerError(
            f"the table has {rows.size} cells, too many to build; the answers to the questions are in `answers`."
        )
    everything = tuple(i for i, n in enumerate(rows.sizes) if n > 1)
    return rebuilt(rows, everything, measured, fineness).ravel()


@answers_of.register
def _answers_of_residual(
    rows: ResidualRows, query: Workload, noise: Sequence[Ball], measured: Sequence[Wholes], fineness: int
) -> Floats:
    parts = [rebuilt(rows, chosen(part, rows.sizes), measured, fineness).ravel() for part in query.parts]
    return np.concatenate(parts)


def rebuilt(rows: ResidualRows, axes: Sequence[int], measured: Sequence[Wholes], fineness: int) -> NDArray[Any]:
    """The marginal on these attributes from its residuals; what was not measured counts as 0."""
    known = {subset: i for i, subset in enumerate(rows.subsets)}
    found = np.zeros([rows.sizes[i] for i in axes])
    for inner in smaller(axes):
        if inner not in known:
            continue
        outer = math.prod(rows.sizes[j] for j in axes if j not in inner)
        values = measured[known[inner]].astype(np.float64).reshape([rows.sizes[i] - 1 for i in inner])
        for axis, i in enumerate(inner):
            norms = np.arange(1, rows.sizes[i]) * np.arange(2, rows.sizes[i] + 1)
            values = values / norms.reshape([-1 if a == axis else 1 for a in range(len(inner))])
        place = tuple(slice(1, None) if i in inner else 0 for i in axes)
        found[place] = values / (fineness * outer)
    for axis in range(found.ndim):
        found = np.moveaxis(undo_contrasts(np.moveaxis(found, axis, -1)), -1, axis)
    return np.ascontiguousarray(found)


@answers_of.register
def _answers_of_marginal(
    rows: MarginalRows, query: Workload, noise: Sequence[Ball], measured: Sequence[Wholes], fineness: int
) -> Floats:
    known = {subset: i for i, subset in enumerate(rows.subsets)}
    places = [known[chosen(part, rows.sizes)] for part in query.parts]
    return np.concatenate([measured[i].astype(np.float64) / fineness for i in places])

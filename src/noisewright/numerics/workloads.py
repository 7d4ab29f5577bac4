"""What a workload does to arrays, axis by axis, in whole numbers or floats: its matrix is never built.

An axis holds n cells; questions about it are applied to that axis alone, so a product of questions costs no more
than its answers. Arrays of Python integers give exact results, arrays of floats fast ones.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.numerics.integer_matrices import Wholes, narrow, product
from noisewright.problem.workload import Factor, Listed, Part, Workload

Array = NDArray[Any]


def answers(query: Workload, table: Array) -> Array:
    """The questions of all parts, in order, about a table with one number for each cell."""
    return np.concatenate([_part_answers(part, table).ravel() for part in query.parts])


def _part_answers(part: Part, table: Array) -> Array:
    found = table.reshape([factor.size for factor in part.factors])
    for axis, factor in enumerate(part.factors):
        found = np.moveaxis(_asked(factor, np.moveaxis(found, axis, -1)), -1, axis)
    return found


def _asked(factor: Factor, cells: Array) -> Array:
    """The questions about the last axis."""
    if isinstance(factor, Listed):
        exact = cells.dtype == object
        weights = np.array(factor.rows(), dtype=object) if exact else float_rows(factor)
        return np.asarray(cells @ weights.T)
    if factor.form == "identity":
        return cells
    if factor.form == "total":
        return np.asarray(cells.sum(axis=-1, keepdims=True))
    sums = np.cumsum(cells, axis=-1)
    if factor.form == "prefixes":
        return np.asarray(sums)
    first, last = np.triu_indices(factor.size)
    before = np.concatenate([np.zeros_like(sums[..., :1]), sums[..., :-1]], axis=-1)
    return np.asarray(sums[..., last] - before[..., first])


def float_rows(factor: Listed) -> NDArray[np.float64]:
    """The weights of listed questions, in floats."""
    return np.array([[float(v) for v in row] for row in factor.rows()])


def whole_rows(factor: Listed) -> tuple[Wholes, int]:
    """The weights of listed questions as whole numbers over one denominator."""
    common = math.lcm(*factor.denominators)
    scales = [common // d for d in factor.denominators]
    rows = [[v * scale for v in row] for row, scale in zip(factor.numerators, scales, strict=True)]
    return narrow(np.array(rows, dtype=object)), common


def gram(query: Workload) -> tuple[Wholes, int]:
    """W^T W, each question as often as it counts: whole numbers over one denominator."""
    parts = []
    for part in query.parts:
        whole: Any = np.ones((1, 1), dtype=object)
        below = part.weight.denominator
        for factor in part.factors:
            one, denominator = _gram(factor)
            whole, below = np.kron(whole, one.astype(object)), below * denominator
        parts.append((whole * part.weight.numerator, below))
    common = math.lcm(*(below for _, below in parts))
    total = sum(whole * (common // below) for whole, below in parts)
    return narrow(np.asarray(total, dtype=object)), common


def _gram(factor: Factor) -> tuple[Wholes, int]:
    if isinstance(factor, Listed):
        rows, common = whole_rows(factor)
        return product(np.ascontiguousarray(rows.T), rows), common**2
    n = factor.size
    i = np.arange(n)
    low, high = np.minimum.outer(i, i), np.maximum.outer(i, i)
    if factor.form == "identity":
        return np.eye(n, dtype=np.int64), 1
    if factor.form == "total":
        return np.ones((n, n), dtype=np.int64), 1
    return (n - high if factor.form == "prefixes" else (low + 1) * (n - high)), 1


def squares(query: Workload, matrix: Array) -> Iterator[tuple[Part, Array]]:
    """For each part w^T M w of each of its questions w, where M has a row and a column for each cell.

    Listed questions count in units of their common denominator where M holds whole numbers: see `unit`.
    """
    for part in query.parts:
        sizes = [factor.size for factor in part.factors]
        found = matrix.reshape([*sizes, *sizes])
        for axis, factor in enumerate(part.factors):
            # The two copies of an axis become one axis of questions, which goes to the end.
            place = len(part.factors) - axis
            found = _square(factor, np.moveaxis(found, (0, place), (-2, -1)))
        yield part, found.ravel()


def unit(part: Part) -> Fraction:
    """What a listed question's whole numbers are to be divided by, squared."""
    commons = [math.lcm(*factor.denominators) for factor in part.factors if isinstance(factor, Listed)]
    return Fraction(1, math.prod(commons) ** 2)


def _square(factor: Factor, pairs: Array) -> Array:
    """w^T M w over the last two axes, for each question w about them."""
    if isinstance(factor, Listed):
        rows = whole_rows(factor)[0]
        rows = rows.astype(object if pairs.dtype == object else pairs.dtype)
        return np.asarray(((pairs @ rows.T).swapaxes(-1, -2) * rows).sum(axis=-1))
    if factor.form == "identity":
        return np.diagonal(pairs, axis1=-2, axis2=-1)
    if factor.form == "total":
        return np.asarray(pairs.sum(axis=-1).sum(axis=-1, keepdims=True))
    sums = np.cumsum(np.cumsum(pairs, axis=-1), axis=-2)
    if factor.form == "prefixes":
        return np.diagonal(sums, axis1=-2, axis2=-1)
    n = factor.size
    padded = np.zeros((*sums.shape[:-2], n + 1, n + 1), dtype=sums.dtype)
    padded[..., 1:, 1:] = sums
    first, last = np.triu_indices(n)
    last = last + 1
    whole = padded[..., last, last] - padded[..., first, last] - padded[..., last, first]
    return np.asarray(whole + padded[..., first, first])


def weighted_gram(query: Workload, weights: list[Array]) -> Array:
    """The sum of weight * w w^T over all questions w, the weights of each part in the order of its questions."""
    total: Any = 0
    for part, weight in zip(query.parts, weights, strict=True):
        found = weight.reshape([factor.questions for factor in part.factors])
        for axis, factor in enumerate(part.factors):
            # An axis of questions becomes two of cells: the first keeps its place, the second goes to the end.
            spread = _spread(factor, np.moveaxis(found, axis, -1))
            found = np.moveaxis(spread, -2, axis)
        total = total + found.reshape(query.size, query.size)
    return np.asarray(total)


def _spread(factor: Factor, weights: Array) -> Array:
    """The sum of weight * w w^T over the questions of the last axis, as two last axes of cells."""
    n = factor.size
    if isinstance(factor, Listed):
        rows = whole_rows(factor)[0]
        rows = rows.astype(object if weights.dtype == object else weights.dtype)
        return np.asarray((weights[..., None, :] * rows.T) @ rows)
    if factor.form == "identity":
        return np.asarray(weights[..., None] * np.eye(n, dtype=weights.dtype))
    if factor.form == "total":
        return np.asarray(weights[..., None] * np.ones((n, n), dtype=weights.dtype))
    i = np.arange(n)
    high = np.maximum.outer(i, i)
    if factor.form == "prefixes":
        return np.asarray(np.cumsum(weights[..., ::-1], axis=-1)[..., ::-1][..., high])
    first, last = np.triu_indices(n)
    square = np.zeros((*weights.shape[:-1], n, n), dtype=weights.dtype)
    square[..., first, last] = weights
    # Runs that hold both cells begin at or before the lower one and end at or after the higher one.
    sums = np.cumsum(np.cumsum(square, axis=-2)[..., ::-1], axis=-1)[..., ::-1]
    return np.asarray(sums[..., np.minimum.outer(i, i), high])

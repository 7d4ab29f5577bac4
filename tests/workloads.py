"""Workloads and strategies as explicit matrices, built by hand: what the package is compared with."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, combinations_with_replacement, product
from typing import Any

import numpy as np

import noisewright as nw
from noisewright.numerics.balls import precision

W = nw.Workload
M = nw.mechanisms
LISTED = W([[1, "1/2", 0, 2, 3, 1], [0, "1/3", 2, -2, 1, 1]])

DENSE = [[(3 * i * i + 5 * i * j + j**3 + 2 * j) % 13 - 6 for j in range(6)] for i in range(8)]

WORKLOADS: dict[str, nw.Workload] = {
    "ranges": W.ranges(5),
    "prefixes": W.prefixes(4),
    "identity": W.identity(3),
    "total": W.total(3),
    "listed": LISTED,
    "union": W.ranges(6) * 2 | W.prefixes(6) | LISTED * "1/3",
    "product": W.prefixes(2).product(W.ranges(3)).product(W([[1, "2/3"], [0, 1]])),
    "union of products": LISTED.product(W.total(2) | W.identity(2) * 3),
    "marginals": W.marginals([2, 3, 4], [(0,), (1, 2), ()]),
}

STRATEGIES: dict[str, Any] = {
    "blocks": M.GaussianStrategy(W.ranges(8) | W.prefixes(8) * "1/3", M.BlockRows(8, 2, [0, 1, 3]), [2, 3, "5/2"], 3),
    "cells": M.GaussianStrategy(W.prefixes(9), M.BlockRows(9, 3, [0]), ["7/3"], 2),
    "wavelet": M.GaussianStrategy(W.ranges(8), M.ContrastRows(8, 2), [2, 3, "5/2", 4], 1000),
    "three branches": M.GaussianStrategy(W.ranges(9) | W.identity(9), M.ContrastRows(9, 3), [2, 3, 7], 1000),
    "dense": M.GaussianStrategy(LISTED, M.DenseRows(DENSE, range(1, 7)), [20], 5),
    "merged": M.GaussianStrategy(
        W([[1, 1, 0, 2], [1, 1, 0, 0]]), M.DenseRows([[3, 1], [0, 2], [1, 1]], [1, 1, 0, 2]), [20], 5
    ),
    "filter for ranges": M.GaussianStrategy(
        W.ranges(9) | W.prefixes(9) * "1/3" | W.identity(9), M.FilterRows("ranges", 9, [0, 2, 7], [5, 3, 4]), [10**14]
    ),
    "filter for prefixes": M.GaussianStrategy(
        W.prefixes(8) | W.total(8) * 2, M.FilterRows("prefixes", 8, [0, 1, 6], [7, 4, 9]), ["10000000000001/7"], 3
    ),
    "residuals": M.GaussianStrategy(
        W.marginals([3, 2, 4], [(0,), (1, 2), ()]),
        M.ResidualRows([3, 2, 4], [(), (0,), (1,), (2,), (1, 2)]),
        [2, 3, 4, 5, 6],
        1000,
    ),
    "Laplace wavelet": M.LaplaceStrategy(W.ranges(8), M.ContrastRows(8, 2), [2, 3, "5/2", 4]),
    "Laplace blocks": M.LaplaceStrategy(W.ranges(8), M.BlockRows(8, 2, [0, 1, 2, 3]), [2, 3, "5/2", 4], 2),
    "Laplace dense": M.LaplaceStrategy(LISTED, M.DenseRows(DENSE, range(1, 7)), [20]),
    "Laplace marginals": M.LaplaceStrategy(
        W.marginals([3, 2, 4], [(0,), (1, 2), ()]), M.MarginalRows([3, 2, 4], [(0,), (1, 2), ()]), [2, 3, 4]
    ),
}


def explicit(workload: nw.Workload) -> np.ndarray:
    """The matrix, in exact rationals."""
    return np.array(workload.matrix(), dtype=object)


def weights(workload: nw.Workload) -> np.ndarray:
    """How often each question counts."""
    return np.array([part.weight for part in workload.parts for _ in range(part.questions)], dtype=object)


def helmert(size: int) -> list[list[int]]:
    """Differences between `size` numbers, written out."""
    return [[1] * k + [-k] + [0] * (size - k - 1) for k in range(1, size)]


def filtered(rows: Any) -> list[list[int]]:
    """The rows of a filter, from the images of each cell and exact coefficients of |1 - z|^(-1/2)."""
    n, ranges = rows.size, rows.form == "ranges"
    period = 2 * n + 2 if ranges else 2 * n + 1
    line = [Fraction(1)]
    for k in range(1, period + 1):
        line.append(line[-1] * (4 * k - 3) / (4 * k - 1))
    whole = [int(2**16 * c + Fraction(1, 2)) for c in line]
    weights = [rows.weights[max(k for k, start in enumerate(rows.starts) if start <= j)] for j in range(n)]

    def entry(distance: int) -> int:
        first, second = whole[distance], whole[period - distance]
        return first + second if ranges else first - second

    if ranges:  # what is beyond an end is the negative of what is before it
        return [[weights[j] * (entry(abs(i - j)) - entry(i + j + 2)) for j in range(n)] for i in range(n)]
    return [[weights[j] * (entry(abs(i - j)) + entry(i + j + 1)) for j in range(n)] for i in range(n)]


def measured_rows(rows: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The rows of a strategy, the group of each and the factor of its variance, written out from the definition."""
    found: list[tuple[list[int], int, int]] = []
    bases: list[Any]
    if isinstance(rows, M.DenseRows):
        for row in rows.matrix:
            found.append(([0 if place == 0 else row[place - 1] for place in rows.places], 0, 1))
    elif isinstance(rows, M.BlockRows):
        for group, level in enumerate(rows.levels):
            width = rows.branching**level
            for block in range(-(-rows.size // width)):
                found.append(([int(i // width == block) for i in range(rows.size)], group, 1))
    elif isinstance(rows, M.ContrastRows):
        for level in range(rows.height):
            width = rows.branching**level
            for block in range(rows.padded // (width * rows.branching)):
                for k, signs in enumerate(helmert(rows.branching), 1):
                    parts = [i // width - block * rows.branching for i in range(rows.size)]
                    entries = [signs[p] if 0 <= p < rows.branching else 0 for p in parts]
                    found.append((entries, level, k * (k + 1)))
        found.append(([1] * rows.size, rows.height, 1))
    elif isinstance(rows, M.FilterRows):
        found = [(row, 0, 1) for row in filtered(rows)]
    else:
        cells = list(product(*map(range, rows.sizes)))
        for group, axes in enumerate(rows.subsets):
            bases = [
                helmert(rows.sizes[i]) if isinstance(rows, M.ResidualRows) else np.eye(rows.sizes[i], dtype=int)
                for i in axes
            ]
            for chosen in product(*bases):
                entries = [
                    int(np.prod([signs[cell[i]] for signs, i in zip(chosen, axes, strict=True)])) for cell in cells
                ]
                factor = int(np.prod([int(np.dot(signs, signs)) for signs in chosen])) if chosen else 1
                found.append((entries, group, factor if isinstance(rows, M.ResidualRows) else 1))
    written, groups, factors = zip(*found, strict=True)
    return np.array(written, dtype=object), np.array(groups), np.array(factors, dtype=object)


def variances_of_rows(strategy: Any) -> np.ndarray:
    """The variance of the noise of each row, in units of the rows."""
    _, groups, factors = measured_rows(strategy.rows)
    with precision():
        noise = np.array([float(v.mid()) for v in strategy.noises()])
    halved = isinstance(strategy, M.LaplaceStrategy) and isinstance(strategy.rows, M.ContrastRows)
    return noise[groups] * (np.where(groups < groups.max(), 2, 1) if halved else factors.astype(float))


def covariance(strategy: Any) -> np.ndarray:
    """The covariance of the least-squares answers."""
    rows = measured_rows(strategy.rows)[0].astype(float)
    inner = rows.T @ (rows / variances_of_rows(strategy)[:, None])
    questions = explicit(strategy.query).astype(float)
    return questions @ np.linalg.pinv(inner) @ questions.T


def among(workload: nw.Workload, cells: int, replace: bool) -> nw.Workload:
    """The same questions where a person counts otherwise."""
    return nw.Workload.from_dict({**workload.to_dict(), "cells_per_person": cells, "replace": replace})


def differences(workload: nw.Workload) -> list[np.ndarray]:
    """Every change that one person can make to the table."""
    n, most = workload.size, workload.cells_per_person
    fewest = 1 if workload.replace else 0
    sets = [set(s) for count in range(fewest, most + 1) for s in combinations(range(n), count)]
    ones = [np.array([int(i in s) for i in range(n)], dtype=object) for s in sets]
    if not workload.replace:
        return ones
    return [a - b for a in ones for b in ones]


def exact_reach(strategy: Any) -> Fraction:
    """The largest squared (Gaussian) or taxi length (Laplace) of a change in units of the noise, by trying all."""
    rows, groups, factors = measured_rows(strategy.rows)
    levels = np.array([strategy.levels[g] for g in groups], dtype=object)
    gaussian = isinstance(strategy, M.GaussianStrategy)
    best = Fraction(0)
    for change in differences(strategy.query):
        moved = rows @ change
        cost = moved * moved / (levels * factors) if gaussian else np.abs(moved) / levels
        best = max(best, Fraction(cost.sum()))
    return best


def several_rows(strategy: Any) -> Fraction:
    """The same for the rows of one person: every table of theirs is tried, before and, if replaced, afterwards."""
    rows, groups, factors = measured_rows(strategy.rows)
    levels = np.array([strategy.levels[g] for g in groups], dtype=object)
    query = strategy.query
    one, most = differences(among(query.with_rows(1), query.cells_per_person, False)), query.rows_per_person
    ones = [cells for cells in one if any(cells)]
    fewest = 1 if query.replace else 0
    held = [
        np.sum(chosen, axis=0) if chosen else 0 * one[0]
        for count in range(fewest, most + 1)
        for chosen in combinations_with_replacement(ones, count)
    ]
    best = Fraction(0)
    for change in (a - b for a in held for b in (held if query.replace else held[:1])):
        moved = rows @ change
        gaussian = isinstance(strategy, M.GaussianStrategy)
        cost = moved * moved / (levels * factors) if gaussian else np.abs(moved) / levels
        best = max(best, Fraction(cost.sum()))
    return best


def measured_reach(strategy: Any) -> Fraction:
    """The same by what is measured of tables that differ by one person, whose rows are all listed before and after."""
    query, nothing = strategy.query, [0] * strategy.query.size
    most = min(query.cells_per_person, query.size)
    sets = [set(s) for count in range(1, most + 1) for s in combinations(range(query.size), count)]
    persons = {
        tuple(sum(cell in row for row in rows) for cell in range(query.size))
        for count in range(1 if query.replace else 0, query.rows_per_person + 1)
        for rows in combinations_with_replacement(sets, count)
    }
    others = persons if query.replace else {tuple(nothing)}
    moves = np.array(sorted({tuple(a - b for a, b in zip(x, y, strict=True)) for x in persons for y in others}), object)
    columns = []
    for cell in range(query.size):
        table = [int(i == cell) for i in range(query.size)]
        columns.append([values.ravel().astype(object) for values in strategy.law_given(table)])
    costs: Any = Fraction(0)
    for group, level in enumerate(strategy.levels):
        moved = moves @ np.array([column[group] for column in columns], dtype=object)
        if isinstance(strategy, M.GaussianStrategy):
            factors = strategy.rows.factors(group)
            weights = np.array([Fraction(1, int(k)) for k in (np.ones(moved.shape[1]) if factors is None else factors)])
            costs = costs + (moved * moved) @ weights / (level * strategy.fineness**2)
        else:
            costs = costs + abs(moved).sum(axis=1) / (level * strategy.fineness)
    return Fraction(max(costs))

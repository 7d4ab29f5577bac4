"""Convex programmes over listed differences: budgets for each number, and the covariance of Gaussian noise.

Solutions are only suggestions; what is built from them is made to fit exactly and then certified.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.problem.errors import SolverError

Floats = NDArray[np.float64]

_REGULAR = 1e-3


def simplex_shares(rows: Floats, costs: Floats, exponent: float) -> Floats:
    """x > 0 that minimise sum of cost / x^exponent with rows @ x <= 1, for rows >= 0 without empty columns.

    Each term is the power cone s^a x^(1-a) >= 1 with a = 1 / (1 + exponent).
    """
    import clarabel
    from scipy import sparse

    count, limits = len(costs), len(rows)
    scaled = costs / costs.max()
    zeros = sparse.csc_matrix((limits, count))
    top = sparse.hstack([sparse.csc_matrix(rows), zeros])
    cones: list[Any] = [clarabel.NonnegativeConeT(limits)]
    entries, right = [], np.concatenate([np.ones(limits), np.zeros(3 * count)])
    for i in range(count):
        entries += [(3 * i, count + i, -1.0), (3 * i + 1, i, -1.0)]
        right[limits + 3 * i + 2] = 1.0
        cones.append(clarabel.PowerConeT(1 / (1 + exponent)))
    r, c, v = zip(*entries, strict=True)
    bottom = sparse.csc_matrix((v, (r, c)), shape=(3 * count, 2 * count))
    matrix = sparse.vstack([top, bottom]).tocsc()
    objective = np.concatenate([np.zeros(count), scaled])
    x = _solve(objective, matrix, right, cones)[:count]
    if not np.all(np.isfinite(x)) or x.min() <= 0:
        raise SolverError("the convex programme for the budgets of listed differences gave no usable answer.")
    return np.asarray(x / max(1.0, float((rows @ x).max())))


def best_frame(rows: Floats, weights: Floats) -> Floats:
    """A matrix A with |A d| <= 1 for every row d, whose noise A^-1 (unit noise) has least weighted variance.

    The programme: minimise tr(W Z) with [[Z, I], [I, X]] positive semidefinite and d^T X d <= 1; A^T A = X.
    Directions in which nobody moves get a thousandth of the usual noise, so that a solution exists.
    """
    import clarabel
    from scipy import sparse

    count = rows.shape[1]
    points = np.vstack([rows, _REGULAR * np.eye(count)])
    upper = [(i, j) for j in range(count) for i in range(j + 1)]
    place = {pair: n for n, pair in enumerate(upper)}
    half = len(upper)
    size = 2 * count
    cone_rows = size * (size + 1) // 2
    entries: list[tuple[int, int, float]] = []
    right = np.concatenate([np.ones(len(points)), np.zeros(cone_rows)])
    for n, (i, j) in enumerate([(a, b) for b in range(size) for a in range(b + 1)]):
        factor = 1.0 if i == j else 2**0.5
        if j < count:
            entries.append((n, half + place[i, j], -factor))
        elif i >= count:
            entries.append((n, place[i - count, j - count], -factor))
        elif i == j - count:
            right[len(points) + n] = factor
    r, c, v = zip(*entries, strict=True)
    cone = sparse.csc_matrix((v, (r, c)), shape=(cone_rows, 2 * half))
    squares = np.array([[p[i] * p[j] * (1 if i == j else 2) for i, j in upper] for p in points])
    linear = sparse.hstack([sparse.csc_matrix(squares), sparse.csc_matrix((len(points), half))])
    objective = np.zeros(2 * half)
    for i in range(count):
        objective[half + place[i, i]] = weights[i] / weights.max()
    cones = [clarabel.NonnegativeConeT(len(points)), clarabel.PSDTriangleConeT(size)]
    x = _solve(objective, sparse.vstack([linear, cone]).tocsc(), right, cones)
    shape = np.zeros((count, count))
    for (i, j), value in zip(upper, x[:half], strict=True):
        shape[i, j] = shape[j, i] = value
    try:
        frame = np.linalg.cholesky(shape).T
    except np.linalg.LinAlgError:
        raise SolverError("the convex programme for the covariance gave no usable answer.") from None
    return np.asarray(frame / np.sqrt(((rows @ frame.T) ** 2).sum(axis=1).max()))


def _solve(objective: Floats, matrix: Any, right: Floats, cones: list[Any]) -> Floats:
    import clarabel
    from scipy import sparse

    settings = clarabel.DefaultSettings()
    settings.verbose = False
    nothing = sparse.csc_matrix((len(objective), len(objective)))
    solution = clarabel.DefaultSolver(nothing, objective, matrix, right, cones, settings).solve()
    if str(solution.status) not in {"Solved", "AlmostSolved"}:
        raise SolverError(f"the convex solver stopped with status {solution.status}.")
    return np.asarray(solution.x)

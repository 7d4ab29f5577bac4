"""Biased answers of several queries by block descent, as the d_X paper proposes for small groups of people."""

from __future__ import annotations

from typing import Any

import numpy as np

from noisewright.numerics.arrays import Floats
from noisewright.problem.errors import SolverError

LARGEST_UNIVERSE = 30
_MOST_TURNS = 30
_SETTLED = 1e-7


def block_descent(matrix: Floats, distances: Floats, rates: Floats, people: int) -> tuple[Floats, Floats, list[float]]:
    """Columns c Q', scales c and the values on the way of n^2 |c Q' - Q|^2 + 2 |c|^2, both blocks in turn.

    Starts without bias at the given rates. For fixed scales the columns solve a quadratic programme,
    for fixed columns the scales have a closed form; the value never rises, but it may stop at a local optimum.
    """
    scales = 1 / rates
    columns = matrix * rates[:, None]
    values = [_value(matrix, columns, scales, people)]
    for _ in range(_MOST_TURNS):
        columns = _closest_columns(matrix, scales, distances)
        scales = people**2 * (columns * matrix).sum(axis=1) / (people**2 * (columns**2).sum(axis=1) + 2)
        if (scales <= 0).any():
            break
        values.append(_value(matrix, columns, scales, people))
        if values[-2] - values[-1] <= _SETTLED * values[-1]:
            break
    scales = np.maximum(scales, 1e-12 * np.abs(matrix).max())
    return columns * scales[:, None], scales, values


def _value(matrix: Floats, columns: Floats, scales: Floats, people: int) -> float:
    return float(people**2 * ((scales[:, None] * columns - matrix) ** 2).sum() + 2 * (scales**2).sum())


def _closest_columns(matrix: Floats, scales: Floats, distances: Floats) -> Floats:
    """Q' that minimises |c Q' - Q| subject to sum over k of |Q'_ki - Q'_kj| <= d(i, j)."""
    import clarabel
    from scipy import sparse

    rows, size = matrix.shape
    first, second = np.triu_indices(size, 1)
    pairs, entries = len(first), rows * size
    line = np.arange(pairs)
    apart = sparse.csr_matrix(
        (np.concatenate([np.ones(pairs), -np.ones(pairs)]), (np.tile(line, 2), np.concatenate([first, second]))),
        shape=(pairs, size),
    )
    differences = sparse.block_diag([apart] * rows)
    same = sparse.identity(pairs * rows)
    total = sparse.hstack([sparse.csr_matrix((pairs, entries)), sparse.hstack([sparse.identity(pairs)] * rows)])
    constraints: Any = sparse.vstack(
        [sparse.hstack([differences, -same]), sparse.hstack([-differences, -same]), total], format="csc"
    )
    limits = np.concatenate([np.zeros(2 * pairs * rows), distances[first, second]])
    weights = np.repeat(scales**2, size)
    quadratic = sparse.diags(np.concatenate([2 * weights, np.zeros(pairs * rows)]), format="csc")
    linear = np.concatenate([-2 * weights * (matrix / scales[:, None]).reshape(-1), np.zeros(pairs * rows)])
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    cones = [clarabel.NonnegativeConeT(len(limits))]
    solution = clarabel.DefaultSolver(quadratic, linear, constraints, limits, cones, settings).solve()
    if str(solution.status) not in {"Solved", "AlmostSolved"}:
        raise SolverError(f"the quadratic programme ended with status {solution.status}.", status=str(solution.status))
    return np.array(solution.x[:entries]).reshape(rows, size)

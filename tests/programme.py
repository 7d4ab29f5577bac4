"""An independent linear programme for the best integer noise: the optimum that the chain theorem claims to know."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_array

_TURNS = 400
Row = tuple[int, int, float]
"""(i, j, budget): mass_i <= e^budget mass_j."""


def best_mean_loss(
    loss: Callable[[int], float], epsilon: float, per: int, reach: int, *, lazily: bool = False
) -> float:
    """Smallest mean loss of noise on whole numbers whose masses differ by at most e^epsilon within `per`.

    Masses are free from -reach to reach; beyond, each stretch of `per` repeats the one before, lower
    by e^epsilon. `lazily` starts from few of the constraints and adds those that are broken.
    """
    ks = np.arange(-reach, reach + 1)
    costs, weights = _with_tails(loss, epsilon, per, ks)
    # Solved for mass * e^depth, the depth counted from where the loss is smallest: all unknowns are of one size.
    free = [int(k) for k in ks if loss(int(k)) <= loss(0)]
    depth = epsilon * np.maximum(0, np.maximum(ks - free[-1], free[0] - ks)) / per
    scale = np.exp(-depth)
    everything = [*_within(len(ks), per, epsilon), *_across_the_seams(len(ks), per)]
    rows = {row for row in everything if not lazily or abs(row[0] - row[1]) in (1, per)}
    size = 1.0
    while True:
        found = _solve(costs * scale / size, weights * scale, sorted(rows), depth)
        mass = found.x * scale
        broken = {(i, j, a) for i, j, a in everything if mass[i] > math.exp(a) * mass[j] * (1 + 1e-9) + 1e-30} - rows
        if not broken and 0.1 < found.fun < 10:
            return float(found.fun) * size
        # Once more with what was broken, and with costs of such a size that the tolerances are relative ones.
        rows |= broken
        size *= float(found.fun)


def _with_tails(
    loss: Callable[[int], float], epsilon: float, per: int, ks: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Cost and weight of each free mass, what repeats it included. The far stretches are summed one by one."""
    costs, weights = np.array([float(loss(int(k))) for k in ks]), np.ones(len(ks))
    for i in range(per):
        for place, direction in ((i, -1), (len(ks) - 1 - i, 1)):
            for turn in range(1, _TURNS):
                fade = math.exp(-epsilon * turn)
                costs[place] += fade * loss(int(ks[place]) + direction * turn * per)
                weights[place] += fade
    return costs, weights


def _within(size: int, per: int, epsilon: float) -> Iterator[Row]:
    for gap in range(1, per + 1):
        for i in range(size - gap):
            yield i, i + gap, epsilon
            yield i + gap, i, epsilon


def _across_the_seams(size: int, per: int) -> Iterator[Row]:
    """The last mass of the table that is within `per` of i + per, e^epsilon lower than i, must not exceed that of i."""
    for i in range(size - per, size - 1):
        yield i + 1, i, 0.0
        yield size - 2 - i, size - 1 - i, 0.0


def _solve(costs: np.ndarray, weights: np.ndarray, rows: list[Row], depth: np.ndarray):
    """The rows in the scaled unknowns, each divided by its larger coefficient."""
    i, j = np.array([row[:2] for row in rows]).T
    power = np.array([row[2] for row in rows]) - depth[j] + depth[i]
    own, other = np.exp(-np.maximum(power, 0)), -np.exp(np.minimum(power, 0))
    places = np.arange(len(rows))
    matrix = coo_array(
        (np.concatenate([own, other]), (np.concatenate([places, places]), np.concatenate([i, j]))),
        shape=(len(rows), len(costs)),
    )
    found = linprog(
        costs,
        A_ub=matrix.tocsr(),
        b_ub=np.zeros(len(rows)),
        A_eq=weights[None, :],
        b_eq=[1.0],
        method="highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    assert found.status == 0, found.message
    return found

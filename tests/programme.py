"""An independent linear programme for the best integer noise: the optimum that the chain theorem claims to know."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_array

_TURNS = 400


def best_mean_loss(
    loss: Callable[[int], float], epsilon: float, per: int, reach: int, *, lazily: bool = False
) -> float:
    """Smallest mean loss of noise on whole numbers whose masses differ by at most e^epsilon within `per`.

    Masses are free from -reach to reach; beyond, each stretch of `per` repeats the one before, lower
    by e^epsilon. `lazily` starts from few of the constraints and adds those that are broken.
    """
    ks = np.arange(-reach, reach + 1)
    costs, weights = _with_tails(loss, epsilon, per, ks)
    # Solved for mass * e^(epsilon |k| / per), so that all unknowns are of one size.
    scale = np.exp(-epsilon * np.abs(ks) / per)
    gaps = [1, per] if lazily else list(range(1, per + 1))
    pairs = {(i, j) for gap in gaps for i, j in _pairs(reach, gap)}
    while True:
        found = _solve(costs * scale, weights * scale, sorted(pairs), ks, epsilon, per)
        mass = found.x * scale
        broken = {
            (i, j)
            for gap in range(1, per + 1)
            for i, j in _pairs(reach, gap)
            if mass[i] > math.exp(epsilon) * mass[j] * (1 + 1e-9) + 1e-30
        } - pairs
        if not broken:
            return float(found.fun)
        pairs |= broken


def _with_tails(
    loss: Callable[[int], float], epsilon: float, per: int, ks: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Cost and weight of each free mass, what repeats it included. The far stretches are summed one by one."""
    costs, weights = np.array([loss(int(k)) for k in ks]), np.ones(len(ks))
    for i in range(per):
        for place, direction in ((i, -1), (len(ks) - 1 - i, 1)):
            for turn in range(1, _TURNS):
                fade = math.exp(-epsilon * turn)
                costs[place] += fade * loss(int(ks[place]) + direction * turn * per)
                weights[place] += fade
    return costs, weights


def _pairs(reach: int, gap: int) -> list[tuple[int, int]]:
    size = 2 * reach + 1
    forward = [(i, i + gap) for i in range(size - gap)]
    return forward + [(j, i) for i, j in forward]


def _solve(costs, weights, pairs, ks, epsilon, per):
    """Rows mass_i <= e^epsilon mass_j in the scaled unknowns, each divided by its larger coefficient.

    The pairs across the seam between table and tails need no rows of their own as long as the
    table holds two stretches on each side: moved inward by one stretch they are pairs of the table.
    """
    i, j = np.array(pairs).T
    power = epsilon * (1 - np.abs(ks[j]) / per + np.abs(ks[i]) / per)
    own, other = np.exp(-np.maximum(power, 0)), -np.exp(np.minimum(power, 0))
    rows = np.arange(len(pairs))
    matrix = coo_array(
        (np.concatenate([own, other]), (np.concatenate([rows, rows]), np.concatenate([i, j]))),
        shape=(len(pairs), len(ks)),
    )
    found = linprog(
        costs,
        A_ub=matrix.tocsr(),
        b_ub=np.zeros(len(pairs)),
        A_eq=weights[None, :],
        b_eq=[1.0],
        method="highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    assert found.status == 0, found.message
    return found

"""How good the best noise for one number is at each epsilon, as curves over a grid; sensitivity 1."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_POINTS = 1500
_COARSE = 256
_COARSE_MANY = 32
_MANY = 20_000


def power_curve(power: int, epsilon: float, count: int) -> tuple[Floats, Floats]:
    """Grid of epsilons up to the whole budget, and the least mean |error|^power of additive noise at each.

    Rule: theory 1, the closed forms of the optimal staircase for squared and absolute error.
    """
    grid = np.geomspace(epsilon * 1e-9 / count, epsilon, _POINTS)
    b = np.exp(-grid)
    rest = -np.expm1(-grid)
    if power == 1:
        return grid, np.exp(-grid / 2) / rest
    return grid, (2 ** (-2 / 3) * b ** (2 / 3) * (1 + b) ** (2 / 3) + b) / rest**2


def usefulness_gains(reach: Floats, weights: Floats, epsilon: float, *, tailored: bool) -> tuple[Floats, Floats]:
    """Grid of epsilons, and for each number (a row) the weighted chance of an error within `reach` sensitivities.

    Rule: theory 1; for the best noise 1 - b^(k+1) / (b + s(1-b)) with k + s the reach, for Laplace 1 - b^reach.
    """
    points = _COARSE if len(reach) <= _MANY else _COARSE_MANY
    grid = np.concatenate([[0.0], np.geomspace(epsilon * 1e-6, epsilon, points - 1)])
    if not tailored:
        return grid, weights[:, None] * -np.expm1(-grid[None, :] * reach[:, None])
    whole = np.floor(reach)
    part = (reach - whole)[:, None]
    b = np.exp(-grid)[None, :]
    miss = np.exp(-grid[None, :] * (whole[:, None] + 1)) / (b - part * np.expm1(-grid)[None, :])
    return grid, weights[:, None] * (1 - miss)

"""Strategies under Laplace noise, in floats: their cost is the largest column sum of sizes, which is not convex."""

from __future__ import annotations

import numpy as np

from noisewright.numerics.arrays import Floats

_ROUNDS = 400


def best_blocks(branching: int, traces: Floats) -> tuple[float, Floats]:
    """Shares of the budget for sums over blocks of every level, and their total error where epsilon = 1.

    `traces[l]` is tr(G A_l), A_l the averages over blocks of branching^l cells. With shares r_l the noise of level l
    has variance 2 / r_l^2, and A_l - A_(l+1) has precision sum of branching^k r_k^2 / 2 over k up to l.
    """
    from scipy.optimize import minimize

    errors = traces - np.append(traces[1:], 0.0)
    widths = float(branching) ** np.arange(len(traces))

    def value(logs: Floats) -> tuple[float, Floats]:
        raw = np.exp(logs - logs.max())
        shares = raw / raw.sum()
        weights = np.cumsum(widths * shares**2 / 2)
        total = float((errors / weights).sum())
        # How the total falls with each share, through the precision of its own and all higher levels.
        slope = -np.cumsum((errors / weights**2)[::-1])[::-1] * widths * shares
        return float(np.log(total)), (slope - (slope * shares).sum()) * shares / total

    found = []
    starts = [np.zeros(len(traces)), -np.arange(len(traces)) * 0.5, np.where(np.arange(len(traces)) == 0, 0.0, -6.0)]
    for start in starts:
        done = minimize(value, start, jac=True, method="L-BFGS-B")
        raw = np.exp(done.x - done.x.max())
        found.append((float(np.exp(done.fun)), raw / raw.sum()))
    return min(found, key=lambda one: one[0])


def best_extra_rows(gram: Floats) -> Floats:
    """Each cell and p extra rows, scaled so that every column sums to 1: the least error of several descents.

    With T the extra rows and d = 1 + the column sums of T, X^-1 = diag(d) (I + T^T T)^-1 diag(d).
    """
    from scipy.optimize import minimize

    n = len(gram)
    best: tuple[float, Floats] | None = None
    for count in sorted({max(1, n // 16), max(1, n // 8)}):
        for start in _starts(n, count):
            bounds = [(0.0, None)] * start.size
            done = minimize(
                _extra_value, start.ravel(), (gram, count), jac=True, method="L-BFGS-B", bounds=bounds,
                options={"maxiter": _ROUNDS},
            )  # fmt: skip
            if best is None or done.fun < best[0]:
                best = (float(done.fun), done.x.reshape(count, n))
    assert best is not None
    rows = np.concatenate([np.eye(n), best[1]])
    return np.asarray(rows / rows.sum(axis=0))


def _extra_value(flat: Floats, gram: Floats, count: int) -> tuple[float, Floats]:
    """The total error and its slope."""
    extra = flat.reshape(count, -1)
    scale = 1 + extra.sum(axis=0)
    small = np.linalg.solve(np.eye(count) + extra @ extra.T, extra)
    inverse = np.eye(extra.shape[1]) - extra.T @ small
    scaled = scale[:, None] * gram * scale
    total = float((scaled * inverse).sum())
    slope = -2 * (extra @ inverse) @ scaled @ inverse + 2 * ((gram * inverse) @ scale)
    return total, slope.ravel()


def _starts(n: int, count: int) -> list[Floats]:
    """Runs of cells of several lengths, and evenly scattered values."""
    cells = np.arange(n)
    golden = np.mod(np.outer(np.arange(1, count + 1), cells + 1) * 0.6180339887498949, 1.0)
    runs = np.array([((cells * count // n) == k) * 1.0 for k in range(count)])
    tree = np.array([_run(n, k) for k in range(1, count + 1)])
    return [golden, runs + 0.1 * golden, tree + 0.05 * golden]


def _run(n: int, k: int) -> Floats:
    """The k-th block of a binary tree, from the root down."""
    level = k.bit_length() - 1
    width = n / 2**level
    start = (k - 2**level) * width
    cells = np.arange(n)
    return np.asarray(((cells >= start) & (cells < start + width)) * 1.0)

"""The best strategy for a workload, in floats.

Under Gaussian noise it is a fixed point that is reached from both sides. Minimise tr(G X^-1) over X with diagonal at
most 1, where G = W^T W. Its dual is the largest |W diag(s)|_*^2 over unit vectors s, with the nuclear norm;
s^2 = lambda is what is iterated, and each lambda gives a strategy and a bound. For the largest variance the questions
have weights too, which are iterated beside. Under Laplace noise the cost of a strategy is the largest column sum of
sizes, which is not convex.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from noisewright.numerics.arrays import Floats

_ENOUGH, _LARGE_ENOUGH, _SMALL = 1e-9, 1e-6, 512
_WORST_ENOUGH = 1e-6
_FEWEST_ROUNDS, _MOST_ROUNDS = 60, 4000
_WORK = 4e9
_FAINT = 1e-13
_RANK = 1e-12
_LEAST = 1e-14
_POWERS = (3.0, 2.0, 1.0)
_WORST_POWERS = (1.7, 1.0, 0.5)
_ROUNDS = 400


@dataclass(frozen=True, slots=True)
class Solved:
    """A strategy X = C^T C of diagonal 1, the weights s of the cells and of the questions that bound it, both ends.

    With V D^2 V^T = diag(s) G diag(s), `left` is diag(s) V D^-1 and `right` is V: the proof of the lower end.
    """

    strategy: Floats
    cells: Floats
    questions: Floats | None
    left: Floats
    right: Floats
    lower: float
    upper: float


def best_total(gram: Floats) -> Solved:
    """The strategy of the least total squared error; `gram` has a positive diagonal."""
    rounds, enough = _rounds(len(gram)), _ENOUGH if len(gram) <= _SMALL else _LARGE_ENOUGH
    size = float(np.trace(gram)) / len(gram)
    smallest, largest = np.linalg.eigvalsh(gram)[[0, -1]]
    # Where questions do not determine every cell, the rest is measured faintly, so that nothing is left singular.
    extra = _FAINT * size if smallest <= _RANK * largest else 0.0
    full = gram + extra * np.eye(len(gram))
    weights = np.sqrt(np.diag(gram))
    best: Solved | None = None
    powers = list(_POWERS)
    for _ in range(rounds):
        weights = np.maximum(weights / weights.sum(), _LEAST)
        found = _both_ends(gram, full, weights, lambda inverse: float((gram * inverse).sum()))
        worse = best is not None and found[0].upper / found[0].lower > 1.5 * best.upper / best.lower
        best = _better(best, found[0])
        if best.upper <= best.lower * (1 + enough):
            break
        if worse and len(powers) > 1:
            powers.pop(0)
            weights = best.cells**2
            continue
        weights = weights * (found[1] / weights) ** powers[0]
    assert best is not None
    return best


def _rounds(size: int) -> int:
    """How many rounds are tried: more where one takes no time."""
    return int(min(_MOST_ROUNDS, max(_FEWEST_ROUNDS, _WORK / size**3)))


def _both_ends(
    gram: Floats, full: Floats, weights: Floats, measure: Callable[[Floats], float]
) -> tuple[Solved, Floats, Floats]:
    """What weights of the cells give, the diagonal that they are compared with, and the inverse at that diagonal.

    `measure` is the error of a strategy, by its inverse.
    """
    roots = np.sqrt(weights)
    values, vectors = np.linalg.eigh(roots[:, None] * full * roots)
    spread = np.sqrt(np.maximum(values, values[-1] * 1e-17))
    diagonal = (vectors**2) @ spread
    plain, back = (vectors * spread) @ vectors.T, (vectors / spread) @ vectors.T
    # Scaling each cell misses by the square of its miss; one scale for all keeps what a singular strategy spans.
    scales = (np.sqrt(weights / diagonal) / roots, np.sqrt(np.min(weights / diagonal)) / roots)
    upper, place = min((measure(back / scale[:, None] / scale), i) for i, scale in enumerate(scales))
    strategy = scales[place][:, None] * plain * scales[place]
    natural = roots[:, None] * back * roots * spread.sum()
    if full is not gram:
        values, vectors = np.linalg.eigh(roots[:, None] * gram * roots)
    kept = values > values[-1] * _RANK
    right, root = vectors[:, kept], np.sqrt(values[kept])
    left = roots[:, None] * (right / root)
    lower = float(root.sum() ** 2 / weights.sum())
    return Solved(strategy, roots, None, left, right, lower, upper), diagonal, natural


def _better(best: Solved | None, found: Solved) -> Solved:
    """The better of either end."""
    if best is None:
        return found
    low = found if found.lower > best.lower else best
    high = found if found.upper < best.upper else best
    return Solved(high.strategy, low.cells, low.questions, low.left, low.right, low.lower, high.upper)


def best_worst(
    variances: Callable[[Floats], Floats],
    weighted: Callable[[Floats], Floats],
    questions: int,
) -> Solved:
    """The strategy of the least largest variance.

    `variances(M)` is w^T M w for each question w, as often as it counts; `weighted(p)` the sum of p w w^T.
    """
    parts = np.full(questions, 1.0 / questions)
    weights = np.sqrt(np.diag(weighted(parts)))
    rounds = _rounds(len(weights))
    best: Solved | None = None
    powers = list(_WORST_POWERS)
    for _ in range(rounds):
        parts, weights = parts / parts.sum(), np.maximum(weights / weights.sum(), _LEAST)
        gram = weighted(parts)
        full = gram + _FAINT * float(np.trace(gram)) / len(gram) * np.eye(len(gram))
        found, diagonal, inverse = _both_ends(gram, full, weights, lambda one: float(variances(one).max()))
        found = replace(found, questions=parts)
        worse = best is not None and found.upper / found.lower > 1.5 * best.upper / best.lower
        best = _better(best, found)
        if best.upper <= best.lower * (1 + _WORST_ENOUGH):
            break
        if worse and len(powers) > 1 and best.questions is not None:
            powers.pop(0)
            parts, weights = best.questions, best.cells**2
            continue
        total = diagonal.sum()
        weights = weights * (diagonal / weights / total) ** powers[0]
        parts = parts * (variances(inverse) / found.lower) ** powers[0]
    assert best is not None
    return best


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

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

from noisewright.numerics.fields import Floats
from noisewright.problem.errors import SolverError

_ENOUGH, _LARGE_ENOUGH, _SMALL = 1e-9, 1e-6, 512
_WORST_ENOUGH, _WORST_SMALL = 1e-6, 128
_FEWEST_ROUNDS, _MOST_ROUNDS = 24, 4000
_WORK = 1.2e10
_FAINT = 1e-13
_RANK = 1e-12
_LEAST = 1e-14
_NOTHING = 1e-100
_POWER, _MEMORY, _FARTHEST = 2.5, 6, 8.0
_STALLED, _PATIENCE = 2e-7, 12
_WORST_POWER, _LARGEST_STEP, _FASTEST = 1.7, 6.0, 0.8
_WORST_POWERS = (1.7, 1.0, 0.5)
_ROUNDS, _FEWEST_DESCENTS, _DESCENT_WORK = 400, 40, 6e10
_EACH_PRODUCT = 1.5e-9

Variances = Callable[[Floats], Floats]


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
    enough = _ENOUGH if len(gram) <= _SMALL else _LARGE_ENOUGH
    smallest, largest = np.linalg.eigvalsh(gram)[[0, -1]]
    # Where questions do not determine every cell, the rest is measured faintly, so that nothing is left singular.
    full = gram if smallest > _RANK * largest else _faintly(gram)
    logs, memory, gaps = np.log(np.diag(gram)) / 2, _Memory(), [np.inf]
    best: Solved | None = None
    for _ in range(_rounds(len(gram))):
        weights = _shares(logs)
        found, diagonal, _ = _both_ends(gram, full, weights, lambda inverse: float((gram * inverse).sum()))
        worse = best is not None and found.upper / found.lower - 1 > 2 * gaps[-1]
        best = _better(best, found)
        gaps.append(best.upper / best.lower - 1)
        stalled = gaps[-1] < _STALLED and len(gaps) > _PATIENCE and gaps[-1] > gaps[-_PATIENCE] / 2
        if gaps[-1] <= enough or stalled:
            break
        if worse:
            memory = _Memory()
        move = np.log(diagonal / diagonal.sum()) - np.log(weights)
        logs = memory.next(np.log(weights), _POWER * move) if not worse else np.log(weights) + move
    return _known(best)


class _Memory:
    """Anderson's steps towards a fixed point: the best mixture of the last points, by how far each was moved."""

    def __init__(self) -> None:
        self._points: list[Floats] = []
        self._moves: list[Floats] = []

    def next(self, point: Floats, move: Floats) -> Floats:
        """Where to look next, after a look at a point that moves so."""
        self._points, self._moves = [*self._points[-_MEMORY:], point], [*self._moves[-_MEMORY:], move]
        if len(self._points) == 1:
            return np.asarray(point + move)
        points, moves = np.diff(self._points, axis=0), np.diff(self._moves, axis=0)
        shares = np.linalg.lstsq(moves.T, move, rcond=1e-10)[0]
        step = move - shares @ (points + moves)
        return np.asarray(point + (step if np.abs(step).max() < _FARTHEST else move))


def _rounds(size: int) -> int:
    """How many rounds are tried: more where one takes no time."""
    return int(min(_MOST_ROUNDS, max(_FEWEST_ROUNDS, _WORK / size**3)))


def _shares(logs: Floats) -> Floats:
    """Positive weights that sum to one, none of them lost."""
    raw = np.exp(logs - logs.max())
    return np.asarray(np.maximum(raw / raw.sum(), _LEAST))


def _faintly(gram: Floats) -> Floats:
    return np.asarray(gram + _FAINT * float(np.trace(gram)) / len(gram) * np.eye(len(gram)))


def _known(best: Solved | None) -> Solved:
    if best is None:
        raise SolverError("no strategy was found; please report this question.")
    return best


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


def best_worst(variances: Variances, weighted: Variances, questions: int) -> Solved:
    """The strategy of the least largest variance.

    `variances(M)` is w^T M w for each question w, as often as it counts; `weighted(p)` the sum of p w w^T.
    Weights of questions and of cells climb together with momentum, which ends where the lower bound falls. Cells whose
    weights vanish so fast that the strategy is lost are reached by steps without it.
    """
    asked = np.zeros(questions)
    cells = np.log(np.diag(weighted(_shares(asked)))) / 2
    begin, last, pace, step, quiet = (asked, cells), (asked, cells), 0.0, _WORST_POWER, 0
    enough = _WORST_ENOUGH if len(cells) <= _WORST_SMALL else 10 * _WORST_ENOUGH
    best, *kept = _weighed(variances, weighted, asked, cells)
    for _ in range(_rounds(len(cells))):
        found, *here = _weighed(variances, weighted, asked, cells)
        quiet = 0 if found.lower > best.lower * (1 + 1e-10) else quiet + 1
        if found.lower < best.lower * (1 - 1e-9):
            last, pace, step = (kept[0], kept[1]), 0.0, 0.7 * step
        else:
            kept, step = here, min(1.02 * step, _LARGEST_STEP)
        best = _better(best, found)
        stalled = quiet > 4 * _PATIENCE
        if best.upper <= best.lower * (1 + (10 * enough if stalled else enough)):
            return best
        if stalled:
            return _better(best, _slowly(variances, weighted, *begin, 10 * enough))
        asked = kept[0] + step * kept[2] + pace * (kept[0] - last[0])
        cells = kept[1] + min(step, _WORST_POWER) * kept[3] + pace * (kept[1] - last[1])
        last, pace = (kept[0], kept[1]), min(pace + 0.1, _FASTEST)
    return best


def _slowly(variances: Variances, weighted: Variances, asked: Floats, cells: Floats, enough: float) -> Solved:
    """The same without momentum, with smaller powers where a step makes things worse."""
    best = _weighed(variances, weighted, asked, cells)[0]
    powers = list(_WORST_POWERS)
    for _ in range(_rounds(len(cells))):
        found, *here = _weighed(variances, weighted, asked, cells)
        if len(powers) > 1 and found.upper / found.lower > 1.5 * best.upper / best.lower:
            powers.pop(0)
        best = _better(best, found)
        if best.upper <= best.lower * (1 + enough):
            break
        asked, cells = here[0] + powers[0] * here[2], here[1] + powers[0] * here[3]
    return best


def _weighed(
    variances: Variances, weighted: Variances, asked: Floats, cells: Floats
) -> tuple[Solved, Floats, Floats, Floats, Floats]:
    """What weights of questions and cells give, the weights as they were used, and where they are to go."""
    parts, weights = _shares(asked), _shares(cells)
    gram = weighted(parts)
    found, diagonal, inverse = _both_ends(gram, _faintly(gram), weights, lambda one: float(variances(one).max()))
    rise = np.log(np.maximum(variances(inverse), _LEAST * found.lower) / found.lower)
    shift = np.log(diagonal / weights / diagonal.sum())
    return replace(found, questions=parts), np.log(parts), np.log(weights), rise, shift


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
        weights = np.maximum(np.cumsum(widths * shares**2 / 2), _NOTHING)
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
    """p extra rows to measure beside each cell, every column scaled to the sum 1: the least error of several descents.

    With T the extra rows and d = 1 + the column sums of T, X^-1 = diag(d) (I + T^T T)^-1 diag(d).
    """
    starts = [start for count in _extra_counts(len(gram)) for start in extra_starts(len(gram), count)]
    rounds = _extra_rounds(len(gram))[0]
    return min((improved(start, gram, rounds) for start in starts), key=lambda one: one[0])[1]


def _extra_counts(n: int) -> list[int]:
    return sorted({max(1, n // 16), max(1, n // 12)})


def _extra_rounds(n: int) -> tuple[int, float]:
    """How many rounds each descent has, and what one round of all of them takes, in products of numbers."""
    work = 3.0 * n**2 * sum(_extra_counts(n))
    return int(min(_ROUNDS, max(_FEWEST_DESCENTS, _DESCENT_WORK / work))), work


def extra_seconds(n: int) -> float:
    """About how long `best_extra_rows` takes for so many cells."""
    rounds, work = _extra_rounds(n)
    return _EACH_PRODUCT * rounds * work


def improved(extra: Floats, gram: Floats, rounds: int) -> tuple[float, Floats]:
    """The total error where epsilon is the root of 2, and the rows, after a descent from rows that are given."""
    from scipy.optimize import minimize

    done = minimize(
        _extra_value, extra.ravel(), (gram, len(extra)), jac=True, method="L-BFGS-B",
        bounds=[(0.0, None)] * extra.size, options={"maxiter": rounds, "maxfun": 2 * rounds},
    )  # fmt: skip
    found = done.x.reshape(extra.shape)
    kept = found[found.any(axis=1)]
    return float(done.fun), kept if len(kept) else found[:1]


def extra_total(extra: Floats, gram: Floats) -> float:
    """The total error of each cell and extra rows, where epsilon is the root of 2."""
    return _extra_value(extra.ravel(), gram, len(extra))[0]


def _extra_value(flat: Floats, gram: Floats, count: int) -> tuple[float, Floats]:
    """The total error and its slope.

    With B = (I + T T^T)^-1 the inverse of I + T^T T is I - T^T B T, and T times it is B T; so one product with the
    Gram matrix is all that takes time.
    """
    extra, diagonal = flat.reshape(count, -1), np.diagonal(gram)
    scale = 1 + extra.sum(axis=0)
    asked = (extra * scale) @ gram
    small, turned, both = (
        np.linalg.solve(np.eye(count) + extra @ extra.T, np.hstack([extra, asked, asked * scale]))
        .reshape(count, 3, -1)
        .swapaxes(0, 1)
    )
    total = float(diagonal @ scale**2 - (small * asked * scale).sum())
    slope = 2 * (diagonal * scale - (extra * turned).sum(axis=0)) - 2 * (both - (both @ extra.T) @ small)
    return total, slope.ravel()


def extra_starts(n: int, count: int) -> list[Floats]:
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

"""The best Gaussian strategy for a workload, in floats: a fixed point that is reached from both sides.

Minimise tr(G X^-1) over X with diagonal at most 1, where G = W^T W. Its dual is the largest |W diag(s)|_*^2 over unit
vectors s, with the nuclear norm; s^2 = lambda is what is iterated, and each lambda gives a strategy and a bound.
For the largest variance the questions have weights too, which are iterated beside.
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

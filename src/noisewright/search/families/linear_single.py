"""One linear query: how much bias is worth how much noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from noisewright.numerics.arrays import Floats
from noisewright.numerics.distances import FloatView
from noisewright.search.programmes.pairs import PairTable

_BLOCK = 1 << 20
_ROUNDS = 60


@dataclass(frozen=True, slots=True)
class Traded:
    """Columns A within `bias` of the query, their noise scale, the value n^2 bias^2 + 2 scale^2 and its gap."""

    columns: list[Fraction]
    bias: float
    scale: float
    value: float
    gap: float


def best_single(table: PairTable, people: int, row: Sequence[Fraction]) -> Traded:
    """Minimise n^2 max (A_i - q_i)^2 + 2 c^2 subject to |A_i - A_j| <= c d(i, j), jointly in A and c.

    Rule: columns within t of the query and c-Lipschitz exist exactly if |q_i - q_j| <= 2 t + c d(i, j)
    for every pair (take A_i = max over j of q_j - t - c d(i, j)). So the programme has two unknowns,
    c(t) = max over pairs of (|q_i - q_j| - 2 t) / d(i, j), and is convex in t.
    """
    q, view = table.matrix[0], table.view
    n2 = float(people) ** 2

    def value(t: float) -> tuple[float, float, float]:
        c, slope = _scale(q, view, t)
        return n2 * t * t + 2 * c * c, 2 * n2 * t + 4 * c * slope, c

    low, high, bound = 0.0, float(np.ptp(q)) / 2, 0.0
    at_low, at_high = value(low), value(high)
    best = (at_low[0], 0.0, at_low[2])
    if at_low[1] >= 0:
        return Traded(list(row), 0.0, best[2], best[0], 0.0)
    for _ in range(_ROUNDS):
        # Tangents at the two ends bound a convex function from below where they meet.
        meet = (at_high[0] - at_low[0] + at_low[1] * low - at_high[1] * high) / (at_low[1] - at_high[1])
        bound = at_low[0] + at_low[1] * (meet - low)
        middle = min(max(meet, low + 1e-3 * (high - low)), high - 1e-3 * (high - low))
        here = value(middle)
        if here[0] < best[0]:
            best = (here[0], middle, here[2])
        if best[0] - bound <= 1e-9 * best[0]:
            break
        if here[1] < 0:
            low, at_low = middle, here
        else:
            high, at_high = middle, here
    _, t, c = best
    columns = [Fraction(float(v)) for v in _lipschitz(q, view, t, c)]
    return Traded(columns, t, c, best[0], max(0.0, (best[0] - bound) / best[0]))


def _scale(q: Floats, view: FloatView, t: float) -> tuple[float, float]:
    """max over pairs of (|q_i - q_j| - 2 t) / d(i, j), streamed in blocks, and its slope in t."""
    best, slope, start = 0.0, 0.0, 0
    while start < view.size:
        stop = min(view.size, start + max(1, _BLOCK // (view.size - start)))
        apart = np.triu(np.abs(q[start:stop, None] - q[None, start:]) - 2 * t, 1)
        distances = view.rows(start, stop)
        ratios = np.divide(apart, distances, out=np.zeros_like(apart), where=(distances > 0) & (apart > 0))
        place = int(np.argmax(ratios))
        if (top := float(ratios.flat[place])) > best:
            best, slope = top, -2.0 / float(distances.flat[place])
        start = stop
    return best, slope


def _lipschitz(q: Floats, view: FloatView, t: float, c: float) -> Floats:
    """The columns of the rule."""
    result = np.full(view.size, -np.inf)
    for i in range(view.size):
        distances = view.rows(i, i + 1)[0]
        result[i] = max(result[i], q[i] - t, float((q[i:] - t - c * distances).max()))
        result[i:] = np.maximum(result[i:], q[i] - t - c * distances)
    return result

"""What no mechanism with metric privacy can beat, from two histograms that are hard to tell apart."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from noisewright.numerics.balls import ball, precision, upper
from noisewright.numerics.distances import upper_distance
from noisewright.problem.linear import Linear
from noisewright.problem.utility import Utility
from noisewright.search.programmes.pairs import PairTable

LARGEST_UNIVERSE = 2_000
_BEST_EXPONENT = {1: 1.2785, 2: 2.2177}
"""Where u^p / (1 + e^u) is largest: about how much budget the changes together should use."""


def two_point_bound(query: Linear, metric: Any, utility: Utility, table: PairTable) -> Fraction | None:
    """A proven lower bound of the worst-case value of every mechanism; None for very large universes.

    Rule: let m people change from i to j and D be the distance of the two true answers. An answer is
    at least D/2 away from one of them. Being nearer to the wrong one has probability p under one
    histogram and 1 - q under the other with q <= e^(m d(i, j)) p, so one of the two is at least
    1 / (1 + e^(m d(i, j))), and the mean error there at least that share of (D/2)^power.
    Valid for: histograms of at least m people; m is at most `people` where that is given.
    """
    if query.size > LARGEST_UNIVERSE:
        return None
    power = int(utility.power or 1)
    weights = utility.shares(query.dimension)
    sizes = _sizes(table, [float(w) for w in weights], utility)
    distances = np.zeros_like(sizes)
    for i in range(query.size):
        distances[i, i:] = table.view.rows(i, i + 1)[0]
    most = float(query.people or 10**9)
    with np.errstate(divide="ignore", invalid="ignore"):
        changes = np.clip(np.round(_BEST_EXPONENT[power] / distances), 1, most)
        scores = np.where(distances > 0, (changes * sizes / 2) ** power / (1 + np.exp(changes * distances)), 0.0)
    i, j = (int(v) for v in np.unravel_index(int(np.argmax(scores)), scores.shape))
    count = int(changes[i, j])
    differences = [
        abs(Fraction(row[i] - row[j], d)) for row, d in zip(query.numerators, query.denominators, strict=True)
    ]
    if utility.joint:
        apart = max(differences)
    else:
        apart = sum((w * v**power for w, v in zip(weights, differences, strict=True)), Fraction(0))
    with precision():
        odds = upper(1 + ball(count * upper_distance(metric, i, j)).exp())
    return Fraction(count, 2) ** power * apart / odds


def _sizes(table: PairTable, weights: list[float], utility: Any) -> Any:
    """How far apart the answers of each pair are, in the length that the utility measures."""
    total: Any = 0.0
    for weight, row in zip(weights, table.matrix, strict=True):
        apart = np.abs(row[:, None] - row[None, :])
        if utility.joint:
            total = np.maximum(total, apart)
        else:
            total = total + weight * (apart**2 if utility.power == 2 else apart)
    return np.triu(np.sqrt(total) if utility.power == 2 else total, 1)

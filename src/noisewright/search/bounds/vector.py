"""What no additive noise for several numbers can beat, proven in balls.

Two bounds, the larger one counts. *Number by number*: each number by itself must be private against its own
changes, so its error is at least the optimum for one number. *By volume*: let V(t) be the volume where the density
is at least t. Privacy puts {density >= t} + set inside {density >= t e^-epsilon}, so by Brunn and Minkowski
V(t e^-epsilon)^(1/K) >= V(t)^(1/K) + |set|^(1/K). The loss is least if every such region is a sublevel set of the
loss; in units of |set|^(1/K) the best radii are then g, g + 1, g + 2, …, and what remains is a search over g in [0, 1].
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import reduce
from typing import Any

import numpy as np

from noisewright.laws.shells import shifted_sum
from noisewright.numerics.balls import Ball, ball, lower, pi, precision, upper
from noisewright.numerics.distances import upper_distance
from noisewright.numerics.fields import BALLS
from noisewright.problem.errors import SolverError
from noisewright.problem.linear import Linear
from noisewright.problem.queries import Vector
from noisewright.problem.sensitivity import Points
from noisewright.problem.utility import Utility
from noisewright.search.bounds.pure import best_possible, power_bound, quantile_optimum, usefulness_optimum
from noisewright.search.bounds.unbiased import least_unbiased
from noisewright.search.families.vector_parts import active, scalars
from noisewright.search.programmes.pairs import PairTable

_INTERVALS = 32
_MOST_KINDS = 200
_LARGEST_VOLUME_DIMENSION = 20_000
_SMALLEST_EPSILON = Fraction(1, 1000)
_LARGEST_EPSILON = Fraction(64)
_EITHER_WAY = ("box", "sparse")
"""Sets whose numbers move together with any signs."""


def vector_bound(query: Vector, epsilon: Fraction, utility: Utility) -> Fraction | None:
    """A proven bound in the utility's units, or None where none is known (listed differences)."""
    if isinstance(query.sensitivity, Points):
        return None
    if query.integer is not False or utility.tabulated or (utility.power or 1).denominator != 1:
        return _each_by_itself(query, epsilon, utility)
    with precision():
        single = _by_number(query, epsilon, utility)
        if utility.edges or utility.confidence is not None or utility.power not in (None, 1, 2):
            return single
        try:
            volume = _by_volume(query, epsilon, utility)
        except SolverError:
            volume = None
        return single if volume is None else max(single, volume)


def covariance_bound(query: Vector, privacy: Any, utility: Utility) -> Fraction | None:
    """What the squared errors of every unbiased method and of every additive noise add up to at least, or None.

    Rule: their covariance S has d^T S^-1 d <= c for every difference d, where c bounds the chi-squared divergence. Let
    number i move by its extent with chance q_i and any sign, at most `together` numbers at a time. The mean of that
    inequality is sum_i q_i extent_i^2 (S^-1)_ii <= c, and (S^-1)_ii >= 1 / S_ii; so by Cauchy and Schwarz the weighted
    sum of the S_ii is at least (sum_i sqrt(q_i v_i))^2 / c with v_i = weight_i extent_i^2. Chances in proportion to v_i
    are best, none above 1. Where numbers move together in other ways, each by itself still moves by its extent.
    """
    if utility.power != 2:
        return None
    chosen, weights = query.sensitivity, utility.shares(query.dimension)
    reaches = (math.floor(e) if whole else e for e, whole in zip(query.extents, query.whole, strict=True))
    costs = [w * reach**2 for w, reach in zip(weights, reaches, strict=True) if reach]
    few = len(costs) <= _LARGEST_VOLUME_DIMENSION
    together = getattr(chosen, "together", 1) if chosen.kind in _EITHER_WAY and few else 1
    return least_unbiased(_most_spread(costs, min(together, len(costs))), privacy)


def _most_spread(costs: list[Fraction], together: int) -> Fraction:
    """A rational at or below the largest (sum sqrt(q_i v_i))^2 over chances q_i <= 1 that sum to `together`."""
    ordered, rest, sure = sorted(costs, reverse=True), sum(costs, Fraction(0)), 0
    while sure < together and (together - sure) * ordered[sure] > rest:
        rest, sure = rest - ordered[sure], sure + 1
    if not sure:
        return together * rest
    with precision():
        roots = sum((ball(v).sqrt() for v in ordered[:sure]), start=ball((together - sure) * rest).sqrt())
        return max(Fraction(0), lower(roots * roots))


def _each_by_itself(query: Vector, epsilon: Fraction, utility: Utility) -> Fraction | None:
    """The optimum of each number under its own changes; of utilities that look at all together the worst of them.

    None for more different numbers than can be looked at.
    """
    kinds = {i: (one, utility.alone(i)) for i, one in enumerate(scalars(query)) if one is not None}
    if len(set(kinds.values())) > _MOST_KINDS:
        return None
    best = {kind: best_possible(kind[0], epsilon, kind[1]) for kind in set(kinds.values())}
    if utility.joint:
        return max(best.values())
    weights, still = utility.shares(query.dimension), Fraction(int(bool(utility.edges)))
    return sum((w * (best[kinds[i]] if i in kinds else still) for i, w in enumerate(weights)), Fraction(0))


def _by_number(query: Vector, epsilon: Fraction, utility: Utility) -> Fraction:
    places = active(query)
    weights = utility.shares(query.dimension)
    if utility.edges:
        reaches = {i: utility.alone(i).edges[0] / query.extents[i] for i in places}
        memo = {r: min(Fraction(1), upper(usefulness_optimum(r, epsilon))) for r in set(reaches.values())}
        free = sum((w for w, extent in zip(weights, query.extents, strict=True) if not extent), Fraction(0))
        return free + sum((weights[i] * memo[reaches[i]] for i in places), Fraction(0))
    if utility.confidence is not None:
        unit = lower(quantile_optimum(utility.confidence, epsilon))
        return max(Fraction(0), unit * max(query.extents))
    if utility.power is not None:
        unit = lower(power_bound(utility.power, epsilon))
        return unit * sum((weights[i] * query.extents[i] ** int(utility.power) for i in places), Fraction(0))
    return lower(power_bound(Fraction(1), epsilon)) * max(query.extents)


def _by_volume(query: Vector, epsilon: Fraction, utility: Utility) -> Fraction | None:
    chosen = query.sensitivity
    places = active(query)
    count = len(places)
    # So many changes in a row reach every corner of the box, at as many times epsilon.
    times = chosen.repeats(count)
    if times is None:
        return None
    rate = epsilon * times
    if count > _LARGEST_VOLUME_DIMENSION or not _SMALLEST_EPSILON <= rate <= _LARGEST_EPSILON:
        return None
    power = int(utility.power or 1)
    weights = utility.shares(query.dimension)
    log_unit = _log_volume(query, places) + _log_loss(utility, [weights[i] for i in places], count)
    scale = (log_unit * power / count).exp()
    if power == 1:
        scale = scale / 2
    return lower(scale * least_radius_moment(count, rate, power))


def _log_volume(query: Vector, places: list[int]) -> Ball:
    chosen, count = query.sensitivity, len(places)
    if chosen.order == 2:
        return _log_ball(count) + count * ball(query.extents[0]).log()
    if chosen.order is not None:
        # An l_p ball of radius r has the volume (2 r Gamma(1 + 1/p))^K / Gamma(1 + K/p).
        order = Fraction(chosen.order)
        side = ball(2 * query.extents[0]) * BALLS.gamma(1 + 1 / order)
        return count * side.log() - BALLS.gamma(1 + count / order).log()
    return sum((ball(2 * query.extents[i]).log() for i in places), start=ball(0))


def _log_loss(utility: Utility, weights: list[Fraction], count: int) -> Ball:
    """Logarithm of the factor c with which the sublevel set of volume v has loss (c v)^(p/K), halved for p = 1."""
    if utility.power is None:
        return ball(0)
    logs = sum((ball(w).log() for w in weights), start=ball(0))
    return logs / 2 - _log_ball(count) if utility.power == 2 else logs + BALLS.gamma(count + 1).log()


def _log_ball(count: int) -> Ball:
    """Logarithm of the volume of the Euclidean unit ball."""
    return ball(count) / 2 * pi().log() - BALLS.gamma(Fraction(count + 2, 2)).log()


def least_radius_moment(count: int, epsilon: Fraction, power: int) -> Ball:
    """A ball whose lower end is at most K/(K+p) * min over g of sum b^n (n+g)^(K+p) / sum b^n (n+g)^K.

    Rule: both sums are convex in g. On an interval the tangent bounds the upper one from below and the
    chord the lower one from above; a ratio of linear functions is least at an end.
    """
    intervals = max(1, math.ceil(_INTERVALS * min(1.0, float(epsilon))))
    ends = [shifted_sum(epsilon, Fraction(i, intervals), count) for i in range(intervals + 1)]
    ratios = []
    for i in range(intervals):
        middle = Fraction(2 * i + 1, 2 * intervals)
        value = shifted_sum(epsilon, middle, count + power)
        drop = (count + power) * shifted_sum(epsilon, middle, count + power - 1) * ball(Fraction(1, 2 * intervals))
        ratios += [(value - drop) / ends[i], (value + drop) / ends[i + 1]]
    return reduce(lambda a, b: a.min(b), ratios) * ball(Fraction(count, count + power))


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

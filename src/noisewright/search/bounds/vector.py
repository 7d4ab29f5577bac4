"""What no additive noise for several numbers can beat, and what no mechanism can for linear questions, proven in balls.

For several numbers two bounds, the larger one counts. *Number by number*: each one must be private against its own
changes, so its error is at least the optimum for one number. *By volume*: let V(t) be the volume where the density
is at least t. Privacy puts {density >= t} + set inside {density >= t e^-epsilon}, so by Brunn and Minkowski
V(t e^-epsilon)^(1/K) >= V(t)^(1/K) + |set|^(1/K). The loss is least if every such region is a sublevel set of the
loss; in units of |set|^(1/K) the best radii are then g, g + 1, g + 2, …, and what remains is a search over g in [0, 1].
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial, reduce
from typing import Any

import numpy as np

from noisewright.laws.shells import shifted_sum
from noisewright.mechanisms.linear.noise import MOST_TOGETHER
from noisewright.numerics.balls import Ball, ball, lower, pi, positive, precision, upper
from noisewright.numerics.bisection import first_true
from noisewright.numerics.distances import upper_distance
from noisewright.numerics.fields import BALLS, Floats
from noisewright.problem.errors import SolverError
from noisewright.problem.linear import Linear
from noisewright.problem.queries import Vector
from noisewright.problem.sensitivity import Points
from noisewright.problem.utilities import Utility
from noisewright.search.bounds.pure import best_possible, power_bound, quantile_optimum, usefulness_optimum
from noisewright.search.bounds.unbiased import least_unbiased
from noisewright.search.families.vector_parts import active, scalars
from noisewright.search.programmes.linear import PairTable, best_ellipse

_INTERVALS = 32
_PAIRS_TRIED = 24
_MOST_PEOPLE = 10**12
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
    [Hammersley50, ChapmanRobbins51, theory#many-questions-about-one-table]
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
    [theory#noise-shaped-by-a-norm]
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
_ROOM = 1 - 2.0**-30
_TIGHT = 1e-5


def metric_bound(query: Linear, metric: Any, utility: Utility, table: PairTable) -> Fraction | None:
    """A proven lower bound of the worst-case value of every mechanism; None where none is known.

    For one query over a very large universe none is sought: its pairs are looked at only to prove the privacy.
    """
    if not table.moving:
        return Fraction(0)
    if query.size > LARGEST_UNIVERSE and len(table.moving) == 1:
        return None
    if utility.confidence is not None:
        return _quantile_bound(query, metric, utility.confidence, table)
    two = two_point_bound(query, metric, utility, table)
    if query.people is not None:
        return two
    more: list[Fraction | None] = [_by_query(query, metric, utility, table)]
    if utility.power == 2 and 1 < len(table.moving) <= MOST_TOGETHER:
        more.append(_by_moments(query, metric, utility, table))
    return max(v for v in (two, *more, Fraction(0)) if v is not None)


def _by_query(query: Linear, metric: Any, utility: Utility, table: PairTable) -> Fraction:
    """Each query by itself, at the pair of elements that is hardest for it, added up; of the largest error the worst.

    Rule: let people change from i to j, any number of them. Errors averaged over ever longer stretches of such
    histograms have, in the limit, a law f with f(A) <= e^d f(A - v) and back, v the difference of the columns, and a
    mean loss of at most the worst case: with any number of people every mechanism is as good as some additive noise. On
    each class of numbers v apart such a law is a mixture of chains of intervals (docs/theory.md), and for squared and
    absolute errors the chain around a single 0 is the best: v^2 / (2 sinh(d/2)^2) and |v| / sinh(d).
    [theory#metric-privacy]
    """
    weights, (rows, pairs) = utility.shares(query.dimension), table.opening()
    found = []
    for k, row in zip(table.moving, rows.T, strict=True):
        best = Fraction(0)
        for p in np.argsort(-np.abs(row))[:_PAIRS_TRIED]:
            i, j = pairs[int(p)]
            apart = abs(_difference(query, k, i, j))
            with precision():
                d = ball(upper_distance(metric, i, j))
                least = 1 / (2 * (d / 2).sinh() ** 2) if utility.power == 2 else 1 / d.sinh()
                best = max(best, apart ** (2 if utility.power == 2 else 1) * max(Fraction(0), lower(least)))
        found.append(best if utility.joint else weights[k] * best)
    return max(found) if utility.joint else sum(found, Fraction(0))


def _difference(query: Linear, k: int, i: int, j: int) -> Fraction:
    return Fraction(query.numerators[k][i] - query.numerators[k][j], query.denominators[k])


def _by_moments(query: Linear, metric: Any, utility: Utility, table: PairTable) -> Fraction | None:
    """What the squared errors of all queries add up to at least, all directions together.

    Rule: as for a single query, there is additive noise as good as the mechanism; let S be the mean of z z'. In every
    direction a the number a.z is such noise for the differences a.v, so a'Sa >= t (a.v)^2 with t = 1 / (2 sinh(d/2)^2)
    for each pair: v'S^-1 v <= 1 / t. Now (S - B) S^-1 (S - B) >= 0 for every symmetric B, so with weights C
    tr(C S) >= 2 tr(C B) - tr(B C B S^-1). If the sum of m v v' over pairs is at least B C B, the last trace is at most
    the sum of m / t. Multiples of B and m are free, which makes the bound tr(C B)^2 / sum of m / t.
    [theory#metric-privacy]
    """
    weights = [utility.shares(query.dimension)[k] for k in table.moving]
    chosen = _multipliers(table, np.array([float(w) for w in weights]))
    if chosen is None:
        return None
    shape, multipliers = [[Fraction(float(v)) for v in row] for row in chosen[0]], chosen[1]
    size, total = range(len(weights)), Fraction(0)
    rest = [[-sum((shape[a][c] * weights[c] * shape[c][b] for c in size), Fraction(0)) for b in size] for a in size]
    with precision():
        for (i, j), share in multipliers.items():
            v = [_difference(query, k, i, j) for k in table.moving]
            rest = [[rest[a][b] + share * v[a] * v[b] for b in size] for a in size]
            total += share * upper(2 * (ball(upper_distance(metric, i, j)) / 2).sinh() ** 2)
        if not positive([[ball(v) for v in row] for row in rest]):
            return None
    traced = sum((w * shape[a][a] for a, w in enumerate(weights)), Fraction(0))
    return traced**2 / total


def _multipliers(table: PairTable, weights: Floats) -> tuple[Floats, dict[tuple[int, int], Fraction]] | None:
    """A matrix B and multipliers of pairs that nearly attain the bound, in floats; None where pairs span too little."""
    from scipy.optimize import nnls

    rows, pairs = table.opening()
    distances = np.array([float(table.view.rows(i, i + 1)[0, j - i]) for i, j in pairs])
    with np.errstate(over="ignore"):
        lengths = np.sqrt(2) * np.sinh(distances / 2)
    rows = rows * (distances / lengths)[:, None]
    found = best_ellipse(rows[np.abs(rows).max(axis=1) > 0], weights)
    if found is None:
        return None
    tight = np.flatnonzero(np.einsum("pi,ij,pj->p", rows, found.point, rows) > 1 - _TIGHT)
    inverse = np.linalg.inv(found.point)
    aim = inverse @ np.diag(weights) @ inverse
    half = np.triu_indices(len(weights))
    shares, _ = nnls(np.array([np.outer(r, r)[half] for r in rows[tight]]).T / aim.max(), aim[half] / aim.max())
    kept = [(pairs[p], s, rows[p], lengths[p]) for p, s in zip(tight, shares, strict=True) if s > 0]
    if not kept:
        return None
    total = sum(s * np.outer(r, r) for _, s, r, _ in kept)
    root = np.sqrt(weights)
    values, vectors = np.linalg.eigh(root[:, None] * total * root)
    middle = (vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T
    shape = _ROOM * middle / (root[:, None] * root)
    return (shape + shape.T) / 2, {pair: Fraction(float(s / length**2)) for pair, s, _, length in kept}


def _quantile_bound(query: Linear, metric: Any, confidence: Fraction, table: PairTable) -> Fraction:
    """What the half-width around all answers, with a confidence, is at least.

    Rule: histograms along which m people at a time change from i to j have answers m |v| apart. Around each of them
    the answer stays within a width w with the confidence c, and where 2 w < m |v| these sets do not meet: by privacy
    the histogram in the middle reaches the set t steps away with at least c e^(-t m d), and all of these add up to at
    most one. Where they would add up to more, w is at least m |v| / 2. [theory#metric-privacy]
    """
    best, (rows, pairs) = Fraction(0), table.opening()
    for p in np.argsort(-np.abs(rows).max(axis=1))[:_PAIRS_TRIED]:
        i, j = pairs[int(p)]
        apart = max(abs(_difference(query, k, i, j)) for k in table.moving)
        with precision():
            crowded = partial(_crowded, ball(confidence), ball(upper_distance(metric, i, j)), query.people)
            most = query.people or _MOST_PEOPLE
            count = first_true(crowded, most + 1, 1) if crowded(1) else 0
        best = max(best, count * apart / 2)
    return best


def _crowded(confidence: Ball, distance: Ball, people: int | None, step: int) -> bool:
    """Whether the chances of all histograms `step` changes apart surely add up to more than one."""
    fade, ends = (-distance * step).exp(), None if people is None else (people // step // 2, -(-(people // step) // 2))
    shares = 2 if ends is None else sum((1 - fade**end for end in ends), ball(0))
    return bool(confidence * (1 + shares * fade / (1 - fade)) > 1)


def two_point_bound(query: Linear, metric: Any, utility: Utility, table: PairTable) -> Fraction | None:
    """A proven lower bound of the worst-case value of every mechanism; None for very large universes.

    Rule: let m people change from i to j and D be the distance of the two true answers. An answer is
    at least D/2 away from one of them. Being nearer to the wrong one has probability p under one
    histogram and 1 - q under the other with q <= e^(m d(i, j)) p, so one of the two is at least
    1 / (1 + e^(m d(i, j))), and the mean error there at least that share of (D/2)^power. [theory#metric-privacy]
    Valid for: histograms of at least m people; m is at most `people` where that is given.
    """
    if query.size > LARGEST_UNIVERSE:
        return None
    power = int(utility.power or 1)
    weights = utility.shares(query.dimension)
    sizes = _sizes(table, [float(weights[k]) for k in table.moving], utility)
    distances = np.zeros_like(sizes)
    for i in range(query.size):
        distances[i, i:] = table.view.rows(i, i + 1)[0]
    most = float(query.people or 10**9)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
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

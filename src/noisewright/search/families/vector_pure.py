"""Several numbers under pure differential privacy: every mechanism that is worth trying."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache, partial
from typing import Any

import numpy as np

from noisewright.laws.laplace import Laplace
from noisewright.mechanisms.per_coordinate import PerCoordinate
from noisewright.numerics.arrays import Floats
from noisewright.problem.queries import Vector
from noisewright.problem.sensitivity import Box, Groups, L1Ball, L2Ball, LpBall, Points
from noisewright.problem.utilities import Utility
from noisewright.proof.vectors import largest_sum, per_coordinate_bound
from noisewright.search.families.vector_parts import (
    Shares,
    active,
    ball_laplace,
    blocks_from,
    cube_block,
    fitted,
    round_blocks,
    shared_noise,
    sizes,
    tailored_parts,
)
from noisewright.search.programmes.linear import best_rates
from noisewright.search.tools.shares import (
    best_partition,
    curve_shares,
    exact_shares,
    grid_shares,
    measured_partition,
    power_shares,
)

Mechanisms = dict[str, Any]

_EXPONENTS = (1.0, 2.0, 4.0, 8.0)
_POINTS = 1500
_COARSE = 256
_COARSE_MANY = 32
_MANY = 20_000


def pure_mechanisms(query: Vector, epsilon: Fraction, utility: Utility) -> Mechanisms:
    """Candidates by name for the set of the question."""
    return _FOR_SETS.get(type(query.sensitivity), _for_counted)(query, epsilon, utility)


def _for_l1_ball(query: Vector, epsilon: Fraction, utility: Utility) -> Mechanisms:
    return {"identical Laplace": ball_laplace(query, epsilon)}


def _for_l2_ball(query: Vector, epsilon: Fraction, utility: Utility) -> Mechanisms:
    found = _for_l1_ball(query, epsilon, utility)
    if utility.power in (1, 2) and query.integer is False:
        found["round noise"] = round_blocks(query, epsilon)
    elif query.dimension > 1 and not query.mixed and _measured_by_blocks(utility):
        found["norm-shaped blocks"] = cube_block(query, epsilon)
    return {name: mechanism for name, mechanism in found.items() if mechanism is not None}


def _for_lp_ball(query: Vector, epsilon: Fraction, utility: Utility) -> Mechanisms:
    found = _for_l1_ball(query, epsilon, utility)
    shaped = round_blocks(query, epsilon) if utility.power in (1, 2) and query.integer is False else None
    return found if shaped is None else {**found, "norm-shaped noise": shaped}


def _for_points(query: Vector, epsilon: Fraction, utility: Utility) -> Mechanisms:
    listed: Any = query.sensitivity
    places, given, far = active(query), listed.rows, query.extents
    extents, weights = sizes(query, utility)
    pairs = np.array([[float(abs(row[i]) / far[i]) for i in places] for row in given])
    power = float(utility.power or 2)
    shares = best_rates(pairs, weights * extents**power, power).point
    widest = max(sum(map(abs, row), Fraction(0)) for row in given)
    same = {i: far[i] * epsilon / widest for i in places}
    split = {i: Fraction(float(s)).limit_denominator(2**40) * epsilon for i, s in zip(places, shares, strict=True)}

    def fit(shares: Shares, own: Utility | None) -> PerCoordinate:
        # The shares are those of whole extents; the exact worst row, rounding included, decides their size.
        build = partial(shared_noise, query, Laplace, utility=own)
        return fitted(build, shares, lambda m: per_coordinate_bound(m)[0] / epsilon)

    return {"identical Laplace": fit(same, None), "non-identical Laplace": fit(split, utility)}


def _for_groups(query: Vector, epsilon: Fraction, utility: Utility) -> Mechanisms:
    """In each group the noise for its own set at an equal share of the budget."""
    return by_groups(query, utility, lambda part, own, most: pure_mechanisms(part, epsilon / most, own))


def by_groups(query: Vector, utility: Utility, made: Callable[[Vector, Utility, int], Mechanisms]) -> Mechanisms:
    """Candidates whose parts are those of `made` for each group; of every name that all groups have."""
    groups: Any = query.sensitivity

    @cache
    def inside(chosen: Any, whole: bool | tuple[bool, ...], own: Utility) -> Mechanisms:
        found = made(Vector(chosen, exact=query.exact, integer=whole), own, groups.at_most)
        return {name: mechanism for name, mechanism in found.items() if isinstance(mechanism, PerCoordinate)}

    members = []
    for start, chosen in groups.placed():
        end = start + len(chosen.extents)
        members.append(inside(chosen, query.whole[start:end], utility.among(start, end)))
    names = [name for name in members[0] if all(name in found for found in members)]
    return {
        name: PerCoordinate(query, tuple(part for found in members for part in found[name].parts)) for name in names
    }


def _for_counted(query: Vector, epsilon: Fraction, utility: Utility) -> Mechanisms:
    chosen: Any = query.sensitivity
    places, rate = active(query), float(epsilon)
    together = min(chosen.together, len(places))
    extents, weights = sizes(query, utility)

    def exact(shares: Floats) -> Shares:
        return dict(zip(places, exact_shares(shares, epsilon, together), strict=True))

    if utility.edges:
        reach = np.array([float(utility.alone(i).edges[0] / query.extents[i]) for i in places])
        gains = (usefulness_gains(reach, weights, rate, tailored=tailored) for tailored in (False, True))
        plain, own = (exact(grid_shares(values, grid, rate, together) / rate) for grid, values in gains)
    elif not utility.joint:
        power = float(utility.power or 2)
        costs = weights * extents**power
        plain = own = exact(power_shares(costs, power, together))
        if power in (1, 2):
            own = exact(curve_shares(costs, *power_curve(int(power), rate, len(places)), together) / rate)
    else:
        # The largest error has no closed form: the best of a few exponents.
        tried = [exact(power_shares(extents**q, q, together)) for q in _EXPONENTS]
        plain = own = min(tried, key=lambda split: mid(shared_noise(query, Laplace, split, utility), utility))
    widest = largest_sum(chosen.each, chosen.together)
    found: Mechanisms = {
        "identical Laplace": shared_noise(query, Laplace, {i: query.extents[i] * epsilon / widest for i in places}),
        "non-identical Laplace": shared_noise(query, Laplace, plain, utility),
        "tailored for each": tailored_parts(query, own, utility),
    }
    return found


def _for_box(query: Vector, epsilon: Fraction, utility: Utility) -> Mechanisms:
    found = _for_counted(query, epsilon, utility)
    if len(active(query)) > 1 and not query.mixed and _measured_by_blocks(utility):
        found["norm-shaped blocks"] = _blocks(query, epsilon, utility)
    return {name: mechanism for name, mechanism in found.items() if mechanism is not None}


def _measured_by_blocks(utility: Utility) -> bool:
    """Whether norm-shaped noise knows what the utility asks."""
    return utility.power in (1, 2) or bool(utility.edges) or utility.joint


def _blocks(query: Vector, epsilon: Fraction, utility: Utility) -> Any:
    """The best partition for totals; else the best of the two partitions for totals and one single block.

    None where it cannot be drawn.
    """
    extents, weights = sizes(query, utility)
    if utility.power is not None:
        partitions = [best_partition(extents, weights, int(utility.power))]
    else:
        single = measured_partition(extents, weights, 1, (tuple(range(len(extents))),))
        partitions = [*(best_partition(extents, weights, power) for power in (1, 2)), single]
    found = []
    for partition in partitions:
        budgets = exact_shares(np.array(partition.shares), epsilon, len(partition.shares))
        found.append(blocks_from(query, partition, budgets))
    built = [mechanism for mechanism in found if mechanism is not None]
    if len(built) <= 1:
        return built[0] if built else None
    best = max if utility.larger_is_better else min
    return best(built, key=lambda mechanism: mid(mechanism, utility))


_FOR_SETS: dict[type, Callable[[Vector, Fraction, Utility], Mechanisms]] = {
    Box: _for_box,
    L1Ball: _for_l1_ball,
    L2Ball: _for_l2_ball,
    LpBall: _for_lp_ball,
    Points: _for_points,
    Groups: _for_groups,
}


def mid(mechanism: Any, utility: Utility) -> float:
    """The value of a mechanism as a float, for comparisons."""
    return float(mechanism.expected(utility).mid())


def power_curve(power: int, epsilon: float, count: int) -> tuple[Floats, Floats]:
    """Grid of epsilons up to the whole budget, and the least mean |error|^power at each; sensitivity 1.

    Rule: the closed forms of the optimal staircase for squared and absolute error.
    [GengViswanath16, theory#the-optimum]
    """
    grid = np.geomspace(epsilon * 1e-9 / count, epsilon, _POINTS)
    b = np.exp(-grid)
    rest = -np.expm1(-grid)
    if power == 1:
        return grid, np.exp(-grid / 2) / rest
    return grid, (2 ** (-2 / 3) * b ** (2 / 3) * (1 + b) ** (2 / 3) + b) / rest**2


def usefulness_gains(reach: Floats, weights: Floats, epsilon: float, *, tailored: bool) -> tuple[Floats, Floats]:
    """Grid of epsilons, and for each number (a row) the weighted chance of an error within `reach` sensitivities.

    Rule: for the best noise 1 - b^(k+1) / (b + s(1-b)) with k + s the reach, for Laplace 1 - b^reach.
    [GengViswanath16, theory#the-optimum]
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

"""Splitting a budget over several numbers, and from the shares to mechanisms.

Shares have closed forms for power laws, and Lagrange multipliers for curves. The constraint is that the `together`
largest shares add up to at most the budget: all of them for a box, one for a disjoint set. Where fewer move together
than there are numbers, no share need be below a common level, so the best shares are max(level, multiplier rule), and
the level is searched.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from noisewright.laws.gaussian import DiscreteGaussian, Gaussian
from noisewright.laws.laplace import DiscreteLaplace, Laplace
from noisewright.laws.lattice import Lattice
from noisewright.mechanisms.additive import Additive
from noisewright.mechanisms.norm_shaped import LARGEST_ROUND_BLOCK, NormBlock, NormShaped, least_rate
from noisewright.mechanisms.per_coordinate import PerCoordinate
from noisewright.numerics.bisection import first_true, geometric, turn
from noisewright.numerics.fields import Floats
from noisewright.problem.errors import InvalidQueryError
from noisewright.problem.queries import Scalar, Vector
from noisewright.problem.utilities import AbsoluteError, PowerError, Utility
from noisewright.proof.vectors import dual_length, length_above, root_above, widening
from noisewright.search.families.scalar_pure import best_split, tuned_staircase, with_split
from noisewright.search.golden_section import STEPS_PER_SCALE, golden, on_cells, round_number

_LEVELS = 18
_GRID_LEVELS = 9
_UNIT = 2**44


def power_shares(costs: Floats, exponent: float, together: int) -> Floats:
    """Shares t of a budget of 1 that minimise sum of cost / t^exponent."""
    roots = costs ** (1 / (exponent + 1))

    def rule(multiplier: float) -> Floats:
        return np.asarray(multiplier * roots)

    def loss(shares: Floats) -> float:
        return float(np.sum(costs / shares**exponent))

    return best_level(rule, loss, len(costs), together)


def curve_shares(costs: Floats, grid: Floats, values: Floats, together: int) -> Floats:
    """Shares of the budget grid[-1] that minimise sum of cost * value(t), value convex and falling.

    `values` are those of the curve on the increasing grid; between grid points its logarithm is
    taken as linear in that of t.
    """
    budget = float(grid[-1])
    grid = grid / budget
    slopes = -np.diff(values) / np.diff(grid)
    # Rounding may wrinkle a flat curve; the rule needs slopes that fall.
    log_slopes = np.log(np.minimum.accumulate(np.maximum(slopes, 1e-300)))
    log_middles, log_costs = np.log(grid[1:] * grid[:-1]) / 2, np.log(costs)
    log_grid, log_values = np.log(grid), np.log(values)

    def rule(multiplier: float) -> Floats:
        wanted = -np.log(multiplier) - log_costs
        return np.asarray(np.exp(np.interp(wanted, log_slopes[::-1], log_middles[::-1])))

    def loss(shares: Floats) -> float:
        return float(np.sum(costs * np.exp(np.interp(np.log(shares), log_grid, log_values))))

    return best_level(rule, loss, len(costs), together) * budget


def best_level(rule: Callable[[float], Floats], loss: Callable[[Floats], float], count: int, together: int) -> Floats:
    """Shares max(level, rule(multiplier)) of a budget of 1 with the smallest loss."""
    if together == 1:
        return np.ones(count)
    if together == count:
        return _filled(rule, 0.0, together)

    def filled(level: float) -> Floats:
        return _filled(rule, level, together)

    level = golden(lambda level: loss(filled(level)), 0.0, 1 / together, _LEVELS)
    return min(filled(level), np.full(count, 1 / together), key=loss)


def _filled(rule: Callable[[float], Floats], level: float, together: int) -> Floats:
    """The largest multiplier whose shares still fit, by bisection on its logarithm."""

    def shares(log_multiplier: float) -> Floats:
        return np.maximum(level, rule(float(np.exp(log_multiplier))))

    with np.errstate(over="ignore"):
        return shares(first_true(lambda m: _spent(shares(m), level, together) <= 1, 700.0, -700.0, within=1e-10))


def _spent(shares: Floats, level: float, together: int) -> float:
    """The largest shares are those above the level; the rest of the places are filled at it."""
    return float(together * level + np.sum(shares - level))


def grid_shares(gains: Floats, grid: Floats, budget: float, together: int) -> Floats:
    """Shares from a grid (its first entry 0) that maximise the sum of gains; row i belongs to number i.

    For curves that are not concave: a Lagrange multiplier picks the best grid point of each number at or above the
    common level, and what is left goes to all in proportion.
    """
    count = len(gains)
    if together == 1:
        return np.full(count, budget)
    levels = np.zeros(1) if together == count else np.linspace(0, budget / together, _GRID_LEVELS)
    tried = (_priced(gains, grid, budget, together, float(level)) for level in levels)
    return max(tried, key=lambda shares: float(np.sum(_gained(gains, grid, shares))))


def _gained(gains: Floats, grid: Floats, shares: Floats) -> Floats:
    """What each number gains at the last grid point within its share."""
    return np.asarray(gains[np.arange(len(gains)), np.searchsorted(grid, shares * (1 + 1e-12), side="right") - 1])


def _priced(gains: Floats, grid: Floats, budget: float, together: int, level: float) -> Floats:
    start = int(np.searchsorted(grid, level, side="right")) - 1
    charge = np.maximum(grid[start:] - level, 0.0)

    def chosen(price: float) -> Floats:
        return np.asarray(np.maximum(grid[start + np.argmax(gains[:, start:] - price * charge, axis=1)], level))

    def affordable(price: float) -> bool:
        return _spent(chosen(price), level, together) <= budget

    dear, cheap = map(chosen, turn(affordable, 1e-12, 1e12, relative=1e-10, middle=geometric))
    # Numbers that jump at the same price are served one after the other while the rest of the budget lasts.
    extra, rest = dear - cheap, budget - _spent(cheap, level, together)
    worth = (_gained(gains, grid, dear) - _gained(gains, grid, cheap)) / np.maximum(extra, 1e-300)
    order = np.argsort(-worth, kind="stable")
    order = order[extra[order] > 0]
    served = order[np.cumsum(extra[order]) <= rest * (1 + 1e-12)]
    cheap[served] = dear[served]
    shares = np.maximum(cheap, budget * 1e-6 / together)
    largest = np.partition(shares, len(shares) - together)[-together:]
    return np.asarray(shares * (budget / float(np.sum(largest))))


def exact_shares(shares: Floats, budget: Fraction, together: int, power: int = 1) -> list[Fraction]:
    """Rationals at or just below shares * budget, the `together` largest of which fit exactly.

    They have one common denominator, so that sums of thousands stay short. With power 2 it is the squares
    that add up to at most the square of the budget.
    """
    units = [max(1, round(float(s) * _UNIT)) for s in shares]
    while sum(n**power for n in sorted(units, reverse=True)[:together]) > _UNIT**power:
        # Ten times the accumulated rounding; a share of the whole budget stays whole.
        units = [max(1, n - 1 - int(n * 1e-13 * together)) for n in units]
    return [budget * n / _UNIT for n in units]


@dataclass(frozen=True, slots=True)
class Partition:
    """Blocks of places, the share of the budget that each gets, and the error at epsilon = 1."""

    blocks: tuple[tuple[int, ...], ...]
    shares: tuple[float, ...]
    error: float


def best_partition(sensitivities: Floats, weights: Floats, power: int) -> Partition:
    """The best runs of the numbers sorted by w λ^power; power is 2 (squared) or 1 (absolute error).

    A block g of k numbers with budget e_g has total error c_g / e_g^q: for squared error q = 2 and
    c_g = (k+1)(k+2)/3 * sum of w λ², for absolute error q = 1 and c_g = (k+1)/2 * sum of w λ. The best budgets are
    proportional to c_g^(1/(q+1)), and then the whole error is (sum of c_g^(1/(q+1)))^(q+1) / epsilon^q.
    Valid for: positive sensitivities and weights. Time quadratic, memory linear in how many there are.
    """
    amounts = weights * sensitivities**power
    order = np.argsort(-amounts, kind="stable")
    starts = _runs(amounts[order] / amounts[order[0]], power)
    blocks = tuple(tuple(int(i) for i in order[a:b]) for a, b in zip(starts, [*starts[1:], len(order)], strict=True))
    return measured_partition(sensitivities, weights, power, blocks)


def measured_partition(
    sensitivities: Floats, weights: Floats, power: int, blocks: tuple[tuple[int, ...], ...]
) -> Partition:
    """A given partition with its best shares and its error at epsilon = 1."""
    amounts = weights * sensitivities**power
    roots = np.array([_factor(len(b), power) * amounts[list(b)].sum() for b in blocks]) ** (1 / (power + 1))
    return Partition(blocks, tuple(float(r) for r in roots / roots.sum()), float(roots.sum() ** (power + 1)))


def _factor(size: Any, power: int) -> Any:
    return (size + 1) * (size + 2) / 3 if power == 2 else (size + 1) / 2


def _runs(amounts: Floats, power: int) -> list[int]:
    """Where the best runs start: shortest path over the ends of runs."""
    count = len(amounts)
    sums = np.concatenate([[0.0], np.cumsum(amounts)])
    sizes = np.arange(count, 0, -1)
    root = np.cbrt if power == 2 else np.sqrt
    # lengths[count - j + i] belongs to the run from i to j, so that row j is one slice of it.
    lengths = root(_factor(sizes, power))
    best = np.zeros(count + 1)
    back = np.zeros(count + 1, dtype=np.int64)
    for j in range(1, count + 1):
        costs = root(sums[j] - sums[:j])
        costs *= lengths[count - j :]
        costs += best[:j]
        back[j] = int(costs.argmin())
        best[j] = costs[back[j]]
    starts = []
    j = count
    while j:
        j = int(back[j])
        starts.append(j)
    return starts[::-1]


# From shares to mechanisms.


Shares = dict[int, Fraction]

_COARSE_STEPS = 160
_MANY = 200
_MOST_SHELLS = 200_000
_ROUND_RATE = Fraction(1, 4000)
_HAIR = 1 + Fraction(1, 2**60)


def active(query: Vector) -> list[int]:
    """Places of the numbers that one person can change at all."""
    return [i for i, extent in enumerate(query.extents) if extent]


def assembled(query: Vector, parts: dict[int, Additive]) -> PerCoordinate:
    """Parts at their places, nothing elsewhere; for exact answers where the question declares them."""
    if query.exact and query.integer is not True:
        real = {part for i, part in parts.items() if not query.whole[i]}
        exact = {part: replace(part, query=Scalar(part.query.sensitivity, exact=True)) for part in real}
        parts = {i: part if query.whole[i] else exact[part] for i, part in parts.items()}
    return PerCoordinate(query, tuple(parts.get(i) for i in range(query.dimension)))


def scalars(query: Vector) -> list[Scalar | None]:
    """The question for each of the numbers by itself; none where it cannot move."""
    known: dict[tuple[Fraction, bool], Scalar | None] = {}
    for extent, whole in set(zip(query.extents, query.whole, strict=True)):
        one = Scalar(math.floor(extent), integer=True) if whole and extent else Scalar(extent) if extent else None
        known[extent, whole] = one
    return [known[pair] for pair in zip(query.extents, query.whole, strict=True)]


def scalar(query: Vector, place: int) -> Scalar:
    """The question for one of the numbers by itself."""
    found = scalars(query)[place]
    if found is None:
        raise InvalidQueryError(f"nobody can move number {place + 1}.", place=place)
    return found


def alone(
    one: Scalar, law: Any, scale: Fraction, utility: Utility | None = None, steps: int = _COARSE_STEPS
) -> Additive:
    """Noise of a law for one number: on the integers its discrete relative, else on a lattice of cells."""
    if not one.integer:
        return on_cells(one, law, scale, utility, steps)
    return Additive(one, DISCRETE[type(law)](scale), Lattice.integers())


DISCRETE: dict[type, Callable[[Fraction], Any]] = {Laplace: DiscreteLaplace, Gaussian: DiscreteGaussian}
"""The laws on the integers that have the same privacy at the same scale as laws on the line."""


def sizes(query: Vector, utility: Utility) -> tuple[Floats, Floats]:
    """Extents and weights of the numbers that move, scaled to a largest one of 1, as floats."""
    extents, weights = query.extents, utility.shares(query.dimension)
    top, heaviest, places = max(extents), max(weights), active(query)
    return np.array([float(extents[i] / top) for i in places]), np.array([float(weights[i] / heaviest) for i in places])


def shared_noise(
    query: Vector,
    law: Callable[[Fraction], Any],
    shares: Shares,
    utility: Utility | None = None,
    steps: int = _COARSE_STEPS,
) -> PerCoordinate:
    """The law of scale extent / share for each number, on lattices of so many steps to a scale."""

    @cache
    def part(one: Scalar, scale: Fraction, own: Utility | None) -> Additive:
        return alone(one, law(scale), scale, own, steps)

    parts, each, extents = {}, scalars(query), query.extents
    for i, share in shares.items():
        one = each[i]
        if one is not None:
            parts[i] = part(one, extents[i] / share, utility.alone(i) if utility else None)
    return assembled(query, parts)


def fitted(
    build: Callable[[Shares], PerCoordinate], shares: Shares, used: Callable[[Any], Fraction], power: int = 1
) -> PerCoordinate:
    """The mechanism of these shares, made smaller while `used` says that it takes more than the whole budget.

    What is used grows with this power of the shares.
    """
    while (part := used(mechanism := build(shares))) > 1:
        factor = Fraction(int(float(part) ** (-1 / power) * (1 - 1e-9) * 2**40), 2**40)
        shares = {i: share * factor for i, share in shares.items()}
    return mechanism


def ball_laplace(query: Vector, epsilon: Fraction) -> PerCoordinate:
    """One Laplace scale for a ball, with what rounding adds to it."""
    chosen: Any = query.sensitivity
    count, radius = chosen.dimension, chosen.radius
    length = dual_length([Fraction(1)] * count, chosen.order) * (1 if chosen.order == 1 else _HAIR)
    if query.integer is True and chosen.order == 2:
        length = min(length, Fraction(math.floor(radius**2)) / radius)
    step = radius / round_number(STEPS_PER_SCALE * max(count / length, epsilon))
    growth = _rounded(query) * step if count > 1 else Fraction(0)
    return _everywhere(query, Laplace, (radius * length + growth) / epsilon, step)


def ball_gaussian(query: Vector, length: Fraction) -> PerCoordinate:
    """One deviation for a ball so that its diameter, rounding included, is `length` deviations."""
    chosen: Any = query.sensitivity
    count, radius = chosen.dimension, chosen.radius * widening(chosen.dimension, Fraction(2), chosen.order)
    step = chosen.radius / round_number(STEPS_PER_SCALE * max(count**0.5, float(length)))
    growth = root_above(Fraction(_rounded(query))) * step * _HAIR if count > 1 else Fraction(0)
    return _everywhere(query, Gaussian, (radius + growth) * _HAIR / length, step)


def _rounded(query: Vector) -> int:
    """How many numbers are rounded to a lattice: whole ones are not."""
    return query.dimension - sum(query.whole)


def _everywhere(query: Vector, make: Callable[[Fraction], Any], scale: Fraction, step: Fraction) -> PerCoordinate:
    extent, law = query.extents[0], make(scale)
    made = {}
    if not all(query.whole):
        made[False] = Additive(Scalar(extent), law, Lattice.cells(step))
    if any(query.whole):
        made[True] = alone(Scalar(math.floor(extent), integer=True), law, scale)
    return assembled(query, {i: made[whole] for i, whole in enumerate(query.whole)})


def tailored_parts(query: Vector, shares: Shares, utility: Utility) -> PerCoordinate:
    """The staircase that is best for each number at its share."""
    splits = _split_table(shares, utility) if len(shares) > _MANY else None

    @cache
    def part(one: Scalar, share: Fraction, own: Utility) -> Additive:
        if splits is None or one.integer:
            return tuned_staircase(one, share, own)
        return with_split(one, share, float(np.interp(math.log(share), *splits)))

    parts, each = {}, scalars(query)
    for i, share in shares.items():
        one = each[i]
        if one is not None:
            parts[i] = part(one, share, AbsoluteError() if utility.joint else utility.alone(i))
    return assembled(query, parts)


def _split_table(shares: Shares, utility: Utility) -> tuple[Floats, Floats] | None:
    """Best splits at a few shares, to be interpolated; a split that is a little off costs next to nothing."""
    if utility.edges:
        return None
    logs = np.linspace(math.log(min(shares.values())), math.log(max(shares.values())) + 1e-9, 60)
    power = PowerError(utility.power or 1)
    return logs, np.array([best_split(power, Fraction(math.exp(v))) for v in logs])


def blocks_from(query: Vector, partition: Partition, budgets: list[Fraction]) -> NormShaped | None:
    """Norm-shaped blocks on lattices of about a thousandth of their noise; for all whole numbers or all real ones.

    None where the noise is wider, in whole steps, than can be drawn.
    """
    blocks, places = [], active(query)
    for members, budget in zip(partition.blocks, budgets, strict=True):
        chosen = tuple(places[i] for i in members)
        steps = round_number(STEPS_PER_SCALE * budget / len(members))
        if query.integer:
            # Whole steps, as many to each extent as all of them allow.
            steps = math.gcd(*(int(query.extents[i]) for i in chosen))
        if budget / steps < least_rate(len(chosen)):
            return None
        blocks.append(NormBlock(chosen, tuple(query.extents[i] / steps for i in chosen), budget / steps))
    return NormShaped(query, tuple(blocks))


def round_blocks(query: Vector, epsilon: Fraction) -> NormShaped | None:
    """Noise shaped by the norm of the question's ball: one block where it can be drawn, else several of equal size.

    None where its lattice costs much: more than a tenth of epsilon.
    """
    chosen: Any = query.sensitivity
    order = Fraction(chosen.order)
    count = math.ceil(query.dimension / LARGEST_ROUND_BLOCK)
    groups = [tuple(map(int, g)) for g in np.array_split(np.arange(query.dimension), count)]
    growth = sum((_ROUND_RATE * length_above([Fraction(1)] * len(g), order) for g in groups), Fraction(0))
    if growth > epsilon / 10:
        return None
    length = dual_length([Fraction(1)] * count, order) * _HAIR
    step = _ROUND_RATE * query.extents[0] * length / (epsilon - growth)
    return NormShaped(query, tuple(NormBlock(g, (step,) * len(g), _ROUND_RATE, f"l{order}") for g in groups))


def cube_block(query: Vector, epsilon: Fraction) -> NormShaped | None:
    """One block shaped by the largest coordinate, for an l2 ball; rounding may cross one more edge everywhere.

    None where it has too many shells to be summed up, or is wider in whole steps than can be drawn.
    """
    count, radius = query.dimension, query.extents[0]
    if query.integer:
        if epsilon / radius < least_rate(count):
            return None
        return NormShaped(query, (NormBlock(range(count), (1,) * count, epsilon / radius),))
    steps = round_number(max(Fraction(100), STEPS_PER_SCALE * epsilon / count))
    if count * (steps + 1) / epsilon > _MOST_SHELLS:
        return None
    block = NormBlock(tuple(range(count)), (radius / steps,) * count, epsilon / (steps + 1))
    return NormShaped(query, (block,))

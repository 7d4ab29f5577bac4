"""Pure bounds for several numbers: the largest log-ratio over every difference in the set, after rounding.

A difference d becomes whole steps k with |k| <= ceil(|d| / step), and k = d / step where that is whole; a
number that does not move stays. Sets that say how many numbers move, each by how much, and listed
points therefore round up to whole steps. In a ball every number may cross one more edge: an l1 ball
grows by the sum of the steps, an l2 ball by the root of the sum of their squares, any l_p ball by their l_p norm.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any

from noisewright.laws.laplace import DiscreteLaplace, Laplace
from noisewright.mechanisms.additive import Additive
from noisewright.mechanisms.norm_shaped import NormBlock, NormShaped
from noisewright.mechanisms.per_coordinate import PerCoordinate
from noisewright.numerics.special import power_from_above
from noisewright.problem.errors import UncertifiedError
from noisewright.problem.numbers import show
from noisewright.problem.privacy import PureDP
from noisewright.problem.queries import Vector
from noisewright.problem.sensitivity import Box, Counted, Groups, L1Ball, L2Ball, NormBall, Points, SensitivitySet
from noisewright.proof.composed import Move, undominated, worst_choices, worst_of_groups
from noisewright.proof.provers import PROVERS
from noisewright.proof.pure import pure_bound

_ROOT_BITS = 96


def counted(query: Vector) -> Counted | None:
    """The question's set as one that says how many numbers move."""
    return as_counted(query.sensitivity)


def as_counted(chosen: SensitivitySet) -> Counted | None:
    """The set as one that says how many numbers move; a ball in one dimension is an interval."""
    if isinstance(chosen, Counted):
        return chosen
    if isinstance(chosen, NormBall) and chosen.dimension == 1:
        return Box([chosen.radius])
    return None


def whole_steps(distance: Fraction, step: Fraction) -> int:
    """The most steps between two rounded numbers this far apart."""
    return math.ceil(abs(distance) / step)


def largest_sum(values: Iterable[Fraction], count: int) -> Fraction:
    """Sum of the `count` largest of non-negative values."""
    return sum(sorted(values, reverse=True)[:count], Fraction(0))


def root_above(value: Fraction) -> Fraction:
    """A rational at or above the square root; the root itself where it is rational."""
    p, q = value.numerator, value.denominator
    top, bottom = math.isqrt(p), math.isqrt(q)
    if top * top == p and bottom * bottom == q:
        return Fraction(top, bottom)
    # Scale so that the whole root has enough digits, then go one up.
    shift = max(0, _ROOT_BITS - (p.bit_length() - q.bit_length()) // 2)
    return Fraction(math.isqrt((p << 2 * shift) // q) + 1, 1 << shift)


def refuse_uncovered(query: Vector, noisy: Sequence[bool]) -> None:
    """A number that one person can change must get noise."""
    for place, (extent, covered) in enumerate(zip(query.extents, noisy, strict=True)):
        if extent and not covered:
            raise UncertifiedError(
                f"refused: one person can move number {place + 1} by {show(extent)}, and it gets no noise.", place=place
            )


Cost = Callable[[int, Fraction], Fraction]
"""What it costs that the number at a place moves by so much; costs of different numbers add up."""


def worst_cost(chosen: SensitivitySet, cost: Cost, in_ball: Callable[[Any, int], Fraction], start: int = 0) -> Fraction:
    """The largest sum of costs over every difference in the set, whose numbers begin at place `start`.

    Rule: costs are those of the farthest move of a number. Sets that count moving numbers reach the largest of them;
    of groups the most expensive ones move. Balls have rules of their own. [theory#what-one-person-can-change]
    """
    if isinstance(chosen, Groups):
        return largest_sum(
            (worst_cost(part, cost, in_ball, start + at) for at, part in chosen.placed()), chosen.at_most
        )
    if isinstance(chosen, Points):
        return max(sum((cost(start + i, abs(d)) for i, d in enumerate(row) if d), Fraction(0)) for row in chosen.rows)
    if (plain := as_counted(chosen)) is not None:
        moves = enumerate(plain.each, start)
        return largest_sum((cost(i, extent) for i, extent in moves if extent), plain.together)
    return in_ball(chosen, start)


def most_moving(chosen: SensitivitySet, whole: tuple[bool, ...], start: int = 0) -> int:
    """The largest count of numbers that one difference moves; whole numbers in a ball move by one at least."""
    if isinstance(chosen, Groups):
        counts = sorted((most_moving(part, whole, start + at) for at, part in chosen.placed()), reverse=True)
        return sum(counts[: chosen.at_most])
    if isinstance(chosen, Points):
        return max(sum(map(bool, row)) for row in chosen.rows)
    if (plain := as_counted(chosen)) is not None:
        return min(plain.together, sum(map(bool, plain.each)))
    count = len(chosen.extents)
    if isinstance(chosen, NormBall) and all(whole[start : start + count]):
        return max(1, min(count, int(power_from_above(chosen.radius, Fraction(chosen.order)))))
    return count


def moved(part: Additive, distance: Fraction) -> Fraction:
    """How far apart two answers of a part can be on its lattice; whole answers are there already."""
    if part.query.integer:
        return Fraction(math.floor(distance))
    return whole_steps(distance, part.lattice.step) * part.lattice.step


def per_coordinate_bound(mechanism: PerCoordinate) -> tuple[Fraction, str]:
    """Largest sum of log-ratios over the set, rounding included: those of independent noises add up.

    Rule: rounded answers differ by whole steps (see above); rounding the noise is
    post-processing; for Laplace noise the log-ratio is |d_i| / scale_i, whose largest sum over an l1 ball is
    at a corner and over an l2 ball is the radius times the length of (1/scale_i); over any l_p ball times the dual norm
    of those (Hölder). For a ball and other laws the enclosing box is used. [theory#noise-shaped-by-a-norm]
    """
    query, rules = mechanism.query, []
    cost = part_costs(mechanism, lambda part, distance: pure_bound(part.law, moved(part, distance))[0])

    def in_ball(chosen: NormBall, start: int) -> Fraction:
        places = range(start, start + chosen.dimension)
        bound, rule = _pure_in_ball([mechanism.parts[i] for i in places], chosen)
        rules.append(rule)
        return sum((cost(i, chosen.radius) for i in places), Fraction(0)) if bound is None else bound

    bound = worst_cost(query.sensitivity, cost, in_ball)
    plain = counted(query)
    kind = query.sensitivity.kind if plain is None else plain.kind
    return bound, rules[0] if rules and kind != "groups" else f"pure/independent-{kind}"


def part_costs(mechanism: PerCoordinate, of: Callable[[Additive, Fraction], Fraction]) -> Cost:
    """The cost of a number's move by its part; numbers that can move and have none are refused."""
    refuse_uncovered(mechanism.query, [part is not None for part in mechanism.parts])
    known: dict[tuple[int, Fraction], Fraction] = {}

    def cost(place: int, distance: Fraction) -> Fraction:
        part = mechanism.parts[place]
        if part is None:
            return Fraction(0)
        key = (id(part), distance)
        if key not in known:
            known[key] = of(part, distance)
        return known[key]

    return cost


def _pure_in_ball(parts: Sequence[Additive | None], chosen: NormBall) -> tuple[Fraction | None, str]:
    """The bound for Laplace noise in a ball; none for other laws.

    Whole numbers are not rounded, and their absolute changes add up to at most the sum of their squares.
    """
    if not all(part is not None and isinstance(part.law, Laplace | DiscreteLaplace) for part in parts):
        return None, "pure/independent-enclosing-box"
    known = [part for part in parts if part is not None]
    slopes = [1 / part.law.scale for part in known if isinstance(part.law, Laplace | DiscreteLaplace)]
    growth = sum((s * p.lattice.step for s, p in zip(slopes, known, strict=True) if not p.query.integer), Fraction(0))
    if isinstance(chosen, L1Ball):
        return chosen.radius * max(slopes) + growth, "pure/laplace-l1-ball"
    if not isinstance(chosen, L2Ball):
        return chosen.radius * dual_length(slopes, chosen.order) + growth, "pure/laplace-lp-ball"
    bound = chosen.radius * root_above(sum((s * s for s in slopes), Fraction(0))) + growth
    if all(part.query.integer for part in known):
        bound = min(bound, math.floor(chosen.radius**2) * max(slopes))
    return bound, "pure/laplace-l2-ball"


def norm_shaped_bound(mechanism: NormShaped) -> tuple[Fraction, str]:
    """Largest sum over blocks of rate * norm(steps moved).

    Rule: the triangle inequality. In a ball d, with c_i = rate / step_i, the part of d inside a block costs at most
    max c_i times its length in the block's norm, and crossing one more edge everywhere costs rate * norm(1, …, 1).
    Whole numbers in steps of 1 are not rounded. The block's norm of k numbers is at most `widening` times that of the
    ball; over all blocks the lengths in the ball's norm cost at most the radius times the dual norm of their slopes.
    [theory#noise-shaped-by-a-norm]
    """
    query = mechanism.query
    covered = {place for block in mechanism.blocks for place in block.places}
    refuse_uncovered(query, [i in covered for i in range(query.dimension)])
    if isinstance(query.sensitivity, Groups):
        raise UncertifiedError("there is no rule for norm-shaped noise over groups; use noise for each number.")
    if (plain := counted(query)) is not None:
        values = [_block_value(block, plain.each, plain.together) for block in mechanism.blocks]
        return largest_sum(values, plain.together), f"pure/norm-{plain.kind}"
    chosen = query.sensitivity
    if isinstance(chosen, Points):
        sums = (
            sum((_block_value(block, row, block.size) for block in mechanism.blocks), Fraction(0))
            for row in chosen.rows
        )
        return max(sums), "pure/norm-points"
    order = chosen.order or 1
    slopes = [block.rate / min(block.steps) * widening(block.size, block.order, order) for block in mechanism.blocks]
    rounded = [block for block in mechanism.blocks if not mechanism.whole(block) or set(block.steps) != {1}]
    growth = sum((block.rate * _length([1] * block.size, block.norm) for block in rounded), Fraction(0))
    radius = query.extents[0]
    if isinstance(chosen, L2Ball):
        return radius * root_above(sum((s * s for s in slopes), Fraction(0))) + growth, "pure/norm-l2-ball"
    if not isinstance(chosen, L1Ball):
        return radius * dual_length(slopes, order) + growth, "pure/norm-lp-ball"
    return radius * max(slopes) + growth, "pure/norm-l1-ball"


def _block_value(block: NormBlock, differences: Sequence[Fraction], together: int) -> Fraction:
    """Rate times the norm of the most steps that `together` numbers of the block can move."""
    steps = [whole_steps(differences[place], step) for place, step in zip(block.places, block.steps, strict=True)]
    return block.rate * _length(sorted(steps, reverse=True)[:together], block.norm)


def _length(steps: Sequence[int], norm: str) -> Fraction:
    """A rational at or above the norm of whole steps."""
    if norm == "max":
        return Fraction(max(steps))
    if norm == "l2":
        return root_above(Fraction(sum(k * k for k in steps)))
    return length_above([Fraction(k) for k in steps], Fraction(norm[1:]))


def length_above(values: Iterable[Fraction], order: Fraction) -> Fraction:
    """A rational at or above the l_p norm of non-negative values, p the order."""
    powers = (times * power_from_above(v, order) for v, times in Counter(values).items() if v)
    return power_from_above(sum(powers, Fraction(0)), 1 / order)


def dual_length(values: Sequence[Fraction], order: Fraction | int) -> Fraction:
    """A rational at or above the norm that is dual to the l_p norm: l_q with 1/p + 1/q = 1."""
    return max(values) if order == 1 else length_above(values, Fraction(order) / (order - 1))


def widening(count: int, order: Fraction | None, among: Fraction | int) -> Fraction:
    """A rational at or above the largest ratio of two norms of so many numbers: of this order, and of that `among`.

    Rule: the norms fall with their order, so it is 1 where the order is not below; else, by Hölder, count^(1/p - 1/s),
    attained where all numbers are alike. None is the largest coordinate. [theory#noise-shaped-by-a-norm]
    """
    if order is None or order >= among:
        return Fraction(1)
    return power_from_above(Fraction(count), 1 / order - 1 / Fraction(among))


PROVERS[PerCoordinate, PureDP] = lambda made, wanted: per_coordinate_bound(made)
PROVERS[NormShaped, PureDP] = lambda made, wanted: norm_shaped_bound(made)


MoveOf = Callable[[Any, Fraction], Move]
"""What it is that a law is shifted by so much."""


def worst_moves(mechanism: PerCoordinate, chosen: SensitivitySet, of: MoveOf, start: int = 0) -> list[tuple[Move, ...]]:
    """The moves of the worst differences of a set whose numbers begin at a place; `of` says what a law's move is.

    Valid for: moves of one law of which a larger one is no better than a smaller one.
    """
    if isinstance(chosen, Groups):
        groups = [worst_moves(mechanism, part, of, start + at) for at, part in chosen.placed()]
        return worst_of_groups(groups, chosen.at_most)
    if isinstance(chosen, Points):
        return undominated(_moves(mechanism, row, of, start) for row in chosen.rows)
    if (plain := as_counted(chosen)) is not None:
        return list(worst_choices(_moves(mechanism, plain.each, of, start), plain.together))
    return [tuple(_moves(mechanism, chosen.extents, of, start))]


def _moves(mechanism: PerCoordinate, differences: Sequence[Fraction], of: MoveOf, start: int) -> list[Move]:
    """How far the noise of each number moves on its lattice, for those that do."""
    parts = mechanism.parts[start : start + len(differences)]
    shifts = [(part, moved(part, abs(d))) for part, d in zip(parts, differences, strict=True) if part and d]
    return [of(part.law, shift) for part, shift in shifts if shift]

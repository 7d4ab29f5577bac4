"""Pure bounds for several numbers: the largest log-ratio over every difference in the set, after rounding.

A difference d becomes whole steps k with |k| <= ceil(|d| / step), and k = d / step where that is whole; a
number that does not move stays. Sets that say how many numbers move, each by how much, and listed
points therefore round up to whole steps. In a ball every number may cross one more edge: an l1 ball
grows by the sum of the steps, an l2 ball by the root of the sum of their squares.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import cache

from noisewright.laws.laplace import Laplace
from noisewright.mechanisms.additive import Additive
from noisewright.mechanisms.norm_shaped import NormBlock, NormShaped
from noisewright.mechanisms.per_coordinate import PerCoordinate
from noisewright.problem.errors import UncertifiedError
from noisewright.problem.numbers import show
from noisewright.problem.privacy import PureDP
from noisewright.problem.queries import Vector
from noisewright.problem.sensitivity import Box, Counted, L1Ball, L2Ball, Points
from noisewright.proof.provers import PROVERS
from noisewright.proof.pure import pure_bound

_ROOT_BITS = 96


def counted(query: Vector) -> Counted | None:
    """The set as one that says how many numbers move; a ball in one dimension is an interval."""
    chosen = query.sensitivity
    if isinstance(chosen, Counted):
        return chosen
    if isinstance(chosen, L1Ball | L2Ball) and chosen.dimension == 1:
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


def per_coordinate_bound(mechanism: PerCoordinate) -> tuple[Fraction, str]:
    """Largest sum of log-ratios over the set, rounding included: those of independent noises add up.

    Rule: rounded answers differ by whole steps (see above); rounding the noise is
    post-processing; for Laplace noise the log-ratio is |d_i| / scale_i, whose largest sum over an l1 ball is
    at a corner and over an l2 ball is the radius times the length of (1/scale_i). For a ball and
    other laws the enclosing box is used.
    """
    query = mechanism.query
    refuse_uncovered(query, [part is not None for part in mechanism.parts])
    if (plain := counted(query)) is not None:
        bounds = [_part_bound(p, extent) for p, extent in zip(mechanism.parts, plain.each, strict=True)]
        return largest_sum(bounds, plain.together), f"pure/independent-{plain.kind}"
    chosen = query.sensitivity
    if isinstance(chosen, Points):
        bound = cache(_part_bound)
        moves = (zip(mechanism.parts, row, strict=True) for row in chosen.rows)
        totals = (sum((bound(part, abs(d)) for part, d in move), Fraction(0)) for move in moves)
        return max(totals), "pure/independent-points"
    parts = [part for part in mechanism.parts if part is not None]
    if not all(isinstance(part.law, Laplace) for part in parts):
        return sum((_part_bound(p, query.extents[0]) for p in parts), Fraction(0)), "pure/independent-enclosing-box"
    slopes = [1 / part.law.scale for part in parts if isinstance(part.law, Laplace)]
    growth = sum((s * part.lattice.step for s, part in zip(slopes, parts, strict=True)), Fraction(0))
    radius = query.extents[0]
    if isinstance(chosen, L2Ball):
        length = root_above(sum((s * s for s in slopes), Fraction(0)))
        return radius * length + growth, "pure/laplace-l2-ball"
    return radius * max(slopes) + growth, "pure/laplace-l1-ball"


def _part_bound(part: Additive | None, distance: Fraction) -> Fraction:
    if part is None or not distance:
        return Fraction(0)
    step = part.lattice.step
    return pure_bound(part.law, whole_steps(distance, step) * step)[0]


def norm_shaped_bound(mechanism: NormShaped) -> tuple[Fraction, str]:
    """Largest sum over blocks of rate * norm(steps moved).

    Rule: the triangle inequality. In a ball d, with c_i = rate / step_i, the part of d inside a block costs at most
    max c_i times its length, and crossing one more edge everywhere costs rate * norm(1, …, 1).
    """
    query = mechanism.query
    covered = {place for block in mechanism.blocks for place in block.places}
    refuse_uncovered(query, [i in covered for i in range(query.dimension)])
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
    slopes = [block.rate / min(block.steps) for block in mechanism.blocks]
    growth = sum((block.rate * _length([1] * block.size, block.norm) for block in mechanism.blocks), Fraction(0))
    radius = query.extents[0]
    if isinstance(chosen, L2Ball):
        return radius * root_above(sum((s * s for s in slopes), Fraction(0))) + growth, "pure/norm-l2-ball"
    return radius * max(slopes) + growth, "pure/norm-l1-ball"


def _block_value(block: NormBlock, differences: Sequence[Fraction], together: int) -> Fraction:
    """Rate times the norm of the most steps that `together` numbers of the block can move."""
    steps = [whole_steps(differences[place], step) for place, step in zip(block.places, block.steps, strict=True)]
    return block.rate * _length(sorted(steps, reverse=True)[:together], block.norm)


def _length(steps: list[int], norm: str) -> Fraction:
    if norm == "max":
        return Fraction(max(steps))
    return root_above(Fraction(sum(k * k for k in steps)))


PROVERS[PerCoordinate, PureDP] = lambda made, wanted: per_coordinate_bound(made)
PROVERS[NormShaped, PureDP] = lambda made, wanted: norm_shaped_bound(made)

"""How far a rounded answer can move: sets of differences after rounding to a lattice.

A difference d becomes whole steps k with |k| <= ceil(|d| / step), and k = d / step where that is whole; a
number that does not move stays. Sets that say how many numbers move, each by how much, and listed
points therefore round up to whole steps. In a ball every number may cross one more edge: an l1 ball
grows by the sum of the steps, an l2 ball by the root of the sum of their squares.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

from noisewright.problem.sensitivity import Box, Counted, L1Ball, L2Ball, Points, SensitivitySet
from noisewright.problem.vector import Vector

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


def rows(chosen: SensitivitySet) -> tuple[tuple[Fraction, ...], ...]:
    """The listed differences."""
    assert isinstance(chosen, Points)
    return chosen.rows

"""Bisection returns ends that were checked."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from noisewright.numerics.bisection import first_true, gallop, turn


@pytest.mark.parametrize("limit", [-7, 0, 1, 41, 99])
def test_whole_numbers_end_as_neighbours_from_either_side(limit: int) -> None:
    assert turn(lambda k: k >= limit, -8, 100) == (limit - 1, limit)
    assert turn(lambda k: k <= limit, 100, -8) == (limit + 1, limit)


def test_rationals_stay_exact_and_the_true_end_is_returned() -> None:
    seen: dict[Fraction, bool] = {}

    def holds(x: Fraction) -> bool:
        seen[x] = x * x >= 2
        return seen[x]

    low, high = turn(holds, Fraction(1), Fraction(2), within=Fraction(1, 1000))
    assert isinstance(high, Fraction)
    assert 0 < high - low <= Fraction(1, 1000)
    assert seen[high]
    assert not seen[low]
    assert first_true(holds, Fraction(1), Fraction(2), within=Fraction(1, 1000)) == high


def test_floats_end_at_neighbours_or_at_the_width_asked_for() -> None:
    low, high = turn(lambda x: x * x >= 2, 1.0, 2.0)
    assert high == math.nextafter(low, 2)
    low, high = turn(lambda x: x >= 1e6, 1.0, 1e9, relative=1e-3, middle=lambda a, b: math.sqrt(a * b))
    assert low < 1e6 <= high <= low * 1.0011


def test_given_ends_are_not_evaluated_again() -> None:
    seen: list[int] = []

    def holds(k: int) -> bool:
        seen.append(k)
        return k >= 3

    assert first_true(holds, 0, 8) == 3
    assert not {0, 8} & set(seen)


@pytest.mark.parametrize(("limit", "ends"), [(1, (0, 1)), (2, (1, 3)), (3, (1, 3)), (4, (3, 7)), (20, (15, 31))])
def test_gallops_double_their_steps(limit: int, ends: tuple[int, int]) -> None:
    assert gallop(lambda k: k >= limit, 0, 1) == ends
    assert gallop(lambda k: k <= -limit, 0, -1) == (-ends[0], -ends[1])

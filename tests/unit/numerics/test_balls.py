"""Balls enclose, and their ends come back as exact rationals."""

from __future__ import annotations

import math
import threading
from fractions import Fraction
from typing import Any

import pytest

from noisewright.numerics.balls import (
    around,
    ball,
    ceil_scaled,
    certainly_at_most,
    floor_scaled,
    hull,
    lower,
    precision,
    upper,
    working_bits,
)
from noisewright.problem.errors import EnclosureError

THIRD = Fraction(1, 3)


def test_a_ball_encloses_its_rational_and_is_as_small_as_the_precision_allows():
    with precision(100):
        value = ball(THIRD)
        assert lower(value) < THIRD < upper(value)
        assert upper(value) - lower(value) < Fraction(1, 2**98)
        assert lower(ball(7)) == upper(ball(7)) == 7


def test_comparisons_of_balls_are_true_only_when_certain():
    with precision(64):
        wide, narrow = around(1.0, 0.5), ball(1)
        assert not certainly_at_most(wide, narrow)
        assert not certainly_at_most(narrow, wide)
        assert certainly_at_most(narrow, around(2.0, 0.5))
        assert certainly_at_most(narrow, narrow)
        assert not certainly_at_most(ball(THIRD), ball(THIRD)), "an inexact ball is not known to equal itself"


def test_a_hull_contains_both():
    with precision(64):
        joined = hull(ball(-1), ball(THIRD))
        assert lower(joined) <= -1
        assert upper(joined) >= THIRD


@pytest.mark.parametrize("value", [THIRD, -THIRD, Fraction(5), Fraction(-5), Fraction(0), Fraction(1, 2**80)], ids=str)
@pytest.mark.parametrize("bits", [0, 3, 64, 200])
def test_scaled_ends_are_the_nearest_integers_outside(value, bits):
    with precision(300):
        low, high = floor_scaled(ball(value), bits), ceil_scaled(ball(value), bits)
    exact = value * 2**bits
    assert low <= exact <= high
    assert exact - 1 < low
    assert high < exact + 1


def test_an_infinite_ball_has_no_rational_end():
    with precision(64), pytest.raises(ArithmeticError, match="finite"):
        upper(1 / around(0.0, 1.0))


def test_nested_blocks_restore_the_precision_even_after_an_error():
    before = working_bits()

    def fail() -> None:
        with precision(77):
            with precision(333):
                assert working_bits() == 333
            assert working_bits() == 77
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert working_bits() == before


def test_another_thread_waits_for_the_precision():
    order: list[str] = []

    def other() -> None:
        with precision(50):
            order.append("other")

    with precision(200):
        thread = threading.Thread(target=other)
        thread.start()
        thread.join(0.05)
        order.append("first")
        assert working_bits() == 200
    thread.join()
    assert order == ["first", "other"]


@pytest.mark.parametrize("power", [694, 10**6, 10**12])
def test_ends_nearer_to_zero_than_any_file_can_say_are_rounded_outwards_to_what_it_can(power: int):
    """e^-694 is below 2^-1000 by a factor of two."""
    faint, none = Fraction(1, 2**1000), Fraction(0)
    with precision(64):
        value = ball(-power).exp()
        assert (lower(value), upper(value)) == (none, faint)
        assert (lower(-value), upper(-value)) == (-faint, none)
        assert floor_scaled(value, 128) == 0
        assert (floor_scaled(-value, 128), ceil_scaled(value, 128)) == (-1, 1)


def test_ends_just_above_that_are_kept_as_they_are():
    with precision(64):
        value = ball(-692).exp()
        assert 0 < lower(value) < upper(value) < lower(value) * (1 + Fraction(1, 2**50))
        assert float(upper(value)) == pytest.approx(math.exp(-692), rel=1e-12)
        assert lower(ball(0)) == upper(ball(0)) == 0


@pytest.mark.parametrize("read", [upper, lower, lambda value: floor_scaled(value, 64)])
def test_ends_too_large_to_be_written_down_are_refused_by_name(read: Any):
    with precision(64):
        assert read(ball(2) ** 60_000) > 2**59_999
        for huge in (ball(2) ** 70_000, ball(10**12).exp(), -ball(10**12).exp()):
            with pytest.raises(EnclosureError, match="too extreme"):
                read(huge)
    assert issubclass(EnclosureError, ArithmeticError)

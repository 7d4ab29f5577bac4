"""One formula in floats and in balls."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from noisewright.numerics.balls import lower, precision, upper
from noisewright.numerics.fields import BALLS, FLOATS

FORMULAS = {
    "exp": lambda f: f.exp(f.real(Fraction(-7, 3))),
    "expm1": lambda f: f.expm1(f.real(Fraction(-1, 10**9))),
    "log": lambda f: f.log(f.real(Fraction(7, 3))),
    "whole power": lambda f: f.power(f.real(Fraction(7, 3)), 5),
    "power": lambda f: f.power(f.real(Fraction(7, 3)), Fraction(1, 7)),
    "zero to a power": lambda f: f.power(f.real(0), Fraction(1, 2)),
    "zero to a whole power": lambda f: f.power(f.real(0), 3),
    "zero to zero": lambda f: f.power(f.real(0), 0),
    "gamma": lambda f: f.gamma(Fraction(9, 4)),
    "a float": lambda f: f.real(0.1),
}


@pytest.mark.parametrize("name", FORMULAS)
def test_floats_and_balls_agree(name):
    with precision(128):
        exact = FORMULAS[name](BALLS)
        low, high = lower(exact), upper(exact)
    approximate = FORMULAS[name](FLOATS)
    assert high - low <= Fraction(1, 2**100)
    assert approximate == pytest.approx(float(low), rel=1e-14, abs=1e-300)


def test_a_float_is_read_as_the_binary_number_it_is():
    with precision(128):
        assert lower(BALLS.real(0.1)) == upper(BALLS.real(0.1)) == Fraction(0.1)


def test_between_encloses_in_balls_and_averages_in_floats():
    assert FLOATS.between(1.0, 2.0) == 1.5
    with precision(64):
        both = BALLS.between(BALLS.real(1), BALLS.real(2))
        assert lower(both) <= 1
        assert upper(both) >= 2


def test_a_zero_power_of_a_positive_base_is_one():
    assert FLOATS.power(0.3, 0) == 1.0
    assert math.isclose(FLOATS.power(2.0, Fraction(1, 2)), math.sqrt(2))

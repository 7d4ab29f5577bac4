"""Piecewise-constant densities, and the staircases among them."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest

from noisewright.laws.piecewise import Piecewise, skewed_staircase, staircase
from noisewright.numerics.balls import precision
from noisewright.numerics.fields import BALLS, FLOATS
from noisewright.problem.errors import InvalidLawError, InvalidNumberError

GOOD: dict[str, Any] = {
    "rate": Fraction(1),
    "period": Fraction(2),
    "breaks": tuple(map(Fraction, (-3, -2, -1, 0, 2))),
    "levels": tuple(map(Fraction, (2, 1, 0, 1))),
    "left_cells": 2,
    "right_cells": 1,
}


def changed(**fields):
    return Piecewise(**{**GOOD, **fields})


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"rate": Fraction(0)}, "rate is 0; it must be positive"),
        ({"period": Fraction(-2)}, "period is -2; it must be positive"),
        ({"levels": GOOD["levels"][:-1]}, "need 4 breaks; 5"),
        ({"breaks": (), "levels": ()}, "levels has 0 items; give at least 1"),
        ({"breaks": tuple(map(Fraction, (-3, -2, -2, 0, 2)))}, "increase"),
        ({"left_cells": 0}, "left_cells is 0; it must be at least 1"),
        ({"right_cells": 5}, "repeating cells"),
        ({"left_cells": 1}, "one period"),
        ({"right_cells": 2}, "one period"),
        ({"period": Fraction(1)}, "one period"),
    ],
)
def test_what_makes_no_law_is_refused(fields, why):
    with pytest.raises(InvalidLawError, match=why):
        changed(**fields)


@pytest.mark.parametrize("name", ["rate", "period", "breaks", "levels"])
@pytest.mark.parametrize("bad", [float("nan"), float("inf"), None, True], ids=repr)
def test_what_is_no_number_never_reaches_the_verifier(name, bad):
    value = (bad, *GOOD[name][1:]) if isinstance(GOOD[name], tuple) else bad
    with pytest.raises(InvalidNumberError, match=name):
        changed(**{name: value})


def test_floats_are_read_as_the_decimals_they_show():
    law = changed(rate=0.1, levels=(2, 1.1, 0, 1))
    assert law.rate == Fraction(1, 10)
    assert law.levels[1] == Fraction(11, 10)
    assert all(type(value) is Fraction for value in (law.rate, law.period, *law.breaks, *law.levels))


def test_levels_in_body_and_tails():
    law = changed()
    body = {"-3": 2, "-2": 1, "-1/2": 0, "0": 1}
    tails = {"2": 2, "4": 3, "-3.5": 2, "-4": 2, "-4.5": 3}
    for x, level in {**body, **tails}.items():
        assert law.level_at(Fraction(x)) == level, x


def test_alignment_means_every_jump_on_an_edge():
    law = changed()
    assert law.aligned(Fraction(1), Fraction(0))
    assert law.aligned(Fraction(1, 3), Fraction(0))
    assert not law.aligned(Fraction(2, 3), Fraction(0)), "the period is a multiple, the jumps are not"
    assert not law.aligned(Fraction(4), Fraction(0))
    assert not law.aligned(Fraction(1), Fraction(1, 2))


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(5)])
@pytest.mark.parametrize("split", [Fraction(1, 100), Fraction(1, 2), Fraction(1)])
def test_the_staircase_of_the_paper(epsilon, split):
    """Geng and Viswanath: height a on [0, split), a b on [split, 1), and b times that per sensitivity."""
    b = math.exp(-epsilon)
    height = (1 - b) / (2 * 3 * (split + b * (1 - split)))
    law = staircase(epsilon=epsilon, sensitivity=Fraction(3), split=split)
    for turn in range(4):
        inside, outside = (turn + split / 2) * 3, (turn + split + (1 - split) / 2) * 3
        for sign in (1, -1):
            assert law.density(sign * inside, FLOATS) == pytest.approx(height * b**turn)
            if split < 1:
                assert law.density(sign * outside, FLOATS) == pytest.approx(height * b ** (turn + 1))


@pytest.mark.parametrize("split", [Fraction(0), Fraction(-1, 2), Fraction(11, 10)])
def test_a_split_lies_in_the_unit_interval(split):
    with pytest.raises(InvalidLawError, match="split"):
        staircase(epsilon=Fraction(1), sensitivity=Fraction(1), split=split)


@pytest.mark.parametrize(("left", "right"), [(-5, -3), (2, 3), (-1, 4), (Fraction(1, 7), Fraction(2, 7))])
def test_a_skewed_staircase_goes_down_one_level_per_sensitivity_from_its_top(left, right):
    law = skewed_staircase(epsilon=Fraction(1), sensitivity=Fraction(2), left=Fraction(left), right=Fraction(right))
    assert law.breaks[0] < 0 < law.breaks[-1], "moments need tails that are one-sided"
    for down in range(6):
        assert law.level_at(Fraction(right) + 2 * down - Fraction(1, 99)) == down
        assert law.level_at(Fraction(left) - 2 * down + Fraction(1, 99)) == down
    with precision(128):
        twice_the_centre = 2 * law.mean(BALLS) - BALLS.real(Fraction(left) + Fraction(right))
        assert twice_the_centre.contains(0)


def test_a_top_step_has_a_width():
    with pytest.raises(InvalidLawError, match="width"):
        skewed_staircase(epsilon=Fraction(1), sensitivity=Fraction(1), left=Fraction(1), right=Fraction(1))


def test_moments_need_tails_beyond_zero():
    shifted = changed(breaks=tuple(b + 30 for b in GOOD["breaks"]))
    with pytest.raises(InvalidLawError, match="beyond zero"):
        shifted.moment(1, FLOATS)

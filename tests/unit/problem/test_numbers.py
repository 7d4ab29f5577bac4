"""Numbers at the border: a parameter is what was typed, data are what they are."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from noisewright.problem.errors import InvalidNumberError
from noisewright.problem.numbers import data_value, parameter, show

TENTH = Fraction(1, 10)
READERS = [parameter, data_value]


@pytest.mark.parametrize(
    "typed", [0.1, np.float64(0.1), "0.1", " 0.1 ", "1/10", "1e-1", Decimal("0.1"), Fraction(1, 10)], ids=repr
)
def test_a_parameter_of_one_tenth_is_one_tenth(typed):
    assert parameter(typed, "x") == TENTH


@pytest.mark.parametrize("stored", [0.1, np.float64(0.1)], ids=repr)
def test_a_float_as_data_is_the_binary_number(stored):
    assert data_value(stored, "x") == Fraction(3602879701896397, 36028797018963968) != TENTH


@pytest.mark.parametrize("exact", ["0.1", Decimal("0.1"), Fraction(1, 10)], ids=repr)
def test_exact_data_stay_exact(exact):
    assert data_value(exact, "x") == TENTH


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize(
    "whole", [3, np.int8(3), np.uint64(3), np.float32(3), 3.0, "3", Decimal(3), Fraction(3)], ids=repr
)
def test_whole_numbers_of_every_type(read, whole):
    value = read(whole, "x")
    assert value == 3
    assert type(value) is Fraction


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize("text", ["1/3", "-2/6", "+0.25", "1E3", "1e-400"])
def test_text_forms(read, text):
    assert read(text, "x") == Fraction(text)


NOT_NUMBERS = [
    True,
    False,
    np.bool_(True),
    None,
    [1],
    1j,
    b"1",
    "",
    "one",
    "1/0",
    "1 2",
    "0x10",
    "nan",
    "inf",
    float("nan"),
    float("inf"),
    float("-inf"),
    np.float32("nan"),
    Decimal("nan"),
    Decimal("-Infinity"),
]


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize("given", NOT_NUMBERS, ids=repr)
def test_what_is_no_number_is_refused_by_name(read, given):
    with pytest.raises(InvalidNumberError, match="weight is"):
        read(given, "weight")


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize("huge", ["1e401", "1e-401", "1e999999999", "9" * 241, "1/" + "3" * 240, Decimal("1e999999")])
def test_text_that_would_be_costly_to_read_is_refused(read, huge):
    with pytest.raises(InvalidNumberError) as caught:
        read(huge, "x")
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (Fraction(3), "3"),
        (Fraction(-123456789), "-123456789"),
        (Fraction(1, 3), "0.333333"),
        (Fraction(10**20), "1e+20"),
        (Fraction(10**400), "above 1e308"),
        (Fraction(-(10**400), 3), "below -1e308"),
        (Fraction(1, 10**400), "0"),
    ],
)
def test_show_is_short_for_numbers_of_every_size(value, shown):
    assert show(value) == shown

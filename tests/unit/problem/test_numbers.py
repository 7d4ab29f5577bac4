"""Numbers at the border: parameters and data are read alike, as typed or as stored, and errors keep data private."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from noisewright.problem.errors import InvalidAnswerError, InvalidNumberError
from noisewright.problem.numbers import data_value, parameter, show

TENTH = Fraction(1, 10)
READERS = [parameter, data_value]


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize(
    "typed",
    [0.1, np.float64(0.1), np.float32(0.1), "0.1", " 0.1 ", "1/10", "1e-1", Decimal("0.1"), Fraction(1, 10)],
    ids=repr,
)
def test_one_tenth_is_one_tenth_as_a_parameter_and_as_data(read, typed):
    assert read(typed, "x") == TENTH


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize("computed", [0.1 + 0.2, np.float64(1) / 3, 73 / 48842], ids=repr)
def test_a_computed_float_is_the_binary_number_it_stores(read, computed):
    assert read(computed, "x") == Fraction(*float(computed).as_integer_ratio()) != Fraction(repr(float(computed)))


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


@pytest.mark.parametrize("given", NOT_NUMBERS, ids=repr)
def test_a_parameter_that_is_no_number_is_refused_by_name(given):
    with pytest.raises(InvalidNumberError, match="weight is"):
        parameter(given, "weight")


@pytest.mark.parametrize("given", NOT_NUMBERS, ids=repr)
def test_data_that_are_no_number_are_refused_without_repeating_them(given):
    with pytest.raises(InvalidAnswerError, match="the weight is not a finite number") as caught:
        data_value(given, "weight")
    with pytest.raises(InvalidAnswerError) as other:
        data_value(object(), "weight")
    assert str(caught.value) == str(other.value)
    assert not caught.value.fields
    assert caught.value.__context__ is None


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize("huge", ["1e401", "1e-401", "1e999999999", "9" * 241, "1/" + "3" * 240, Decimal("1e999999")])
def test_text_that_would_be_costly_to_read_is_refused(read, huge):
    with pytest.raises((InvalidNumberError, InvalidAnswerError)) as caught:
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

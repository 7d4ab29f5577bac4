"""Utilities are validated on construction."""

from __future__ import annotations

from fractions import Fraction

import pytest

from noisewright.problem.errors import InvalidNumberError, InvalidUtilityError
from noisewright.problem.utilities import (
    AbsoluteError,
    ErrorQuantile,
    Expected,
    Growth,
    PowerError,
    SquaredError,
    Usefulness,
    Utility,
)


def test_the_named_powers():
    assert AbsoluteError().power == 1
    assert SquaredError().power == 2
    assert PowerError(0.1).power == Fraction(1, 10)


@pytest.mark.parametrize("power", [0, -1, "16.01", "1e400", "-1e400"])
def test_powers_outside_the_range(power):
    with pytest.raises(InvalidUtilityError, match="power is"):
        PowerError(power)


@pytest.mark.parametrize("within", [-1, "-0.001", "-1e400", "1e121", "1e400"])
def test_impossible_limits_of_usefulness(within):
    with pytest.raises(InvalidUtilityError, match="within is"):
        Usefulness(within)


@pytest.mark.parametrize("confidence", [0, 1, -0.5, 1.5, "1e-7", "0.9999999999999", "1e400"])
def test_impossible_confidences(confidence):
    with pytest.raises(InvalidUtilityError, match="confidence is"):
        ErrorQuantile(confidence)


@pytest.mark.parametrize(("power", "factor"), [(-1, 1), (17, 1), (1, 0), (1, -1), (1, "1e400"), ("1e400", 1)])
def test_impossible_growths(power, factor):
    with pytest.raises(InvalidUtilityError, match="growth"):
        Growth(power, factor)


@pytest.mark.parametrize("make", [PowerError, Usefulness, ErrorQuantile, Growth])
@pytest.mark.parametrize("given", [float("nan"), float("inf"), True, None, "far"], ids=repr)
def test_what_is_no_number_is_refused(make, given):
    with pytest.raises(InvalidNumberError):
        make(given)


def test_a_loss_is_a_function_with_a_growth():
    assert Expected(abs, growth=1).growth == Growth(1, 1)
    with pytest.raises(InvalidUtilityError, match="function"):
        Expected(3, growth=1)  # type: ignore[arg-type]  # that it fails is the point
    with pytest.raises(TypeError):
        Expected(abs)  # type: ignore[call-arg]  # without a growth the tail has no proof


def test_only_usefulness_is_better_when_larger():
    costs: list[Utility] = [AbsoluteError(), SquaredError(), PowerError(3), ErrorQuantile(0.9), Expected(abs, growth=1)]
    assert not any(utility.larger_is_better for utility in costs)
    assert Usefulness(1).larger_is_better


@pytest.mark.parametrize(
    ("utility", "data", "text"),
    [
        (AbsoluteError(), {"kind": "absolute-error"}, "mean absolute error"),
        (SquaredError(), {"kind": "squared-error"}, "mean squared error"),
        (PowerError("1/2"), {"kind": "power-error", "power": "1/2"}, "mean of |error|^0.5"),
        (Usefulness("1/3"), {"kind": "usefulness", "within": "1/3"}, "P(|error| <= 0.333333)"),
        (ErrorQuantile(0.95), {"kind": "error-quantile", "confidence": "19/20"}, "half-width at 0.95 confidence"),
    ],
)
def test_utilities_as_data_and_text(utility, data, text):
    assert utility.to_dict() == data
    assert str(utility) == text


def test_a_loss_and_a_growth_as_text():
    assert str(Expected(abs, growth=1, name="cost of beds")) == "cost of beds"
    assert str(Growth(2, "1/2")) == "0.5 * (1 + |x|)^2"

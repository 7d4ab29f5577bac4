"""Privacy requirements are validated at birth."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from noisewright.problem.errors import InvalidInputError, InvalidNumberError, InvalidPrivacyError
from noisewright.problem.numbers import parameter
from noisewright.problem.privacy import REQUIREMENTS, PureDP


@pytest.mark.parametrize("typed", [0.5, "0.5", "1/2", Decimal("0.5"), Fraction(1, 2), np.float64(0.5)], ids=repr)
def test_epsilon_is_kept_as_the_rational_that_was_typed(typed):
    assert PureDP(typed) == PureDP(epsilon=Fraction(1, 2))
    assert PureDP(typed).epsilon == Fraction(1, 2)


@pytest.mark.parametrize("edge", ["1e-5", 32])
def test_the_ends_of_the_range_are_allowed(edge):
    assert PureDP(edge).epsilon == Fraction(edge)


OUTSIDE = [0, -1, -0.0, "-1e400", 1e-300, "0.0000099999", "32.0001", 1e6, "1e400", 10**400, Fraction(10**400, 3)]


@pytest.mark.parametrize("epsilon", OUTSIDE, ids=lambda value: str(value)[:12])
def test_an_epsilon_outside_the_range_is_refused_with_its_value(epsilon):
    with pytest.raises(InvalidPrivacyError, match="epsilon is") as caught:
        PureDP(epsilon)
    assert caught.value.epsilon == parameter(epsilon, "epsilon")


@pytest.mark.parametrize("epsilon", [float("nan"), float("inf"), float("-inf"), True, None, "much"], ids=repr)
def test_what_is_no_number_is_no_epsilon(epsilon):
    with pytest.raises(InvalidNumberError):
        PureDP(epsilon)


def test_a_requirement_cannot_be_changed():
    with pytest.raises(AttributeError):
        PureDP(1).epsilon = Fraction(2)  # type: ignore[misc]  # that it fails is the point


def test_requirements_come_back_from_plain_data():
    privacy = PureDP("1/3")
    assert REQUIREMENTS.from_dict(privacy.to_dict()) == privacy


@pytest.mark.parametrize("data", [{"kind": "impure", "epsilon": "1"}, {"kind": "pure"}, {}, {"kind": []}], ids=repr)
def test_other_data_make_no_requirement(data):
    with pytest.raises((KeyError, TypeError, ValueError)):
        REQUIREMENTS.from_dict(data)


def test_the_promise_names_epsilon():
    assert "e^0.25" in PureDP("1/4").promise()
    assert "epsilon = 0.25" in str(PureDP("1/4"))


def test_refusals_are_value_errors():
    assert issubclass(InvalidPrivacyError, InvalidInputError)
    with pytest.raises(ValueError, match="at least 1e-05"):
        PureDP(0)

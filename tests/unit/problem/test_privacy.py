"""Privacy requirements are validated on construction."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from noisewright.problem.errors import InvalidInputError, InvalidNumberError, InvalidPrivacyError
from noisewright.problem.numbers import parameter
from noisewright.problem.privacy import (
    REQUIREMENTS,
    ApproxDP,
    Notion,
    ProbabilisticDP,
    PureDP,
    RenyiDP,
    ZeroConcentratedDP,
)


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


SHARED = [
    (PureDP(3), PureDP(1)),
    (ApproxDP(3, "3e-6"), ApproxDP(1, "1e-6")),
    (ProbabilisticDP(3, "3e-6"), ProbabilisticDP(1, "1e-6")),
    (RenyiDP(2, 3), RenyiDP(2, 1)),
    (ZeroConcentratedDP(3), ZeroConcentratedDP(1)),
]


@pytest.mark.parametrize(("whole", "third"), SHARED, ids=lambda privacy: type(privacy).__name__)
def test_shares_of_a_requirement_add_up_to_it(whole: Notion, third: Notion):
    assert whole.share("1/3") == third
    assert whole.share(1) == whole
    assert [sum(getattr(third, name) for _ in range(3)) for name in whole.amounts] == [
        getattr(whole, name) for name in whole.amounts
    ]


def test_a_share_below_the_smallest_requirement_is_refused():
    with pytest.raises(InvalidPrivacyError, match="delta is"):
        ApproxDP(1, "1e-15").share("1/2")


def test_requirements_say_what_they_are_about():
    kinds = [PureDP(1), ApproxDP(1, "1e-6"), ProbabilisticDP(1, "1e-6"), RenyiDP("3/2", 1), ZeroConcentratedDP(1)]
    assert [(p.pure, p.approximate, p.pointwise) for p in kinds] == [
        (True, False, False),
        (False, True, False),
        (False, False, True),
        (False, False, False),
        (False, False, False),
    ]
    assert [p.gaussian_rho for p in kinds] == [None, None, None, Fraction(2, 3), 1]

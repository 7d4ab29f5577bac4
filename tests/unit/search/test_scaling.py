"""Units, round numbers and combinations that cannot be meant."""

from __future__ import annotations

from fractions import Fraction

import pytest

from noisewright.problem.errors import InvalidQueryError, InvalidUtilityError
from noisewright.problem.privacy import PureDP
from noisewright.problem.queries import Scalar
from noisewright.problem.utilities import AbsoluteError, ErrorQuantile, PowerError, SquaredError, Usefulness
from noisewright.search.design import designer_for
from noisewright.search.designer import check_problem
from noisewright.search.golden_section import round_number


def test_only_usefulness_is_measured_in_the_unit_of_the_answer():
    assert Usefulness(3).scaled(Fraction(2)) == Usefulness("3/2")
    assert SquaredError().scaled(Fraction(2)) == SquaredError()


@pytest.mark.parametrize(
    ("utility", "factor"),
    [(AbsoluteError(), 5), (SquaredError(), 25), (ErrorQuantile(0.9), 5), (Usefulness(1), 1)],
    ids=str,
)
def test_the_factor_back_to_the_unit_of_the_answer(utility, factor):
    assert 5**utility.degree == factor


@pytest.mark.parametrize("utility", [None, "mse", SquaredError, 3], ids=repr)
def test_what_is_no_utility(utility):
    with pytest.raises(InvalidUtilityError, match="SquaredError"):
        designer_for(Scalar(1), PureDP(1), utility)


def test_a_real_answer_is_never_exactly_right():
    for within in (0, "1e-10"):
        with pytest.raises(InvalidUtilityError, match="billionth"):
            check_problem(Scalar(1), PureDP(1), Usefulness(within))
        check_problem(Scalar(1, integer=True), PureDP(1), Usefulness(within))


@pytest.mark.parametrize("sensitivity", ["1e100", "1e-100"])
def test_errors_that_floats_cannot_hold_are_refused_before_any_work(sensitivity):
    check_problem(Scalar(sensitivity), PureDP(1), AbsoluteError())
    with pytest.raises(InvalidQueryError, match="another unit"):
        check_problem(Scalar(sensitivity), PureDP(1), PowerError(16))


@pytest.mark.parametrize(("least", "round_one"), [(1, 1), (2, 2), (3, 5), (6, 10), (11, 20), (50, 50), (51, 100)])
def test_round_numbers(least, round_one):
    assert round_number(least) == round_one


def test_fractions_stay_exact():
    assert Usefulness("1/3").scaled(Fraction(1, 7)) == Usefulness(Fraction(7, 3))

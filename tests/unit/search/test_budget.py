"""`budget_for`: what it refuses, and that each epsilon was checked on both sides."""

from __future__ import annotations

from fractions import Fraction

import pytest

from noisewright.numerics.balls import lower, precision, upper
from noisewright.numerics.fields import BALLS
from noisewright.problem.errors import (
    InvalidNumberError,
    InvalidQueryError,
    InvalidUtilityError,
    UnreachableTargetError,
)
from noisewright.problem.privacy import LARGEST_EPSILON, SMALLEST_EPSILON, PureDP
from noisewright.problem.queries import Scalar
from noisewright.problem.utilities import AbsoluteError, ErrorQuantile, SquaredError, Usefulness
from noisewright.search import budget as pricing
from noisewright.search.bounds.pure import best_possible
from noisewright.search.budget import budget_for
from noisewright.search.design import design

ONE = Scalar(1)


@pytest.mark.parametrize("target", [0, -1, "-1e400"])
def test_a_cost_of_nothing_cannot_be_reached(target):
    with pytest.raises(InvalidUtilityError, match="positive"):
        budget_for(ONE, utility=SquaredError(), target=target)


@pytest.mark.parametrize("target", [0, 1, 1.5, -0.1])
def test_a_usefulness_is_a_probability(target):
    with pytest.raises(InvalidUtilityError, match="between 0 and 1"):
        budget_for(ONE, utility=Usefulness(1), target=target)


@pytest.mark.parametrize("target", [float("nan"), float("inf"), None, True, "good"], ids=repr)
def test_what_is_no_number_is_no_target(target):
    with pytest.raises(InvalidNumberError, match="target"):
        budget_for(ONE, utility=SquaredError(), target=target)


@pytest.mark.parametrize("utility", [SquaredError([1, 2]), SquaredError([3]), Usefulness([1, 2])], ids=str)
def test_weights_and_limits_of_several_numbers_are_refused_for_one(utility):
    with pytest.raises(InvalidUtilityError, match=r"several numbers|2 limits for 1 numbers"):
        budget_for(ONE, utility=utility, target=1)
    with pytest.raises(InvalidUtilityError, match=r"several numbers|2 limits for 1 numbers"):
        design(ONE, privacy=PureDP(1), utility=utility)


def test_what_is_no_question_or_no_utility():
    with pytest.raises(InvalidQueryError, match="Scalar"):
        budget_for(3, utility=SquaredError(), target=1)  # type: ignore[arg-type]  # that it fails is the point
    with pytest.raises(InvalidUtilityError, match="utility"):
        budget_for(ONE, utility="mse", target=1)  # type: ignore[arg-type]  # that it fails is the point


@pytest.mark.parametrize(
    ("query", "utility", "target"),
    [(ONE, AbsoluteError(), "1e-9"), (ONE, Usefulness("1e-8"), "0.999999"), (Scalar(100), SquaredError(), "1e-12")],
    ids=["absolute", "useful", "squared"],
)
def test_a_target_beyond_every_epsilon_is_unreachable(query, utility, target):
    with pytest.raises(UnreachableTargetError, match="ask for less accuracy") as caught:
        budget_for(query, utility=utility, target=target)
    assert caught.value.target == Fraction(target)


def test_a_target_that_any_noise_reaches_costs_the_smallest_epsilon():
    budget = budget_for(ONE, utility=AbsoluteError(), target=10**9)
    assert budget.epsilon == SMALLEST_EPSILON


@pytest.mark.parametrize("query", [ONE, Scalar(4, integer=True)], ids=str)
@pytest.mark.parametrize(
    ("utility", "target"),
    [(AbsoluteError(), "2.5"), (SquaredError(), "7"), (Usefulness(2), "0.8"), (ErrorQuantile("0.9"), "5")],
    ids=str,
)
def test_every_row_is_the_checked_end_of_a_narrow_bracket(query, utility, target):
    budget = budget_for(query, utility=utility, target=target)
    goal = Fraction(target)
    assert [row.epsilon for row in budget.rows] == sorted(row.epsilon for row in budget.rows)
    for row in budget.rows:
        assert SMALLEST_EPSILON <= row.not_below < row.epsilon <= LARGEST_EPSILON
        assert row.epsilon - row.not_below <= row.epsilon / 1000
        assert row.certified.certificate.requirement == PureDP(row.epsilon)
        with precision():
            value = row.certified.mechanism.expected(utility, BALLS)
            assert lower(value) >= goal if utility.larger_is_better else upper(value) <= goal
    assert budget.impossible_at is not None
    assert budget.impossible_at < budget.epsilon
    bound = best_possible(query, budget.impossible_at, utility)
    assert bound < goal if utility.larger_is_better else bound > goal


def test_the_cheapest_row_is_the_answer():
    budget = budget_for(ONE, utility=AbsoluteError(), target="0.2")
    assert budget.rows[0].epsilon == budget.epsilon
    assert budget.best is budget.rows[0].certified
    laplace = next(row for row in budget.rows if row.name == "Laplace")
    assert float(laplace.epsilon) == pytest.approx(5, rel=1e-3)
    assert budget.epsilon < Fraction(4)


def test_noise_that_cannot_pay_is_named():
    budget = budget_for(ONE, utility=AbsoluteError(), target="1e-5")
    assert budget.out_of_reach == ("Laplace",)
    assert {row.name for row in budget.rows} == {"staircase", "tailored"}
    assert "Out of reach" in str(budget)


@pytest.mark.parametrize(
    ("utility", "target"), [(SquaredError(), "0.7"), (Usefulness("0.5"), "0.9"), (ErrorQuantile("0.95"), 10)], ids=str
)
def test_a_target_is_found_in_few_looks(monkeypatch: pytest.MonkeyPatch, utility, target):
    """Halving to a millionth takes twenty looks for each of three rows; lines take a third of that."""
    looked, look = [], pricing._quick_value

    def counted(*asked):
        looked.append(asked)
        return look(*asked)

    monkeypatch.setattr(pricing, "_quick_value", counted)
    assert len(budget_for(ONE, utility=utility, target=target).rows) == 3
    assert len(looked) <= 30

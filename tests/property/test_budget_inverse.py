"""`budget_for` is the inverse of `design`, to a thousandth, over two hundred random targets."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import assume, given, settings, strategies as st

from noisewright.problem.privacy import SMALLEST_EPSILON, PureDP
from noisewright.problem.queries import Scalar
from noisewright.problem.utilities import ErrorQuantile, Expected, Growth, PowerError, Usefulness, Utility
from noisewright.search.bounds.pure import best_possible
from noisewright.search.budget import budget_for, reaches
from noisewright.search.design import design
from tests import strategies
from tests.strategies import decimals

A_THOUSANDTH_LESS = Fraction(999, 1000)


@st.composite
def questions(draw: Callable[..., Any], kind: type, *, integer: bool) -> tuple[Scalar, Utility]:
    sensitivity = draw(strategies.integer_sensitivities if integer else strategies.real_sensitivities)
    query = Scalar(sensitivity, integer=integer)
    wide: dict[type, Any] = {
        PowerError: decimals(0.1, 6, 2).map(PowerError) | st.sampled_from([1, 2, 4]).map(PowerError),
        Usefulness: decimals(0.02, 4, 3).map(Usefulness),
        ErrorQuantile: st.sampled_from(["0.05", "0.5", "0.9", "0.95", "0.999"]).map(ErrorQuantile),
        Expected: strategies.losses(),
    }
    return query, strategies.fitted(draw(wide[kind]), query)


def check_both_sides(query: Scalar, utility: Utility, target: Fraction) -> None:
    """At the answer the best noise reaches the target; a thousandth below it none does."""
    budget = budget_for(query, utility=utility, target=target)
    winner = design(query, privacy=PureDP(budget.epsilon), utility=utility).candidates[0]
    slack = 1e-9 * abs(winner.value)
    if utility.larger_is_better:
        assert winner.value >= float(target) - slack
    else:
        assert winner.value <= float(target) + slack
    less = budget.epsilon * A_THOUSANDTH_LESS
    if less >= SMALLEST_EPSILON:
        for candidate in design(query, privacy=PureDP(less), utility=utility).candidates:
            assert not reaches(candidate.certified.mechanism.expected(utility), target, utility)


def run(kind: type, *, integer: bool, data: Any, low: float = 0.06, high: float = 8) -> None:
    query, utility = data.draw(questions(kind, integer=integer))
    epsilon = data.draw(decimals(low, high))
    target = Fraction(f"{float(best_possible(query, epsilon, utility)):.4g}")
    assume(target > 0 and (not utility.larger_is_better or target < 1))
    check_both_sides(query, utility, target)


@given(data=st.data())
@settings(max_examples=20)
def test_powers_on_real_answers(data):
    run(PowerError, integer=False, data=data)


@given(data=st.data())
@settings(max_examples=20)
def test_powers_on_integers(data):
    run(PowerError, integer=True, data=data)


@given(data=st.data())
@settings(max_examples=40)
def test_usefulness_on_real_answers(data):
    run(Usefulness, integer=False, data=data)


@given(data=st.data())
@settings(max_examples=40)
def test_usefulness_on_integers(data):
    run(Usefulness, integer=True, data=data)


@given(data=st.data())
@settings(max_examples=20)
def test_quantiles_on_real_answers(data):
    run(ErrorQuantile, integer=False, data=data)


@given(data=st.data())
@settings(max_examples=30)
def test_quantiles_on_integers(data):
    run(ErrorQuantile, integer=True, data=data)


@given(data=st.data())
@settings(max_examples=30)
def test_a_users_loss_on_integers(data):
    run(Expected, integer=True, data=data, low=0.3, high=4)


def test_a_users_loss_on_real_answers():
    loss = Expected(lambda x: x if x > 0 else -2 * x, growth=Growth(1, 2))
    check_both_sides(Scalar(1), loss, Fraction("0.7"))


CONTINUOUS = [(PowerError, False), (PowerError, True), (Usefulness, False), (Usefulness, True), (ErrorQuantile, False)]


@pytest.mark.parametrize(("kind", "integer"), CONTINUOUS, ids=lambda value: getattr(value, "__name__", str(value)))
@given(data=st.data(), epsilon=decimals(0.06, 6))
@settings(max_examples=12)
def test_the_value_of_a_design_costs_its_epsilon(kind, integer, data, epsilon):
    query, utility = data.draw(questions(kind, integer=integer))
    value = design(query, privacy=PureDP(epsilon), utility=utility).candidates[0].value
    # A probability this close to one hardly changes with epsilon, and its float not at all.
    assume(not utility.larger_is_better or value < 1 - 1e-9)
    budget = budget_for(query, utility=utility, target=value)
    assert float(budget.epsilon) == pytest.approx(float(epsilon), rel=1e-3)

"""A target is reached for sure or not at all, and what is called impossible is."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

import noisewright as nw
from noisewright.numerics.balls import ball, hull, precision
from noisewright.problem.privacy import SMALLEST_EPSILON
from noisewright.search.bounds.pure import best_possible
from noisewright.search.budget import budget_for, impossible_at, reaches


def _between(low: str, high: str) -> Any:
    with precision():
        return hull(ball(Fraction(low)), ball(Fraction(high)))


@pytest.mark.parametrize(
    ("low", "high", "cost", "usefulness"),
    [
        ("0.40", "0.45", True, False),
        ("0.45", "0.55", False, False),
        ("0.55", "0.60", False, True),
        ("0.50", "0.50", True, True),
    ],
)
def test_a_value_that_is_not_known_well_enough_reaches_nothing(low: str, high: str, cost: bool, usefulness: bool):
    value, target = _between(low, high), Fraction(1, 2)
    assert reaches(value, target, nw.SquaredError()) is cost
    assert reaches(value, target, nw.Usefulness(1)) is usefulness


GOALS = [
    (nw.Scalar(1), nw.SquaredError(), "0.3"),
    (nw.Scalar(5, integer=True), nw.Usefulness(2), "0.7"),
    (nw.Scalar(4, integer=True), nw.ErrorQuantile("0.9"), "9"),
]


@pytest.mark.parametrize(("query", "utility", "target"), GOALS, ids=["squared", "useful", "quantile"])
def test_no_mechanism_reaches_the_target_where_that_is_claimed(query: nw.Scalar, utility: Any, target: str):
    found = budget_for(query, utility=utility, target=target)
    assert found.impossible_at is not None
    assert 0 < found.impossible_at < found.epsilon
    best = best_possible(query, found.impossible_at, utility)
    assert best < Fraction(target) if utility.larger_is_better else best > Fraction(target)


@pytest.mark.parametrize("utility", [nw.SquaredError(), nw.Usefulness("1/3")], ids=str)
def test_where_the_bound_excludes_nothing_yet_the_claim_waits_for_it(utility: Any):
    """The target is what the best noise reaches at epsilon = 1: above it nothing is impossible."""
    target = best_possible(nw.Scalar(1), Fraction(1), utility)

    def bound(epsilon: Fraction) -> Fraction:
        return best_possible(nw.Scalar(1), epsilon, utility)

    found = impossible_at(bound, utility, target, Fraction("1.05"), SMALLEST_EPSILON)
    assert found is not None
    assert Fraction(9, 10) < found < 1
    assert impossible_at(bound, utility, target, SMALLEST_EPSILON, SMALLEST_EPSILON) is None
    assert impossible_at(lambda _: None, utility, target, Fraction(2), SMALLEST_EPSILON) is None


def test_what_is_infeasible_is_impossible_and_a_solver_that_fails_proves_nothing():
    asked: list[Fraction] = []

    def bound(amount: Fraction) -> Fraction:
        asked.append(amount)
        raise nw.errors.SolverError("no") if len(asked) < 3 else nw.errors.InfeasibleError("no")

    found = impossible_at(bound, nw.SquaredError(), Fraction(1), Fraction(1), SMALLEST_EPSILON)
    assert found == asked[2] == Fraction(996, 1000)

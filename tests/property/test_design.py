"""`design` over its whole range: the winner as drawn meets the bound, and the unit of the answer does not matter."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from noisewright.numerics.fields import FLOATS
from noisewright.problem.privacy import PureDP
from noisewright.problem.queries import Scalar
from noisewright.problem.utilities import ErrorQuantile, Expected, Growth, PowerError, Usefulness
from noisewright.search.design import design
from noisewright.search.families.scalar_pure import _cells, primitive, smallest_integer_width, solve, tuned_staircase
from noisewright.search.report.report import Report
from tests import strategies

EVERY_SYMMETRIC_UTILITY = pytest.mark.parametrize("kind", strategies.SYMMETRIC, ids=lambda kind: kind.__name__)


def utilities(kind: type):
    """All of one kind, not only the usual parameters."""
    wide: dict[type, Any] = {
        PowerError: strategies.decimals(0.01, 16, 3).map(PowerError),
        Usefulness: strategies.decimals(0.001, 20, 3).map(Usefulness) | st.floats(0.001, 5).map(Usefulness),
        ErrorQuantile: st.floats(0.0001, 0.9999).map(ErrorQuantile),
    }
    return wide[kind]


@EVERY_SYMMETRIC_UTILITY
@given(data=st.data(), epsilon=strategies.epsilons, query=strategies.scalars())
@settings(max_examples=60)
def test_the_winner_is_within_a_thousandth_of_the_best_possible(kind, data, epsilon, query):
    utility = strategies.fitted(data.draw(utilities(kind)), query)
    report = design(query, privacy=PureDP(epsilon), utility=utility)
    winner, bound = report.candidates[0], report.bound
    assert winner.gap is not None
    assert bound is not None
    assert winner.gap <= 1e-3
    slack = 1e-12 * abs(bound)
    if utility.larger_is_better:
        assert bound * (1 - 1e-3) <= winner.value <= bound + slack
    else:
        assert bound - slack <= winner.value <= bound * (1 + 1e-3) + slack


@EVERY_SYMMETRIC_UTILITY
@given(data=st.data(), epsilon=strategies.epsilons, query=strategies.scalars())
@settings(max_examples=40)
def test_the_programme_agrees_with_the_tuned_staircase(kind, data, epsilon, query):
    """The theorem and the solver arrive at the same value, each without knowing the other."""
    utility = strategies.fitted(data.draw(strategies.UTILITIES[kind]), query)
    start = tuned_staircase(query, epsilon, utility)
    found = solve(_cells(query, epsilon, start), primitive(query, epsilon, utility)).objective
    if isinstance(utility, PowerError):
        assert found == pytest.approx(start.expected(utility, FLOATS), rel=1e-6)
    elif isinstance(utility, Usefulness):
        assert 1 - found == pytest.approx(start.expected(utility, FLOATS), rel=1e-6)
    elif query.integer:
        width = smallest_integer_width(query, epsilon, utility.confidence)
        assert 1 - found == pytest.approx(start.expected(Usefulness(width), FLOATS), rel=1e-6)
    else:
        assert 1 - found == pytest.approx(float(utility.confidence), rel=1e-3)


@EVERY_SYMMETRIC_UTILITY
@given(data=st.data(), epsilon=strategies.epsilons, query=strategies.scalars())
@settings(max_examples=25)
def test_tailored_noise_as_drawn_agrees_with_the_staircase_too(kind, data, epsilon, query):
    utility = strategies.fitted(data.draw(strategies.UTILITIES[kind]), query)
    report = design(query, privacy=PureDP(epsilon), utility=utility)
    values = {candidate.name: candidate.value for candidate in report.candidates}
    assert values["tailored"] == pytest.approx(values["staircase"], rel=1e-6 if kind is not ErrorQuantile else 1e-3)


@EVERY_SYMMETRIC_UTILITY
@given(data=st.data(), epsilon=strategies.epsilons, factor=st.sampled_from(["1000", "1/7", "0.3"]))
@settings(max_examples=15)
def test_the_unit_of_the_answer_does_not_matter(kind, data, epsilon, factor):
    utility, exact = data.draw(strategies.UTILITIES[kind]), data.draw(st.booleans())
    query = Scalar(factor, exact=exact)
    one = design(Scalar(1, exact=exact), privacy=PureDP(epsilon), utility=utility)
    other = design(query, privacy=PureDP(epsilon), utility=strategies.fitted(utility, query))
    scale = float(query.sensitivity) ** float(utility.degree)
    assert one.bound is not None
    assert other.bound == pytest.approx(one.bound * scale, rel=1e-12)
    assert [c.name for c in other.candidates] == [c.name for c in one.candidates]
    for mine, theirs in zip(one.candidates, other.candidates, strict=True):
        # A limit that meets an edge of the noise misses it by a hair where answers may carry rounding errors.
        near = 1e-9 if exact else 1e-6
        assert theirs.value == pytest.approx(mine.value * scale, rel=near)
        assert theirs.gap == pytest.approx(mine.gap, abs=near)


def within_a_hundredth(report: Report) -> None:
    winner = report.candidates[0]
    assert winner.gap is not None
    assert report.bound is not None
    assert winner.gap <= 0.01
    assert winner.value >= report.bound * (1 - 1e-12)


@given(loss=strategies.losses(), epsilon=strategies.decimals(0.05, 3), per=st.integers(1, 5))
@settings(max_examples=25)
def test_a_users_loss_on_the_integers_is_met_within_a_hundredth(loss, epsilon, per):
    report = design(Scalar(per, integer=True), privacy=PureDP(epsilon), utility=loss)
    within_a_hundredth(report)


REAL_LOSSES = {
    "pinball": Expected(lambda x: x if x > 0 else -4 * x, growth=Growth(1, 4)),
    "squares": Expected(lambda x: x * x if x > 0 else 9 * x * x, growth=Growth(2, 9)),
    "step": Expected(lambda x: 0.0 if -0.5 <= x <= 0.75 else 1.0, growth=0),
    "root and cube": Expected(lambda x: x**0.5 if x > 0 else -(x**3), growth=3),
    "offset": Expected(lambda x: 1 + abs(x), growth=1),
}


@pytest.mark.parametrize("name", REAL_LOSSES)
@pytest.mark.parametrize("epsilon", ["0.1", "3"])
def test_a_users_loss_on_real_answers_is_met_within_a_hundredth(name, epsilon):
    report = design(Scalar(1), privacy=PureDP(Fraction(epsilon)), utility=REAL_LOSSES[name])
    within_a_hundredth(report)

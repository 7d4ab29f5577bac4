"""`design`: what it refuses, how it ranks."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from noisewright.mechanisms.additive import Additive
from noisewright.numerics.balls import ball, hull, precision
from noisewright.problem.errors import (
    InvalidLossError,
    InvalidPrivacyError,
    InvalidQueryError,
    InvalidUtilityError,
    SolverError,
)
from noisewright.problem.privacy import PureDP
from noisewright.problem.queries import Scalar
from noisewright.problem.utilities import AbsoluteError, ErrorQuantile, Expected, Growth, SquaredError, Usefulness
from noisewright.search.design import design
from noisewright.search.designer import Proposal, _candidate, _ranked, outward, relative_gap
from noisewright.search.designers import scalar_pure as scalar
from noisewright.search.report.report import Candidate

ONE = PureDP(1)


@pytest.mark.parametrize("query", [1, None, "count", Scalar, ONE], ids=repr)
def test_what_is_no_question(query):
    with pytest.raises(InvalidQueryError, match="Scalar"):
        design(query, privacy=ONE, utility=AbsoluteError())


@pytest.mark.parametrize("privacy", [1, None, "pure", PureDP, Scalar(1)], ids=repr)
def test_what_is_no_requirement(privacy):
    with pytest.raises(InvalidPrivacyError, match="PureDP"):
        design(Scalar(1), privacy=privacy, utility=AbsoluteError())


@pytest.mark.parametrize("utility", [None, "mse", AbsoluteError, 2], ids=repr)
def test_what_is_no_utility(utility):
    with pytest.raises(InvalidUtilityError, match="SquaredError"):
        design(Scalar(1), privacy=ONE, utility=utility)


BAD_LOSSES = {
    "decreases": (lambda x: abs(x) if abs(x) < 2 else 0.5, "decreases"),
    "not a number": (lambda x: math.nan, "finite"),
    "raises": (lambda x: 1 / x, "raised ZeroDivisionError"),
    "flat on one side": (lambda x: max(x, 0.0), "flat below"),
    "outgrows": (lambda x: x**4, "growth"),
    "negative": (lambda x: abs(x) - 1, "at least 0"),
}


@pytest.mark.parametrize("name", BAD_LOSSES)
@pytest.mark.parametrize("query", [Scalar(1), Scalar(1, integer=True)], ids=str)
def test_losses_that_break_their_promise(query, name):
    loss, why = BAD_LOSSES[name]
    with pytest.raises(InvalidLossError, match=why):
        design(query, privacy=ONE, utility=Expected(loss, growth=Growth(2, 5)))


@pytest.mark.parametrize("query", [Scalar(2), Scalar(2, integer=True)], ids=str)
@pytest.mark.parametrize("utility", [SquaredError(), Usefulness("1.5"), ErrorQuantile("0.9")], ids=str)
def test_candidates_best_first_each_certified(query, utility):
    report = design(query, privacy=PureDP(2), utility=utility)
    names = {candidate.name for candidate in report.candidates}
    assert names >= {"discrete Laplace" if query.integer else "Laplace", "staircase", "tailored"}
    assert len(names) == len(report.candidates)
    values = [candidate.value for candidate in report.candidates]
    slack = 1e-9 * abs(values[0])
    ordered = sorted(values, reverse=utility.larger_is_better)
    assert all(abs(a - b) <= slack for a, b in zip(values, ordered, strict=True))
    for candidate in report.candidates:
        assert candidate.certified.certificate.requirement == PureDP(2)
        assert candidate.certified.certificate.bound <= 2
    assert report.best is report.candidates[0].certified


def test_among_equals_the_simpler_one_wins():
    """At a whole multiple of the sensitivity Laplace noise is as useful as any (theory, section 1)."""
    report = design(Scalar(1), privacy=ONE, utility=Usefulness(2))
    assert report.candidates[0].name == "Laplace"
    assert "Laplace is the best for this question" in report.why


def test_a_lopsided_loss_wins_with_a_bias():
    loss = Expected(lambda x: x if x > 0 else -3 * x, growth=Growth(1, 3))
    report = design(Scalar(3, integer=True), privacy=ONE, utility=loss)
    assert report.candidates[0].name == "tailored"
    assert report.candidates[0].bias > 0
    assert {c.bias for c in report.candidates if c.name != "tailored"} == {0.0}
    assert "bias" in str(report)


def test_symmetric_utilities_have_no_bias():
    for query in (Scalar(1), Scalar(3, integer=True)):
        for utility in (AbsoluteError(), Usefulness("0.7"), ErrorQuantile("0.9")):
            report = design(query, privacy=ONE, utility=utility)
            assert {candidate.bias for candidate in report.candidates} == {0.0}


def test_a_solver_that_fails_costs_nothing_but_the_second_opinion(monkeypatch):
    def fail(*args: object) -> None:
        raise SolverError("no")

    monkeypatch.setattr(scalar, "tailored", fail)
    report = design(Scalar(1), privacy=ONE, utility=SquaredError())
    assert len({candidate.value for candidate in report.candidates if candidate.name in ("staircase", "tailored")}) == 1


def test_numbers_may_be_typed_in_any_form():
    reports = [
        design(Scalar(s), privacy=PureDP(e), utility=Usefulness(w))
        for s, e, w in ((0.1, 0.5, 0.05), ("0.1", "1/2", "1/20"), (Fraction(1, 10), Fraction(1, 2), Fraction(1, 20)))
    ]
    assert len({report.best.mechanism.digest for report in reports}) == 1


def test_the_shown_bound_is_still_one():
    third = Fraction(1, 3)
    assert Fraction(outward(third, larger=True)) >= third >= Fraction(outward(third, larger=False))
    assert outward(Fraction(1, 2), larger=True) == outward(Fraction(1, 2), larger=False) == 0.5


def test_gaps_are_relative_and_never_negative():
    assert relative_gap(Fraction(11), Fraction(10), larger=False) == pytest.approx(0.1)
    assert relative_gap(Fraction(9), Fraction(10), larger=True) == pytest.approx(0.1)
    assert relative_gap(Fraction(9), Fraction(10), larger=False) == 0
    assert relative_gap(Fraction(0), Fraction(0), larger=False) == 0
    assert relative_gap(Fraction(1), Fraction(0), larger=False) == math.inf
    assert relative_gap(Fraction(1), Fraction(1, 10**400), larger=False) == math.inf
    assert relative_gap(Fraction(1), None, larger=False) is None


@pytest.mark.parametrize(
    ("utility", "order"), [(SquaredError(), ["b", "a", "c"]), (Usefulness(1), ["c", "b", "a"])], ids=["cost", "useful"]
)
def test_ranking(utility, order):
    values = {"a": 1.0, "b": 1.0 + (1e-12 if not utility.larger_is_better else 1), "c": 5.0}
    best = design(Scalar(1), privacy=ONE, utility=SquaredError()).best
    candidates = [("bac".index(name), Candidate(name, best, value, 0.0, 0.0)) for name, value in values.items()]
    assert [c.name for c in _ranked(candidates, utility)] == order


@pytest.mark.parametrize(
    ("utility", "low", "high", "bound", "gap"),
    [(SquaredError(), 3, 4, 2, 1.0), (Usefulness(1), Fraction(1, 4), Fraction(3, 4), 1, 0.75)],
    ids=["cost", "useful"],
)
def test_value_and_gap_are_told_from_the_worse_end(utility, low, high, bound, gap, monkeypatch):
    mechanism = design(Scalar(1), privacy=ONE, utility=SquaredError()).best.mechanism
    with precision():
        value = hull(ball(low), ball(high))
    monkeypatch.setattr(Additive, "expected", lambda *_: value)
    found = _candidate(Proposal("any", mechanism), Scalar(1), ONE, utility, Fraction(bound))
    assert found.gap == pytest.approx(gap)
    assert found.value == pytest.approx(float(low if utility.larger_is_better else high))
    assert found.error == pytest.approx(float(high - low))

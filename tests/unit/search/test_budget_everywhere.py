"""`budget_for` under every requirement and for every question that is designed."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from functools import cache
from typing import Any

import pytest

import noisewright as nw
from noisewright.problem.errors import (
    InvalidPrivacyError,
    InvalidQueryError,
    InvalidUtilityError,
    UnreachableTargetError,
)
from noisewright.search import budget as doors
from noisewright.search.budget import reaches
from noisewright.search.design import DESIGNERS, design
from noisewright.search.designers.bounded import bounded_designer
from noisewright.search.programmes.layout import Size
from tests.bounded import few_forms
from tests.wording import stumbles

COUNT = nw.Scalar(1, integer=True)
BOX = nw.Vector(nw.Box([1, 4]))
COUNTS = nw.Histogram(7, bins_per_person=2)
LOSS = nw.Expected(lambda x: x if x > 0 else -2 * x, growth=nw.Growth(1, 2))
CASES: dict[str, tuple[Any, Any, str, dict[str, Any]]] = {
    "vector, pure": (BOX, nw.SquaredError(), "30", {}),
    "vector, delta": (BOX, nw.SquaredError([1, 5]), "30", {"delta": "1e-5"}),
    "vector, zero-concentrated": (BOX, nw.SquaredError(), "30", {"notion": "zero-concentrated"}),
    "vector, whole": (nw.Vector(nw.Box([1, 4]), integer=True), nw.Usefulness(2), "0.8", {}),
    "histogram, pure": (COUNTS, nw.AbsoluteError(), "9", {}),
    "histogram, delta": (COUNTS, nw.AbsoluteError(), "9", {"notion": "approximate", "delta": "1e-5"}),
    "histogram, probabilistic": (COUNTS, nw.SquaredError(), "40", {"notion": "probabilistic", "delta": "1e-4"}),
    "histogram, Renyi": (COUNTS, nw.AbsoluteError(), "9", {"notion": "renyi", "alpha": 3}),
    "histogram, own loss": (COUNTS, LOSS, "20", {}),
    "count, zero-concentrated": (COUNT, nw.ErrorQuantile("0.9"), "3", {"notion": "zero-concentrated"}),
    "number, delta": (nw.Scalar(2), nw.SquaredError(), "3", {"delta": "1e-6"}),
    "number, Huber": (nw.Scalar(2), nw.Huber(1), "3", {}),
    "count, delta": (COUNT, nw.SquaredError(), "3", {"delta": "1e-6"}),
    "count, Huber": (COUNT, nw.Huber(1), "0.5", {}),
    "choice": (nw.Choice(["a", "b", "c"], 1), nw.AbsoluteError(), "2", {}),
    "linear, pure": (nw.Linear([[1, 0, 2], [0, 1, 1]]), nw.SquaredError(), "9", {}),
    "linear, delta": (nw.Linear([[1, 0, 2], [0, 1, 1]]), nw.AbsoluteError(), "9", {"delta": "1e-3"}),
}  # fmt: skip


def _requirement(amount: Fraction, given: dict[str, Any]) -> Any:
    if given.get("notion") == "zero-concentrated":
        return nw.ZeroConcentratedDP(amount)
    if "alpha" in given:
        return nw.RenyiDP(given["alpha"], amount)
    if "delta" not in given:
        return nw.PureDP(amount)
    kind = nw.ProbabilisticDP if given.get("notion") == "probabilistic" else nw.ApproxDP
    return kind(amount, given["delta"])


@cache
def _found(case: str) -> Any:
    """What the target costs; asked for once in a process, for every test that reads it."""
    query, utility, target, given = CASES[case]
    return nw.budget_for(query, utility=utility, target=target, **given)


LONG = ("number, delta", "number, Huber")
"""Priced by script/soak: seconds each."""


@pytest.mark.parametrize(
    "case", [pytest.param(case, marks=[pytest.mark.soak] if case in LONG else []) for case in CASES]
)
def test_at_the_amount_each_mechanism_reaches_the_target_and_a_thousandth_below_it_does_not(case: str):
    query, utility, target, given = CASES[case]
    found, goal = _found(case), Fraction(target)
    assert [row.amount for row in found.rows] == sorted(row.amount for row in found.rows)
    assert found.requirement == _requirement(found.amount, given)
    assert stumbles(str(found)) == {}
    below: dict[Fraction, Any] = {}
    for row in found.rows:
        assert row.certified.certificate.requirement == _requirement(row.amount, given)
        assert row.certified.mechanism.query == query
        assert reaches(row.certified.mechanism.expected(utility), goal, utility)
        assert 0 < row.amount - row.not_below <= row.amount / 1000
        # Rows of one amount have one design below it.
        if row.not_below not in below:
            below[row.not_below] = design(query, privacy=_requirement(row.not_below, given), utility=utility)
        for candidate in below[row.not_below].candidates:
            if candidate.name.split(", power ")[0] == row.name:
                assert not reaches(candidate.certified.mechanism.expected(utility), goal, utility)


@pytest.mark.parametrize("case", ["vector, pure", "histogram, delta", "choice", "linear, pure"])
def test_what_is_called_impossible_is_excluded_by_the_bound_of_the_design(case: str):
    query, utility, target, given = CASES[case]
    found = _found(case)
    assert found.impossible_at is not None
    assert found.impossible_at < found.amount
    bound = design(query, privacy=_requirement(found.impossible_at, given), utility=utility).bound
    assert bound is not None
    assert bound > float(target)


def test_what_no_unbiased_method_reaches_is_called_impossible():
    found = _found("vector, zero-concentrated")
    assert found.impossible_at is not None
    # Gaussian noise needs rho = 25/60; e^(2 rho) - 1 = 25/30 is what none gets by with.
    assert 0.28 < found.impossible_at < 0.5 * math.log1p(25 / 30)
    assert "unbiased" in str(found)


def test_where_no_bound_is_known_nothing_is_called_impossible():
    found = nw.budget_for(BOX, utility=nw.AbsoluteError(), target=10, notion="zero-concentrated")
    assert found.impossible_at is None
    assert "that no mechanism needs less is not proven" in str(found)
    assert json.loads(json.dumps(found.to_dict()))["impossible_at"] is None


def test_an_amount_goes_by_its_own_name():
    found = nw.budget_for(nw.Scalar(1, integer=True), utility=nw.SquaredError(), target=2, notion="zero-concentrated")
    assert found.rho == found.amount == found.rows[0].rho
    assert found.to_dict()["rho"] == str(found.rho)
    assert "smallest rho" in str(found)
    assert not hasattr(found, "epsilon")
    with pytest.raises(AttributeError, match="counted in rho"):
        _ = found.epsilon
    renyi = nw.budget_for(nw.Scalar(1, integer=True), utility=nw.SquaredError(), target=2, notion="renyi", alpha=2)
    assert renyi.epsilon == renyi.amount
    assert "alpha = 2" in str(renyi)
    # Gaussian noise of variance v costs 1/(2v) in rho, and alpha times that at order alpha.
    assert float(found.rho) == pytest.approx(1 / 4, rel=1e-3)
    assert float(renyi.epsilon) == pytest.approx(1 / 2, rel=1e-3)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"notion": "puer"}, "notion is 'puer'"),
        ({"notion": "approximate"}, "needs delta"),
        ({"notion": "renyi"}, "needs alpha"),
        ({"notion": "pure", "delta": "1e-6"}, "delta does not fit"),
        ({"alpha": 2}, "alpha does not fit"),
        ({"notion": "zero-concentrated", "delta": "1e-6"}, "delta does not fit"),
        ({"delta": 2}, "delta is 2"),
    ],
)
def test_a_notion_takes_what_it_takes(given: dict[str, Any], said: str):
    with pytest.raises(InvalidPrivacyError, match=said):
        nw.budget_for(nw.Scalar(1), utility=nw.SquaredError(), target=1, **given)


def test_what_is_not_designed_is_not_priced():
    with pytest.raises(InvalidPrivacyError, match="for a Choice question"):
        nw.budget_for(nw.Choice(["a", "b"], 1), utility=nw.AbsoluteError(), target=1, delta="1e-6")
    with pytest.raises(InvalidUtilityError, match="for a Histogram question"):
        nw.budget_for(COUNTS, utility=LOSS, target=1, delta="1e-6")
    with pytest.raises(InvalidQueryError, match="Histogram"):
        nw.budget_for("a histogram", utility=LOSS, target=1)
    with pytest.raises(UnreachableTargetError, match="up to 32"):
        nw.budget_for(COUNTS, utility=nw.AbsoluteError(), target="1e-300")


BOUNDED = nw.Scalar(1, inputs=(0, 1), outputs=(-4, 5), unbiased=True)


@pytest.fixture(params=[pytest.param("all forms", marks=pytest.mark.soak), "few forms"])
def small_grids(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """Bounded questions on a grid that is solved at once, and nothing read from a cache."""
    if request.param == "few forms":
        few_forms(monkeypatch, "piecewise", "hybrid", "truncated Laplace")
    monkeypatch.setenv("NOISEWRIGHT_CACHE", "off")
    cell = next(cell for cell in DESIGNERS if cell[0].__name__ == "Bounded")
    monkeypatch.setitem(DESIGNERS, cell, bounded_designer(Size(4, 24)))


def test_answers_in_bounds_cost_what_their_cheapest_mechanism_costs(small_grids: None):
    found = nw.budget_for(BOUNDED, utility=nw.SquaredError(), target=2)
    (row,) = found.rows
    assert reaches(row.certified.mechanism.expected(nw.SquaredError()), Fraction(2), nw.SquaredError())
    below = design(BOUNDED, privacy=nw.PureDP(row.not_below), utility=nw.SquaredError())
    for candidate in below.kept:
        assert not reaches(candidate.certified.mechanism.expected(nw.SquaredError()), Fraction(2), nw.SquaredError())
    assert found.impossible_at is not None


def test_where_nothing_keeps_the_promise_the_target_is_not_reached(small_grids: None):
    """Answers without bias need epsilon >= 2 log(1 + 1/margin) or so: smaller ones are infeasible, not an error."""
    narrow = nw.Scalar(1, inputs=(0, 1), outputs=("-1/2", "3/2"), unbiased=True)
    found = nw.budget_for(narrow, utility=nw.SquaredError(), target=100)
    with pytest.raises(nw.errors.InfeasibleError):
        design(narrow, privacy=nw.PureDP(found.rows[0].not_below), utility=nw.SquaredError())
    assert found.impossible_at is not None


def test_what_answers_another_question_is_not_priced(small_grids: None):
    """Truncated noise is shown beside answers without bias, and has the smaller error; it keeps another promise."""
    asked = BOUNDED.bounded
    trials = doors._Trials(DESIGNERS[type(asked), nw.PureDP], asked, nw.SquaredError(), Fraction(2), nw.PureDP)
    report = design(BOUNDED, privacy=nw.PureDP("0.3"), utility=nw.SquaredError())
    best = min(report.candidates, key=lambda c: c.value)
    assert best not in report.kept
    ((name, (certified, _)),) = trials.at(Fraction(3, 10)).items()
    assert name == report.kept[0].name
    assert certified.mechanism.query == asked

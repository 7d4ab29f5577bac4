"""`noisewright budget` finds the epsilon that an accuracy costs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import noisewright as nw
from noisewright.problem.queries import Bounded
from noisewright.search.design import DESIGNERS
from noisewright.search.designers.bounded import bounded_designer
from noisewright.search.programmes.layout import Size
from tests.bounded import few_forms
from tests.e2e.command import Cli, assert_failed, assert_succeeded

SHORT = ("budget", "--sensitivity", "1", "--half-width", "10", "--confidence", "0.95")
LONG = ("budget", "--sensitivity", "1", "--utility", "error-quantile", "--confidence", "0.95", "--target", "10")


def test_the_short_form_and_the_long_form_are_the_librarys_answer(cli: Cli):
    found = nw.budget_for(nw.Scalar(1), utility=nw.ErrorQuantile("0.95"), target=10)
    outcome = cli(*SHORT)
    assert_succeeded(outcome)
    assert outcome.out == f"{found}\n"
    assert outcome.err == ""
    assert cli(*LONG).out == outcome.out


@pytest.mark.parametrize(
    ("words", "utility", "target"),
    [
        (("squared-error", "--target", "2"), nw.SquaredError(), "2"),
        (("power-error", "--power", "3", "--target", "6"), nw.PowerError(3), "6"),
        (("usefulness", "--within", "1/2", "--target", "0.9"), nw.Usefulness("1/2"), "0.9"),
    ],
)
def test_any_utility_has_a_price(cli: Cli, words: tuple[str, ...], utility: object, target: str):
    data = cli("budget", "--sensitivity", "1", "--utility", *words, "--json").data
    found = nw.budget_for(nw.Scalar(1), utility=utility, target=target)  # type: ignore[arg-type]
    assert data == json.loads(json.dumps(found.to_dict()))


def test_integers(cli: Cli):
    data = cli(*SHORT, "--integer", "--json").data
    assert data["query"]["integer"] is True
    assert {row["name"] for row in data["rows"]} == {"discrete Laplace", "staircase", "tailored"}


@pytest.mark.parametrize(
    ("words", "question"),
    [
        (("--sensitivity", "5/2"), nw.Scalar("5/2")),
        (("--sensitivity", "3", "--integer"), nw.Scalar(3, integer=True)),
    ],
)
def test_the_question_is_the_one_that_was_typed(cli: Cli, words: tuple[str, ...], question: nw.Scalar):
    data = cli("budget", *words, "--half-width", "20", "--confidence", "0.9", "--json").data
    assert data["query"] == question.to_dict()
    assert data["utility"] == {"kind": "error-quantile", "confidence": "9/10"}
    assert data["target"] == "20"
    assert all(row["certified"]["mechanism"]["query"] == question.to_dict() for row in data["rows"])


QUESTIONS: dict[str, tuple[tuple[str, ...], object]] = {
    "box": (("--sensitivities", "1,5/2", "--set", "box"), nw.Vector(nw.Box([1, "5/2"]))),
    "whole": (("--sensitivities", "1,2", "--set", "box", "--integer"), nw.Vector(nw.Box([1, 2]), integer=True)),
    "sparse": (("--sensitivities", "1,2,3", "--set", "sparse", "--changes", "2"), nw.Vector(nw.Sparse(2, [1, 2, 3]))),
    "ball": (("--sensitivity", "2", "--set", "l2-ball", "--dimension", "3"), nw.Vector(nw.L2Ball(2, 3))),
    "bins": (
        ("--bins", "4", "--bins-per-person", "2", "--replace"),
        nw.Histogram(4, bins_per_person=2, replace=True),
    ),
    "choice": (("--candidates", "a,b", "--sensitivity", "3"), nw.Choice(["a", "b"], 3)),
}


@pytest.mark.parametrize("name", QUESTIONS)
def test_every_question_has_a_price(cli: Cli, name: str):
    words, query = QUESTIONS[name]
    outcome = cli("budget", *words, "--utility", "absolute-error", "--target", "20", "--json")
    assert_succeeded(outcome)
    found = nw.budget_for(query, utility=nw.AbsoluteError(), target=20)
    assert outcome.data == json.loads(json.dumps(found.to_dict()))


@pytest.mark.parametrize(
    ("words", "given"),
    [
        (("--delta", "1e-6"), {"delta": "1e-6"}),
        (("--notion", "approximate", "--delta", "1e-6"), {"delta": "1e-6"}),
        (("--notion", "probabilistic", "--delta", "1e-6"), {"notion": "probabilistic", "delta": "1e-6"}),
        (("--notion", "renyi", "--alpha", "4"), {"notion": "renyi", "alpha": 4}),
        (("--notion", "zero-concentrated"), {"notion": "zero-concentrated"}),
    ],
)
def test_every_promise_has_a_price(cli: Cli, words: tuple[str, ...], given: dict[str, Any]):
    goal = ("--utility", "squared-error", "--weights", "1,2,3", "--target", "30")
    outcome = cli("budget", "--bins", "3", *goal, *words)
    assert_succeeded(outcome)
    found = nw.budget_for(nw.Histogram(3), utility=nw.SquaredError([1, 2, 3]), target=30, **given)
    assert outcome.out == f"{found}\n"


def test_answers_in_bounds_have_a_price(cli: Cli, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(DESIGNERS, (Bounded, nw.PureDP), bounded_designer(Size(4, 24)))
    few_forms(monkeypatch, "piecewise")
    words = ("--sensitivity", "1", "--inputs=0,1", "--outputs=-4,5", "--unbiased")
    outcome = cli("budget", *words, "--utility", "squared-error", "--target", "2", "--json")
    assert_succeeded(outcome)
    question = nw.Scalar(1, inputs=(0, 1), outputs=(-4, 5), unbiased=True).bounded
    assert question is not None
    assert outcome.data["query"] == question.to_dict()


@pytest.mark.parametrize(
    ("words", "fragments"),
    [
        ((), ("--sensitivity 1", "--bins")),
        (("--bins", "3", "--notion", "bogus"), ("--notion is 'bogus'", "zero-concentrated")),
        (("--bins", "3", "--notion", "approximate"), ("needs --delta",)),
        (("--bins", "3", "--notion", "renyi"), ("needs --alpha",)),
        (("--bins", "3", "--alpha", "2"), ("--alpha does not fit pure privacy",)),
        (("--bins", "3", "--notion", "pure", "--delta", "1e-6"), ("--delta does not fit",)),
        (("--bins", "3", "--delta", "2"), ("delta is 2",)),
        (("--bins", "3", "--weights", "1,2"), ("2 weights for 3 numbers",)),
        (("--candidates", "a,b", "--sensitivity", "1", "--delta", "1e-6"), ("for a Choice question",)),
    ],
)
def test_questions_and_promises_that_do_not_fit_are_bad_input(
    cli: Cli, words: tuple[str, ...], fragments: tuple[str, ...]
):
    assert_failed(cli("budget", *words, "--utility", "squared-error", "--target", "9"), 2, *fragments)


def test_the_mechanism_is_saved_ready_for_use(cli: Cli, tmp_path: Path):
    outcome = cli(*SHORT, "--json", "--save", "mechanism.json")
    assert_succeeded(outcome)
    assert outcome.err.endswith("is in mechanism.json.\n")
    saved = nw.Certified.load(tmp_path / "mechanism.json")
    assert saved.certificate.requirement.to_dict() == {"kind": "pure", "epsilon": outcome.data["epsilon"]}
    assert_succeeded(cli("answer", "mechanism.json", "--value", "42"))


def test_the_cheapest_mechanism_is_the_one_that_is_saved(cli: Cli, tmp_path: Path):
    words = ("--sensitivity", "3", "--utility", "squared-error", "--target", "0.1")
    rows = cli("budget", *words, "--json", "--save", "mechanism.json").data["rows"]
    assert nw.PureDP(rows[0]["epsilon"]).epsilon < nw.PureDP(rows[-1]["epsilon"]).epsilon
    assert json.loads((tmp_path / "mechanism.json").read_text(encoding="utf-8")) == rows[0]["certified"]


@pytest.mark.parametrize(
    ("words", "fragments"),
    [
        ((), ("--half-width and --confidence", "--utility and --target")),
        (("--confidence", "0.95"), ("--half-width and --confidence",)),
        (("--target", "1"), ("--utility and --target",)),
        (("--half-width", "10"), ("--confidence",)),
        (("--half-width", "10", "--confidence", "0.95", "--target", "3"), ("--target",)),
        (("--half-width", "10", "--confidence", "0.95", "--utility", "squared-error"), ("--utility",)),
        (("--half-width", "10", "--confidence", "0.95", "--within", "3"), ("--within",)),
        (("--utility", "squared-error"), ("--target",)),
        (("--utility", "bogus"), ("bogus", "squared-error")),
        (("--utility", "squared-error", "--target", "1", "--confidence", "0.95"), ("--confidence",)),
        (("--utility", "squared-error", "--target", "0"), ("target is 0",)),
        (("--utility", "squared-error", "--target", "x"), ("target", "x")),
        (("--utility", "usefulness", "--within", "1", "--target", "1"), ("target is 1",)),
        (("--half-width", "0", "--confidence", "0.95"), ("half-width is 0",)),
        (("--half-width", "-1", "--confidence", "0.95"), ("half-width is -1",)),
        (("--half-width", "nan", "--confidence", "0.95"), ("half-width", "nan")),
        (("--half-width", "10", "--confidence", "1.5"), ("confidence is 1.5",)),
    ],
)
def test_half_a_goal_or_an_impossible_one_is_bad_input(cli: Cli, words: tuple[str, ...], fragments: tuple[str, ...]):
    assert_failed(cli("budget", "--sensitivity", "1", *words), 2, *fragments)


def test_a_target_out_of_reach_is_refused(cli: Cli):
    goal = ("--utility", "squared-error", "--target", "1e-60")
    assert_failed(cli("budget", "--sensitivity", "1", *goal), 1, "1e-60", "ask for less accuracy")


def test_a_target_that_only_some_mechanisms_reach_is_answered_by_those(cli: Cli):
    words = ("budget", "--sensitivity", "1", "--half-width", "0.001", "--confidence", "0.95")
    outcome = cli(*words)
    assert_succeeded(outcome)
    assert outcome.out.endswith("Out of reach up to epsilon = 32: Laplace.\n")
    data = cli(*words, "--json").data
    assert [row["name"] for row in data["rows"]] == ["staircase", "tailored"]
    assert data["out_of_reach"] == ["Laplace"]

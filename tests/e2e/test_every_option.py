"""No option of `design` can be dropped unnoticed: question, promise and utility are those that were typed."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from noisewright.search.programmes.layout import Size
from tests.e2e.command import Cli, assert_failed, assert_succeeded

Plain = dict[str, Any]
SQUARED: Plain = {"kind": "squared-error"}
NUMBER = ("--sensitivity", "3", "--integer", "--utility", "squared-error")
WHOLE: Plain = {"kind": "scalar", "sensitivity": "3", "integer": True}
REAL: Plain = {"kind": "scalar", "sensitivity": "5/2", "integer": False, "exact": False}


def _designed(cli: Cli, *words: str) -> Plain:
    outcome = cli("design", *words, "--json")
    assert_succeeded(outcome)
    data: Plain = outcome.data
    return data


@pytest.mark.parametrize(
    ("words", "query"),
    [
        (("--sensitivity", "5/2"), REAL),
        (("--sensitivity", "3", "--integer"), WHOLE),
    ],
)
def test_the_question_is_the_one_that_was_typed(cli: Cli, words: tuple[str, ...], query: Plain):
    data = _designed(cli, "--epsilon", "2/3", "--utility", "absolute-error", *words)
    assert data["query"] == query
    assert {json.dumps(c["certified"]["mechanism"]["query"]) for c in data["candidates"]} == {json.dumps(query)}


@pytest.mark.parametrize(
    ("words", "utility"),
    [
        (("absolute-error",), {"kind": "absolute-error"}),
        (("squared-error",), SQUARED),
        (("power-error", "--power", "3/2"), {"kind": "power-error", "power": "3/2"}),
        (("usefulness", "--within", "4/3"), {"kind": "usefulness", "within": "4/3"}),
        (("error-quantile", "--confidence", "0.9"), {"kind": "error-quantile", "confidence": "9/10"}),
    ],
)
def test_the_utility_is_the_one_that_was_typed(cli: Cli, words: tuple[str, ...], utility: Plain):
    assert _designed(cli, "--epsilon", "2/3", "--sensitivity", "5/2", "--utility", *words)["utility"] == utility


PROMISES = [
    (("--epsilon", "2/3"), {"kind": "pure", "epsilon": "2/3"}),
    (("--epsilon", "2/3", "--notion", "pure"), {"kind": "pure", "epsilon": "2/3"}),
    (("--epsilon", "2/3", "--delta", "0.02"), {"kind": "approximate", "epsilon": "2/3", "delta": "1/50"}),
    (
        ("--epsilon", "2/3", "--delta", "0.02", "--notion", "probabilistic"),
        {"kind": "probabilistic", "epsilon": "2/3", "delta": "1/50"},
    ),
    (("--epsilon", "2", "--alpha", "3", "--notion", "renyi"), {"kind": "renyi", "alpha": "3", "epsilon": "2"}),
    (("--rho", "1/3", "--notion", "zero-concentrated"), {"kind": "zero-concentrated", "rho": "1/3"}),
]


@pytest.mark.parametrize(("words", "promise"), PROMISES, ids=[str(p["kind"]) for _, p in PROMISES])
def test_every_mechanism_is_certified_for_the_promise_that_was_typed(
    cli: Cli, tmp_path: Path, words: tuple[str, ...], promise: Plain
):
    data = _designed(cli, *NUMBER, *words, "--save", "kept.json")
    assert data["privacy"] == promise
    assert [c["certified"]["certificate"]["requirement"] for c in data["candidates"]] == (
        [promise] * len(data["candidates"])
    )
    kept = json.loads((tmp_path / "kept.json").read_text(encoding="utf-8"))
    assert kept == data["candidates"][0]["certified"]


@pytest.mark.parametrize(
    ("words", "fragments"),
    [
        (("--epsilon", "1", "--delta", "1e-6", "--notion", "pure"), ("--delta does not fit pure privacy",)),
        (("--epsilon", "1", "--notion", "approximate"), ("approximate privacy needs --delta",)),
        (("--epsilon", "1", "--notion", "renyi"), ("renyi privacy needs --alpha",)),
        (("--rho", "1", "--epsilon", "1", "--notion", "zero-concentrated"), ("--epsilon does not fit",)),
        (("--epsilon", "1", "--rho", "1"), ("--rho does not fit pure privacy",)),
        (("--delta", "1e-6"), ("approximate privacy needs --epsilon",)),
        (("--epsilon", "1", "--notion", "perfect"), ("--notion is 'perfect'", "zero-concentrated")),
        (("--epsilon", "1", "--compose", "two"), ("--compose is 'two'",)),
        (("--epsilon", "1", "--delta", "0.01", "--compose", "0"), ("compose is 0",)),
    ],
)
def test_what_does_not_fit_the_promise_is_refused(cli: Cli, words: tuple[str, ...], fragments: tuple[str, ...]):
    assert_failed(cli("design", *NUMBER, *words), 2, *fragments)


def test_a_plan_of_many_releases_gives_each_a_part_of_the_total(cli: Cli):
    words = ("--sensitivity", "2", "--utility", "absolute-error", "--epsilon", "1", "--delta", "0.01")
    data = _designed(cli, *words, "--compose", "3")
    assert "wins for 3 equal releases" in data["why"]
    single = next(c for c in data["candidates"] if c["name"] == "Laplace")["certified"]["certificate"]["requirement"]
    assert single["kind"] == "pure"
    assert Fraction(1, 3) <= Fraction(single["epsilon"]) < Fraction(2, 3)


def test_plans_of_several_numbers_hold_the_whole_plan(cli: Cli):
    words = ("--sensitivities", "1,2", "--set", "box", "--utility", "squared-error", "--epsilon", "1")
    data = _designed(cli, *words, "--delta", "0.01", "--compose", "3")
    assert data["settings"] == {"compose": 3}
    assert "report.plan" in data["why"]
    assert data["plan"]["digest"]


def test_plans_without_a_total_are_refused_in_one_line(cli: Cli):
    words = ("--epsilon", "1", "--delta", "0.01", "--notion", "probabilistic", "--compose", "3")
    assert_failed(cli("design", *NUMBER, *words), 2, "a plan of many is designed for a total of")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--inputs", "1,3", "--outputs=0.9,3.2", "--bias", "1/20"), "inputs in [1, 3] with sensitivity 1.5"),
        (("--inputs", "1,3", "--outputs=0.9,3.2", "--bias", "1/20"), "with a bias of at most 0.05 inside [0.9, 3.2]"),
        (("--inputs", "1,3", "--outputs=0.9,3.2", "--unbiased"), "without bias inside [0.9, 3.2]"),
    ],
)
def test_bounds_that_are_too_narrow_are_those_that_were_typed(cli: Cli, words: tuple[str, ...], said: str):
    question = ("--sensitivity", "3/2", "--epsilon", "1", "--utility", "worst-variance")
    assert_failed(cli("design", *question, *words), 1, said)


@pytest.mark.parametrize(
    ("words", "utility", "bias"),
    [
        (("worst-variance", "--unbiased"), {"kind": "worst-variance"}, "0"),
        (("average-variance", "--bias", "1/20"), {"kind": "average-variance", "prior": None}, "1/20"),
    ],
)
def test_bounded_questions_keep_their_bounds_and_their_average(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], utility: Plain, bias: str
):
    monkeypatch.setattr("noisewright.search.designers.bounded.default_size", lambda query, epsilon: Size(4, 24))
    question = ("--sensitivity", "2", "--inputs", "1,3", "--outputs=-2,8", "--epsilon", "2")
    data = _designed(cli, *question, "--utility", *words)
    assert data["utility"] == utility
    assert data["query"] == {
        "kind": "bounded",
        "sensitivity": "2",
        "inputs": ["1", "3"],
        "outputs": ["-2", "8"],
        "bias": bias,
        "exact": False,
    }

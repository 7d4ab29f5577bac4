"""A choice from `design --candidates` to `answer`."""

from __future__ import annotations

from pathlib import Path

import pytest

import noisewright as nw
from noisewright.sample.certified import make_certified
from tests.e2e.command import Cli, assert_failed, assert_succeeded

QUESTION = ("design", "--candidates", "red, green,blue", "--epsilon", "2/3")
CHOICE = (*QUESTION, "--sensitivity", "5/2", "--utility", "absolute-error")


def test_a_choice_is_designed_saved_described_and_answered(cli: Cli, tmp_path: Path):
    outcome = cli(*CHOICE, "--save", "choice.json")
    assert_succeeded(outcome)
    assert "Question: one of 3 candidates, score sensitivity 2.5" in outcome.out
    assert "permute-and-flip" in outcome.out
    assert "Rule:      pure/permute-and-flip" in cli("verify", "choice.json").out
    assert cli("describe", "choice.json").out == nw.Certified.load(tmp_path / "choice.json").describe() + "\n"
    # One so far ahead is missed with probability below 1e-300.
    for typed, chosen in (("0,10000,0", "green"), (" 1e4 , 0,1/3", "red"), ("0,0,10000", "blue")):
        outcome = cli("answer", "choice.json", "--value", typed)
        assert_succeeded(outcome)
        assert outcome.out == f"{chosen}\n"
    assert cli("answer", "choice.json", "--value", "-", typed="0,10000,0\n").out == "green\n"


def test_the_question_is_the_one_that_was_typed(cli: Cli):
    data = cli(*CHOICE, "--json").data
    assert data["query"] == {
        "kind": "choice",
        "candidates": ["red", "green", "blue"],
        "sensitivity": "5/2",
        "exact": False,
    }
    assert data["privacy"] == {"kind": "pure", "epsilon": "2/3"}
    assert [c["name"] for c in data["candidates"]] == ["permute-and-flip", "exponential"]


def test_a_saved_exponential_mechanism_answers_too(cli: Cli, tmp_path: Path):
    mechanism = nw.mechanisms.RandomExponential(nw.Choice(["a", "b"]), [1], [1])
    make_certified(mechanism, nw.PureDP(1)).save(tmp_path / "old.json")
    assert cli("answer", "old.json", "--value", "0,10000").out == "b\n"


@pytest.mark.parametrize("values", ["1,2", "1,2,3,4", "7"])
def test_every_candidate_needs_one_score(cli: Cli, values: str):
    assert cli(*CHOICE, "--save", "choice.json").code == 0
    assert_failed(cli("answer", "choice.json", "--value", values), 2, "3 candidates", "in their order")


@pytest.mark.parametrize(
    "more",
    [
        ("--integer",),
        ("--inputs", "0,1", "--outputs", "0,1"),
        ("--unbiased",),
        ("--sensitivities", "1,2", "--set", "box"),
        ("--weights", "1,2"),
    ],
    ids=" ".join,
)
def test_options_about_numbers_do_not_fit_a_choice(cli: Cli, more: tuple[str, ...]):
    assert_failed(cli(*CHOICE, *more), 2, "--candidates takes --sensitivity")


@pytest.mark.parametrize(
    ("words", "fragment"),
    [
        ((*QUESTION, "--utility", "absolute-error"), "--candidates needs --sensitivity"),
        ((*QUESTION, "--sensitivity", "1", "--utility", "worst-variance"), "Choice question"),
        ((*CHOICE, "--delta", "1e-6"), "Choice question"),
        ((*CHOICE, "--plot", "choice.png"), "depends on the scores"),
        (("design", "--candidates", "a,a", *CHOICE[3:]), "candidates names 'a' twice"),
    ],
)
def test_what_cannot_be_chosen_is_said(cli: Cli, words: tuple[str, ...], fragment: str):
    assert_failed(cli(*words), 2, fragment)

"""`noisewright design` does what the library does, and writes what it is asked to write."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import noisewright as nw
from tests.e2e.command import DESIGN, Cli, assert_succeeded

QUESTION = ("design", "--epsilon", "1", "--sensitivity", "1")


def _report(utility: object, *, integer: bool = False, epsilon: str = "1", sensitivity: str = "1") -> nw.Report:
    return nw.design(nw.Scalar(sensitivity, integer=integer), privacy=nw.PureDP(epsilon), utility=utility)


@pytest.mark.parametrize(
    ("words", "utility"),
    [
        (("squared-error",), nw.SquaredError()),
        (("absolute-error",), nw.AbsoluteError()),
        (("power-error", "--power", "3"), nw.PowerError(3)),
        (("usefulness", "--within", "0.5"), nw.Usefulness("0.5")),
        (("error-quantile", "--confidence", "0.95"), nw.ErrorQuantile("0.95")),
    ],
)
def test_it_prints_the_librarys_report_for_every_utility(cli: Cli, words: tuple[str, ...], utility: object):
    outcome = cli(*QUESTION, "--utility", *words)
    assert_succeeded(outcome)
    assert outcome.out == f"{_report(utility)}\n"
    assert outcome.err == ""


def test_it_designs_for_integers(cli: Cli):
    outcome = cli(*QUESTION, "--utility", "absolute-error", "--integer")
    assert_succeeded(outcome)
    assert outcome.out == f"{_report(nw.AbsoluteError(), integer=True)}\n"
    assert "discrete Laplace" in outcome.out


def test_numbers_are_read_exactly(cli: Cli):
    words = ("design", "--epsilon", "1/3", "--sensitivity", "0.1", "--utility", "usefulness", "--within", "1e-1")
    data = cli(*words, "--json").data
    assert data["privacy"]["epsilon"] == "1/3"
    assert data["query"]["sensitivity"] == "1/10"
    assert data["utility"]["within"] == "1/10"


def test_json_is_the_report_and_nothing_else(cli: Cli):
    outcome = cli(*DESIGN, "--json", "--save", "mechanism.json")
    assert_succeeded(outcome)
    assert outcome.data == json.loads(json.dumps(_report(nw.SquaredError()).to_dict()))


def test_json_stays_json_where_a_gap_has_no_bound(cli: Cli):
    words = (
        "--epsilon",
        "10",
        "--sensitivity",
        "7",
        "--integer",
        "--utility",
        "error-quantile",
        "--confidence",
        "0.95",
    )
    gaps = {candidate["name"]: candidate["gap"] for candidate in cli("design", *words, "--json").data["candidates"]}
    assert gaps == {"staircase": 0.0, "tailored": 0.0, "discrete Laplace": None}


def test_the_winner_is_saved_and_the_place_is_said(cli: Cli, tmp_path: Path):
    outcome = cli(*DESIGN, "--save", "kept.json")
    assert_succeeded(outcome)
    assert outcome.err == "The mechanism (staircase) is in kept.json.\n"
    kept = nw.Certified.load(tmp_path / "kept.json")
    assert kept.to_dict() == _report(nw.SquaredError()).best.to_dict()


@pytest.mark.parametrize(
    ("name", "signature"), [("a.png", b"\x89PNG\r\n\x1a\n"), ("a.pdf", b"%PDF-"), ("a.SVG", b"<?xml")]
)
def test_the_picture_is_drawn_and_the_place_is_said(cli: Cli, tmp_path: Path, name: str, signature: bytes):
    outcome = cli(*DESIGN, "--plot", name)
    assert_succeeded(outcome)
    assert outcome.err == f"The picture is in {name}.\n"
    content = (tmp_path / name).read_bytes()
    assert content.startswith(signature)
    assert len(content) > 5000

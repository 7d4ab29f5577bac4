"""From `design --save` through `verify` and `describe` to `answer`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import noisewright as nw
from noisewright.sample.certified import make_certified
from tests.e2e.command import Cli, assert_failed, assert_succeeded


def test_verify_says_what_was_proven(cli: Cli, mechanism: Path):
    outcome = cli("verify", "mechanism.json")
    assert_succeeded(outcome)
    digest = json.loads(mechanism.read_text(encoding="utf-8"))["digest"]
    assert outcome.out.splitlines() == [
        "Proven:    pure differential privacy, epsilon = 1",
        "Bound:     1",
        "Rule:      pure/levels-within-sensitivity",
        "Query:     one number, sensitivity 1",
        "Adjacency: as declared: one person moves the answer by at most the sensitivity",
        f"Digest:    {digest}",
    ]


def test_verify_shows_a_bound_that_is_no_short_decimal_exactly(cli: Cli):
    question = ("--epsilon", "1/3", "--sensitivity", "1", "--utility", "squared-error")
    assert cli("design", *question, "--save", "third.json").code == 0
    assert "Bound:     1/3 (about 0.333333)\n" in cli("verify", "third.json").out


def test_verify_tells_what_was_claimed_from_what_was_proven(cli: Cli, tmp_path: Path):
    quiet = nw.design(nw.Scalar(3), privacy=nw.PureDP("1/4"), utility=nw.SquaredError()).best.mechanism
    make_certified(quiet, nw.PureDP("7/2")).save(tmp_path / "more.json")
    shown = cli("verify", "more.json").out.splitlines()
    assert shown[0] == "Proven:    pure differential privacy, epsilon = 3.5"
    assert shown[1] == "Bound:     0.25"
    assert shown[3] == "Query:     one number, sensitivity 3"


def test_describe_uses_the_librarys_words(cli: Cli, mechanism: Path):
    outcome = cli("describe", "mechanism.json")
    assert_succeeded(outcome)
    assert outcome.out == nw.Certified.load(mechanism).describe() + "\n"


def test_explain_uses_the_librarys_words_and_writes_a_page(cli: Cli, mechanism: Path, tmp_path: Path):
    certified = nw.Certified.load(mechanism)
    outcome = cli("explain", "mechanism.json")
    assert_succeeded(outcome)
    assert outcome.out == certified.explain() + "\n"
    written = cli("explain", "mechanism.json", "--html", "page.html")
    assert_succeeded(written)
    assert written.out == ""
    assert "page.html" in written.err
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert page.startswith('<!DOCTYPE html>\n<html lang="en">')
    assert certified.explain(html=True) in page
    assert "http" not in page
    assert_failed(cli("explain", "mechanism.json", "--html", "no/such/page.html"), 2)


@pytest.mark.parametrize("value", ["42", "-3.5", "1/3", "1e-3", " 7 "])
def test_answer_prints_one_number_and_nothing_else(cli: Cli, mechanism: Path, value: str):
    outcome = cli("answer", "mechanism.json", "--value", value)
    assert_succeeded(outcome)
    assert outcome.err == ""
    assert outcome.out.count("\n") == 1
    released = float(outcome.out)
    # The noise exceeds 45 less than once in 10^19 draws at epsilon 1.
    assert abs(released - float(nw.problem.numbers.data_value(value, "value"))) < 45


def test_answers_differ_from_call_to_call(cli: Cli, mechanism: Path):
    answers = {cli("answer", "mechanism.json", "--value", "42").out for _ in range(8)}
    assert len(answers) > 1  # eight equal ones: below 10^-15


@pytest.mark.parametrize(
    ("value", "released"), [("42", "42"), ("-3", "-3"), ("84/2", "42"), ("42.0", "42"), ("1e3", "1000")]
)
def test_an_integer_is_released_as_one(cli: Cli, sure_integer: Path, value: str, released: str):
    outcome = cli("answer", "integer.json", "--value", value)
    assert_succeeded(outcome)
    assert outcome.out == f"{released}\n"


def test_the_value_is_not_rounded_on_its_way(cli: Cli, sure_integer: Path):
    assert cli("answer", "integer.json", "--value", "9007199254740991").out == "9007199254740991\n"
    assert_failed(cli("answer", "integer.json", "--value", "42.0000000000000000001"), 2, "made for integers")


def test_a_value_that_nobody_sees_comes_through_standard_input(cli: Cli, sure_integer: Path):
    assert cli("answer", "integer.json", "--value", "-", typed="-17\n").out == "-17\n"
    assert_failed(cli("answer", "integer.json", "--value", "-", typed=""), 2, "standard input is empty")
    assert_failed(cli("answer", "integer.json", "--value", "-", typed="1\n2\n"), 2, "number")


@pytest.mark.parametrize("value", ["nan", "inf", "-inf", "1e300", "-1e300", "abc", "", "1/0", "1e99999999"])
def test_a_value_that_cannot_be_answered_is_bad_input(cli: Cli, mechanism: Path, value: str):
    assert_failed(cli("answer", "mechanism.json", "--value", value), 2)


def test_a_fraction_for_an_integer_mechanism_is_bad_input(cli: Cli, sure_integer: Path):
    assert_failed(cli("answer", "integer.json", "--value", "41.5"), 2, "made for integers")


@pytest.mark.parametrize("value", ["8675.309", "8675,309", "8675309e99", "8675309 people"])
def test_an_error_does_not_repeat_the_private_value(cli: Cli, sure_integer: Path, value: str):
    for outcome in (
        cli("answer", "integer.json", "--value", value),
        cli("answer", "integer.json", "--value", "-", typed=value),
    ):
        assert_failed(outcome, 2)
        assert "8675" not in outcome.err


def test_answer_needs_a_value(cli: Cli, mechanism: Path):
    assert_failed(cli("answer", "mechanism.json"), 2, "--value")

"""Bounded questions on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.command import Cli, assert_failed, assert_succeeded
from tests.e2e.spec_files import write

BOUNDED = ("design", "--epsilon", "1", "--sensitivity", "120", "--inputs", "0,120", "--unbiased")


def test_a_bounded_question_is_designed_saved_and_answered(cli: Cli):
    words = ("--outputs=-70,190", "--utility", "worst-variance", "--save", "ages.json", "--plot", "ages.png")
    outcome = cli(*BOUNDED, *words)
    assert_succeeded(outcome)
    assert "linear programme wins" in outcome.plain
    assert_succeeded(cli("verify", "ages.json"))
    described = cli("describe", "ages.json")
    assert "exactly the true answer" in " ".join(described.plain.split())
    answer = cli("answer", "ages.json", "--value", "42")
    assert_succeeded(answer)
    assert -70 <= float(answer.out) <= 190


def test_a_wide_range_is_designed_saved_and_answered(cli: Cli):
    words = ("--inputs", "0,1000", "--outputs=-500,1500", "--unbiased", "--utility", "worst-variance")
    outcome = cli("design", "--epsilon", "1", "--sensitivity", "1", *words, "--save", "wide.json")
    assert_succeeded(outcome)
    assert "clamped staircase" in outcome.plain
    assert_succeeded(cli("verify", "wide.json"))
    assert "exactly the true answer" in " ".join(cli("describe", "wide.json").plain.split())
    answer = cli("answer", "wide.json", "--value", "321")
    assert_succeeded(answer)
    # Farther off than this once in ten million million answers.
    assert abs(float(answer.out) - 321) < 32


def test_an_impossible_question_names_what_is_possible(cli: Cli):
    outcome = cli(*BOUNDED, "--outputs=-38,158", "--utility", "worst-variance")
    assert outcome.code != 0
    assert "1.42500887331" in outcome.err
    assert "-69.8372048244" in outcome.err


@pytest.mark.parametrize(
    "words",
    [
        ("--outputs", "5", "--utility", "worst-variance"),
        ("--outputs=-70.5,190", "--utility", "absolute-error", "--integer"),
        ("--outputs=-70,190", "--utility", "worst-variance", "--bias", "1"),
    ],
)
def test_what_does_not_fit_together_is_refused(cli: Cli, words: tuple[str, ...]):
    outcome = cli(*BOUNDED, *words)
    assert outcome.code != 0
    assert outcome.err.startswith("error:")


def test_variance_utilities_need_bounds(cli: Cli):
    outcome = cli("budget", "--sensitivity", "1", "--utility", "worst-variance", "--target", "1")
    assert outcome.code != 0
    assert "for a Scalar question under PureDP" in outcome.err


def test_bounds_in_a_spec_file(cli: Cli, tmp_path: Path):
    asked = 'kind = "count"\noutputs = [{}, 340]\ninputs = [0, 300]\n'
    write(tmp_path, ('kind = "count"\n', asked.format(-40)))
    done = cli("release", "visits.toml", "--json")
    assert_succeeded(done)
    counts = [row["value"] for row in done.data if row["question"] == "count"]
    assert len(counts) == 4
    assert all(-40 <= value <= 340 for value in counts)
    write(tmp_path, ('kind = "count"\n', asked.format(0)))
    assert_failed(cli("release", "visits.toml"), 1, "it takes outputs of at least")

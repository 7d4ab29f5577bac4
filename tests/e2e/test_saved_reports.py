"""`design --save-report` and `verify` of what it wrote."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from noisewright.problem.records import digest
from noisewright.search.report.report import Report
from tests.e2e.command import Cli, assert_failed, assert_succeeded

QUESTION = ("design", "--epsilon", "1", "--sensitivity", "1", "--utility", "absolute-error", "--integer")


@pytest.fixture
def report(cli: Cli, tmp_path: Path) -> Path:
    saved = cli(*QUESTION, "--save-report", "report.json")
    assert_succeeded(saved)
    assert saved.err == "The report is in report.json.\n"
    return tmp_path / "report.json"


def test_a_saved_report_is_verified(cli: Cli, report: Path):
    outcome = cli("verify", "report.json")
    assert_succeeded(outcome)
    assert outcome.out.splitlines() == [
        "Proven:  pure differential privacy, epsilon = 1",
        "Query:   one integer, sensitivity 1",
        "Utility: mean absolute error",
        "Best:    no better than 0.850918 is possible",
        "1:       discrete Laplace, 0.850918, gap none",
        "2:       staircase, 0.850918, gap none",
        "3:       tailored, 0.850918, gap none",
        f"Digest:  {json.loads(report.read_text(encoding='utf-8'))['digest']}",
    ]


def test_what_json_prints_is_a_report_too(cli: Cli, tmp_path: Path, report: Path):
    (tmp_path / "printed.json").write_text(cli(*QUESTION, "--json").out, encoding="utf-8")
    assert cli("verify", "printed.json").out == cli("verify", "report.json").out


def test_linear_questions_keep_their_report(cli: Cli, tmp_path: Path):
    (tmp_path / "queries.csv").write_text("1,0,2\n0,1,1\n", encoding="utf-8")
    words = ("linear", "--queries", "queries.csv", "--epsilon", "1", "--save-report", "linear.json")
    assert_succeeded(cli(*words))
    assert_succeeded(cli("verify", "linear.json"))
    assert Report.load(tmp_path / "linear.json").query.dimension == 2


def test_a_report_that_claims_too_much_is_refused(cli: Cli, report: Path):
    data = json.loads(report.read_text(encoding="utf-8"))
    data["candidates"][0]["value"] /= 2
    report.write_text(json.dumps(data), encoding="utf-8")
    assert_failed(cli("verify", "report.json"), 1, "digest")
    del data["digest"]
    report.write_text(json.dumps({**data, "digest": digest(data)}), encoding="utf-8")
    assert_failed(cli("verify", "report.json"), 1, "the value of discrete Laplace", "refused")


@pytest.mark.parametrize("words", [("describe",), ("explain",), ("answer", "--value", "42")])
def test_a_report_is_no_mechanism(cli: Cli, report: Path, words: tuple[str, ...]):
    assert_failed(cli(words[0], "report.json", *words[1:]), 1, "noisewright report", "give a mechanism")


@pytest.mark.parametrize("place", ["missing/report.json", "."])
def test_a_place_where_nothing_can_be_written_is_refused_before_any_work(cli: Cli, place: str):
    assert_failed(cli(*QUESTION, "--save-report", place), 2, "--save-report")


def test_a_report_on_a_plan_is_kept_and_proven_again(cli: Cli, tmp_path: Path):
    words = ("--epsilon", "2", "--delta", "0.1", "--sensitivity", "1", "--utility", "squared-error", "--compose", "2")
    assert cli("design", *words, "--save-report", "plan.json").code == 0
    outcome = cli("verify", "plan.json")
    assert outcome.code == 0
    assert "epsilon = 2, delta = 0.1, in total over 2 equal releases" in outcome.out
    data = json.loads((tmp_path / "plan.json").read_text(encoding="utf-8"))
    data["settings"] = {"compose": 1}
    (tmp_path / "plan.json").write_text(json.dumps(data), encoding="utf-8")
    assert_failed(cli("verify", "plan.json"), 1, "digest")

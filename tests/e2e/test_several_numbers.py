"""`noisewright design` and `answer` for several numbers."""

from __future__ import annotations

from pathlib import Path

import pytest

import noisewright as nw
from tests.e2e.command import Cli, assert_succeeded

COMMON = ("design", "--epsilon", "1", "--utility", "squared-error")


def test_it_prints_the_librarys_report_and_keeps_the_winner(cli: Cli, tmp_path: Path):
    saved, picture = tmp_path / "mechanism.json", tmp_path / "picture.png"
    outcome = cli(*COMMON, "--sensitivities", "1,120,1e6", "--set", "box", "--save", str(saved), "--plot", str(picture))
    assert_succeeded(outcome)
    report = nw.design(nw.Vector(nw.Box([1, 120, "1e6"])), privacy=nw.PureDP(1), utility=nw.TotalSquaredError())
    assert outcome.out == f"{report}\n"
    assert picture.stat().st_size > 10_000
    answer = cli("answer", str(saved), "--value", "1, 2, 3")
    assert_succeeded(answer)
    assert len([float(v) for v in answer.out.split(",")]) == 3
    assert_succeeded(cli("verify", str(saved)))
    short = cli("answer", str(saved), "--value", "1")
    assert short.code != 0
    assert "3" in short.err


def test_sensitivities_come_from_a_file(cli: Cli, tmp_path: Path):
    listed = tmp_path / "sensitivities.txt"
    listed.write_text("1\n2\n\n3\n", encoding="utf-8")
    outcome = cli(*COMMON, "--sensitivities-file", str(listed), "--set", "disjoint", "--weights", "1,1,2")
    assert_succeeded(outcome)
    wanted = nw.TotalSquaredError([1, 1, 2])
    report = nw.design(nw.Vector(nw.Disjoint([1, 2, 3])), privacy=nw.PureDP(1), utility=wanted)
    assert outcome.out == f"{report}\n"


@pytest.mark.parametrize(
    "words",
    [
        ("--sensitivities", "1,2,3", "--set", "sparse", "--changes", "2"),
        ("--sensitivities", "1,2,3", "--set", "replace"),
        ("--sensitivities", "1,2;0,1", "--set", "points"),
        ("--sensitivity", "1", "--set", "l1-ball", "--dimension", "3"),
        ("--sensitivity", "1", "--set", "l2-ball", "--dimension", "3"),
    ],
)
def test_every_set_has_a_name(cli: Cli, words: tuple[str, ...]):
    assert_succeeded(cli(*COMMON, *words))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--sensitivities", "1,2"), "--set is missing"),
        (("--sensitivities", "1,2", "--set", "ring"), "'ring'"),
        (("--sensitivities", "1,x", "--set", "box"), "sensitivity 2"),
        (("--sensitivities", "", "--set", "box"), "empty"),
        (("--set", "box"), "--sensitivities"),
        (("--sensitivities", "1,2", "--set", "sparse"), "--changes"),
        (("--sensitivities", "1,2", "--set", "l2-ball"), "--dimension"),
        (("--sensitivity", "1", "--set", "box"), "--sensitivities"),
        (("--sensitivities", "1,2", "--set", "box", "--weights", "1"), "1 weights for 2 numbers"),
        (("--sensitivities", "1,2", "--set", "box", "--integer"), "--integer"),
        (("--sensitivities-file", "missing.txt", "--set", "box"), "cannot read"),
        ((), "--sensitivity"),
    ],
)
def test_what_does_not_fit_together_is_refused_in_one_line(cli: Cli, words: tuple[str, ...], said: str):
    outcome = cli(*COMMON, *words)
    assert outcome.code != 0
    assert said in outcome.err
    assert outcome.err.count("\n") == 1
    assert outcome.out == ""

"""`noisewright design` and `answer` for several numbers."""

from __future__ import annotations

from pathlib import Path

import pytest

import noisewright as nw
from tests.e2e.command import Cli, assert_failed, assert_succeeded

COMMON = ("design", "--epsilon", "1", "--utility", "squared-error")


def test_it_prints_the_librarys_report_and_keeps_the_winner(cli: Cli, tmp_path: Path):
    saved, picture = tmp_path / "mechanism.json", tmp_path / "picture.png"
    outcome = cli(*COMMON, "--sensitivities", "1,120,1e6", "--set", "box", "--save", str(saved), "--plot", str(picture))
    assert_succeeded(outcome)
    with pytest.warns(nw.errors.UnevenNumbersWarning):  # asked for without weights, to see that the report says so
        report = nw.design(nw.Vector(nw.Box([1, 120, "1e6"])), privacy=nw.PureDP(1), utility=nw.SquaredError())
    assert outcome.out == f"{report}\n"
    assert "SquaredError(weights=[1, 6.94444e-05, 1e-12])" in outcome.out
    assert picture.stat().st_size > 10_000
    answer = cli("answer", str(saved), "--value", "1, 2, 3")
    assert_succeeded(answer)
    assert len([float(v) for v in answer.out.split(",")]) == 3
    assert_succeeded(cli("verify", str(saved)))
    short = cli("answer", str(saved), "--value", "1")
    assert short.code != 0
    assert "3" in short.err


def test_weights_are_read_as_any_other_number(cli: Cli):
    outcome = cli(*COMMON, "--sensitivities", "1,120,1e6", "--set", "box", "--weights", "1,1/14400,1e-12")
    assert_succeeded(outcome)
    wanted = nw.SquaredError([1, "1/14400", "1e-12"])
    report = nw.design(nw.Vector(nw.Box([1, 120, "1e6"])), privacy=nw.PureDP(1), utility=wanted)
    assert outcome.out == f"{report}\n"
    assert_failed(cli(*COMMON, "--sensitivities", "1,2", "--set", "box", "--weights", "1,much"), 2, "weight 2 is")


def test_sensitivities_come_from_a_file(cli: Cli, tmp_path: Path):
    listed = tmp_path / "sensitivities.txt"
    listed.write_text("1\n2\n\n3\n", encoding="utf-8")
    outcome = cli(*COMMON, "--sensitivities-file", str(listed), "--set", "disjoint", "--weights", "1,1,2")
    assert_succeeded(outcome)
    wanted = nw.SquaredError([1, 1, 2])
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
        (("--sensitivities", "1,1/2", "--set", "box", "--integer"), "integer"),
        (("--sensitivities", "1,2", "--set", "groups"), "'groups'"),
        (("--bins", "x"), "--bins is 'x'"),
        (("--bins", "0"), "bins is 0"),
        (("--bins", "3", "--bins-per-person", "4"), "bins_per_person is 4"),
        (("--bins", "3", "--sensitivity", "1"), "leave out --sensitivity"),
        (("--bins", "3", "--sensitivities", "1,2", "--set", "box"), "leave out --sensitivity"),
        (("--bins", "3", "--candidates", "a,b"), "leave out --sensitivity"),
        (("--bins", "3", "--inputs=0,1"), "leave out --sensitivity"),
        (("--bins-per-person", "2"), "--bins-per-person goes with --bins"),
        (("--sensitivity", "1", "--replace"), "--replace goes with --bins"),
        (("--sensitivities-file", "missing.txt", "--set", "box"), "cannot be read"),
        ((), "--sensitivity"),
    ],
)
def test_what_does_not_fit_together_is_refused_in_one_line(cli: Cli, words: tuple[str, ...], said: str):
    outcome = cli(*COMMON, *words)
    assert outcome.code != 0
    assert said in outcome.err
    assert outcome.err.count("\n") == 1
    assert outcome.out == ""


@pytest.fixture
def quiet(tmp_path: Path) -> int:
    """84 numbers with noise so small that what is released can be compared, in quiet.json."""
    query = nw.Vector(nw.Disjoint(["0.01"] * 84))
    nw.design(query, privacy=nw.PureDP(32), utility=nw.SquaredError()).best.save(tmp_path / "quiet.json")
    return query.dimension


def test_every_number_on_standard_input_is_read_to_its_last_digit(cli: Cli, quiet: int):
    # The last number straddles the thousandth character.
    truths = [100000.125 + i for i in range(quiet - 1)] + [123456.789]
    typed = ", ".join(f"{v:.3f}" for v in truths)
    assert typed.rindex(" ") < 1000 < len(typed)
    outcome = cli("answer", "quiet.json", "--value", "-", typed=f"{typed}\n")
    assert_succeeded(outcome)
    released = [float(v) for v in outcome.out.split(",")]
    assert released == pytest.approx(truths, abs=0.5)


def test_a_long_standard_input_is_read_whole(cli: Cli, quiet: int):
    outcome = cli("answer", "quiet.json", "--value", "-", typed=" " * 10**6 + ",".join(["7"] * quiet))
    assert_succeeded(outcome)
    assert [float(v) for v in outcome.out.split(",")] == pytest.approx([7] * quiet, abs=0.5)


def test_a_standard_input_without_end_is_refused_and_not_cut(cli: Cli, quiet: int):
    numbers = ",".join(["31415"] * quiet)
    outcome = cli("answer", "quiet.json", "--value", "-", typed=numbers + " " * (16 * 2**20))
    assert_failed(outcome, 2, "standard input holds more than 16,777,216 characters")
    assert "31415" not in outcome.err

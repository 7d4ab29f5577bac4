"""`noisewright sweep` compares mechanisms over several epsilons."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

import noisewright as nw
from tests.e2e.command import Cli, assert_failed, assert_succeeded

SWEEP = ("sweep", "--sensitivity", "1", "--utility", "squared-error")
COLUMNS = ["Laplace", "staircase", "tailored", "two-fold optimum", "best possible"]


def _values(epsilon: str, utility: object) -> list[float | None]:
    report = nw.design(nw.Scalar(1), privacy=nw.PureDP(epsilon), utility=utility)
    reached = {candidate.name: candidate.value for candidate in report.candidates}
    return [*(reached[name] for name in COLUMNS[:-1]), report.bound]


def _epsilons(cli: Cli, *words: str) -> list[str]:
    return [row["epsilon"] for row in cli(*SWEEP, *words, "--json").data["rows"]]


def test_the_table_has_a_row_for_each_epsilon_and_a_column_for_each_mechanism(cli: Cli):
    outcome = cli(*SWEEP, "--epsilons", "1,0.1,1/3")
    assert_succeeded(outcome)
    assert outcome.err == ""
    table = outcome.out.splitlines()[3:]
    assert table[0].split() == [
        "epsilon",
        "Laplace",
        "staircase",
        "tailored",
        "two-fold",
        "optimum",
        "best",
        "possible",
    ]
    for line, epsilon in zip(table[2:], ["1", "0.1", "1/3"], strict=True):
        shown = [f"{value:.6g}" for value in _values(epsilon, nw.SquaredError())]
        assert line.split()[1:] == shown


def test_csv_has_the_librarys_numbers_to_the_last_digit(cli: Cli, tmp_path: Path):
    outcome = cli(*SWEEP, "--epsilons", "0.1,1/3,2", "--csv", "sweep.csv")
    assert_succeeded(outcome)
    assert outcome.err == "The table is in sweep.csv.\n"
    with (tmp_path / "sweep.csv").open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    assert header == ["epsilon", *COLUMNS]
    for row, epsilon in zip(rows, ["0.1", "1/3", "2"], strict=True):
        assert float(row[0]) == float(nw.PureDP(epsilon).epsilon)
        assert [float(cell) for cell in row[1:]] == _values(epsilon, nw.SquaredError())


def test_json_has_them_too(cli: Cli):
    words = ("sweep", "--sensitivity", "1", "--utility", "usefulness", "--within", "0.5", "--epsilons", "1/3")
    data = cli(*words, "--json").data
    assert data["utility"] == {"kind": "usefulness", "within": "1/2"}
    assert data["query"] == {"kind": "scalar", "sensitivity": "1", "integer": False, "exact": False}
    (row,) = data["rows"]
    assert row["epsilon"] == "1/3"
    assert [*(row["values"][name] for name in COLUMNS[:-1]), row["bound"]] == _values("1/3", nw.Usefulness("0.5"))


@pytest.mark.parametrize(
    ("words", "question", "utility"),
    [
        (("--sensitivity", "5/2", "--utility", "power-error", "--power", "3"), nw.Scalar("5/2"), nw.PowerError(3)),
        (("--sensitivity", "3", "--utility", "absolute-error", "--integer"), nw.Scalar(3, integer=True), None),
    ],
)
def test_the_question_is_the_one_that_was_typed(
    cli: Cli, words: tuple[str, ...], question: nw.Scalar, utility: nw.PowerError | None
):
    wanted = utility or nw.AbsoluteError()
    data = cli("sweep", *words, "--epsilons", "2/3", "--json").data
    assert (data["query"], data["utility"]) == (question.to_dict(), wanted.to_dict())
    report = nw.design(question, privacy=nw.PureDP("2/3"), utility=wanted)
    assert data["rows"][0]["values"] == {candidate.name: candidate.value for candidate in report.candidates}
    assert data["rows"][0]["bound"] == report.bound


def test_the_picture_shows_the_numbers_of_the_table(cli: Cli, monkeypatch: pytest.MonkeyPatch):
    drawn = []
    monkeypatch.setattr("noisewright.drawing.style.save", lambda figure, path: drawn.append(figure))
    assert_succeeded(cli(*SWEEP, "--epsilons", "4,1/2,1", "--plot", "sweep.png"))
    (axes,) = drawn[0].axes
    columns = zip(*(_values(epsilon, nw.SquaredError()) for epsilon in ("1/2", "1", "4")), strict=True)
    wanted = dict(zip(COLUMNS, map(list, columns), strict=True))
    assert {line.get_label(): list(line.get_ydata()) for line in axes.lines} == wanted
    assert all(list(line.get_xdata()) == [0.5, 1.0, 4.0] for line in axes.lines)
    assert axes.lines[-1].get_linestyle() == ":"
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")


def test_a_range_is_evenly_spaced_by_ratio(cli: Cli):
    assert _epsilons(cli, "--from", "0.1", "--to", "10", "--points", "5") == ["1/10", "79/250", "1", "79/25", "10"]
    assert _epsilons(cli, "--from", "1/3", "--to", "3", "--points", "3") == ["1/3", "1", "3"]
    assert _epsilons(cli, "--from", "1", "--to", "1.001") == ["1", "1001/1000"]


def test_nine_points_from_a_tenth_to_ten_unless_told_otherwise(cli: Cli):
    found = [float(nw.PureDP(epsilon).epsilon) for epsilon in _epsilons(cli)]
    assert found == [0.1, 0.178, 0.316, 0.562, 1, 1.78, 3.16, 5.62, 10]
    assert _epsilons(cli, "--points", "2") == ["1/10", "10"]


def test_a_repeated_epsilon_is_computed_once(cli: Cli):
    assert _epsilons(cli, "--epsilons", "1, 1.0,2/2") == ["1"]


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (("squared-error",), "costs.png"),
        (("usefulness", "--within", "0.5"), "chances.png"),
        (("error-quantile", "--confidence", "0.9", "--integer"), "zeros.png"),
    ],
)
def test_the_picture_is_drawn(cli: Cli, tmp_path: Path, words: tuple[str, ...], name: str):
    outcome = cli("sweep", "--sensitivity", "1", "--utility", *words, "--epsilons", "4,1,0.5", "--plot", name)
    assert_succeeded(outcome)
    assert outcome.err == f"The picture is in {name}.\n"
    assert (tmp_path / name).read_bytes().startswith(b"\x89PNG\r\n\x1a\n")


@pytest.mark.parametrize(
    ("words", "fragments"),
    [
        (("--epsilons", "1,,2"), ("epsilon",)),
        (("--epsilons", ""), ("epsilon",)),
        (("--epsilons", "1,abc"), ("abc",)),
        (("--epsilons", "1,0"), ("epsilon is 0",)),
        (("--epsilons", "1," * 1000 + "1"), ("1001", "1000")),
        (("--epsilons", "1", "--from", "1"), ("--from",)),
        (("--epsilons", "1", "--points", "3"), ("--points",)),
        (("--from", "2", "--to", "1"), ("--from is 2", "--to is 1")),
        (("--from", "1", "--to", "1"), ("smaller",)),
        (("--from", "0"), ("epsilon is 0",)),
        (("--from", ""), ("epsilon",)),
        (("--to", "100"), ("epsilon is 100",)),
        (("--points", "1"), ("--points", "2 to 1000")),
        (("--points", "1001"), ("--points",)),
        (("--points", "2.5"), ("--points",)),
        (("--csv", "missing/sweep.csv"), ("--csv", "no folder missing")),
        (("--csv", "."), ("--csv", "a folder")),
        (("--plot", "sweep.docx"), ("--plot", ".png")),
    ],
)
def test_bad_input_is_refused_before_any_work(cli: Cli, words: tuple[str, ...], fragments: tuple[str, ...]):
    assert_failed(cli(*SWEEP, *words), 2, *fragments)

"""No option of `noisewright linear` can be dropped unnoticed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import noisewright as nw
from tests.e2e.command import Cli, assert_failed, assert_succeeded

W = "infinite"
QUERIES = [[0, 0, 1, 3], [12, 18, 240, 260]]
POINTS = [[0, 0], [1, 0], [9, 8], [10, 8]]
INFINITE: list[list[Any]] = [[0, 1, W, W], [1, 0, W, W], [W, W, 0, 3], [W, W, 3, 0]]
DISTANCES = [[0, 1, 2, 4], [1, 0, 1, 3], [2, 1, 0, 2], [4, 3, 2, 0]]


@pytest.fixture
def tables(tmp_path: Path) -> Path:
    for name, rows in {"q": QUERIES, "p": POINTS, "d": DISTANCES, "i": INFINITE, "x": [[5, 6, 7, 80]]}.items():
        text = "".join(",".join(map(str, row)) + "\n" for row in rows)
        (tmp_path / f"{name}.csv").write_text(text, encoding="utf-8")
    return tmp_path


def _designed(cli: Cli, *words: str) -> dict[str, Any]:
    outcome = cli("linear", "--queries", "q.csv", *words, "--json")
    assert_succeeded(outcome)
    data: dict[str, Any] = outcome.data
    return data


@pytest.mark.parametrize(
    ("words", "metric"),
    [
        (("--points", "p.csv"), nw.metrics.Euclidean(POINTS)),
        (("--points", "p.csv", "--scale", "2/7"), nw.metrics.Euclidean(POINTS, "2/7")),
        (("--distances", "d.csv"), nw.metrics.Matrix(DISTANCES)),
        (("--epsilon", "2/7"), nw.metrics.Hamming(4, "2/7")),
        (("--points", "p.csv", "--reach", "3/2", "--epsilon", "2/7"), nw.metrics.Threshold(POINTS, "3/2", "2/7")),
        (("--distances", "i.csv"), nw.metrics.Matrix(INFINITE)),
    ],
    ids=["points", "scale", "distances", "epsilon", "reach", "infinite"],
)
def test_the_budget_of_every_pair_is_what_was_typed(
    cli: Cli,
    tables: Path,
    words: tuple[str, ...],
    metric: nw.metrics.Euclidean | nw.metrics.Matrix | nw.metrics.Hamming,
):
    promise = {"kind": "metric", "metric": metric.to_dict()}
    data = _designed(cli, *words, "--save", "kept.json")
    assert data["privacy"] == promise
    assert data["query"] == nw.Linear(QUERIES).to_dict()
    for candidate in data["candidates"]:
        assert candidate["certified"]["certificate"]["requirement"] == promise
    assert nw.Certified.load(tables / "kept.json").to_dict() == data["candidates"][0]["certified"]


@pytest.mark.parametrize(
    ("words", "utility"),
    [
        ((), {"kind": "squared-error"}),
        (("--utility", "largest-error"), {"kind": "largest-error"}),
        (("--utility", "error-quantile", "--confidence", "0.9"), {"kind": "error-quantile", "confidence": "9/10"}),
    ],
)
def test_what_counts_as_good_is_what_was_typed(cli: Cli, tables: Path, words: tuple[str, ...], utility: dict[str, str]):
    assert _designed(cli, "--epsilon", "1", *words)["utility"] == utility


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--reach", "1", "--epsilon", "1"), "--reach goes with --points and --epsilon"),
        (("--reach", "1", "--points", "p.csv"), "--reach goes with --points and --epsilon"),
        (("--points", "p.csv", "--reach", "1", "--epsilon", "1", "--scale", "2"), "--reach goes with"),
        (("--epsilon", "1", "--confidence", "0.9"), "--confidence does not fit"),
        (("--epsilon", "1", "--utility", "error-quantile"), "needs --confidence"),
        (("--epsilon", "1", "--utility", "usefulness"), "for linear questions give one of"),
    ],
)
def test_options_that_do_not_fit_together_are_refused(cli: Cli, tables: Path, words: tuple[str, ...], message: str):
    assert_failed(cli("linear", "--queries", "q.csv", *words), 2, message)


def test_the_number_of_people_is_part_of_the_question(cli: Cli, tables: Path):
    data = _designed(cli, "--epsilon", "1", "--people", "98")
    assert data["query"]["people"] == 98
    assert "block descent" in {candidate["name"] for candidate in data["candidates"]}
    assert _designed(cli, "--epsilon", "1")["query"]["people"] is None


def test_released_answers_are_the_histograms_with_noise(cli: Cli, tables: Path):
    truth = [7 + 3 * 80, 12 * 5 + 18 * 6 + 240 * 7 + 260 * 80]
    assert nw.Linear(QUERIES).answers([5, 6, 7, 80]) == truth
    sure = _designed(cli, "--epsilon", "32", "--histogram", "x.csv")["released"]
    # Both queries share the budget evenly or so: noise beyond ten sensitivities comes once in 10^60 draws.
    assert abs(sure[0] - truth[0]) < 30
    assert abs(sure[1] - truth[1]) < 2480
    noisy = [_designed(cli, "--epsilon", "0.001", "--histogram", "x.csv")["released"] for _ in range(3)]
    for k in range(2):
        # The noise is thousands of steps wide: three hits of the truth, or three equal answers, come below 10^-6.
        assert {values[k] for values in noisy} != {truth[k]}
        assert len({values[k] for values in noisy}) > 1


def test_released_answers_are_printed_by_name(cli: Cli, tables: Path):
    shown = cli("linear", "--queries", "q.csv", "--epsilon", "0.001", "--histogram", "x.csv")
    assert_succeeded(shown)
    lines = shown.out.splitlines()
    after = lines[lines.index("Private answers (this spent the budget once):") + 1 :]
    assert [line.split(": ")[0] for line in after] == ["query 0", "query 1"]
    assert [float(line.split(": ")[1]) for line in after] != [247, 22648]


def test_nothing_is_released_unless_a_histogram_was_given(cli: Cli, tables: Path):
    assert _designed(cli, "--epsilon", "1")["released"] is None
    assert "Private answers" not in cli("linear", "--queries", "q.csv", "--epsilon", "1").out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--epsilon", "1", "--scale", "2"), "--scale goes with --points"),
        (("--distances", "d.csv", "--scale", "2"), "--scale goes with --points"),
        (("--distances", "d.csv", "--epsilon", "1"), "one of --points, --distances and --epsilon"),
        (("--epsilon", "1", "--people", "0"), "people is 0"),
    ],
)
def test_an_option_that_does_not_fit_is_refused_and_not_dropped(
    cli: Cli, tables: Path, words: tuple[str, ...], said: str
):
    assert_failed(cli("linear", "--queries", "q.csv", *words), 2, said)


def test_an_error_does_not_repeat_a_private_count(cli: Cli, tables: Path):
    (tables / "x.csv").write_text("5,6,7,8675.309\n", encoding="utf-8")
    outcome = cli("linear", "--queries", "q.csv", "--epsilon", "1", "--histogram", "x.csv")
    assert_failed(outcome, 2, "count 3")
    assert "8675" not in outcome.err

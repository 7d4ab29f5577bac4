"""No option about several numbers can be dropped unnoticed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import noisewright as nw
from tests.e2e.command import Cli, assert_failed, assert_succeeded

Plain = dict[str, Any]
EACH = ["1", "5/2", "4"]
LISTED = ("--sensitivities", "1,5/2,4")
BALL = ("--sensitivity", "5/2", "--dimension", "3")


def _designed(cli: Cli, *words: str) -> Plain:
    outcome = cli("design", "--epsilon", "2/3", *words, "--json")
    assert_succeeded(outcome)
    data: Plain = outcome.data
    return data


@pytest.mark.parametrize(
    ("words", "moves"),
    [
        ((*LISTED, "--set", "box"), {"kind": "box", "each": EACH}),
        ((*LISTED, "--set", "disjoint"), {"kind": "disjoint", "each": EACH}),
        ((*LISTED, "--set", "replace"), {"kind": "replace", "each": EACH}),
        ((*LISTED, "--set", "sparse", "--changes", "2"), {"kind": "sparse", "changes": 2, "each": EACH}),
        ((*BALL, "--set", "l1-ball"), {"kind": "l1-ball", "radius": "5/2", "dimension": 3}),
        ((*BALL, "--set", "l2-ball"), {"kind": "l2-ball", "radius": "5/2", "dimension": 3}),
        (
            (*BALL, "--set", "lp-ball", "--norm-power", "3/2"),
            {"kind": "lp-ball", "radius": "5/2", "dimension": 3, "power": "3/2"},
        ),
        (("--sensitivities", "1,2;-3,4", "--set", "points"), {"kind": "points", "rows": [["1", "2"], ["-3", "4"]]}),
    ],
    ids=["box", "disjoint", "replace", "sparse", "l1-ball", "l2-ball", "lp-ball", "points"],
)
def test_how_the_numbers_move_is_what_was_typed(cli: Cli, words: tuple[str, ...], moves: Plain):
    data = _designed(cli, "--utility", "absolute-error", *words)
    assert data["query"] == {"kind": "vector", "sensitivity": moves, "exact": False}
    for candidate in data["candidates"]:
        assert candidate["certified"]["mechanism"]["query"] == data["query"]
        assert candidate["certified"]["certificate"]["requirement"] == {"kind": "pure", "epsilon": "2/3"}


def test_rows_of_a_file_are_points(cli: Cli, tmp_path: Path):
    (tmp_path / "points.txt").write_text("1 2\n\n-3, 4\n", encoding="utf-8")
    words = ("--sensitivities-file", "points.txt", "--set", "points", "--utility", "squared-error")
    assert _designed(cli, *words)["query"]["sensitivity"]["rows"] == [["1", "2"], ["-3", "4"]]


@pytest.mark.parametrize(
    ("words", "rest"),
    [
        (("--bins", "7"), {"bins": 7, "bins_per_person": 1, "replace": False}),
        (("--bins", "7", "--bins-per-person", "3"), {"bins": 7, "bins_per_person": 3, "replace": False}),
        (("--bins", "7", "--replace"), {"bins": 7, "bins_per_person": 1, "replace": True}),
    ],
)
def test_a_histogram_is_the_one_that_was_typed(cli: Cli, words: tuple[str, ...], rest: Plain):
    data = _designed(cli, "--utility", "absolute-error", *words)
    assert data["query"] == {"kind": "histogram", **rest}
    assert data["candidates"][0]["certified"]["mechanism"]["query"] == data["query"]


def test_weights_of_bins(cli: Cli):
    data = _designed(cli, "--utility", "squared-error", "--bins", "2", "--weights", "1,3")
    assert data["utility"]["weights"] == ["1", "3"]


def test_several_numbers_may_be_whole(cli: Cli):
    data = _designed(cli, "--utility", "absolute-error", "--sensitivities", "1,3", "--set", "disjoint", "--integer")
    assert data["query"] == nw.Vector(nw.Disjoint([1, 3]), integer=True).to_dict()


def test_a_histogram_from_design_to_answer(cli: Cli):
    words = ("--epsilon", "1", "--bins", "3", "--utility", "absolute-error", "--save", "counts.json")
    assert_succeeded(cli("design", *words))
    for command in ("verify", "describe"):
        assert_succeeded(cli(command, "counts.json"))
    answered = cli("answer", "counts.json", "--value", "5,0,12")
    assert_succeeded(answered)
    assert all(int(v) == float(v) for v in answered.out.strip().split(","))


WEIGHTS = ["1", "2", "5/3"]
WEIGHED = ("--weights", "1,2,5/3")


@pytest.mark.parametrize(
    ("words", "utility"),
    [
        (("squared-error", *WEIGHED), {"kind": "squared-error", "weights": WEIGHTS}),
        (("squared-error",), {"kind": "squared-error"}),
        (("absolute-error", *WEIGHED), {"kind": "absolute-error", "weights": WEIGHTS}),
        (
            ("usefulness", "--within", "4/3", *WEIGHED),
            {"kind": "usefulness", "within": "4/3", "weights": WEIGHTS},
        ),
        (("error-quantile", "--confidence", "0.9"), {"kind": "error-quantile", "confidence": "9/10"}),
        (("largest-error",), {"kind": "largest-error"}),
    ],
)
def test_the_utility_and_its_weights_are_those_that_were_typed(cli: Cli, words: tuple[str, ...], utility: Plain):
    assert _designed(cli, *LISTED, "--set", "disjoint", "--utility", *words)["utility"] == utility


def test_a_delta_counts_for_several_numbers(cli: Cli):
    data = _designed(cli, *LISTED, "--set", "box", "--utility", "squared-error", "--delta", "0.02")
    assert data["privacy"] == {"kind": "approximate", "epsilon": "2/3", "delta": "1/50"}
    requirements = [candidate["certified"]["certificate"]["requirement"] for candidate in data["candidates"]]
    assert requirements == [data["privacy"]] * len(requirements)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((*LISTED, "--set", "box", "--inputs", "0,1"), "are for one number"),
        ((*LISTED, "--set", "box", "--bias", "1/2"), "are for one number"),
        ((*LISTED, "--set", "box", "--unbiased"), "are for one number"),
        ((*LISTED, "--set", "box", "--changes", "2"), "--changes goes with --set sparse"),
        ((*LISTED, "--set", "sparse", "--changes", "two"), "--changes is 'two'"),
        ((*LISTED, "--set", "box", "--dimension", "3"), "not --sensitivity or --dimension"),
        ((*LISTED, *BALL, "--set", "l2-ball"), "takes --sensitivity (the radius) and --dimension"),
        ((*LISTED, "--sensitivities-file", "each.txt", "--set", "box"), "either as --sensitivities 1,2,3 or as"),
        (("--sensitivity", "1", "--dimension", "3"), "--set is missing"),
        (("--sensitivity", "1", "--weights", "1,2"), "--set is missing"),
        (("--sensitivity", "1", "--changes", "1"), "--set is missing"),
    ],
)
def test_an_option_that_does_not_fit_is_refused_and_not_dropped(cli: Cli, words: tuple[str, ...], said: str):
    assert_failed(cli("design", "--epsilon", "1", "--utility", "squared-error", *words), 2, said)


@pytest.mark.parametrize(
    ("utility", "said"),
    [
        (("largest-error", "--weights", "1,1,1"), "takes no --weights"),
        (("largest-error", "--within", "1"), "takes no parameter"),
        (("error-quantile", "--confidence", "0.9", "--weights", "1,1,1"), "takes no --weights"),
        (("worst-variance",), "for a Vector question"),
    ],
)
def test_a_utility_that_does_not_fit_is_refused(cli: Cli, utility: tuple[str, ...], said: str):
    assert_failed(cli("design", "--epsilon", "1", *LISTED, "--set", "box", "--utility", *utility), 2, said)


def test_every_number_gets_noise_of_its_own_and_keeps_its_place(cli: Cli):
    words = ("--epsilon", "30", "--sensitivities", "1,5/2,4", "--set", "box", "--utility", "squared-error")
    assert_succeeded(cli("design", *words, "--save", "three.json"))
    released = [
        [float(number) for number in cli("answer", "three.json", "--value", "1000, -2000,3").out.split(",")]
        for _ in range(6)
    ]
    # At epsilon 30 the three share it out: noise beyond 100 comes less than once in 10^60 draws.
    for answers in released:
        assert all(abs(a - b) < 100 for a, b in zip(answers, [1000, -2000, 3], strict=True))
    for place in range(3):
        assert len({answers[place] for answers in released}) > 1, "the same answer six times"

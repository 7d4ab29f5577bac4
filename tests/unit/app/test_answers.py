"""True answers as they are typed."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from noisewright.app.cli.true_answers import read_truth, shown, truth_of
from noisewright.problem.errors import InvalidAnswerError, InvalidInputError
from noisewright.problem.queries import Choice, Scalar, Vector
from noisewright.problem.sensitivity import Box

NUMBER, PAIR, CHOICE = (
    SimpleNamespace(query=query) for query in (Scalar(1), Vector(Box([1, 2])), Choice(["a", "b, c", "d=e"]))
)


@pytest.mark.parametrize("text", ["1,2.5", "1, 2.5\n", "1\n2.5\n", "1 2.5", "[1, 2.5]", '["1", 2.5]'])
def test_several_numbers_keep_their_text(text: str):
    assert read_truth(text, PAIR) == ["1", "2.5"]


def test_digits_that_no_float_holds_are_kept():
    assert read_truth("[0.12345678901234567890123, 9007199254740993]", PAIR) == [
        "0.12345678901234567890123",
        "9007199254740993",
    ]


def test_an_empty_place_stays_empty_and_is_not_skipped():
    assert read_truth("1,,2,", PAIR) == ["1", "", "2", ""]


def test_one_number_is_left_to_the_mechanism():
    assert read_truth(" 1,5 ", NUMBER) == " 1,5 "


@pytest.mark.parametrize(
    "text",
    [
        "a=1\nb, c = 2\n\nd=e=3\n",
        "1,2,3",
        "1\n2\n3",
        "[1, 2, 3]",
        '{"a": 1, "b, c": 2, "d=e": 3}',
        ' {"d=e": 3, "a": 1, "b, c": "2"}',
    ],
)
def test_scores_go_by_the_names_of_candidates(text: str):
    assert read_truth(text, CHOICE) == {"a": "1", "b, c": "2", "d=e": "3"}


@pytest.mark.parametrize("text", ["a=1,a=1", "a=1,3,4", "=3", '{"a": 1, "a": 2}'])
def test_scores_without_a_name_or_with_one_twice_are_refused(text: str):
    with pytest.raises(InvalidAnswerError, match="one score for each candidate"):
        read_truth(text, CHOICE)


@pytest.mark.parametrize("text", ["", "3,4", "1,2,3,4"])
def test_scores_without_names_are_counted(text: str):
    with pytest.raises(InvalidAnswerError, match="3 candidates"):
        read_truth(text, CHOICE)


@pytest.mark.parametrize(("text", "mechanism"), [("[1, 2", PAIR), ("{1: 2}", CHOICE), ("[" * 10**5, PAIR)])
def test_broken_json_is_called_that(text: str, mechanism: Any):
    with pytest.raises(InvalidAnswerError, match="JSON"):
        read_truth(text, mechanism)


@pytest.mark.parametrize(
    ("released", "line"),
    [(3, "3"), (0.5, "0.5"), ("north", "north"), ((0.5, 2.0), "0.5,2.0"), ([1], "1"), ([-2, 0.5], "-2,0.5")],
)
def test_a_private_answer_is_one_line(released: Any, line: str):
    assert shown(released) == line


def test_a_value_has_one_source(tmp_path: Path):
    file = tmp_path / "value.txt"
    file.write_text("42\n", encoding="utf-8")
    assert truth_of(None, file) == "42\n"
    for given in ((None, None), ("1", file)):
        with pytest.raises(InvalidInputError, match="either as --value"):
            truth_of(*given)


@pytest.mark.parametrize("content", [b"", b" \n", b"\xff\xfe", None])
def test_a_file_without_a_value_is_named(content: bytes | None, tmp_path: Path):
    file = tmp_path / "value.txt"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(InvalidInputError, match=r"value\.txt"):
        truth_of(None, file)

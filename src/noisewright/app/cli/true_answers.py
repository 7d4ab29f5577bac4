"""True answers from what a person typed; no message repeats them, because they are private."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from noisewright.app.cli.output import read_text
from noisewright.problem.errors import InvalidAnswerError, InvalidInputError, InvalidNumberError

_LARGEST = 16


def truth_of(value: str | None, file: Path | None) -> str:
    """What was typed after --value, what --value-file holds, or all of standard input."""
    if (value is None) == (file is None):
        raise InvalidInputError("give the true answer either as --value (- for standard input) or as --value-file.")
    if value not in (None, "-"):
        return str(value)
    place = "standard input" if file is None else str(file)
    text = _from_input() if file is None else read_text(file, "--value-file", _LARGEST)
    if not text.strip():
        raise InvalidNumberError(f"{place} is empty; give one number, such as 42.")
    return text


def _from_input() -> str:
    """All of standard input; what is too long is refused, never cut: a part of a number is another number."""
    try:
        text = "" if sys.stdin is None else sys.stdin.read(_LARGEST * 2**20 + 1)
    except UnicodeDecodeError:
        raise InvalidNumberError("standard input holds no number; give one, such as 42.") from None
    if len(text) > _LARGEST * 2**20:
        raise InvalidNumberError(
            f"standard input holds more than {_LARGEST * 2**20:,} characters; give one number, or several with commas"
            " between."
        )
    return text


def read_truth(text: str, mechanism: Any) -> Any:
    """The text in the form that a mechanism takes: a number, several numbers, or a score for each candidate."""
    query = mechanism.query
    if hasattr(query, "candidates"):
        return _scores(text.strip(), query.candidates)
    if hasattr(query, "cells_per_person"):
        return read_table(text.strip())
    if hasattr(query, "dimension") or hasattr(mechanism, "candidates"):
        return _numbers(text.strip())
    return text


def read_table(text: str) -> Any:
    """A count for each cell, or a JSON object of cells that are not empty: {"0,3,1": 2} or {"17": 2}."""
    if not text.startswith("{"):
        return _numbers(text)
    return {_cell(name): count for name, count in _json(text, dict).items()}


def _cell(name: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in name.split(","))
    except ValueError:
        raise InvalidAnswerError(
            'a cell of the table is not named by whole numbers with commas between, such as "0,3,1".'
        ) from None


def shown(released: Any) -> str:
    """A private answer as one line."""
    if isinstance(released, str) or not hasattr(released, "__iter__"):
        return str(released)
    return ",".join(repr(number) for number in getattr(released, "tolist", lambda: list(released))())


def _numbers(text: str) -> Any:
    """A JSON list, or numbers with commas or white space between."""
    if text.startswith("["):
        return _json(text, list)
    if "," in text:
        return [part.strip() for line in text.splitlines() for part in line.split(",")]
    return text.split()


def _scores(text: str, candidates: Sequence[str]) -> Any:
    """A JSON object, name=score with commas or line breaks between, or scores in the order of the candidates."""
    if text.startswith("{"):
        return _json(text, dict)
    if "=" not in text:
        scores = _numbers(text)
        if len(scores) != len(candidates):
            raise InvalidAnswerError(
                f"the answer has {len(scores)} scores, the question {len(candidates)} candidates; give one for each, in"
                " their order or as name=score."
            )
        return dict(zip(candidates, scores, strict=True))
    lines = text.splitlines()
    pairs = [item.rpartition("=") for item in (lines if len(lines) > 1 else text.split(",")) if item.strip()]
    return _each_once([(name.strip(), score.strip()) for name, _, score in pairs])


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    scores = dict(pairs)
    if len(scores) < len(pairs) or "" in scores:
        raise InvalidAnswerError(
            'give one score for each candidate, such as "north=3,south=5" or {"north": 3, "south": 5}.'
        )
    return scores


def _json(text: str, kind: type) -> Any:
    """A JSON list or object; its numbers stay text, so that they are read exactly."""
    try:
        found = json.loads(text, parse_int=str, parse_float=str, object_pairs_hook=_each_once)
    except (ValueError, RecursionError) as error:
        if isinstance(error, InvalidAnswerError):
            raise
        found = None
    if not isinstance(found, kind):
        raise InvalidAnswerError("the true answer looks like JSON but is none; check its brackets, quotes and commas.")
    return found

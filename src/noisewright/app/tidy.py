"""Released answers for people and for other programmes: a table of text, and CSV, Parquet or JSON files."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from noisewright.app.output import writing
from noisewright.problem.errors import InvalidInputError
from noisewright.search.report.render import text_table

POST = ("post_value", "post_half_width", "post_low", "post_high")
"""The columns of an answer after post-processing, where that was asked for."""
ENDS = ("value", "half_width", "low", "high", *POST, "counted", "mechanism", "charge")
"""The columns of an answer after the question and its keys."""
NOTHING = "too few to say"
OVER = "The answers, and the intervals around them, are over these rows:"
LEFT_OUT = "What is left out or clamped is in no interval."

Columns = Mapping[str, Sequence[Any]]


def number(value: Any) -> str:
    """An answer as people read it."""
    return NOTHING if value is None else f"{value:,.6g}" if abs(value) < 10**6 else f"{value:,.0f}"


def key_columns(columns: Columns) -> list[str]:
    """The columns that name a group."""
    return [name for name in columns if name != "question" and name not in ENDS]


def rows_of(columns: Columns, question: Any) -> list[int]:
    """The rows that answer a question."""
    return [i for i, name in enumerate(columns["question"]) if name == question]


def own_keys(columns: Columns, rows: Sequence[int]) -> list[str]:
    """The key columns that name something in these rows."""
    return [key for key in key_columns(columns) if any(columns[key][i] is not None for i in rows)]


def shown_key(value: Any) -> str:
    """A key as a cell; nothing where the question has no such key. Control characters do not reach the terminal."""
    text = "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
    return "".join(character if character.isprintable() else "?" for character in text)


def text_of(columns: Columns, most: int) -> str:
    """The first so many answers, one a line."""
    keys = key_columns(columns)
    post = POST[:2] if POST[0] in columns else ()
    header = ["question", *keys, "value", "95 % half-width", *(["afterwards", "95 % half-width"] if post else [])]
    rows = []
    for i, question in enumerate(columns["question"][:most]):
        named = [shown_key(columns[key][i]) for key in keys]
        numbers = [columns[name][i] for name in ("value", "half_width", *post)]
        shown = [number(value) if value is not None or place % 2 == 0 else "" for place, value in enumerate(numbers)]
        rows.append([shown_key(question), *named, *shown])
    return text_table([shown_key(name) for name in header], rows)


def counted_of(columns: Columns, question: Any) -> str:
    """Which rows the answers to a question are over."""
    rows = rows_of(columns, question)
    return shown_key(columns["counted"][rows[0]]) if rows else ""


def leaves_out(counted: str) -> bool:
    """Whether what is counted may be another number than that of all rows as they are."""
    return "at most" in counted or "clamped" in counted


def counted_text(columns: Columns) -> str:
    """What the answers are of, in sentences: once for all questions about the same rows."""
    alike: dict[str, list[str]] = {}
    for question in dict.fromkeys(columns["question"]):
        alike.setdefault(counted_of(columns, question), []).append(shown_key(question))
    lines = [f"  {', '.join(names)}: {counted}" for counted, names in alike.items()]
    return "\n".join([OVER, *lines, *([LEFT_OUT] if any(map(leaves_out, alike)) else [])])


def records(columns: Columns) -> list[dict[str, Any]]:
    """One mapping for each answer; days as text."""
    found = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return [{name: str(v) if isinstance(v, date) else v for name, v in one.items()} for one in found]


def writer_for(path: Path, option: str) -> Callable[[Any], None]:
    """What writes an Arrow table to a file of this name; refuses endings that are not known."""
    known: dict[str, Callable[[Any, Path], None]] = {".csv": _csv, ".json": _json, ".parquet": _parquet}
    write = known.get(path.suffix.lower())
    if write is None:
        raise InvalidInputError(f"{option} is {path}; give a name that ends in {', '.join(known)}.")

    def to_file(answers: Any) -> None:
        with writing(path):
            write(answers, path)

    return to_file


def _csv(answers: Any, path: Path) -> None:
    columns = answers.to_pydict()
    with path.open("w", newline="", encoding="utf-8") as stream:
        lines = csv.writer(stream, lineterminator="\n")
        lines.writerow(columns)
        lines.writerows([_cell(value) for value in row] for row in zip(*columns.values(), strict=True))


def _cell(value: Any) -> Any:
    if isinstance(value, bool):
        return str(value).lower()
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _json(answers: Any, path: Path) -> None:
    text = json.dumps(records(answers.to_pydict()), indent=1, ensure_ascii=False, allow_nan=False)
    path.write_text(text + "\n", encoding="utf-8")


def _parquet(answers: Any, path: Path) -> None:
    from pyarrow import parquet

    parquet.write_table(answers, path)

"""Released answers for people and for other programmes: a table of text, and CSV, Parquet or JSON files."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from noisewright.app.cli.output import writing
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


# Pictures of released answers: a point for each group, its interval, and of which rows both are.


MOST_DRAWN = 60
"""How many groups of a question are drawn."""
_MOST_PANELS = 12
_LONGEST_LABEL = 40
_WIDTH = 7
_TITLE = "Private answers: points, and 95 % intervals for the answers without noise"
_TITLE_ROOM = 0.4


def known_of(columns: Columns, rows: list[int]) -> list[int]:
    """The rows whose answer says anything."""
    return [i for i in rows if columns["value"][i] is not None]


def plot_answers(columns: Columns, path: Path) -> None:
    """Draw every question that has several groups, one below the other."""
    from noisewright.drawing.style import new_figure, save

    panels = {str(name): known_of(columns, rows_of(columns, name)) for name in dict.fromkeys(columns["question"])}
    drawn = [(name, rows[:MOST_DRAWN]) for name, rows in panels.items() if len(rows) > 1][:_MOST_PANELS]
    if not drawn:
        raise InvalidInputError(
            "there is nothing to draw: no question has two groups with an answer; nothing was lost."
        )
    heights = [_height(rows) for _, rows in drawn]
    figure = new_figure(_WIDTH, sum(heights) + _TITLE_ROOM)
    figure.suptitle(_TITLE)
    each = figure.subplots(len(drawn), 1, squeeze=False, height_ratios=heights)
    for axes, (name, rows) in zip(each[:, 0], drawn, strict=True):
        _panel(axes, name, columns, rows)
    save(figure, path)


def _height(rows: list[int]) -> float:
    return 1.8 + 0.25 * len(rows)


def _panel(axes: Any, question: str, columns: Columns, rows: list[int]) -> None:
    from noisewright.drawing.style import wrapped

    keys, places = own_keys(columns, rows), list(range(len(rows)))
    labels = [", ".join(shown_key(columns[key][i]) for key in keys)[:_LONGEST_LABEL] for i in rows]
    values, lows, highs = ([columns[name][i] for i in rows] for name in ("value", "low", "high"))
    below = [value - low for value, low in zip(values, lows, strict=True)]
    beyond = [high - value for value, high in zip(values, highs, strict=True)]
    axes.errorbar(
        values, places, xerr=(below, beyond), fmt="o", markersize=4, color="#1b6ca8", ecolor="#8fb8d8", capsize=3
    )
    # Names of groups are plain text, whatever signs they hold.
    axes.set_yticks(places, labels, parse_math=False)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    told = f"{shown_key(question)[:_LONGEST_LABEL]}, with its 95 % interval; over {counted_of(columns, question)}"
    axes.set_xlabel(wrapped(told), parse_math=False)
    axes.set_ylabel((", ".join(keys) or "group")[:_LONGEST_LABEL], parse_math=False)
    axes.set_title(shown_key(question)[:_LONGEST_LABEL], parse_math=False)
    axes.grid(visible=True, axis="x", alpha=0.3)

"""Pictures of released answers: a point for each group, its interval, and of which rows both are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from noisewright.app.tidy import Columns, counted_of, own_keys, rows_of, shown_key
from noisewright.problem.errors import InvalidInputError

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
    from noisewright.drawing.words import wrapped

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

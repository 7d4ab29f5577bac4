"""One legend outside the axes, and one look for each name in all panels of a picture."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from matplotlib.axes import Axes
from matplotlib.collections import Collection as Shapes
from matplotlib.container import Container, ErrorbarContainer
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#1A1A1A", "#882255")
"""Okabe and Ito's colours, which people with any common colour blindness tell apart; wine for their pale yellow."""
MARKS = ("o", "s", "^", "D", "v", "P", "X", "*")
MOST_LINES = len(COLOURS)
"""More lines in one set of axes cannot be told apart."""
GUIDE: dict[str, Any] = {"color": "black", "linestyle": ":", "marker": "", "linewidth": 1.4, "zorder": 3}
"""What is no rival but a limit or a guide: black or grey, and left so."""
MARKED = 15
"""A line of more points has a mark at some of them only."""
_MARKS_ON_A_LINE = 8
_LETTERS_IN_A_ROW = 110
_LEAST_MARK = 5.0


def look(i: int) -> dict[str, Any]:
    """Colour and mark of the i-th line."""
    return {"color": COLOURS[i % MOST_LINES], "marker": MARKS[i % MOST_LINES]}


def one_legend(figure: Figure, size: float) -> None:
    """Give each name its look in every panel, and put the names into one legend below the panels."""
    looks: dict[str, int] = {}
    handles: dict[str, Any] = {}
    for axes in figure.axes:
        told = _told(axes)
        for name, artists in told.items():
            handles.setdefault(name, artists[0])
            if _is_guide(artists[0]):
                continue
            if name not in looks:
                taken = {looks[other] for other in told if other in looks}
                looks[name] = _free(set(looks.values())) if len(looks) < MOST_LINES else _free(taken)
            for artist in artists:
                _dress(artist, looks[name])
        if (own := axes.get_legend()) is not None:
            own.remove()
    for old in list(figure.legends):
        old.remove()
    if handles:
        made = figure.legend(
            list(handles.values()),
            list(handles),
            loc="outside lower center",
            ncols=-(-len(handles) // legend_rows(handles)),
            fontsize=size,
            frameon=False,
        )
        for shown in made.legend_handles:
            if isinstance(shown, Line2D):
                shown.set_markersize(max(shown.get_markersize(), _LEAST_MARK))


def _told(axes: Axes) -> dict[str, list[Any]]:
    """The artists of a set of axes by the name they have in a legend."""
    told: dict[str, list[Any]] = {}
    handles, names = axes.get_legend_handles_labels()
    for artist, name in zip(handles, names, strict=True):
        told.setdefault(name, []).append(artist)
    return told


def _free(taken: set[int]) -> int:
    return next((i for i in range(MOST_LINES) if i not in taken), 0)


def _is_guide(artist: Any) -> bool:
    """Whether it was given the name of black or a grey."""
    colour = artist.get_color() if isinstance(artist, Line2D) else ""
    return isinstance(colour, str) and (colour in ("black", "k") or colour.replace(".", "", 1).isdigit())


def _dress(artist: Any, i: int) -> None:
    """Colour and mark for a line; colour for what has no marks."""
    if isinstance(artist, Line2D):
        artist.set_color(COLOURS[i])
        count = len(artist.get_xdata())  # type: ignore[arg-type]
        if count > 1 and artist.get_marker() != ",":
            artist.set_marker(MARKS[i])
            every = max(count // _MARKS_ON_A_LINE, 1)
            drawn = str(artist.get_linestyle()) not in ("None", "none", " ", "")
            # Lines that lie on each other show their marks one beside the other; points without a line show all.
            artist.set_markevery((i * every // MOST_LINES, every) if drawn and count > MARKED else None)
    elif isinstance(artist, Patch):
        artist.set_edgecolor(COLOURS[i])
        if artist.get_fill():
            artist.set_facecolor(COLOURS[i])
    elif isinstance(artist, Shapes):
        artist.set_color(COLOURS[i])
    elif isinstance(artist, Container):
        for part in artist.get_children():
            if isinstance(part, Patch | Shapes):
                _dress(part, i)
            elif isinstance(part, Line2D):
                part.set_color(COLOURS[i])
        if isinstance(artist, ErrorbarContainer) and artist.lines[0] is not None:
            artist.lines[0].set_marker(MARKS[i])


def legend_rows(names: Collection[str]) -> int:
    """In how many rows so many names stand below a picture without leaving it."""
    widest = max(map(len, names), default=0) + 6
    most = max(1, min(len(names), _LETTERS_IN_A_ROW // widest))
    return -(-len(names) // most)

"""The palette, the font and the sizes of every picture; new pictures, finished ones, saved ones.

Imported where a picture is drawn, since matplotlib takes its time.
"""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from textwrap import fill
from typing import Any, TypeVar

import matplotlib as mpl
import numpy as np
from cycler import cycler
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.ticker import LogFormatter, LogLocator, NullFormatter, StrMethodFormatter

from noisewright.drawing.legends import COLOURS, MARKS, one_legend
from noisewright.problem.errors import InvalidInputError

FONT = "DejaVu Sans"
"""It comes with matplotlib, so that pictures look alike on every machine."""
SIZE, TITLE_SIZE = 10.0, 11.0
WIDTH = 10.0
"""Inches: with one width, text has one size wherever pictures stand below each other."""
LEAST_HEIGHT, MOST_HEIGHT = 2.4, 16.0
DOTS_PER_INCH = 120
SCREEN_DOTS_PER_INCH = 100
_LINE = 0.24
_DECADES_IN_NUMBERS = 300.0
"""Up to this ratio of its ends a logarithmic axis shows 0.2, 0.5, 1 instead of powers of ten."""

_T = TypeVar("_T")
_LOOK: Any = {
    "font.family": FONT,
    "font.size": SIZE,
    "axes.titlesize": SIZE,
    "axes.labelsize": SIZE,
    "xtick.labelsize": SIZE - 1,
    "ytick.labelsize": SIZE - 1,
    "legend.fontsize": SIZE,
    "figure.titlesize": TITLE_SIZE,
    "axes.prop_cycle": cycler(color=COLOURS, marker=MARKS),
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "0.9",
    "lines.linewidth": 1.6,
    "lines.markersize": 5.0,
    "boxplot.flierprops.markersize": 2.0,
    "boxplot.medianprops.color": COLOURS[1],
    "boxplot.boxprops.color": COLOURS[0],
    "savefig.facecolor": "white",
    "svg.fonttype": "none",
}


class Picture(Figure):
    """A figure in the style of the project, which no window system owns and a notebook shows without magic words."""

    def subplots(self, *args: Any, **kwargs: Any) -> Any:
        """Axes that have the style from the start."""
        with mpl.rc_context(_LOOK):
            return super().subplots(*args, **kwargs)

    def add_subplot(self, *args: Any, **kwargs: Any) -> Any:
        """Axes that have the style from the start."""
        with mpl.rc_context(_LOOK):
            return super().add_subplot(*args, **kwargs)

    def savefig(self, *args: Any, **kwargs: Any) -> None:
        """What is read only while a figure is drawn is the style's too."""
        with mpl.rc_context(_LOOK):
            super().savefig(*args, **kwargs)

    def _repr_png_(self) -> bytes:
        held = BytesIO()
        self.savefig(held, format="png", dpi=SCREEN_DOTS_PER_INCH)
        return held.getvalue()


def styled(draw: Callable[..., _T], *args: Any, **kwargs: Any) -> _T:
    """Call something that reads matplotlib's settings while it draws, such as a box plot, under those of the style."""
    with mpl.rc_context(_LOOK):
        return draw(*args, **kwargs)


def new_figure(width: float, height: float) -> Picture:
    """A picture of about this shape at the width that all pictures have; never too flat to be read."""
    shape = min(max(height * WIDTH / width, LEAST_HEIGHT), MOST_HEIGHT)
    figure = Picture(figsize=(WIDTH, shape), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def grid(
    count: int, *, most_columns: int = 4, height: float = 2.7, share: str = "all", legend: int = 1
) -> tuple[Picture, list[Any]]:
    """A picture with `count` panels, row by row, and their axes; what is shared is labelled at the outer edge alone.

    `legend` is how many rows of names there will be below them. `share` says which panels have the same axes: "all",
    "rows" (x everywhere, y along a row) or "none".
    """
    rows, columns = shape_of(count, most_columns)
    figure = new_figure(WIDTH, height * rows + 0.6 + _LINE * legend)
    x, y = {"all": ("all", "all"), "rows": ("all", "row"), "none": ("none", "none")}[share]
    axes = np.ravel(figure.subplots(rows, columns, squeeze=False, sharex=x, sharey=y))
    for left_over in axes[count:]:
        left_over.remove()
    # A panel above a free place is the lowest of its column: it shows its numbers itself.
    for last in axes[max(count - columns, 0) : count]:
        last.xaxis.set_tick_params(labelbottom=True)
    return figure, list(axes[:count])


def shape_of(count: int, most_columns: int) -> tuple[int, int]:
    """The fewest rows, then the fewest columns, that hold so many panels."""
    rows = -(-count // most_columns)
    return rows, -(-count // rows)


def finished(figure: Figure) -> Figure:
    """One legend that covers nothing, one look for each name, one font and size; returns the figure.

    What a library function draws goes through here once; what its caller does to the figure later is left alone.
    """
    one_legend(figure, SIZE)
    figure.suptitle(figure.get_suptitle(), fontsize=TITLE_SIZE)
    for axes in figure.axes:
        axes.title.set_fontsize(SIZE)
        for axis, (low, high) in ((axes.xaxis, axes.get_xlim()), (axes.yaxis, axes.get_ylim())):
            if axis.get_scale() == "log" and 0 < low < high < _DECADES_IN_NUMBERS * low and _has_powers(axis):
                axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
                axis.set_major_formatter(StrMethodFormatter("{x:g}"))
                axis.set_minor_formatter(NullFormatter())
    for text in figure.findobj(Text):
        text.set_fontfamily(FONT)
        if text.get_fontsize() not in (SIZE - 1, SIZE, TITLE_SIZE):
            text.set_fontsize(SIZE - 1)
    return figure


def _has_powers(axis: Any) -> bool:
    """Whether the numbers beside an axis are still matplotlib's powers of ten."""
    return isinstance(axis.get_major_formatter(), LogFormatter)


def save(figure: Figure, path: str | Path | None) -> None:
    """Finish the figure and write it if there is a path, with a clear error where that cannot be done.

    A picture as PNG or SVG carries its title and a description of what it shows.
    """
    finished(figure)
    if path is None:
        return
    told = {"Title": title_of(figure), "Description": described(figure)}
    kind = Path(path).suffix.lower()
    try:
        figure.savefig(path, dpi=DOTS_PER_INCH, metadata=told if kind in (".png", ".svg") else None)
    except (OSError, ValueError) as error:
        raise InvalidInputError(
            f"the picture cannot be written to {path} ({error}); give a path ending in .png, .pdf or .svg."
        ) from None


# What a picture shows, said in text: for those who do not see it, and for the title of its file.


_MOST_NAMES = 8
_LETTERS = 112
_MOST_LINES = 3


def wrapped(text: str, columns: int = 1) -> str:
    """A title in as many lines as fit above one of so many panels beside each other, cut where that is not enough."""
    lines = fill(" ".join(text.split()), max(_LETTERS // columns - 2, 12)).splitlines()
    return "\n".join(lines if len(lines) <= _MOST_LINES else [*lines[: _MOST_LINES - 1], lines[_MOST_LINES - 1] + " …"])


def title_of(figure: Figure) -> str:
    """The title above all panels, or that of the only one."""
    above = figure.get_suptitle()
    return _one_line(above or "; ".join(axes.get_title() for axes in figure.axes if axes.get_title()))


def described(figure: Figure) -> str:
    """The title, then what stands on the axes of the panels, their titles, and the names of the lines."""
    panels = [axes for axes in figure.axes if _has_labels(axes)]
    kinds = dict.fromkeys(f"{axes.get_ylabel()} against {axes.get_xlabel()}" for axes in panels)
    text = f"{title_of(figure)}. " if title_of(figure) else ""
    if kinds:
        text += f"{'One panel' if len(panels) == 1 else f'{len(panels)} panels'}: {'; '.join(kinds)}."
    titles = list(dict.fromkeys(axes.get_title() for axes in panels if axes.get_title()))
    if figure.get_suptitle() and titles:
        text += f" Panels: {_some(titles)}."
    names = list(dict.fromkeys(name for axes in figure.axes for name in axes.get_legend_handles_labels()[1]))
    if names:
        text += f" Shown: {_some(names)}."
    return _one_line(text)


def _has_labels(axes: Axes) -> bool:
    return bool(axes.get_xlabel() and axes.get_ylabel())


def _some(names: list[str]) -> str:
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return "; ".join(names[:_MOST_NAMES]) + more


def _one_line(text: str) -> str:
    return " ".join(text.split())

"""What a picture shows, said in text: for those who do not see it, and for the title of its file."""

from __future__ import annotations

from textwrap import fill

from matplotlib.axes import Axes
from matplotlib.figure import Figure

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

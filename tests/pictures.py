"""The rules that every picture of the project keeps, read from the artists as they are drawn."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import StepPatch
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from noisewright.drawing.legends import COLOURS, MOST_LINES
from noisewright.drawing.style import FONT, LEAST_HEIGHT, MOST_HEIGHT, SIZE, TITLE_SIZE, WIDTH, Picture

FILE_NAME = re.compile(r"figure-\d\d(-[a-z0-9-]+)?\.png")
_PALETTE = {colour.lower() for colour in COLOURS}
_SQUEEZED = 0.02
"""Where the median of what is drawn lies in the lowest fiftieth of a linear axis, one tail squeezes the rest."""
_TOUCHING = 1.0
"""Dots that boxes may share: text is anti-aliased."""


def faults(figure: Figure) -> list[str]:
    """What a person would not like about a picture; empty for a good one."""
    if not isinstance(figure, Picture):
        return ["it is not made by new_figure"]
    figure.draw_without_rendering()
    panels = [axes for axes in figure.axes if axes.axison and not _is_colour_bar(axes)]
    found = [
        *_sizes(figure),
        *_fonts(figure),
        *_titles(figure, panels),
        *_legend(figure),
        *_shared(panels),
        *_numbers(panels),
    ]
    for i, axes in enumerate(panels):
        found += [f"panel {i + 1}: {fault}" for fault in (*_labels(axes), *_lines(axes), *_squeezed(axes))]
    for axes in panels:
        for inner in axes.child_axes:
            if any(what.startswith("the line") for what in _covered(axes, inner.get_tightbbox())):
                found.append("an inset covers a line")
    for axes in figure.axes:
        if _is_colour_bar(axes) and not (axes.get_ylabel() or axes.get_xlabel()):
            found.append("a colour bar has no label")
    return found


def _is_colour_bar(axes: Axes) -> bool:
    return axes.get_label() == "<colorbar>"


def _sizes(figure: Picture) -> Iterator[str]:
    width, height = figure.get_size_inches()
    if width != WIDTH:
        yield f"it is {width} inches wide, not {WIDTH}"
    if not LEAST_HEIGHT <= height <= MOST_HEIGHT:
        yield f"it is {height} inches high"


def _fonts(figure: Picture) -> Iterator[str]:
    for text in figure.findobj(Text):
        assert isinstance(text, Text)
        if text.get_text() and text.get_fontsize() not in (SIZE - 1, SIZE, TITLE_SIZE):
            yield f"{text.get_text()!r} has size {text.get_fontsize()}"
        if text.get_text() and text.get_fontfamily() != [FONT]:
            yield f"{text.get_text()!r} is in {text.get_fontfamily()}"


def _titles(figure: Picture, panels: list[Axes]) -> Iterator[str]:
    above = figure.get_suptitle()
    if len(panels) > 1 and not above:
        yield "no title stands above the panels"
    if not above and not any(axes.get_title() for axes in panels):
        yield "it has no title"
    shown = [text for axes in panels for text in (axes.title, axes.xaxis.label, axes.yaxis.label)]
    boxes = [(text.get_text(), text.get_window_extent()) for text in shown if text.get_text() and text.get_visible()]
    for (one, first), (other, second) in combinations(boxes, 2):
        if _overlap(first, second):
            yield f"the words {one!r} and {other!r} overlap"
    for text, box in boxes:
        if min(box.x0, box.y0) < -_TOUCHING or box.x1 > figure.bbox.x1 + _TOUCHING or box.y1 > figure.bbox.y1 + 1:
            yield f"the words {text!r} are cut off"


def _numbers(panels: list[Axes]) -> Iterator[str]:
    """Numbers beside the axes do not run together."""
    shown = []
    for axes in panels:
        for axis, (low, high) in ((axes.xaxis, sorted(axes.get_xlim())), (axes.yaxis, sorted(axes.get_ylim()))):
            for tick in axis.get_major_ticks():
                text = tick.label1
                if low <= tick.get_loc() <= high and text.get_text() and text.get_visible():
                    shown.append((text.get_text(), text.get_window_extent()))
    for (one, first), (other, second) in combinations(shown, 2):
        if _overlap(first, second):
            yield f"the numbers {one!r} and {other!r} run together"


def _labels(axes: Axes) -> Iterator[str]:
    """Every axis has a label, or is shared with one at the edge that has."""
    for name, sharing in (("x", axes.get_shared_x_axes()), ("y", axes.get_shared_y_axes())):
        if not any(getattr(other, f"get_{name}label")() for other in sharing.get_siblings(axes)):
            yield f"its {name} axis has no label"


def _named(axes: Axes) -> dict[str, Any]:
    handles, names = axes.get_legend_handles_labels()
    return dict(zip(names, handles, strict=True))


def _lines(axes: Axes) -> Iterator[str]:
    """At most eight, each with its own colour and its own mark; guides are black or grey and few."""
    looks: dict[str, tuple[str, str]] = {}
    guides = 0
    for name, artist in _named(axes).items():
        if not isinstance(artist, Line2D):
            continue
        colour = to_hex(artist.get_color())
        if len(set(to_rgb(artist.get_color()))) == 1 and colour not in _PALETTE:
            guides += 1
            continue
        looks[name] = (colour, str(artist.get_marker()))
    if len(looks) + guides > MOST_LINES:
        yield f"{len(looks) + guides} lines are too many to tell apart"
    if guides > 2:
        yield f"{guides} guides are black or grey"
    for (one, first), (other, second) in combinations(looks.items(), 2):
        if first[0] == second[0] or first[1] == second[1]:
            yield f"{one!r} and {other!r} look alike"
    for name, (colour, mark) in looks.items():
        if colour not in _PALETTE:
            yield f"{name!r} has the colour {colour}, which is not in the palette"
        if mark in ("", "None", "none", ",") and len(looks) > 1:
            yield f"{name!r} has no mark"


def _squeezed(axes: Axes) -> Iterator[str]:
    """A linear axis on which nearly everything lies at the bottom should be logarithmic; not so a density, whose area
    is what it shows.
    """
    values = [np.asarray(line.get_ydata(), dtype=float) for line in _named(axes).values() if isinstance(line, Line2D)]
    joined = np.concatenate(values) if values else np.array([])
    joined = joined[np.isfinite(joined)]
    if axes.get_yscale() != "linear" or _label(axes, "y") == "density" or len(joined) < 3 or joined.min() <= 0:
        return
    low, high = axes.get_ylim()
    if np.median(joined) - low < _SQUEEZED * (high - low):
        yield "its y axis is linear, and one tail squeezes the rest"


def _shared(panels: list[Axes]) -> Iterator[str]:
    """Panels of one row with the same label have the same y axis, those of one column the same x axis."""
    for one, other in combinations(panels, 2):
        first, second = one.get_position(), other.get_position()
        beside = abs(first.y0 - second.y0) < 0.02 and abs(first.y1 - second.y1) < 0.02
        below = abs(first.x0 - second.x0) < 0.02 and abs(first.x1 - second.x1) < 0.02
        if beside and _label(one, "y") == _label(other, "y") and one.get_ylim() != other.get_ylim():
            yield f"panels {one.get_title()!r} and {other.get_title()!r} show {_label(one, 'y')!r} on other axes"
        if below and _label(one, "x") == _label(other, "x") and one.get_xlim() != other.get_xlim():
            yield f"panels {one.get_title()!r} and {other.get_title()!r} show {_label(one, 'x')!r} on other axes"


def _label(axes: Axes, name: str) -> str:
    sharing = axes.get_shared_x_axes() if name == "x" else axes.get_shared_y_axes()
    labels = (getattr(other, f"get_{name}label")() for other in sharing.get_siblings(axes))
    return next((label for label in labels if label), "")


def _legend(figure: Picture) -> Iterator[str]:
    """One for all panels where there are names, inside the picture, and upon nothing that is drawn."""
    legends = [*figure.legends, *(axes.get_legend() for axes in figure.axes if axes.get_legend() is not None)]
    names = {name for axes in figure.axes for name in _named(axes)}
    if len(legends) != (1 if names else 0):
        yield f"it has {len(legends)} legends for {len(names)} names"
        return
    for legend in legends:
        assert legend is not None
        box = legend.get_window_extent()
        if {text.get_text() for text in legend.get_texts()} != names:
            yield "its legend leaves names out"
        if box.x0 < -_TOUCHING or box.x1 > figure.bbox.x1 + _TOUCHING or box.y0 < -_TOUCHING:
            yield "its legend is cut off"
        for axes in figure.axes:
            yield from (f"its legend covers {what}" for what in _covered(axes, box))


def _covered(axes: Axes, box: Bbox) -> Iterator[str]:
    """What of a set of axes lies under a box."""
    for line in axes.get_lines():
        if line.get_path().transformed(line.get_transform()).intersects_bbox(box, filled=False):
            yield f"the line {line.get_label()!r}"
    for artist in (*axes.patches, *axes.collections, *axes.images):
        if isinstance(artist, StepPatch):
            hit = artist.get_path().transformed(artist.get_transform()).intersects_bbox(box, filled=False)
        else:
            hit = _overlap(artist.get_window_extent(), box)
        if hit:
            yield f"the {type(artist).__name__} {artist.get_label()!r}"
    for text in (*axes.texts, axes.title, axes.xaxis.label, axes.yaxis.label):
        if text.get_text() and text.get_visible() and _overlap(text.get_window_extent(), box):
            yield f"the text {text.get_text()!r}"


def _overlap(one: Bbox, other: Bbox) -> bool:
    width = min(one.x1, other.x1) - max(one.x0, other.x0)
    height = min(one.y1, other.y1) - max(one.y0, other.y0)
    return bool(width > _TOUCHING and height > _TOUCHING)

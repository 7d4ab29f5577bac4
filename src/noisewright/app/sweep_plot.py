"""The picture of a sweep."""

from __future__ import annotations

import math
from itertools import cycle
from pathlib import Path
from typing import NamedTuple

from noisewright.app.sweep import LIMIT, Sweep
from noisewright.search.report.plots import new_figure, save

_COLOURS = ("#d1495b", "#1b6ca8", "#e0a526", "#3c9d6b", "#8d5fb5")


class _Look(NamedTuple):
    colour: str
    style: str
    width: float


def plot_sweep(sweep: Sweep, path: Path) -> None:
    """A line for each mechanism and a dotted one for the best possible.

    Costs span orders of magnitude and get a logarithmic axis, unless one is zero; a probability does not.
    """
    reports = sorted(sweep.reports, key=lambda report: report.privacy.epsilon)
    epsilons = [float(report.privacy.epsilon) for report in reports]
    columns = list(zip(*(sweep.values(report) for report in reports), strict=True))
    figure = new_figure(7, 4.5)
    axes = figure.subplots()
    for name, values, look in zip([*sweep.names, LIMIT], columns, _looks(len(columns)), strict=True):
        shown = [math.nan if value is None else value for value in values]
        axes.plot(epsilons, shown, look.style, color=look.colour, linewidth=look.width, label=name)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter("{x:g}")
    larger = sweep.utility.larger_is_better
    if not larger and all(value is None or value > 0 for values in columns for value in values):
        axes.set_yscale("log")
    better = "larger" if larger else "smaller"
    axes.set(xlabel="epsilon", ylabel=f"{sweep.utility} ({better} is better)", title=str(sweep.query))
    axes.grid(visible=True, alpha=0.3)
    axes.legend(frameon=False)
    save(figure, path)


def _looks(count: int) -> list[_Look]:
    """Lines that lie on each other stay visible: each is thinner than the one before it, and the limit is dotted."""
    lines = [_Look(colour, "-", max(1.5, 4.5 - 1.5 * i)) for i, colour in zip(range(count - 1), cycle(_COLOURS))]
    return [*lines, _Look("black", ":", 1.4)]

"""The picture of a sweep."""

from __future__ import annotations

import math
from itertools import chain, cycle, islice
from pathlib import Path

from noisewright.app.sweep import LIMIT, Sweep
from noisewright.search.report.plots import new_figure, save

_COLOURS = ("#d1495b", "#1b6ca8", "#e0a526", "#3c9d6b", "#8d5fb5")


def plot_sweep(sweep: Sweep, path: Path) -> None:
    """A line for each mechanism and a dotted one for the best possible.

    Costs span orders of magnitude and get a logarithmic axis, unless one is zero; a probability does not.
    """
    reports = sorted(sweep.reports, key=lambda report: report.privacy.epsilon)
    epsilons = [float(report.privacy.epsilon) for report in reports]
    columns = list(zip(*(sweep.values(report) for report in reports), strict=True))
    figure = new_figure(7, 4.5)
    axes = figure.subplots()
    # Lines that lie on each other stay visible: each is thinner than the one before it, and the limit is dotted.
    lines = ((colour, "-", max(1.5, 4.5 - 1.5 * i)) for i, colour in enumerate(cycle(_COLOURS)))
    looks = chain(islice(lines, len(columns) - 1), [("black", ":", 1.4)])
    for name, values, (colour, style, width) in zip([*sweep.names, LIMIT], columns, looks, strict=True):
        shown = [math.nan if value is None else value for value in values]
        axes.plot(epsilons, shown, style, color=colour, linewidth=width, label=name)
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

"""Pictures for several numbers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from noisewright.search.report.plots import new_figure, save

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from noisewright.search.report.vector_report import VectorReport

_COLOURS = ("#1b6ca8", "#d1495b", "#3c9d6b", "#8d5fb5", "#c98b2b", "#5a6b7b")
_MARKS = ("o", "s", "^", "D", "v", "P")


def plot_vector_report(report: VectorReport, path: str | Path | None) -> Figure:
    """Left: the error of each number against how far it can move. Right: the ranking and the bound."""
    figure = new_figure(11, 4.2)
    left, right = figure.subplots(1, 2, gridspec_kw={"width_ratios": [3, 2]})
    moving = [i for i, extent in enumerate(report.query.extents) if extent]
    extents = [float(report.query.extents[i]) for i in moving]
    for j, candidate in enumerate(report.candidates):
        values = [report.errors[j][i] for i in moving]
        left.plot(
            extents,
            values,
            _MARKS[j % len(_MARKS)],
            color=_COLOURS[j % len(_COLOURS)],
            label=candidate.name,
            markersize=4.5,
            alpha=0.8,
        )
    if max(extents) > 20 * min(extents):
        left.set_xscale("log")
        if not report.utility.larger_is_better:
            left.set_yscale("log")
    left.set(xlabel="how far one person can move the number", ylabel=report.measure)
    left.set_title(str(report.query), fontsize=9)
    left.legend(frameon=False, fontsize=8)
    names = [c.name for c in report.candidates]
    values = [c.value for c in report.candidates]
    right.barh(names, values, color=[_COLOURS[i % len(_COLOURS)] for i in range(len(names))], height=0.55)
    title = str(report.utility)
    if report.bound is not None:
        right.axvline(report.bound, color="black", linewidth=1.2, linestyle="--")
        title += f"\n(dashed: no noise is below {report.bound:.4g})" if not report.utility.larger_is_better else ""
    for i, value in enumerate(values):
        right.text(value, i, f" {value:.4g}", va="center", ha="left", fontsize=8)
    right.invert_yaxis()
    right.margins(x=0.25)
    right.set_title(title, fontsize=9)
    save(figure, path)
    return figure

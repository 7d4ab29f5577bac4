"""A picture of a report for linear questions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def plot_linear_report(report: Any, path: str | Path | None) -> Figure:
    """Bars: the root mean square error of each query with each candidate."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 4), layout="constrained")
    axes = figure.subplots()
    count = len(report.candidates)
    for j, (candidate, errors) in enumerate(zip(report.candidates, report.errors, strict=True)):
        places = [k + (j - (count - 1) / 2) * 0.8 / count for k in range(len(errors))]
        axes.bar(places, errors, width=0.8 / count, label=candidate.name)
    axes.set_xticks(range(report.query.dimension), report.query.names, rotation=45, ha="right")
    axes.set_ylabel("root mean square error")
    axes.set_title(str(report.query))
    axes.legend()
    if path is not None:
        figure.savefig(path, dpi=150)
    return figure

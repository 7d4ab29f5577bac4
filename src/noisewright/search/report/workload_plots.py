"""Pictures of workloads: the error of every range, and the rows that the best strategy measures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from noisewright.mechanisms.strategy_rows import Subsets
from noisewright.problem.workload import Regular, Workload

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from noisewright.search.report.report import Report

_MOST_CELLS = 256


def draw_workload(report: Report, figure: Figure, ranking: Any) -> None:
    """The errors of the winner's answers, its rows, and how good each candidate is."""
    errors, rows, values = figure.subplots(1, 3, gridspec_kw={"width_ratios": [3, 3, 2]})
    _errors(report, errors)
    _rows(report, rows)
    ranking(report, values)


def _errors(report: Report, axes: Any) -> None:
    """For ranges a picture by first and last cell, for other questions a line; of a long line only the name."""
    parts, name = report.candidates[0].parts, report.candidates[0].name
    axes.set_title(f"error of each question, {name}", fontsize=9)
    if not parts:
        axes.set_axis_off()
        axes.text(0.5, 0.5, "too many questions to show one by one", ha="center", va="center", transform=axes.transAxes)
        return
    roots = np.sqrt(np.array(parts))
    if _is_ranges(report.query):
        n = report.query.size
        square = np.full((n, n), np.nan)
        square[np.triu_indices(n)] = roots
        shown = axes.imshow(square, origin="lower", cmap="viridis")
        axes.figure.colorbar(shown, ax=axes, shrink=0.8, label="root mean square error")
        axes.set(xlabel="last cell", ylabel="first cell")
    else:
        axes.plot(np.arange(1, len(roots) + 1), roots, linewidth=1.2, color="#1b6ca8")
        axes.set(xlabel="question", ylabel="root mean square error")
        axes.set_ylim(bottom=0)


def _rows(report: Report, axes: Any) -> None:
    """The winner's rows as a picture, weights over noise."""
    strategy = report.best.mechanism
    axes.set_title("rows that are measured, over their noise", fontsize=9)
    if strategy.query.size > _MOST_CELLS or isinstance(strategy.rows, Subsets):
        axes.set_axis_off()
        text = f"{strategy.rows.groups} groups of rows"
        axes.text(0.5, 0.5, text, ha="center", va="center", transform=axes.transAxes)
        return
    picture = rows_over_noise(strategy)
    reach = float(np.abs(picture).max())
    axes.imshow(picture, aspect="auto", cmap="RdBu_r", vmin=-reach, vmax=reach, interpolation="nearest")
    axes.set(xlabel="cell", ylabel="row")


def rows_over_noise(strategy: Any) -> NDArray[np.float64]:
    """Every row, divided by the deviation of its noise: each column is what one person changes."""
    n, columns = strategy.query.size, []
    for cell in range(n):
        measured = strategy.law_given({cell: 1})
        columns.append(np.concatenate([v.astype(np.float64) / strategy.fineness for v in measured]))
    noise = []
    for group, values in enumerate(strategy.law_given({})):
        factors = strategy.rows.factors(group)
        spread = float(strategy.noise(group).mid()) ** 0.5
        noise.append(spread * np.sqrt(np.ones(len(values)) if factors is None else factors.astype(np.float64)))
    return np.asarray(np.array(columns).T / np.concatenate(noise)[:, None])


def _is_ranges(query: Workload) -> bool:
    factors = query.parts[0].factors
    single = len(query.parts) == 1 and len(factors) == 1
    return single and isinstance(factors[0], Regular) and factors[0].form == "ranges"

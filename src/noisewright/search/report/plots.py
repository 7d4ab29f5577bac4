"""Pictures of reports: one number, several numbers, answers in bounds, workloads.

Imported where a picture is drawn, since matplotlib takes its time.
"""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from noisewright.drawing.legends import COLOURS, MOST_LINES, look
from noisewright.drawing.style import WIDTH, new_figure as new_figure, save as save, wrapped
from noisewright.laws.piecewise import Piecewise
from noisewright.mechanisms.expected import ErrorDensity
from noisewright.mechanisms.strategies.rows import Subsets
from noisewright.numerics.fields import FLOATS
from noisewright.problem.queries import Bounded, Choice
from noisewright.problem.workload import Workload
from noisewright.search.report.render import Ranked

_POINTS = 1200
_BINS = 60
_PLACES = 120
_MOST_CELLS = 256
_ANSWERS = (Fraction(0), Fraction(1, 2), Fraction(1))


def plot_report(report: Ranked, path: str | Path | None) -> Figure:
    """What each candidate does to one number, to several or to answers in bounds, and how good it is."""
    figure = {Bounded: _bounded, Workload: _workload, Choice: _choice}.get(type(report.query), _noise)(report)
    save(figure, path)
    return figure


def _noise(report: Ranked) -> Figure:
    """Densities of errors, or what is known of each of several numbers, beside the values."""
    figure = _titled(report, 4.6)
    left, right = figure.subplots(1, 2, gridspec_kw={"width_ratios": [3, 2]})
    # What is known of one bin of a histogram is known of all.
    draw = _numbers if any(report.parts) and not hasattr(report.query, "bins") else _densities
    draw(report, left)
    _ranking(report, right, 3)
    return figure


def _choice(report: Ranked) -> Figure:
    figure = _titled(report, 4.2)
    _ranking(report, figure.subplots(), 1)
    return figure


def _titled(report: Ranked, height: float) -> Figure:
    """An empty picture under the question and its privacy."""
    epsilon = getattr(report.privacy, "epsilon", None)
    told = str(report.privacy) if epsilon is None else f"epsilon = {float(epsilon):.4g}"
    told += f" over {report.releases} releases" if report.releases > 1 else ""
    figure = new_figure(WIDTH, height)
    figure.suptitle(wrapped(f"{report.query}, {told}"))
    return figure


def _ranking(report: Ranked, axes: Any, columns: int) -> None:
    """Values against the bound."""
    names, values = [c.name for c in report.candidates], [c.value for c in report.candidates]
    axes.barh(names, values, color=[look(i)["color"] for i in range(len(names))], height=0.55)
    better = "larger" if report.utility.larger_is_better else "smaller"
    title = f"{better} is better"
    if report.bound is not None:
        axes.axvline(report.bound, color="black", linewidth=1.2, linestyle="--")
        title += f" (dashed: best possible, {report.bound:.4g})"
    for i, value in enumerate(values):
        axes.text(value, i, f" {value:.4g}", va="center", ha="left")
    axes.invert_yaxis()
    axes.margins(x=0.25)
    axes.locator_params(axis="x", nbins=5)
    axes.set(xlabel=wrapped(report.title, columns), ylabel="mechanism", title=wrapped(title, columns + 2))
    axes.grid(visible=False, axis="y")


def _densities(report: Ranked, axes: Any) -> None:
    """Density of the error of each candidate."""
    half = _half_range(report)
    for i, candidate in enumerate(report.candidates[:MOST_LINES]):
        points = _density_points(candidate.certified.mechanism.error_density, half)
        axes.plot(*points, label=candidate.name, **look(i))
    answer = "each released count" if hasattr(report.query, "bins") else "the released answer"
    axes.set(xlabel=f"error of {answer}", ylabel="density", xlim=(-half, half))
    axes.set_ylim(bottom=0)
    axes.set_title("how the error is spread")


def _numbers(report: Ranked, axes: Any) -> None:
    """What is known of each number: against how far it can move, or by its name."""
    extents = getattr(report.query, "extents", None)
    places = [i for i in range(len(report.parts[0])) if extents is None or extents[i]]
    xs = list(range(len(places))) if extents is None else [float(extents[i]) for i in places]
    for j, candidate in enumerate(report.candidates[:MOST_LINES]):
        values = [candidate.parts[i] for i in places]
        axes.plot(xs, values, linestyle="", label=candidate.name, alpha=0.8, **look(j))
    if extents is None:
        axes.set_xticks(xs, report.query.names, rotation=45, ha="right")
        axes.set_xlabel("number")
    else:
        axes.set_xlabel("how far one person can move the number")
        if max(xs) > 20 * min(xs):
            axes.set_xscale("log")
            axes.set_yscale("linear" if report.utility.larger_is_better else "log")
    axes.set_ylabel(report.utility.measure)
    axes.set_title("number by number")


def _bounded(report: Ranked) -> Figure:
    """Left: the winner's density at three answers. Middle: bias. Right: the error of every candidate."""
    figure = _titled(report, 4.6)
    left, middle, right = figure.subplots(1, 3)
    low, high = report.query.inputs
    winner = report.candidates[0]
    for i, share in enumerate(_ANSWERS):
        answer = low + share * (high - low)
        bins = _binned_density(winner.certified.mechanism, answer)
        left.stairs(*bins, color=COLOURS[i], label=f"answer {float(answer):.4g}", linewidth=1.6)
    left.set(xlabel="released answer", ylabel="density", title=wrapped(f"releases of {winner.name}", 3))
    for i, candidate in enumerate(report.candidates[: MOST_LINES - len(_ANSWERS)], len(_ANSWERS)):
        profile = candidate.certified.mechanism.profile
        picks = range(0, len(profile.inputs), max(1, (len(profile.inputs) - 1) // _PLACES))
        xs = [float(profile.inputs[k]) for k in picks]
        middle.plot(xs, [float(sum(profile.bias[k])) / 2 for k in picks], label=candidate.name, **look(i))
        right.plot(xs, [math.sqrt(float(profile.error[k][1])) for k in picks], label=candidate.name, **look(i))
    middle.set(xlabel="true answer", ylabel="bias of the release", title="bias by answer")
    right.set(xlabel="true answer", ylabel="root mean square error", title="error by answer")
    right.set_ylim(bottom=0)
    return figure


def _binned_density(mechanism: Any, answer: Fraction) -> tuple[Any, Any]:
    """Heights and edges of the law of the release at an answer, in bins of equal width."""
    if hasattr(mechanism, "law_given"):
        heights, edges = mechanism.law_given(answer).binned(_BINS)
        return heights, edges
    i, share = mechanism.grid.locate(answer)
    laws = [(mechanism.row(i), 1 - share)] + ([(mechanism.row(i + 1), share)] if share else [])
    values = [float(mechanism.value(k)) for k in range(mechanism.last + 1)]
    masses = np.zeros(len(values))
    for law, weight in laws:
        sums = [law.cdf(k, FLOATS) for k in range(-1, len(values))]
        masses += float(weight) * np.diff(np.array(sums, dtype=np.float64))
    return np.histogram(values, min(_BINS, len(values)), weights=masses, density=True)


def _density_points(density: ErrorDensity, half: float) -> tuple[list[float], list[float]]:
    """Points of a step curve between -half and half: the jumps where they are few, a fine grid else."""
    jumps: set[float] = set()
    if isinstance(density, Piecewise) and float(density.period) * _POINTS > half:
        cells = density.unrolled(Fraction(half))
        jumps = {float(x) for a, b, _ in cells for x in (a, b) if abs(x) < half}
    grid = {-half + 2 * half * i / _POINTS for i in range(_POINTS + 1)}
    tiny = half * 1e-9
    xs = sorted((grid - jumps).union(*({x - tiny, x + tiny} for x in jumps)))
    return xs, [float(density.density(x, FLOATS)) for x in xs]


def _half_range(report: Ranked) -> float:
    density = report.candidates[-1].certified.mechanism.error_density
    width = 4 * float(getattr(report.query, "sensitivity", 1))
    while density.sf(width, FLOATS) + density.cdf(-width, FLOATS) > 0.04:
        width *= 1.5
    return width


def _workload(report: Ranked) -> Figure:
    """The errors of the winner's answers, its rows, and how good each candidate is."""
    figure = _titled(report, 4.4)
    errors, rows, values = figure.subplots(1, 3, gridspec_kw={"width_ratios": [3, 3, 2]})
    _errors(report, errors)
    _rows(report, rows)
    _ranking(report, values, 4)
    return figure


def _errors(report: Ranked, axes: Any) -> None:
    """For ranges a picture by first and last cell, for other questions a line; of a long line only the name."""
    parts, name = report.candidates[0].parts, report.candidates[0].name
    axes.set_title(wrapped(f"error of each question, {name}", 3))
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
        axes.plot(np.arange(1, len(roots) + 1), roots, color=COLOURS[0], marker="")
        axes.set(xlabel="question", ylabel="root mean square error")
        axes.set_ylim(bottom=0)


def _rows(report: Ranked, axes: Any) -> None:
    """The winner's rows as a picture, weights over noise."""
    strategy = report.best.mechanism
    axes.set_title(wrapped("rows that are measured, over their noise", 3))
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
    return len(query.parts) == 1 and len(factors) == 1 and factors[0].form == "ranges"

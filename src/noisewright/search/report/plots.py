"""Pictures of reports: one number, several numbers, answers in bounds, workloads.

Imported where a picture is drawn, since matplotlib takes its time.
"""

from __future__ import annotations

import math
from fractions import Fraction
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from numpy.typing import NDArray

from noisewright.laws.piecewise import Piecewise
from noisewright.mechanisms.expected import ErrorDensity
from noisewright.mechanisms.strategy_rows import Subsets
from noisewright.numerics.fields import FLOATS
from noisewright.problem.errors import InvalidInputError
from noisewright.problem.queries import Bounded, Choice
from noisewright.problem.workload import Workload

if TYPE_CHECKING:
    from noisewright.search.report.report import Report

_DOTS_PER_INCH = 100
_COLOURS = ("#1b6ca8", "#d1495b", "#3c9d6b", "#8d5fb5", "#c98b2b", "#5b5b5b", "#17a2a2", "#a05195")
_STYLES = ("-", "--", ":", "-.")
_MARKS = ("o", "s", "^", "D", "v", "P")
_POINTS = 1200
_SHOWN = 8
_BINS = 60
_PLACES = 120
_MOST_CELLS = 256


class Picture(Figure):
    """A figure that belongs to no window system and shows itself in a notebook, without any magic words."""

    def _repr_png_(self) -> bytes:
        held = BytesIO()
        self.savefig(held, format="png", dpi=_DOTS_PER_INCH)
        return held.getvalue()


def plot_report(report: Report, path: str | Path | None) -> Figure:
    """What each candidate does to one number, to several or to answers in bounds, and how good it is."""
    figure = {Bounded: _bounded, Workload: _workload, Choice: _choice}.get(type(report.query), _noise)(report)
    save(figure, path)
    return figure


def _noise(report: Report) -> Figure:
    """Densities of errors, or what is known of each of several numbers, beside the values."""
    figure = new_figure(11, 4.2)
    left, right = figure.subplots(1, 2, gridspec_kw={"width_ratios": [3, 2]})
    # What is known of one bin of a histogram is known of all.
    draw = _numbers if any(report.parts) and not hasattr(report.query, "bins") else _densities
    draw(report, left)
    _ranking(report, right)
    return figure


def _choice(report: Report) -> Figure:
    figure = new_figure(11, 4.2)
    _ranking(report, figure.subplots())
    return figure


def _look(i: int) -> dict[str, Any]:
    return {"color": _COLOURS[i % len(_COLOURS)], "linestyle": _STYLES[i % len(_STYLES)]}


def _ranking(report: Report, axes: Any) -> None:
    """Values against the bound."""
    names, values = [c.name for c in report.candidates], [c.value for c in report.candidates]
    axes.barh(names, values, color=[_COLOURS[i % len(_COLOURS)] for i in range(len(names))], height=0.55)
    title = report.title
    if report.bound is not None:
        axes.axvline(report.bound, color="black", linewidth=1.2, linestyle="--")
        title += f"\n(dashed: best possible, {report.bound:.4g})"
    for i, value in enumerate(values):
        axes.text(value, i, f" {value:.4g}", va="center", ha="left", fontsize=9)
    axes.invert_yaxis()
    axes.margins(x=0.25)
    axes.set_title(title, fontsize=10)


def _densities(report: Report, axes: Any) -> None:
    """Density of the error of each candidate."""
    half = _half_range(report)
    for i, candidate in enumerate(report.candidates):
        points = _density_points(candidate.certified.mechanism.error_density, half)
        axes.plot(*points, label=candidate.name, linewidth=1.8, **_look(i))
    answer = "each released count" if hasattr(report.query, "bins") else "the released answer"
    axes.set(xlabel=f"error of {answer}", ylabel="density", xlim=(-half, half))
    axes.set_ylim(bottom=0)
    epsilon = getattr(report.privacy, "epsilon", None)
    promise = str(report.privacy) if epsilon is None else f"epsilon = {float(epsilon):.4g}"
    promise += f" over {report.releases} releases" if report.releases > 1 else ""
    axes.set_title(f"{report.query}, {promise}")
    axes.legend(frameon=False)


def _numbers(report: Report, axes: Any) -> None:
    """What is known of each number: against how far it can move, or by its name."""
    extents = getattr(report.query, "extents", None)
    places = [i for i in range(len(report.parts[0])) if extents is None or extents[i]]
    xs = list(range(len(places))) if extents is None else [float(extents[i]) for i in places]
    for j, candidate in enumerate(report.candidates):
        values = [candidate.parts[i] for i in places]
        mark, colour = _MARKS[j % len(_MARKS)], _COLOURS[j % len(_COLOURS)]
        axes.plot(xs, values, mark, color=colour, label=candidate.name, markersize=4.5, alpha=0.8)
    if extents is None:
        axes.set_xticks(xs, report.query.names, rotation=45, ha="right")
    else:
        axes.set_xlabel("how far one person can move the number")
        if max(xs) > 20 * min(xs):
            axes.set_xscale("log")
            axes.set_yscale("linear" if report.utility.larger_is_better else "log")
    axes.set_ylabel(report.utility.measure)
    axes.set_title(str(report.query), fontsize=9)
    axes.legend(frameon=False, fontsize=8)


def _bounded(report: Report) -> Figure:
    """Left: the winner's density at three answers. Middle: bias. Right: the error of every candidate."""
    figure = new_figure(14, 4)
    left, middle, right = figure.subplots(1, 3)
    low, high = report.query.inputs
    winner = report.candidates[0]
    for i, share in enumerate((Fraction(0), Fraction(1, 2), Fraction(1))):
        answer = low + share * (high - low)
        bins = _binned_density(winner.certified.mechanism, answer)
        left.stairs(*bins, color=_COLOURS[i], label=f"answer {float(answer):.4g}", linewidth=1.6)
    left.set(xlabel="released answer", ylabel="density", title=f"{winner.name}")
    left.legend(frameon=False)
    for i, candidate in enumerate(report.candidates[:_SHOWN]):
        profile = candidate.certified.mechanism.profile
        picks = range(0, len(profile.inputs), max(1, (len(profile.inputs) - 1) // _PLACES))
        xs = [float(profile.inputs[k]) for k in picks]
        middle.plot(xs, [float(sum(profile.bias[k])) / 2 for k in picks], label=candidate.name, **_look(i))
        right.plot(xs, [math.sqrt(float(profile.error[k][1])) for k in picks], label=candidate.name, **_look(i))
    middle.set(xlabel="true answer", ylabel="bias of the release", title="bias")
    right.set(xlabel="true answer", ylabel="root mean square error", title=str(report.utility))
    right.set_ylim(bottom=0)
    right.legend(frameon=False, fontsize=8)
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


def new_figure(width: float, height: float) -> Figure:
    """A figure that belongs to no window system, and that notebooks show."""
    figure = Picture(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def save(figure: Any, path: str | Path | None) -> None:
    """Write the figure, with a clear error where that cannot be done."""
    if path is None:
        return
    try:
        figure.savefig(path, dpi=150)
    except (OSError, ValueError) as error:
        raise InvalidInputError(
            f"the picture cannot be written to {path} ({error}); give a path ending in .png, .pdf or .svg."
        ) from None


def _half_range(report: Report) -> float:
    density = report.candidates[-1].certified.mechanism.error_density
    width = 4 * float(getattr(report.query, "sensitivity", 1))
    while density.sf(width, FLOATS) + density.cdf(-width, FLOATS) > 0.04:
        width *= 1.5
    return width


def _workload(report: Report) -> Figure:
    """The errors of the winner's answers, its rows, and how good each candidate is."""
    figure = new_figure(15, 4.4)
    errors, rows, values = figure.subplots(1, 3, gridspec_kw={"width_ratios": [3, 3, 2]})
    _errors(report, errors)
    _rows(report, rows)
    _ranking(report, values)
    return figure


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
    return len(query.parts) == 1 and len(factors) == 1 and factors[0].form == "ranges"

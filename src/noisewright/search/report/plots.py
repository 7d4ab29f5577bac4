"""Pictures of reports: one number, several numbers, answers in bounds."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from noisewright.laws.piecewise import Piecewise
from noisewright.mechanisms.alike import Alike
from noisewright.mechanisms.conditional import Conditional
from noisewright.mechanisms.expected import ErrorDensity
from noisewright.numerics.fields import FLOATS
from noisewright.problem.errors import InvalidInputError
from noisewright.problem.workload import Workload
from noisewright.search.report.workload_plots import draw_workload

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from noisewright.search.report.report import Report

_COLOURS = ("#1b6ca8", "#d1495b", "#3c9d6b", "#8d5fb5", "#c98b2b", "#5b5b5b", "#17a2a2", "#a05195")
_STYLES = ("-", "--", ":", "-.")
_MARKS = ("o", "s", "^", "D", "v", "P")
_POINTS = 1200
_SHOWN = 8
_BINS = 60
_PLACES = 120


def plot_report(report: Report, path: str | Path | None) -> Figure:
    """What each candidate does to one number, to several or to answers in bounds, and how good it is."""
    if hasattr(report.query, "inputs"):
        figure = _bounded(report)
    elif isinstance(report.query, Workload):
        figure = new_figure(15, 4.4)
        draw_workload(report, figure, _ranking)
    else:
        figure = new_figure(11, 4.2)
        if hasattr(report.query, "candidates"):
            _ranking(report, figure.subplots())
        else:
            left, right = figure.subplots(1, 2, gridspec_kw={"width_ratios": [3, 2]})
            # What is known of one bin of a histogram is known of all.
            draw = _numbers if any(report.parts) and not hasattr(report.query, "bins") else _densities
            draw(report, left)
            _ranking(report, right)
    save(figure, path)
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
        points = _density_points(_error_density(candidate.certified.mechanism), half)
        axes.plot(*points, label=candidate.name, linewidth=1.8, **_look(i))
    answer = "each released count" if hasattr(report.query, "bins") else "the released answer"
    axes.set(xlabel=f"error of {answer}", ylabel="density", xlim=(-half, half))
    axes.set_ylim(bottom=0)
    epsilon = getattr(report.privacy, "epsilon", None)
    promise = str(report.privacy) if epsilon is None else f"epsilon = {float(epsilon):.4g}"
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


def _binned_density(mechanism: Conditional, answer: Fraction) -> tuple[Any, Any]:
    """Heights and edges of the law of the release at an answer, in bins of equal width."""
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
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    from noisewright.search.report.picture import Picture

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


def _error_density(mechanism: Any) -> ErrorDensity:
    """The density of the error of one number, or of one bin."""
    density: ErrorDensity = (mechanism.part if isinstance(mechanism, Alike) else mechanism).error_density
    return density


def _half_range(report: Report) -> float:
    density = _error_density(report.candidates[-1].certified.mechanism)
    width = 4 * float(getattr(report.query, "sensitivity", 1))
    while density.sf(width, FLOATS) + density.cdf(-width, FLOATS) > 0.04:
        width *= 1.5
    return width

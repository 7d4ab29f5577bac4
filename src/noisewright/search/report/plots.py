"""Pictures of reports."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from noisewright.laws.piecewise import Piecewise
from noisewright.mechanisms.expected import ErrorDensity
from noisewright.numerics.fields import FLOATS
from noisewright.problem.errors import InvalidInputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from noisewright.search.report.report import Report

_COLOURS = ("#1b6ca8", "#d1495b", "#3c9d6b", "#8d5fb5", "#c98b2b")
_STYLES = ("-", "--", ":", "-.", "-")
_POINTS = 1200


def plot_report(report: Report, path: str | Path | None) -> Figure:
    """Left: density of the error of each candidate. Right: its value against the bound."""
    figure = new_figure(10, 4)
    left, right = figure.subplots(1, 2, gridspec_kw={"width_ratios": [3, 2]})
    half = _half_range(report)
    for i, candidate in enumerate(report.candidates):
        xs, ys = density_points(candidate.certified.mechanism.error_density, half)
        style = _STYLES[i % len(_STYLES)]
        left.plot(xs, ys, style, color=_COLOURS[i % len(_COLOURS)], label=candidate.name, linewidth=1.8)
    left.set(xlabel="error of the released answer", ylabel="density", xlim=(-half, half))
    left.set_ylim(bottom=0)
    epsilon = getattr(report.privacy, "epsilon", None)
    promise = str(report.privacy) if epsilon is None else f"epsilon = {float(epsilon):.4g}"
    left.set_title(f"{report.query}, {promise}")
    left.legend(frameon=False)
    names = [c.name for c in report.candidates]
    values = [c.value for c in report.candidates]
    right.barh(names, values, color=[_COLOURS[i % len(_COLOURS)] for i in range(len(names))], height=0.55)
    title = str(report.utility)
    if report.bound is not None:
        right.axvline(report.bound, color="black", linewidth=1.2, linestyle="--")
        title += f"\n(dashed: best possible, {report.bound:.4g})"
    for i, value in enumerate(values):
        right.text(value, i, f" {value:.4g}", va="center", ha="left")
    right.invert_yaxis()
    right.margins(x=0.2)
    right.set_title(title)
    save(figure, path)
    return figure


def density_points(density: ErrorDensity, half: float) -> tuple[list[float], list[float]]:
    """Points of a step curve between -half and half: the jumps where they are few, a fine grid else."""
    jumps: set[float] = set()
    if isinstance(density, Piecewise) and float(density.period) * _POINTS > half:
        cells = density.unrolled(Fraction(half))
        jumps = {float(x) for a, b, _ in cells for x in (a, b) if abs(x) < half}
    grid = {-half + 2 * half * i / _POINTS for i in range(_POINTS + 1)}
    xs: list[float] = []
    ys: list[float] = []
    tiny = half * 1e-9
    for x in sorted(grid | jumps):
        for at in (x - tiny, x + tiny) if x in jumps else (x,):
            xs.append(at)
            ys.append(float(density.density(at, FLOATS)))
    return xs, ys


def new_figure(width: float, height: float) -> Figure:
    """A figure that belongs to no window system."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as MatplotlibFigure

    figure = MatplotlibFigure(figsize=(width, height), layout="constrained")
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
    width = 4 * float(report.query.sensitivity)
    outside = density.sf(width, FLOATS) + density.cdf(-width, FLOATS)
    while outside > 0.04:
        width *= 1.5
        outside = density.sf(width, FLOATS) + density.cdf(-width, FLOATS)
    return width

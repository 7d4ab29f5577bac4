"""What the noise of a design looks like: how errors are spread, and twenty answers that the mechanism itself draws."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from noisewright.app.explorer.form import Asked
from noisewright.app.explorer.pictures import Line
from noisewright.laws.piecewise import Piecewise
from noisewright.numerics.fields import FLOATS
from noisewright.problem.errors import InvalidUtilityError
from noisewright.problem.queries import Bounded
from noisewright.search.report.report import Report

ANSWERS = 20
_GRID = 281
_BINS = 45
_MOST_STEPS = 30
_VISIBLE = 0.005
_MANY = {"several": 500, "workload": 150, "bounded": 1500}
_ROWS = 3
_WIDER = 1.7


@dataclass(frozen=True, slots=True)
class Noise:
    """What is drawn of a mechanism: densities with their words, and rows of possible answers."""

    lines: tuple[Line, ...]
    half_width: float | None
    """Within which the (first) answer is in 95 of 100 releases; None where there is no rule for it."""
    centre: float
    """The truth, on the axis of the densities."""
    label: str
    drawn: int
    """From how many exact draws the density was counted; 0 where it is the law's own."""
    rows: tuple[tuple[str, float, tuple[float, ...]], ...]
    ends: tuple[float, float]


def noise_of(report: Report, asked: Asked) -> Noise:
    """Densities of the winner and, beside it, of the usual noise; answers drawn exactly by the certified winner."""
    truth = float(asked.truth)
    width = _half_width(report)
    if isinstance(report.query, Bounded):
        return _in_bounds(report, asked, width)
    density = getattr(report.best.mechanism, "error_density", None)
    if density is None:
        return _counted(report, asked, width)
    half = _WIDER * width if width else 4.0 * float(getattr(report.query, "sensitivity", 1))
    label = "error of each released count" if asked.question == "histogram" else "error of the released answer"
    if report.query.__class__.__name__ == "Scalar":
        found = tuple(float(x) for x in report.best.release_many([_typed(asked)] * ANSWERS))
        rows: tuple[Any, ...] = (("", truth, found),)
    else:
        drawn = report.best.draw(ANSWERS)
        rows = (("one bin; all are alike", truth, tuple(truth + float(x) for x in drawn[:, 0])),)
    return Noise(_densities(report, half), width, 0.0, label, 0, rows, (truth - half, truth + half))


def _typed(asked: Asked) -> Any:
    return int(asked.truth) if getattr(asked.query, "integer", False) else asked.truth


def _half_width(report: Report) -> float | None:
    try:
        found = report.best.half_width("0.95")
    except InvalidUtilityError:
        return None
    return float(found[0] if isinstance(found, tuple) else found)


def _densities(report: Report, half: float) -> tuple[Line, ...]:
    usual = next((c for c in report.candidates[1:] if "Laplace" in c.name), None)
    chosen = [report.candidates[0], *([usual] if usual is not None else report.candidates[1:2])]
    densities = [(c.name, c.certified.mechanism.error_density) for c in chosen]
    lines = [Line(name, _points(law, half)) for name, law in densities]
    return tuple(lines[:1] if len(lines) > 1 and _alike(lines[0], lines[1]) else lines)


def _alike(one: Line, other: Line) -> bool:
    """Whether two curves lie on each other, so that one is enough."""
    most = max(y for _, y in one.points)
    same = [x for x, _ in one.points] == [x for x, _ in other.points]
    return same and all(abs(a - b) < _VISIBLE * most for (_, a), (_, b) in zip(one.points, other.points, strict=True))


def _points(law: Any, half: float) -> list[tuple[float, float]]:
    """A fine grid; where a law has few jumps, also both sides of each, so that steps are upright."""
    xs = [-half + 2 * half * i / (_GRID - 1) for i in range(_GRID)]
    if isinstance(law, Piecewise) and float(law.period) * _MOST_STEPS > half:
        jumps = {float(x) for start, end, _ in law.unrolled(Fraction(half)) for x in (start, end) if abs(x) < half}
        if len(jumps) <= 4 * _MOST_STEPS:
            xs = sorted([*xs, *(x + side * half * 1e-6 for x in jumps for side in (-1, 1))])
    return [(x, float(law.density(x, FLOATS))) for x in xs]


def _counted(report: Report, asked: Asked, width: float | None) -> Noise:
    """Several numbers: the first one's errors, counted, and answers for some of them."""
    count = _MANY[asked.question]
    errors = np.asarray(report.best.draw(count), dtype=float)
    size = errors.shape[1]
    picks = sorted({0, size // 2, size - 1}) if asked.question == "workload" else list(range(min(size, _ROWS)))
    names = getattr(report.query, "names", None) or [f"number {i + 1}" for i in range(size)]
    truth = float(asked.truth)
    rows = tuple((str(names[i]), truth, tuple(truth + float(x) for x in errors[:ANSWERS, i])) for i in picks)
    half = _WIDER * (width or float(np.quantile(np.abs(errors[:, 0]), 0.95)))
    most = max(float(np.quantile(np.abs(errors[:, i]), 0.99)) for i in picks)
    lines = (_histogram(report.candidates[0].name, errors[:, 0], -half, half),)
    label = f"error of {names[0] if asked.question == 'several' else f'question {names[0]}'}"
    return Noise(lines, width, 0.0, label, count, rows, (truth - most, truth + most))


def _in_bounds(report: Report, asked: Asked, width: float | None) -> Noise:
    low, high = (float(end) for end in report.query.outputs)
    count, truth = _MANY["bounded"], float(asked.truth)
    released = np.asarray(report.best.release_many([asked.truth] * count), dtype=float)
    lines = (_histogram(report.candidates[0].name, released, low, high),)
    rows = (("", truth, tuple(float(x) for x in released[:ANSWERS])),)
    return Noise(lines, width, truth, "released answer", count, rows, (low, high))


def _histogram(name: str, values: Any, low: float, high: float) -> Line:
    """Counted draws as a curve of steps."""
    heights, edges = np.histogram(values, bins=_BINS, range=(low, high), density=False)
    scale = 1 / (len(values) * (high - low) / _BINS)
    points = [(float(x), float(h) * scale) for i, h in enumerate(heights) for x in (edges[i], edges[i + 1])]
    return Line(name, points)

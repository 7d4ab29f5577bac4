"""Pictures of bounded mechanisms: density of the release, bias and spread against the true answer."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from noisewright.mechanisms.bounded_values import profile_of
from noisewright.mechanisms.conditional import Conditional
from noisewright.numerics.fields import FLOATS
from noisewright.search.report.plots import new_figure, save

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from noisewright.search.report.bounded_report import BoundedReport

_COLOURS = ("#1b6ca8", "#d1495b", "#3c9d6b", "#8d5fb5", "#c98b2b", "#5b5b5b", "#17a2a2", "#a05195")
_STYLES = ("-", "--", ":", "-.")
_SHOWN = 8
_BINS = 60
_PLACES = 120


def plot_bounded(report: BoundedReport, path: str | Path | None) -> Figure:
    """Left: the winner's density at three answers. Middle: bias. Right: standard deviation of every candidate."""
    figure = new_figure(14, 4)
    left, middle, right = figure.subplots(1, 3)
    low, high = report.query.inputs
    winner = report.candidates[0]
    for i, share in enumerate((Fraction(0), Fraction(1, 2), Fraction(1))):
        answer = low + share * (high - low)
        edges, heights = binned_density(winner.certified.mechanism, answer)
        left.stairs(heights, edges, color=_COLOURS[i], label=f"answer {float(answer):.4g}", linewidth=1.6)
    left.set(xlabel="released answer", ylabel="density", title=f"{winner.name}")
    left.legend(frameon=False)
    for i, candidate in enumerate(report.candidates[:_SHOWN]):
        profile = profile_of(candidate.certified.mechanism)
        stride = max(1, (len(profile.inputs) - 1) // _PLACES)
        picks = range(0, len(profile.inputs), stride)
        xs = [float(profile.inputs[k]) for k in picks]
        look = {"color": _COLOURS[i % len(_COLOURS)], "linestyle": _STYLES[i % len(_STYLES)], "label": candidate.name}
        middle.plot(xs, [float(sum(profile.bias[k])) / 2 for k in picks], **look)
        right.plot(xs, [math.sqrt(float(profile.error[k][1])) for k in picks], **look)
    middle.set(xlabel="true answer", ylabel="bias of the release", title="bias")
    right.set(xlabel="true answer", ylabel="root mean square error", title=str(report.utility))
    right.set_ylim(bottom=0)
    right.legend(frameon=False, fontsize=8)
    save(figure, path)
    return figure


def binned_density(mechanism: Conditional, answer: Fraction) -> tuple[list[float], list[float]]:
    """Edges and heights of the law of the release at an answer, in bins of equal width."""
    i, share = mechanism.grid.locate(answer)
    rows = [(mechanism.row(i), 1 - share)] + ([(mechanism.row(i + 1), share)] if share else [])
    values = sorted((float(mechanism.value(k)), k) for k in range(mechanism.last + 1))
    low, high = values[0][0], values[-1][0]
    bins = min(_BINS, len(values))
    edges = [low + (high - low) * b / bins for b in range(bins + 1)]
    masses = [0.0] * bins
    for law, weight in rows:
        before = {k: law.cdf(k - 1, FLOATS) for _, k in values}
        for value, k in values:
            place = min(int((value - low) / (high - low) * bins), bins - 1)
            masses[place] += float(weight) * (law.cdf(k, FLOATS) - before[k])
    return edges, [mass * bins / (high - low) for mass in masses]

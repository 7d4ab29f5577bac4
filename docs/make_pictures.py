"""Draws the pictures of the documentation from the library itself: python docs/make_pictures.py."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import noisewright as nw

IMAGES = Path(__file__).resolve().parent / "images"
DRAWS = 4_000_000
WITHIN = 0.5
DESIGNED, PLAIN = "#0b6e69", "#b3541e"


def design(epsilon: str) -> nw.Report:
    """The question of the README, at one epsilon."""
    return nw.design(
        nw.Scalar(sensitivity=1),
        privacy=nw.PureDP(epsilon=epsilon),
        utility=nw.Usefulness(within=WITHIN),
    )


def laplace(report: nw.Report) -> nw.Candidate:
    """The candidate that is plain Laplace noise."""
    return next(each for each in report.candidates if "laplace" in each.name.lower())


def draw_noise(axes: Axes, report: nw.Report) -> None:
    """Histograms of exact draws: the designed noise beside Laplace."""
    edges = np.linspace(-4, 4, 161)
    width = edges[1] - edges[0]
    axes.axvspan(-WITHIN, WITHIN, color="0.93", zorder=0)
    rivals = [("designed", report.best, DESIGNED), ("Laplace", laplace(report).certified, PLAIN)]
    for label, certified, colour in rivals:
        counts, _ = np.histogram(certified.draw(DRAWS), bins=edges)
        axes.stairs(counts / (DRAWS * width), edges, color=colour, linewidth=1.8, label=label, baseline=None)
    axes.set(
        xlabel="error of the answer", ylabel="density", title="Same privacy (epsilon 1), other noise", ylim=(0, None)
    )
    axes.annotate("useful:\nerror at most 0.5", (0, 0.02), ha="center", va="bottom", fontsize=9, color="0.35")
    axes.legend(frameon=False)


def draw_gain(axes: Axes) -> None:
    """The chance of a useful answer against epsilon, with the bound that nothing private can pass."""
    epsilons = [f"{value:.3g}" for value in np.geomspace(0.1, 8, 25)]
    reports = [design(epsilon) for epsilon in epsilons]
    x = [float(epsilon) for epsilon in epsilons]
    axes.plot(x, np.array([r.bound for r in reports], dtype=float), color="0.75", linewidth=6, label="best possible")
    axes.plot(x, [r.candidates[0].value for r in reports], color=DESIGNED, linewidth=1.8, label="designed")
    axes.plot(x, [laplace(r).value for r in reports], color=PLAIN, linewidth=1.8, label="Laplace")
    axes.set(xscale="log", xlabel="epsilon", ylabel="P(error at most 0.5)", title="How often an answer is useful")
    axes.set_xticks([0.1, 0.3, 1, 3, 8], labels=["0.1", "0.3", "1", "3", "8"])
    axes.minorticks_off()
    axes.legend(frameon=False)


def main() -> None:
    """Write docs/images/hero.png."""
    style: dict[Any, Any] = {
        "axes.spines.top": False,
        "axes.spines.right": False,
        "font.size": 10,
        "axes.titlesize": 11,
    }
    with mpl.rc_context(style):
        figure = Figure(figsize=(10, 3.8), layout="constrained")
        left, right = figure.subplots(1, 2)
        draw_noise(left, design("1"))
        draw_gain(right)
        IMAGES.mkdir(exist_ok=True)
        figure.savefig(IMAGES / "hero.png", dpi=130)
    print(f"wrote {IMAGES / 'hero.png'}")


if __name__ == "__main__":
    main()

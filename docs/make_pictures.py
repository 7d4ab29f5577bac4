"""Draws the pictures of the documentation from the library itself: python docs/make_pictures.py."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes

import noisewright as nw
from noisewright.drawing.style import WIDTH, new_figure, save

IMAGES = Path(__file__).resolve().parent / "images"
DRAWS = 4_000_000
WITHIN = 0.5


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
    for label, certified in (("designed", report.best), ("Laplace", laplace(report).certified)):
        counts, _ = np.histogram(certified.draw(DRAWS), bins=edges)
        axes.stairs(counts / (DRAWS * width), edges, linewidth=1.8, label=label, baseline=None)
    axes.set(
        xlabel="error of the answer", ylabel="density", title="Same privacy (epsilon 1), other noise", ylim=(0, None)
    )
    axes.annotate("useful:\nerror at most 0.5", (0, 0.02), ha="center", va="bottom", color="0.35")


def draw_gain(axes: Axes) -> None:
    """The chance of a useful answer against epsilon, with the bound that nothing private can pass."""
    epsilons = [f"{value:.3g}" for value in np.geomspace(0.1, 8, 25)]
    reports = [design(epsilon) for epsilon in epsilons]
    x = [float(epsilon) for epsilon in epsilons]
    axes.plot(
        x,
        np.array([r.bound for r in reports], dtype=float),
        color="0.75",
        linewidth=6,
        marker="",
        label="best possible",
    )
    axes.plot(x, [r.candidates[0].value for r in reports], label="designed")
    axes.plot(x, [laplace(r).value for r in reports], label="Laplace")
    axes.set(xscale="log", xlabel="epsilon", ylabel="P(error at most 0.5)", title="How often an answer is useful")
    axes.set_xticks([0.1, 0.3, 1, 3, 8], labels=["0.1", "0.3", "1", "3", "8"])
    axes.minorticks_off()


def main() -> None:
    """Write docs/images/hero.png."""
    figure = new_figure(WIDTH, 4.2)
    left, right = figure.subplots(1, 2)
    draw_noise(left, design("1"))
    draw_gain(right)
    figure.suptitle("Noise designed for the question, beside Laplace noise")
    IMAGES.mkdir(exist_ok=True)
    save(figure, IMAGES / "hero.png")
    print(f"wrote {IMAGES / 'hero.png'}")


if __name__ == "__main__":
    main()

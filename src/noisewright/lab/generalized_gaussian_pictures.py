"""Pictures 6 to 12 of the generalized-Gaussian paper, over the whole grid of epsilon and delta."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.drawing.legends import look
from noisewright.drawing.style import WIDTH, new_figure, save
from noisewright.lab.generalized_gaussian_counts import Examples, Outcome
from noisewright.lab.pictures import write_table
from noisewright.lab.sheets import Panel, write_panels

_MOST_POINTS = 250


def write_counts(
    out: Path,
    numbers: tuple[int, int],
    counts: NDArray[np.float64],
    outcomes: list[Outcome],
    examples: Examples,
) -> list[Path]:
    """The scatter plots and the distances of one dataset, and its table."""
    scatter = out / f"figure-{numbers[0]:02d}.png"
    _scatter(scatter, counts, examples, outcomes[0].data)
    files = [scatter]
    for field, label in (("l1", "mean l1 distance (people)"), ("kl", "mean KL divergence (nats)")):
        panels = _panels(outcomes, field)
        title = f"{outcomes[0].data} data: {label.partition(' (')[0]} between the true and the released table"
        name = f"figure-{numbers[1]:02d}-{field}"
        files += write_panels(out, name, panels, "epsilon", label, log="xy", title=title)
    header = ["data", "mechanism", "epsilon", "delta", "l1 mean", "l1 std", "KL mean", "KL std"]
    rows = [[o.data, o.mechanism, o.epsilon, o.delta, o.l1_mean, o.l1_std, o.kl_mean, o.kl_std] for o in outcomes]
    return [*files, write_table(out / f"figure-{numbers[1]:02d}.csv", header, rows)]


def _panels(outcomes: list[Outcome], field: str) -> list[Panel]:
    epsilons = sorted({o.epsilon for o in outcomes})
    panels = []
    for delta in sorted({o.delta for o in outcomes if o.delta is not None}):
        curves: dict[str, list[float]] = {}
        for o in sorted(outcomes, key=lambda o: o.epsilon):
            if o.delta in (None, delta):
                curves.setdefault(o.mechanism, []).append(float(getattr(o, f"{field}_mean")))
        panels.append(Panel(f"delta = {delta:g} where there is one", epsilons, curves))
    return panels


def _scatter(path: Path, counts: NDArray[np.float64], examples: Examples, data: str) -> None:
    """A panel for each epsilon and delta: released against original counts, one noisy table of each mechanism."""
    epsilons, deltas = (sorted({key[i] for key in examples}) for i in (0, 1))
    figure = new_figure(WIDTH, 2.6 * len(epsilons) + 0.8)
    figure.suptitle(f"{data} data: one release of each count (line: no error)")
    axes = figure.subplots(len(epsilons), len(deltas), squeeze=False, sharex=True, sharey=True)
    cells = np.argsort(counts, kind="stable")[:: max(1, len(counts) // _MOST_POINTS)]
    for row, epsilon in zip(axes, epsilons, strict=True):
        for axis, delta in zip(row, deltas, strict=True):
            for i, (name, released) in enumerate(examples[epsilon, delta].items()):
                axis.plot(counts[cells], released[cells], linestyle="", markersize=2.5, label=name, **look(i))
            axis.axline((0, 0), slope=1, color="black", linewidth=0.6)
            axis.set_title(f"epsilon {float(epsilon):g}, delta {float(delta):g}")
        row[0].set_ylabel("released count")
    for axis in axes[-1]:
        axis.set_xlabel("original count")
    save(figure, path)


def write_accuracies(out: Path, rows: list[list[Any]], repeats: int) -> list[Path]:
    """Figure 12: what accuracy changes, a panel for each epsilon, with one standard deviation of the repeats."""
    original = rows[0][3]
    epsilons = sorted({r[1] for r in rows[1:]})
    deltas = sorted({r[2] for r in rows[1:] if r[2] is not None})
    names = list(dict.fromkeys(r[0] for r in rows[1:]))
    figure = new_figure(WIDTH, 4.8)
    figure.suptitle(f"Accuracy of a support vector machine on released counts: change in {repeats} repeats")
    axes = np.atleast_1d(figure.subplots(1, len(epsilons), sharey=True))
    for axis, epsilon in zip(axes, epsilons, strict=True):
        for i, name in enumerate(names):
            mine = [r for r in rows[1:] if r[0] == name and r[1] == epsilon]
            places = [0 if r[2] is None else 1 + deltas.index(r[2]) for r in mine]
            shifted = [place + 0.1 * (i - len(names) / 2) for place in places]
            change, spread = ([100 * r[k] - 100 * original * (k == 3) for r in mine] for k in (3, 4))
            axis.errorbar(shifted, change, yerr=spread, linestyle="", markersize=4, label=name, **look(i))
        axis.axhline(0, color="black", linewidth=0.8)
        axis.set_xticks(range(len(deltas) + 1), ["pure", *(f"{d:g}" for d in deltas)])
        axis.set(xlabel="delta", title=f"epsilon {epsilon:g}")
    axes[0].set_ylabel(f"accuracy minus that of the original\n(points, mean and deviation of {repeats} repeats)")
    save(figure, out / "figure-12.png")
    header = ["trained on", "epsilon", "delta", "accuracy mean", "accuracy std"]
    return [out / "figure-12.png", write_table(out / "figure-12.csv", header, rows)]

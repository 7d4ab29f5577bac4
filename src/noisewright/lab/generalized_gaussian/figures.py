"""Figures 1 to 5 of the generalized-Gaussian paper, from formulas."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.drawing.legends import look
from noisewright.drawing.style import WIDTH, new_figure, save
from noisewright.lab.generalized_gaussian.counts import Examples, Outcome
from noisewright.lab.generalized_gaussian.named_rules import (
    gaussian_classical_std,
    gaussian_printed_std,
    proposition_eight_scale,
)
from noisewright.lab.sheets import Panel, write_panels, write_table
from noisewright.laws.gaussian import GeneralizedGaussian
from noisewright.numerics.fields import FLOATS
from noisewright.problem.privacy import ApproxDP, ProbabilisticDP
from noisewright.search.families.calibration import GAUSSIAN, calibrated_many, generalized_gaussians

DELTAS = (0.01, 0.05, 0.1, 0.2)
POWERS = (2, 3, 4, 5, 6)
_SENSITIVITIES = (1.0, 0.1, 0.05)


def densities(out: Path) -> list[Path]:
    """Figure 1: powers 1 to 5 at the same scale and at the same variance."""
    figure = new_figure(WIDTH, 4.4)
    left, right = figure.subplots(1, 2, sharex=True, sharey=True)
    xs = np.linspace(-4, 4, 401)
    rows: list[list[float]] = []
    for power in range(1, 6):
        p = Fraction(power)
        unit = math.sqrt(float(GeneralizedGaussian(p, Fraction(1)).moment(2, FLOATS)))
        for axis, scale in ((left, math.sqrt(2)), (right, 1 / unit)):
            law = GeneralizedGaussian(p, Fraction(scale))
            ys = [float(law.density(Fraction(float(x)), FLOATS)) for x in xs]
            axis.plot(xs, ys, label=f"p = {power}")
            rows += [[power, scale, float(x), y] for x, y in zip(xs, ys, strict=True)]
    left.set(title="all with scale √2", xlabel="noise", ylabel="density")
    right.set(title="all with variance 1", xlabel="noise")
    figure.suptitle("Densities of generalized Gaussian noise of powers 1 to 5")
    path = out / "figure-01.png"
    save(figure, path)
    return [path, write_table(out / "figure-01.csv", ["power", "scale", "x", "density"], rows)]


def scale_bounds(out: Path, powers: tuple[int, ...]) -> tuple[list[Path], list[list[float]]]:
    """Figure 2: Proposition 8's scale for sensitivities 1, 0.1, 0.05, beside the exact one for the first alone."""
    rows: list[list[float]] = []
    figure = new_figure(WIDTH, 4.8)
    axes = figure.subplots(1, 2, sharey=True)
    for axis, delta in zip(axes, (0.01, 0.1), strict=True):
        for epsilon in (0.5, 1.0, 2.0):
            printed = [proposition_eight_scale(p, _SENSITIVITIES, epsilon, delta) for p in powers]
            exact = [
                float(calibrated_many(generalized_gaussians(p), 1, [ProbabilisticDP(epsilon, delta)])[0])
                for p in powers
            ]
            axis.plot(powers, printed, label=f"Proposition 8, ε = {epsilon:g}")
            axis.plot(powers, exact, ":", label=f"one number, exact, ε = {epsilon:g}")
            rows += [[epsilon, delta, p, a, b] for p, a, b in zip(powers, printed, exact, strict=True)]
        axis.set(title=f"δ = {delta:g}", xlabel="power p", ylabel="scale b", xticks=powers, yscale="log")
        axis.label_outer()
    figure.suptitle("Scale that Proposition 8 asks for, beside what one number needs")
    path = out / "figure-02.png"
    save(figure, path)
    header = ["epsilon", "delta", "power", "proposition 8", "exact, first coordinate alone"]
    return [path, write_table(out / "figure-02.csv", header, rows)], rows


def gaussian_bounds(out: Path) -> tuple[list[Path], list[list[float]]]:
    """Figure 3: standard deviations by Equations 17 and 18, and the exact ones for both notions."""
    epsilons = (0.1, 0.25, 0.5, 0.75, 0.99)
    rows: list[list[float]] = []
    figure = new_figure(WIDTH, 4.6)
    axis = figure.subplots()
    deltas = np.round(np.linspace(0.01, 0.49, 17), 4)
    for epsilon in epsilons:
        exact_a = calibrated_many(GAUSSIAN, 1, [ApproxDP(epsilon, float(d)) for d in deltas])
        exact_p = calibrated_many(GAUSSIAN, 1, [ProbabilisticDP(epsilon, float(d)) for d in deltas])
        ratio = []
        for d, a, p in zip(deltas, exact_a, exact_p, strict=True):
            printed = gaussian_printed_std(1, epsilon, float(d))
            classical = gaussian_classical_std(1, epsilon, float(d))
            rows.append([epsilon, float(d), printed, classical, float(p), float(a)])
            ratio.append(printed / classical)
        axis.plot(deltas, ratio, label=f"ε = {epsilon:g}")
    axis.axhline(1, color="black", linewidth=0.8)
    axis.set(xlabel="δ", ylabel="deviation by (17) : by (18)")
    axis.set_title("Gaussian noise by Equation 17, relative to Equation 18 (line: equal)")
    path = out / "figure-03.png"
    save(figure, path)
    header = ["epsilon", "delta", "equation 17", "equation 18", "exact probabilistic", "exact approximate"]
    return [path, write_table(out / "figure-03.csv", header, rows)], rows


def tail_ratios(out: Path) -> list[Path]:
    """Figure 4: P(|Laplace| > t) : P(|Gaussian| > t), the Gaussian by Equation 17."""
    figure = new_figure(WIDTH, 4.2)
    rows: list[list[float]] = []
    for axis, epsilon in zip(figure.subplots(1, 3, sharey=True), (0.1, 1.0, 2.0), strict=True):
        for delta in DELTAS:
            std = gaussian_printed_std(1, epsilon, delta)
            ts = np.linspace(0.01, 12 / epsilon, 200)
            first = np.exp(-ts * epsilon)
            second = np.array([math.erfc(t / std / math.sqrt(2)) for t in ts])
            seen = (first > 1e-4) | (second > 1e-4)
            axis.plot(ts[seen], (first / second)[seen], label=f"δ = {delta:g}")
            rows += [[epsilon, delta, float(t), float(a), float(b)] for t, a, b in zip(ts, first, second, strict=True)]
        axis.set(title=f"ε = {epsilon:g}", xlabel="size of the noise t", yscale="log")
        axis.set_ylabel("P(Laplace > t) : P(Gaussian > t)")
        axis.label_outer()
    figure.suptitle("Tails of Laplace noise, relative to Gaussian noise by Equation 17")
    path = out / "figure-04.png"
    save(figure, path)
    return [path, write_table(out / "figure-04.csv", ["epsilon", "delta", "t", "Laplace", "Gaussian"], rows)]


def privacy_costs(out: Path) -> list[Path]:
    """Figure 5: the epsilon at which Equation 17's Gaussian has the tail of Laplace noise, relative to Laplace's."""
    from scipy.special import ndtri

    figure = new_figure(WIDTH, 4.2)
    rows: list[list[float]] = []
    for axis, epsilon in zip(figure.subplots(1, 3, sharey=True), (0.1, 1.0, 2.0), strict=True):
        for delta in DELTAS:
            ts = np.linspace(0.2 / epsilon, 9 / epsilon, 150)
            std = ts / -ndtri(np.exp(-ts * epsilon) / 2)
            z = float(ndtri(delta / 2))
            other = (1 - 2 * std * z) / (2 * std**2)
            axis.plot(ts, other / epsilon, label=f"δ = {delta:g}")
            rows += [[epsilon, delta, float(t), float(e)] for t, e in zip(ts, other, strict=True)]
        axis.set(title=f"ε₁ = {epsilon:g}", xlabel="size of the noise t", ylabel="ε₂ of the Gaussian : ε₁ of Laplace")
        axis.label_outer()
    figure.suptitle("What Gaussian noise (Equation 17) costs where its tail is that of Laplace noise")
    path = out / "figure-05.png"
    save(figure, path)
    return [path, write_table(out / "figure-05.csv", ["epsilon 1", "delta", "t", "epsilon 2"], rows)]


# Pictures 6 to 12 of the generalized-Gaussian paper, over the whole grid of epsilon and delta.


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

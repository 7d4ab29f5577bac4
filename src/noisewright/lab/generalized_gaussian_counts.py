"""Figures 6 to 11 of the generalized-Gaussian paper: histograms with noise, each drawn from a certified mechanism."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.lab.named_rules import corollary_nine_scale, gaussian_classical_std, gaussian_printed_std
from noisewright.lab.pictures import write_table
from noisewright.laws.gaussian import Gaussian, GeneralizedGaussian
from noisewright.laws.laplace import Laplace
from noisewright.laws.lattice import Lattice
from noisewright.mechanisms.additive import Additive
from noisewright.problem.privacy import ApproxDP, ProbabilisticDP, PureDP
from noisewright.problem.queries import Scalar
from noisewright.problem.utilities import AbsoluteError
from noisewright.sample.certified import Certified, make_certified
from noisewright.search.families.approximate import solve_approximate, truncated_staircase
from noisewright.search.families.staircase import tuned_staircase
from noisewright.search.report.plots import new_figure, save

EPSILONS = (Fraction(1, 2), Fraction(1), Fraction(2))
DELTAS = (Fraction(1, 100), Fraction(1, 20), Fraction(1, 10), Fraction(1, 4))
_PRIOR = 0.5
_STEPS = 40
_BATCH = 50


@dataclass(frozen=True, slots=True)
class Outcome:
    """Means and standard deviations over the repeats for one mechanism and setting."""

    data: str
    mechanism: str
    epsilon: float
    delta: float | None
    l1_mean: float
    l1_std: float
    kl_mean: float
    kl_std: float


def mechanisms(epsilon: Fraction, delta: Fraction, *, cubic: bool) -> dict[str, Certified]:
    """The paper's mechanisms at its own scales, and our best under each of the three requirements."""
    real, whole = Scalar(1), Scalar(1, integer=True)
    e, d = float(epsilon), float(delta)
    pure, probable, approximate = PureDP(epsilon), ProbabilisticDP(epsilon, delta), ApproxDP(epsilon, delta)
    found = {
        "Laplace, pure": _real(real, Laplace(1 / epsilon), float(1 / epsilon), pure),
        "Gaussian, probabilistic (17)": _gaussian(real, gaussian_printed_std(1, e, d), probable),
        "Gaussian, approximate (18)": _gaussian(real, gaussian_classical_std(1, e, d), approximate),
        "ours, pure: staircase": make_certified(tuned_staircase(whole, epsilon, AbsoluteError()), pure),
    }
    if cubic:
        scale = corollary_nine_scale(3, 1, e, d, printed=False) * 1.02
        law = GeneralizedGaussian(Fraction(3), Fraction(scale))
        found["GG-3, probabilistic"] = _real(real, law, scale, probable)
    cut = truncated_staircase(whole, probable, AbsoluteError())
    if cut is not None:
        best = Additive(whole, cut, Lattice.integers())
        found["ours, probabilistic: truncated staircase"] = make_certified(best, probable)
    solved = solve_approximate(whole, approximate, AbsoluteError())
    if solved.law is not None:
        programme = Additive(whole, solved.law, Lattice.integers())
        found["ours, approximate: tailored"] = make_certified(programme, approximate)
    return found


def _gaussian(query: Scalar, std: float, privacy: Any) -> Certified:
    return _real(query, Gaussian(Fraction(std)), std, privacy)


def _real(query: Scalar, law: Any, spread: float, privacy: Any) -> Certified:
    step = Fraction(1, max(2, math.ceil(_STEPS / spread)))
    return make_certified(Additive(query, law, Lattice.cells(step)), privacy)


def sanitised(counts: NDArray[np.float64], certified: Certified, repeats: int) -> NDArray[np.float64]:
    """Repeats of counts plus noise, kept between 0 and n and scaled to sum to n (n is public)."""
    total = float(counts.sum())
    noise = certified.draw(repeats * len(counts)).astype(np.float64).reshape(repeats, len(counts))
    kept = np.clip(counts + noise, 0.0, total)
    sums = kept.sum(axis=1, keepdims=True)
    return np.asarray(np.where(sums > 0, kept * total / np.where(sums > 0, sums, 1.0), total / len(counts)))


def distances(counts: NDArray[np.float64], released: NDArray[np.float64]) -> tuple[Any, Any]:
    """l_1 distance per repeat, and the Kullback-Leibler divergence of smoothed frequencies."""
    l1 = np.abs(released - counts).sum(axis=1)
    p = (counts + _PRIOR) / (counts + _PRIOR).sum()
    q = (released + _PRIOR) / (released + _PRIOR).sum(axis=1, keepdims=True)
    return l1, (p * np.log(p / q)).sum(axis=1)


def experiment(
    data: str,
    counts: NDArray[np.float64],
    repeats: int,
    *,
    cubic: bool,
    epsilons: tuple[Fraction, ...] = EPSILONS,
    deltas: tuple[Fraction, ...] = DELTAS,
) -> tuple[list[Outcome], dict[str, NDArray[np.float64]]]:
    """Every mechanism at every setting, and one noisy table each at epsilon = 1, delta = 0.1 for the scatter plot."""
    outcomes, examples = [], {}
    for epsilon in epsilons:
        for delta in deltas:
            for name, certified in mechanisms(epsilon, delta, cubic=cubic).items():
                pure = "pure" in name
                if pure and delta != deltas[0]:
                    continue
                batches = [min(_BATCH, repeats - i) for i in range(0, repeats, _BATCH)]
                parts = []
                for size in batches:
                    released = sanitised(counts, certified, size)
                    parts.append(distances(counts, released))
                if epsilon == 1 and (delta == DELTAS[2] or pure):
                    examples[name] = released[0]
                l1, kl = (np.concatenate([part[i] for part in parts]) for i in (0, 1))
                outcomes.append(
                    Outcome(
                        data,
                        name,
                        float(epsilon),
                        None if pure else float(delta),
                        float(l1.mean()),
                        float(l1.std()),
                        float(kl.mean()),
                        float(kl.std()),
                    )
                )
    return outcomes, examples


def write(
    out: Path,
    numbers: tuple[int, int],
    counts: NDArray[np.float64],
    outcomes: list[Outcome],
    examples: dict[str, NDArray[np.float64]],
) -> list[Path]:
    """The scatter plot and the distance plot of one dataset, and its table."""
    scatter, lines = (out / f"figure-{number:02d}.png" for number in numbers)
    figure = new_figure(3 * len(examples), 3)
    axes = np.atleast_1d(figure.subplots(1, len(examples), sharey=True))
    for axis, (name, released) in zip(axes, examples.items(), strict=True):
        axis.plot(counts, released, ".", markersize=3)
        axis.axline((0, 0), slope=1, color="black", linewidth=0.6)
        axis.set_title(name, fontsize=8)
    save(figure, scatter)
    figure = new_figure(10, 4)
    for axis, field in zip(figure.subplots(1, 2), ("l1_mean", "kl_mean"), strict=True):
        smallest = min(o.delta for o in outcomes if o.delta is not None)
        for name in dict.fromkeys(o.mechanism for o in outcomes):
            mine = [o for o in outcomes if o.mechanism == name and o.delta in (None, smallest)]
            axis.plot([o.epsilon for o in mine], [getattr(o, field) for o in mine], "o-", label=name)
        axis.set(xlabel="ε", ylabel="l₁ distance" if field == "l1_mean" else "KL divergence", yscale="log")
        axis.set_title(f"δ = {smallest:g} where there is one", fontsize=8)
    axis.legend(frameon=False, fontsize=6)
    save(figure, lines)
    header = ["data", "mechanism", "epsilon", "delta", "l1 mean", "l1 std", "KL mean", "KL std"]
    rows = [[o.data, o.mechanism, o.epsilon, o.delta, o.l1_mean, o.l1_std, o.kl_mean, o.kl_std] for o in outcomes]
    return [scatter, lines, write_table(out / f"figure-{numbers[1]:02d}.csv", header, rows)]

"""Non-identical additive noise: the paper's six figures, its claims, and norm-shaped blocks beside them.

The paper assumes that all numbers may move at once (a box). Curves are the closed forms with a Gaussian
calibration that was checked in balls; at the paper's main setting the certified mechanisms are also drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from pathlib import Path

import numpy as np

from noisewright.lab.claims import Reproduction
from noisewright.lab.non_identical_claims import claims
from noisewright.lab.non_identical_pictures import draw_curves
from noisewright.lab.sheets import figure_name
from noisewright.numerics.fields import Floats
from noisewright.search.families.vector_approximate import largest_length
from noisewright.search.report.shown import Advance
from noisewright.search.tools.shares import best_partition

PROFILES = ("uniform", "linear", "quadratic", "exponential", "one-hot")
DELTA = Fraction(1, 10**6)
EPSILON = Fraction(1, 2)


def profile(name: str, count: int) -> Floats:
    """Sensitivities of a profile, not normalised."""
    i = np.arange(1, count + 1, dtype=np.float64)
    if name == "uniform":
        return np.ones(count)
    if name == "linear":
        return i
    if name == "quadratic":
        return np.asarray(i**2)
    if name == "exponential":
        return np.asarray(np.exp(i - count))
    return np.asarray(np.eye(count)[-1])


def with_norm(values: Floats, order: int) -> Floats:
    """The same profile with l1 or l2 norm 1."""
    return np.asarray(values / np.linalg.norm(values, order))


def gini(values: Floats) -> float:
    """Gini coefficient: mean absolute difference over twice the mean."""
    differences = np.abs(values[:, None] - values[None, :]).sum()
    return float(differences / (2 * len(values) * values.sum()))


@lru_cache(maxsize=256)
def unit_variance(epsilon: Fraction, delta: Fraction) -> float:
    """Variance of Gaussian noise for differences of length 1, from the checked calibration."""
    return float(1 / largest_length(epsilon, delta) ** 2)


def gaussian_errors(values: Floats, variance: float) -> tuple[float, float]:
    """Total squared error of identical and of non-identical Gaussian noise (Theorem 5)."""
    return len(values) * float(values @ values) * variance, float(values.sum()) ** 2 * variance


def laplace_errors(values: Floats, epsilon: float) -> tuple[float, float]:
    """Total squared error of identical and of non-identical Laplace noise (Theorem 8)."""
    identical = 2 * len(values) * float(values.sum()) ** 2 / epsilon**2
    return identical, 2 * float((values ** (2 / 3)).sum()) ** 3 / epsilon**2


def block_error(values: Floats, epsilon: float) -> float:
    """Total squared error of the best norm-shaped blocks."""
    moving = values[values > 0]
    return best_partition(moving, np.ones(len(moving)), 2).error / epsilon**2


def decibel(value: float) -> float:
    """Ten times the decimal logarithm."""
    return float(10 * np.log10(value))


def reproduce(
    out: Path, step: Advance, *, dimensions: Sequence[int] = range(2, 51), draws: int = 50_000
) -> Reproduction:
    """Figures 1 to 6 as PNG and CSV, and the claims; smaller `dimensions` and `draws` for a quick look."""
    out.mkdir(parents=True, exist_ok=True)
    result = Reproduction("Non-identical additive noise")
    result.data.append("no data needed: sensitivity profiles are given by formulas")
    epsilons = [Fraction(round(v * 1000), 1000) for v in np.geomspace(0.1, 5, 18)]
    step("Figures 1 and 4: error against epsilon")
    _against_epsilon(result, out, epsilons, gaussian=True)
    _against_epsilon(result, out, epsilons, gaussian=False)
    step("Figures 2, 3 and 5: error and Gini coefficient against the dimension")
    _against_dimension(result, out, dimensions, gaussian=True)
    _gini_figure(result, out, dimensions)
    _against_dimension(result, out, dimensions, gaussian=False)
    step("Figure 6: Gaussian against Laplace")
    _crossing_figure(result, out, dimensions)
    step("certifying and drawing at K = 20")
    result.claims = claims(draws)
    return result


def _against_epsilon(result: Reproduction, out: Path, epsilons: list[Fraction], *, gaussian: bool) -> None:
    kind, number = ("Gaussian", 1) if gaussian else ("Laplace", 4)
    curves: dict[str, list[float]] = {}
    for name in PROFILES:
        values = with_norm(profile(name, 20), 2 if gaussian else 1)
        pairs = [
            gaussian_errors(values, unit_variance(e, DELTA)) if gaussian else laplace_errors(values, float(e))
            for e in epsilons
        ]
        if name == "uniform":
            curves[f"identical {kind}"] = [decibel(p[0]) for p in pairs]
        curves[f"non-identical, {name}"] = [decibel(p[1]) for p in pairs]
        if not gaussian and name != "one-hot":
            curves[f"norm-shaped blocks, {name}"] = [decibel(block_error(values, float(e))) for e in epsilons]
    title = f"Total squared error of {kind} noise, K = 20" + (", delta = 1e-6" if gaussian else "")
    _drawn(result, out, figure_name(number), [float(e) for e in epsilons], curves, ("epsilon", title))


def _against_dimension(result: Reproduction, out: Path, dimensions: Sequence[int], *, gaussian: bool) -> None:
    kind, number = ("Gaussian", 2) if gaussian else ("Laplace", 5)
    curves: dict[str, list[float]] = {}
    for name in PROFILES:
        scaled = [with_norm(profile(name, k), 2 if gaussian else 1) for k in dimensions]
        variance = unit_variance(EPSILON, DELTA)
        pairs = [gaussian_errors(v, variance) if gaussian else laplace_errors(v, float(EPSILON)) for v in scaled]
        if name == "uniform":
            curves[f"identical {kind}"] = [decibel(p[0]) for p in pairs]
        curves[f"non-identical, {name}"] = [decibel(p[1]) for p in pairs]
        if not gaussian and name != "one-hot":
            curves[f"norm-shaped blocks, {name}"] = [decibel(block_error(v, float(EPSILON))) for v in scaled]
    title = f"Total squared error of {kind} noise, epsilon = 0.5" + (", delta = 1e-6" if gaussian else "")
    _drawn(result, out, figure_name(number), list(dimensions), curves, ("numbers K", title), inset=gaussian)


def _gini_figure(result: Reproduction, out: Path, dimensions: Sequence[int]) -> None:
    curves = {f"non-identical, {name}": [gini(profile(name, k)) for k in dimensions] for name in PROFILES}
    labels = ("numbers K", "How uneven the sensitivity profiles are")
    _drawn(result, out, figure_name(3), list(dimensions), curves, labels, label="Gini coefficient")


def _crossing_figure(result: Reproduction, out: Path, dimensions: Sequence[int]) -> None:
    curves: dict[str, list[float]] = {}
    variance = unit_variance(EPSILON, DELTA)
    for name in ("uniform", "exponential"):
        scaled = [with_norm(profile(name, k), 2) for k in dimensions]
        curves[f"non-identical Gaussian, {name}"] = [decibel(gaussian_errors(v, variance)[1]) for v in scaled]
        curves[f"non-identical Laplace, {name}"] = [decibel(laplace_errors(v, float(EPSILON))[1]) for v in scaled]
        curves[f"norm-shaped blocks, {name}"] = [decibel(block_error(v, float(EPSILON))) for v in scaled]
    title = "Gaussian against Laplace noise: epsilon = 0.5; Gaussian with delta = 1e-6, the others with delta = 0"
    _drawn(result, out, figure_name(6), list(dimensions), curves, ("numbers K", title))


def _drawn(
    result: Reproduction,
    out: Path,
    name: str,
    places: Sequence[float],
    curves: dict[str, list[float]],
    labels: tuple[str, str],
    *,
    label: str = "total squared error (dB)",
    inset: bool = False,
) -> None:
    """One figure and the table behind it."""
    path = out / f"{name}.png"
    result.files += draw_curves(path, places, curves, (labels[0], label), labels[1], inset=inset)

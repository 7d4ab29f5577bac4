"""Hockey-stick divergences by plain sums in floats, from formulas written a second time."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
from scipy.special import gamma

import noisewright as nw
from tests import brute

Density = Callable[[np.ndarray], np.ndarray]
_POINTS = 60_000


def density(law: Any) -> Density:
    """The density of noise, by its textbook formula."""
    laws, folds = nw.laws, nw.folds
    match law:
        case laws.Laplace():
            return lambda x: np.exp(-np.abs(x) / float(law.scale)) / (2 * float(law.scale))
        case laws.TruncatedLaplace():
            b, s = float(law.bound), float(law.scale)
            return lambda x: np.where(np.abs(x) <= b, np.exp(-np.abs(x) / s), 0) / (2 * s * -math.expm1(-b / s))
        case laws.Gaussian():
            return lambda x: np.exp(-((x / float(law.std)) ** 2) / 2) / (float(law.std) * math.sqrt(2 * math.pi))
        case laws.GaussianMixture():
            parts = [(float(w), density(laws.Gaussian(s))) for s, w in zip(law.stds, law.weights, strict=True)]
            return lambda x: np.sum([w * part(x) for w, part in parts], axis=0)
        case laws.GeneralizedGaussian():
            p, s = float(law.power), float(law.scale)
            return lambda x: np.exp(-(np.abs(x / s) ** p)) * p / (2 * s * gamma(1 / p))
        case laws.Logistic():
            return lambda x: 1 / (4 * float(law.scale) * np.cosh(x / (2 * float(law.scale))) ** 2)
        case laws.HyperbolicSecant():
            return lambda x: 1 / (math.pi * float(law.scale) * np.cosh(x / float(law.scale)))
        case laws.TwoFold(fold=folds.GammaFold(shape=shape, scale=scale)):
            k, t = float(shape), float(scale)
            return lambda x: k * t / 2 * (1 + t * np.abs(x)) ** (-k - 1)
        case laws.TwoFold(fold=folds.Atoms(rates=rates, weights=weights)):
            atoms = [(float(w), float(u)) for u, w in zip(rates, weights, strict=True)]
            return lambda x: np.sum([w * u / 2 * np.exp(-u * np.abs(x)) for w, u in atoms], axis=0)
    raise AssertionError(f"no second formula for {law!r}")


def smooth_divergences(law: Any, shift: float, epsilons: Iterable[float]) -> list[float]:
    """The divergence of noise from itself moved by a shift: the integral of (f(x) - e^epsilon f(x + shift))+."""
    f, scale = density(law), abs(shift) or 1.0
    spread = scale * np.sinh(np.linspace(-22, 22, _POINTS)) / 50
    jumps = [float(law.bound)] if hasattr(law, "bound") else []
    near = [e * side + moved for e in jumps for side in (-1, 1) for moved in (0, -shift)]
    near = [v + d for v in near for d in (-1e-9 * scale, 1e-9 * scale)]
    x = np.unique(np.concatenate([spread, spread - shift, spread - shift / 2, near]))
    x = x[np.abs(x) < 1e9 * scale]
    with np.errstate(over="ignore", under="ignore"):
        here, there = f(x), f(x + shift)
        return [float(np.trapezoid(np.maximum(here - math.exp(e) * there, 0), x)) for e in epsilons]


def cell_divergences(law: nw.laws.Piecewise, shift: float, epsilons: Iterable[float]) -> list[float]:
    """The same for a density with levels: cell by cell."""
    start, end, height = brute.heights(law, brute.enough_turns(law) + math.ceil(abs(shift) / float(law.period)) + 2)
    order = np.argsort(start)
    start, end, height = start[order], end[order], height[order]
    edges = np.unique(np.concatenate([start, end[-1:], start - shift, end[-1:] - shift]))
    middles, widths = (edges[1:] + edges[:-1]) / 2, np.diff(edges)

    def at(x: np.ndarray) -> np.ndarray:
        inside = (x >= start[0]) & (x < end[-1])
        return np.where(inside, height[np.clip(np.searchsorted(start, x, side="right") - 1, 0, None)], 0)

    here, there = at(middles), at(middles + shift)
    return [float((widths * np.maximum(here - math.exp(e) * there, 0)).sum()) for e in epsilons]


def table_divergences(line: list[int], shift: int, epsilons: Iterable[float]) -> list[float]:
    """The same for weights of whole numbers, far enough on both sides."""
    total = sum(line)
    padded = [0] * abs(shift) + line + [0] * abs(shift)
    pairs = [
        (padded[i] / total, padded[i + shift] / total if 0 <= i + shift < len(padded) else 0.0)
        for i in range(len(padded))
    ]
    return [math.fsum(max(0.0, a - math.exp(e) * b) for a, b in pairs) for e in epsilons]


def random_smooth(kind: str, chance: Random) -> Any:
    """A law with parameters of about 1."""
    some = lambda low, high: Fraction(round(chance.uniform(low, high), 3)).limit_denominator(1000)  # noqa: E731
    share = some(0.1, 0.9)
    return {
        "laplace": lambda: nw.laws.Laplace(some(0.4, 3)),
        "truncated laplace": lambda: nw.laws.TruncatedLaplace(some(0.4, 2), some(0.3, 6)),
        "gaussian": lambda: nw.laws.Gaussian(some(0.5, 3)),
        "mixture": lambda: nw.laws.GaussianMixture([some(0.4, 1), some(1, 8)], [share, 1 - share]),
        "power below 1": lambda: nw.laws.GeneralizedGaussian(some(0.3, 0.9), some(0.4, 2)),
        "power above 1": lambda: nw.laws.GeneralizedGaussian(some(1.1, 5), some(0.6, 3)),
        "logistic": lambda: nw.laws.Logistic(some(0.3, 2)),
        "secant": lambda: nw.laws.HyperbolicSecant(some(0.3, 2)),
        "gamma fold": lambda: nw.laws.TwoFold(nw.folds.GammaFold(some(1.5, 5), some(0.2, 2))),
        "atoms": lambda: nw.laws.TwoFold(nw.folds.Atoms([some(0.2, 1), some(1, 4)], [share, 1 - share])),
    }[kind]()


SMOOTH = (
    "laplace", "truncated laplace", "gaussian", "mixture", "power below 1", "power above 1", "logistic", "secant",
    "gamma fold", "atoms",
)  # fmt: skip


def random_levels(chance: Random, *, one_top: bool) -> nw.laws.Piecewise:
    """A lopsided density on cells of quarters, with one top or with several."""
    left, right = chance.randint(1, 3), chance.randint(1, 3)
    body = [Fraction(chance.randint(0, 12), 4) for _ in range(chance.randint(2, 5))]
    sides = [Fraction(chance.randint(0, 4), 4) for _ in range(4 * (left + right))]
    if one_top:
        falls = sorted(Fraction(chance.randint(0, 8), 8) for _ in range(4))
        first, last = [v + 2 for v in falls[::-1]], [v + 2 for v in falls]
        levels = [*first, Fraction(2), Fraction(0), Fraction(1), *last]
    else:
        first, last = [v + 3 for v in sides[:4]], [v + 3 for v in sides[4:8]]
        levels = [*first, *body, *last]
    widths = [Fraction(1, 4)] * 4 + [Fraction(chance.randint(1, 3), 4) for _ in levels[4:-4]] + [Fraction(1, 4)] * 4
    start = -sum(widths, Fraction(0)) / 2
    start = Fraction(math.floor(4 * start), 4)
    breaks = [start + sum(widths[:i], Fraction(0)) for i in range(len(widths) + 1)]
    rate = Fraction(chance.randint(4, 20), 10)
    return nw.laws.Piecewise(rate, 1, breaks, levels, left_cells=4, right_cells=4)

"""Small mechanisms that several tests draw from, and laws of what they draw written a second time in floats."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Any

from scipy.special import gammaincc

from noisewright.laws.laplace import DiscreteLaplace
from noisewright.laws.lattice import Lattice
from noisewright.mechanisms.additive import Additive
from noisewright.mechanisms.bounded.conditional import Grid, Rows
from noisewright.problem.privacy import PureDP
from noisewright.problem.queries import Bounded, Scalar

ONE_EPSILON = PureDP(1)
GEOMETRIC = Additive(Scalar(1, integer=True), DiscreteLaplace(Fraction(1)), Lattice.integers())

FITS = 1e-4
"""The words are replayed, so a p-value is the same at every run; a wrong law falls far below `FAILS`."""
FAILS = 1e-9


def fit(drawn: Iterable[Any], masses: Mapping[Any, float], least: float = 30) -> float:
    """p-value of draws against masses, rare outcomes counted together with their neighbours in order.

    Zero if something was drawn that has no mass at all.
    """
    found = Counter(drawn)
    draws = sum(found.values())
    if not set(found) <= set(masses):
        return 0.0
    bins: list[tuple[int, float]] = []
    count, share = 0, 0.0
    for outcome in sorted(masses):
        count, share = count + found[outcome], share + masses[outcome]
        if share * draws >= least:
            bins.append((count, share))
            count, share = 0, 0.0
    bins[-1] = (bins[-1][0] + count, bins[-1][1] + share)
    assert len(bins) > 1, "too few draws to tell anything"
    statistic = sum((count - draws * share) ** 2 / (draws * share) for count, share in bins)
    return float(gammaincc((len(bins) - 1) / 2, statistic / 2))


def geometric_masses(rate: float, reach: int = 200) -> dict[int, float]:
    """Two-sided geometric masses."""
    fade = math.exp(-rate)
    return {k: (1 - fade) / (1 + fade) * fade ** abs(k) for k in range(-reach, reach + 1)}


def shaped_masses(
    size: int, rate: float, norm: Callable[[tuple[int, ...]], float], reach: int
) -> dict[tuple[int, ...], float]:
    """Masses proportional to e^(-rate norm) of all whole vectors in a box that holds nearly everything."""
    vectors = itertools.product(range(-reach, reach + 1), repeat=size)
    weights = {z: math.exp(-rate * norm(z)) for z in vectors}
    total = math.fsum(weights.values())
    return {z: weight / total for z, weight in weights.items()}


def bounded_question(low: Fraction | int, high: Fraction | int) -> Bounded:
    """Answers between two numbers, released between the same, with any bias."""
    found = Scalar(Fraction(high) - Fraction(low), inputs=(low, high), outputs=(low, high)).bounded
    assert found is not None
    return found


def telltale(points: Iterable[Fraction | int]) -> Rows:
    """Releases the very grid input that an answer was rounded to; nothing is private about it, it is for tests."""
    grid = tuple(Fraction(x) for x in points)
    weights = tuple(tuple(int(i == k) for k in range(len(grid))) for i in range(len(grid)))
    return Rows(bounded_question(grid[0], grid[-1]), Grid(grid), grid, weights)

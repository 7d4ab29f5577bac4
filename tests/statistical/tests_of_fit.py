"""How well counts fit a law, in p-values: small if the counts are too far from it, near one if they are too close."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaincc
from scipy.stats import binom

from noisewright.laws.lattice import Rounded
from noisewright.numerics.balls import precision
from noisewright.numerics.fields import BALLS, FLOATS

FALSE_ALARM = 1e-9

Counts = NDArray[np.int64]


def chi_square(counts: Counts, probabilities: NDArray[np.float64]) -> float:
    """p-value of counts in bins against the probabilities of the bins."""
    expected = probabilities * counts.sum()
    assert counts.min() > 20, "bins this small do not follow the chi-square law"
    statistic = float(np.sum((counts - expected) ** 2 / expected))
    return float(gammaincc((len(counts) - 1) / 2, statistic / 2))


def two_sided(count: int, draws: int, probability: float) -> float:
    """p-value of a binomial count, twice that of the nearer side."""
    return 2 * float(min(binom.cdf(count, draws, probability), binom.sf(count - 1, draws, probability)))


def cdf(law: Rounded, k: int) -> float:
    """P(K <= k), rounded from a ball."""
    with precision():
        return float(law.cdf(k, BALLS).mid()) if k < 0 else 1 - float(law.sf(k, BALLS).mid())


def sf(law: Rounded, k: int) -> float:
    """P(K > k), rounded from a ball."""
    with precision():
        return float(law.sf(k, BALLS).mid())


def lower_tail(law: Rounded, k: int) -> float:
    """P(K <= k), rounded from a ball, for small values."""
    with precision():
        return float(law.cdf(k, BALLS).mid())


def upper_index(law: Rounded, probability: float) -> int:
    """Smallest k with P(K > k) at most the probability."""
    high = 1
    while law.sf(high, FLOATS) > probability:
        high *= 2
    low = -high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if law.sf(middle, FLOATS) <= probability else (middle, high)
    return high


def lower_index(law: Rounded, probability: float) -> int:
    """Largest k with P(K <= k) at most the probability."""
    low = -1
    while law.cdf(low, FLOATS) > probability:
        low *= 2
    high = -low
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if law.cdf(middle, FLOATS) <= probability else (low, middle)
    return low


def bin_ends(law: Rounded, bins: int) -> Counts:
    """Last index of each bin but the last, so that the bins are about equally probable."""
    levels = np.arange(1, bins) / bins
    ends = {lower_index(law, p) if p <= 0.5 else upper_index(law, 1 - p) for p in levels}
    return np.array(sorted(ends), dtype=np.int64)


def bin_probabilities(law: Rounded, ends: Sequence[int] | Counts) -> NDArray[np.float64]:
    """Probability of each bin."""
    below = [cdf(law, int(k)) for k in ends]
    return np.diff([0.0, *below, 1.0])


def bin_counts(draws: Counts, ends: Counts) -> Counts:
    """How many draws fell into each bin."""
    return np.bincount(np.searchsorted(ends, draws), minlength=len(ends) + 1)

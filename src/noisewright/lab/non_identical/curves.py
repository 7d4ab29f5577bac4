"""Sensitivity profiles, and the errors of Gaussian, Laplace and norm-shaped noise for them as closed forms.

The paper assumes that all numbers may move at once (a box); the calibration of Gaussian noise was checked in balls.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

import numpy as np

from noisewright.numerics.fields import Floats
from noisewright.search.families.vector import largest_length
from noisewright.search.families.vector_parts import best_partition

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

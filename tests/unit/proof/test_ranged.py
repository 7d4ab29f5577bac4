"""Noise in a range: densities inside and atoms at the ends, every pair of answers one person can exchange."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from scipy.special import gammaincc

import noisewright as nw
from noisewright.proof.ranged import ranged_bound

F = Fraction


def tail(x: np.ndarray, power: float) -> np.ndarray:
    """P(noise > x) for x >= 0, at scale 1."""
    return np.asarray(gammaincc(1 / power, x**power) / 2)


def log_densities(power: float, places: np.ndarray, answers: np.ndarray) -> np.ndarray:
    norm = math.log(2 * math.gamma(1 + 1 / power))
    return np.asarray(-(np.abs(places[None, :] - answers[:, None]) ** power) - norm)


def truth(kind: str, power: float, high: float, step: float, reach: int) -> tuple[float, float]:
    """Largest log-ratio inside the range and at its ends, over every pair of grid answers within reach."""
    answers = np.arange(round(high / step) + 1) * step
    places = np.linspace(0, high, 201)
    logs = log_densities(power, places, answers)
    if kind == "truncated":
        logs = logs - np.log(1 - tail(answers, power) - tail(high - answers, power))[:, None]
    low_atoms, high_atoms = np.log(tail(answers, power)), np.log(tail(high - answers, power))
    inside = ends = 0.0
    for i in range(len(answers)):
        for j in range(max(0, i - reach), min(len(answers), i + reach + 1)):
            inside = max(inside, float((logs[i] - logs[j]).max()))
            ends = max(ends, float(low_atoms[i] - low_atoms[j]), float(high_atoms[i] - high_atoms[j]))
    return inside, ends


def noise(kind: str, power: str, high: str, sensitivity: str, step: str) -> Any:
    query = nw.RangedScalar(3, 3 + F(high), F(sensitivity))
    return nw.RangedNoise(query, nw.laws.GeneralizedGaussian(F(power), F(1)), kind, F(step))


SHAPES = [("1", "2", "1/2", "1/8"), ("3/2", "2", "1/2", "1/8"), ("2", "1", "1", "1/5"), ("3", "3", "1/3", "1/3")]


@pytest.mark.parametrize(("power", "high", "sensitivity", "step"), SHAPES)
def test_truncated_noise_costs_its_largest_ratio_of_normalised_densities(power, high, sensitivity, step):
    mechanism = noise("truncated", power, high, sensitivity, step)
    reach = int(F(sensitivity) / F(step))
    inside, _ = truth("truncated", float(F(power)), float(F(high)), float(F(step)), reach)
    assert float(ranged_bound(mechanism)[0]) == pytest.approx(inside, rel=1e-9)


@pytest.mark.parametrize(("power", "high", "sensitivity", "step"), SHAPES)
def test_gathered_noise_costs_the_larger_of_inside_and_ends(power, high, sensitivity, step):
    mechanism = noise("boundary-inflated", power, high, sensitivity, step)
    reach = int(F(sensitivity) / F(step))
    inside, ends = truth("boundary-inflated", float(F(power)), float(F(high)), float(F(step)), reach)
    bound, where = ranged_bound(mechanism)
    assert float(bound) == pytest.approx(max(inside, ends), rel=1e-9)
    assert (where == "at the ends of the range") == (ends >= inside - 1e-12)
    assert nw.certify(mechanism, nw.PureDP(bound)).rule == "pure/ranged-boundary-inflated"
    with pytest.raises(nw.errors.UncertifiedError, match=where):
        nw.certify(mechanism, nw.PureDP(bound * F(999_999, 1_000_000)))


@pytest.mark.parametrize("kind", ["truncated", "boundary-inflated"])
def test_the_bound_is_not_below_the_truth_to_thirty_digits(kind):
    """Power 3/2 on [0, 2] with steps of 1/4, answers up to 1/2 apart, at the low end, where the ratio is largest."""
    mechanism = noise(kind, "3/2", "2", "1/2", "1/4")
    bound, _ = ranged_bound(mechanism)
    with mpmath.workdps(60):
        power = mpmath.mpf(3) / 2

        def beyond(x: Any) -> Any:
            return mpmath.gammainc(1 / power, x**power, regularized=True) / 2

        points = [mpmath.mpf(k) / 4 for k in range(9)]
        if kind == "truncated":
            heights = [s**power + mpmath.log(1 - beyond(s) - beyond(2 - s)) for s in points]
        else:
            heights = [-mpmath.log(beyond(s)) for s in points]
        largest = max(heights[j] - heights[i] for i in range(9) for j in range(i, min(9, i + 3)))
        shown = mpmath.mpf(bound.numerator) / bound.denominator
        assert largest <= shown <= largest * (1 + mpmath.mpf(10) ** -30)

"""Noise cut or gathered at the ends of its range: every pair of answers that one person can exchange."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from scipy.special import gammaincc

import noisewright as nw
from noisewright.problem.queries import Bounded
from noisewright.proof.bounded import bounded_ratio

F = Fraction


def tail(x: np.ndarray, power: float) -> np.ndarray:
    """P(noise > x) for x >= 0, at scale 1."""
    return np.asarray(gammaincc(1 / power, x**power) / 2)


def log_densities(power: float, places: np.ndarray, answers: np.ndarray) -> np.ndarray:
    norm = math.log(2 * math.gamma(1 + 1 / power))
    return np.asarray(-(np.abs(places[None, :] - answers[:, None]) ** power) - norm)


def truth(ends: str, power: float, high: float, step: float, reach: int) -> tuple[float, float]:
    """Largest log-ratio inside the range and at its ends, over every pair of grid answers within reach."""
    answers = np.arange(round(high / step) + 1) * step
    places = np.linspace(0, high, 201)
    logs = log_densities(power, places, answers)
    if ends == "cut":
        logs = logs - np.log(1 - tail(answers, power) - tail(high - answers, power))[:, None]
    low_atoms, high_atoms = np.log(tail(answers, power)), np.log(tail(high - answers, power))
    inside = outside = 0.0
    for i in range(len(answers)):
        for j in range(max(0, i - reach), min(len(answers), i + reach + 1)):
            inside = max(inside, float((logs[i] - logs[j]).max()))
            outside = max(outside, float(low_atoms[i] - low_atoms[j]), float(high_atoms[i] - high_atoms[j]))
    return inside, outside


def noise(ends: str, power: str, high: str, sensitivity: str, step: str) -> nw.mechanisms.Truncated:
    """Answers that floats computed, drawn together so that the sensitivity is a whole number of steps."""
    query = Bounded(F(sensitivity), (3, 3 + F(high)), (3, 3 + F(high)), None)
    return nw.mechanisms.Truncated(query, F(power), 1, int(F(high) / F(step)), 8, ends=ends, contracted=True)


def ratio(mechanism: nw.mechanisms.Truncated) -> Fraction:
    return bounded_ratio(mechanism, F(10**6))[0]


SHAPES = [("1", "2", "1/2", "1/8"), ("3/2", "2", "1/2", "1/8"), ("2", "1", "1", "1/5"), ("3", "3", "1/3", "1/3")]


@pytest.mark.parametrize(("power", "high", "sensitivity", "step"), SHAPES)
def test_truncated_noise_costs_its_largest_ratio_of_normalised_densities(power, high, sensitivity, step):
    mechanism = noise("cut", power, high, sensitivity, step)
    reach = int(F(sensitivity) / F(step))
    inside, _ = truth("cut", float(F(power)), float(F(high)), float(F(step)), reach)
    assert float(ratio(mechanism)) == pytest.approx(inside, rel=1e-9)


@pytest.mark.parametrize(("power", "high", "sensitivity", "step"), SHAPES)
def test_gathered_noise_costs_the_larger_of_inside_and_ends(power, high, sensitivity, step):
    mechanism = noise("inflated", power, high, sensitivity, step)
    reach = int(F(sensitivity) / F(step))
    inside, outside = truth("inflated", float(F(power)), float(F(high)), float(F(step)), reach)
    bound = ratio(mechanism)
    assert float(bound) == pytest.approx(max(inside, outside), rel=1e-9)
    assert outside >= inside - 1e-12
    assert nw.certify(mechanism, nw.PureDP(bound)).rule == "pure/inflated-at-ends"
    with pytest.raises(nw.errors.UncertifiedError, match="inflated-at-ends"):
        nw.certify(mechanism, nw.PureDP(bound * F(999_999, 1_000_000)))


@pytest.mark.parametrize("ends", ["cut", "inflated"])
def test_the_bound_is_not_below_the_truth_to_twenty_four_digits(ends):
    """Power 3/2 on [0, 2] with steps of 1/4, answers up to 1/2 apart, at the low end, where the ratio is largest."""
    bound = ratio(noise(ends, "3/2", "2", "1/2", "1/4"))
    with mpmath.workdps(60):
        power = mpmath.mpf(3) / 2

        def beyond(x: Any) -> Any:
            return mpmath.gammainc(1 / power, x**power, regularized=True) / 2

        points = [mpmath.mpf(k) / 4 for k in range(9)]
        if ends == "cut":
            heights = [s**power + mpmath.log(1 - beyond(s) - beyond(2 - s)) for s in points]
        else:
            heights = [-mpmath.log(beyond(s)) for s in points]
        largest = max(heights[j] - heights[i] for i in range(9) for j in range(i, min(9, i + 3)))
        shown = mpmath.mpf(bound.numerator) / bound.denominator
        assert largest <= shown <= largest + mpmath.mpf(2) ** -79


def test_a_bound_within_the_last_place_of_epsilon_is_not_written_above_it():
    """The bound is 1, which balls show from above only: it is written as 1 + 2^-80."""
    mechanism = nw.mechanisms.Truncated(Bounded(1, (0, 1), (0, 1), None), 2, 1, 4)
    written = ratio(mechanism)
    below = written - F(1, 2**90)
    assert nw.certify(mechanism, nw.PureDP(below)).bound == below
    with pytest.raises(nw.errors.UncertifiedError):
        nw.certify(mechanism, nw.PureDP(written - F(1, 2**79)))


def test_answers_computed_in_floats_are_drawn_together_and_exact_ones_are_not():
    """A grid wider by 2^-24 keeps neighbours as many cells apart as the sensitivity has; else it is one more."""
    computed, exact = (Bounded(1, (0, 3), (0, 3), None, exact) for exact in (False, True))
    for query, contracted, cells in ((computed, True, 4), (computed, False, 5), (exact, True, 4), (exact, False, 4)):
        mechanism = nw.mechanisms.Truncated(query, 2, 3, 12, 8, contracted=contracted)
        assert mechanism.grid.reach(query.reach)[0] == cells
        assert [mechanism.centre(i) for i in (0, 4, 12)] == [0, 1, 3]
        low, high = mechanism.grid.points[0], mechanism.grid.points[-1]
        assert (low, high) == (query.covered if contracted else query.inputs)
    together, apart, exactly = (
        ratio(nw.mechanisms.Truncated(query, 2, 3, 12, 8, contracted=contracted))
        for query, contracted in ((computed, True), (computed, False), (exact, False))
    )
    assert together == exactly < apart

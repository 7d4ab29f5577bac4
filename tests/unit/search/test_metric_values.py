"""What linear mechanisms cost lies inside the balls that say so, and gaps are taken from their worse ends."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import noisewright as nw
from noisewright.mechanisms.linear.noise import Block
from noisewright.numerics.balls import lower, precision, upper
from noisewright.numerics.fields import BALLS

UTILITIES = [
    nw.SquaredError(),
    nw.SquaredError(weights=(3, "1/7")),
    nw.AbsoluteError(),
    nw.LargestError(),
]
IDENTITY = nw.Linear([[0, 1, 2], [1, 0, 3]])
COLUMNS = ((0, 1, 2), (1, 0, 3))


def laplace(steps, scales):
    exact = [[Fraction(step) * v for v in row] for step, row in zip(steps, COLUMNS, strict=True)]
    return nw.mechanisms.LinearLaplace(
        nw.Linear(exact), COLUMNS, tuple(map(Fraction, steps)), tuple(map(Fraction, scales))
    )


def elliptical(rate):
    block = Block(
        (0, 1), COLUMNS, Fraction(rate), ((Fraction(1), Fraction(0)), (Fraction(0), Fraction(1))), Fraction(1)
    )
    return nw.mechanisms.LinearElliptical(IDENTITY, (block,))


def brute(mechanism, utility, reach):
    """The expected utility summed over the integer noise itself, point by point; these columns have no bias."""
    k = np.arange(-reach, reach + 1, dtype=float)
    first, second = np.meshgrid(k, k, indexing="ij")
    if isinstance(mechanism, nw.mechanisms.LinearLaplace):
        rates = [float(r) for r in mechanism.rates]
        steps = [float(s) for s in mechanism.steps]
        mass = np.exp(-rates[0] * np.abs(first) - rates[1] * np.abs(second))
        errors = (steps[0] * np.abs(first), steps[1] * np.abs(second))
    else:
        mass = np.exp(-float(mechanism.blocks[0].rate) * np.hypot(first, second))
        errors = (np.abs(first), np.abs(second))
    mass /= mass.sum()
    if isinstance(utility, nw.LargestError):
        return float((mass * np.maximum(*errors)).sum())
    power = 2 if isinstance(utility, nw.SquaredError) else 1
    weights = [float(w) for w in utility.shares(2)]
    return float(sum(w * (mass * e**power).sum() for w, e in zip(weights, errors, strict=True)))


@pytest.mark.parametrize("utility", UTILITIES, ids=str)
@pytest.mark.parametrize(
    ("mechanism", "reach"),
    [
        (laplace((1, 1), (2, 5)), 250),
        (laplace(("1/3", 2), (1, 1)), 200),
        (elliptical("1/10"), 500),
        (elliptical("1/2"), 120),
        (elliptical(3), 40),
    ],
    ids=["Laplace", "Laplace on unequal steps", "fine ellipse", "coarse ellipse", "coarser than its noise"],
)
def test_the_true_error_lies_inside_its_ball(mechanism, reach, utility):
    around = mechanism.expected(utility)
    truth = brute(mechanism, utility, reach)
    with precision():
        low, high = float(lower(around)), float(upper(around))
        value = mechanism.shown(utility, around)
    assert low - 1e-9 <= truth <= high + 1e-9
    assert low * (1 - 1e-12) <= value <= high * (1 + 1e-12)


@pytest.mark.parametrize("utility", UTILITIES, ids=str)
@pytest.mark.parametrize("people", [None, 50])
def test_a_gap_under_metric_privacy_is_an_upper_bound(utility, people):
    points = np.round(np.random.default_rng(3).uniform(0, 100, (12, 2)), 2).tolist()
    matrix = np.random.default_rng(4).uniform(0, 1, (2, 12)).tolist()
    query = nw.Linear(matrix, people=people)
    report = nw.design(query, privacy=nw.MetricPrivacy(nw.metrics.Euclidean(points, "0.02")), utility=utility)
    assert report.bound is not None
    names = set()
    for candidate in report.candidates:
        assert candidate.gap is not None
        mechanism = candidate.certified.mechanism
        around = mechanism.expected(utility)
        with precision():
            high, value = upper(around), mechanism.shown(utility, around)
        assert Fraction(candidate.gap) >= (high / Fraction(report.bound) - 1) * (1 - Fraction(1, 10**12))
        assert candidate.value == value
        assert value * (1 - 1e-12) <= float(high) <= (value + candidate.error) * (1 + 1e-12)
        names.add(candidate.name)
    assert {"metric Laplace", "elliptical"} <= names


def test_a_wide_ball_shows_in_the_gap():
    points = np.round(np.random.default_rng(3).uniform(0, 100, (12, 2)), 2).tolist()
    query = nw.Linear(np.random.default_rng(4).uniform(0, 1, (2, 12)).tolist())
    report = nw.design(query, privacy=nw.MetricPrivacy(nw.metrics.Euclidean(points, "0.02")), utility=nw.SquaredError())
    elliptic = next(c for c in report.candidates if c.name == "elliptical")
    assert report.bound is not None
    assert elliptic.gap is not None
    with precision():
        half = max(float(v.rad()) for v in elliptic.certified.mechanism.variances(BALLS))
        assert half > 0
        middle = float(elliptic.certified.mechanism.expected(nw.SquaredError()).mid())
    # The middle of the ball would not count the half-width of it.
    assert elliptic.value > middle + half / 2
    assert elliptic.gap > middle / report.bound - 1 + half / (2 * report.bound)

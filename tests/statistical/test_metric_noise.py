"""Drawn noise of linear mechanisms has the law that was certified. False-alarm rate below 1e-6 for each test."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from noisewright.mechanisms.linear.noise import Block, LinearElliptical, LinearLaplace, round_variance
from noisewright.numerics.balls import ball, lower, precision, upper
from noisewright.numerics.fields import BALLS
from noisewright.problem.linear import Linear
from noisewright.problem.metrics import Hamming
from noisewright.problem.privacy import MetricPrivacy
from noisewright.sample.certified import make_certified
from noisewright.sample.entropy import SystemEntropy
from noisewright.sample.integer_noise import TwoSided
from noisewright.sample.linear import RoundNoise

pytestmark = pytest.mark.statistical


def _deviations(values: np.ndarray, probabilities: np.ndarray) -> float:
    """Largest deviation of counts of 0, 1, … from their expectation, in standard deviations."""
    count = len(values)
    found = np.array([(values == k).sum() for k in range(len(probabilities))])
    return float((np.abs(found - count * probabilities) / np.sqrt(count * probabilities)).max())


def test_two_sided_geometric_noise_has_its_masses():
    rate = Fraction(2, 5)
    values = TwoSided(lambda: ball(rate)).draw(200_000, SystemEntropy().stream())
    for scale, fits in ((1.0, True), (0.93, False), (1.07, False)):
        fade = np.exp(-float(rate) / scale)
        masses = (1 - fade) / (1 + fade) * fade ** np.arange(12)
        for side in (values, -values):
            assert (_deviations(side, masses) < 6) == fits


@pytest.mark.parametrize("exponent", [20, 44, 70])
def test_very_wide_noise_keeps_its_shape(exponent):
    values = TwoSided(lambda: ball(Fraction(1, 2**exponent))).draw(40_000, SystemEntropy().stream())
    shares = np.abs(values.astype(np.float64)) * 2.0**-exponent
    for scale, fits in ((1.0, True), (0.9, False), (1.1, False)):
        uniform = np.sort(np.exp(-shares / scale))
        distance = np.abs(uniform - (np.arange(len(uniform)) + 0.5) / len(uniform)).max()
        assert (distance * np.sqrt(len(uniform)) < 2.8) == fits
    assert abs((values > 0).mean() - 0.5) < 0.015


@pytest.mark.parametrize("dimension", [1, 2, 5])
def test_round_noise_has_the_radius_it_should(dimension):
    rate = Fraction(1, 2**16)
    block = Block(tuple(range(dimension)), (), rate, (), Fraction(1))
    values = RoundNoise(block).draw(60_000, SystemEntropy().stream()).astype(np.float64)
    with precision():
        exact = round_variance(rate, dimension, BALLS)
        assert float(upper(exact) / lower(exact)) < 1.001
        variance = float(exact.mid())
    spread = (values**2).mean()
    assert spread == pytest.approx(variance, rel=0.15 / dimension**0.5)
    radius = np.sort(np.linalg.norm(values, axis=1) * float(rate))
    for scale, fits in ((1.0, True), (0.9, False), (1.1, False)):
        expected = _gamma_cdf(dimension, radius / scale)
        distance = np.abs(expected - (np.arange(len(radius)) + 0.5) / len(radius)).max()
        assert (distance * np.sqrt(len(radius)) < 2.8) == fits
    moved = values[values.any(axis=1)]
    angles = moved / np.linalg.norm(moved, axis=1)[:, None]
    assert np.allclose((angles**2).mean(axis=0), 1 / dimension, atol=0.02)


def _gamma_cdf(shape: int, x: np.ndarray) -> np.ndarray:
    term, total = np.exp(-x), np.zeros_like(x)
    for k in range(shape):
        total += term
        term = term * x / (k + 1)
    return 1 - total


@pytest.mark.parametrize("slack", [None, 2.0], ids=["floats first", "balls alone"])
def test_small_round_noise_has_exactly_its_masses(monkeypatch, slack):
    if slack is not None:
        monkeypatch.setattr("noisewright.sample.linear._SLACK", slack)
    rate = Fraction(3, 2)
    block = Block((0, 1), (), rate, (), Fraction(1))
    values = RoundNoise(block).draw(60_000, SystemEntropy().stream())
    grid = np.arange(-30, 31)
    lengths = np.hypot(grid[:, None], grid[None, :])
    masses = np.exp(-1.5 * lengths)
    masses /= masses.sum()
    cells = [(0, 0), (1, 0), (0, -1), (1, 1), (-1, 1), (2, 0), (0, 2)]
    for x, y in cells:
        share = masses[30 + x, 30 + y]
        found = ((values[:, 0] == x) & (values[:, 1] == y)).sum()
        assert abs(found - 60_000 * share) < 6 * np.sqrt(60_000 * share)
    corner = masses[31, 31]
    assert abs(60_000 * masses[31, 30] - 60_000 * corner) > 12 * np.sqrt(60_000 * corner)


def test_releases_are_the_sums_plus_the_noise():
    query = Linear([[0, 1, 2], [1, 0, 1]])
    laplace = LinearLaplace(query, ((0, 1, 2), (1, 0, 1)), (Fraction(1),) * 2, (Fraction(4), Fraction(2)))
    fine = Fraction(1, 1024)
    back = ((fine, Fraction(0)), (Fraction(0), fine))
    block = Block((0, 1), ((0, 1024, 2048), (1024, 0, 1024)), fine / 4, back, Fraction(1))
    for mechanism in (laplace, LinearElliptical(query, (block,))):
        certified = make_certified(mechanism, MetricPrivacy(Hamming(3, 1)))
        answers = np.array([certified.release([10, 20, 30]) for _ in range(1500)])
        with precision():
            spread = np.sqrt([float(v.mid()) for v in mechanism.variances(BALLS)])
        assert (np.abs(answers.mean(axis=0) - (80, 40)) < 6 * spread / np.sqrt(1500)).all()
        assert answers.std(axis=0) == pytest.approx(spread, rel=0.2)
        assert np.std(certified.draw(20_000), axis=0) == pytest.approx(spread, rel=0.06)
        assert mechanism.biases() == [0, 0]

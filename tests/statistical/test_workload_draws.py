"""Releases of workloads have the stated covariance, neither more nor less, and rounded Gaussian rows their law.

False alarms: statistics are compared at 6.5 deviations of a normal law, fewer than 1e-8 for all of them together; each
test also rejects noise whose deviation is wrong by a few per cent.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import special

from noisewright.laws.gaussian import RoundedNormal
from noisewright.mechanisms.strategies.estimates import answers_of
from noisewright.numerics.balls import precision
from noisewright.numerics.fields import FLOATS
from noisewright.sample.drawers import drawer_for
from noisewright.sample.entropy import SystemEntropy
from noisewright.sample.integer_noise import normal_rows
from tests.workloads import STRATEGIES, M, covariance

pytestmark = pytest.mark.statistical

RELEASES = 100_000
LIMIT = 6.5


def _errors(strategy: Any) -> np.ndarray:
    """Errors of many releases of an empty table: the answers are linear in the rows, and all rows are drawn at once."""
    stream = SystemEntropy().stream()
    drawer: Any = drawer_for(strategy)
    shapes = [len(values) for values in strategy.law_given({})]
    with precision():
        noise = strategy.noises()
    total: Any = 0.0
    for group, count in enumerate(shapes):
        back = np.zeros((count, strategy.query.dimension))
        for i in range(count):
            unit = [np.zeros(n, dtype=np.int64) for n in shapes]
            unit[group][i] = 10**6
            back[i] = answers_of(strategy.rows, strategy.query, noise, unit, strategy.fineness) / 10**6
        factors = strategy.rows.factors(group)
        if isinstance(strategy, M.GaussianStrategy):
            level = strategy.levels[group] * strategy.fineness**2
            many = None if factors is None else np.tile(factors, RELEASES)
            drawn = normal_rows(level, many, RELEASES * count, stream)
        else:
            drawn = drawer._noise(group, RELEASES * count, stream)
        total = total + drawn.astype(float).reshape(RELEASES, count) @ back
    return np.asarray(total)


@pytest.mark.parametrize(
    "name", ["blocks", "wavelet", "three branches", "dense", "residuals", "Laplace blocks", "merged"]
)
def test_the_covariance_of_releases_is_the_stated_one(name: str):
    strategy = STRATEGIES[name]
    errors, stated = _errors(strategy), covariance(strategy)
    for wrong in (1.0, 0.95, 1.05):
        wanted = stated * wrong
        spread = np.sqrt((np.outer(np.diag(wanted), np.diag(wanted)) + wanted**2) / RELEASES)
        if isinstance(strategy, M.LaplaceStrategy):
            spread *= 1.6  # the fourth moment of Laplace noise is twice that of Gaussian noise
        distance = np.abs(errors.T @ errors / RELEASES - wanted) / spread
        mean = np.abs(errors.mean(axis=0)) / np.sqrt(np.diag(wanted) / RELEASES)
        assert bool(max(distance.max(), mean.max()) < LIMIT) is (wrong == 1.0)


def test_half_widths_hold_the_truth_as_often_as_they_say():
    from noisewright.sample.strategy import WorkloadAnswer

    for name, exact in (("dense", True), ("Laplace blocks", False)):
        strategy = STRATEGIES[name]
        widths = WorkloadAnswer(strategy, strategy.law_given({})).half_widths
        inside = (np.abs(_errors(strategy)) <= widths).mean(axis=0)
        room = LIMIT * np.sqrt(0.95 * 0.05 / RELEASES)
        assert (inside > 0.95 - room).all()
        assert not exact or (inside < 0.95 + room).all()


@pytest.mark.parametrize("variance", [Fraction(1, 4), Fraction(7, 3), Fraction(400)])
def test_rounded_rows_have_their_law(variance: Fraction):
    count = 1_000_000
    drawn = normal_rows(variance, None, count, SystemEntropy().stream())
    for wrong in (1, Fraction(24, 25), Fraction(26, 25)):
        law = RoundedNormal(variance * wrong)
        reach = int(4 * float(variance) ** 0.5) + 1
        edges = sorted({round(-reach + 2 * reach * i / 24) for i in range(25)})
        ends = np.array([law.cdf(k, FLOATS) for k in edges])
        masses = np.diff(np.concatenate([[0.0], ends, [1.0]]))
        counts = np.histogram(drawn, bins=[-(10**9), *(k + 0.5 for k in edges), 10**9])[0]
        kept = masses * count > 20
        statistic = float(((counts[kept] - masses[kept] * count) ** 2 / (masses[kept] * count)).sum())
        assert bool(special.chdtrc(int(kept.sum()) - 1, statistic) > 1e-9) is (wrong == 1)

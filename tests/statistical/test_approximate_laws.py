"""Draws of the laws with a delta against their own distribution functions.

Each p-value is compared with 1e-9 on both sides: the law passes, the same law 3 % narrower or wider (2 % for the
table, whose cells are whole) fails. False alarms: 1e-9 per test.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

import noisewright as nw
from noisewright.lab.generalized_gaussian.ranges import range_limited
from noisewright.numerics.fields import FLOATS
from noisewright.problem.queries import Bounded
from noisewright.sample.certified import make_certified
from tests.replay import Replay

COUNT = 400_000
THRESHOLD = 1e-9
REAL, WHOLE = nw.Scalar(1), nw.Scalar(1, integer=True)


def _make(name: str, factor: Fraction) -> nw.mechanisms.Additive:
    cells = nw.laws.Lattice.cells(Fraction(1, 20))
    weights = tuple(range(int(60 * factor), 0, -1))
    made = {
        "gaussian": lambda: nw.mechanisms.Additive(REAL, nw.laws.Gaussian(2 * factor), cells),
        "cubic": lambda: nw.mechanisms.Additive(REAL, nw.laws.GeneralizedGaussian(Fraction(3), 3 * factor), cells),
        "cusp": lambda: nw.mechanisms.Additive(REAL, nw.laws.GeneralizedGaussian(Fraction(4, 5), 2 * factor), cells),
        "logistic": lambda: nw.mechanisms.Additive(REAL, nw.laws.Logistic(2 * factor), cells),
        "truncated": lambda: nw.mechanisms.Additive(REAL, nw.laws.TruncatedLaplace(2 * factor, 5 * factor), cells),
        "discrete": lambda: nw.mechanisms.Additive(
            WHOLE, nw.laws.DiscreteGaussian(6 * factor), nw.laws.Lattice.integers()
        ),
        "table": lambda: nw.mechanisms.Additive(REAL, nw.laws.Tabulated(Fraction(1, 20), weights, Fraction(0)), cells),
    }
    return made[name]()


CLAIMS = {"cusp": nw.PureDP(5)}


def _p_value(indices: np.ndarray, mechanism: nw.mechanisms.Additive) -> float:
    noise = mechanism.noise
    ends = np.unique(np.quantile(indices, np.linspace(0.01, 0.99, 60), method="lower"))
    edges = [0.0, *(float(noise.cdf(int(k), FLOATS)) for k in ends), 1.0]
    expected = np.diff(edges) * len(indices)
    places = np.searchsorted(ends, indices, side="left")
    counts = np.bincount(places, minlength=len(ends) + 1)
    return float(stats.chisquare(counts, expected).pvalue)


@pytest.mark.statistical
@pytest.mark.parametrize("name", ["gaussian", "cubic", "cusp", "logistic", "truncated", "discrete", "table"])
def test_draws_have_the_certified_law(name):
    mechanism = _make(name, Fraction(1))
    claim = CLAIMS.get(name, nw.ApproxDP(1, "0.9"))
    certified = nw.Certified(mechanism, nw.certify(mechanism, claim))
    drawn = certified.draw(COUNT, entropy=Replay(seed=11))
    step = float(mechanism.lattice.step)
    indices = np.floor(drawn / step).astype(int) if not mechanism.query.integer else drawn
    assert _p_value(indices, mechanism) > THRESHOLD
    for factor in (Fraction(97, 100), Fraction(103, 100)):
        assert _p_value(indices, _make(name, factor)) < THRESHOLD


@pytest.mark.statistical
@pytest.mark.parametrize("ends", ["cut", "inflated"])
def test_releases_in_a_range_have_the_law_on_paper(ends):
    certified = range_limited(Bounded(1, (0, 1), (0, 1), None), nw.PureDP(2), power=2, ends=ends)
    mechanism = replace(certified.mechanism, cells=10, points=16)
    drawn = make_certified(mechanism, nw.PureDP(2)).release_many(["0.2"] * 20_000, entropy=Replay(seed=5))

    def masses(i: int) -> np.ndarray:
        return -np.diff([float(mechanism.row(i).sf(k, FLOATS)) for k in range(-1, mechanism.last + 1)])

    counts = np.array([np.sum(np.isclose(drawn, float(mechanism.value(k)))) for k in range(mechanism.last + 1)])
    assert counts.sum() == len(drawn)
    assert stats.chisquare(counts, masses(2) * len(drawn)).pvalue > THRESHOLD
    assert stats.chisquare(counts, masses(4) * len(drawn)).pvalue < THRESHOLD


@pytest.mark.statistical
def test_selected_candidates_have_their_weights():
    certified = nw.mechanisms.exponential_over([0, 1, 2, 3], [0, 1, 2, 3], nw.PureDP(2), power=2)
    drawn = certified.release_many([2] * 20_000, entropy=Replay(seed=8))
    rate = float(certified.mechanism.rate)
    counts = np.array([np.sum(drawn == k) for k in range(4)])
    weights = np.exp(-rate * (np.arange(4) - 2.0) ** 2)
    assert stats.chisquare(counts, weights / weights.sum() * len(drawn)).pvalue > THRESHOLD
    wrong = np.exp(-1.3 * rate * (np.arange(4) - 2.0) ** 2)
    assert stats.chisquare(counts, wrong / wrong.sum() * len(drawn)).pvalue < THRESHOLD

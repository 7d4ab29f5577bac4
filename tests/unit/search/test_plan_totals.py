"""A plan spends its total and no more: every family composed once more, by a convolution that shares no code."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.signal import fftconvolve

import noisewright as nw
from noisewright.numerics.fields import FLOATS

EPSILON, DELTA, COUNT = 1.0, 0.01, 3
_CELLS_OF_LOSS = 20_000
_MOST_POINTS = 12_000


@pytest.fixture(scope="module")
def plan() -> nw.Report:
    """Three releases of a number that one person can move by 2."""
    return nw.design(nw.Scalar(2), privacy=nw.ApproxDP(1, "0.01"), utility=nw.AbsoluteError(), compose=COUNT)


def _masses(mechanism: Any) -> tuple[np.ndarray, int]:
    """Masses of equal cells far out on both sides, and how many of them make up the sensitivity."""
    reach = 40 * float(mechanism.law.moment(1, FLOATS))
    per = int(mechanism.query.sensitivity / mechanism.lattice.step)
    while per % 2 == 0 and 2 * reach * per / float(mechanism.query.sensitivity) > _MOST_POINTS:
        per //= 2
    width = mechanism.query.sensitivity / per
    count = math.ceil(reach / float(width))
    heights = [mechanism.law.density((k + Fraction(1, 2)) * width, FLOATS) for k in range(-count, count)]
    found = np.array([float(height) for height in heights])
    return found / found.sum(), per


def _total_delta(mechanism: Any, count: int) -> float:
    """Delta at EPSILON of so many releases when every answer moves by the whole sensitivity, losses to the nearest."""
    here, per = _masses(mechanism)
    there = np.concatenate([np.zeros(per), here[:-per]])
    both = (here > 0) & (there > 0)
    told_apart = float(here[~both].sum())
    cell = EPSILON / _CELLS_OF_LOSS
    places = np.rint(np.log(here[both] / there[both]) / cell).astype(np.int64)
    single = np.bincount(places - places.min(), weights=here[both])
    together = np.ones(1)
    for _ in range(count):
        together = fftconvolve(together, single)
    losses = (np.arange(len(together)) + count * places.min()) * cell
    above = losses > EPSILON
    return 1 - (1 - told_apart) ** count + float(np.sum(together[above] * -np.expm1(EPSILON - losses[above])))


def test_the_second_way_of_composing_knows_the_gaussian():
    """Theory: three releases with noise of deviation s are one with a sensitivity of root 3 times as much."""
    law = nw.laws.Gaussian(Fraction(6))
    mechanism = nw.mechanisms.Additive(nw.Scalar(2), law, nw.laws.Lattice.cells(Fraction(1, 100)))
    length = math.sqrt(3) * 2 / 6

    def below(x: float) -> float:
        return math.erfc(-x / math.sqrt(2)) / 2

    exact = below(length / 2 - EPSILON / length) - math.exp(EPSILON) * below(-length / 2 - EPSILON / length)
    assert _total_delta(mechanism, 3) == pytest.approx(exact, rel=2e-3)


def test_every_family_of_a_plan_spends_the_whole_total_and_no_more(plan: nw.Report):
    names = {candidate.name for candidate in plan.candidates}
    assert {"Gaussian", "Laplace", "staircase", "truncated staircase", "logistic"} <= names
    for candidate in plan.candidates:
        spent = _total_delta(candidate.certified.mechanism, COUNT)
        assert 0.9 * DELTA <= spent <= 1.005 * DELTA, candidate.name


def test_a_plan_cannot_be_made_of_anything_but_one_real_number():
    linear, vector = nw.Linear([[0, 1]]), nw.Vector(nw.Box([1, 2]))
    for query, privacy in ((linear, nw.MetricPrivacy(nw.metrics.Hamming(2, 1))), (vector, nw.ApproxDP(1, "0.01"))):
        with pytest.raises(nw.errors.InvalidQueryError, match="real-valued Scalar"):
            nw.design(query, privacy=privacy, utility=nw.SquaredError(), compose=3)

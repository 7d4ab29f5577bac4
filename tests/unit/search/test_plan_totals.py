"""A plan spends its total and no more: every family composed once more, by a convolution that shares no code."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy.signal import fftconvolve

import noisewright as nw
from noisewright.numerics.fields import FLOATS
from noisewright.search.design import DESIGNERS
from noisewright.search.designer import Proposal, restored
from noisewright.search.designers.plan import plan_designer
from noisewright.search.families.planned import _weights

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
    assert {"Gaussian", "Laplace"} < names
    for candidate in plan.candidates:
        spent = _total_delta(candidate.certified.mechanism, COUNT)
        assert 0.9 * DELTA <= spent <= 1.005 * DELTA, candidate.name


@pytest.mark.parametrize("query", [nw.Scalar(1), nw.Scalar(3, integer=True)], ids=str)
@pytest.mark.parametrize("count", [1, 2, 10, 1000])
def test_a_plan_of_any_length_is_proven_and_ranked(query: nw.Scalar, count: int):
    total = nw.ApproxDP(1, "1e-6")
    report = nw.design(query, privacy=total, utility=nw.SquaredError(), compose=count)
    assert report.releases == count
    assert [part.times for part in report.plan.certificate.parts] == [count]
    if count == 1:
        assert report.best.certificate.requirement == total
        return
    assert report.plan.delta(1) <= total.delta
    values = [candidate.value for candidate in report.candidates]
    assert all(a <= b * (1 + 1e-6) for a, b in pairwise(values))
    gaussian = next(c for c in report.candidates if c.name in ("Gaussian", "discrete Gaussian"))
    std = float(nw.laws.calibrated(nw.laws.GAUSSIAN, query.sensitivity, total).std)
    assert gaussian.value == pytest.approx(
        count * std**2, rel=1e-3
    )  # golden: one release of sqrt(count) times the size
    assert f"{count} equal releases" in report.why
    assert f"in total over {count} equal releases" in str(report)


def test_a_law_better_than_gaussian_noise_is_found_for_a_plan_of_moderate_length():
    report = nw.design(nw.Scalar(1), privacy=nw.ApproxDP(1, "1e-6"), utility=nw.SquaredError(), compose=10)
    winner, gaussian = report.candidates[0], next(c for c in report.candidates if c.name == "Gaussian")
    assert winner.name == "tailored for the plan"
    assert winner.value < 0.9 * gaussian.value
    assert _total_of_table(winner.certified.mechanism, 10) <= 1e-6 * 1.0001
    assert report.best is winner.certified
    assert -200 < report.best.release(0) < 200


def _total_of_table(mechanism: Any, count: int) -> float:
    """Delta at 1 by a plain convolution of all losses, sorted into fine cells upwards."""
    weights = [mechanism.law.weight(k) / mechanism.law.total for k in range(-2000, 2000)]
    here, there = np.array(weights[:-1]), np.array(weights[1:])
    both = (here > 0) & (there > 0)
    cell = 1e-4
    places = np.rint(np.log(here[both] / there[both]) / cell).astype(np.int64)
    single = np.bincount(places - places.min(), weights=here[both])
    together = np.ones(1)
    for _ in range(count):
        together = np.convolve(together, single) if len(single) < 500 else fftconvolve(together, single)
    losses = (np.arange(len(together)) + count * places.min()) * cell
    above = losses > 1
    lost = float(here[~both & (here > 0)].sum())
    return count * lost + float(np.sum(together[above] * -np.expm1(1 - losses[above])))


def test_a_total_about_single_values_is_refused():
    with pytest.raises(nw.errors.InvalidPrivacyError, match=r"nw.PureDP, nw.ApproxDP, nw.RenyiDP, nw.Zero"):
        nw.design(nw.Scalar(1), privacy=nw.ProbabilisticDP(1, "0.01"), utility=nw.SquaredError(), compose=3)


def test_a_share_that_is_too_small_is_refused_before_any_work():
    with pytest.raises(nw.errors.InvalidPrivacyError, match="each of 1000000 releases would have a share"):
        nw.design(nw.Scalar(1), privacy=nw.PureDP(1), utility=nw.SquaredError(), compose=1_000_000)


def test_pure_costs_add_up_to_the_total_exactly():
    report = nw.design(nw.Scalar(1), privacy=nw.PureDP(1), utility=nw.SquaredError(), compose=3)
    alone = nw.design(nw.Scalar(1), privacy=nw.PureDP("1/3"), utility=nw.SquaredError())
    assert report.best.mechanism == alone.best.mechanism
    assert report.best.certificate.requirement == nw.PureDP("1/3")
    assert report.bound == alone.bound
    assert report.plan.epsilon(0) == 1
    assert "plan of 3 equal, independent releases" in report.bound_over


def test_a_candidate_whose_plan_is_not_proven_is_refused():
    query, privacy, loss = nw.Scalar(1), nw.ApproxDP(1, "1e-6"), nw.SquaredError()
    alone = nw.design(query, privacy=nw.PureDP("1/2"), utility=loss).best
    designer = plan_designer(DESIGNERS[nw.Scalar, nw.ApproxDP], DESIGNERS, query, privacy, 2)
    held = Proposal("Laplace", alone.mechanism, 0, nw.PureDP("1/2"))
    assert restored(designer, query, privacy, loss, (held,)).plan.delta(1) == 0
    three = plan_designer(DESIGNERS[nw.Scalar, nw.ApproxDP], DESIGNERS, query, privacy, 3)
    with pytest.raises(nw.errors.UncertifiedError, match="3 releases with Laplace noise together are not proven"):
        restored(three, query, privacy, loss, (held,))


def test_a_pure_total_is_not_made_of_other_promises():
    query, loss = nw.Scalar(1), nw.SquaredError()
    normal = nw.design(query, privacy=nw.ZeroConcentratedDP("0.1"), utility=loss).best
    designer = plan_designer(DESIGNERS[nw.Scalar, nw.PureDP], DESIGNERS, query, nw.PureDP(1), 2)
    held = Proposal("Gaussian", normal.mechanism, 0, nw.ZeroConcentratedDP("0.1"))
    with pytest.raises(nw.errors.UncertifiedError, match="2 releases with Gaussian noise together are not proven"):
        restored(designer, query, nw.PureDP(1), loss, (held,))


def test_weights_of_a_law_for_a_plan_fall_outward():
    weights = _weights(np.array([0.3, 0.31, 0.1, 0.2, 1e-20, 1e-21]), 1e-15)
    assert weights == tuple(sorted(weights, reverse=True))
    assert len(weights) == 4
    assert weights[0] == weights[1]
    assert weights[2] == weights[3]

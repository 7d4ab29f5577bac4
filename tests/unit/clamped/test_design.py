"""Designs for wide ranges: certified, near the best noise without bounds, refused with the nearest bounds where not."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

import noisewright as nw
from noisewright.problem.queries import Bounded
from noisewright.proof.certify import certify
from noisewright.search.bounds.bounded import wide_bound
from noisewright.search.designers.bounded import CLAMPED
from noisewright.search.families.shapes import clamped_noise, least_outputs


def bounded(width: int, room: Any, **how: Any) -> Bounded:
    sensitivity, room = how.pop("sensitivity", 1), Fraction(room)
    found = nw.Scalar(sensitivity, inputs=(0, width), outputs=(-room, width + room), unbiased=True, **how).bounded
    assert found is not None
    return found


def free_bound(query: Any, epsilon: Any, utility: Any) -> float:
    """What no noise without bounds can beat."""
    found = nw.design(query, privacy=nw.PureDP(epsilon), utility=utility).bound
    assert found is not None
    return found


@pytest.mark.parametrize("sensitivity", ["1", "1/2", "73/48842"])
@pytest.mark.parametrize("epsilon", ["1/10", "1", "5"])
def test_noise_in_wide_bounds_costs_little_more_than_noise_without_bounds(epsilon: str, sensitivity: str):
    delta, rate = Fraction(sensitivity), Fraction(epsilon)
    width, room = 3000 * delta, 600 * delta
    asked = Bounded(sensitivity=delta, inputs=(0, width), outputs=(-room, width + room), bias=0)
    mechanism = clamped_noise(asked, rate, nw.SquaredError())
    assert mechanism is not None
    assert certify(mechanism, nw.PureDP(rate)).bound <= rate
    free = free_bound(nw.Scalar(delta), rate, nw.SquaredError())
    worst = float(mechanism.expected(nw.SquaredError()).upper())
    assert free <= worst <= 1.002 * free


@pytest.mark.parametrize("utility", [nw.AbsoluteError(), nw.Usefulness("1.3"), nw.ErrorQuantile("0.9")], ids=str)
def test_other_utilities_come_near_what_noise_without_bounds_reaches(utility: Any):
    mechanism = clamped_noise(bounded(1000, 500), Fraction(1), utility)
    free = free_bound(nw.Scalar(1), 1, utility)
    assert mechanism is not None
    assert float(mechanism.expected(utility).mid()) == pytest.approx(free, rel=0.003)


@pytest.mark.parametrize("sensitivity", [1, 3])
def test_whole_numbers_in_wide_bounds_have_the_best_whole_noise(sensitivity: int):
    asked = bounded(200, 90, sensitivity=sensitivity, integer=True)
    mechanism = clamped_noise(asked, Fraction(1), nw.SquaredError())
    assert mechanism is not None
    certify(mechanism, nw.PureDP(1))
    free = free_bound(nw.Scalar(sensitivity, integer=True), 1, nw.SquaredError())
    assert float(mechanism.expected(nw.SquaredError()).upper()) <= 1.0001 * free


def test_a_design_ranks_clamped_noise_and_shows_a_picture(tmp_path):
    report = nw.design(bounded(300, 150), privacy=nw.PureDP(1), utility=nw.WorstVariance())
    assert [c.name for c in report.candidates] == [CLAMPED]
    assert (report.candidates[0].gap or 1) < 0.1
    assert report.candidates[0].bias == 0
    assert "the gap to the best possible mechanism is at most" in report.why
    assert "The range is too wide" in str(report)
    report.plot(tmp_path / "wide.png")
    assert (tmp_path / "wide.png").stat().st_size > 10_000
    assert nw.Report.from_dict(report.to_dict()).best.mechanism == report.best.mechanism


def test_tight_bounds_of_a_very_wide_range_are_refused_with_the_nearest_that_fit():
    asked = bounded(10_000, "0.6")
    with pytest.raises(nw.errors.InvalidQueryError, match="Give output bounds of at least") as refused:
        nw.design(asked, privacy=nw.PureDP(1), utility=nw.WorstVariance())
    low, high = refused.value.outputs
    assert -1 <= low < Fraction(-3, 5)
    assert high == 10_000 - low
    wider = Bounded(sensitivity=1, inputs=(0, 10_000), outputs=(low, high), bias=0)
    assert clamped_noise(wider, Fraction(1), nw.WorstVariance()) is not None
    with pytest.raises(nw.errors.InfeasibleError):
        nw.design(bounded(10_000, "1/2"), privacy=nw.PureDP(1), utility=nw.WorstVariance())


def test_what_more_room_would_gain_is_said():
    report = nw.design(bounded(3000, 2), privacy=nw.PureDP(1), utility=nw.WorstVariance())
    told = str(report)
    assert "times as fast as the answer" in told
    assert "would bring that below 1.02" in told


def test_the_nearest_bounds_fit_and_much_nearer_ones_do_not():
    asked = bounded(5000, 1)
    low, high = least_outputs(asked, Fraction(1), nw.SquaredError())
    assert high == 5000 - low
    room = -low * Fraction(4, 5)
    nearer = Bounded(sensitivity=1, inputs=(0, 5000), outputs=(-room, 5000 + room), bias=0)
    assert clamped_noise(nearer, Fraction(1), nw.SquaredError()) is None


def test_the_bound_of_a_wide_range_is_that_of_noise_with_a_small_delta():
    """A law that is private but for a share of sensitivity / range; whole numbers count one more answer."""
    real = wide_bound(bounded(500, 10), Fraction(1), nw.SquaredError())
    stated = nw.design(nw.Scalar(1), privacy=nw.ApproxDP(1, "1/500"), utility=nw.SquaredError()).bound
    assert float(real) == pytest.approx(stated, rel=1e-9)
    whole = wide_bound(bounded(499, 10, integer=True), Fraction(1), nw.SquaredError())
    stated = nw.design(nw.Scalar(1, integer=True), privacy=nw.ApproxDP(1, "1/500"), utility=nw.SquaredError()).bound
    assert float(whole) == pytest.approx(stated, rel=1e-9)
    assert wide_bound(bounded(500, 10), Fraction(1), nw.AverageVariance([(3, 1)])) is None
    assert wide_bound(bounded(500, 10), Fraction(1), nw.AverageVariance()) == real


def test_the_bound_of_a_usefulness_is_that_of_a_limit_a_little_wider():
    useful = wide_bound(bounded(500, 10), Fraction(1), nw.Usefulness(2))
    wanted = nw.design(nw.Scalar(1), privacy=nw.ApproxDP(1, "1/500"), utility=nw.Usefulness("2.002")).bound
    assert useful is not None
    assert float(useful) == pytest.approx(wanted, rel=1e-9)
    mechanism = clamped_noise(bounded(500, 10), Fraction(1), nw.Usefulness(2))
    assert mechanism is not None
    assert float(mechanism.expected(nw.Usefulness(2)).mid()) <= float(useful) <= 0.89


def test_an_epsilon_too_small_for_levels_leaves_the_question_to_others():
    assert clamped_noise(bounded(1000, 500), Fraction(1, 100_000), nw.SquaredError()) is None

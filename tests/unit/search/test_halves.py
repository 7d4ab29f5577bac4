"""What the bound for whole-number answers is over, and the half-integers that beat it."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import noisewright as nw
from tests.replay import Replay

SQUARED = (nw.Scalar(4, integer=True), nw.PureDP(3), nw.SquaredError())
USEFUL = (nw.Scalar(1, integer=True), nw.PureDP(1), nw.Usefulness("0.5"))


def half_integer_masses(epsilon: float, sensitivity: int, half: int, reach: int = 4000):
    """Errors 1/2, 3/2, … and their chances on one side: a top step of `half` points, then one level per sensitivity."""
    place = np.arange(reach)
    levels = np.where(place < half, 0, 1 + (place - half) // sensitivity)
    weights = np.exp(-epsilon * levels)
    return place + 0.5, weights / (2 * math.fsum(weights))


def best_by_trying(epsilon: float, sensitivity: int, loss):
    """The least mean loss over the sizes of the top step."""
    tried = [half_integer_masses(epsilon, sensitivity, half) for half in range(1, sensitivity + 1)]
    return min(2 * math.fsum(loss(errors) * masses) for errors, masses in tried)


@pytest.mark.parametrize(
    ("question", "halves", "whole"),
    [(SQUARED, 2.361, 2.533), (USEFUL, 0.632, 0.462)],
    ids=["squared error", "usefulness"],
)
def test_a_report_on_integers_does_not_claim_what_half_integers_beat(question, halves, whole):
    query, privacy, utility = question
    report = nw.design(query, privacy=privacy, utility=utility)
    assert report.bound == pytest.approx(whole, abs=5e-4)
    found = nw.mechanisms.half_integers(query, privacy=privacy, utility=utility)
    assert found.value == pytest.approx(halves, abs=5e-4)
    assert found.certified.certificate.bound <= privacy.epsilon
    for text in (str(report), report._repr_html_(), report.why, report.to_dict()["why"]):
        assert "no mechanism that releases whole numbers can do better" in text
        assert "no mechanism can" not in text
    assert report.to_dict()["bound_over"] == report.bound_over == "mechanisms that release whole numbers"
    (note,) = report.notes
    assert "Half-integers do better than any whole numbers here" in note
    assert f"{found.value:.4g}"[:5] in note
    assert note in report.to_dict()["notes"]


@pytest.mark.parametrize("privacy", [nw.PureDP(1), nw.ApproxDP(1, "0.01")], ids=str)
def test_every_bound_for_integers_says_what_it_is_over(privacy):
    query = nw.Scalar(3, integer=True)
    report = nw.design(query, privacy=privacy, utility=nw.SquaredError())
    assert "mechanism that releases whole numbers" in report.why
    real = nw.design(nw.Scalar(3), privacy=privacy, utility=nw.SquaredError())
    assert "whole numbers" not in str(real)
    assert real.to_dict()["bound_over"] == "all mechanisms"


def test_a_budget_for_integers_says_what_its_impossibility_is_over():
    budget = nw.budget_for(nw.Scalar(1, integer=True), utility=nw.Usefulness("0.5"), target="0.6")
    assert "no mechanism that releases whole numbers reaches it at epsilon" in str(budget)
    # Half-integers reach it there.
    cheap = nw.PureDP(budget.impossible_at)
    assert nw.mechanisms.half_integers(budget.query, privacy=cheap, utility=nw.Usefulness("0.5")).value > 0.6
    real = nw.budget_for(nw.Scalar(1), utility=nw.Usefulness("0.5"), target="0.6")
    assert "; no mechanism reaches it at epsilon" in str(real)


@pytest.mark.parametrize("sensitivity", [1, 2, 3, 5])
@pytest.mark.parametrize("epsilon", ["0.3", "1", "3"])
@pytest.mark.parametrize("utility", [nw.SquaredError(), nw.PowerError("1.5"), nw.PowerError(4)], ids=str)
def test_the_value_of_half_integers_is_the_least_over_all_top_steps(sensitivity, epsilon, utility):
    query, privacy = nw.Scalar(sensitivity, integer=True), nw.PureDP(epsilon)
    found = nw.mechanisms.half_integers(query, privacy=privacy, utility=utility)
    best = best_by_trying(float(epsilon), sensitivity, lambda x: x ** float(utility.power))
    assert found.value == pytest.approx(best, rel=1e-9)
    report = nw.design(query, privacy=privacy, utility=utility)
    assert report.bound is not None
    assert bool(report.notes) == (best < report.bound)


@pytest.mark.parametrize("sensitivity", [1, 3])
@pytest.mark.parametrize("within", ["0.5", "1", "1.7", "2.5", "4.5"])
def test_the_usefulness_of_half_integers_is_the_largest_over_all_top_steps(sensitivity, within):
    query, privacy, utility = nw.Scalar(sensitivity, integer=True), nw.PureDP(1), nw.Usefulness(within)
    found = nw.mechanisms.half_integers(query, privacy=privacy, utility=utility)
    best = 1 - best_by_trying(1.0, sensitivity, lambda x: x > float(within))
    assert found.value == pytest.approx(best, rel=1e-9)
    report = nw.design(query, privacy=privacy, utility=utility)
    # Whole numbers and half-integers differ in how many of them lie within the limit.
    assert bool(report.notes) == (math.floor(2 * float(within)) % 2 == 1)


@pytest.mark.parametrize("confidence", ["0.5", "0.6", "0.9", "0.99"])
@pytest.mark.parametrize("sensitivity", [1, 4])
def test_the_half_width_of_half_integers_is_the_smallest(sensitivity, confidence):
    query, privacy = nw.Scalar(sensitivity, integer=True), nw.PureDP(1)
    found = nw.mechanisms.half_integers(query, privacy=privacy, utility=nw.ErrorQuantile(confidence))

    def chance(width: float) -> float:
        return 1 - best_by_trying(1.0, sensitivity, lambda x: x > width)

    assert found.value % 1 == 0.5
    assert chance(found.value) >= float(confidence)
    assert found.value == 0.5 or chance(found.value - 1) < float(confidence)


def test_what_is_released_is_a_half_integer_around_the_answer():
    query, privacy, utility = SQUARED
    found = nw.mechanisms.half_integers(query, privacy=privacy, utility=utility)
    released = [found.release(1000) for _ in range(400)]
    assert all(value % 1 == 0.5 for value in released)
    noise = found.certified.draw(200_000, entropy=Replay(seed=5)) - 0.5
    # The mean square of 200,000 draws has a standard deviation of about 0.02.
    assert float(np.mean(noise**2)) == pytest.approx(found.value, abs=0.15)
    assert float(np.mean(noise)) == pytest.approx(0, abs=0.05)
    assert "half-integers for one integer" in str(found)


def test_half_integers_beyond_the_floats_stay_exact():
    found = nw.mechanisms.half_integers(nw.Scalar(1, integer=True), privacy=nw.PureDP(32), utility=nw.SquaredError())
    released = found.release(2**52 + 10**6)
    assert isinstance(released, Fraction)
    assert released.denominator == 2
    assert abs(released - 2**52 - 10**6) < 10


@pytest.mark.parametrize(
    ("query", "privacy", "utility", "error"),
    [
        (nw.Scalar(1), nw.PureDP(1), nw.SquaredError(), nw.errors.InvalidQueryError),
        (nw.Scalar(1, integer=True), nw.ApproxDP(1, "0.1"), nw.SquaredError(), nw.errors.InvalidPrivacyError),
        (nw.Scalar(1, integer=True), nw.PureDP(1), nw.AbsoluteError(), nw.errors.InvalidUtilityError),
        (nw.Scalar(101, integer=True), nw.PureDP(1), nw.SquaredError(), nw.errors.InvalidUtilityError),
        (nw.Scalar(1, integer=True), nw.PureDP(1), nw.Expected(abs, growth=1), nw.errors.InvalidUtilityError),
    ],
)
def test_half_integers_for_anything_else_are_refused(query, privacy, utility, error):
    with pytest.raises(error):
        nw.mechanisms.half_integers(query, privacy=privacy, utility=utility)


def test_for_absolute_errors_no_half_integers_do_better():
    for sensitivity in (1, 2, 4):
        report = nw.design(nw.Scalar(sensitivity, integer=True), privacy=nw.PureDP(2), utility=nw.AbsoluteError())
        assert report.notes == ()
        assert report.bound is not None
        assert best_by_trying(2.0, sensitivity, lambda x: x) >= report.bound * (1 - 1e-12)

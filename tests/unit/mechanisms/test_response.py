"""Randomised response: its law, its privacy, its draws and what can be estimated from many of them."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from typing import Any

import pytest

import noisewright as nw
from noisewright.numerics.fields import FLOATS
from noisewright.sample.certified import make_certified
from noisewright.sample.drawers import drawer_for
from tests.mechanisms_by_hand import FAILS, FITS, fit
from tests.replay import Replay

VALUES = ["never", "once", "often", "daily"]
MECHANISM = nw.mechanisms.RandomisedResponse(VALUES, "5/8")


@pytest.mark.parametrize("place", range(4))
def test_the_law_has_the_truth_at_its_place_and_the_rest_elsewhere(place: int):
    law = MECHANISM.law_given(VALUES[place])
    masses = [law.mass(k, FLOATS) for k in range(-1, 5)]
    assert masses == [0, *(0.625 if k == place else 0.125 for k in range(4)), 0]
    for k in range(-2, 6):
        assert law.cdf(k, FLOATS) == pytest.approx(sum(masses[1 : max(0, k + 1) + 1]) if k >= 0 else 0)
        assert law.sf(k, FLOATS) == pytest.approx(1 - law.cdf(k, FLOATS))


@pytest.mark.parametrize(("size", "truth"), [(2, "3/4"), (4, "5/8"), (7, "1/7"), (3, "99/100")])
def test_its_epsilon_is_the_largest_log_ratio_of_any_two_laws(size: int, truth: str):
    mechanism = nw.mechanisms.RandomisedResponse([str(k) for k in range(size)], truth)
    laws = [[mechanism.law_given(str(a)).mass(k, FLOATS) for k in range(size)] for a in range(size)]
    worst = max(math.log(p / q) for first in laws for second in laws for p, q in zip(first, second, strict=True))
    bound = nw.certify(mechanism, nw.PureDP(9)).bound
    assert float(bound) == pytest.approx(worst, abs=1e-12)
    if worst:
        with pytest.raises(nw.errors.UncertifiedError, match="randomised-response"):
            nw.certify(mechanism, nw.PureDP(str(round(worst * 0.999, 6))))


def test_neighbours_are_any_two_values_of_one_person():
    assert nw.certify(MECHANISM, nw.PureDP(2)).neighbours == "replace"


@pytest.mark.parametrize("value", VALUES)
def test_draws_have_the_law(value: str):
    drawer, replay = drawer_for(MECHANISM), Replay(seed=11)
    drawn = [drawer.release(value, replay) for _ in range(4000)]
    masses = {name: 0.625 if name == value else 0.125 for name in VALUES}
    assert fit(drawn, masses) > FITS
    assert fit(drawn, {name: 0.55 if name == value else 0.15 for name in VALUES}) < FAILS
    assert fit(drawn, {name: 0.70 if name == value else 0.10 for name in VALUES}) < FAILS


def test_counts_are_estimated_without_bias():
    """By hand for one table, and over all outcomes of two people: the mean of the estimates is the truth."""
    found = MECHANISM.estimated(["once"] * 5 + ["never"] * 3)
    assert found == {"never": 4, "once": 8, "often": -2, "daily": -2}
    truth = ["often", "daily"]
    mean = dict.fromkeys(VALUES, Fraction(0))
    for first in VALUES:
        for second in VALUES:
            chance = Fraction(1)
            for own, said in zip(truth, (first, second), strict=True):
                chance *= Fraction(5, 8) if own == said else Fraction(1, 8)
            for value, count in MECHANISM.estimated([first, second]).items():
                mean[value] += chance * count
    assert mean == {value: Counter(truth)[value] for value in VALUES}


def test_the_variance_of_an_estimate_is_that_of_all_outcomes():
    yes_no = nw.mechanisms.RandomisedResponse(["yes", "no"], "3/4")
    values = []
    for said in range(4):
        # Two people who have it and one who has not: how often "yes" is said, with its chance.
        chance = sum(
            math.comb(2, a)
            * Fraction(3, 4) ** a
            * Fraction(1, 4) ** (2 - a)
            * (Fraction(1, 4) if b else Fraction(3, 4))
            for a in range(3)
            for b in range(2)
            if a + b == said
        )
        values.append((chance, yes_no.estimated(["yes"] * said + ["no"] * (3 - said))["yes"]))
    mean = sum(chance * value for chance, value in values)
    assert mean == 2
    assert sum(chance * (value - mean) ** 2 for chance, value in values) == yes_no.count_variance(2, 3)


@pytest.mark.parametrize(("count", "epsilon"), [(2, "1"), (2, "1/10"), (5, "3"), (1000, "2")])
def test_the_designed_response_tells_the_truth_as_often_as_it_may(count: int, epsilon: str):
    certified = nw.mechanisms.randomised_response([str(k) for k in range(count)], nw.PureDP(epsilon))
    rise = math.exp(float(Fraction(epsilon)))
    assert float(certified.mechanism.truth) == pytest.approx(rise / (rise + count - 1), rel=1e-8)
    assert Fraction(epsilon) * (1 - Fraction(1, 10**6)) < certified.certificate.bound <= Fraction(epsilon)
    assert certified.release("1") in certified.mechanism.values
    again = nw.Certified.from_dict(certified.to_dict())
    assert again.certificate == certified.certificate


def test_many_responses_are_composed():
    certified = nw.mechanisms.randomised_response(["yes", "no"], nw.PureDP(1))
    plan = nw.compose([(certified, 30)])
    assert plan.epsilon("1e-6") < 30
    assert "0." in certified.describe()


@pytest.mark.parametrize("truth", ["1/5", 1, "3/2", 0, -1])
def test_a_truth_that_says_less_than_nothing_or_everything_is_refused(truth: Any):
    with pytest.raises(nw.NoisewrightError, match="truth is"):
        nw.mechanisms.RandomisedResponse(VALUES, truth)


@pytest.mark.parametrize("values", [["one"], ["a", "a"], []])
def test_values_are_different_and_at_least_two(values: list[str]):
    with pytest.raises(nw.NoisewrightError):
        nw.mechanisms.RandomisedResponse(values, "1/2")
    with pytest.raises(nw.NoisewrightError):
        nw.mechanisms.randomised_response(values, nw.PureDP(1))


@pytest.mark.parametrize("answer", ["hidden-value", 3, None, ["never"]])
def test_a_value_that_is_not_listed_is_refused_and_not_repeated(answer: Any):
    with pytest.raises(nw.errors.InvalidAnswerError) as caught:
        make_certified(MECHANISM, nw.PureDP(2)).release(answer)
    assert "hidden" not in f"{caught.value.message} {caught.value.fields}"


def test_what_cannot_be_estimated_is_refused():
    blind = nw.mechanisms.RandomisedResponse(["a", "b"], "1/2")
    with pytest.raises(nw.errors.InvalidAnswerError, match="say nothing"):
        blind.estimated(["a"])
    with pytest.raises(nw.errors.InvalidAnswerError, match="none of the values"):
        MECHANISM.estimated(["else"])
    with pytest.raises(nw.errors.InvalidPrivacyError, match="PureDP"):
        nw.mechanisms.randomised_response(["a", "b"], nw.ApproxDP(1, "1e-6"))  # type: ignore[arg-type]

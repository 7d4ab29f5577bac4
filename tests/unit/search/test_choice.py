"""Choices are designed: both mechanisms in order, and a bound that no private choice beats."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

import noisewright as nw
from noisewright.mechanisms.selection import PermuteAndFlip, RandomExponential
from noisewright.search.bounds.pure import best_choice
from noisewright.search.design import designer_for

UTILITIES = [
    nw.AbsoluteError(),
    nw.SquaredError(),
    nw.PowerError(7),
    nw.Usefulness(0),
    nw.Usefulness(5),
    nw.ErrorQuantile("0.9"),
]


def designed(size: int, epsilon: str, utility: Any, sensitivity: int = 1) -> tuple[Any, float, list[float]]:
    """The report, its bound and the gaps, which are known."""
    report = nw.design(question(size, sensitivity), privacy=nw.PureDP(epsilon), utility=utility)
    assert report.bound is not None
    return report, report.bound, [math.inf if c.gap is None else c.gap for c in report.candidates]


def question(size: int, sensitivity=1, *, exact: bool = True) -> nw.Choice:
    return nw.Choice([f"c{i}" for i in range(size)], sensitivity, exact=exact)


@pytest.mark.parametrize("utility", UTILITIES, ids=str)
@pytest.mark.parametrize("size", [1, 2, 3, 10, 5000])
@pytest.mark.parametrize("epsilon", ["0.00001", "1/3", "1", "32"])
def test_permute_and_flip_comes_first_and_nothing_passes_the_bound(utility, size: int, epsilon: str):
    report, bound, gaps = designed(size, epsilon, utility, 2)
    assert [c.name for c in report.candidates] == ["permute-and-flip", "exponential"]
    first, second = report.candidates
    assert isinstance(report.best.mechanism, PermuteAndFlip)
    assert isinstance(second.certified.mechanism, RandomExponential)
    assert {c.certified.certificate.bound for c in report.candidates} == {Fraction(epsilon)}
    sign = -1 if utility.larger_is_better else 1
    assert sign * bound <= sign * first.value * (1 + sign * 1e-15) <= sign * second.value * (1 + sign * 2e-15)
    assert gaps[0] <= gaps[1]


def test_two_candidates_at_a_small_epsilon_are_chosen_as_well_as_possible():
    for utility in (nw.AbsoluteError(), nw.SquaredError(), nw.ErrorQuantile("0.95")):
        _, _, gaps = designed(2, "0.00001", utility)
        assert gaps[0] < 1e-5
        assert gaps[1] > 0.2


def test_many_candidates_are_chosen_nearly_as_well_as_possible():
    _, bound, gaps = designed(100_000, "0.1", nw.AbsoluteError())
    assert gaps[0] < 1e-3
    assert bound * 0.1 == pytest.approx(2 * (math.log(1e5) - math.log(math.log(1e5))), rel=0.1)


def test_the_bound_is_that_of_a_leader_found_by_hand():
    """Ten candidates, epsilon 1: a lead of two is missed with 1 - e/10, a lead of one with 9 / (9 + e)."""
    ten = question(10)
    assert float(best_choice(ten, nw.PureDP(1), nw.AbsoluteError())) == pytest.approx(2 * (1 - math.e / 10))
    assert float(best_choice(ten, nw.PureDP(1), nw.Usefulness(0))) == pytest.approx(math.e / (9 + math.e))
    assert float(best_choice(ten, nw.PureDP(1), nw.Usefulness("0.999"))) == pytest.approx(math.e / (9 + math.e))
    assert float(best_choice(ten, nw.PureDP(1), nw.Usefulness(1))) == pytest.approx(math.e / 10)
    # A lead of 4 is missed with (1 - e/10) / e = 0.268, one of 5 with (1 - e e/(9+e)) / e = 0.136.
    assert best_choice(ten, nw.PureDP(1), nw.ErrorQuantile("0.74")) == 4
    assert best_choice(ten, nw.PureDP(1), nw.ErrorQuantile("0.05")) == 0
    assert best_choice(question(10, 3), nw.PureDP(1), nw.ErrorQuantile("0.74")) == 12


@pytest.mark.parametrize(("size", "largest"), [(2, 3), (3, 2)])
@pytest.mark.parametrize("epsilon", ["1/2", "1", "2"])
def test_no_choice_that_a_linear_programme_finds_beats_the_bound(size: int, largest: int, epsilon: str):
    """All private choices over whole scores within `largest` of 0: the smallest mean shortfall of the worst scores."""
    vectors = list(itertools.product(range(-largest, largest + 1), repeat=size))
    place = {vector: i for i, vector in enumerate(vectors)}
    factor, count = math.exp(float(Fraction(epsilon))), len(vectors) * size + 1
    rows = []
    for vector, i in place.items():
        row = np.zeros(count)
        row[i * size : (i + 1) * size], row[-1] = [max(vector) - score for score in vector], -1
        rows.append(row)
        for move in itertools.product((-1, 0, 1), repeat=size):
            j = place.get(tuple(s + m for s, m in zip(vector, move, strict=True)), i)
            for r in range(size) if j != i else ():
                row = np.zeros(count)
                row[i * size + r], row[j * size + r] = 1, -factor
                rows.append(row)
    sums = np.zeros((len(vectors), count))
    for i in range(len(vectors)):
        sums[i, i * size : (i + 1) * size] = 1
    solved = linprog([0] * (count - 1) + [1], np.array(rows), np.zeros(len(rows)), sums, np.ones(len(vectors)))
    bound = float(best_choice(question(size), nw.PureDP(epsilon), nw.AbsoluteError()))
    assert bound <= solved.fun + 1e-7
    assert bound >= 0.7 * solved.fun


@pytest.mark.parametrize(
    "utility",
    [nw.PowerError(Fraction(1, 2)), nw.WorstVariance(), nw.ErrorEntropy(), nw.Expected(abs, growth=1), 3],
    ids=str,
)
def test_a_utility_whose_worst_case_is_not_known_is_refused(utility):
    with pytest.raises(nw.errors.InvalidUtilityError, match="Choice question"):
        nw.design(question(3), privacy=nw.PureDP(1), utility=utility)


def test_what_floats_cannot_hold_and_other_promises_are_refused():
    with pytest.raises(nw.errors.InvalidQueryError, match="another unit"):
        nw.design(question(3, 10**80), privacy=nw.PureDP(1), utility=nw.SquaredError())
    with pytest.raises(nw.errors.InvalidPrivacyError, match="PureDP"):
        designer_for(question(3), nw.ApproxDP(1, "1e-6"), nw.AbsoluteError())


def test_choices_are_planned_too():
    report = nw.design(question(3), privacy=nw.PureDP(1), utility=nw.AbsoluteError(), compose=2)
    assert report.best.certificate.requirement == nw.PureDP("1/2")
    assert report.plan.delta(1) == 0


def test_the_report_says_what_the_error_of_a_choice_is():
    report = nw.design(question(3), privacy=nw.PureDP(1), utility=nw.AbsoluteError())
    assert "below the best one" in str(report)
    assert report.best.release({"c0": 0, "c1": 10**5, "c2": 0}) == "c1"
    assert nw.Certified.from_dict(report.to_dict()["candidates"][0]["certified"]).mechanism == report.best.mechanism


def test_the_picture_of_a_choice_is_its_ranking():
    report, bound, _ = designed(10, "1", nw.AbsoluteError())
    (axes,) = report.plot().axes
    assert [label.get_text() for label in axes.get_yticklabels()] == [c.name for c in report.candidates]
    assert f"{bound:.4g}" in axes.get_title()

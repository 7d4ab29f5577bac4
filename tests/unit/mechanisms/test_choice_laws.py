"""Weights of choices and small databases, written a second time by hand."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from noisewright.lab.generalized_gaussian.named_rules import lemma_ten_bound
from noisewright.lab.generalized_gaussian.sensitivities import (
    exact_lp_sensitivity,
    lp_sensitivity,
    lp_sensitivity_from_bounds,
    minkowski_utility_sensitivity,
)
from noisewright.mechanisms.linear.synthetic import MetricExponential, MetricMWEM, MetricSmallDB
from noisewright.mechanisms.selection import MinkowskiExponential, RandomExponential, points
from noisewright.numerics.balls import precision
from noisewright.numerics.fields import BALLS, FLOATS
from noisewright.problem.errors import InvalidAnswerError
from noisewright.problem.linear import Linear
from noisewright.problem.queries import Choice

ONE, HALF, QUARTER = Fraction(1), Fraction(1, 2), Fraction(1, 4)
STEP, SCALE = Fraction(1, 4), Fraction(3)
COLUMNS = ((1, 4, 8), (4, 0, -2), (0, 12, 0))
QUERY = Linear([[0, 1, 2], [1, 0, -1], [0, 3, 0]])
COUNTS = [3, 1, 2]
SCORES = [1 * 3 + 4 * 1 + 8 * 2, 4 * 3 - 2 * 2, 12]


def law_masses(law, first: int, last: int) -> np.ndarray:
    """Masses from the distribution function in balls, checked against the survival function and floats."""
    with precision():
        shares = [float(law.cdf(k, BALLS).mid()) for k in range(first - 1, last + 1)]
        rest = [float(law.sf(k, BALLS).mid()) for k in range(first - 1, last + 1)]
    assert shares[0] == 0
    assert shares[-1] == pytest.approx(1, abs=1e-30)
    assert np.array(shares) + np.array(rest) == pytest.approx(np.ones(len(shares)))
    assert [law.cdf(k, FLOATS) for k in range(first - 1, last + 1)] == pytest.approx(shares, abs=1e-12)
    return np.diff(shares)


@pytest.mark.parametrize(
    ("epsilons", "weights"), [((ONE,), (ONE,)), ((HALF, Fraction(3)), (Fraction(1, 5), Fraction(4, 5)))]
)
def test_the_chance_of_a_candidate_is_that_of_its_score_over_twice_the_sensitivity(epsilons, weights):
    """Scores 2, -1, 4 and 0 with sensitivity 3: a mixture of softmaxes of epsilon score / 6."""
    mechanism = RandomExponential(Choice(["a", "b", "c", "d"], 3), epsilons, weights)
    law = mechanism.law_given({"c": 4, "a": 2, "d": 0, "b": -1})
    wanted = np.zeros(4)
    for epsilon, weight in zip(epsilons, weights, strict=True):
        heights = np.exp(float(epsilon) * np.array([2, -1, 4, 0]) / 6)
        wanted += float(weight) * heights / heights.sum()
    assert law_masses(law, 0, 3) == pytest.approx(wanted)
    assert law.masses(FLOATS) == pytest.approx(wanted)


@pytest.mark.parametrize("scores", [{"a": 1}, {"a": 1, "b": 2, "c": 3}, {"a": 1, "c": 2}])
def test_every_candidate_needs_a_score_and_no_other_has_one(scores):
    with pytest.raises(InvalidAnswerError, match="every candidate"):
        RandomExponential(Choice(["a", "b"]), (ONE,), (ONE,)).law_given(scores)


def test_the_weight_of_a_row_is_half_its_score():
    """e^(score step / (2 scale)), up to a common factor."""
    mechanism = MetricExponential(QUERY, COLUMNS, STEP, SCALE)
    assert mechanism.scores(COUNTS) == SCORES
    assert mechanism.rate == Fraction(1, 12)
    logs = mechanism.log_weights(COUNTS)
    assert [a - b for a, b in itertools.pairwise(logs)] == [
        (a - b) * STEP / (2 * SCALE) for a, b in itertools.pairwise(SCORES)
    ]


@pytest.mark.parametrize("rows", [1, 2, 3])
def test_the_weight_of_a_small_database_is_half_its_largest_distance(rows: int):
    """e^(-largest |W x - (n / rows) W y| step / (2 scale)), with rationals all along; each query is the worst once."""
    mechanism = MetricSmallDB(QUERY, COLUMNS, STEP, SCALE, rows)
    databases = list(mechanism.databases())
    assert sorted(databases) == sorted(y for y in itertools.product(range(rows + 1), repeat=3) if sum(y) == rows)
    assert len(databases) == mechanism.candidates == math.comb(rows + 2, rows)
    worst = set()
    for y in databases:
        scaled = [Fraction(6, rows) * sum(w * c for w, c in zip(row, y, strict=True)) for row in COLUMNS]
        distances = [abs(s - t) for s, t in zip(SCORES, scaled, strict=True)]
        worst.add(distances.index(max(distances)))
        assert mechanism.log_weight(SCORES, 6, y) == -max(distances) * STEP / (2 * SCALE)
    assert len(worst) >= 2


def test_multiplicative_weights_see_the_same_scores():
    mechanism = MetricMWEM(QUERY, COLUMNS, STEP, SCALE, 5)
    assert mechanism.scores(COUNTS) == SCORES
    assert mechanism.rate == Fraction(1, 12)


ANSWERS = ((Fraction(0), Fraction(0)), (ONE, ONE), (Fraction(2), Fraction(0)), (Fraction(0), Fraction(3)))
CANDIDATES = ((Fraction(0), ONE), (Fraction(-1), Fraction(2)), (Fraction(3), Fraction(0)))


@pytest.mark.parametrize("power", ["1", "2", "3/2"])
def test_the_weight_of_a_point_falls_with_its_distance(power: str):
    mechanism = MinkowskiExponential(ANSWERS, CANDIDATES, Fraction(power), Fraction(2, 3), Fraction(2))
    exponent = float(Fraction(power))
    for answer in ANSWERS:
        distances = [sum(abs(float(x - y)) ** exponent for x, y in zip(c, answer, strict=True)) for c in CANDIDATES]
        weights = np.exp(-2 / 3 * np.array(distances))
        law = mechanism.law_given([float(x) for x in answer])
        assert law_masses(law, 0, 2) == pytest.approx(weights / weights.sum())
        assert [mechanism.distance(c, answer, FLOATS) for c in CANDIDATES] == pytest.approx(distances)


def test_neighbours_are_all_different_answers_within_the_reach_both_ways():
    mechanism = MinkowskiExponential(ANSWERS, CANDIDATES, ONE, ONE, Fraction(2))
    close = {(a, b) for a in ANSWERS for b in ANSWERS if a != b and abs(a[0] - b[0]) + abs(a[1] - b[1]) <= 2}
    assert set(mechanism.neighbours()) == close
    assert len(list(mechanism.neighbours())) == len(close) == 6
    assert (ANSWERS[0], ANSWERS[1]) in close


@pytest.mark.parametrize("answer", [5, (5, 5), (0, 0, 0), [0.5, 0]], ids=repr)
def test_other_answers_are_refused(answer):
    with pytest.raises(InvalidAnswerError):
        MinkowskiExponential(ANSWERS, CANDIDATES, ONE, ONE, ONE).law_given(answer)


def test_points_are_numbers_or_lists_of_numbers():
    assert points([1, "1/2", 0.1], "x") == ((ONE,), (HALF,), (Fraction(1, 10),))
    assert points([(1, 2), [3, "4"]], "x") == ((ONE, Fraction(2)), (Fraction(3), Fraction(4)))


@pytest.mark.parametrize("power", ["1", "2", "3", "3/2", "1/2"])
def test_single_sensitivities_add_up_in_their_power_and_never_below(power: str):
    exponent = Fraction(power)
    values = [Fraction(1), Fraction(5, 2), Fraction(0), Fraction(1, 3)]
    true = sum(float(v) ** float(exponent) for v in values) ** (1 / float(exponent))
    bound = lp_sensitivity(values, exponent)
    assert float(bound) == pytest.approx(true, rel=1e-12)
    assert float(bound) >= true * (1 - 1e-15)
    assert lp_sensitivity(values, exponent, disjoint=True) == Fraction(5, 2)
    assert lp_sensitivity_from_bounds([(-1, 0), (1, "3.5")], exponent) == lp_sensitivity([1, Fraction(5, 2)], exponent)
    assert lp_sensitivity_from_bounds([(-1, 0), (1, "3.5")], exponent, disjoint=True) == Fraction(5, 2)


@pytest.mark.parametrize("place", [0, 1, 2])
def test_the_largest_of_all_pairs_counts_wherever_it_stands(place: int):
    """Changes (3, -4), (1, 1) and (0, 2): the first has l_2 distance 5 and l_1 distance 7."""
    changes = [(1, 1), (0, 2)]
    changes.insert(place, (3, -4))
    pairs = [((0, 0), change) for change in changes]
    assert exact_lp_sensitivity(lambda x: x, pairs, 2) == 5
    assert exact_lp_sensitivity(lambda x: x, pairs, 1) == 7


@pytest.mark.parametrize("power", ["1", "2", "3", "5/2"])
def test_the_minkowski_utility_of_several_coordinates_adds_up(power: str):
    """Two uneven coordinates, one moved further than the other; every corner is tried."""
    bounds, reach, exponent = [(-1, 1), (0, 3)], [Fraction(1, 2), Fraction(2)], float(Fraction(power))
    wanted = 0.0
    for (low, high), move in zip(bounds, reach, strict=True):
        grid = np.linspace(low, high, 4 * (high - low) + 1)
        wanted += max(
            abs(abs(c - s) ** exponent - abs(c - t) ** exponent)
            for c in grid
            for s in grid
            for t in grid
            if abs(s - t) <= float(move)
        )
    bound = minkowski_utility_sensitivity(bounds, reach, power)
    assert float(bound) == pytest.approx(wanted, rel=1e-12)
    assert float(bound) >= wanted * (1 - 1e-14)
    if Fraction(power).denominator == 1:
        assert lemma_ten_bound(bounds, reach, int(power)) >= bound


def test_lemma_ten_as_it_is_printed():
    """Power 1: the sensitivities; power 2: twice sensitivity times range; power 3 term by term."""
    bounds, reach = [(-1, 1), (0, 3)], [HALF, Fraction(2)]
    assert lemma_ten_bound(bounds, reach, 1) == Fraction(5, 2)
    assert lemma_ten_bound(bounds, reach, 2) == 2 * (HALF * 2 + 2 * 3)
    total = Fraction(0)
    for largest, move in ((1, HALF), (3, 2)):
        rest = largest - move
        total += 3 * largest**2 * (largest - rest) + 3 * largest * (largest**2 - rest**2) + (largest**3 - rest**3)
    assert lemma_ten_bound(bounds, reach, 3) == total

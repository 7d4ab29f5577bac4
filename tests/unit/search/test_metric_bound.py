"""The bound over all mechanisms."""

from __future__ import annotations

import math

import numpy as np
import pytest

import noisewright as nw

UTILITIES = (nw.SquaredError(), nw.SquaredError([3, 1]), nw.AbsoluteError(), nw.LargestError())


@pytest.mark.parametrize("utility", UTILITIES, ids=str)
@pytest.mark.parametrize("scale", ["0.01", 1, 10])
def test_no_candidate_is_below_it(utility, scale):
    rng = np.random.default_rng(3)
    points, matrix = np.round(rng.uniform(0, 5, (8, 2)), 2), np.round(rng.uniform(0, 1, (2, 8)), 2)
    privacy = nw.MetricPrivacy(nw.metrics.Euclidean(points.tolist(), scale))
    report = nw.design(nw.Linear(matrix.tolist()), privacy=privacy, utility=utility)
    assert report.bound is not None
    assert 0 < report.bound < min(c.value for c in report.candidates)
    gaps = [c.gap for c in report.candidates]
    assert all(g is not None and g > 0 for g in gaps)


@pytest.mark.parametrize(("people", "count"), [(1, 1), (4, 4), (60, 22)])
def test_it_is_what_the_rule_says_for_two_elements(people, count):
    query = nw.Linear([[0, 3]], people=people)
    report = nw.design(query, privacy=nw.MetricPrivacy(nw.metrics.Hamming(2, "0.1")), utility=nw.SquaredError())
    expected = (count * 3 / 2) ** 2 / (1 + math.exp(count * 0.1))
    assert report.bound == pytest.approx(expected, rel=1e-12)
    assert expected <= report.candidates[0].value


def test_answering_at_random_between_two_truths_cannot_beat_it():
    """For one person and two elements the best mechanism flips a coin; its worst error is above the bound."""
    for epsilon in (0.1, 1.0, 3.0):
        wrong = 1 / (1 + math.exp(epsilon))
        best = min((1 - wrong) * low**2 + wrong * (1 - low) ** 2 for low in np.linspace(0, 0.5, 51))
        assert 0.25 * wrong <= best <= wrong

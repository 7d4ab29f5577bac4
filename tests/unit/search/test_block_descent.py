"""Block descent: never rises, stays private, and pays off for few people only."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import noisewright as nw
from noisewright.search.programmes.linear import best_rates, block_descent


def _problem(seed: int, rows: int, size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    points = np.round(rng.uniform(0, 10, (size, 2)), 3)
    distances = np.hypot(*(points[:, None] - points[None]).transpose(2, 0, 1))
    return np.round(rng.uniform(0, 1, (rows, size)), 3), points, distances


@pytest.mark.parametrize("people", [1, 20])
def test_the_value_never_rises_and_the_columns_fit_the_distances(people):
    matrix, _, distances = _problem(1, 2, 9)
    first, second = np.triu_indices(9, 1)
    pairs = np.abs(matrix[:, first] - matrix[:, second]).T / distances[first, second][:, None]
    columns, scales, values = block_descent(matrix, distances, best_rates(pairs, np.ones(2)).point, people)
    assert all(later <= earlier * (1 + 1e-6) for earlier, later in pairwise(values))
    spent = (np.abs(columns[:, first] - columns[:, second]) / scales[:, None]).sum(axis=0)
    assert (spent <= distances[first, second] * (1 + 1e-6)).all()


def test_it_is_a_named_candidate_that_wins_for_few_people_and_not_for_many():
    matrix, points, _ = _problem(2, 2, 10)
    privacy = nw.MetricPrivacy(nw.metrics.Euclidean(points.tolist()))
    values = {}
    for people in (1, 10**5):
        report = nw.design(nw.Linear(matrix.tolist(), people=people), privacy=privacy, utility=nw.SquaredError())
        values[people] = {c.name: c.value for c in report.candidates}
        assert report.candidates[0].value == min(values[people].values())
    assert values[1]["block descent"] < 0.9 * values[1]["metric Laplace"]
    assert values[10**5]["block descent"] > 0.99 * values[10**5]["metric Laplace"]

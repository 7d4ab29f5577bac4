"""Linear questions are designed under ordinary privacy, without a metric."""

from __future__ import annotations

import numpy as np
import pytest

import noisewright as nw
from noisewright.search.design import design

PREFIXES = nw.Linear([[int(j <= i) for j in range(6)] for i in range(5)])


def test_pure_privacy_is_the_metric_with_one_distance_for_every_pair():
    for utility in (nw.SquaredError(), nw.AbsoluteError(), nw.LargestError()):
        ours = design(PREFIXES, privacy=nw.PureDP("0.7"), utility=utility)
        same = nw.MetricPrivacy(nw.metrics.Hamming(6, "0.7"))
        theirs = design(PREFIXES, privacy=same, utility=utility)
        assert [c.certified.mechanism for c in ours.candidates] == [c.certified.mechanism for c in theirs.candidates]
        assert ours.bound == theirs.bound
        assert {c.certified.certificate.requirement for c in ours.candidates} == {nw.PureDP("0.7")}


def test_the_report_says_who_is_a_neighbour():
    for privacy in (nw.PureDP(1), nw.ApproxDP(1, "1e-6")):
        assert "one person, who is replaced" in str(design(PREFIXES, privacy=privacy, utility=nw.SquaredError()))


def test_gaussian_noise_wins_where_many_queries_move_together():
    """Fifteen prefix sums: independent Laplace noise pays for each, Gaussian noise for the root of their number."""
    query = nw.Linear([[int(j <= i) for j in range(16)] for i in range(15)])
    report = design(query, privacy=nw.ApproxDP(1, "1e-3"), utility=nw.SquaredError())
    values = {c.name: c.value for c in report.candidates}
    assert report.candidates[0].name == "correlated Gaussian"
    assert values["correlated Gaussian"] < values["Gaussian"] < values["metric Laplace"]
    same = next(c for c in report.candidates if c.name == "Gaussian").certified.mechanism
    assert same.cell == 1
    assert float(same.std) ** 2 * 15 == pytest.approx(values["Gaussian"], rel=1e-2)


def test_the_noise_is_the_least_that_the_claim_allows():
    for name in ("Gaussian", "correlated Gaussian"):
        report = design(PREFIXES, privacy=nw.ApproxDP("0.8", "1e-5"), utility=nw.SquaredError())
        certified = next(c.certified for c in report.candidates if c.name == name)
        assert float(certified.certificate.bound) == pytest.approx(1e-5, rel=1e-3)


def test_queries_of_different_weight_get_different_noise():
    query = nw.Linear([[1, 0, 0], [0, 40, 0]])
    report = design(query, privacy=nw.ApproxDP(1, "1e-5"), utility=nw.SquaredError())
    found = next(c for c in report.candidates if c.name == "Gaussian")
    # Variances v minimise v1 + v2 with 1/v1 + 1600/v2 fixed: in proportion to 1 and 40.
    assert found.parts[1] / found.parts[0] == pytest.approx(40, rel=1e-3)


def test_weights_and_counts_that_do_not_span_are_served():
    counts = nw.Linear(np.eye(4, dtype=int).tolist())
    report = design(counts, privacy=nw.ApproxDP(1, "1e-5"), utility=nw.SquaredError([1, 2, 3, 4]))
    assert {c.name for c in report.candidates} == {"metric Laplace", "Gaussian"}
    assert report.best.release([3, 4, 5, 6]).shape == (4,)


def test_a_large_universe_is_designed_by_the_pairs_that_matter():
    rng = np.random.default_rng(3)
    query = nw.Linear(rng.integers(0, 50, (3, 400)).tolist())
    report = design(query, privacy=nw.ApproxDP(1, "1e-4"), utility=nw.SquaredError())
    assert {"Gaussian", "correlated Gaussian"} <= {c.name for c in report.candidates}
    for candidate in report.candidates:
        if "Gaussian" in candidate.name:
            assert float(candidate.certified.certificate.bound) == pytest.approx(1e-4, rel=1e-2)

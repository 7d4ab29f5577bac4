"""Designs under metric privacy: the best of both, ordinary mechanisms where budgets are equal, clear errors."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import noisewright as nw
from noisewright.lab.metric.printed import equal_noise, equal_shares, parameter_selection
from noisewright.laws.lattice import Lattice
from noisewright.mechanisms.additive import Additive
from noisewright.problem.errors import (
    InvalidMechanismError,
    InvalidPrivacyError,
    InvalidQueryError,
    InvalidUtilityError,
)
from noisewright.search.families.linear import laplace_mechanism
from noisewright.search.programmes.linear import PairTable, best_single

TOTAL = nw.SquaredError()


def _points(seed: int, size: int, digits: int = 3) -> list[list[float]]:
    return np.round(np.random.default_rng(seed).uniform(0, 100, (size, 2)), digits).tolist()


def _matrix(seed: int, rows: int, size: int) -> list[list[float]]:
    return np.random.default_rng(seed).uniform(0, 1, (rows, size)).tolist()


@pytest.mark.parametrize("epsilon", ["0.1", "1/3", 2])
def test_hamming_gives_the_ordinary_laplace_mechanism_exactly(epsilon):
    row = [0, 1, 1, 3, 2]
    report = nw.design(nw.Linear([row]), privacy=nw.MetricPrivacy(nw.metrics.Hamming(5, epsilon)), utility=TOTAL)
    mechanism = report.best.mechanism
    assert mechanism.scales == (3 / Fraction(epsilon),)
    assert mechanism.steps == (1,)
    assert mechanism.columns == (tuple(row),)
    scalar = nw.design(nw.Scalar(3, integer=True), privacy=nw.PureDP(epsilon), utility=nw.SquaredError())
    ordinary = next(c for c in scalar.candidates if c.name == "discrete Laplace").certified.mechanism.law
    assert mechanism.rates == (1 / ordinary.scale,)


def test_hamming_gives_the_ordinary_exponential_mechanism_exactly():
    scores = nw.Linear([[0, 1, 2], [1, 0, 0], [5, 5, 4]])
    chosen = nw.mechanisms.exponential_mechanism(scores, nw.MetricPrivacy(nw.metrics.Hamming(3, "0.5"))).mechanism
    histogram = [3, 1, 2]
    answers = scores.answers(histogram)
    sensitivity = 2
    expected = [Fraction(1, 2) * (a - max(answers)) / (2 * sensitivity) for a in answers]
    assert chosen.log_weights(histogram) == expected


def test_elliptical_and_laplace_are_both_offered_and_the_better_is_first():
    for seed in range(8):
        kind = np.random.default_rng(seed)
        matrix = kind.integers(0, 2, (3, 12)).tolist() if seed % 2 else _matrix(seed, 3, 12)
        report: Any = nw.design(
            nw.Linear(matrix), privacy=nw.MetricPrivacy(nw.metrics.Euclidean(_points(seed, 12))), utility=TOTAL
        )
        values = {c.name: c.value for c in report.candidates}
        assert {"metric Laplace", "elliptical"} == set(values)
        assert report.candidates[0].value == min(values.values())
        table = PairTable(report.query, report.privacy.metric)
        for strategy in (equal_shares, equal_noise, parameter_selection):
            printed = laplace_mechanism(report.query, report.privacy, list(strategy(np.abs(table.rows)))).mechanism
            assert values["metric Laplace"] <= float(printed.expected(TOTAL).mid()) * (1 + 1e-7)
        gaps = [float(c.remark.split()[-7]) for c in report.candidates if c.remark]
        assert len(gaps) == 2
        assert max(gaps) <= 1e-6


def test_weights_and_other_utilities_are_served():
    query, privacy = nw.Linear(_matrix(1, 3, 15)), nw.MetricPrivacy(nw.metrics.Euclidean(_points(1, 15)))
    heavy: Any = nw.design(query, privacy=privacy, utility=nw.SquaredError([100, 1, 1]))
    plain: Any = nw.design(query, privacy=privacy, utility=nw.SquaredError())
    assert heavy.parts[0][0] < plain.parts[0][0]
    for utility in (nw.AbsoluteError(), nw.LargestError()):
        report = nw.design(query, privacy=privacy, utility=utility)
        noise = np.abs(report.best.draw(20_000))
        value = noise.sum(axis=1).mean() if isinstance(utility, nw.AbsoluteError) else noise.max(axis=1).mean()
        assert report.candidates[0].value == pytest.approx(value, rel=0.05)
    with pytest.raises(InvalidUtilityError, match="SquaredError"):
        nw.design(query, privacy=privacy, utility=nw.Usefulness(1))


def test_beyond_the_pairs_that_fit_cutting_planes_find_the_same_optimum(monkeypatch):
    privacy = nw.MetricPrivacy(nw.metrics.Euclidean(_points(2, 90)))
    whole = nw.design(nw.Linear(_matrix(2, 3, 90)), privacy=privacy, utility=TOTAL)
    monkeypatch.setattr("noisewright.search.programmes.linear.ALL_PAIRS", 10)
    # Another question object, about which no pairs are remembered.
    cut = nw.design(nw.Linear(_matrix(2, 3, 90)), privacy=privacy, utility=TOTAL)
    assert {c.name: c.value for c in cut.candidates}.keys() == {"metric Laplace", "elliptical"}
    for candidate in cut.candidates:
        full = next(c for c in whole.candidates if c.name == candidate.name)
        assert candidate.value == pytest.approx(full.value, rel=1e-6)


def test_many_queries_are_split_into_blocks(monkeypatch):
    monkeypatch.setattr("noisewright.search.designers.linear.MOST_TOGETHER", 4)
    query = nw.Linear(_matrix(3, 6, 20))
    report = nw.design(query, privacy=nw.MetricPrivacy(nw.metrics.Euclidean(_points(3, 20))), utility=TOTAL)
    candidate = next(c for c in report.candidates if c.name == "elliptical")
    assert [len(b.rows) for b in candidate.certified.mechanism.blocks] == [4, 2]
    assert candidate.certified.release([1] * 20).shape == (6,)
    noise = candidate.certified.draw(100_000)
    assert (noise**2).sum(axis=1).mean() == pytest.approx(candidate.value, rel=0.05)


def test_dependent_queries_get_no_ellipse_but_a_note():
    row = _matrix(4, 1, 10)[0]
    report = nw.design(
        nw.Linear([row, [2 * v for v in row]]),
        privacy=nw.MetricPrivacy(nw.metrics.Euclidean(_points(4, 10))),
        utility=TOTAL,
    )
    assert "elliptical" not in {c.name for c in report.candidates}
    assert any("span" in note for note in report.notes)


def test_people_let_bias_be_traded_for_noise_as_the_programme_says():
    points, row = _points(5, 14), _matrix(5, 1, 14)
    privacy = nw.MetricPrivacy(nw.metrics.Euclidean(points))
    plain = nw.design(nw.Linear(row), privacy=privacy, utility=TOTAL).candidates[0].value
    last = 0.0
    for people in (1, 10, 100, 10**6):
        query = nw.Linear(row, people=people)
        report = nw.design(query, privacy=privacy, utility=TOTAL)
        value = report.candidates[0].value
        assert last * (1 - 1e-9) <= value <= plain * (1 + 1e-9)
        last = value
        traded = best_single(PairTable(query, privacy.metric), people, query.rationals()[0])
        assert traded.gap <= 1e-6
        assert value == pytest.approx(traded.value, rel=1e-6)
    assert last == pytest.approx(plain, rel=1e-6)


def test_the_traded_programme_beats_random_feasible_points():
    rng = np.random.default_rng(6)
    points, people = np.array(_points(6, 8)), 4
    query = nw.Linear(_matrix(6, 1, 8), people=people)
    q = np.array([float(v) for v in query.rationals()[0]])
    best = best_single(PairTable(query, nw.metrics.Euclidean(points.tolist())), people, query.rationals()[0]).value
    apart = np.hypot(*(points[:, None] - points[None]).transpose(2, 0, 1)) + np.eye(8)
    for _ in range(500):
        shrunk = q.mean() + rng.uniform(0, 1) * (q - q.mean()) + rng.normal(0, 0.02, 8)
        scale = (np.abs(shrunk[:, None] - shrunk[None]) / apart).max()
        assert people**2 * np.abs(shrunk - q).max() ** 2 + 2 * scale**2 >= best * (1 - 1e-9)


@pytest.mark.parametrize(
    ("query", "metric", "error", "words"),
    [
        (nw.Linear([[1, 2, 3]]), nw.metrics.Hamming(2, 1), InvalidQueryError, "3 columns for a universe of 2"),
        (nw.Linear([[1, 1]]), nw.metrics.Hamming(2, 1), InvalidQueryError, "same for every element"),
        (nw.Linear([[1, 2, 3]]), nw.metrics.Euclidean([(0, 0), (1, 1), (0, 0)]), InvalidQueryError, "elements 0 and 2"),
        (
            nw.Linear([[1, 2, 3], [3, 2, 1]]),
            nw.metrics.Euclidean([(0, 0), (0, 0), (1, 1)]),
            InvalidQueryError,
            "0 and 1",
        ),
    ],
)
def test_what_cannot_be_answered_is_refused_in_words(query, metric, error, words):
    with pytest.raises(error, match=words):
        nw.design(query, privacy=nw.MetricPrivacy(metric), utility=TOTAL)


def test_equal_columns_at_distance_zero_are_fine():
    privacy = nw.MetricPrivacy(nw.metrics.Euclidean([(0, 0), (0, 0), (3, 4)]))
    report = nw.design(nw.Linear([[2, 2, 7]]), privacy=privacy, utility=TOTAL)
    assert report.best.mechanism.scales == (1,)


def test_unbounded_neighbours_pay_for_the_number_of_people():
    points = _points(7, 10)
    query = nw.Linear(_matrix(7, 2, 10)).with_absent(count=True)
    privacy = nw.MetricPrivacy(nw.metrics.WithAbsent(nw.metrics.Euclidean(points, "0.05"), 1))
    report = nw.design(query, privacy=privacy, utility=TOTAL)
    answers = report.best.release([5] * 10 + [0])
    assert answers.shape == (3,)
    assert report.query.names[-1] == "number of people"


def test_the_meta_procedure_carries_mechanisms_over():
    privacy = nw.MetricPrivacy(nw.metrics.Euclidean(_points(8, 6)))
    query = nw.Linear(_matrix(8, 2, 6))
    ordinary = nw.design(nw.Scalar(1), privacy=nw.PureDP(1), utility=nw.SquaredError())
    laplace = next(c for c in ordinary.candidates if c.name == "Laplace").certified
    carried = nw.mechanisms.metric_private(laplace, privacy, query)
    best = next(c for c in nw.design(query, privacy=privacy, utility=TOTAL).candidates if c.name == "metric Laplace")
    assert float(carried.mechanism.expected(TOTAL).mid()) == pytest.approx(best.value)
    hamming = nw.MetricPrivacy(nw.metrics.Hamming(6, 1))
    for made in (
        nw.mechanisms.exponential_mechanism(query, hamming),
        nw.mechanisms.smalldb_mechanism(query, hamming, 2),
        nw.mechanisms.mwem_mechanism(query, hamming, 3),
        nw.design(query, privacy=hamming, utility=TOTAL).best,
    ):
        again = nw.mechanisms.metric_private(made, privacy)
        assert type(again.mechanism) is type(made.mechanism)
        assert again.certificate.requirement == privacy
    staircase = Additive(
        nw.Scalar(1),
        nw.laws.staircase(epsilon=Fraction(1), sensitivity=Fraction(1), split=Fraction(1, 2)),
        Lattice.cells(Fraction(1, 100)),
    )
    with pytest.raises(InvalidMechanismError, match="Piecewise"):
        nw.mechanisms.metric_private(staircase, privacy, query)
    with pytest.raises(InvalidMechanismError, match="query"):
        nw.mechanisms.metric_private(laplace, privacy)
    with pytest.raises(InvalidPrivacyError):
        nw.mechanisms.metric_private(laplace, nw.PureDP(1), query)  # type: ignore[arg-type]


def test_the_report_prints_serialises_and_plots(tmp_path):
    report: Any = nw.design(
        nw.Linear(_matrix(9, 2, 6)), privacy=nw.MetricPrivacy(nw.metrics.Euclidean(_points(9, 6))), utility=TOTAL
    )
    text = str(report)
    assert "duality gap" in text
    assert "query 1" in text
    assert "elliptical" in report._repr_html_()
    plain = report.to_dict()
    assert plain["notes"] == list(report.notes)
    assert {c.name for c in report.candidates if "of the best of its kind" in c.remark} == {
        "metric Laplace",
        "elliptical",
    }
    for candidate in plain["candidates"]:
        assert nw.Certified.from_dict(candidate["certified"]).certificate.bound == 1
    report.plot(tmp_path / "r.png")
    assert (tmp_path / "r.png").stat().st_size > 1000
    assert "root mean square" in report.best.describe()

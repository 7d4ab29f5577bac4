"""Metrics are exact, are read back as they were, and refuse what is none."""

from __future__ import annotations

import math
from datetime import date
from fractions import Fraction
from typing import Any

import pytest

from noisewright.numerics.distances import check_metric, float_view, group_budget, lower_squared, upper_distance
from noisewright.numerics.finite_components import infinitely_apart
from noisewright.problem.attributes import PerAttribute, PerValue
from noisewright.problem.errors import InvalidInputError, InvalidNumberError, InvalidPrivacyError
from noisewright.problem.geometry import Dates, Euclidean, Graph, GreatCircle, SmoothThreshold, Threshold, TimeSeries
from noisewright.problem.metrics import Hamming, Matrix, Scaled, Sum, WithAbsent
from noisewright.problem.privacy import REQUIREMENTS, MetricPrivacy

W = "infinite"
ROWS = [("a", 1), ("b", 1), ("b", 2), ("c", 3)]
POINTS: list[tuple[Any, Any]] = [(0, 0), ("0.1", "0.2"), (3, 4), (-50.25, 1e-7)]
EVERY: dict[str, Any] = {
    "matrix": Matrix([[0, 1, "1.5"], [1, 0, 2], ["1.5", 2, 0]]),
    "hamming": Hamming(4, "0.1"),
    "per attribute": PerAttribute(ROWS, [1, "0.5"]),
    "per value": PerValue(ROWS, [{"a": 10, "b": 1, "c": 10}, {1: 1, 2: 2, 3: 3}]),
    "both values": PerValue(ROWS, [{"a": 10, "b": 1, "c": 10}, {1: 1, 2: 2, 3: 3}], both=True),
    "euclidean": Euclidean(POINTS, "0.3"),
    "axes": Euclidean(POINTS, [1, 2]),
    "dates": Dates([date(2020, 1, 1), date(2020, 1, 8), date(2021, 1, 1)], days=7),
    "series": TimeSeries([[1, 2, 3], [1, 5, 2], [0, 0, 0]], "0.1"),
    "globe": GreatCircle([(40.7, -74), (34.05, -118.25), (-40.7, 106), (40.7001, -74)], "0.01"),
    "smooth": SmoothThreshold(POINTS, within=1, epsilon="0.5"),
    "hard": Threshold([(0, 0), (1, 0), (2, 0), (9, 9)], within=1, epsilon="0.5"),
    "infinite": Matrix([[0, 1, W], [1, 0, W], [W, W, 0]]),
    "infinite values": PerValue(ROWS, [{"a": 1, "b": W, "c": W}, W]),
    "infinite sum": Sum([Hamming(3, 1), Scaled(Matrix([[0, W, 2], [W, 0, W], [2, W, 0]]), 3)]),
    "absent joins": WithAbsent(Matrix([[0, 1, W], [1, 0, W], [W, W, 0]]), 5),
    "graph": Graph([("a", "b", 1), ("b", "c", "0.5"), ("a", "c", 4)]),
    "sum": Sum([Hamming(4, 1), Euclidean(POINTS)]),
    "scaled": Scaled(Euclidean(POINTS), "0.25"),
    "absent": WithAbsent(Euclidean(POINTS), 2),
}


def far(metric, i: int, j: int) -> float:
    """The distance as a float, infinite where it is."""
    return math.inf if infinitely_apart(metric, i, j) else float(lower_squared(metric, i, j)) ** 0.5


@pytest.mark.parametrize("metric", EVERY.values(), ids=EVERY)
def test_every_metric_is_one_and_survives_a_file(metric):
    size = metric.size
    table = [[far(metric, i, j) for j in range(size)] for i in range(size)]
    for i in range(size):
        assert table[i][i] == 0
        for j in range(size):
            assert table[i][j] == pytest.approx(table[j][i], rel=1e-12)
            for k in range(size):
                assert table[i][k] <= table[i][j] + table[j][k] + 1e-9
    requirement = MetricPrivacy(metric)
    again: Any = REQUIREMENTS.from_dict(requirement.to_dict())
    assert again.to_dict() == requirement.to_dict()
    assert all(far(again.metric, i, j) == far(metric, i, j) for i in range(size) for j in range(i))


@pytest.mark.parametrize("metric", EVERY.values(), ids=EVERY)
def test_float_rows_stay_within_their_margin_and_exact_bounds_enclose(metric):
    view = float_view(metric)
    for start in range(metric.size):
        rows = view.rows(start, metric.size)
        assert rows.shape == (metric.size - start, metric.size - start)
        for i in range(start, metric.size):
            for j in range(i + 1, metric.size):
                if infinitely_apart(metric, i, j):
                    assert rows[i - start, j - start] == math.inf
                    continue
                low, high = lower_squared(metric, i, j), upper_distance(metric, i, j)
                assert 0 < low <= high**2
                assert low >= high**2 * (1 - Fraction(1, 2**100))
                assert float(high) == pytest.approx(rows[i - start, j - start], rel=view.margin)


def test_known_distances():
    assert lower_squared(EVERY["euclidean"], 0, 2) == (Fraction(5) * Fraction(3, 10)) ** 2
    assert lower_squared(EVERY["per attribute"], 0, 2) == Fraction(9, 4)
    assert lower_squared(EVERY["per value"], 0, 3) == (2 + 1) ** 2  # ten is farther than the detour through b
    assert EVERY["per value"].note
    assert lower_squared(EVERY["both values"], 0, 3) == (20 + 4) ** 2
    assert lower_squared(EVERY["dates"], 0, 1) == 1
    assert lower_squared(EVERY["graph"], 0, 2) == Fraction(9, 4)
    assert lower_squared(EVERY["hard"], 0, 2) == 1
    assert infinitely_apart(EVERY["hard"], 0, 3)
    assert "1 pairs beyond" in EVERY["hard"].note
    assert float(upper_distance(EVERY["globe"], 0, 1)) == pytest.approx(39.45, rel=0.01)  # 0.01 for each of 3,945 km
    assert lower_squared(EVERY["absent"], 0, 4) == 4
    assert lower_squared(EVERY["absent"], 0, 3) == 16


def test_budgets_add_and_groups_pay_for_each_change():
    one, two = MetricPrivacy(Hamming(3, 1)), MetricPrivacy(Matrix([[0, 1, 2], [1, 0, 1], [2, 1, 0]]))
    assert lower_squared(one.compose(two).metric, 0, 2) == 9
    assert lower_squared(two.share("0.5").metric, 0, 2) == 1
    assert group_budget(two.metric, [(0, 2), (1, 2)]) == 3


def _bad(**changes):
    rows = [[0, 1, 1], [1, 0, 1], [1, 1, 0]]
    for place, value in changes.items():
        i, j = int(place[1]), int(place[2])
        rows[i][j] = value
    return rows


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: Matrix(_bad(d01=2)), InvalidPrivacyError, "symmetric"),
        (lambda: Matrix(_bad(d01=-1, d10=-1)), InvalidPrivacyError, "from 0 to 1 is -1"),
        (lambda: Matrix(_bad(d01=float("nan"), d10=1)), InvalidNumberError, "finite"),
        (lambda: Matrix(_bad(d11=1)), InvalidPrivacyError, "itself"),
        (lambda: Matrix(_bad(d02=3, d20=3)), InvalidPrivacyError, "points 0, 1, 2"),
        (lambda: Matrix([[0, 1], [1]]), InvalidPrivacyError, "square"),
        (lambda: Matrix([[0, "1e40"], ["1e40", 0]]), InvalidPrivacyError, "from 0 to 1"),
        (lambda: Matrix([[0, "1e-90"], ["1e-90", 0]]), InvalidPrivacyError, "from 0 to 1"),
        (lambda: Matrix([]), InvalidPrivacyError, "at least one"),
        (lambda: Matrix("no"), InvalidPrivacyError, "list"),
        (lambda: Hamming(0, 1), InvalidPrivacyError, "size is 0; it must be at least 1"),
        (lambda: Hamming(3, 0), InvalidPrivacyError, "positive"),
        (lambda: Euclidean([]), InvalidPrivacyError, "at least one"),
        (lambda: Euclidean([(0, 0), (1,)]), InvalidPrivacyError, "same number"),
        (lambda: Euclidean([(0, float("inf"))]), InvalidNumberError, "finite"),
        (lambda: Euclidean([(1e-60, 1), (1e20, 3)]), InvalidPrivacyError, "round"),
        (lambda: GreatCircle([(91, 0)]), InvalidPrivacyError, "latitude"),
        (lambda: Dates(["2020-01-01"], 7), InvalidPrivacyError, "date"),  # type: ignore[list-item]
        (lambda: Graph([("a", "b", 1), ("c", "d", 1)]), InvalidPrivacyError, "no path"),
        (lambda: Graph([("a", "b", 0)]), InvalidPrivacyError, "positive"),
        (lambda: PerAttribute([("a",), ("b", "c")], [1]), InvalidPrivacyError, "values for"),
        (lambda: PerValue([("a",), ("b",)], [{"a": 1}]), InvalidPrivacyError, "no budget"),
        (lambda: Sum([Hamming(2, 1), Hamming(3, 1)]), InvalidPrivacyError, "same universe"),
        (lambda: MetricPrivacy("euclidean"), InvalidPrivacyError, "Euclidean"),  # type: ignore[arg-type]
    ],
)
def test_what_is_no_metric_is_refused_in_words(make, error, words):
    with pytest.raises(error, match=words) as caught:
        make()
    assert isinstance(caught.value, InvalidInputError)


def test_a_violated_triangle_of_a_large_matrix_is_named_before_a_design():
    size = 300
    rows = [[abs(i - j) for j in range(size)] for i in range(size)]
    check_metric(Matrix(rows))
    rows[10][200] = rows[200][10] = 500
    with pytest.raises(InvalidPrivacyError) as caught:
        check_metric(Matrix(rows))
    assert {10, 200} <= set(caught.value.points)


def test_float_distances_may_be_off_by_their_rounding():
    points = [(0.1 * i, 0.3 * i) for i in range(30)]
    metric = Matrix.from_function(points, lambda p, q: ((p[0] - q[0]) ** 2 + (p[1] - q[1]) ** 2) ** 0.5)
    assert metric.size == 30


def test_computed_coordinates_are_read_beside_typed_ones():
    points = Euclidean([(0.1, 1 / 3), (0.1 + 0.2, 0.01 / 7), (1e3 / 7, 0.5)])
    assert points.rationals()[0] == [Fraction(1, 10), Fraction("0.3333333333333333")]
    assert Euclidean.from_dict(points.to_dict()) == points

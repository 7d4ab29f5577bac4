"""Distances from below, from above and in floats, against the formula of each metric written out here."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest

from noisewright.numerics.distances import (
    check_metric,
    float_view,
    group_budget,
    lower_squared,
    root_below,
    upper_distance,
)
from noisewright.problem.attributes import Attributes
from noisewright.problem.errors import InvalidPrivacyError
from noisewright.problem.geometry import Euclidean, GreatCircle, SmoothThreshold, TimeSeries
from noisewright.problem.metrics import Hamming, Matrix, Scaled, Sum, WithAbsent

F = Fraction
FAR = 2**70
POINTS: list[tuple[Any, ...]] = [(0, 0), (3, 1), ("0.1", "-7/3"), (-50, "0.0001")]
SERIES: list[tuple[Any, ...]] = [(0, 0, 0), (1, -5, 2), (4, 1, 1), (-9, 0, 9)]
WIDE: list[tuple[Any, ...]] = [(FAR, 1), (FAR + 1, 1), (FAR + 3, -1), (-5, 2**40)]
GLOBE: list[tuple[Any, ...]] = [(10, 20), (-45, 170), (45, -170), ("10.001", 20)]
TABLES: list[Any] = [[[0, 1, "5/2"], [1, 0, 2], ["5/2", 2, 0]], [[0, "1/3"], ["1/3", 0]]]
CODES = [(0, 0), (1, 1), (2, 0), (2, 1)]
ENTRIES: list[list[Any]] = [[0, 1, 3, "7/2"], [1, 0, 2, "5/2"], [3, 2, 0, "1/2"], ["7/2", "5/2", "1/2", 0]]


def exact(value: Any) -> Any:
    number = F(value)
    return mpmath.mpf(number.numerator) / number.denominator


def apart(points: list[tuple[Any, ...]], i: int, j: int) -> list[Any]:
    return [abs(exact(F(a) - F(b))) for a, b in zip(points[i], points[j], strict=True)]


def straight(points: list[tuple[Any, ...]], i: int, j: int) -> Any:
    return mpmath.sqrt(sum(d * d for d in apart(points, i, j)))


def along_the_globe(i: int, j: int) -> Any:
    """The angle between two unit vectors, by their cross and dot products."""

    def vector(k: int) -> list[Any]:
        lat, lon = (exact(v) * mpmath.pi / 180 for v in GLOBE[k])
        return [mpmath.cos(lat) * mpmath.cos(lon), mpmath.cos(lat) * mpmath.sin(lon), mpmath.sin(lat)]

    u, v = vector(i), vector(j)
    cross = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]]
    sine, cosine = mpmath.sqrt(sum(c * c for c in cross)), sum(a * b for a, b in zip(u, v, strict=True))
    return exact("6371.0088") * mpmath.atan2(sine, cosine)


METRICS: dict[str, tuple[Any, Callable[[int, int], Any]]] = {
    "matrix": (Matrix(ENTRIES), lambda i, j: exact(ENTRIES[i][j])),
    "hamming": (Hamming(4, "1/3"), lambda i, j: exact("1/3")),
    "attributes": (
        Attributes(CODES, TABLES),
        lambda i, j: sum(exact(t[a][b]) for t, a, b in zip(TABLES, CODES[i], CODES[j], strict=True)),
    ),
    "euclidean": (Euclidean(POINTS, "3/7"), lambda i, j: exact("3/7") * straight(POINTS, i, j)),
    "wide coordinates": (Euclidean(WIDE), lambda i, j: straight(WIDE, i, j)),
    "series": (TimeSeries(SERIES, "1/7"), lambda i, j: max(apart(SERIES, i, j)) / 7),
    "globe": (GreatCircle(GLOBE, "1/100"), lambda i, j: along_the_globe(i, j) / 100),
    "smooth": (
        SmoothThreshold(POINTS, within=4, epsilon="1/2"),
        lambda i, j: max(mpmath.mpf(1), straight(POINTS, i, j) / 4) / 2,
    ),
    "scaled": (Scaled(Euclidean(POINTS), "2/9"), lambda i, j: exact("2/9") * straight(POINTS, i, j)),
    "sum": (
        Sum([Euclidean(POINTS), TimeSeries(SERIES), Hamming(4, 2)]),
        lambda i, j: straight(POINTS, i, j) + max(apart(SERIES, i, j)) + 2,
    ),
    "absent": (
        WithAbsent(Euclidean(POINTS), 2),
        lambda i, j: mpmath.mpf(2) if 4 in (i, j) else min(mpmath.mpf(4), straight(POINTS, i, j)),
    ),
}


@pytest.mark.parametrize("name", METRICS)
def test_distances_are_enclosed_from_below_and_above(name):
    metric, distance = METRICS[name]
    with mpmath.workdps(130):
        for i in range(metric.size):
            for j in range(i + 1, metric.size):
                truth = distance(i, j)
                for a, b in ((i, j), (j, i)):
                    low, high = exact(lower_squared(metric, a, b)), exact(upper_distance(metric, a, b))
                    assert low <= truth**2 * (1 + mpmath.mpf(10) ** -95)
                    assert low >= truth**2 * (1 - mpmath.mpf(10) ** -40)
                    assert truth * (1 - mpmath.mpf(10) ** -95) <= high <= truth * (1 + mpmath.mpf(10) ** -40)


@pytest.mark.parametrize("name", METRICS)
def test_float_rows_are_within_their_margin_of_the_formula(name):
    metric, distance = METRICS[name]
    view = float_view(metric)
    for start in range(metric.size):
        for stop in range(start + 1, metric.size + 1):
            rows = view.rows(start, stop)
            assert rows.shape == (stop - start, metric.size - start)
            for i in range(start, stop):
                for j in range(i + 1, metric.size):
                    truth = float(distance(i, j))
                    assert abs(rows[i - start, j - start] - truth) <= view.margin * truth + view.slack + 1e-15 * truth


@pytest.mark.parametrize("square", ["0", "4/9", "2", "1/3", "7e-80", "9e81", "10000000000000000000000000000000000001"])
def test_a_root_from_below_is_below_and_near_or_the_root_itself(square):
    value = F(square)
    root = root_below(value)
    assert root**2 <= value
    assert root**2 >= value * (1 - F(1, 2**140))
    if square in ("0", "4/9", "9e81"):
        assert root**2 == value or square == "9e81"


def test_a_group_pays_for_each_of_its_changes_from_above():
    metric = Euclidean([(0, 0), (1, 1), (1, 0)])
    spent = group_budget(metric, [(0, 1), (0, 1), (1, 2)])
    with mpmath.workdps(70):
        truth = 2 * mpmath.sqrt(2) + 1
        assert truth <= exact(spent) <= truth * (1 + mpmath.mpf(10) ** -40)


def test_distances_beyond_the_range_of_floats_are_unknown_and_not_infinite():
    metric: Any = Euclidean([(0,), (1,)])
    for _ in range(11):
        metric = Scaled(metric, 10**30)
    assert np.isnan(float_view(metric).rows(0, 2)[0, 1])
    assert np.isnan(float_view(Sum([metric, Hamming(2, 1)])).rows(0, 2)[0, 1])
    assert np.isnan(float_view(WithAbsent(metric, 1)).rows(0, 2)[0, 1])


@pytest.mark.parametrize("pair", [(0, 3), (1, 2), (2, 3)])
def test_a_detour_that_is_shorter_than_the_way_is_found_wherever_it_is(pair):
    size = 130
    rows = [[abs(i - j) for j in range(size)] for i in range(size)]
    i, j = (40 * k for k in pair)
    rows[i][j] = rows[j][i] = abs(i - j) + 5
    with pytest.raises(InvalidPrivacyError) as caught:
        check_metric(Matrix(rows))
    assert {i, j} <= set(caught.value.points)

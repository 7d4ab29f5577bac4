"""Distances of small universes, worked out by hand: no two pairs are alike, and every direction is asked."""

from __future__ import annotations

from datetime import date
from fractions import Fraction
from itertools import permutations
from typing import Any

import pytest

from noisewright.numerics.distances import lower_squared
from noisewright.problem.attributes import PerAttribute, PerValue, encode
from noisewright.problem.errors import InvalidPrivacyError
from noisewright.problem.geometry import Dates, Euclidean, Graph, SmoothThreshold, Threshold, TimeSeries
from noisewright.problem.metrics import (
    Hamming,
    Matrix,
    check_entries,
    check_triangles,
    common_unit,
)
from noisewright.problem.privacy import MetricPrivacy


def squares(metric) -> dict[tuple[int, int], Fraction]:
    """The exact squares of all distances, both ways round."""
    pairs = [(i, j) for i in range(metric.size) for j in range(metric.size)]
    found = {(i, j): metric.squared(i, j) for i, j in pairs}
    assert all(found[i, j] == found[j, i] for i, j in pairs)
    assert all(found[i, i] == 0 for i in range(metric.size))
    assert all(lower_squared(metric, i, j) == found[i, j] for i, j in pairs if i < j)
    return found


def test_dates_may_come_from_whatever_can_be_gone_through():
    given = [date(2024, 2, 20), date(2024, 3, 13), date(2024, 2, 29)]
    for form in (list, tuple, iter):
        assert Dates(form(given), days=7) == Dates(given, days=7)


def test_straight_lines_are_scaled_number_by_number():
    """Points (0, 0), (1/2, 2) and (-3, 1/3)."""
    points: list[tuple[Any, Any]] = [(0, 0), ("1/2", 2), (-3, "1/3")]
    plain = squares(Euclidean(points))
    assert plain[0, 1] == Fraction(1, 4) + 4
    assert plain[0, 2] == 9 + Fraction(1, 9)
    assert plain[1, 2] == Fraction(49, 4) + Fraction(25, 9)
    assert squares(Euclidean(points, "2/3"))[1, 2] == plain[1, 2] * Fraction(4, 9)
    assert squares(Euclidean(points, [2, "1/2"]))[1, 2] == 49 + Fraction(25, 36)
    assert Euclidean(points).rationals() == [[0, 0], [Fraction(1, 2), 2], [-3, Fraction(1, 3)]]


def test_time_series_differ_by_their_largest_difference_wherever_it_is():
    for order in permutations(range(3)):
        series: list[list[Any]] = [
            [(0, 0, 0)[k] for k in order],
            [("1/2", -4, 1)[k] for k in order],
            [(1, 1, -3)[k] for k in order],
        ]
        found = squares(TimeSeries(series, "1/2"))
        assert found[0, 1] == 4
        assert found[0, 2] == Fraction(9, 4)
        assert found[1, 2] == Fraction(25, 4)


def test_days_cost_epsilon_for_each_so_many():
    """Three weeks and a day apart; seven days cost a half."""
    found = squares(Dates([date(2024, 2, 20), date(2024, 3, 13), date(2024, 2, 29)], days=7, epsilon="1/2"))
    assert found[0, 1] == (Fraction(22, 7) / 2) ** 2
    assert found[0, 2] == (Fraction(9, 7) / 2) ** 2


def test_a_smooth_threshold_protects_everybody_near_and_grows_in_proportion():
    found = squares(SmoothThreshold([(0, 0), (1, 0), (0, 6)], within=2, epsilon="1/3"))
    assert found[0, 1] == Fraction(1, 9)
    assert found[0, 2] == 1
    assert found[1, 2] == Fraction(37, 4) / 9


def test_a_threshold_counts_the_steps_of_the_shortest_way():
    """A chain of four, the last reached by two ways, and one that nobody reaches."""
    points = [(0, 0), (1, 0), (2, 0), (1, 1), (3, 0), (50, 0)]
    metric = Threshold(points, within=1, epsilon="1/2")
    assert metric.unit == Fraction(1, 2)
    assert metric.entries == (
        (0, 1, 2, 2, 3, 0),
        (1, 0, 1, 1, 2, 0),
        (2, 1, 0, 2, 1, 0),
        (2, 1, 2, 0, 3, 0),
        (3, 2, 1, 3, 0, 0),
        (0, 0, 0, 0, 0, 0),
    )
    assert metric.finite_components == (0, 0, 0, 0, 0, 1)
    assert "6 pairs beyond" in metric.note
    assert "5 unjoined pairs may be told apart freely" in metric.note


def test_steps_are_counted_by_the_shortest_of_several_ways():
    """A ring of seven: the far side is three steps away, whichever way round is tried first."""
    points: list[tuple[Any, Any]] = [(0, 0), (3, 0), (5, 2), (5, 5), (3, 7), (0, 7), (-2, "3.5")]
    metric = Threshold(points, within="4.1", epsilon=1)
    for i in range(7):
        assert [metric.entries[i][(i + k) % 7] for k in range(7)] == [0, 1, 2, 3, 3, 2, 1]


def test_a_way_of_many_steps_is_finite_and_no_way_is_not():
    points = [(i, 0) for i in range(120)] + [(1000, 0)]
    metric = Threshold(points, within=1, epsilon=1)
    assert metric.entries[0][119] == 119
    assert metric.finite_components == (0,) * 120 + (1,)


def test_edges_of_a_graph_are_gone_both_ways_and_the_shortest_path_counts():
    graph = Graph([("a", "b", "1/2"), ("c", "b", 1), ("a", "c", 4), ("d", "c", "1/3"), ("b", "d", 5)])
    names = "abcd"
    wanted = {"ab": "1/2", "bc": "1", "ac": "3/2", "cd": "1/3", "bd": "4/3", "ad": "11/6"}
    order = ["a", "b", "c", "d"]
    assert [graph.unit * v for v in graph.entries[0]] == [0, Fraction(1, 2), Fraction(3, 2), Fraction(11, 6)]
    for pair, distance in wanted.items():
        i, j = (order.index(name) for name in pair)
        assert graph.unit * graph.entries[i][j] == graph.unit * graph.entries[j][i] == Fraction(distance)
    assert len(names) == graph.size


def test_the_nodes_of_a_graph_keep_the_order_they_are_given_in():
    graph = Graph([("a", "b", 1), ("b", "c", 2)], nodes=["c", "a", "b"])
    assert graph.entries == ((0, 3, 2), (3, 0, 1), (2, 1, 0))
    with pytest.raises(InvalidPrivacyError, match="no path"):
        Graph([("a", "b", 1)], nodes=["a", "b", "z"])


ROWS = [("a", 1), ("b", 1), ("b", 2), ("c", 3)]


def distance(metric, i: int, j: int) -> Fraction:
    """The sum over attributes of what the tables say."""
    codes = metric.codes
    return sum((t[a][b] for t, a, b in zip(metric.tables, codes[i], codes[j], strict=True)), Fraction(0))


def test_each_attribute_that_differs_costs_its_own_budget():
    metric = PerAttribute(ROWS, [3, "1/2"])
    wanted: dict[tuple[int, int], Any] = {
        (0, 1): 3,
        (0, 2): "7/2",
        (0, 3): "7/2",
        (1, 2): "1/2",
        (1, 3): "7/2",
        (2, 3): "7/2",
    }
    for (i, j), value in wanted.items():
        assert distance(metric, i, j) == distance(metric, j, i) == Fraction(value)
        assert lower_squared(metric, i, j) == Fraction(value) ** 2


def test_the_smaller_budget_of_two_values_counts_or_the_detour_or_both():
    """Values a 10, b 1, c 7 and 1, 2, 3: a and c meet by way of b for 2."""
    budgets: list[dict[Any, Any]] = [{"a": 10, "b": 1, "c": 7}, {1: 2, 2: 3, 3: "9/2"}]
    smaller = PerValue(ROWS, budgets)
    wanted = {(0, 1): 1, (0, 2): 3, (0, 3): 4, (1, 2): 2, (1, 3): 3, (2, 3): 4}
    for (i, j), value in wanted.items():
        assert distance(smaller, i, j) == distance(smaller, j, i) == value
    assert smaller.note.startswith("1 pairs")
    both = PerValue(ROWS, budgets, both=True)
    assert distance(both, 0, 3) == 17 + Fraction(13, 2)
    assert distance(both, 1, 2) == 5
    assert both.note == ""


def test_values_are_numbered_in_order_of_appearance():
    codes, values = encode(ROWS, 2)
    assert codes == [(0, 0), (1, 0), (1, 1), (2, 2)]
    assert values == [["a", "b", "c"], [1, 2, 3]]


def test_rationals_share_one_unit_exactly():
    rows = [[Fraction(1, 6), Fraction(-3, 4)], [Fraction(2), Fraction(0)]]
    unit, whole = common_unit(rows)
    assert [[unit * v for v in row] for row in whole] == rows
    assert unit == Fraction(1, 12)


@pytest.mark.parametrize("pair", [(0, 1), (0, 3), (2, 3), (1, 2)])
@pytest.mark.parametrize("upper", [True, False])
def test_a_distance_that_differs_on_the_way_back_is_seen_wherever_it_is(pair: tuple[int, int], upper: bool):
    rows = [[int(i != j) for j in range(4)] for i in range(4)]
    i, j = pair if upper else pair[::-1]
    rows[i][j] = 2
    with pytest.raises(InvalidPrivacyError, match="symmetric"):
        check_entries(tuple(map(tuple, rows)))


@pytest.mark.parametrize("place", range(4))
def test_a_distance_to_itself_is_seen_wherever_it_is(place: int):
    rows = [[int(i != j or i == place) for j in range(4)] for i in range(4)]
    with pytest.raises(InvalidPrivacyError, match="itself"):
        check_entries(tuple(map(tuple, rows)))


@pytest.mark.parametrize("order", [*permutations(range(3)), *permutations(range(4))])
def test_a_violated_triangle_is_seen_wherever_it_is(order: tuple[int, ...]):
    """Points on a line, the ends one unit too far apart; in every order, so that the one between is the last, too."""
    count = len(order)
    line = [[abs(i - j) for j in range(count)] for i in range(count)]
    check_triangles(tuple(tuple(line[a][b] for b in order) for a in order), Fraction(1))
    line[0][-1] = line[-1][0] = count
    with pytest.raises(InvalidPrivacyError, match="triangle") as caught:
        check_triangles(tuple(tuple(line[a][b] for b in order) for a in order), Fraction(1))
    assert {order.index(0), order.index(count - 1)} <= set(caught.value.points)


def test_releases_add_their_budgets_and_a_share_is_a_part_of_them():
    line = MetricPrivacy(Matrix([[0, 1, 3], [1, 0, 2], [3, 2, 0]]))
    same = MetricPrivacy(Hamming(3, "1/2"))
    points = MetricPrivacy(Euclidean([(0,), (4,), (5,)]))
    both = line.compose(same, points).metric
    for (i, j), value in {(0, 1): "11/2", (0, 2): "17/2", (1, 2): "7/2"}.items():
        assert float(lower_squared(both, i, j)) ** 0.5 == pytest.approx(float(Fraction(value)))
    assert lower_squared(line.share("2/3").metric, 0, 2) == 4
    assert line.compose() is line

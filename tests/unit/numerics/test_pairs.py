"""Every pair of a universe is cleared by floats or decided exactly: the cases in which floats must not decide."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from noisewright.numerics import pairs
from noisewright.numerics.distances import float_view
from noisewright.numerics.pairs import Cost, blocks, largest_ratio, violation
from noisewright.problem.errors import UncertifiedError
from noisewright.problem.geometry import Euclidean, GreatCircle
from noisewright.problem.metrics import Hamming, Matrix, Scaled

F = Fraction
HAIR = F(1, 10**25)
ROWS = [[0, 3, 3, 1], [0, -4, 8, 0]]


@pytest.mark.parametrize("share", [1 - HAIR, F(1), 1 + HAIR], ids=["a hair less", "equal", "a hair more"])
@pytest.mark.parametrize("size", [2, 5])
@pytest.mark.parametrize("make", [lambda n: Matrix([[abs(i - j) for j in range(n)] for i in range(n)]), lambda n: None])
def test_a_hair_decides_where_floats_see_no_difference(share, size, make):
    metric = make(size) or Euclidean([(k,) for k in range(size)])
    cost = Cost.l1([list(range(size))], (share,))
    found = violation(metric, cost)
    assert (found is None) == (share <= 1)
    again = violation(metric, Cost.l2([list(range(size))], share))
    assert (again is None) == (share <= 1)


def test_costs_are_those_of_their_formulas():
    l1, l2 = Cost.l1(ROWS, (F(1, 2), F(3))), Cost.l2(ROWS, F(1, 3))
    apart = [[(abs(a - b), abs(c - d)) for b, d in zip(*ROWS, strict=True)] for a, c in zip(*ROWS, strict=True)]
    for i in range(4):
        for j in range(4):
            x, y = apart[i][j]
            assert l1.squared(i, j) == (F(x, 2) + 3 * y) ** 2
            assert l2.squared(i, j) == F(x * x + y * y, 9)
    for start, stop in ((0, 4), (1, 3), (3, 4)):
        expected = [[x / 2 + 3 * y for x, y in row[start:]] for row in apart[start:stop]]
        assert l1.rows(start, stop) == pytest.approx(np.array(expected), rel=1e-14)
        lengths = [[(x * x + y * y) ** 0.5 / 3 for x, y in row[start:]] for row in apart[start:stop]]
        assert l2.rows(start, stop) == pytest.approx(np.array(lengths), rel=1e-14)
    each = Cost.largest(ROWS, F(2))
    assert [cost.squared(1, 2) for cost in each] == [0, 24**2]


@pytest.mark.parametrize("entries", [1, 7, 50, 10**6])
def test_blocks_are_the_whole_triangle_and_nothing_twice(entries, monkeypatch):
    monkeypatch.setattr(pairs, "_BLOCK_ENTRIES", entries)
    size = 23
    metric = Euclidean([(k * k,) for k in range(size)])
    seen = []
    for start, costs, distances in blocks(float_view(metric), Cost.l1([list(range(size))], (F(1),))):
        assert costs.shape == distances.shape
        for row in range(costs.shape[0]):
            for column in range(row + 1, costs.shape[1]):
                i, j = start + row, start + column
                seen.append((i, j))
                assert costs[row, column] == j - i
                assert distances[row, column] == j * j - i * i
    assert sorted(seen) == [(i, j) for i in range(size) for j in range(i + 1, size)]


@pytest.mark.parametrize("pair", [(0, 1), (3, 9), (8, 9), (0, 9), (5, 6)])
def test_a_pair_that_costs_too_much_is_named_whichever_block_it_stands_in(pair, monkeypatch):
    monkeypatch.setattr(pairs, "_BLOCK_ENTRIES", 12)
    rows = [[10 if i != j else 0 for j in range(10)] for i in range(10)]
    rows[pair[0]][pair[1]] = rows[pair[1]][pair[0]] = 6
    columns = [0] * 10
    columns[pair[0]], columns[pair[1]] = -4, 4
    assert violation(Matrix(rows), Cost.l1([columns], (F(1),))) == pair
    ratio, worst = largest_ratio(Matrix(rows), Cost.l1([columns], (F(1),)))
    assert (ratio, worst) == (F(8, 6), pair)


def test_places_that_only_rounding_holds_apart_are_decided_exactly():
    """Both stand on the antimeridian; floats put them a few atoms apart."""
    metric = GreatCircle([[0, 180], [0, -180], [0, 0]])
    assert violation(metric, Cost.l1([[0, 1, 0]], (F(1, 10**13),))) == (0, 1)
    assert violation(metric, Cost.l1([[0, 0, 1]], (F(1),))) is None


def test_the_largest_ratio_is_rounded_up_where_it_is_no_rational():
    metric = Hamming(2, 1)
    ratio, _ = largest_ratio(metric, Cost.l2([[0, 1], [0, 1]], F(1)))
    assert 2 <= ratio**2 <= 2 * (1 + F(1, 2**90))
    assert violation(metric, Cost.l2([[0, 1], [0, 1]], 1 / ratio)) is None


def test_unknown_distances_clear_nothing():
    """11 factors of 10^30 and back: floats know nothing, rationals that the distance is 1."""
    metric: Any = Euclidean([(0,), (1,)])
    for factor in (10**30, F(1, 10**30)):
        for _ in range(11):
            metric = Scaled(metric, factor)
    assert violation(metric, Cost.l1([[0, 1]], (F(1),))) is None
    assert violation(metric, Cost.l1([[0, 1]], (F(3, 2),))) == (0, 1)


@pytest.mark.parametrize("place", range(5))
def test_equal_columns_stand_for_one_another_only_where_all_budgets_are_equal(place):
    columns = [[0, 0, 0, 0, 0]]
    columns[0][place] = 3
    found = violation(Hamming(5, 2), Cost.l1(columns, (F(1),)))
    assert found is not None
    assert place in found
    assert violation(Hamming(5, 3), Cost.l1(columns, (F(1),))) is None
    # The same columns with one close pair: a representative would hide it.
    places = [0, 10, 20, 30, 40]
    places[place] += 8
    metric = Euclidean([(x,) for x in places])
    crowded = Cost.l1([[0, 3, 0, 3, 0]], (F(1),))
    close = [(i, i + 1) for i in range(4) if places[i + 1] - places[i] < 3]
    assert violation(metric, crowded) == (close[0] if close else None)


def test_columns_and_rates_that_floats_cannot_hold_are_refused():
    for columns in ([[0, 2**52]], [[0, -(2**52)]]):
        with pytest.raises(UncertifiedError, match="2\\^52"):
            Cost.l1(columns, (F(1),))
    assert Cost.l1([[0, 2**52 - 1]], (F(1),)).squared(0, 1) == (2**52 - 1) ** 2
    for rate in (F(1, 10**201), F(10**201)):
        for rates in ((F(1), rate), (rate, F(1))):
            with pytest.raises(UncertifiedError, match="floats"):
                Cost.l1([[0, 1], [0, 1]], rates)


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (3, 1, 0, 2), (2, 3, 1, 0)])
def test_the_largest_ratio_is_that_of_the_worst_pair_wherever_it_stands(order):
    places, columns = [0, 10, 11, 30], [0, 4, 7, 9]
    metric = Euclidean([(places[k],) for k in order])
    ratio, pair = largest_ratio(metric, Cost.l1([[columns[k] for k in order]], (F(1, 2),)))
    assert ratio == F(3, 2)
    assert {order[pair[0]], order[pair[1]]} == {1, 2}


@pytest.mark.parametrize("twice", [0, 1, 3])
def test_elements_that_stand_there_more_than_once_move_no_pair(twice: int):
    """Where all budgets are equal they are compared once; the worst pair is named by the places that it has."""
    columns = [4, 0, 7, 9]
    columns = [columns[twice]] * 2 + columns
    ratio, pair = largest_ratio(Hamming(6, 3), Cost.l1([columns], (F(1, 2),)))
    assert ratio == F(9, 6)
    assert {columns[pair[0]], columns[pair[1]]} == {0, 9}


def test_elements_at_distance_zero_that_differ_are_named():
    with pytest.raises(ZeroDivisionError) as caught:
        largest_ratio(Euclidean([(0,), (5,), (5,)]), Cost.l1([[0, 1, 2]], (F(1),)))
    assert caught.value.args == ((1, 2),)
    assert violation(Euclidean([(0,), (5,), (5,)]), Cost.l1([[0, 1, 2]], (F(1, 10),))) == (1, 2)

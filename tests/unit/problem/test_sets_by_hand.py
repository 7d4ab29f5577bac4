"""What one person can change, what is asked of a histogram and what counts: lopsided cases, worked out by hand."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations
from typing import Any

import pytest

import noisewright as nw
from noisewright.problem.errors import InvalidAnswerError, InvalidUtilityError
from noisewright.problem.linear import Linear, Universe, checked_histogram
from noisewright.problem.numbers import show
from noisewright.problem.queries import Vector
from noisewright.problem.sensitivity import Box, Disjoint, L1Ball, L2Ball, Points, Replace, Sparse
from noisewright.problem.utilities import (
    AbsoluteError,
    LargestError,
    SquaredError,
    Usefulness,
)

EACH: list[Any] = [2, "1/3", 0, 7]
EXACT = (Fraction(2), Fraction(1, 3), Fraction(0), Fraction(7))


@pytest.mark.parametrize(
    ("chosen", "together"),
    [(Box(EACH), 4), (Disjoint(EACH), 1), (Sparse(3, EACH), 3), (Sparse(1, EACH), 1), (Replace(EACH), 2)],
    ids=lambda value: str(value),
)
def test_counted_sets_say_how_far_and_how_many_numbers_move(chosen, together: int):
    assert chosen.extents == EXACT
    assert chosen.together == together
    assert Vector(chosen).extents == EXACT
    assert Vector(chosen).dimension == 4


def test_a_replaced_record_moves_both_the_number_it_leaves_and_the_one_it_joins():
    assert Replace([1, 1]).together == 2
    assert Replace([1] * 50).together == 2
    assert Replace([1]).together == 1


@pytest.mark.parametrize("rows", list(permutations([(1, 0, -2), (-5, 3, 0), (4, -3, 1)])))
def test_a_listed_difference_counts_with_its_negative_wherever_it_stands(rows):
    """The farthest of the first number is negative, that of the third too."""
    assert list(Points(rows).extents) == list(Vector(Points(rows)).extents) == [5, 3, 2]


@pytest.mark.parametrize("rows", list(permutations([("1/8", 0, -2), (-5, 0, "1/3"), (4, 0, 1)])))
def test_the_smallest_listed_difference_says_how_coarse_a_float_may_be(rows):
    """What nobody moves is not told apart at all."""
    assert list(Points(rows).smallest) == [Fraction(1, 8), 0, Fraction(1, 3)]


@pytest.mark.parametrize("ball", [L1Ball, L2Ball])
def test_a_ball_lets_each_number_move_by_its_whole_radius(ball):
    assert ball("5/2", 3).extents == (Fraction(5, 2),) * 3
    assert Vector(ball("5/2", 3)).dimension == 3


UNIVERSE = Universe.product(town=["x", "y"], age=[20, 30, 41])
TABLE: dict[str, list[Any]] = {"town": ["y", "x", "y", "y", "x"], "age": [41, 20, 41, 20, 41]}


def test_a_universe_has_every_combination_in_order():
    assert UNIVERSE.elements == (("x", 20), ("x", 30), ("x", 41), ("y", 20), ("y", 30), ("y", 41))
    assert UNIVERSE.column("age") == [20, 30, 41, 20, 30, 41]
    assert UNIVERSE.column("town") == ["x"] * 3 + ["y"] * 3


def test_a_histogram_counts_every_row_of_the_table():
    assert UNIVERSE.histogram(TABLE) == [1, 0, 1, 1, 0, 2]
    assert Universe.of_table(TABLE, ["age", "town"]).elements == ((41, "y"), (20, "x"), (20, "y"), (41, "x"))
    assert Universe.of_table(TABLE, ["age"]).histogram(TABLE) == [3, 2]


def test_a_row_outside_the_universe_is_refused_and_not_repeated():
    with pytest.raises(InvalidAnswerError, match="not in the universe") as caught:
        UNIVERSE.histogram({"town": ["x", "hidden-town"], "age": [20, 20]})
    assert "hidden" not in f"{caught.value.message} {caught.value.fields}"


def test_ranges_hold_both_of_their_ends():
    query = Linear.ranges(UNIVERSE, "age", [(20, 30), (30, 41), (21, 29), (41, 41)])
    assert query.answers([1, 2, 4, 8, 16, 32]) == [27, 54, 0, 36]


def test_marginals_count_each_combination_of_the_named_attributes():
    query = Linear.marginals(UNIVERSE, ["age"])
    assert query.names == ("age = 20", "age = 30", "age = 41")
    assert query.answers([1, 2, 4, 8, 16, 32]) == [9, 18, 36]
    both = Linear.marginals(UNIVERSE, ["town", "age"])
    assert both.answers([1, 2, 4, 8, 16, 32]) == [1, 2, 4, 8, 16, 32]


def test_answers_are_exact_sums_of_rationals():
    query = Linear([["1/3", "0.1", -2], [1, 0, "1/7"]])
    assert query.answers([3, 5, 7]) == [1 + Fraction(1, 2) - 14, 4]
    assert query.rationals() == [[Fraction(1, 3), Fraction(1, 10), Fraction(-2)], [Fraction(1), 0, Fraction(1, 7)]]
    assert (query.size, query.dimension) == (3, 2)


def test_averages_divide_by_the_public_number_of_people():
    query = Linear.statistical([["1/2", 3], [0, 1]], people=8)
    assert query.people == 8
    assert query.answers([4, 4]) == [Fraction(14, 8), Fraction(1, 2)]


def test_somebody_absent_adds_nothing_and_is_not_counted():
    absent = Linear([[1, 2], [3, 0]], names=["a", "b"]).with_absent(count=True)
    assert absent.names == ("a", "b", "number of people")
    assert absent.answers([5, 6, 100]) == [17, 15, 11]
    assert Linear([[1, 2]]).with_absent().answers([5, 6, 100]) == [17]


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize(
    "wrong", [31415.5, "31415/2", -31415, "31415 people", float("nan"), 31415 * 10**20, True, "3.1415e9999"]
)
def test_a_private_count_is_not_repeated_in_an_error(wrong, place: int):
    counts: list[Any] = [1, 2]
    counts.insert(place, wrong)
    with pytest.raises(InvalidAnswerError) as caught:
        checked_histogram(counts, 3)
    said = f"{caught.value.message} {caught.value.fields}"
    assert "31415" not in said
    assert "nan" not in said
    assert "True" not in said
    assert f"count {place}" in said
    assert caught.value.__cause__ is None


def test_the_last_count_is_looked_at_too():
    assert checked_histogram([0, 2**64 - 1, "7"], 3) == [0, 2**64 - 1, 7]
    for wrong in (2**64, -1, "1/2"):
        with pytest.raises(InvalidAnswerError):
            checked_histogram([0, 1, wrong], 3)


def test_the_margin_is_that_of_the_tighter_side():
    low = nw.Scalar(1, inputs=(0, 2), outputs=(-1, 5)).bounded
    high = nw.Scalar(1, inputs=(0, 2), outputs=(-4, "5/2")).bounded
    inside = nw.Scalar(1, inputs=(0, 2), outputs=("1/2", 3)).bounded
    assert [q.margin for q in (low, high, inside) if q is not None] == [1, Fraction(1, 2), Fraction(-1, 2)]
    assert [q.width for q in (low, high, inside) if q is not None] == [2, 2, 2]


def test_weights_are_shares_only_for_usefulness():
    weights: list[Any] = [1, "1/2", 6]
    exact = (Fraction(1), Fraction(1, 2), Fraction(6))
    assert SquaredError(weights).shares(3) == exact
    assert AbsoluteError(weights).shares(3) == exact
    assert list(SquaredError().shares(3)) == [1, 1, 1]
    assert list(LargestError().shares(2)) == [1, 1]
    assert Usefulness(1, weights).shares(3) == tuple(w / Fraction(15, 2) for w in exact)
    assert Usefulness(1).shares(4) == (Fraction(1, 4),) * 4


def test_one_limit_is_for_every_number_and_several_are_for_each_its_own():
    assert Usefulness("1/2").limits(3) == (Fraction(1, 2),) * 3
    assert list(Usefulness([1, 2, "1/3"]).limits(3)) == [1, 2, Fraction(1, 3)]


@pytest.mark.parametrize("count", [2, 4])
def test_as_many_weights_and_limits_as_numbers(count: int):
    for utility in (SquaredError([1, 2, 3]), AbsoluteError([1, 2, 3]), Usefulness([1, 2, 3])):
        utility.check_count(3)
        with pytest.raises(InvalidUtilityError):
            utility.check_count(count)
    Usefulness([1]).check_count(count)


def test_a_prior_is_sorted_merged_and_shared_out():
    prior = nw.AverageVariance([(2, 3), ("1/2", 1), (2, 2), (7, 0)]).prior
    assert prior == ((Fraction(1, 2), Fraction(1, 6)), (Fraction(2), Fraction(5, 6)))


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (Fraction(7), "7"),
        (Fraction(-12), "-12"),
        (Fraction(1, 4), "0.25"),
        (Fraction(1, 3), "0.333333"),
        (Fraction(10**15 + 1), "1e+15"),
        (Fraction(10**400), "above 1e308"),
        (Fraction(-(10**400)), "below -1e308"),
    ],
)
def test_numbers_are_shown_shortly(value: Fraction, shown: str):
    assert show(value) == shown


def test_a_list_is_kept_as_a_tuple():
    given = [2, 3, 4, 5, 6]
    kept = Box(given).each
    given.append(7)
    assert list(kept) == [Fraction(k) for k in range(2, 7)]
    assert type(kept) is tuple


def test_groups_of_groups_are_eight_deep_at_most():
    inside: Any = nw.Box([1, 2])
    for _ in range(8):
        inside = nw.Groups([nw.Box([3]), inside], 2)
    assert inside.levels == 8
    with pytest.raises(nw.errors.InvalidQueryError, match="9 levels deep; at most 8"):
        nw.Groups([inside], 1)

"""Joint guarantees where one number, one block or one row is dearer than the others, wherever it stands.

Truths are closed forms written here, or every pair of rounded answers of a small grid.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import pytest

import noisewright as nw
from noisewright.mechanisms.norm_shaped import NormBlock, NormShaped
from noisewright.mechanisms.per_coordinate import PerCoordinate
from noisewright.proof.vectors import (
    counted,
    largest_sum,
    norm_shaped_bound,
    per_coordinate_bound,
    refuse_uncovered,
    root_above,
    whole_steps,
)

F = Fraction
ORDERS = list(itertools.permutations(range(3)))


def in_order(values: Sequence[Any], order: Sequence[int]) -> list[Any]:
    return [values[i] for i in order]


def part(law: Any, step: str = "1/100") -> nw.mechanisms.Additive:
    """Noise on a lattice of that step; what the part itself was made for does not matter."""
    return nw.mechanisms.Additive(nw.Scalar(step), law, nw.laws.Lattice.cells(F(step)))


def laplace(scales: Sequence[int], steps: Sequence[str]) -> tuple[nw.mechanisms.Additive, ...]:
    return tuple(part(nw.laws.Laplace(F(scale)), step) for scale, step in zip(scales, steps, strict=True))


@pytest.mark.parametrize("order", ORDERS)
def test_laplace_noise_in_an_l1_ball_pays_for_its_dearest_corner(order):
    scales, steps = in_order([1, 4, 2], order), in_order(["1/100", "1/10", "1/50"], order)
    bound, _ = per_coordinate_bound(PerCoordinate(nw.Vector(nw.L1Ball(3, 3)), laplace(scales, steps)))
    # All of the radius in one number, and one more edge crossed everywhere.
    crossings = F(1, 100) / 1 + F(1, 10) / 4 + F(1, 50) / 2
    assert bound == 3 + crossings


@pytest.mark.parametrize("order", ORDERS)
def test_laplace_noise_in_an_l2_ball_pays_for_the_length_of_its_slopes(order):
    scales, steps = in_order([12, 4, 3], order), in_order(["1/100", "1/10", "1/50"], order)
    bound, _ = per_coordinate_bound(PerCoordinate(nw.Vector(nw.L2Ball(24, 3)), laplace(scales, steps)))
    # (1/12, 1/4, 1/3) = (1, 3, 4) / 12, of length sqrt(26) / 12.
    crossings = F(1, 100) / 12 + F(1, 10) / 4 + F(1, 50) / 3
    assert float(bound) == pytest.approx(2 * math.sqrt(26) + float(crossings), rel=1e-15)
    assert (bound - crossings) ** 2 >= 104


@pytest.mark.parametrize("ball", [nw.L1Ball(2, 2), nw.L2Ball(2, 2)], ids=["l1", "l2"])
def test_other_noise_in_a_ball_pays_for_every_number(ball):
    parts = (part(nw.laws.Logistic(F(1)), "1/2"), part(nw.laws.Logistic(F(5)), "1/2"))
    bound, rule = per_coordinate_bound(PerCoordinate(nw.Vector(ball), parts))
    assert rule == "pure/independent-enclosing-box"
    assert bound == 2 + F(2, 5)


def brute_rounded(ball: Any, steps: Sequence[Fraction], cost: Any) -> float:
    """The dearest pair of answers, both rounded to the nearest multiples, over a grid of 24ths of their difference."""
    radius, grid = ball.radius, F(1, 24)
    reach = int(radius / grid)
    offsets = [[k * grid for k in range(int(step / grid))] for step in steps]
    worst = 0.0
    for move in itertools.product(range(-reach, reach + 1), repeat=2):
        d = [k * grid for k in move]
        inside = sum(map(abs, d)) <= radius if isinstance(ball, nw.L1Ball) else sum(x * x for x in d) <= radius**2
        if not inside:
            continue
        moved = []
        for x, step, starts in zip(d, steps, offsets, strict=True):
            places = {math.floor((s + x) / step + F(1, 2)) - math.floor(s / step + F(1, 2)) for s in starts}
            moved.append(max(places, key=abs))
        worst = max(worst, cost(moved))
    return worst


@pytest.mark.parametrize("norm", ["max", "l2"])
@pytest.mark.parametrize("ball", [nw.L1Ball("11/12", 2), nw.L2Ball("11/12", 2)], ids=["l1", "l2"])
@pytest.mark.parametrize("steps", [("1/2", "1/6"), ("1/6", "1/2")], ids=["fine behind", "fine before"])
def test_a_norm_shaped_block_covers_every_pair_of_rounded_answers_in_a_ball(norm, ball, steps):
    widths = tuple(map(F, steps))
    bound, _ = norm_shaped_bound(NormShaped(nw.Vector(ball), (NormBlock((0, 1), widths, F(1, 3), norm),)))

    def cost(k: list[int]) -> float:
        return (max(map(abs, k)) if norm == "max" else math.hypot(*k)) / 3

    truth = brute_rounded(ball, widths, cost)
    assert truth <= float(bound) + 1e-12
    # The radius in the finest steps, and one more edge everywhere.
    assert float(bound) == pytest.approx((11 / 2 + (1 if norm == "max" else math.sqrt(2))) / 3, rel=1e-12)


@pytest.mark.parametrize("ball", [nw.L1Ball("11/12", 2), nw.L2Ball("11/12", 2)], ids=["l1", "l2"])
@pytest.mark.parametrize("rates", [("1/3", "1/4"), ("1/4", "1/3")])
@pytest.mark.parametrize("steps", [("1/2", "1/6"), ("1/6", "1/2")])
def test_two_blocks_cover_every_pair_of_rounded_answers_in_a_ball(ball, rates, steps):
    widths, slopes = tuple(map(F, steps)), tuple(map(F, rates))
    blocks = tuple(NormBlock((i,), (widths[i],), slopes[i]) for i in range(2))
    bound, _ = norm_shaped_bound(NormShaped(nw.Vector(ball), blocks))
    truth = brute_rounded(ball, widths, lambda k: sum(float(r) * abs(n) for r, n in zip(slopes, k, strict=True)))
    assert truth <= float(bound) + 1e-12
    assert float(bound) <= truth + float(sum(slopes))


@pytest.mark.parametrize("order", ORDERS)
def test_blocks_in_an_l2_ball_pay_for_the_length_of_their_slopes(order):
    """A difference along (2, 3, 6) / 7 costs 7: more than the dearest block alone, 6."""
    rates = in_order([2, 3, 6], order)
    blocks = tuple(NormBlock((i,), (F(1),), F(rate)) for i, rate in enumerate(rates))
    bound, _ = norm_shaped_bound(NormShaped(nw.Vector(nw.L2Ball(1, 3)), blocks))
    assert bound == 7 + 11
    inside, _ = norm_shaped_bound(NormShaped(nw.Vector(nw.L1Ball(1, 3)), blocks))
    assert inside == 6 + 11


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(("changes", "truth"), [(1, 12.0), (2, 13.0), (3, math.sqrt(185))])
def test_the_numbers_of_a_block_that_move_farthest_are_those_that_count(order, changes, truth):
    each = in_order([5, 12, 4], order)
    block = NormBlock((0, 1, 2), (F(1),) * 3, F(1), "l2")
    bound, _ = norm_shaped_bound(NormShaped(nw.Vector(nw.Sparse(changes, each)), (block,)))
    assert float(bound) == pytest.approx(truth, rel=1e-15)
    assert bound**2 >= round(truth**2)


@pytest.mark.parametrize("order", ORDERS)
def test_a_sparse_set_pays_for_its_dearest_blocks(order):
    rates = in_order([2, 3, 6], order)
    blocks = tuple(NormBlock((i,), (F(1),), F(rate)) for i, rate in enumerate(rates))
    for changes, truth in ((1, 6), (2, 9), (3, 11)):
        bound, _ = norm_shaped_bound(NormShaped(nw.Vector(nw.Sparse(changes, [1, 1, 1])), blocks))
        assert bound == truth


ROWS: list[list[Any]] = [[1, 0, -2], [0, "-3/2", 0], [-1, -1, 0]]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("scales", [(1, 1, 1), (4, 1, 8), (1, 2, 8)], ids=["first", "second", "third"])
def test_listed_differences_cost_their_dearest_row_wherever_it_stands(order, scales):
    rows = in_order(ROWS, order)
    costs = [sum(abs(F(d)) / s for d, s in zip(row, scales, strict=True)) for row in ROWS]
    parts = laplace(scales, ["1/100"] * 3)
    assert per_coordinate_bound(PerCoordinate(nw.Vector(nw.Points(rows)), parts))[0] == max(costs)
    blocks = tuple(NormBlock((i,), (F(1, 2),), F(1, 2 * s)) for i, s in enumerate(scales))
    assert norm_shaped_bound(NormShaped(nw.Vector(nw.Points(rows)), blocks))[0] == max(costs)


def test_the_three_rows_are_each_the_dearest_once():
    costs = [
        [sum(abs(F(d)) / s for d, s in zip(row, scales, strict=True)) for row in ROWS]
        for scales in ((1, 1, 1), (4, 1, 8), (1, 2, 8))
    ]
    assert [row.index(max(row)) for row in costs] == [0, 1, 2]


def test_listed_differences_that_are_all_negative_cost_as_much_as_their_mirror_image():
    query = nw.Vector(nw.Points([[-3, -4]]))
    for norm, truth in (("max", 4), ("l2", 5)):
        block = NormBlock((0, 1), (F(1), F(1)), F(1), norm)
        assert norm_shaped_bound(NormShaped(query, (block,)))[0] == truth
    assert per_coordinate_bound(PerCoordinate(query, laplace([1, 2], ["1", "1"])))[0] == 5


def test_equal_moves_of_unequal_noise_do_not_cost_the_same():
    query = nw.Vector(nw.Points([[1, 1], [1, -1]]))
    for scales in ([10, 1], [1, 10]):
        assert per_coordinate_bound(PerCoordinate(query, laplace(scales, ["1/10"] * 2)))[0] == F(11, 10)


@pytest.mark.parametrize(("extent", "step", "steps"), [("1/2", "1/3", 2), ("7/10", "1/3", 3), ("1", "1/3", 3)])
def test_a_move_that_is_no_whole_number_of_steps_is_rounded_up(extent, step, steps):
    width, far = F(step), F(extent)
    places = [F(k, 60) for k in range(60)]
    assert steps == max(math.floor((x + far) / width) - math.floor(x / width) for x in places)
    assert whole_steps(far, width) == whole_steps(-far, width) == steps
    parts = laplace([1, 2], [step, step])
    bound, _ = per_coordinate_bound(PerCoordinate(nw.Vector(nw.Box([far, far])), parts))
    assert bound == steps * width * F(3, 2)
    block = NormBlock((0, 1), (width, width), F(1))
    assert norm_shaped_bound(NormShaped(nw.Vector(nw.Box([far, far])), (block,)))[0] == steps


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(
    ("chosen", "truth"),
    [(nw.Disjoint, 5), (nw.Replace, 8), (lambda each: nw.Sparse(2, each), 8), (nw.Box, 9)],
    ids=["disjoint", "replace", "sparse", "box"],
)
def test_independent_noise_pays_for_as_many_numbers_as_move_together(order, chosen, truth):
    parts = laplace([1, 1, 1], ["1"] * 3)
    bound, _ = per_coordinate_bound(PerCoordinate(nw.Vector(chosen(in_order([1, 5, 3], order))), parts))
    assert bound == truth


@pytest.mark.parametrize("extent", ["1", "1/2", "1/1000"])
@pytest.mark.parametrize("place", range(3))
def test_a_number_without_noise_is_named_wherever_it_stands(place, extent):
    """However little one person moves it: a real number that is released as it is tells everything."""
    each = [F(extent)] * 3
    noisy = [True] * 3
    noisy[place] = False
    points = nw.Points([[-F(extent) if i == place else 0 for i in range(3)]])
    for chosen in (nw.Box(each), points):
        with pytest.raises(nw.errors.UncertifiedError, match="gets no noise") as refusal:
            refuse_uncovered(nw.Vector(chosen), noisy)
        assert refusal.value.place == place
    each[place] = F(0)
    refuse_uncovered(nw.Vector(nw.Box(each)), noisy)


@pytest.mark.parametrize("place", range(2))
@pytest.mark.parametrize(
    "chosen",
    [nw.Box([1, 1]), nw.Disjoint([1, 1]), nw.L1Ball(1, 2), nw.L2Ball(1, 2), nw.Points([[1, -1]])],
    ids=["box", "disjoint", "l1", "l2", "points"],
)
def test_a_number_that_moves_without_noise_is_refused_in_every_set(chosen, place):
    parts: list[nw.mechanisms.Additive | None] = [part(nw.laws.Laplace(F(1)))] * 2
    parts[place] = None
    with pytest.raises(nw.errors.UncertifiedError, match=f"number {place + 1}"):
        nw.certify(PerCoordinate(nw.Vector(chosen), tuple(parts)), nw.PureDP(32))
    block = NormBlock((1 - place,), (F(1),), F(1))
    with pytest.raises(nw.errors.UncertifiedError, match=f"number {place + 1}"):
        nw.certify(NormShaped(nw.Vector(chosen), (block,)), nw.PureDP(32))


def test_a_claim_for_several_numbers_is_decided_by_a_hair():
    query = nw.Vector(nw.Box([3, 5]))
    independent = PerCoordinate(query, laplace([4, 4], ["1/10"] * 2))
    together = NormShaped(query, (NormBlock((0, 1), (F(1, 2), F(1, 2)), F(1, 5)),))
    for mechanism in (independent, together):
        assert nw.certify(mechanism, nw.PureDP(2)).bound == 2
        with pytest.raises(nw.errors.UncertifiedError, match="refused"):
            nw.certify(mechanism, nw.PureDP(2 - F(1, 10**12)))


def test_small_tools_of_sets():
    assert largest_sum([F(2), F(7), F(5)], 2) == 12
    assert root_above(F(16, 9)) == F(4, 3)
    assert root_above(F(2)) ** 2 > 2
    one = counted(nw.Vector(nw.L2Ball("3/2", 1)))
    assert isinstance(one, nw.Box)
    assert one.each == (F(3, 2),)
    assert counted(nw.Vector(nw.L2Ball("3/2", 2))) is None

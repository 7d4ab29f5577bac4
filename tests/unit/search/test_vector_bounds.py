"""Bounds for several numbers: lopsided sets, weights and numbers that stand still."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

import noisewright as nw
from noisewright.search.bounds.vector import _by_volume, vector_bound

ONE = Fraction(1)


def _best(query: nw.Vector, privacy: Any, utility: Any) -> tuple[float, float]:
    """The best value that was found and the bound."""
    report = nw.design(query, privacy=privacy, utility=utility)
    assert report.bound is not None
    return report.candidates[0].value, report.bound


@pytest.mark.parametrize(
    ("chosen", "changes"),
    [
        (nw.Sparse(2, [1, 2, 5]), 2),
        (nw.Sparse(2, [1, 2, 5, 7]), 2),
        (nw.Sparse(2, [1, 2, 5, 7, 1]), 3),
        (nw.Sparse(3, [1, 2, 5, 7]), 2),
        (nw.Sparse(2, [1, 2, 0, 5]), 2),
        (nw.Replace([1, 2, 5]), 3),
    ],
    ids=str,
)
def test_the_volume_of_the_box_counts_every_change_that_it_takes_to_cross_it(chosen: Any, changes: int):
    box = nw.Vector(nw.Box(chosen.each))
    wanted = _by_volume(box, changes * ONE, nw.SquaredError())
    assert wanted is not None
    assert _by_volume(nw.Vector(chosen), ONE, nw.SquaredError()) == wanted


@pytest.mark.parametrize(
    "chosen", [nw.Replace([1] * 9), nw.Sparse(2, [1] * 9), nw.L1Ball(2, 6), nw.Box([1, 9])], ids=str
)
@pytest.mark.parametrize("utility", [nw.SquaredError(), nw.AbsoluteError(), nw.LargestError()], ids=str)
def test_no_mechanism_for_a_lopsided_set_beats_the_bound(chosen: Any, utility: Any):
    value, bound = _best(nw.Vector(chosen), nw.PureDP(1), utility)
    assert 0 < bound <= value


@pytest.mark.parametrize("chosen", [nw.Box([1, 2, 3]), nw.Disjoint([1, 2]), nw.L2Ball(2, 3), nw.L1Ball(2, 3)], ids=str)
@pytest.mark.parametrize("kind", [nw.SquaredError, nw.AbsoluteError])
def test_heavier_numbers_have_heavier_bounds(chosen: Any, kind: Any):
    """Seven times the weight is seven times the error, whatever the mechanism."""
    query, count = nw.Vector(chosen), len(chosen.extents)
    plain, heavy = (vector_bound(query, ONE, kind(weights)) for weights in (None, [7] * count))
    assert plain is not None
    assert heavy is not None
    assert float(heavy) == pytest.approx(7 * float(plain), rel=1e-12)


@pytest.mark.parametrize("kind", [nw.SquaredError, nw.AbsoluteError])
def test_light_numbers_count_little(kind: Any):
    value, bound = _best(nw.Vector(nw.Disjoint([3, 3])), nw.ApproxDP(1, "0.01"), kind(["1/100", "1/50"]))
    assert 0.9 * value < bound <= value


def test_numbers_that_stand_still_are_always_right():
    utility = nw.Usefulness(["1/2"], [1, 5, 2])
    value, bound = _best(nw.Vector(nw.Box([1, 0, 2])), nw.PureDP(1), utility)
    assert value <= bound < value * 1.5
    still, _ = _best(nw.Vector(nw.Box([1, 0, 2])), nw.PureDP(1), nw.Usefulness(["1/2"], [1, 50, 2]))
    assert still > value


@pytest.mark.parametrize("utility", [nw.ErrorQuantile("0.9"), nw.LargestError()], ids=str)
def test_the_largest_error_is_at_least_that_of_the_largest_number(utility: Any):
    alone = nw.ErrorQuantile("0.9") if isinstance(utility, nw.ErrorQuantile) else nw.AbsoluteError()
    single = nw.design(nw.Scalar(9), privacy=nw.PureDP(1), utility=alone).bound
    value, bound = _best(nw.Vector(nw.Disjoint([1, 9, 2])), nw.PureDP(1), utility)
    assert single is not None
    assert bound == pytest.approx(single, rel=1e-9)
    assert bound <= value

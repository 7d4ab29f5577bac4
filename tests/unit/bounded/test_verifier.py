"""What the verifier accepts, and what it refuses."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import exp, log
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

import noisewright as nw
from noisewright.lab.composite.errors import quartic_for
from noisewright.laws.bumps import FLAT, Plateau, Quartic, Steps
from noisewright.mechanisms.bounded.composite import ACTIVATIONS, Composite
from noisewright.mechanisms.bounded.conditional import Grid, Rows, uniform_grid
from noisewright.proof.bounded import bounded_ratio, largest_bias
from noisewright.search.families.shapes import (
    central,
    composite,
    hybrid,
    nested_steps,
    truncated,
    tuned_core,
    two_point,
)
from tests.bounded import question

ONE = Fraction(1)


def _all_kinds(sensitivity: str) -> list[Any]:
    query = question(sensitivity, "60")
    kinds: list[Any] = [
        composite(query, ONE, make(Fraction(3, 10)), base)
        for make in ACTIVATIONS.values()
        for base in (FLAT, quartic_for(ONE, Fraction(9, 10)))
    ]
    kinds += [two_point(query, ONE), hybrid(query, ONE, "worst")]
    if Fraction(sensitivity) < 1:
        core = tuned_core(query, ONE, "worst")
        assert core is not None
        kinds.append(central(query, ONE, core))
    return kinds


@pytest.mark.parametrize("sensitivity", ["1", "1/4"])
def test_every_unbiased_kind_is_certified_with_a_mean_within_a_trillionth(sensitivity: str):
    for mechanism in _all_kinds(sensitivity):
        certificate = nw.certify(mechanism, nw.PureDP(1))
        assert certificate.bound <= 1
        assert certificate.rule.endswith("mean")
        assert largest_bias(mechanism) <= Fraction(1, 10**12)
        with pytest.raises(nw.errors.UncertifiedError):
            nw.certify(mechanism, nw.PureDP("0.2"))


def test_files_keep_every_kind(tmp_path):
    for mechanism in [*_all_kinds("1/4")[::3], truncated(question(margin="1"), ONE, Fraction(2))]:
        certified = nw.Certified(mechanism, nw.certify(mechanism, nw.PureDP(1)))
        certified.save(tmp_path / "m.json")
        assert nw.Certified.load(tmp_path / "m.json").mechanism == mechanism


def test_b2_with_its_top_taken_for_its_infimum_is_refused():
    ratio = Fraction(exp(1)).limit_denominator(10**9)
    base = Quartic(Fraction(1, 2))
    top, peak = base.top, 1 / (2 * Fraction(3, 10))
    # (1 - s) top + s peak = e (1 - s) top: the paper's Corollary 3.1, with y where t belongs.
    share = (ratio - 1) * top / (peak + (ratio - 1) * top) * Fraction(999, 1000)
    query = question(margin="60")
    wrong = Composite(query, Plateau(Fraction(3, 10)), base, share, query.inputs)
    with pytest.raises(nw.errors.UncertifiedError, match="likelihood ratio"):
        nw.certify(wrong, nw.PureDP(1))
    right = composite(query, ONE, Plateau(Fraction(3, 10)), base)
    assert nw.certify(right, nw.PureDP(1)).bound <= 1


def test_a_window_other_than_the_input_range_is_refused():
    query = question("1/4", "60")
    whole = composite(query, ONE, Plateau(Fraction(3, 10)))
    near = replace(whole, window=(Fraction(1, 4), Fraction(1, 2)))
    with pytest.raises(nw.errors.UncertifiedError, match="window"):
        nw.certify(near, nw.PureDP(1))


def test_nested_steps_that_are_narrower_than_one_move_are_refused():
    query = question("1/4", "60")
    good = central(query, ONE, Fraction(1, 10))
    steps, _ = nested_steps(query, ONE, Fraction(1, 10))
    squeezed = Steps(tuple(e * Fraction(9, 10) for e in steps.edges), steps.heights)
    assert nw.certify(good, nw.PureDP(1)).bound <= 1
    with pytest.raises(nw.errors.UncertifiedError):
        nw.certify(replace(good, activation=squeezed), nw.PureDP(1))


def test_a_biased_mechanism_is_refused_where_none_was_allowed():
    query = question(margin="1")
    biased = truncated(query, ONE, ONE)
    assert nw.certify(biased, nw.PureDP(1)).bound <= 1
    with pytest.raises(nw.errors.UncertifiedError, match="mean of the release"):
        nw.certify(replace(biased, query=query), nw.PureDP(1))
    grid = uniform_grid(Fraction(0), ONE, 1)
    leaning = Rows(query, grid, query.outputs, ((2, 2), (2, 2)))
    with pytest.raises(nw.errors.UncertifiedError, match="mean of the release"):
        nw.certify(leaning, nw.PureDP(1))


def test_an_output_that_only_one_answer_can_give_is_refused():
    query = question(margin="1", bias=None)
    rows = Rows(query, uniform_grid(Fraction(0), ONE, 1), query.outputs, ((0, 4), (2, 2)))
    with pytest.raises(nw.errors.UncertifiedError, match="impossible for its neighbour"):
        nw.certify(rows, nw.PureDP(5))


def _brute_reach(points: tuple[Fraction, ...], sensitivity: Fraction) -> list[int]:
    """Rows that answers within the sensitivity reach for one of many U, by trying many answers and U."""
    last = len(points) - 1
    inner = [points[i] + (points[i + 1] - points[i]) * Fraction(k, 6) for i in range(last) for k in range(6)]
    answers = sorted({*inner, points[-1], *(a + sensitivity for a in inner), *(a - sensitivity for a in inner)})
    answers = [a for a in answers if points[0] <= a <= points[-1]]
    place = {a: Grid(points).locate(a) for a in answers}
    result = list(range(last + 1))
    for u in [Fraction(2 * k + 1, 24) for k in range(12)]:
        rows = {a: i + (1 if share + u >= 1 else 0) for a, (i, share) in place.items()}
        for a in answers:
            for b in answers:
                if a <= b <= a + sensitivity:
                    low, high = sorted((rows[a], rows[b]))
                    result[low] = max(result[low], high)
    return result


@settings(max_examples=30)
@given(st.lists(st.integers(1, 4), min_size=2, max_size=4), st.integers(1, 9))
def test_reach_names_every_pair_that_mixing_meets(widths: list[int], sensitivity: int):
    points = [Fraction(0)]
    for width in widths:
        points.append(points[-1] + width)
    size = min(Fraction(sensitivity), points[-1])
    reach = Grid(tuple(points)).reach(size)
    assert all(stated >= met for stated, met in zip(reach, _brute_reach(tuple(points), size), strict=True))
    if len(set(widths)) == 1:
        assert reach == [min(i + -(-size // widths[0]), len(widths)) for i in range(len(points))]


@pytest.mark.parametrize(("exact", "more"), [(True, 0), (False, 1)], ids=["exact", "computed"])
@given(
    weights=st.lists(st.lists(st.integers(1, 30), min_size=2, max_size=2), min_size=3, max_size=6),
    steps=st.integers(1, 5),
)
def test_the_ratio_of_rows_is_that_of_the_worst_pair_in_reach(
    weights: list[list[int]], steps: int, exact: bool, more: int
):
    """Answers that may carry rounding errors can be a hair more than so many cells apart, and so meet one row more."""
    rows = [(a, 60 - a) for a, _ in weights]
    last = len(rows) - 1
    query = question(str(Fraction(min(steps, last), last)), "1", bias=None, exact=exact)
    mechanism = Rows(query, uniform_grid(Fraction(0), ONE, last), query.outputs, tuple(rows))
    worst = max(
        max(rows[i][k] / rows[j][k], rows[j][k] / rows[i][k])
        for i in range(last + 1)
        for j in range(i, min(i + steps + more, last) + 1)
        for k in (0, 1)
    )
    assert float(bounded_ratio(mechanism, Fraction(32))[0]) == pytest.approx(log(worst), abs=1e-12)

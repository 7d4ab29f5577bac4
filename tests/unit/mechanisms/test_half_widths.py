"""How far off an answer is with a confidence: never less than it is, and not much more."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import noisewright as nw
from noisewright.laws.lattice import slip_of
from noisewright.mechanisms.half_widths import half_width, rounded_up
from noisewright.mechanisms.norm_shaped import NormShaped
from noisewright.mechanisms.per_coordinate import PerCoordinate
from noisewright.mechanisms.tails import GeometricTail, NormalTail, RoundedSumTail, RoundTail, ShellTail, Tail
from noisewright.numerics.balls import lower, precision, upper
from noisewright.problem.errors import InvalidUtilityError
from noisewright.problem.utilities import ErrorQuantile
from noisewright.sample.certified import make_certified
from noisewright.sample.points import Points
from tests.mechanisms_by_hand import GEOMETRIC
from tests.saved import example

DRAWN = 20_000
FALSE_ALARM = 6.0
"""Standard deviations of a count that no test may be away: 1e-9 on each side."""
WITH_NOISE = (
    "additive",
    "alike",
    "linear-elliptical",
    "linear-gaussian",
    "linear-laplace",
    "norm-shaped",
    "per-coordinate",
)


def _outside(noise: Any, widths: Any) -> np.ndarray:
    return np.asarray((np.abs(np.asarray(noise, dtype=float)) > np.asarray(widths)).sum(axis=0))


@pytest.mark.statistical
@pytest.mark.parametrize("kind", WITH_NOISE)
def test_errors_stay_within_as_often_as_said_and_not_within_much_less(kind: str):
    certified = example(kind)
    noise = certified.draw(DRAWN).reshape(DRAWN, -1)
    each, every = certified.half_width("0.9"), certified.half_width("0.9", joint=True)
    sway = FALSE_ALARM * math.sqrt(DRAWN * 0.09)
    assert (_outside(noise, each) <= DRAWN * 0.1 + sway).all()
    assert _outside(np.abs(noise).max(axis=1), every) <= DRAWN * 0.1 + sway
    assert (_outside(noise, 0.7 * np.asarray(each)) > DRAWN * 0.1 + sway).all()
    assert _outside(np.abs(noise).max(axis=1), 0.7 * every) > DRAWN * 0.1 + sway


def test_one_whole_number_has_a_whole_half_width():
    counts = make_certified(GEOMETRIC, nw.PureDP(1))
    fade = math.exp(-1)
    least = next(m for m in range(99) if 2 * fade ** (m + 1) / (1 + fade) <= 0.05)
    assert counts.half_width(0.95) == least
    assert type(counts.half_width(0.95)) is int
    assert counts.half_width(0.95, joint=True) == least


def test_one_number_is_what_the_utility_says_rounded_up():
    best = nw.design(nw.Scalar(3), privacy=nw.PureDP("0.7"), utility=nw.AbsoluteError()).best
    exact = upper(best.mechanism.expected(ErrorQuantile("0.99")))
    assert exact <= Fraction(best.half_width("0.99")) <= exact * Fraction("1.001")


@pytest.mark.parametrize("confidence", ["0.5", "0.95", "0.9999"])
def test_all_at_once_is_more_than_each_and_what_the_utility_says(confidence: str):
    for kind in ("per-coordinate", "norm-shaped"):
        certified = example(kind)
        each, every = certified.half_width(confidence), certified.half_width(confidence, joint=True)
        assert len(each) == certified.mechanism.count
        assert every >= max(each)
        if isinstance(certified.mechanism, PerCoordinate) or _largest_norm(certified.mechanism):
            assert every == pytest.approx(
                float(certified.mechanism.expected(ErrorQuantile(confidence)).mid()), rel=0.01
            )


def _largest_norm(mechanism: Any) -> bool:
    return isinstance(mechanism, NormShaped) and all(block.norm == "max" for block in mechanism.blocks)


@pytest.mark.statistical
@pytest.mark.parametrize(
    "query",
    [
        nw.Vector(nw.Box([2, 3]), integer=True),
        nw.Vector(nw.Box([2, 3]), integer=[True, False]),
        nw.Vector(nw.L2Ball(3, 3), integer=True),
        nw.Histogram(["a", "b", "c"]),
    ],
    ids=str,
)
def test_whole_numbers_have_whole_half_widths(query: Any):
    sway = FALSE_ALARM * math.sqrt(DRAWN * 0.09)
    for candidate in nw.design(query, privacy=nw.PureDP(1), utility=nw.SquaredError()).candidates:
        certified = candidate.certified
        noise = certified.draw(DRAWN).astype(float)
        each, every = certified.half_width("0.9"), certified.half_width("0.9", joint=True)
        whole = getattr(query, "whole", (True,) * len(each))
        assert [type(width) is int for width in each] == list(whole)
        assert (type(every) is int) == all(whole)
        assert (_outside(noise, each) <= DRAWN * 0.1 + sway).all(), candidate.name
        assert _outside(np.abs(noise).max(axis=1), every) <= DRAWN * 0.1 + sway, candidate.name


def test_a_number_that_nobody_changes_is_not_off():
    free = nw.design(nw.Vector(nw.Points([[1, 0], [2, 0]])), privacy=nw.PureDP(1), utility=nw.SquaredError()).best
    assert free.half_width(0.95)[1] == 0
    assert free.half_width(0.95)[0] > 0


def test_answers_in_bounds_hold_for_every_answer():
    query = nw.Scalar(1, inputs=(0, 1), outputs=(-9, 10))
    best = nw.design(query, privacy=nw.PureDP(1), utility=nw.SquaredError()).best
    width = best.half_width(0.9)
    sway = FALSE_ALARM * math.sqrt(DRAWN * 0.09)
    for answer in (0.0, 0.31, 0.5, 1.0):
        assert _outside(best.release_many(np.full(DRAWN, answer)) - answer, width) <= DRAWN * 0.1 + sway


@pytest.mark.parametrize("bad", [0, 1, 95, -0.1, 1.5, "often", None, float("nan"), True])
def test_a_confidence_lies_between_0_and_1(bad: Any):
    with pytest.raises((InvalidUtilityError, nw.errors.InvalidNumberError), match="confidence"):
        make_certified(GEOMETRIC, nw.PureDP(1)).half_width(bad)


def test_a_mode_is_true_or_false():
    with pytest.raises(InvalidUtilityError, match="joint"):
        make_certified(GEOMETRIC, nw.PureDP(1)).half_width(0.9, joint="yes")  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", ["permute-and-flip", "random-exponential", "metric-choice"])
def test_a_choice_has_no_half_width(kind: str):
    with pytest.raises(InvalidUtilityError, match="a choice is no number"):
        example(kind).half_width(0.95)


@pytest.mark.parametrize("kind", ["metric-exponential", "minkowski-exponential"])
def test_what_has_no_rule_says_so(kind: str):
    with pytest.raises(InvalidUtilityError, match="no rule for the half-width"):
        example(kind).half_width(0.95)


@given(st.fractions(min_value=Fraction(1, 10**9), max_value=10**9, max_denominator=10**9))
def test_rounding_goes_up_by_less_than_a_digit(value: Fraction):
    shown = rounded_up(value)
    assert value <= Fraction(shown) <= value * (1 + Fraction(1, 900))
    assert float(f"{shown:.4g}") == pytest.approx(shown, rel=1e-12)


def _masses(size: int, rate: float, norm: Any, reach: int) -> dict[tuple[int, ...], float]:
    weights = {z: math.exp(-rate * norm(z)) for z in product(range(-reach, reach + 1), repeat=size)}
    total = sum(weights.values())
    return {z: weight / total for z, weight in weights.items()}


def _first_beyond(masses: dict[tuple[int, ...], float], t: float) -> float:
    """P(|first coordinate| > t) when each point is spread over its unit cube."""
    return sum(m * (1 - max(0.0, min(z[0] + 0.5, t) - max(z[0] - 0.5, -t))) for z, m in masses.items())


@pytest.mark.parametrize(("size", "reach"), [(1, 60), (2, 40), (3, 14)])
@pytest.mark.parametrize("t", [0.4, 1.7, 5.0])
def test_tails_of_blocks_against_all_points(size: int, reach: int, t: float):
    rate = Fraction(4 if size == 3 else 1, 2)
    for tail, norm, slack in (
        (ShellTail(size, rate), lambda z: max(map(abs, z)), 1 + 1e-6),
        (RoundTail(size, rate), lambda z: math.hypot(*z), math.exp(2 * float(rate) * math.sqrt(size)) * 1.1),
    ):
        true = _first_beyond(_masses(size, float(rate), norm, reach), t)
        with precision():
            bound = tail.beyond(Fraction(t))
        assert float(upper(bound)) >= true * (1 - 1e-5)
        assert float(lower(bound)) <= true * slack + 1e-5


def test_rounding_may_go_either_way():
    """Where the Gaussian rest weighs nothing, both sides of Hoeffding's bound for what rounding adds are left."""
    with precision():
        found = upper(RoundedSumTail(Fraction(1, 2**30)).beyond(Fraction(40)))
    assert float(found) / math.exp(-72) == pytest.approx(2, rel=1e-6)


@pytest.mark.parametrize(
    "tail", [ShellTail(2, Fraction(1, 3)), RoundTail(3, Fraction(1, 9)), NormalTail(), GeometricTail(Fraction(1, 5))]
)
@pytest.mark.parametrize("rest", [Fraction(1, 2), Fraction(1, 20), Fraction(1, 10**6)])
def test_the_end_that_is_returned_was_checked_and_little_less_fails(tail: Tail, rest: Fraction):
    with precision():
        t = tail.within(rest)
        assert upper(tail.beyond(t)) <= rest
        assert lower(tail.beyond(t * Fraction(99, 100) - Fraction(1, 100))) > rest


@pytest.mark.parametrize(("bins", "confidence"), [(50, "0.95"), (50, "0.5"), (3, "0.98"), (1, "0.95")])
def test_many_errors_that_are_hardly_ever_above_0_are_not_all_0_at_once(bins: int, confidence: str):
    """Each of fifty counts is right 98 times in 100, all of them hardly more than every other time."""
    part = nw.mechanisms.Additive(
        nw.Scalar(1, integer=True), nw.laws.DiscreteLaplace(Fraction(1, 5)), nw.laws.Lattice.integers()
    )
    counts = make_certified(nw.mechanisms.IdenticalNoise(nw.Histogram(bins), part), nw.PureDP(5))
    fade = math.exp(-5)
    least = next(m for m in range(9) if (1 - 2 * fade ** (m + 1) / (1 + fade)) ** bins >= float(confidence))
    assert set(counts.half_width(confidence)) == {0}
    assert counts.half_width(confidence, joint=True) == least


def test_numbers_that_get_no_noise_are_not_off():
    still = nw.mechanisms.NormShaped(
        nw.Vector(nw.Box([0, 1]), integer=True), [nw.mechanisms.NormBlock([1], [1], Fraction(9))]
    )
    assert make_certified(still, nw.PureDP(9)).half_width("0.95") == (0, 0)
    assert make_certified(still, nw.PureDP(9)).half_width("0.95", joint=True) == 0


@pytest.mark.parametrize(("step", "exact"), [("1/3", True), ("1/3", False), ("1/4", False), ("1/4", True)])
def test_released_decimals_may_be_farther_off_than_their_lattice_points(step: str, exact: bool):
    part = nw.mechanisms.Additive(nw.Scalar(1, exact=exact), nw.laws.Laplace(1), nw.laws.Lattice.cells(Fraction(step)))
    points = Points(part.lattice.step, part.spacing)
    far = max(abs(Fraction(points.one(n)) - n * part.spacing) for n in (*range(-9, 9), 2**24, 3 * 2**22, 2**23 + 2**19))
    slip = slip_of(part.lattice.step, part.spacing)
    assert far <= slip + Fraction(1, 10**8)
    assert slip == (0 if (step, exact) == ("1/4", True) else Fraction(1, 20) if step == "1/3" else Fraction(1, 200))
    block = nw.mechanisms.NormBlock([0], [step], Fraction(1, 2))
    query = nw.Vector(nw.Box([1]), exact=exact)
    single = make_certified(part, nw.PureDP(1)).half_width("0.9")
    several = [nw.mechanisms.PerCoordinate(query, [part]), nw.mechanisms.NormShaped(query, [block])]
    with precision():
        assert single == rounded_up(upper(part.expected(ErrorQuantile("0.9"))) + slip)
        for mechanism in several:
            alone = lower(mechanism.expected(ErrorQuantile("0.9")))
            for width in (*half_width(mechanism, "0.9", joint=False), half_width(mechanism, "0.9", joint=True)):
                assert alone + slip <= width <= float(alone + slip) * 1.01

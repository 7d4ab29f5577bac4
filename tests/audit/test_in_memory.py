"""Attacks on objects built in Python: none is accepted and releases more than its certificate says."""

from __future__ import annotations

import math
import random
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import noisewright as nw
from noisewright.mechanisms.bounded.conditional import Grid
from noisewright.mechanisms.linear.noise import Block
from noisewright.problem.errors import InvalidAnswerError, NoisewrightError, UncertifiedError
from noisewright.proof.pure import pure_bound
from noisewright.sample.certified import make_certified
from tests.examples import BOUNDED, COLUMNS, PAIR, QUERIES

HALF = Fraction(1, 2)
SENSITIVITIES = [k / 100 for k in range(1, 100)]


def staircase_for(sensitivity: Any) -> nw.mechanisms.Additive:
    query = nw.Scalar(sensitivity)
    law = nw.laws.staircase(epsilon=1, sensitivity=query.sensitivity, split=Fraction(2, 5))
    return nw.mechanisms.Additive(query, law, nw.laws.Lattice.cells(query.sensitivity / 1000))


def steps_between(mechanism: nw.mechanisms.Additive, x: Any, y: Any) -> int:
    return abs(mechanism.law_given(x).answer_index - mechanism.law_given(y).answer_index)


# Floats as people type them and as programs compute them.


@pytest.mark.parametrize("sensitivity", SENSITIVITIES)
def test_answers_typed_one_sensitivity_apart_cost_epsilon_once(sensitivity):
    mechanism = staircase_for(sensitivity)
    nw.certify(mechanism, nw.PureDP(1))
    typed = [float(f"{k * sensitivity:.2f}") for k in range(-40, 41)]
    for x, y in [(0.0, -sensitivity), (sensitivity, 0.0), *pairwise(typed)]:
        apart = steps_between(mechanism, x, y)
        assert apart <= 1000
        assert pure_bound(mechanism.law, apart * mechanism.lattice.step)[0] <= 1


@pytest.mark.parametrize("sensitivity", [0.1, 0.3, 1 / 3, 73 / 48842, 1e-7, 12345.678])
def test_answers_computed_one_sensitivity_apart_cost_epsilon_once(sensitivity):
    mechanism = staircase_for(sensitivity)
    source = random.Random(20)
    for _ in range(2000):
        size = 2.0 ** source.uniform(-20, 25)
        x = source.uniform(-1, 1) * sensitivity * size
        y = x + sensitivity * source.choice((-1, 1))
        assert steps_between(mechanism, x, y) <= 1000
    # Typed multiples lie on edges of cells, and what is computed from them falls just before or behind one.
    for k in range(-300, 301):
        typed = float(f"{k * sensitivity:.12g}")
        assert steps_between(mechanism, typed, typed - sensitivity) <= 1000
    summed = sum([sensitivity] * 1000)
    assert steps_between(mechanism, summed, summed - sensitivity) <= 1000


def test_a_float_too_large_to_be_precise_is_refused_and_its_exact_value_is_not():
    mechanism = staircase_for(0.1)
    with pytest.raises(InvalidAnswerError, match="too large for a float"):
        mechanism.law_given(1e8)
    assert steps_between(mechanism, 10**8, Fraction(10**8) - Fraction(1, 10)) <= 1000
    exact = nw.mechanisms.Additive(nw.Scalar(0.1, exact=True), mechanism.law, mechanism.lattice)
    assert exact.law_given(1e8).answer_index == 10**12


@pytest.mark.parametrize("kind", [float, np.float64, np.float32, np.longdouble])
def test_a_computed_sensitivity_is_never_below_the_true_one(kind):
    source = random.Random(3)
    for _ in range(3000):
        width, people = source.randint(1, 10**5), source.randint(10**4, 10**7)
        computed = kind(width) / kind(people)
        if len(str(computed).partition("e")[0].strip("0.").replace(".", "")) > 12 or kind is np.float32:
            assert nw.Scalar(computed).sensitivity >= Fraction(width, people)
            assert nw.Box([computed]).each[0] >= Fraction(width, people)
    assert nw.Scalar((90 - 17) / 48842).sensitivity >= Fraction(73, 48842)
    assert nw.Scalar(0.1).sensitivity == Fraction(1, 10)
    assert nw.Points([[-(90 - 17) / 48842]]).extents[0] >= Fraction(73, 48842)


def test_arrays_of_single_precision_are_read_as_their_own_decimals():
    answers = np.array([0.1, 0.2, 0.3], dtype=np.float32)
    mechanism = nw.mechanisms.PerCoordinate(
        nw.Vector(nw.Box([1, 1, 1]), exact=True),
        [nw.mechanisms.Additive(nw.Scalar(1, exact=True), nw.laws.Laplace(3), nw.laws.Lattice.cells("0.1"))] * 3,
    )
    assert [law.answer_index for law in mechanism.law_given(answers)] == [1, 2, 3]
    local = make_certified(
        nw.mechanisms.Truncated(nw.Scalar(1, inputs=(0, 1), outputs=(-1, 2)).bounded, 1, 4, 10, 16), nw.PureDP(2)
    )
    assert len(local.release_many(answers)) == 3


# Data clamped to a bound, and other precisions.


@pytest.mark.parametrize("bound", [0.1, 0.1 + 0.2, 0.7, 1 / 3, 1e-3])
@pytest.mark.parametrize("kind", [float, np.float64, np.longdouble])
def test_an_answer_clamped_to_a_float_bound_is_inside(bound, kind):
    clamped = kind(min(5.0, bound))
    inside = nw.Scalar(bound, inputs=(0, bound), outputs=(-bound, 2 * bound)).bounded
    for mechanism in (
        nw.mechanisms.Truncated(inside, 1, bound, 4, 8),
        nw.mechanisms.Truncated(
            nw.Scalar(bound, inputs=(0, bound), outputs=(0, bound)).bounded, 2, 1, 1, 2, ends="inflated"
        ),
    ):
        epsilon = nw.PureDP(30)
        certified = make_certified(mechanism, epsilon)
        certified.release(clamped)
        certified.release(min(kind(bound) * (1 + kind(2) ** -50), kind(bound) * 2))
        with pytest.raises(InvalidAnswerError, match="outside"):
            certified.release(bound * 1.01)


@pytest.mark.parametrize("places", [5, 17, 19])
def test_reals_of_other_precisions_are_put_on_the_lattice_exactly(places):
    mpmath = pytest.importorskip("mpmath")
    mechanism = nw.mechanisms.Additive(nw.Scalar(1, exact=True), nw.laws.Laplace(1), nw.laws.Lattice.cells("0.001"))
    with mpmath.workdps(40):
        just_below = mpmath.mpf(1) - mpmath.mpf(10) ** -places
        assert mechanism.law_given(just_below).answer_index == 999
    shy = np.longdouble(1) - np.longdouble(2) ** -60
    if shy < 1:
        assert mechanism.law_given(shy).answer_index == 999


# Numbers inside mechanisms.


@pytest.mark.parametrize(
    "build",
    [
        lambda columns: Block([0, 1], columns, HALF, [[1, 0], [0, 1]], 1),
        lambda columns: nw.mechanisms.LinearLaplace(QUERIES, columns, [HALF, HALF], [2, 3]),
        lambda columns: nw.mechanisms.MetricExponential(QUERIES, columns, HALF, 2),
    ],
    ids=["block", "laplace", "exponential"],
)
def test_columns_are_whole_numbers_or_refused(build):
    with pytest.raises(NoisewrightError):
        build([[0.9999, 0.0, -0.9999], [0.0, 0.9999, 0.0]])
    with pytest.raises(NoisewrightError):
        build(np.array(COLUMNS, dtype=np.float64))
    held = build(np.array(COLUMNS, dtype=np.int8)).columns
    assert tuple(held) == tuple(map(tuple, COLUMNS))
    assert all(type(v) is int for row in held for v in row)


def test_sums_of_machine_integers_do_not_overflow():
    columns = np.array([[2**51, 0, 1], [0, 1, 2**51]], dtype=np.int64)
    mechanism = nw.mechanisms.LinearLaplace(QUERIES, columns, [HALF, HALF], [2, 3])
    people = 2**40
    assert mechanism.sums([people, 0, 0]) == [2**51 * people, 0]


def test_the_steps_of_a_block_are_exact_at_any_size():
    block = nw.mechanisms.NormBlock([0, 1], np.array([0.1, 0.2]), 0.25)
    assert block.steps == (Fraction(1, 10), Fraction(1, 5))
    assert block.rate == Fraction(1, 4)
    query = nw.Vector(nw.Box([1, 1]), exact=True)
    fine = nw.mechanisms.NormShaped(query, [nw.mechanisms.NormBlock([0, 1], [0.5, 0.5], 0.25)])
    odd = 2**52 + 1
    placed = fine.law_given([Fraction(odd, 4), Fraction(0)])
    assert placed[0][0] == Fraction(math.floor(Fraction(odd, 2) + HALF), 2)


def test_a_frame_given_in_floats_is_certified_and_drawn_as_the_same_matrix():
    matrix = [[0.1, 0.2], [0.0, 0.3]]
    query = nw.Vector(nw.Points([[1, 0], [0, 1]]))
    given = nw.mechanisms.LinearGaussian(query, np.array(matrix), np.float64(3), 0.001)
    typed = nw.mechanisms.LinearGaussian(query, [["1/10", "1/5"], [0, "3/10"]], 3, "1/1000")
    assert given == typed
    assert given.digest == typed.digest
    assert all(type(v) is Fraction for row in (*given.matrix, *given.inverse) for v in row)


def test_float_answers_of_a_selection_have_the_true_bound_and_are_found_again():
    typed = nw.mechanisms.MinkowskiExponential([["0.1"], ["0.4"]], [["0.1"], ["0.4"]], 1, 5, "0.3")
    given = nw.mechanisms.MinkowskiExponential(np.array([[0.1], [0.4]]), [[0.1], [0.4]], 1.0, 5.0, 0.3)
    assert given == typed
    bound = nw.certify(given, nw.PureDP(2)).bound
    masses = [1 / (1 + math.exp(-1.5)), 1 / (1 + math.exp(1.5))]
    assert float(bound) == pytest.approx(math.log(masses[0] / masses[1]), rel=1e-12)
    assert make_certified(given, nw.PureDP(2)).release(0.1 * 3 + 0.1) in (0.1, 0.4)


@pytest.mark.parametrize("weights", [[0.1, 0.2, 0.7], [1 / 3, 1 / 3, 1 / 3], [0.1 + 0.2, 0.3, 0.4], [0.5, 0.5, 1e-17]])
def test_weights_sum_to_exactly_one_or_are_refused(weights):
    for build in (
        lambda: nw.folds.Atoms([1, 2, 3], weights),
        lambda: nw.mechanisms.RandomExponential(nw.Choice(["a", "b"]), [1, 2, 3], weights),
        lambda: nw.laws.GaussianMixture([1, 2, 3], weights),
    ):
        try:
            made = build()
        except NoisewrightError:
            continue
        assert sum(made.weights) == 1
        assert min(made.weights) > 0
    assert nw.folds.Atoms([1, 2, 3], [0.1, 0.2, 0.7]).weights == (Fraction(1, 10), Fraction(1, 5), Fraction(7, 10))


def test_machine_integers_as_weights_have_the_true_ratio():
    weights = np.array([[4 * 10**18, 8 * 10**16], [8 * 10**16, 4 * 10**18]], dtype=np.int64)
    rows = nw.mechanisms.Rows(BOUNDED, Grid([0, 1]), [-1, 2], weights)
    assert nw.certify(rows, nw.PureDP(5)).bound >= Fraction("3.91")
    with pytest.raises(UncertifiedError):
        nw.certify(rows, nw.PureDP("3.9"))


def test_fractions_of_machine_integers_do_not_overflow():
    mechanism = staircase_for(1)
    x = Fraction(np.int64(549755813))  # type: ignore[call-overload]  # on purpose
    assert steps_between(mechanism, x, x + 1) <= 1000
    assert type(nw.laws.Laplace(Fraction(np.int64(1), np.int64(3))).scale.denominator) is int  # type: ignore[call-overload]


# Answers that only just differ, or only just do not.


def test_neighbours_of_a_selection_are_found_in_spite_of_rounding():
    for answers in ([[0.2], [0.1 * 3]], np.linspace(0, 1, 11).reshape(-1, 1)):
        mechanism = nw.mechanisms.MinkowskiExponential(answers, [[0.2], [0.3]], 1, 50, 0.1)
        assert len(list(mechanism.neighbours())) == 2 * (len(answers) - 1)
        with pytest.raises(UncertifiedError):
            nw.certify(mechanism, nw.PureDP(1))
    with pytest.raises(UncertifiedError, match="nobody would be protected"):
        nw.certify(nw.mechanisms.MinkowskiExponential([[0], [5]], [[0], [5]], 1, 9, 1), nw.PureDP("0.001"))
    with pytest.raises(NoisewrightError, match="close"):
        nw.mechanisms.MinkowskiExponential([[2**53], [2**53 + 1]], [[0]], 1, 1, 1)


def test_a_frame_that_magnifies_rounding_errors_is_certified_for_them():
    frame = nw.mechanisms.LinearGaussian(nw.Vector(nw.Points([[1, 1]])), [[2**36, -(2**36)], [1, 1]], 12, 1)
    with pytest.raises(UncertifiedError):
        nw.certify(frame, nw.ApproxDP(1, "0.001"))
    exact = nw.mechanisms.LinearGaussian(nw.Vector(nw.Points([[1, 1]]), exact=True), frame.matrix, 12, 1)
    assert nw.certify(exact, nw.ApproxDP(1, "0.001")).bound < Fraction(1, 1000)


def test_ranges_in_which_floats_are_too_coarse_are_refused():
    with pytest.raises(NoisewrightError, match="exact=True"):
        nw.Scalar(0.01, inputs=(1e15, 1e15 + 1), outputs=(1e15, 1e15 + 1))
    nw.Scalar(1, inputs=(1e15, 1e15 + 1), outputs=(1e15, 1e15 + 1))


@pytest.mark.parametrize(("kind", "bits"), [(np.float16, 11), (np.float32, 24), (float, 53)])
def test_counts_in_floats_are_whole_numbers_that_the_type_can_tell_apart(kind, bits):
    counts = nw.mechanisms.Additive(nw.Scalar(1, integer=True), nw.laws.DiscreteLaplace(1), nw.laws.Lattice.integers())
    counts.law_given(kind(2 ** (bits - 1)))
    if bits < 53:
        with pytest.raises(InvalidAnswerError, match="skip whole numbers"):
            counts.law_given(kind(2**bits) + kind(2))
    with pytest.raises(InvalidAnswerError):
        QUERIES.answers([kind(2**bits) * kind(2), 0, 0])


def test_answers_computed_in_single_precision_are_refused_where_their_rounding_is_not_covered():
    mechanism = staircase_for(1)
    mechanism.law_given(np.float32(12.5))
    mechanism.law_given(np.float32(1) / np.float32(9))
    with pytest.raises(InvalidAnswerError, match="precision"):
        mechanism.law_given(np.float32(30000001.5))
    with pytest.raises(InvalidAnswerError, match="precision"):
        mechanism.law_given(np.float32(100) / np.float32(3))


@pytest.mark.parametrize("people", [1847, 3, 48842])
def test_computed_sensitivities_of_every_kind_are_raised(people):
    for computed in (
        np.float16(1) / np.float16(min(people, 2047)),
        Decimal(1) / people,
        str(1 / people),
        1 / people,
    ):
        true = Fraction(1, min(people, 2047) if isinstance(computed, np.float16) else people)
        assert nw.Scalar(computed).sensitivity >= true
    assert nw.Scalar("0.1").sensitivity == nw.Scalar(Decimal("0.1")).sensitivity == Fraction(1, 10)


# Nothing hangs, and nothing ends in a bare error.


@pytest.mark.parametrize(
    "build",
    [
        lambda: nw.laws.Laplace(10**10**5),
        lambda: nw.laws.Laplace(Fraction(1, 7**40000)),
        lambda: staircase_for(1).law_given(10**10**5),
        lambda: nw.mechanisms.MinkowskiExponential([[0], [1]], [[0]], 10**9, 1, 1),
        lambda: nw.mechanisms.LinearGaussian(PAIR, [[Fraction(1, 10**900), 1], [0, 1]], 1, 1),
        lambda: nw.Box(np.array(3.0)),
        lambda: nw.laws.Laplace(np.timedelta64(3)),
        lambda: make_certified(nw.mechanisms.RandomExponential(nw.Choice(["a"]), [1], [1]), nw.PureDP(1)).release(5),
        lambda: QUERIES.answers(np.array(3)),
        lambda: nw.mechanisms.PerCoordinate(nw.Vector(nw.Box([2])), [None]).law_given(np.array(3.0)),
    ],
)
def test_pathological_input_gets_the_usual_refusal(build):
    with pytest.raises(NoisewrightError):
        build()
    assert nw.laws.Laplace(np.str_("1/3")).scale == Fraction(1, 3)


def test_rows_are_certified_for_answers_a_rounding_error_beyond_the_sensitivity():
    # Rows two cells apart are met by answers just more than one cell apart; their ratio is 9, that of neighbours 3.
    weights = [[27, 3], [9, 9], [3, 27]]
    for exact, ratio in ((True, 3), (False, 9)):
        query = nw.Scalar(HALF, inputs=(0, 1), outputs=(-4, 5), exact=exact).bounded
        padded = [[*row, 100 - sum(row)] for row in weights]
        rows = nw.mechanisms.Rows(query, Grid([0, HALF, 1]), [-1, 2, 3], padded)
        bound = nw.certify(rows, nw.PureDP(5)).bound
        assert float(bound) == pytest.approx(math.log(ratio), rel=1e-9)


# Errors do not repeat what is private.

SECRET = "918273.645x"


@pytest.mark.parametrize(
    ("mechanism", "answer"),
    [
        (nw.mechanisms.Additive(nw.Scalar(1), nw.laws.Laplace(1), nw.laws.Lattice.cells(HALF)), SECRET),
        (nw.mechanisms.Truncated(BOUNDED, 1, 4, 4, 8), SECRET),
        (nw.mechanisms.Truncated(BOUNDED, 1, 4, 4, 8), 918273.645),
        (nw.mechanisms.NormShaped(PAIR, [nw.mechanisms.NormBlock([0, 1], [HALF, HALF], Fraction(1, 20))]), [SECRET, 1]),
        (
            nw.mechanisms.NormShaped(PAIR, [nw.mechanisms.NormBlock([0, 1], [HALF, HALF], Fraction(1, 20))]),
            [918273.645e40, 1],
        ),
        (nw.mechanisms.NormShaped(PAIR, [nw.mechanisms.NormBlock([0, 1], [HALF, HALF], Fraction(1, 20))]), SECRET),
        (nw.mechanisms.LinearGaussian(nw.Vector(nw.Points([[1, 0]])), [[1, 0], [0, 1]], 9, HALF), [SECRET, 1]),
        (nw.mechanisms.RandomExponential(nw.Choice(["a", "b"]), [1], [1]), {"a": SECRET, "b": 1}),
        (nw.mechanisms.RandomExponential(nw.Choice(["a", "b"]), [1], [1]), {SECRET: 1, "b": 1}),
        (nw.mechanisms.MinkowskiExponential([[0], [1]], [[0], [1]], 1, HALF, 1), SECRET),
        (nw.mechanisms.MinkowskiExponential([[0], [1]], [[0], [1]], 1, HALF, 1), 918273.645),
        (nw.mechanisms.MinkowskiExponential([[0], [1]], [[0], [1]], 1, HALF, 1), [1, 918273.645]),
    ],
)
def test_an_error_about_a_true_answer_does_not_repeat_it(mechanism, answer):
    approximate = isinstance(mechanism, nw.mechanisms.LinearGaussian)
    certified = make_certified(mechanism, nw.ApproxDP(1, "0.5") if approximate else nw.PureDP(1))
    with pytest.raises(InvalidAnswerError) as caught:
        certified.release(answer)
    assert "918273" not in f"{caught.value} {caught.value.fields} {caught.value.__cause__} {caught.value.__context__}"


@pytest.mark.parametrize("how", ["one", "list", "array"])
def test_bounded_answers_of_single_precision_that_skip_neighbours_are_refused(how: str):
    low = 10**8
    query = nw.Scalar(2, inputs=(low, low + 2000), outputs=(low, low + 2000)).bounded
    certified = make_certified(nw.mechanisms.Truncated(query, 1, 8, 1000, 1000, "cut", True), nw.PureDP(1))
    answer = np.float32(low + 1004.1)
    release = {
        "one": certified.release,
        "list": lambda x: certified.release_many([x, low + 1]),
        "array": lambda x: certified.release_many(np.array([x, x], dtype=np.float32)),
    }[how]
    with pytest.raises(nw.errors.InvalidAnswerError, match="double precision") as refused:
        release(answer)
    assert "1004" not in str(refused.value)
    assert low <= certified.release(low + 1004.1) <= low + 2000

"""How answers that may carry rounding errors meet a lattice, and what that does to releases and proofs."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import noisewright as nw
from noisewright.mechanisms.answers import LARGEST_FLOAT, STRETCH, read_answers, within_range
from noisewright.numerics.balls import precision
from noisewright.numerics.fields import BALLS
from noisewright.problem.errors import InvalidAnswerError, InvalidMechanismError, InvalidQueryError
from noisewright.problem.queries import Bounded

STEP = Fraction(1, 100)


def additive(*, exact: bool, scale: int = 2) -> nw.mechanisms.Additive:
    return nw.mechanisms.Additive(nw.Scalar(1, exact=exact), nw.laws.Laplace(scale), nw.laws.Lattice.cells(STEP))


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("answer", [0, 1, Fraction(-7, 3), 10**6, Fraction(123456789, 7)])
def test_a_release_is_the_answer_plus_the_noise_up_to_half_a_step(exact, answer):
    mechanism = additive(exact=exact)
    law = mechanism.law_given(answer)
    for k in (-300, 0, 17):
        noise = mechanism.lattice.centre(k) * mechanism.stretch
        assert abs(law.value(k) - answer - noise) <= mechanism.spacing / 2


def test_exact_answers_are_not_stretched_and_others_are():
    assert additive(exact=True).spacing == STEP
    assert additive(exact=False).spacing == STEP * STRETCH
    assert nw.Scalar(1, integer=True).exact
    with precision():
        plain, wide = (additive(exact=exact).expected(nw.SquaredError(), BALLS) for exact in (True, False))
        assert float((wide / plain).mid()) == pytest.approx(float(STRETCH**2), rel=1e-14)
        plain, wide = (additive(exact=exact).expected(nw.ErrorQuantile("0.9"), BALLS) for exact in (True, False))
        assert float((wide / plain).mid()) == pytest.approx(float(STRETCH), rel=1e-12)


@pytest.mark.parametrize(
    "law",
    [
        nw.laws.Laplace(2),
        nw.laws.Gaussian(2),
        nw.laws.GeneralizedGaussian(3, 2),
        nw.laws.Logistic(2),
        nw.laws.TruncatedLaplace(2, 7),
        nw.laws.GaussianMixture([1, 4], ["1/3", "2/3"]),
        nw.laws.Tabulated(Fraction(1, 2), [5, 3, 1], 0),
        nw.laws.staircase(epsilon=1, sensitivity=1, split="0.3"),
        nw.laws.skewed_staircase(epsilon=1, sensitivity=1, left="-0.2", right="0.7"),
        nw.laws.TwoFold(nw.folds.GammaFold(4, "1/3")),
    ],
    ids=lambda law: type(law).__name__,
)
def test_a_scaled_law_is_that_of_the_multiple(law):
    factor = Fraction(7, 3)
    scaled = law.scaled(factor)
    with precision():
        for x in (Fraction(-5, 2), Fraction(-1, 10), Fraction(0), Fraction(3, 4), Fraction(9, 2)):
            difference = scaled.sf(factor * x, BALLS) - law.sf(x, BALLS)
            assert difference.contains(0) or abs(float(difference.mid())) < 1e-18
        ratio = scaled.moment(1, BALLS) / law.moment(1, BALLS)
        assert float(ratio.mid()) == pytest.approx(float(factor), rel=1e-12)


@pytest.mark.parametrize("kind", [float, np.float64, np.longdouble])
def test_floats_are_limited_in_size_and_exact_numbers_are_not(kind):
    mechanism = additive(exact=False)
    mechanism.law_given(kind(LARGEST_FLOAT))
    with pytest.raises(InvalidAnswerError, match="too large for a float"):
        mechanism.law_given(kind(LARGEST_FLOAT) * kind(1.001))
    for exact in (2 * LARGEST_FLOAT, Fraction(3 * LARGEST_FLOAT), Decimal(2) * LARGEST_FLOAT, f"{4 * LARGEST_FLOAT}"):
        mechanism.law_given(exact)
    additive(exact=True).law_given(kind(LARGEST_FLOAT) * 2)


@pytest.mark.parametrize(
    ("chosen", "moves"),
    [
        (nw.Box([2, 0]), (2, 0)),
        (nw.L1Ball(6, 2), (3, 3)),
        (nw.L2Ball(6, 2), (3, 3)),
        (nw.Points([[5, 0], [-1, 0]]), (1, 0)),
    ],
    ids=lambda given: type(given).__name__,
)
def test_several_answers_are_limited_by_what_their_set_tells_apart(chosen, moves):
    query = nw.Vector(chosen)
    assert query.sensitivity.smallest == moves
    largest = [float(LARGEST_FLOAT * move) if move else 1e300 for move in moves]
    assert read_answers(largest, query) == [Fraction(repr(x)) for x in largest]
    with pytest.raises(InvalidAnswerError, match="too large for a float"):
        read_answers([largest[0] * 1.001, largest[1]], query)
    read_answers([largest[0] * 2, 0], nw.Vector(chosen, exact=True))


def test_parts_for_exact_answers_need_a_question_that_declares_them():
    with pytest.raises(InvalidMechanismError, match="exact"):
        nw.mechanisms.PerCoordinate(nw.Vector(nw.Box([1])), [additive(exact=True)])
    nw.mechanisms.PerCoordinate(nw.Vector(nw.Box([1]), exact=True), [additive(exact=True)])
    nw.mechanisms.PerCoordinate(nw.Vector(nw.Box([1]), exact=True), [additive(exact=False)])


def test_blocks_are_stretched_as_one():
    blocks = [nw.mechanisms.NormBlock([0, 1], [STEP, 2 * STEP], Fraction(1, 500))]
    plain, wide = (nw.mechanisms.NormShaped(nw.Vector(nw.Box([1, 2]), exact=exact), blocks) for exact in (True, False))
    assert wide.stretch(blocks[0]) == STRETCH
    answer = [Fraction(10**5), Fraction(-(10**5))]
    for (at, block), x, step in zip(wide.law_given(answer), answer, blocks[0].steps, strict=True):
        assert block == blocks[0]
        assert (at / (step * STRETCH)).denominator == 1
        assert abs(at - x) <= step * STRETCH / 2
    with precision():
        for power in (1, 2):
            for a, b in zip(
                plain.power_means(Fraction(power), BALLS), wide.power_means(Fraction(power), BALLS), strict=True
            ):
                assert float((b / a).mid()) == pytest.approx(float(STRETCH**power), rel=1e-14)


def test_scores_of_a_choice_are_contracted():
    masses = {}
    for exact in (True, False):
        mechanism = nw.mechanisms.RandomExponential(nw.Choice(["a", "b"], exact=exact), [1], [1])
        law = mechanism.law_given({"a": 2**25, "b": 2**25 - 3})
        with precision():
            masses[exact] = float(law.masses(BALLS)[0].mid())
    assert masses[True] == pytest.approx(1 / (1 + math.exp(-1.5)), rel=1e-15)
    assert masses[False] == pytest.approx(1 / (1 + math.exp(-1.5 / float(STRETCH))), rel=1e-15)
    assert masses[False] < masses[True]


def test_correlated_noise_counts_one_more_step_unless_answers_are_exact():
    bounds = {}
    for exact in (True, False):
        query = nw.Vector(nw.Points([[1, 0]]), exact=exact)
        frame = nw.mechanisms.LinearGaussian(query, [[1, 1], [0, 1]], 2, Fraction(1, 8))
        bounds[exact] = nw.certify(frame, nw.ApproxDP(1, "0.4")).bound
    # With exact answers the frame moves by 8 steps in one coordinate; else by 9, and by none where nothing moves.
    assert float(bounds[True]) == pytest.approx(_gaussian_delta(1, 1 / 2), rel=1e-12)
    assert float(bounds[False]) == pytest.approx(_gaussian_delta(1, 9 / 16), rel=1e-12)


def _gaussian_delta(epsilon: float, length: float) -> float:
    def tail(x: float) -> float:
        return math.erfc(x / math.sqrt(2)) / 2

    return tail(epsilon / length - length / 2) - math.exp(epsilon) * tail(epsilon / length + length / 2)


def test_bounded_answers_are_certified_for_a_hair_more_than_the_sensitivity():
    wide = Bounded("0.25", (0, 1), (-4, 5), None)
    assert wide.reach == Fraction(1, 4) * STRETCH
    assert Bounded(1, (0, 1), (-4, 5), None).reach == 1
    assert Bounded("0.25", (0, 1), (-4, 5), None, True).reach == Fraction(1, 4)
    with pytest.raises(InvalidQueryError, match="exact=True"):
        nw.Scalar(1, inputs=(10**9, 10**9 + 2), outputs=(0, 2 * 10**9))
    nw.Scalar(1, inputs=(10**9, 10**9 + 2), outputs=(0, 2 * 10**9), exact=True)


def test_a_rounding_error_outside_a_range_is_at_its_end_and_more_is_refused():
    low, high = Fraction(1), Fraction(3)
    slack = (high - low) / 2**24
    assert within_range(high + slack, low, high, False) == high
    assert within_range(low - slack, low, high, False) == low
    for beyond in (high + 2 * slack, low - 2 * slack):
        with pytest.raises(InvalidAnswerError, match="outside"):
            within_range(beyond, low, high, False)
    with pytest.raises(InvalidAnswerError, match="outside"):
        within_range(high + slack, low, high, True)

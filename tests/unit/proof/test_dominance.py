"""Second folds that cannot beat Laplace noise (R2DP, Theorem 4.5), and what is left of a bit behind two-fold noise."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad

import noisewright as nw
from noisewright.folds import (
    Atoms,
    Ensemble,
    FormulaFold,
    GammaFold,
    NoncentralChiSquaredFold,
    RayleighFold,
    TruncatedNormalFold,
    UniformFold,
    laplace_condition,
    local_response,
    point_fold,
    two_point_fold,
)
from noisewright.numerics.fields import FLOATS
from noisewright.proof.pure import pure_bound

HALF = Fraction(1, 2)


def uniform_truth(low: float, high: float, shift: float) -> tuple[float, float]:
    """Both sides of Equation 8 for uniform rates, by quadrature over the rate."""

    def mean(f: Any) -> float:
        return float(quad(f, low, high)[0]) / (high - low)

    cost = math.log(mean(lambda u: u) / mean(lambda u: u * math.exp(-u * shift)))
    return cost, math.log(mean(lambda u: math.exp(u * shift)))


def normal_truth(centre: float, spread: float, low: float, shift: float) -> tuple[float, float]:
    """The same for normal rates above a limit."""

    def weight(u: float) -> float:
        return math.exp(-(((u - centre) / spread) ** 2) / 2)

    def mean(f: Any) -> float:
        top = centre + 40 * spread
        whole = quad(weight, low, top, limit=400)[0]
        return float(quad(lambda u: f(u) * weight(u), low, top, limit=400)[0] / whole)

    cost = math.log(mean(lambda u: u) / mean(lambda u: u * math.exp(-u * shift)))
    return cost, math.log(mean(lambda u: math.exp(u * shift)))


def check(found: Any, cost: float, averaged: float) -> None:
    assert found.averaged is not None
    for (low, high), true in ((found.epsilon, cost), (found.averaged, averaged)):
        assert low <= high
        assert float(low) == pytest.approx(true, rel=1e-7)
        assert float(high) == pytest.approx(true, rel=1e-7)


def test_lemma_b_4_a_gamma_fold_may_help_from_shape_1_4094_on():
    """At scale 1 / (2 sensitivity): (k + 1) ln 1.5 < k ln 2."""
    limit = math.log(1.5) / (math.log(2) - math.log(1.5))
    assert limit == pytest.approx(1.4094, abs=1e-4)
    for shape, helps in (("1.40", False), ("1.41", True), ("9", True)):
        found = laplace_condition(GammaFold(shape, Fraction(1, 6)), 3)
        check(found, (float(Fraction(shape)) + 1) * math.log(1.5), float(Fraction(shape)) * math.log(2))
        assert found.may_help is helps


def test_lemma_b_6_a_uniform_fold_may_help():
    """The paper's example: rates between 0.5 and 9, sensitivity 1.2; and Theorem B.5 in its corrected form."""
    found = laplace_condition(UniformFold("0.5", 9), "1.2")
    check(found, *uniform_truth(0.5, 9, 1.2))
    assert found.may_help
    a, b = 0.5 * 1.2, 9 * 1.2
    printed = math.log((a**2 - b**2) / (2 * ((1 + b) * math.exp(-b) - (1 + a) * math.exp(-a))))
    assert float(found.epsilon[1]) == pytest.approx(printed, rel=1e-12)


def test_lemma_b_8_a_truncated_normal_fold_may_help_but_its_epsilon_is_misprinted():
    """Centre and limit 0.5223, spread 1.5454, sensitivity 0.6: 1.1703 is printed, 1.1801 is true; 1.2417 is right."""
    found = laplace_condition(TruncatedNormalFold("0.5223", "1.5454", "0.5223", None), "0.6")
    check(found, *normal_truth(0.5223, 1.5454, 0.5223, 0.6))
    assert found.averaged is not None
    assert [round(float(v), 4) for v in (*found.epsilon, *found.averaged)] == [1.1801, 1.1801, 1.2417, 1.2417]
    assert found.may_help


FOLDS = [
    two_point_fold("1/3", 4, "3/4"),
    two_point_fold("1/10", "1/5", "1/2"),
    Atoms(["1/2", 2, 7], ["1/5", "3/5", "1/5"]),
    GammaFold("1/2", "1/3"),
    GammaFold(3, "1/4"),
    UniformFold(0, "1/2"),
    UniformFold(1, 8),
    TruncatedNormalFold(1, 1, "1/4", 3),
    RayleighFold("1/5"),
    NoncentralChiSquaredFold(1, 1, "1/20"),
    Ensemble([1, "1/2"], [GammaFold(1, "1/4"), UniformFold(0, 1)]),
]


@pytest.mark.parametrize("fold", FOLDS, ids=lambda fold: str(fold.CARD.kind))
@pytest.mark.parametrize("shift", [HALF, Fraction(1), Fraction(3, 2)])
def test_a_fold_that_cannot_help_has_larger_errors_of_every_size(fold: Any, shift: Fraction):
    """Its epsilon is the exact one, and where it may not help every tail is at least that of Laplace noise."""
    found = laplace_condition(fold, shift)
    bound = pure_bound(nw.laws.TwoFold(fold), shift)[0]
    assert float(bound) == pytest.approx(float(found.epsilon[1]), rel=1e-9)
    if not found.may_help:
        sizes = np.geomspace(1e-3, 30, 60)
        tails = [float(fold.transform(float(x), FLOATS)) for x in sizes]
        usual = np.exp(-float(found.epsilon[0]) * sizes / float(shift))
        assert np.all(np.array(tails) >= usual * (1 - 1e-9))


def test_both_answers_occur():
    answers = {laplace_condition(fold, shift).may_help for fold in FOLDS for shift in (HALF, Fraction(1))}
    assert answers == {True, False}


def test_laplace_noise_itself_cannot_beat_laplace_noise():
    found = laplace_condition(point_fold("2/3"), "3/2")
    assert found.epsilon == found.averaged == (Fraction(1), Fraction(1))
    assert not found.may_help


def test_an_average_that_is_infinite_or_unknown_refutes_nothing():
    for fold in (GammaFold(3, 1), GammaFold(3, 2), FormulaFold("(1 + x)**-3")):
        found = laplace_condition(fold, 1)
        assert found.averaged is None
        assert found.may_help
    assert laplace_condition(GammaFold(3, "99/100"), 1).averaged is not None


@pytest.mark.parametrize("call", [laplace_condition, local_response])
def test_what_is_no_fold_or_no_sensitivity_is_refused(call: Any):
    with pytest.raises(nw.errors.InvalidLawError, match="give a second fold"):
        call(nw.laws.Laplace(1), 1)
    for wrong in (0, -1):
        with pytest.raises(nw.errors.InvalidQueryError, match="above 0"):
            call(point_fold(1), wrong)


def test_randomised_response_is_a_limit_of_two_fold_noise_on_a_bit():
    """Weight 3/5 on a rate that grows, the rest on one that falls: the truth in 4 of 5, and the noise itself leaks."""
    seen = []
    for size in (10, 10**2, 10**3, 10**4):
        fold = two_point_fold(Fraction(1, size), size, Fraction(2, 5))
        found = local_response(fold)
        seen.append((float(found.truth[0]), float(found.epsilon[1]), float(laplace_condition(fold, 1).epsilon[0])))
    assert seen[-1][0] == pytest.approx(0.8, abs=3e-5)
    assert seen[-1][1] == pytest.approx(math.log(4), abs=2e-4)
    losses = [loss for _, _, loss in seen]
    assert losses == sorted(losses)
    assert losses[-1] > 15
    limit = nw.mechanisms.RandomisedResponse(["0", "1"], "4/5")
    assert nw.certify(limit, nw.PureDP("1.3863")).bound == pytest.approx(math.log(4), rel=1e-12)


@pytest.mark.parametrize("fold", FOLDS, ids=lambda fold: str(fold.CARD.kind))
def test_a_rounded_bit_is_true_as_often_as_the_noise_stays_on_its_side(fold: Any):
    law = nw.laws.TwoFold(fold)
    wrong = float(law.sf(0.75, FLOATS))
    found = local_response(fold, "3/2")
    assert float(found.truth[0]) == pytest.approx(1 - wrong, rel=1e-9)
    assert float(found.epsilon[1]) == pytest.approx(math.log((1 - wrong) / wrong), rel=1e-7)
    # Rounding is post-processing: what is left never costs more than the noise.
    assert found.epsilon[1] <= laplace_condition(fold, "3/2").epsilon[1]

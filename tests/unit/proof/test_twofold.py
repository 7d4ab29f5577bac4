"""Proofs about two-fold noise: the pure bound, the counterexample of Theorem B.2, Renyi divergences."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import noisewright as nw
from noisewright.lab.r2dp.tables import paper_bound
from noisewright.laws.two_fold import GammaFold, TwoFold, point_fold, two_point_fold
from noisewright.numerics.fields import FLOATS
from noisewright.problem.errors import InvalidPrivacyError, MechanismFileError, UncertifiedError
from noisewright.proof.mixtures import renyi_ball
from noisewright.proof.pure import pure_bound
from noisewright.proof.renyi import renyi_divergence
from noisewright.sample.certified import Certified, make_certified
from tests.twofold import FOLDS


def bound_of(fold, alpha):
    bound = paper_bound(fold, alpha)
    assert bound is not None
    return float(bound.mid())


def additive(fold, steps=100):
    return nw.mechanisms.Additive(nw.Scalar(1), TwoFold(fold), nw.laws.Lattice.cells(Fraction(1, steps)))


@pytest.mark.parametrize("fold", FOLDS.values(), ids=FOLDS)
def test_the_pure_bound_is_the_largest_log_ratio(fold):
    bound = float(pure_bound(TwoFold(fold), Fraction(1))[0])
    law = TwoFold(fold)
    attained = math.log(law.density(0.0, FLOATS) / law.density(1.0, FLOATS))
    assert bound == pytest.approx(attained, rel=1e-12)
    for x in np.linspace(-4, 4, 81):
        for s in (-1.0, -0.4, 0.3, 1.0):
            assert math.log(law.density(x, FLOATS) / law.density(x + s, FLOATS)) <= bound + 1e-12


def test_gamma_has_its_closed_form():
    assert float(pure_bound(TwoFold(GammaFold(Fraction(3), Fraction(1, 2))), Fraction(2))[0]) == pytest.approx(
        4 * math.log(2), rel=1e-15
    )


def test_one_rate_is_proven_exactly():
    assert pure_bound(TwoFold(point_fold(Fraction(1, 3))), Fraction(3)) == (Fraction(1), "pure/two-fold")


def test_the_counterexample_to_theorem_b2():
    """R2DP, Theorem B.2: rate 1e-4 with probability .99, 1 with .01; it claims 0.0171, the truth is 0.9833."""
    mechanism = additive(two_point_fold(Fraction(1, 10_000), Fraction(1), Fraction(99, 100)))
    claimed = math.log(0.99 * math.exp(1e-4) + 0.01 * math.e)
    assert claimed == pytest.approx(0.0171, abs=5e-5)
    with pytest.raises(UncertifiedError, match=r"0\.98"):
        nw.certify(mechanism, nw.PureDP("0.0171"))
    with pytest.raises(UncertifiedError):
        nw.certify(mechanism, nw.PureDP("0.983"))
    certificate = nw.certify(mechanism, nw.PureDP("0.9834"))
    assert float(certificate.bound) == pytest.approx(0.9833, abs=5e-5)
    assert certificate.rule == "pure/two-fold"


@pytest.mark.parametrize("name", ["two-point", "gamma", "Rayleigh", "ensemble", "formula", "truncated normal"])
def test_files_are_proven_again_and_tampering_is_refused(name):
    fold = FOLDS[name]
    bound = pure_bound(TwoFold(fold), Fraction(1))[0]
    certified = make_certified(additive(fold), nw.PureDP(bound + Fraction(1, 1000)))
    data = certified.to_dict()
    assert Certified.from_dict(data).certificate.bound == bound
    edited = {**data, "mechanism": {**data["mechanism"], "law": TwoFold(fold.scaled(Fraction(3, 2))).to_dict()}}
    with pytest.raises(MechanismFileError, match="digest"):
        Certified.from_dict(edited)
    from noisewright.problem.records import digest

    content = {key: value for key, value in edited.items() if key != "digest"}
    with pytest.raises((UncertifiedError, MechanismFileError)):
        Certified.from_dict({**content, "digest": digest(content)})


def test_renyi_values_of_two_folds_by_hand():
    fold = GammaFold(Fraction(1), Fraction(1))
    enclosed = renyi_ball(TwoFold(fold), Fraction(1), Fraction(5, 2))
    assert 0.6505 < float(enclosed.lower()) <= 0.6513 <= float(enclosed.upper()) < 0.6519
    assert paper_bound(fold, Fraction(5, 2)) is None  # infinite
    assert bound_of(fold, Fraction(3, 2)) > float(renyi_ball(TwoFold(fold), Fraction(1), Fraction(3, 2)).upper())


@pytest.mark.parametrize("alpha", [Fraction(2), Fraction(5, 2), Fraction(10)])
def test_renyi_of_one_rate_is_that_of_laplace_noise(alpha):
    a = float(alpha)
    closed = math.log(a / (2 * a - 1) * math.exp(a - 1) + (a - 1) / (2 * a - 1) * math.exp(-a)) / (a - 1)
    enclosed = renyi_ball(TwoFold(point_fold(Fraction(1))), Fraction(1), alpha)
    assert float(enclosed.lower()) <= closed <= float(enclosed.upper())
    assert bound_of(point_fold(Fraction(1)), alpha) == pytest.approx(closed, rel=1e-12)


def test_renyi_of_order_one_is_the_kullback_leibler_divergence():
    enclosed = renyi_ball(TwoFold(point_fold(Fraction(1))), Fraction(1), Fraction(1))
    assert float(enclosed.lower()) <= math.exp(-1) <= float(enclosed.upper())
    assert bound_of(point_fold(Fraction(1)), Fraction(1)) == pytest.approx(math.exp(-1), rel=1e-12)


def test_renyi_grows_with_the_shift_and_is_certified():
    law = TwoFold(FOLDS["two-point"])
    values = [float(renyi_divergence(law, Fraction(2), Fraction(k, 2))[0]) for k in (1, 2)]
    assert values == sorted(values)
    nw.certify(additive(FOLDS["two-point"]), nw.RenyiDP(2, Fraction(values[-1]) + Fraction(1, 1000)))
    with pytest.raises(UncertifiedError):
        nw.certify(additive(FOLDS["two-point"]), nw.RenyiDP(2, Fraction(values[-1]) * Fraction(9, 10)))


def test_orders_that_cannot_be_meant_are_refused():
    with pytest.raises(InvalidPrivacyError):
        renyi_ball(TwoFold(point_fold(Fraction(1))), Fraction(1), Fraction(0))
    with pytest.raises(InvalidPrivacyError):
        paper_bound(point_fold(Fraction(1)), Fraction(1, 2))

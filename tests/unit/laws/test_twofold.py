"""Two-fold noise and its second folds: every way of computing a quantity agrees with every other."""

from __future__ import annotations

import json
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import gamma, ncx2, rayleigh, truncnorm

import noisewright as nw
from noisewright.laws.formula import FormulaFold
from noisewright.laws.registry import law_from_dict
from noisewright.laws.two_fold import (
    Atoms,
    Ensemble,
    GammaFold,
    NoncentralChiSquaredFold,
    RayleighFold,
    TruncatedNormalFold,
    TwoFold,
    UniformFold,
)
from noisewright.numerics.balls import precision
from noisewright.numerics.fields import BALLS, FLOATS
from noisewright.problem.errors import InvalidLawError
from tests.twofold import FOLDS

EVERY = pytest.mark.parametrize("fold", FOLDS.values(), ids=FOLDS)
POINTS = (Fraction(0), Fraction(1, 1000), Fraction(1), Fraction(10), Fraction(1000))

DENSITIES = {
    "gamma": lambda u: gamma.pdf(u, 3, scale=0.5),
    "uniform": lambda u: 1 / 2.9 if 0.1 <= u <= 3 else 0.0,
    "truncated normal": lambda u: truncnorm.pdf(u, -0.75, 3, loc=1, scale=1),
    "noncentral chi-squared": lambda u: 3 * ncx2.pdf(3 * u, 5, 3),
    "Rayleigh": lambda u: rayleigh.pdf(u, scale=2),
}


@EVERY
@pytest.mark.parametrize("x", POINTS)
def test_floats_and_balls_agree(fold, x):
    with precision():
        for function in (fold.transform, fold.slope):
            rigorous = function(BALLS.real(x), BALLS)
            assert float(function(float(x), FLOATS)) == pytest.approx(float(rigorous.mid()), rel=1e-9, abs=1e-300)
            assert float(rigorous.rad()) <= 1e-25 * max(float(rigorous.mid()), 1e-300)


@EVERY
def test_the_slope_is_the_derivative_of_the_transform(fold):
    step = Fraction(1, 10**10)
    with precision():
        ahead, behind = (fold.transform(BALLS.real(1 + s), BALLS) for s in (step, -step))
        assert float(((behind - ahead) / (2 * BALLS.real(step))).mid()) == pytest.approx(
            fold.slope(1.0, FLOATS), rel=1e-9
        )


@pytest.mark.parametrize("name", DENSITIES)
def test_transforms_and_moments_match_an_integral_over_the_rate(name):
    fold, density = FOLDS[name], DENSITIES[name]
    top = 60.0
    for x in (0.0, 0.3, 2.0):
        numeric = quad(lambda u, at=x: density(u) * math.exp(-u * at), 0, top, points=[0.1, 3, 4], limit=200)[0]
        assert float(fold.transform(x, FLOATS)) == pytest.approx(numeric, rel=1e-6)
    numeric = quad(lambda u: density(u) / math.sqrt(u), 0, top, points=[0.1, 3, 4], limit=200)[0]
    assert float(fold.inverse_moment(Fraction(1, 2), FLOATS)) == pytest.approx(numeric, rel=1e-4)


@EVERY
@pytest.mark.parametrize("power", [Fraction(1, 4), Fraction(1), Fraction(2)])
def test_inverse_moments_in_balls_enclose_those_in_floats(fold, power):
    with precision():
        value = fold.inverse_moment(power, BALLS)
        quick = float(fold.inverse_moment(power, FLOATS))
        if not value.is_finite():
            assert quick == math.inf
            assert fold.inverse_reach is not None
            assert power >= fold.inverse_reach
        else:
            assert quick == pytest.approx(float(value.mid()), rel=2e-3)
            assert float(value.rad()) <= 2e-3 * float(value.mid())


def test_an_ensemble_of_two_gammas_of_one_scale_is_a_gamma():
    parts = (GammaFold(Fraction(3, 2), Fraction(1)), GammaFold(Fraction(2), Fraction(1)))
    both, single = Ensemble((Fraction(1), Fraction(1)), parts), GammaFold(Fraction(7, 2), Fraction(1))
    with precision():
        for x in (Fraction(1, 3), Fraction(5)):
            assert both.transform(BALLS.real(x), BALLS).overlaps(single.transform(BALLS.real(x), BALLS))
            assert both.slope(BALLS.real(x), BALLS).overlaps(single.slope(BALLS.real(x), BALLS))
        for power in (Fraction(1), Fraction(2)):
            assert both.inverse_moment(power, BALLS).overlaps(single.inverse_moment(power, BALLS))


@EVERY
def test_density_tails_and_scaling_belong_together(fold):
    law = TwoFold(fold)
    mass = quad(lambda x: float(law.density(x, FLOATS)), 0, 3, limit=200)[0]
    assert mass == pytest.approx(0.5 - float(law.sf(3.0, FLOATS)), rel=1e-7)
    assert float(law.cdf(-2.0, FLOATS)) == float(law.sf(2.0, FLOATS))
    assert float(law.sf(-2.0, FLOATS)) == 1 - float(law.sf(2.0, FLOATS))
    doubled = TwoFold(fold.scaled(Fraction(2)))
    assert float(doubled.sf(1.0, FLOATS)) == pytest.approx(float(law.sf(2.0, FLOATS)), rel=1e-12)


@EVERY
def test_laws_survive_a_file(fold):
    law = TwoFold(fold)
    assert law_from_dict(json.loads(json.dumps(law.to_dict()))) == law


def test_one_rate_is_laplace_noise():
    law, usual = TwoFold(FOLDS["point"]), nw.laws.Laplace(Fraction(2, 3))
    for x in np.linspace(-3, 3, 7):
        assert float(law.density(x, FLOATS)) == pytest.approx(usual.density(x, FLOATS), rel=1e-14)
    assert float(law.moment(2, FLOATS)) == pytest.approx(usual.moment(2, FLOATS), rel=1e-14)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Atoms((Fraction(1),), (Fraction(1, 2),)),
        lambda: Atoms((Fraction(-1),), (Fraction(1),)),
        lambda: Atoms((), ()),
        lambda: GammaFold(Fraction(0), Fraction(1)),
        lambda: UniformFold(Fraction(2), Fraction(1)),
        lambda: TruncatedNormalFold(Fraction(0), Fraction(1), Fraction(-1), None),
        lambda: TruncatedNormalFold(Fraction(0), Fraction(1), Fraction(40), None),
        lambda: NoncentralChiSquaredFold(Fraction(1), Fraction(-1), Fraction(1)),
        lambda: NoncentralChiSquaredFold(Fraction(1), Fraction(2000), Fraction(1)),
        lambda: RayleighFold(Fraction(0)),
        lambda: Ensemble((Fraction(0),), (GammaFold(Fraction(1), Fraction(1)),)),
        lambda: Ensemble((Fraction(1),), (Ensemble((Fraction(1),), (GammaFold(Fraction(1), Fraction(1)),)),)),
        lambda: TwoFold("gamma"),  # type: ignore[arg-type]
    ],
)
def test_impossible_folds_are_refused(make):
    with pytest.raises(InvalidLawError):
        make()


@pytest.mark.parametrize(
    ("formula", "closed"),
    [
        ("(1 + 2*x)**-3", lambda x: (1 + 2 * x) ** -3),
        ("exp(-3*log(1 + x))", lambda x: (1 + x) ** -3),
        ("exp(-x) / (1 + x)", lambda x: math.exp(-x) / (1 + x)),
        ("exp(-(1 - exp(-x))) * exp(-x)", lambda x: math.exp(-(1 - math.exp(-x)) - x)),
        ("2*exp(-x) + 3*exp(-4*x)", lambda x: (2 * math.exp(-x) + 3 * math.exp(-4 * x)) / 5),
        ("(1 + x)**-0.5 * (1 + x)**-2", lambda x: (1 + x) ** -2.5),
    ],
)
def test_formulas_that_are_laplace_transforms_are_proven(formula, closed):
    fold = FormulaFold(formula)
    for x in (0.0, 0.7, 5.0):
        assert float(fold.transform(x, FLOATS)) == pytest.approx(closed(x), rel=1e-12)


@pytest.mark.parametrize(
    "formula",
    [
        "exp(-x**2)",  # the transform of no positive rate
        "1/(1 + x**2)",
        "2*exp(-x) - exp(-2*x)",  # a difference is not covered, whatever it is
        "0.5 + 0.5*exp(-x)",  # the rate would be 0 half of the time
        "exp(-x**0.5)",  # infinite mean
        "exp(x)",
        "x",
        "1",
        "cos(x)",
        "__import__('os')",
        "(1 + y)**-1",
        "exp(-x",
        "(1 + x)**-5000",
        "exp(-x)" * 100,
    ],
)
def test_formulas_that_are_not_proven_are_refused(formula):
    with pytest.raises(InvalidLawError):
        FormulaFold(formula)

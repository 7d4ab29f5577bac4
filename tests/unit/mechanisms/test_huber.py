"""Huber's loss, against integrals and sums done in another way."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from scipy.integrate import quad

import noisewright as nw
from noisewright.mechanisms.expected import ErrorLaw
from noisewright.numerics.balls import lower, precision, upper
from noisewright.numerics.fields import BALLS, FLOATS
from noisewright.search.families.scalar_pure import laplace, tuned_staircase

KNEES = ["0.05", "0.7", 3, 40]


def loss(x: float, knee: float) -> float:
    return min(abs(x), knee) * (abs(x) - min(abs(x), knee) / 2)


@pytest.mark.parametrize("knee", KNEES)
def test_the_mean_of_laplace_noise_is_its_integral(knee):
    utility, scale = nw.Huber(knee), 2.0
    law = ErrorLaw(nw.laws.Laplace(2).stepped(Fraction(1, 500)), False)
    at = float(utility.knee)
    truth = sum(quad(lambda x: loss(x, at) * math.exp(-x / scale) / scale, *ends)[0] for ends in ((0, at), (at, 200)))
    assert utility.under(law, FLOATS) == pytest.approx(truth, rel=2e-3)
    with precision():
        around = utility.under(law, BALLS)
    assert lower(around) <= Fraction(utility.under(law, FLOATS)) <= upper(around)
    assert upper(around) - lower(around) <= Fraction(truth) / 1000


@pytest.mark.parametrize("knee", KNEES)
def test_the_mean_of_integer_noise_is_its_sum(knee):
    utility, query = nw.Huber(knee), nw.Scalar(3, integer=True)
    for mechanism in (laplace(query, Fraction(1), utility), tuned_staircase(query, Fraction(1), utility)):
        density = mechanism.error_density
        masses = {k: float(density.density(k, FLOATS)) for k in range(-150, 151)}
        truth = sum(p * loss(k, float(utility.knee)) for k, p in masses.items())
        around = mechanism.expected(utility)
        assert float(lower(around)) <= truth * (1 + 1e-12)
        assert float(upper(around)) >= truth * (1 - 1e-12)
        assert float(around.mid()) == pytest.approx(truth, rel=1e-9)


def test_a_far_knee_is_half_the_squared_error_and_a_near_one_the_absolute_error():
    mechanism = laplace(nw.Scalar(1), Fraction(1), nw.SquaredError())
    squared, absolute = (float(mechanism.expected(u).mid()) for u in (nw.SquaredError(), nw.AbsoluteError()))
    assert float(mechanism.expected(nw.Huber(60)).mid()) == pytest.approx(squared / 2, rel=1e-3)
    assert float(mechanism.expected(nw.Huber("1e-6")).mid()) * 1e6 == pytest.approx(absolute, rel=1e-5)


def test_the_unit_of_errors_moves_the_knee_and_squares_the_value():
    utility, unit = nw.Huber(3), Fraction(5, 2)
    wide, narrow = ErrorLaw(nw.laws.Gaussian(5), False), ErrorLaw(nw.laws.Gaussian(2), False)
    factor = float(unit**utility.degree)
    assert utility.under(wide, FLOATS) == pytest.approx(factor * utility.scaled(unit).under(narrow, FLOATS), rel=1e-9)


def test_a_design_ranks_by_it_and_nothing_beats_its_bound():
    report = nw.design(nw.Scalar(1), privacy=nw.PureDP(2), utility=nw.Huber(1))
    usual = next(c for c in report.candidates if c.name == "Laplace")
    assert report.bound is not None
    assert report.bound <= report.candidates[0].value < usual.value
    assert report.candidates[0].gap is not None
    assert report.candidates[0].gap < 0.002


def test_answers_in_bounds_are_refused():
    query = nw.Scalar(1, inputs=(0, 1), outputs=(-2, 3), unbiased=True)
    with pytest.raises(nw.errors.InvalidUtilityError, match="give one of"):
        nw.design(query, privacy=nw.PureDP(1), utility=nw.Huber(1))


def test_several_numbers_add_up_their_losses():
    one = [nw.design(nw.Scalar(size), privacy=nw.PureDP(1), utility=nw.Huber(1)).best.mechanism for size in (1, 2)]
    both = nw.mechanisms.PerCoordinate(nw.Vector(nw.Disjoint([1, 2])), one)
    alone = [float(mechanism.expected(nw.Huber(1)).mid()) for mechanism in one]
    assert float(both.expected(nw.Huber(1)).mid()) == pytest.approx(sum(alone), rel=1e-9)

"""Rounded noise without a formula of its own, checked on the one law that has one."""

from __future__ import annotations

from fractions import Fraction

import pytest

from noisewright.laws.laplace import Laplace
from noisewright.mechanisms.expected import ErrorLaw
from noisewright.mechanisms.losses import Smoothed
from noisewright.numerics.balls import lower, precision, upper
from noisewright.numerics.fields import BALLS, FLOATS
from noisewright.problem.utilities import ErrorQuantile, Expected, Growth, Usefulness

LAW = Laplace(Fraction(3, 2))
STEPS = [Fraction(1, 10), Fraction(1, 2)]


@pytest.mark.parametrize("step", STEPS)
def test_the_distribution_is_that_of_the_stepped_law(step):
    smoothed, stepped = Smoothed(LAW, step), LAW.stepped(step)
    with precision(128):
        for x in map(Fraction, ("-7", "-0.33", "0", "0.01", "1/2", "0.77", "12.3")):
            assert smoothed.sf(x, BALLS).overlaps(stepped.sf(x, BALLS))
            assert smoothed.cdf(x, BALLS).overlaps(stepped.cdf(x, BALLS))
            assert smoothed.density(x, BALLS).overlaps(stepped.density(x, BALLS))
        assert smoothed.mean(BALLS).contains(0)


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("power", ["0.3", "1", "1.5", "2", "2.5", "4"])
def test_a_moment_lies_in_its_enclosure(step, power):
    exponent = Fraction(power)
    with precision(128):
        enclosure, exact = Smoothed(LAW, step).moment(exponent, BALLS), LAW.stepped(step).moment(exponent, BALLS)
        assert lower(enclosure) <= lower(exact)
        assert upper(enclosure) >= upper(exact)
        assert upper(enclosure) - lower(enclosure) <= upper(exact) * step
    assert Smoothed(LAW, step).moment(exponent, FLOATS) == pytest.approx(float(lower(exact)), rel=float(step))


@pytest.mark.parametrize(
    "utility",
    [Usefulness("0.7"), ErrorQuantile("0.95"), Expected(lambda x: x if x > 0 else -3 * x, growth=Growth(1, 3))],
    ids=str,
)
def test_utilities_agree_with_the_stepped_law(utility):
    step = Fraction(1, 10)
    with precision(128):
        smoothed = utility.under(ErrorLaw(Smoothed(LAW, step), False), BALLS)
        stepped = utility.under(ErrorLaw(LAW.stepped(step), False), BALLS)
        assert smoothed.overlaps(stepped)
    floats = utility.under(ErrorLaw(Smoothed(LAW, step), False), FLOATS)
    assert floats == pytest.approx(utility.under(ErrorLaw(LAW.stepped(step), False), FLOATS), rel=1e-3)

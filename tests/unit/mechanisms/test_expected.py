"""Expected utilities of the error, each computed a second way."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

import noisewright as nw
from noisewright.laws.laplace import DiscreteLaplace, Laplace
from noisewright.laws.lattice import HALF, Lattice
from noisewright.laws.piecewise import skewed_staircase, staircase
from noisewright.mechanisms.additive import Additive
from noisewright.mechanisms.expected import ErrorLaw
from noisewright.numerics.balls import lower, precision, upper
from noisewright.numerics.fields import BALLS, FLOATS
from noisewright.problem.errors import InvalidUtilityError
from noisewright.problem.queries import Scalar
from noisewright.problem.utilities import (
    AbsoluteError,
    AverageVariance,
    ErrorQuantile,
    PowerError,
    SquaredError,
    Usefulness,
)
from tests.brute import lattice_mean

ONE = Fraction(1)


def counts(per: int, left: Fraction, right: Fraction, epsilon: Fraction = ONE) -> Additive:
    law = skewed_staircase(epsilon=epsilon, sensitivity=Fraction(per), left=left, right=right)
    return Additive(Scalar(per, integer=True), law, Lattice.integers())


INTEGER = {
    "discrete laplace": Additive(Scalar(1, integer=True), DiscreteLaplace(Fraction(3, 2)), Lattice.integers()),
    "symmetric": counts(4, -3 * HALF, 3 * HALF),
    "skewed": counts(3, -HALF, 9 * HALF),
    "far off": counts(3, 9 * HALF, 11 * HALF),
    "long runs": counts(150, -61 * HALF, 199 * HALF, Fraction(3)),
}


@pytest.mark.parametrize("name", INTEGER)
@pytest.mark.parametrize("power", ["1", "2", "5", "1/2", "3/2", "11/4"])
def test_integer_moments_are_sums_over_the_whole_numbers(name, power):
    mechanism, exponent = INTEGER[name], float(Fraction(power))
    reach = 60 * int(mechanism.error_density.period) + 60
    direct = lattice_mean(lambda k: mechanism.noise.mass(k, FLOATS), lambda x: abs(x) ** exponent, reach)
    with precision(128):
        exact = mechanism.expected(PowerError(power), BALLS)
        assert float(lower(exact)) <= direct * (1 + 1e-9)
        assert float(upper(exact)) >= direct * (1 - 1e-9)
        assert upper(exact) - lower(exact) <= upper(exact) / 10**4
    assert mechanism.expected(PowerError(power), FLOATS) == pytest.approx(direct, rel=1e-4)


@pytest.mark.parametrize("name", INTEGER)
@pytest.mark.parametrize("within", ["0", "0.99", "1", "7"])
def test_integer_usefulness_is_a_sum_of_masses(name, within):
    mechanism, reach = INTEGER[name], math.floor(Fraction(within))
    direct = math.fsum(mechanism.noise.mass(k, FLOATS) for k in range(-reach, reach + 1))
    assert mechanism.expected(Usefulness(within), FLOATS) == pytest.approx(direct, rel=1e-9)


@pytest.mark.parametrize("name", INTEGER)
@pytest.mark.parametrize("confidence", ["0.01", "0.5", "0.95", "0.999"])
def test_an_integer_half_width_is_the_first_that_suffices(name, confidence):
    mechanism = INTEGER[name]
    with precision(128):
        value = mechanism.expected(ErrorQuantile(confidence), BALLS)
        width = int(lower(value))
        assert lower(value) == upper(value) == width
        assert lower(mechanism.expected(Usefulness(width), BALLS)) >= Fraction(confidence)
        if width:
            assert upper(mechanism.expected(Usefulness(width - 1), BALLS)) < Fraction(confidence)


REAL = {
    "laplace": Additive(Scalar(1), Laplace(Fraction(2)), Lattice.cells(Fraction(1, 4))),
    "staircase": Additive(
        Scalar(1), staircase(epsilon=ONE, sensitivity=ONE, split=Fraction(1, 4)), Lattice.cells(Fraction(1, 8))
    ),
    "skewed": Additive(
        Scalar(1),
        skewed_staircase(epsilon=ONE, sensitivity=ONE, left=Fraction(1, 4), right=Fraction(3)),
        Lattice.cells(Fraction(1, 4)),
    ),
}


@pytest.mark.parametrize("name", REAL)
@pytest.mark.parametrize("confidence", ["0.0001", "0.5", "0.95", "0.999999"])
def test_a_real_half_width_has_its_confidence(name, confidence):
    mechanism = REAL[name]
    with precision(128):
        width = mechanism.expected(ErrorQuantile(confidence), BALLS)
        low, high = lower(width), upper(width)
        assert high - low <= high / 2**40
        assert upper(mechanism.expected(Usefulness(high * (1 + Fraction(1, 10**9))), BALLS)) >= Fraction(confidence)
        assert lower(mechanism.expected(Usefulness(low * (1 - Fraction(1, 10**9))), BALLS)) < Fraction(confidence)


def test_the_error_of_rounded_laplace_noise_includes_the_rounding():
    """Spreading each cell evenly adds about step^2/12 to the square, whatever the scale."""
    step = Fraction(1, 4)
    exact = 2 * 2.0**2
    value = REAL["laplace"].expected(SquaredError(), FLOATS)
    assert value > exact
    assert value == pytest.approx(exact + float(step) ** 2 / 6, rel=1e-4)


def test_the_bias_is_the_mean_of_the_error():
    assert REAL["laplace"].bias(FLOATS) == pytest.approx(0, abs=1e-15)
    assert REAL["skewed"].bias(FLOATS) == pytest.approx(13 / 8)
    assert INTEGER["skewed"].bias(FLOATS) == pytest.approx(2)


def test_absolute_error_of_two_sided_geometric_noise():
    ratio = math.exp(-2 / 3)
    value = INTEGER["discrete laplace"].expected(AbsoluteError(), FLOATS)
    assert value == pytest.approx(2 * ratio / (1 - ratio**2))


def test_a_utility_without_a_rule_is_an_error():
    errors = ErrorLaw(REAL["laplace"].error_density, False)
    with pytest.raises(InvalidUtilityError, match="no rule"):
        AverageVariance().under(errors, FLOATS)


@pytest.mark.parametrize("name", REAL)
@pytest.mark.parametrize("confidence", ["0.3", "0.95"])
def test_the_upper_end_of_a_half_width_suffices_even_if_few_bits_are_used(name, confidence):
    with precision(16):
        wide = upper(REAL[name].expected(ErrorQuantile(confidence), BALLS))
    with precision(128):
        assert lower(REAL[name].expected(Usefulness(wide), BALLS)) >= Fraction(confidence)


def test_a_whole_half_width_that_is_met_exactly_lies_in_its_ball():
    law = nw.laws.Tabulated(1, [4, 2, 1], Fraction(1, 2))
    mechanism = nw.mechanisms.Additive(nw.Scalar(1, integer=True), law, nw.laws.Lattice.integers())
    around = mechanism.expected(nw.ErrorQuantile("0.8"))
    assert lower(around) <= 1 <= upper(around)

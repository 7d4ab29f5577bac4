"""The Laplace law and its form on the integers."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from noisewright.laws.laplace import DiscreteLaplace, Laplace, TruncatedLaplace
from noisewright.laws.lattice import Lattice, Rounded
from noisewright.numerics.balls import precision
from noisewright.numerics.fields import BALLS, FLOATS
from noisewright.problem.errors import InvalidLawError, InvalidNumberError

SCALES = [Fraction(1, 7), Fraction(1), Fraction(40)]


@pytest.mark.parametrize("scale", SCALES)
def test_textbook_formulas(scale):
    law, s = Laplace(scale), float(scale)
    for x in (-3.0, -0.5, 0.0, 0.5, 3.0):
        assert law.density(x, FLOATS) == pytest.approx(math.exp(-abs(x) / s) / (2 * s), rel=1e-14)
        below = 0.5 * math.exp(x / s) if x < 0 else 1 - 0.5 * math.exp(-x / s)
        assert law.cdf(x, FLOATS) == pytest.approx(below, rel=1e-14)
    assert law.moment(1, FLOATS) == pytest.approx(s)
    assert law.moment(2, FLOATS) == pytest.approx(2 * s * s)
    assert law.moment(Fraction(1, 2), FLOATS) == pytest.approx(math.gamma(1.5) * math.sqrt(s))
    assert law.mean(FLOATS) == 0


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("step", [Fraction(1, 10), Fraction(3)])
def test_the_stepped_law_has_the_masses_of_the_rounded_one(scale, step):
    """Rounding the answer and the noise spreads each cell's mass evenly: one law, computed in two ways."""
    law = Laplace(scale)
    stepped, rounded = law.stepped(step), Rounded(law, Lattice.cells(step))
    with precision(128):
        for k in (-200, -7, -1, 0, 1, 2, 50):
            height = stepped.density((k + Fraction(1, 3)) * step, BALLS)
            assert (height * BALLS.real(step)).overlaps(rounded.mass(k, BALLS))
            assert stepped.sf(k * step, BALLS).overlaps(law.sf(k * step, BALLS))


@pytest.mark.parametrize("scale", SCALES)
def test_discrete_masses_are_two_sided_geometric(scale):
    law = DiscreteLaplace(scale)
    ratio = math.exp(-1 / float(scale))
    noise = Rounded(law.stepped(), Lattice.integers())
    for k in (-30, -1, 0, 1, 4):
        assert noise.mass(k, FLOATS) == pytest.approx((1 - ratio) / (1 + ratio) * ratio ** abs(k), rel=1e-9)


@pytest.mark.parametrize("kind", [Laplace, DiscreteLaplace])
@pytest.mark.parametrize("scale", [Fraction(0), Fraction(-1), -0.5])
def test_a_scale_is_positive(kind, scale):
    with pytest.raises(InvalidLawError, match=r"scale is .*; it must be positive"):
        kind(scale)


@pytest.mark.parametrize("kind", [Laplace, DiscreteLaplace])
@pytest.mark.parametrize("scale", [float("nan"), float("inf"), True, None], ids=repr)
def test_a_scale_that_is_no_number_never_reaches_the_verifier(kind, scale):
    with pytest.raises(InvalidNumberError, match="scale"):
        kind(scale)


@pytest.mark.parametrize("kind", [Laplace, DiscreteLaplace])
def test_a_scale_typed_as_a_float_is_exact(kind):
    assert kind(0.1) == kind(Fraction(1, 10))
    assert type(kind(0.1).scale) is Fraction


@pytest.mark.parametrize("law", [Laplace("3/2"), TruncatedLaplace("3/2", 9)], ids=["whole", "truncated"])
@pytest.mark.parametrize("shift", [1, 3])
@pytest.mark.parametrize("x", [-5, -3, Fraction(-3, 2), -1, Fraction(-1, 2), 0, 2])
def test_what_a_shift_takes_off_is_that_of_the_densities_on_either_side(law, x, shift):
    near, far = (law.density(Fraction(place), FLOATS) for place in (x, x + shift))
    assert law.drop(Fraction(x), Fraction(shift), FLOATS) == pytest.approx(math.log(near / far), abs=1e-12)

"""The grid of released values."""

from __future__ import annotations

from fractions import Fraction

import pytest

from noisewright.laws.laplace import Laplace
from noisewright.laws.lattice import HALF, Lattice, Rounded
from noisewright.numerics.balls import precision
from noisewright.numerics.fields import BALLS, FLOATS
from noisewright.problem.errors import InvalidMechanismError, InvalidNumberError

TENTHS = Lattice.cells(Fraction(1, 10))


@pytest.mark.parametrize(
    ("value", "index"),
    [("-1/2", 0), ("1/2", 1), ("3/2", 2), ("5/2", 3), ("-3/2", -1), ("0.49", 0), ("-0.51", -1), ("7", 7)],
)
def test_whole_numbers_round_halves_up_and_never_to_even(value, index):
    assert Lattice.integers().index(Fraction(value)) == index


@pytest.mark.parametrize(("value", "index"), [("0", 0), ("0.1", 1), ("0.0999", 0), ("-0.1", -1), ("-0.0001", -1)])
def test_real_cells_begin_at_multiples_of_the_step(value, index):
    assert TENTHS.index(Fraction(value)) == index


@pytest.mark.parametrize("lattice", [TENTHS, Lattice.integers(), Lattice.cells(Fraction(7, 3))], ids=str)
def test_cells_tile_the_line(lattice):
    for k in (-5, 0, 3):
        start, end = lattice.lower_edge(k), lattice.lower_edge(k + 1)
        assert end - start == lattice.step
        assert lattice.centre(k) == (start + end) / 2
        assert lattice.index(start) == lattice.index(lattice.centre(k)) == k
        assert lattice.index(start - lattice.step / 10**9) == k - 1


@pytest.mark.parametrize("lattice", [TENTHS, Lattice.integers()], ids=str)
def test_released_values_are_multiples_of_the_step_at_the_sum_of_the_centres(lattice):
    for answer, noise in ((0, 0), (3, -7), (-2, 11)):
        value = lattice.released(answer, noise)
        assert value == lattice.centre(answer) + lattice.centre(noise)
        assert (value / lattice.step).denominator == 1


@pytest.mark.parametrize(
    ("step", "edge", "why"),
    [
        (0, 0, "step is 0; it must be positive"),
        (-1, 0, "step is -1; it must be positive"),
        (1, Fraction(1, 3), "edge of 0 or 1/2"),
        (1, 1, "edge of 0 or 1/2"),
    ],
)
def test_impossible_lattices(step, edge, why):
    with pytest.raises(InvalidMechanismError, match=why):
        Lattice(Fraction(step), Fraction(edge))


def test_a_lattice_is_exact():
    assert Lattice(0.1, 0.5) == Lattice(Fraction(1, 10), HALF)  # type: ignore[arg-type]  # floats are read exactly
    with pytest.raises(InvalidNumberError):
        Lattice.cells(float("nan"))  # type: ignore[arg-type]  # that it fails is the point


def test_rounded_masses_add_up_from_either_side():
    noise = Rounded(Laplace(Fraction(1)), Lattice.cells(Fraction(1, 2)))
    for k in (-6, -1, 0, 5):
        assert noise.cdf(k, FLOATS) + noise.sf(k, FLOATS) == pytest.approx(1)
        assert noise.mass(k, FLOATS) == pytest.approx(noise.cdf(k, FLOATS) - noise.cdf(k - 1, FLOATS))
    with precision(128):
        tails = noise.cdf(-10, BALLS) + noise.sf(9, BALLS)
        assert sum((noise.mass(k, BALLS) for k in range(-9, 10)), tails).contains(1)

"""Bumps, bases and composite rows against plain numerical integration."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import pytest

from noisewright.laws.bumps import FLAT, PARTS as KINDS, Part, Plateau, Quartic, Sine, Steps, Tent
from noisewright.mechanisms.bounded.composite import Composite
from noisewright.mechanisms.bounded.conditional import profile_of
from noisewright.mechanisms.bounded.truncated import Truncated
from noisewright.numerics.balls import precision
from noisewright.numerics.fields import BALLS, FLOATS
from noisewright.problem.errors import InvalidLawError, InvalidMechanismError
from noisewright.search.families.shapes import central, composite
from tests.bounded import question

HALF = Fraction(3, 10)
STEPS = Steps((Fraction(-1, 2), Fraction(-1, 5), Fraction(0), Fraction(2, 5)), (Fraction(1), Fraction(4), Fraction(2)))
PARTS: list[Part] = [Plateau(HALF), Sine(HALF), Tent(HALF), Quartic(Fraction(1, 2)), FLAT, STEPS]
CELLS = 20_000


def _integral(part: Part, weigh) -> float:
    low, width = float(part.low), float(part.high - part.low) / CELLS
    places = [low + (i + 0.5) * width for i in range(CELLS)]
    return sum(weigh(z) * part.density(z, FLOATS) for z in places) * width


@pytest.mark.parametrize("part", PARTS, ids=lambda p: type(p).__name__)
def test_a_part_has_mass_one_and_the_moments_it_says(part: Part):
    assert _integral(part, lambda z: 1.0) == pytest.approx(1, abs=1e-4)
    assert _integral(part, lambda z: z) == pytest.approx(float(part.centre), abs=1e-4)
    assert _integral(part, lambda z: z * z) == pytest.approx(float(part.second_moment(FLOATS)), abs=1e-4)


@pytest.mark.parametrize("part", PARTS, ids=lambda p: type(p).__name__)
@pytest.mark.parametrize("place", ["-1/4", "0", "1/7", "1", "3/2"])
def test_spread_is_the_second_antiderivative(part: Part, place: str):
    z = Fraction(place)
    if z > 1 and part in (FLAT, PARTS[3]):
        z = Fraction(1)
    wanted = _integral(part, lambda t: max(0.0, float(z) - t))
    assert part.spread(z, FLOATS) == pytest.approx(wanted, abs=1e-4)
    with precision():
        assert float(part.spread(z, BALLS).mid()) == pytest.approx(wanted, abs=1e-4)


@pytest.mark.parametrize("part", PARTS, ids=lambda p: type(p).__name__)
def test_extremes_enclose_the_density_and_files_keep_a_part(part: Part):
    low, high = part.extremes(FLOATS)
    width = float(part.high - part.low)
    values = [part.density(float(part.low) + width * (i + 0.5) / 500, FLOATS) for i in range(500)]
    assert low - 1e-12 <= min(values)
    assert max(values) <= high + 1e-12
    assert max(values) >= high * 0.99
    assert KINDS.from_dict(part.to_dict()) == part


@pytest.mark.parametrize("half", ["0", "-1", "2"])
def test_impossible_widths_are_refused(half: str):
    with pytest.raises(InvalidLawError):
        Plateau(Fraction(half))


def _moments_of_row(mechanism, i: int) -> tuple[float, float]:
    """Bias and error summed over the masses that are drawn."""
    law, x = mechanism.row(i), float(mechanism.grid.points[i])
    cdf = [law.cdf(k, FLOATS) for k in range(-1, mechanism.last + 1)]
    masses = [b - a for a, b in pairwise(cdf)]
    assert min(masses) > -1e-9
    assert cdf[-1] == pytest.approx(1, abs=1e-12)
    errors = [float(mechanism.value(k)) - x for k in range(mechanism.last + 1)]
    first = sum(m * e for m, e in zip(masses, errors, strict=True))
    return first, sum(m * e * e for m, e in zip(masses, errors, strict=True))


@pytest.mark.parametrize("activation", [Plateau(HALF), Sine(HALF), Tent(HALF), STEPS], ids=lambda p: type(p).__name__)
@pytest.mark.parametrize("base", [FLAT, Quartic(Fraction(7, 10))], ids=["B1", "B2"])
def test_the_drawn_row_has_the_stated_error(activation: Part, base: Part):
    whole = composite(question(margin="50"), Fraction(1), activation, base)
    mechanism = Composite(whole.query, activation, base, whole.share, whole.window, 8, 512)
    for i in (0, 3, 8):
        bias, error = _moments_of_row(mechanism, i)
        assert bias == pytest.approx(0, abs=1e-9)
        with precision():
            stated = mechanism.moments(i, BALLS)[1]
            assert float(stated.lower()) - 1e-7 <= error <= float(stated.upper()) + 1e-7


@pytest.mark.parametrize("power", ["1", "3/2", "2"])
def test_truncated_rows_have_the_stated_bias_and_error(power: str):
    mechanism = Truncated(question(bias=None, margin="1"), Fraction(power), Fraction(4, 5), 8, 256)
    for i in (0, 3, 8):
        bias, error = _moments_of_row(mechanism, i)
        stated = mechanism.moments(i, FLOATS)
        assert bias == pytest.approx(stated[0], abs=1e-9)
        step = float(mechanism.value(1) - mechanism.value(0))
        assert stated[1] - 1e-9 <= error <= stated[1] + step**2 / 4 + 1e-9
    assert mechanism.moments(0, FLOATS)[0] > 0.04


def test_the_error_between_grid_inputs_includes_mixing():
    mechanism = central(question("1/4", "3"), Fraction(1), Fraction(1, 20))
    profile = profile_of(mechanism)
    x = (profile.inputs[3] + profile.inputs[4]) / 2
    width = profile.inputs[4] - profile.inputs[3]
    ends = (profile.error[3][1] + profile.error[4][1]) / 2
    assert abs(profile.at(x, 1) - ends - width**2 / 4) < Fraction(1, 10**15)
    assert profile.worst(1) >= max(high for _, high in profile.error)


def test_outputs_beyond_the_bounds_are_refused():
    with pytest.raises(InvalidMechanismError, match="beyond the bounds"):
        composite(question(margin="1"), Fraction(1), Plateau(HALF))

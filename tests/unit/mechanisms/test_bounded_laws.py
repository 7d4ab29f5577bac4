"""Rows of bounded mechanisms against plain sums and integrals: what is rounded, mixed and cut off, and at which end."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from scipy.special import gammaincc

from noisewright.laws.bumps import Part, Plateau, Quartic, Steps
from noisewright.mechanisms.bounded.composite import Blend, Composite
from noisewright.mechanisms.bounded.conditional import Conditional, Grid, Rows, check_values, uniform_grid
from noisewright.mechanisms.bounded.truncated import Truncated
from noisewright.mechanisms.renewed import mechanism_from_dict
from noisewright.numerics.balls import lower, precision, upper
from noisewright.numerics.fields import BALLS, FLOATS
from noisewright.problem.errors import InvalidAnswerError, InvalidMechanismError
from noisewright.problem.queries import Bounded, Scalar

QUARTER, HALF = Fraction(1, 4), Fraction(1, 2)
FINE = 40_000


def bounded(inputs: tuple[int, int], outputs: tuple[Fraction | int, Fraction | int]) -> Bounded:
    found = Scalar(1, inputs=inputs, outputs=outputs).bounded
    assert found is not None
    return found


def rounded_masses(density: Callable[[np.ndarray], np.ndarray], low: float, high: float, points: int) -> np.ndarray:
    """Masses of the lattice points of a density on an interval, each z rounded up with its fractional part."""
    z = low + (high - low) * (np.arange(FINE) + 0.5) / FINE
    mass = density(z) * (high - low) / FINE
    place = (z - low) / (high - low) * points
    whole = np.floor(place).astype(int)
    up = place - whole
    found = np.bincount(whole, mass * (1 - up), points + 1) + np.bincount(whole + 1, mass * up, points + 1)
    return np.asarray(found / mass.sum())


def masses(mechanism: Conditional, i: int) -> np.ndarray:
    law = mechanism.row(i)
    with precision():
        shares = [float(law.cdf(k, BALLS).mid()) for k in range(-2, mechanism.last + 2)]
        rest = [float(law.sf(k, BALLS).mid()) for k in range(-2, mechanism.last + 2)]
    assert shares[:2] == [0, 0]
    assert shares[-2:] == pytest.approx([1, 1], abs=1e-30)
    assert np.array(shares) + np.array(rest) == pytest.approx(np.ones(len(shares)))
    floats = [law.cdf(k, FLOATS) for k in range(-2, mechanism.last + 2)]
    assert floats == pytest.approx(shares, abs=1e-12)
    return np.diff(shares)[1:-1]


def errors(mechanism: Conditional, i: int) -> tuple[float, float]:
    """Bias and mean squared error, summed over the masses."""
    found, x = masses(mechanism, i), mechanism.grid.points[i]
    distances = np.array([float(mechanism.value(k) - x) for k in range(mechanism.last + 1)])
    return float(found @ distances), float(found @ distances**2)


# A bump that leans to the right on a base that leans to the left.
BUMP = Steps((-QUARTER, Fraction(0), HALF), (Fraction(1), Fraction(3)))
BASE = Steps((Fraction(-1), Fraction(0), HALF, Fraction(1)), (Fraction(4), Fraction(1), Fraction(2)))


def composite(activation: Part = BUMP, base: Part = BASE, points: int = 8) -> Composite:
    wide = bounded((-2, 1), (-100, 100))
    return Composite(wide, activation, base, Fraction(2, 5), (Fraction(-2), Fraction(1)), 3, points)


def steps(part: Part) -> Callable[[np.ndarray], np.ndarray]:
    """A part's density, rewritten for many places at once."""
    if isinstance(part, Steps):
        edges, heights = [float(e) for e in part.edges], [float(h) for h in part.heights]
        total = sum(h * (b - a) for h, (a, b) in zip(heights, pairwise(edges), strict=True))
        cells = list(zip(pairwise(edges), heights, strict=True))
        return lambda z: np.sum([h / total * ((a <= z) & (z < b)) for (a, b), h in cells], axis=0)
    if isinstance(part, Plateau):
        half = float(part.half)
        return lambda z: (np.abs(z) < half) / (2 * half)
    assert isinstance(part, Quartic)
    ratio = float(part.ratio)
    top = 5 / (2 * (4 + ratio))
    return lambda z: top - top * (1 - ratio) * z**4


@pytest.mark.parametrize("i", range(4))
@pytest.mark.parametrize(
    ("activation", "base"), [(BUMP, BASE), (Plateau(QUARTER), Quartic(HALF))], ids=["steps", "paper"]
)
def test_a_composite_row_is_its_density_rounded_at_random(activation: Part, base: Part, i: int):
    mechanism = composite(activation, base)
    low, high = float(activation.low), float(activation.high)
    # The bump's support goes from the left end to the right end as the answer goes from -2 to 1.
    shift = -1 - low + (2 - (high - low)) * i / 3
    moving, still = steps(activation), steps(base)
    wanted = rounded_masses(lambda z: 0.4 * moving(z - shift) + 0.6 * still(z), -1, 1, 8)
    assert masses(mechanism, i) == pytest.approx(wanted, abs=2e-4)
    z = np.array([-0.9, -0.3, 0.2, 0.7])
    direct = [mechanism.density(mechanism.grid.points[i], Fraction(x).limit_denominator(10), FLOATS) for x in z]
    assert direct == pytest.approx(0.4 * moving(z - shift) + 0.6 * still(z))


@pytest.mark.parametrize("points", [2, 8, 50])
@pytest.mark.parametrize(
    ("activation", "base"), [(BUMP, BASE), (Plateau(QUARTER), Quartic(HALF))], ids=["steps", "paper"]
)
def test_a_composite_is_unbiased_and_its_error_includes_the_rounding(activation: Part, base: Part, points: int):
    mechanism = composite(activation, base, points)
    widths = []
    for i in range(4):
        bias, error = errors(mechanism, i)
        assert bias == pytest.approx(0, abs=1e-9)
        with precision():
            stated_bias, stated = mechanism.moments(i, BALLS)
            assert stated_bias.contains(0)
            assert float(lower(stated)) * (1 - 1e-9) <= error <= float(upper(stated)) * (1 + 1e-9)
            widths.append(float(upper(stated) - lower(stated)))
        assert mechanism.moments(i, FLOATS)[1] == pytest.approx(float(lower(stated)))
    assert max(widths) <= float((mechanism.value(1) - mechanism.value(0)) ** 2) / 4 * (1 + 1e-6)


def test_the_outputs_of_a_composite_are_evenly_spaced_over_its_whole_reach():
    """One unit of [-1, 1] is the width 3 over the share 2/5 of what the bump can move, 2 - 3/4."""
    mechanism = composite()
    assert mechanism.scale == 3 / (Fraction(2, 5) * Fraction(5, 4))
    assert {b - a for a, b in pairwise(mechanism.value(k) for k in range(9))} == {mechanism.scale / 4}


@pytest.mark.parametrize("end", ["low", "high"])
def test_neither_end_of_a_composite_may_leave_the_bounds(end: str):
    """The bounds fit exactly, and a sliver less on one side is refused; the outputs do not lie evenly around them."""
    free = composite()
    low, high = free.value(0), free.value(free.points)
    exact = Composite(bounded((-2, 1), (low, high)), BUMP, BASE, free.share, free.window, 3, 8)
    assert (exact.value(0), exact.value(8)) == (low, high)
    sliver = Fraction(1, 10**9)
    narrow = (low + sliver, high) if end == "low" else (low, high - sliver)
    with pytest.raises(InvalidMechanismError, match="beyond the bounds"):
        Composite(bounded((-2, 1), narrow), BUMP, BASE, free.share, free.window, 3, 8)


def test_values_are_checked_against_both_bounds():
    query = bounded((0, 1), (-1, 3))
    check_values(query, Fraction(-1), Fraction(3))
    for low, high in ((Fraction(-2), Fraction(3)), (Fraction(-1), Fraction(4))):
        with pytest.raises(InvalidMechanismError, match="beyond"):
            check_values(query, low, high)


# Bounds much nearer on the left than on the right.
def truncated(power: str, points: int = 10, ends: str = "cut", *, contracted: bool = False) -> Truncated:
    return Truncated(bounded((0, 2), (-HALF, 5)), Fraction(power), Fraction(6, 5), 4, points, ends, contracted)


@pytest.mark.parametrize("i", [0, 1, 4])
@pytest.mark.parametrize("power", ["1", "3/2", "2"])
def test_a_truncated_row_is_its_density_rounded_at_random(power: str, i: int):
    mechanism, answer = truncated(power), i / 2

    def density(y: np.ndarray) -> np.ndarray:
        return np.exp(-((np.abs(y - answer) / 1.2) ** float(Fraction(power))))

    assert masses(mechanism, i) == pytest.approx(rounded_masses(density, -0.5, 5, 10), abs=1e-5)
    whole = density(-0.5 + 5.5 * (np.arange(FINE) + 0.5) / FINE).mean() * 5.5
    exact = Fraction(answer)
    assert mechanism.total(exact, FLOATS) == pytest.approx(whole, rel=1e-6)
    for y in (-0.4, 0.7, 3.0):
        assert mechanism.density(exact, y, FLOATS) == pytest.approx(float(density(np.array(y))) / whole, rel=1e-6)


@pytest.mark.parametrize("points", [4, 10, 30])
@pytest.mark.parametrize("power", ["1", "3/2", "2"])
def test_the_error_of_truncated_noise_includes_the_rounding(power: str, points: int):
    """With few output points rounding adds visibly to the error, and the stated enclosure holds all of it."""
    mechanism = truncated(power, points)
    for i in (0, 1, 4):
        bias, error = errors(mechanism, i)
        with precision():
            stated_bias, stated = mechanism.moments(i, BALLS)
            assert float(stated_bias.mid()) == pytest.approx(bias, abs=1e-9)
            assert float(lower(stated)) * (1 - 1e-9) <= error <= float(upper(stated)) * (1 + 1e-9)
        assert mechanism.moments(i, FLOATS)[0] == pytest.approx(bias, abs=1e-9)
        assert error > mechanism.moments(i, FLOATS)[1] * (1 + (1e-2 if points == 4 else 0))
    # The nearer bound pushes away: upward at the low end, and upward still in the middle of the inputs.
    assert errors(mechanism, 0)[0] > 0.3


@pytest.mark.parametrize("i", [0, 1, 4])
@pytest.mark.parametrize("power", ["1", "3/2", "2"])
def test_what_falls_outside_is_gathered_at_the_nearer_end(power: str, i: int):
    mechanism, answer, exponent = truncated(power, ends="inflated"), i / 2, float(Fraction(power))

    def density(y: np.ndarray) -> np.ndarray:
        return np.exp(-((np.abs(y - answer) / 1.2) ** exponent)) / (2.4 * math.gamma(1 + 1 / exponent))

    left, right = (float(gammaincc(1 / exponent, (x / 1.2) ** exponent)) / 2 for x in (answer + 0.5, 5 - answer))
    wanted = (1 - left - right) * rounded_masses(density, -0.5, 5, 10)
    wanted[[0, -1]] += left, right
    assert masses(mechanism, i) == pytest.approx(wanted, abs=1e-5)
    for y in (-0.4, 0.7, 3.0):
        assert mechanism.density(Fraction(answer), y, FLOATS) == pytest.approx(float(density(np.array(y))), rel=1e-6)
    with precision():
        assert float(mechanism.gathered(Fraction(answer) + HALF, BALLS).mid()) == pytest.approx(left, rel=1e-12)


@pytest.mark.parametrize("ends", ["cut", "inflated"])
@pytest.mark.parametrize("power", ["1", "3/2", "2"])
def test_the_error_of_noise_around_drawn_together_answers_is_that_of_the_answers(power: str, ends: str):
    """The grid reaches 2^-24 beyond the inputs, which is seen in the bias."""
    mechanism = truncated(power, 30, ends, contracted=True)
    assert mechanism.grid.points[0] < mechanism.centre(0) == 0
    for i in (0, 1, 4):
        bias, error = errors(mechanism, i)
        with precision():
            stated_bias, stated = mechanism.moments(i, BALLS)
            assert float(stated_bias.mid()) == pytest.approx(bias, abs=1e-12)
            assert float(lower(stated)) * (1 - 1e-9) <= error <= float(upper(stated)) * (1 + 1e-9)
        assert mechanism.moments(i, FLOATS) == pytest.approx((bias, error), abs=1e-2)


ROWS = Rows(
    bounded((-2, 1), (-100, 100)),
    Grid((Fraction(-2), Fraction(-1), Fraction(0), Fraction(1))),
    (Fraction(-7), Fraction(0), Fraction(5, 2)),
    ((6, 3, 1), (1, 8, 1), (0, 0, 10), (5, 5, 0)),
)


def test_the_error_of_rows_is_summed_over_their_weights():
    for i, (x, row) in enumerate(zip((-2, -1, 0, 1), ROWS.weights, strict=True)):
        bias = sum(Fraction(w, 10) * (v - x) for w, v in zip(row, ROWS.values, strict=True))
        error = sum(Fraction(w, 10) * (v - x) ** 2 for w, v in zip(row, ROWS.values, strict=True))
        assert ROWS.exact_moments(i) == (bias, error)
        assert ROWS.moments(i, FLOATS) == pytest.approx((float(bias), float(error)))
        assert masses(ROWS, i) == pytest.approx(np.array(row) / 10)


BLEND = Blend(composite(), ROWS, Fraction(1, 3))


def test_a_blend_answers_by_the_first_with_its_share_and_else_by_the_second():
    assert BLEND.last == 8 + 1 + 2
    for i in range(4):
        wanted = np.concatenate([masses(BLEND.first, i) / 3, masses(ROWS, i) * 2 / 3])
        assert masses(BLEND, i) == pytest.approx(wanted)
        bias, error = errors(BLEND, i)
        stated = BLEND.moments(i, FLOATS)
        assert stated[0] == pytest.approx(bias, abs=1e-9)
        rounding = float((BLEND.first.value(1) - BLEND.first.value(0)) ** 2) / 4
        assert stated[1] - 1e-9 <= error <= stated[1] + rounding / 3
    assert [BLEND.value(k) for k in range(12)] == [*(BLEND.first.value(k) for k in range(9)), *ROWS.values]


def test_a_blend_comes_back_from_plain_data():
    again = mechanism_from_dict(BLEND.to_dict())
    assert again == BLEND
    assert again.digest == BLEND.digest
    other = mechanism_from_dict({**BLEND.to_dict(), "share": "2/3"})
    assert isinstance(other, Blend)
    assert other.share == Fraction(2, 3)


UNEVEN = Grid((Fraction(0), Fraction(1), Fraction(4), Fraction(5), Fraction(13, 2)))


@pytest.mark.parametrize(
    ("answer", "place"),
    [
        (0, (0, 0)),
        ("1/4", (0, QUARTER)),
        (1, (1, 0)),
        (2, (1, Fraction(1, 3))),
        ("19/4", (2, Fraction(3, 4))),
        (5, (3, 0)),
        ("13/2", (3, 1)),
    ],
)
def test_an_answer_lies_above_the_input_below_it_by_its_share(answer, place):
    assert UNEVEN.locate(answer) == place


@pytest.mark.parametrize("answer", [-1, "-1/1000000", "6.500001", 1237])
def test_answers_outside_the_inputs_are_refused_and_not_repeated(answer):
    with pytest.raises(InvalidAnswerError, match="outside") as caught:
        UNEVEN.locate(answer)
    assert str(answer) not in f"{caught.value.message} {caught.value.fields}".replace("6.5;", "")


@pytest.mark.parametrize("sensitivity", ["1/2", "1", "3/2", "5/2", "3", "4", "13/2"])
def test_the_rows_that_one_person_can_reach_are_found_by_trying(sensitivity: str):
    """Answers within the sensitivity, rounded with the same uniform number: the highest row from each row."""
    reach, count = Fraction(sensitivity), 64
    answers = [Fraction(13, 2) * i / (13 * 16) for i in range(13 * 16 + 1)]
    places = [sum(UNEVEN.locate(x)) for x in answers]
    found = list(range(5))
    for step in range(count):
        uniform = Fraction(2 * step + 1, 2 * count)
        rows = [math.floor(t + uniform) for t in places]
        last = 0
        for a, x in enumerate(answers):
            while last + 1 < len(answers) and answers[last + 1] - x <= reach:
                last += 1
            found[rows[a]] = max(found[rows[a]], rows[last])
    assert UNEVEN.reach(reach) == found


def test_a_uniform_grid_has_both_ends():
    assert uniform_grid(Fraction(-2), Fraction(1), 4).points == tuple(-2 + Fraction(3 * i, 4) for i in range(5))

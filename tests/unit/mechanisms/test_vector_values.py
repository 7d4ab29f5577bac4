"""Errors of several numbers, each a second time from masses or densities by hand; no two numbers are alike."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from noisewright.laws.gaussian import Gaussian
from noisewright.laws.laplace import Laplace
from noisewright.laws.lattice import Lattice
from noisewright.laws.piecewise import Piecewise, skewed_staircase, staircase
from noisewright.mechanisms.additive import Additive
from noisewright.mechanisms.linear_gaussian import LinearGaussian
from noisewright.mechanisms.norm_shaped import NormBlock, NormShaped, nearest
from noisewright.mechanisms.per_coordinate import PerCoordinate
from noisewright.numerics.balls import lower, precision, upper
from noisewright.numerics.fields import BALLS
from noisewright.problem.errors import InvalidAnswerError, InvalidMechanismError, InvalidUtilityError
from noisewright.problem.privacy import PureDP
from noisewright.problem.queries import Scalar, Vector
from noisewright.problem.sensitivity import Box, L2Ball
from noisewright.problem.utilities import AbsoluteError, ErrorQuantile, LargestError, SquaredError, Usefulness
from noisewright.sample.certified import make_certified
from noisewright.search.design import design
from tests.mechanisms_by_hand import shaped_masses

ONE, HALF, QUARTER = Fraction(1), Fraction(1, 2), Fraction(1, 4)


def additive(law, step: Fraction) -> Additive:
    return Additive(Scalar(1, exact=True), law, Lattice.cells(step))


def laplace_cells(scale: float, step: float) -> dict[int, float]:
    side = {k: math.exp(-k * step / scale) * -math.expm1(-step / scale) / 2 for k in range(2000)}
    return side | {-1 - k: m for k, m in side.items()}


def staircase_cells(left: int, right: int, per: int) -> dict[int, float]:
    """Top level on the cells left … right - 1, one level down every `per` cells, at epsilon 1."""

    def level(k: int) -> int:
        if k >= right:
            return (k - right) // per + 1
        return (left - 1 - k) // per + 1 if k < left else 0

    weights = {k: math.exp(-level(k)) for k in range(-800, 800)}
    total = math.fsum(weights.values())
    return {k: w / total for k, w in weights.items()}


def gaussian_cells(std: float, step: float) -> dict[int, float]:
    def above(x: float) -> float:
        return math.erfc(x / std / math.sqrt(2)) / 2

    side = {k: above(k * step) - above((k + 1) * step) for k in range(400)}
    return side | {-1 - k: m for k, m in side.items()}


PARTS = PerCoordinate(
    Vector(Box([1, 1, 0, 1, 1]), exact=True),
    (
        additive(Laplace(Fraction(3, 2)), HALF),
        additive(staircase(epsilon=ONE, sensitivity=ONE, split=QUARTER), QUARTER),
        None,
        additive(skewed_staircase(epsilon=ONE, sensitivity=ONE, left=-QUARTER, right=Fraction(5, 4)), QUARTER),
        additive(Gaussian(Fraction(2)), Fraction(1, 8)),
    ),
)
STEPS = [0.5, 0.25, 0.0, 0.25, 0.125]
CELLS: list[dict[int, float]] = [
    laplace_cells(1.5, 0.5),
    staircase_cells(-1, 1, 4),
    {},
    staircase_cells(-1, 5, 4),
    gaussian_cells(2, 0.125),
]


def mean_of_power(cells: dict[int, float], step: float, power: int) -> float:
    """Mean of |error|^power when the mass of cell k is spread evenly over [k, k + 1) steps."""
    q = power + 1
    return (
        math.fsum(mass * (max(abs(k), abs(k + 1)) ** q - min(abs(k), abs(k + 1)) ** q) / q for k, mass in cells.items())
        * step**power
    )


def chance_within(cells: dict[int, float], step: float, limit: float) -> float:
    reach = limit / step
    return math.fsum(mass * max(0.0, min(k + 1, reach) - max(k, -reach)) for k, mass in cells.items())


@pytest.mark.parametrize("power", [1, 2])
def test_the_errors_of_parts_are_those_of_their_cells(power: int):
    with precision():
        found = PARTS.power_means(Fraction(power), BALLS)
        for i, (cells, step) in enumerate(zip(CELLS, STEPS, strict=True)):
            wanted = mean_of_power(cells, step, power)
            assert float(lower(found[i])) <= wanted * (1 + 1e-9)
            assert float(upper(found[i])) >= wanted * (1 - 1e-9)
            assert float(found[i].mid()) == pytest.approx(wanted, rel=2e-3, abs=1e-12)


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize(("period", "top"), [(1, HALF), (3, HALF), (4, Fraction(3, 2)), (5, Fraction(5, 2))])
def test_staircase_noise_of_whole_numbers_has_their_errors(power: int, period: int, top: Fraction):
    """Those of its masses on the whole numbers, not of its density, which is spread around them."""
    law = Piecewise(ONE, Fraction(period), (-top - period, -top, top, top + period), (1, 0, 1), 1, 1)
    part = Additive(Scalar(period, integer=True), law, Lattice.integers())
    mechanism = PerCoordinate(Vector(Box([period, period]), integer=True), (part, part))
    levels = {k: 0 if abs(k) < top else math.ceil((abs(k) - top) / period) for k in range(-400, 401)}
    total = math.fsum(math.exp(-level) for level in levels.values())
    wanted = math.fsum(abs(k) ** power * math.exp(-level) for k, level in levels.items()) / total
    with precision():
        found = mechanism.power_means(Fraction(power), BALLS)
    assert [float(value.mid()) for value in found] == pytest.approx([wanted] * 2, rel=1e-9)


def test_the_chance_of_a_useful_part_is_that_of_its_cells():
    limits = tuple(Fraction(v) for v in ("0.6", "1.1", "0.01", "0.9", "1.37"))
    with precision():
        found = PARTS.chances(limits, BALLS)
        for i, (cells, step, limit) in enumerate(zip(CELLS, STEPS, limits, strict=True)):
            wanted = chance_within(cells, step, float(limit)) if cells else 1.0
            assert float(found[i].mid()) == pytest.approx(wanted, rel=1e-9)


def test_equal_parts_with_different_limits_have_different_chances():
    part = additive(Laplace(ONE), HALF)
    twice = PerCoordinate(Vector(Box([1, 1]), exact=True), (part, part))
    with precision():
        near, far = twice.chances((HALF, Fraction(3)), BALLS)
    assert float(near.mid()) == pytest.approx(chance_within(laplace_cells(1, 0.5), 0.5, 0.5))
    assert float(far.mid()) == pytest.approx(chance_within(laplace_cells(1, 0.5), 0.5, 3))


def test_totals_are_weighted_number_by_number():
    weights: list[Any] = [1, 5, "1/2", 3, 2]
    floats = [1, 5, 0.5, 3, 2]
    with precision():
        for utility, power in ((SquaredError, 2), (AbsoluteError, 1)):
            single = [mean_of_power(c, s, power) for c, s in zip(CELLS, STEPS, strict=True)]
            plain, weighted = PARTS.expected(utility()), PARTS.expected(utility(weights))
            assert float(plain.mid()) == pytest.approx(sum(single), rel=2e-3)
            total = sum(w * v for w, v in zip(floats, single, strict=True))
            assert float(weighted.mid()) == pytest.approx(total, rel=2e-3)
        chances = [chance_within(c, s, 0.6) if c else 1 for c, s in zip(CELLS, STEPS, strict=True)]
        share = sum(w * v for w, v in zip(floats, chances, strict=True)) / 11.5
        found = PARTS.expected(Usefulness("0.6", weights))
        assert float(found.mid()) == pytest.approx(share, rel=1e-9)
        limits = ["0.6", "1.1", "0.01", "0.9", "1.37"]
        chances = [chance_within(c, s, float(v)) if c else 1 for c, s, v in zip(CELLS, STEPS, limits, strict=True)]
        found = PARTS.expected(Usefulness(limits))
        assert float(found.mid()) == pytest.approx(sum(chances) / 5, rel=1e-9)


SHAPED = NormShaped(
    Vector(Box([1, 1, 0, 1]), exact=True),
    (NormBlock((3, 0), (Fraction(2), HALF), ONE), NormBlock((1,), (QUARTER,), Fraction(1, 3))),
)


def largest(z: tuple[int, ...]) -> float:
    return float(max(map(abs, z)))


def length(z: tuple[int, ...]) -> float:
    return math.sqrt(sum(v * v for v in z))


def coordinate_cells(size: int, rate: float, norm: Callable[[tuple[int, ...]], float], reach: int) -> dict[int, float]:
    """Masses of one coordinate."""
    found = dict.fromkeys(range(-reach, reach + 1), 0.0)
    for z, mass in shaped_masses(size, rate, norm, reach).items():
        found[z[0]] += mass
    return found


def centred_power(cells: dict[int, float], step: float, power: int) -> float:
    """Mean of |error|^power when the mass of z is spread over [z - 1/2, z + 1/2) steps: answers are rounded to it."""
    total = 0.0
    for z, mass in cells.items():
        low, high = (abs(z) - 0.5, abs(z) + 0.5) if z else (0.0, 0.5)
        total += mass * (high ** (power + 1) - low ** (power + 1)) / (power + 1) * (1 if z else 2)
    return total * step**power


def centred_within(cells: dict[int, float], step: float, limit: float) -> float:
    reach = limit / step
    return math.fsum(mass * max(0.0, min(z + 0.5, reach) - max(z - 0.5, -reach)) for z, mass in cells.items())


@pytest.mark.parametrize("power", [1, 2])
def test_the_errors_of_blocks_are_those_of_their_coordinates(power: int):
    pair, single = coordinate_cells(2, 1, largest, 40), coordinate_cells(1, 1 / 3, largest, 150)
    wanted = [centred_power(pair, 0.5, power), centred_power(single, 0.25, power), 0, centred_power(pair, 2, power)]
    with precision():
        assert [float(v.mid()) for v in SHAPED.power_means(Fraction(power), BALLS)] == pytest.approx(wanted, rel=1e-9)


def test_the_chance_of_a_useful_block_is_that_of_its_coordinates():
    pair, single = coordinate_cells(2, 1, largest, 40), coordinate_cells(1, 1 / 3, largest, 150)
    for limits in (("0.1", "0.6", "1", "3.3"), ("0.25", "0.125", "1", "1"), ("0.75", "2", "9", "0.9")):
        exact = tuple(map(Fraction, limits))
        wanted = [
            centred_within(pair, 0.5, float(exact[0])),
            centred_within(single, 0.25, float(exact[1])),
            1,
            centred_within(pair, 2, float(exact[3])),
        ]
        with precision():
            assert [float(v.mid()) for v in SHAPED.chances(exact, BALLS)] == pytest.approx(wanted, rel=1e-9)


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize(("size", "rate", "reach"), [(1, "1/2", 90), (2, "1/2", 50), (3, "3/2", 16), (2, "1/20", 250)])
def test_the_error_of_a_round_block_is_enclosed_lattice_and_all(size: int, rate: str, reach: int, power: int):
    block = NormBlock(tuple(range(size)), (HALF,) * size, Fraction(rate), "l2")
    true = centred_power(coordinate_cells(size, float(Fraction(rate)), length, reach), 0.5, power)
    with precision():
        found = NormShaped(Vector(Box([1] * size), exact=True), (block,)).power_means(Fraction(power), BALLS)[0]
        assert float(lower(found)) <= true <= float(upper(found))
        spread = float(upper(found)) / float(lower(found))
    assert spread <= math.exp(2 * float(Fraction(rate)) * math.sqrt(size)) * (1 + 1e-6)


def test_correlated_noise_has_the_squares_of_its_way_back():
    frame = ((ONE, Fraction(2)), (Fraction(0), HALF))
    mechanism = LinearGaussian(Vector(Box([1, 1])), frame, Fraction(3), Fraction(1, 16))
    unit = mean_of_power(gaussian_cells(3, 1 / 16), 1 / 16, 2)
    with precision():
        # The way back is ((1, -4), (0, 2)).
        squares = mechanism.power_means(Fraction(2), BALLS)
        assert [float(v.mid()) for v in squares] == pytest.approx([17 * unit, 4 * unit], rel=1e-3)
        with pytest.raises(InvalidUtilityError):
            mechanism.power_means(Fraction(1), BALLS)


def test_all_errors_stay_within_a_limit_together_as_often_as_each_by_itself():
    x = np.array([0.05, 0.3, 0.77, 1.9, 4.2])
    wanted = [math.prod(chance_within(c, s, v) for c, s in zip(CELLS, STEPS, strict=True) if c) for v in x]
    assert PARTS.inside(x) == pytest.approx(wanted, rel=1e-6)
    part = PARTS.parts[0]
    twice = PerCoordinate(Vector(Box([1, 1]), exact=True), (part, part))
    assert twice.inside(x) == pytest.approx([chance_within(CELLS[0], 0.5, v) ** 2 for v in x], rel=1e-6)


def test_many_different_parts_are_interpolated_closely():
    """Forty-four Laplace scales and a staircase whose jumps lie between the places of a coarse grid."""
    scales = [Fraction(50 + i, 50) for i in range(44)]
    stairs = additive(staircase(epsilon=ONE, sensitivity=ONE, split=QUARTER), QUARTER)
    parts = (*(additive(Laplace(scale), HALF) for scale in scales), stairs)
    many = PerCoordinate(Vector(Box([1] * 45), exact=True), parts)
    x = np.linspace(0, 40, 401)
    found = many.inside(x)
    for i in (3, 17, 40, 90, 200, 400):
        wanted = math.prod(chance_within(laplace_cells(float(s), 0.5), 0.5, x[i]) for s in scales)
        wanted *= chance_within(staircase_cells(-1, 1, 4), 0.25, x[i])
        assert found[i] == pytest.approx(wanted, rel=2e-2, abs=1e-12)


def block_within(x: float) -> float:
    """Both errors of the pair (steps 2 and 1/2) at most x, from the masses of pairs."""
    total = 0.0
    for (a, b), mass in shaped_masses(2, 1.0, largest, 40).items():
        chance = 1.0
        for z, reach in ((a, x / 2), (b, x / 0.5)):
            chance *= max(0.0, min(z + 0.5, reach) - max(z - 0.5, -reach))
        total += mass * chance
    return total


def test_all_errors_of_a_block_stay_within_a_limit_together():
    x = np.array([0.1, 0.6, 1.4, 3.0, 7.5])
    single = coordinate_cells(1, 1 / 3, largest, 150)
    wanted = [block_within(v) * centred_within(single, 0.25, v) for v in x]
    assert SHAPED.inside(x) == pytest.approx(wanted, rel=1e-6)


@pytest.mark.parametrize("mechanism", [PARTS, SHAPED], ids=["parts", "blocks"])
def test_the_largest_error_and_its_quantile_are_those_of_the_joint_chance(mechanism):
    """The mean is the area above the joint chance, summed here on a fine even grid."""
    grid = np.linspace(0, 40, 2001)
    inside = mechanism.inside(grid)
    mean = float(np.sum(1 - (inside[1:] + inside[:-1]) / 2) * 0.02)
    around = mechanism.expected(LargestError())
    value, slack = float(around.mid()), float(around.rad())
    assert abs(value - mean) <= slack + 1e-3 * mean
    assert slack < 0.02 * value
    for confidence in ("0.05", "0.5", "0.99"):
        width = float(mechanism.expected(ErrorQuantile(confidence)).mid())
        share = float(Fraction(confidence))
        assert mechanism.inside(np.array([width * (1 + 1e-6)]))[0] >= share
        assert mechanism.inside(np.array([width * (1 - 1e-6)]))[0] <= share


@pytest.mark.parametrize("step", [ONE, Fraction(1, 4), Fraction(2, 3)])
def test_halves_are_rounded_upward_on_both_sides_of_zero(step: Fraction):
    """Half to even would move answers one sensitivity apart by two steps: 1/2 to 0 and 3/2 to 2."""
    halves = [nearest((k + HALF) * step, step) for k in range(-4, 4)]
    assert halves == [k + 1 for k in range(-4, 4)]
    assert [nearest((k + Fraction(49, 100)) * step, step) for k in range(-3, 3)] == list(range(-3, 3))
    assert [nearest((k - Fraction(49, 100)) * step, step) for k in range(-3, 3)] == list(range(-3, 3))


@pytest.mark.parametrize("sign", [1, -1])
def test_numbers_too_large_for_their_lattice_are_refused_on_both_sides_and_not_repeated(sign: int):
    assert nearest(sign * Fraction(2**53 - 1), ONE) == sign * (2**53 - 1)
    with pytest.raises(InvalidAnswerError, match="too large"):
        nearest(sign * Fraction(2**53), ONE)
    with pytest.raises(InvalidAnswerError, match="too large") as caught:
        nearest(sign * Fraction(12345678 * 2**40), ONE)
    assert str(12345678 * 2**40) not in f"{caught.value.message} {caught.value.fields}"


def test_each_number_of_a_block_goes_to_its_own_lattice():
    """Places (3, 0) have steps 2 and 1/2, place 1 a quarter; place 2 is in no block."""
    placed = SHAPED.law_given(["0.6", "-0.4", "0.123", "3.5"])
    assert placed == [
        (HALF, SHAPED.blocks[0]),
        (-HALF, SHAPED.blocks[1]),
        (Fraction(123, 1000), None),
        (Fraction(4), SHAPED.blocks[0]),
    ]


def test_each_part_sees_its_own_number():
    laws = PARTS.law_given(["0.6", "-0.3", 7, "0.3", "-0.05"])
    assert laws[2] == 7
    assert [law.answer_index for i, law in enumerate(laws) if i != 2] == [1, -2, 1, -1]
    assert [law.lattice.step for i, law in enumerate(laws) if i != 2] == [HALF, QUARTER, QUARTER, Fraction(1, 8)]


@pytest.mark.parametrize("answer", [[1, 2, 3], [1, 2, 3, 4, 5, 6], "12345", 5, None], ids=repr)
def test_answers_of_another_length_are_refused(answer):
    for mechanism in (PARTS, SHAPED):
        with pytest.raises(InvalidAnswerError):
            mechanism.law_given(answer)


@pytest.mark.parametrize("norm", ["max", "l1", "l2", "l3/2"])
@pytest.mark.parametrize("size", [1, 3])
def test_noise_so_wide_that_it_cannot_be_drawn_is_refused_when_it_is_made(norm: str, size: int):
    least = Fraction(size + 44, 2**60)
    for rate in (Fraction(1, 10**19), least - Fraction(1, 10**30)):
        with pytest.raises(InvalidMechanismError, match="leave the whole numbers of a machine"):
            NormBlock(range(size), [1] * size, rate, norm)
    query = Vector(Box([1] * size), exact=True)
    widest = NormShaped(query, [NormBlock(range(size), [1] * size, least, norm)])
    drawn = make_certified(widest, PureDP(1)).draw(20)
    assert 10**14 < abs(drawn).max() < 2**63


@pytest.mark.parametrize("chosen", [Box([10**12] * 3), L2Ball(10**12, 3)])
def test_designs_leave_out_what_could_not_be_drawn(chosen: Any):
    query = Vector(chosen, integer=True)
    report = design(query, privacy=PureDP("1e-5"), utility=SquaredError())
    assert "norm-shaped blocks" not in [candidate.name for candidate in report.candidates]
    assert len(report.best.release([1, 2, 3])) == 3

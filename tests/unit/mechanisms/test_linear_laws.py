"""Linear questions: sums, variances and biases by hand, with every row and every block different from the others."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import pytest

from noisewright.mechanisms.linear.noise import Block, LinearElliptical, LinearLaplace, round_variance, sums
from noisewright.mechanisms.linear_gaussian import LinearGaussian, apply, inverse
from noisewright.numerics.balls import lower, precision, upper
from noisewright.numerics.fields import BALLS, FLOATS
from noisewright.problem.errors import InvalidAnswerError, InvalidMechanismError
from noisewright.problem.linear import Linear
from noisewright.problem.matrices import WholeMatrix
from noisewright.problem.queries import Vector
from noisewright.problem.sensitivity import Box
from tests.mechanisms_by_hand import geometric_masses

ONE, HALF = Fraction(1), Fraction(1, 2)
QUERY = Linear([["0.1", 1, 2], [1, 0, "-1/3"]])
COLUMNS = ((0, 2, 4), (4, 0, -1))
LAPLACE = LinearLaplace(QUERY, COLUMNS, (HALF, Fraction(1, 4)), (Fraction(1), Fraction(3, 4)))


def test_sums_take_every_person_with_their_column():
    assert sums(WholeMatrix.of(COLUMNS), [3, 0, 2]) == [8, 10]
    assert LAPLACE.sums([3, 0, 2]) == [8, 10]
    assert LAPLACE.sums([0, 0, 0]) == [0, 0]
    # Sums that 64 bits do not hold, on either side.
    wide, counts = WholeMatrix.of([[2**51, 2**51], [-(2**51), 1]]), [2**61, 2**61 + 1]
    assert sums(wide, counts) == [2**51 * sum(counts), counts[1] - 2**51 * counts[0]]
    assert sums(WholeMatrix.of([[2**51, 1], [3, -(2**51)]]), [4095, 1]) == [4095 * 2**51 + 1, 3 * 4095 - 2**51]


def test_sums_of_columns_far_below_zero_do_not_wrap_around():
    """No entry is large, and yet 5000 times the least is beyond 64 bits."""
    assert sums(WholeMatrix.of([[1, -(2**51)], [0, -7]]), [3, 5000]) == [3 - 5000 * 2**51, -35000]


def test_a_step_costs_its_share_of_the_scale():
    assert LAPLACE.rates == (HALF, Fraction(1, 3))


def test_the_errors_of_independent_noise_are_those_of_its_masses():
    variances, absolute = LAPLACE.variances(FLOATS), LAPLACE.absolute(FLOATS)
    for k, (step, rate) in enumerate(((0.5, 1 / 2), (0.25, 1 / 3))):
        masses = geometric_masses(rate, 400)
        assert variances[k] == pytest.approx(sum(m * (step * z) ** 2 for z, m in masses.items()))
        assert absolute[k] == pytest.approx(sum(m * abs(step * z) for z, m in masses.items()))
        with precision():
            assert float(LAPLACE.variances(BALLS)[k].mid()) == pytest.approx(variances[k])
            assert float(LAPLACE.absolute(BALLS)[k].mid()) == pytest.approx(absolute[k])


def test_the_bias_is_the_worst_column_of_each_row():
    """Row 0: 0.1 is answered by 0; row 1: -1/3 by -1/4, wherever in the row it stands."""
    assert LAPLACE.biases() == [Fraction(1, 10), Fraction(1, 12)]
    turned = LinearLaplace(Linear([[2, "0.1", 1]]), ((4, 0, 2),), (HALF,), (ONE,))
    assert turned.biases() == [Fraction(1, 10)]


BACK = ((HALF, Fraction(-3)), (Fraction(1, 4), Fraction(0)))
THREE = Linear([[1, 2, 3], [0, 5, 1], [7, 0, 0]])
ELLIPTICAL = LinearElliptical(
    THREE,
    (
        Block((2, 0), ((1, 2, 3), (0, 1, 7)), Fraction(2), BACK, HALF),
        Block((1,), ((0, 10, 3),), Fraction(1, 3), ((HALF,),), HALF),
    ),
)


def test_blocks_have_their_own_sums():
    assert ELLIPTICAL.sums([3, 1, 2]) == [[3 + 2 + 6, 1 + 14], [10 + 6]]


@pytest.mark.parametrize("first", [True, False], ids=["first", "second"])
def test_a_block_without_a_share_adds_nothing_to_what_is_estimated(first: bool):
    """Wherever it stands: the one block that has noise decides, as if there were no other."""
    noisy, silent = ELLIPTICAL.blocks[0], replace(ELLIPTICAL.blocks[1], share=0)
    made = LinearElliptical(THREE, (silent, noisy) if first else (noisy, silent))
    alone = LinearElliptical(Linear([[7, 0, 0], [1, 2, 3]]), (replace(noisy, rows=(1, 0)),))
    assert made.largest_estimate() == pytest.approx(alone.largest_estimate(), rel=1e-9, abs=0)
    half = Fraction(1, 2)
    assert made.width_estimate(half) == pytest.approx(alone.width_estimate(half), rel=1e-9, abs=0)


def exact_round_variance(rate: float, dimension: int, reach: int) -> float:
    total = second = 0.0
    for z in itertools.product(range(-reach, reach + 1), repeat=dimension):
        weight = math.exp(-rate * math.sqrt(sum(v * v for v in z)))
        total, second = total + weight, second + weight * z[0] ** 2
    return second / total


@pytest.mark.parametrize(
    ("rate", "dimension", "reach"), [("1/5", 1, 300), ("1/3", 1, 300), ("1/4", 2, 90), ("2", 2, 20), ("1", 3, 22)]
)
def test_the_variance_of_round_noise_is_enclosed(rate: str, dimension: int, reach: int):
    true = exact_round_variance(float(Fraction(rate)), dimension, reach)
    with precision():
        stated = round_variance(Fraction(rate), dimension, BALLS)
        assert float(lower(stated)) <= true <= float(upper(stated))
    if Fraction(rate) < 1:
        assert round_variance(Fraction(rate), dimension, FLOATS) == pytest.approx(true, rel=0.1)


def test_the_variance_of_fine_round_noise_is_enclosed_tightly():
    """A gamma radius: E r^2 = K (K + 1) / rate^2, shared by K coordinates."""
    with precision():
        stated = round_variance(Fraction(1, 2**20), 3, BALLS)
        assert float(lower(stated)) == pytest.approx(4 * 2**40, rel=1e-5)
        assert float(upper(stated)) == pytest.approx(4 * 2**40, rel=1e-5)


def test_the_variance_of_a_query_is_what_its_row_of_the_way_back_makes_of_it():
    """Query 2 is decoded by (1/2, -3), query 0 by (1/4, 0), query 1 by 1/2 alone."""
    with precision():
        two, one = (round_variance(rate, size, BALLS) for rate, size in ((Fraction(2), 2), (Fraction(1, 3), 1)))
        wanted = [two / 16, one / 4, two * 37 / 4]
        for value, expected in zip(ELLIPTICAL.variances(BALLS), wanted, strict=True):
            assert float(value.mid()) == pytest.approx(float(expected.mid()), rel=1e-9)
    assert ELLIPTICAL.variances(FLOATS)[1] == pytest.approx(2 * 9 / 4)


def test_the_bias_of_a_block_is_the_worst_column_after_the_way_back():
    """Query 2 decodes to (1, 2, 3)/2 - 3 (0, 1, 7), which should be (7, 0, 0); query 0 to a quarter of itself."""
    assert ELLIPTICAL.biases() == [Fraction(9, 4), HALF, Fraction(39, 2)]


FRAME = ((Fraction(1), Fraction(2), Fraction(0)), (Fraction(3), Fraction(6), Fraction(-4)), (Fraction(0), HALF, ONE))


def test_the_inverse_of_a_frame_undoes_it_on_both_sides():
    """The second pivot is zero before rows are exchanged."""
    back = inverse(FRAME)
    identity = [[Fraction(int(i == j)) for j in range(3)] for i in range(3)]
    for left, right in ((FRAME, back), (back, FRAME)):
        product = [
            [sum(a * b for a, b in zip(row, column, strict=True)) for column in zip(*right, strict=True)]
            for row in left
        ]
        assert product == identity
    assert apply(FRAME, [Fraction(1), Fraction(-1), Fraction(4)]) == [-1, -19, Fraction(7, 2)]


def test_a_frame_that_loses_something_is_refused():
    with pytest.raises(InvalidMechanismError, match="invertible"):
        inverse(((ONE, Fraction(2)), (HALF, ONE)))


FRAMED = LinearGaussian(Vector(Box([1, 1, 1])), FRAME, Fraction(2), Fraction(1, 4))


def test_the_cells_of_a_frame_are_those_of_the_transformed_answer():
    """y = (x + 2y, 3x + 6y - 4z, y/2 + z) in cells of a quarter, below zero downward."""
    assert FRAMED.law_given([1, "-0.3", 0]) == (1, 4, -1)
    assert FRAMED.law_given([0, 0, "0.13"]) == (0, -3, 0)
    assert FRAMED.law_given([0.3, 0, -0.2]) == (1, 6, -1)


@pytest.mark.parametrize("answer", [[1, 2], [1, 2, 3, 4], "123", 5], ids=repr)
def test_a_correlated_answer_has_its_length(answer):
    with pytest.raises(InvalidAnswerError):
        FRAMED.law_given(answer)

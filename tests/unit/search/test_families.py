"""Candidate mechanisms: on a lattice, tuned, and certified at exactly the epsilon asked for."""

from __future__ import annotations

from fractions import Fraction

import pytest

from noisewright.laws.laplace import DiscreteLaplace, Laplace
from noisewright.laws.lattice import Lattice
from noisewright.numerics.fields import FLOATS
from noisewright.problem.privacy import PureDP
from noisewright.problem.queries import Scalar
from noisewright.problem.utilities import AbsoluteError, ErrorQuantile, PowerError, SquaredError, Usefulness
from noisewright.proof.certify import certify
from noisewright.search.families.scalar_pure import (
    aligned_split,
    best_half,
    best_quantile,
    integer_staircase,
    laplace,
    smallest_integer_width,
    tuned_staircase,
)

UTILITIES = [AbsoluteError(), SquaredError(), PowerError("3/2"), Usefulness("7/10"), ErrorQuantile("0.95")]


@pytest.mark.parametrize("utility", UTILITIES, ids=str)
@pytest.mark.parametrize("query", [Scalar("7/3"), Scalar(4, integer=True)], ids=str)
@pytest.mark.parametrize("epsilon", [Fraction(1, 20), Fraction(5, 4), Fraction(10)])
def test_a_family_spends_all_of_its_epsilon_and_no_more(query, utility, epsilon):
    for mechanism in (laplace(query, epsilon, utility), tuned_staircase(query, epsilon, utility)):
        assert certify(mechanism, PureDP(epsilon)).bound == epsilon


def test_laplace_noise_has_the_textbook_scale():
    assert laplace(Scalar(3), Fraction(2), AbsoluteError()).law == Laplace(Fraction(3, 2))
    assert laplace(Scalar(3, integer=True), Fraction(2), AbsoluteError()).law == DiscreteLaplace(Fraction(3, 2))


def test_a_limit_of_usefulness_falls_on_an_edge_for_every_family():
    query, utility = Scalar(2), Usefulness("2/3")
    for family in (laplace, tuned_staircase):
        step = family(query, Fraction(1), utility).lattice.step
        assert (utility.within / step).denominator == 1


@pytest.mark.parametrize("within", [1 / 3, 0.3141592653589793, "0.123456789012345", "1e-7"])
@pytest.mark.parametrize("family", [laplace, tuned_staircase])
def test_a_limit_of_many_digits_leaves_room_for_large_answers(family, within):
    """A step of 1e-16 would refuse every answer above 0.9."""
    mechanism = family(Scalar(1), Fraction(1), Usefulness(within))
    assert mechanism.law_given(10**5).answer_index > 0


@pytest.mark.parametrize("epsilon", [Fraction(3), Fraction(9), Fraction("9.779")])
@pytest.mark.parametrize("confidence", ["0.01", "0.3", "0.95", "0.99"])
def test_the_top_step_for_a_quantile_never_ends_inside_it(epsilon, confidence):
    """Ending short of it would leave the last bit of confidence to a step that is e^epsilon times lower."""
    split, steps = aligned_split(ErrorQuantile(confidence), epsilon)
    ideal = best_quantile(Fraction(confidence), epsilon)[1]
    assert 0 <= float(split) - ideal <= 1 / steps + 1e-15


@pytest.mark.parametrize("per", [1, 2, 5, 9])
@pytest.mark.parametrize("epsilon", [Fraction(1, 4), Fraction(1), Fraction(4)])
@pytest.mark.parametrize("utility", [AbsoluteError(), SquaredError(), PowerError("1/2"), Usefulness(3)], ids=str)
def test_no_other_integer_top_step_is_better(per, epsilon, utility):
    query = Scalar(per, integer=True)
    sign = -1 if isinstance(utility, Usefulness) else 1
    values = [sign * integer_staircase(query, epsilon, half).expected(utility, FLOATS) for half in range(2 * per)]
    assert values[best_half(query, epsilon, utility)] == pytest.approx(min(values), rel=1e-12)


@pytest.mark.parametrize("per", [1, 4])
@pytest.mark.parametrize("confidence", ["0.1", "0.9", "0.999"])
def test_the_smallest_integer_width_is_the_first_that_some_noise_reaches(per, confidence):
    query, epsilon = Scalar(per, integer=True), Fraction(1)
    width = smallest_integer_width(query, epsilon, Fraction(confidence))

    def reach(w: int) -> float:
        return max(integer_staircase(query, epsilon, h).expected(Usefulness(w), FLOATS) for h in range(2 * per))

    assert reach(width) >= float(Fraction(confidence))
    assert width == 0 or reach(width - 1) < float(Fraction(confidence))


def test_integer_noise_lives_on_the_integers():
    assert tuned_staircase(Scalar(5, integer=True), Fraction(1), SquaredError()).lattice == Lattice.integers()

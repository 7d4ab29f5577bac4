"""A user's loss: every promise is checked where it is evaluated, and its mean is enclosed."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from noisewright.laws.laplace import DiscreteLaplace, Laplace
from noisewright.laws.lattice import HALF, Lattice
from noisewright.laws.piecewise import Piecewise, skewed_staircase
from noisewright.mechanisms.additive import Additive
from noisewright.mechanisms.losses import LossTable, far_loss, loss_reach
from noisewright.numerics.balls import lower, precision, upper
from noisewright.numerics.fields import BALLS, FLOATS
from noisewright.problem.errors import InvalidLossError
from noisewright.problem.queries import Scalar
from noisewright.problem.utilities import AbsoluteError, Expected, Growth, SquaredError, Usefulness

ONE = Fraction(1)


def raises(x: float) -> float:
    raise RuntimeError("no loss here")


BROKEN = {
    "decreases to the right": (lambda x: abs(x) if x < 3 else 2.0, "decreases"),
    "decreases to the left": (lambda x: abs(x) if x > -3 else 2.0, "decreases"),
    "negative": (lambda x: abs(x) - 0.5, "at least 0"),
    "not a number": (lambda x: math.nan if x > 2 else abs(x), "finite"),
    "infinite": (lambda x: math.inf if x < -2 else abs(x), "finite"),
    "raises": (raises, "raised RuntimeError"),
    "returns nothing": (lambda x: None, "raised TypeError"),
    "returns text": (lambda x: "much", "raised ValueError"),
    "flat above": (lambda x: max(0.0, -x), "flat above"),
    "flat below": (lambda x: max(0.0, x), "flat below"),
    "flat": (lambda x: 1.0, "flat"),
    "outgrows its promise": (lambda x: x * x, "growth"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_promise_is_an_error_that_says_which(name):
    loss, why = BROKEN[name]
    with pytest.raises(InvalidLossError, match=why):
        LossTable(Expected(loss, growth=Growth(1, 2)), Fraction(1, 2), 40)


def test_the_error_says_where():
    with pytest.raises(InvalidLossError) as caught:
        LossTable(Expected(lambda x: abs(x) if x < 3 else 2.0, growth=1), Fraction(1, 2), 40)
    assert caught.value.at == 3.0
    assert caught.value.value == 2.0


def test_a_table_holds_the_loss_outward_on_both_sides():
    table = LossTable(Expected(lambda x: x if x > 0 else -3 * x, growth=Growth(1, 3)), Fraction(1, 4), 8)
    assert table.right == [i / 4 for i in range(9)]
    assert table.left == [3 * i / 4 for i in range(9)]


DENSITIES = {
    "laplace": Additive(Scalar(1), Laplace(ONE), Lattice.cells(Fraction(1, 10))),
    "skewed": Additive(
        Scalar(1),
        skewed_staircase(epsilon=ONE, sensitivity=ONE, left=Fraction(-1, 2), right=Fraction(9, 4)),
        Lattice.cells(Fraction(1, 4)),
    ),
    "discrete": Additive(Scalar(1, integer=True), DiscreteLaplace(ONE), Lattice.integers()),
    "integer skewed": Additive(
        Scalar(3, integer=True),
        skewed_staircase(epsilon=ONE, sensitivity=Fraction(3), left=-5 * HALF, right=3 * HALF),
        Lattice.integers(),
    ),
}
SAME = {
    "absolute": (Expected(abs, growth=1), AbsoluteError()),
    "squared": (Expected(lambda x: x * x, growth=2), SquaredError()),
}


@pytest.mark.parametrize("name", DENSITIES)
@pytest.mark.parametrize("loss", SAME)
def test_a_loss_that_has_a_formula_has_that_mean(name, loss):
    mechanism, (own, named) = DENSITIES[name], SAME[loss]
    with precision(128):
        enclosure, exact = mechanism.expected(own, BALLS), mechanism.expected(named, BALLS)
        assert lower(enclosure) <= lower(exact)
        assert upper(enclosure) >= upper(exact)
        assert upper(enclosure) - lower(enclosure) <= upper(exact) / 200
    assert mechanism.expected(own, FLOATS) == pytest.approx(mechanism.expected(named, FLOATS), rel=1e-4)


@pytest.mark.parametrize("name", DENSITIES)
def test_the_two_sides_are_told_apart(name):
    """E[x+ + 5 x-] from the mean and the mean absolute error."""
    mechanism = DENSITIES[name]
    own = Expected(lambda x: x if x > 0 else -5 * x, growth=Growth(1, 5))
    absolute, mean = mechanism.expected(AbsoluteError(), FLOATS), mechanism.bias(FLOATS)
    exact = (absolute + mean) / 2 + 5 * (absolute - mean) / 2
    assert mechanism.expected(own, FLOATS) == pytest.approx(exact, rel=1e-4)
    with precision(128):
        enclosure = mechanism.expected(own, BALLS)
        assert lower(enclosure) <= exact * (1 + 1e-12)
        assert upper(enclosure) >= exact * (1 - 1e-12)


def test_an_integer_loss_counts_zero_once():
    mechanism = DENSITIES["discrete"]
    own = Expected(lambda x: float(abs(x) > 1.5) + 1, growth=Growth(0, 2))
    exact = 2 - mechanism.expected(Usefulness(1), FLOATS)
    assert mechanism.expected(own, FLOATS) == pytest.approx(exact, rel=1e-9)


@pytest.mark.parametrize("name", DENSITIES)
def test_the_far_bound_covers_what_lies_beyond_the_table(name):
    density = DENSITIES[name].error_density
    assert isinstance(density, Piecewise)
    utility = Expected(lambda x: 3 * (1 + abs(x)) ** 2, growth=Growth(2, 3))
    beyond = Fraction(6)
    cells = [(n, density.sf(beyond + n, FLOATS) - density.sf(beyond + n + 1, FLOATS)) for n in range(400)]
    cells += [(n, density.cdf(-beyond - n, FLOATS) - density.cdf(-beyond - n - 1, FLOATS)) for n in range(400)]
    least = math.fsum(3 * (1 + 6 + n) ** 2 * mass for n, mass in cells)
    assert least > 0.01
    assert far_loss(density, utility, beyond, FLOATS) >= least
    assert far_loss(density, utility, loss_reach(density, utility), FLOATS) < 1e-6 * least


@pytest.mark.parametrize("side", [-1, 1])
def test_the_far_bound_covers_the_side_on_which_nearly_everything_lies(side):
    """Top step between 5 and 9 on one side: beyond 6 the other side holds next to nothing."""
    left, right = sorted((Fraction(5 * side), Fraction(9 * side)))
    density = skewed_staircase(epsilon=Fraction(4), sensitivity=ONE, left=left, right=right)
    utility = Expected(lambda x: 1 + abs(x), growth=Growth(1, 1))
    tails = [density.sf(Fraction(6), FLOATS), density.cdf(Fraction(-6), FLOATS)]
    assert max(tails) > 0.7
    assert min(tails) < 1e-15
    assert far_loss(density, utility, Fraction(6), FLOATS) >= 7 * max(tails)

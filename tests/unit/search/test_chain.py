"""The optimum of any loss on a grid; that it is the optimum is tested in tests/property/test_chain_theorem.py."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from noisewright.numerics.fields import FLOATS
from noisewright.problem.errors import InvalidLossError, SolverError
from noisewright.problem.queries import Scalar
from noisewright.problem.utilities import AbsoluteError, Expected, Growth, SquaredError
from noisewright.search.bounds.chain import LossGrid
from noisewright.search.bounds.pure import best_possible
from noisewright.search.families.scalar_pure import from_grid

ABSOLUTE = Expected(abs, growth=1)
SQUARED = Expected(lambda x: x * x, growth=2)
LOPSIDED = Expected(lambda x: x if x > 0 else -4 * x, growth=Growth(1, 4))
REAL, COUNT = Scalar(1), Scalar(3, integer=True)


@pytest.mark.parametrize("query", [REAL, COUNT], ids=str)
@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(3)])
@pytest.mark.parametrize(("own", "named"), [(ABSOLUTE, AbsoluteError()), (SQUARED, SquaredError())], ids=["l1", "l2"])
def test_a_loss_with_a_closed_form_has_that_optimum(query, epsilon, own, named):
    exact = float(best_possible(query, epsilon, named))
    grid = LossGrid(query, epsilon, own)
    assert grid.best(symmetric=False).value == pytest.approx(exact, rel=1e-3)
    assert grid.best(symmetric=True).value == pytest.approx(exact, rel=1e-3)
    assert exact * 0.99 <= float(grid.lower_bound()) <= exact


@pytest.mark.parametrize("query", [REAL, COUNT], ids=str)
@pytest.mark.parametrize("symmetric", [True, False])
def test_the_value_of_a_top_step_is_that_of_its_staircase(query, symmetric):
    grid = LossGrid(query, Fraction(1), LOPSIDED)
    mechanism = from_grid(grid, symmetric=symmetric)
    assert mechanism.expected(LOPSIDED, FLOATS) == pytest.approx(grid.best(symmetric=symmetric).value, rel=1e-4)


@pytest.mark.parametrize("query", [REAL, COUNT], ids=str)
def test_leaning_to_the_cheap_side_pays(query):
    grid = LossGrid(query, Fraction(1), LOPSIDED)
    straight, leaning = grid.best(symmetric=True), grid.best(symmetric=False)
    assert leaning.value < 0.97 * straight.value
    assert leaning.left + leaning.right > straight.left + straight.right
    assert from_grid(grid, symmetric=False).bias(FLOATS) > 0


@pytest.mark.parametrize("query", [REAL, COUNT], ids=str)
def test_a_mirrored_loss_has_the_mirrored_optimum(query):
    mirrored = Expected(lambda x: LOPSIDED.loss(-x), growth=LOPSIDED.growth)
    one, other = LossGrid(query, Fraction(1), LOPSIDED), LossGrid(query, Fraction(1), mirrored)
    assert other.best(symmetric=False).value == pytest.approx(one.best(symmetric=False).value, rel=1e-9)
    assert float(other.lower_bound()) == pytest.approx(float(one.lower_bound()), rel=1e-9)
    lean, other_lean = (from_grid(grid, symmetric=False).bias(FLOATS) for grid in (one, other))
    assert other_lean == pytest.approx(-lean)


def test_a_finer_grid_has_a_closer_lower_bound():
    coarse = LossGrid(REAL, Fraction(1), LOPSIDED, cells_per_scale=60)
    fine = LossGrid(REAL, Fraction(1), LOPSIDED)
    assert coarse.lower_bound() < fine.lower_bound() < fine.best(symmetric=False).value


def test_cell_losses_bracket_the_loss():
    grid = LossGrid(REAL, Fraction(1), LOPSIDED, cells_per_scale=60)
    width = float(grid.width)
    for side, factor in ((0, 1), (1, 4)):
        assert grid.least[side][2] == pytest.approx(2 * width * factor)
        assert grid.middle[side][2] == pytest.approx(2.5 * width * factor)


def test_a_loss_that_hardly_rises_on_one_side_is_refused():
    slow = Expected(lambda x: 1e-9 * x if x > 0 else -x, growth=1)
    with pytest.raises(SolverError, match="slowly"):
        LossGrid(REAL, Fraction(1), slow).lower_bound()


def test_a_table_of_absurd_size_is_refused():
    with pytest.raises(SolverError, match="five million"):
        LossGrid(Scalar(10**9, integer=True), Fraction(1), ABSOLUTE)


def test_promises_are_checked_on_the_grid():
    with pytest.raises(InvalidLossError, match="flat"):
        LossGrid(REAL, Fraction(1), Expected(lambda x: max(x, 0.0), growth=1))


@pytest.mark.parametrize("query", [REAL, COUNT], ids=str)
def test_a_guess_that_is_too_high_is_not_proven(query, monkeypatch):
    """The floats only propose; whoever proposes too much gets no bound."""
    grid = LossGrid(query, Fraction(1), LOPSIDED, cells_per_scale=60)
    honest = LossGrid._lowest

    def too_high(*given):
        found = honest(*given)
        return replace(found, value=1.01 * found.value)

    monkeypatch.setattr(LossGrid, "_lowest", too_high)
    with pytest.raises(SolverError, match="could not be proven"):
        grid.lower_bound()

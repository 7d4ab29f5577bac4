"""The chain theorem (docs/theory.md) against a linear programme that knows nothing of it."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings, strategies as st

from noisewright.problem.queries import Scalar
from noisewright.problem.utilities import Expected, Growth
from noisewright.search.bounds.chain import LossGrid
from tests import strategies
from tests.programme import best_mean_loss


def table_reach(epsilon: float, per: int) -> int:
    """Two stretches and as far as the top step of any of these losses leans."""
    return per * (6 + math.ceil(7 / epsilon)) + 5


@given(
    loss=strategies.losses(),
    epsilon=strategies.decimals(0.2, 6, 2),
    per=st.integers(1, 5),
)
@settings(max_examples=60)
def test_any_loss_on_the_integers_has_the_optimum_of_the_programme(loss, epsilon, per):
    grid = LossGrid(Scalar(per, integer=True), epsilon, loss)
    free = best_mean_loss(lambda k: loss.loss(float(k)), float(epsilon), per, table_reach(float(epsilon), per))
    assert grid.best(symmetric=False).value == pytest.approx(free, rel=1e-6)
    bound = float(grid.lower_bound())
    assert bound <= free * (1 + 1e-7)
    assert bound >= free * (1 - 1e-6)


@given(loss=strategies.losses(symmetric=True), epsilon=strategies.decimals(0.2, 6, 2), per=st.integers(1, 5))
@settings(max_examples=30)
def test_a_symmetric_loss_is_served_best_by_symmetric_noise(loss, epsilon, per):
    grid = LossGrid(Scalar(per, integer=True), epsilon, loss)
    free = best_mean_loss(lambda k: loss.loss(float(k)), float(epsilon), per, table_reach(float(epsilon), per))
    assert grid.best(symmetric=True).value == pytest.approx(free, rel=1e-6)


REAL_LOSSES = {
    "lopsided": lambda x: x if x > 0 else -2 * x,
    "with a jump": lambda x: abs(x) if x > -1 else -3 * x,
    "capped": lambda x: min(abs(x), 3.0) if x > 0 else x * x,
}


@pytest.mark.parametrize("name", REAL_LOSSES)
@pytest.mark.parametrize("epsilon", ["0.8", "1.5"])
def test_real_answers_on_a_grid_have_the_optimum_of_the_programme(name, epsilon):
    """Densities that are constant on the cells of the grid; a cell costs the mean of the loss at its two ends."""
    loss = REAL_LOSSES[name]
    rate = Fraction(epsilon)
    grid = LossGrid(Scalar(1), rate, Expected(loss, growth=Growth(2, 3)), cells_per_scale=1)
    width = float(grid.width)
    free = best_mean_loss(
        lambda k: (loss(k * width) + loss((k + 1) * width)) / 2, float(rate), grid.per, 6 * grid.per, lazily=True
    )
    assert grid.best(symmetric=False).value == pytest.approx(free, rel=1e-6)
    assert 0.9 * free < float(grid.lower_bound()) < free

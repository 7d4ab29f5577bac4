"""Linear programmes: an optimum or an error, never a half answer."""

from __future__ import annotations

import math

import numpy as np
import pytest

from noisewright.numerics.lp import minimise
from noisewright.problem.errors import SolverError


def row(values: dict[int, float], low: float, high: float):
    return np.array(list(values), dtype=np.int32), np.array(list(values.values())), low, high


def test_a_small_optimum_with_its_duals():
    solution = minimise(np.array([3.0, 1.0]), [row({0: 1, 1: 1}, 1, 1), row({1: 1, 0: -2}, -math.inf, 0)])
    assert solution.x == pytest.approx([1 / 3, 2 / 3])
    assert solution.objective == pytest.approx(5 / 3)
    assert solution.duals[0] == pytest.approx(5 / 3), "strong duality: only the first row has a right-hand side"


@pytest.mark.parametrize(
    "rows",
    [
        pytest.param([row({0: 1}, 1, 1), row({0: 1}, 2, 2)], id="infeasible"),
        pytest.param([row({1: 1}, 1, 1)], id="unbounded"),
    ],
)
def test_anything_but_an_optimum_is_an_error(rows):
    with pytest.raises(SolverError, match="status"):
        minimise(np.array([-1.0, 0.0]), rows)


def test_coefficients_as_small_as_1e_11_count():
    solution = minimise(np.array([1.0, 0.0]), [row({0: 1, 1: 1e-11}, 1, math.inf), row({1: 1}, 0, 1e10)])
    assert solution.objective == pytest.approx(0.9, rel=1e-9)

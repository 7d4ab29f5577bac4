"""What the linear programme charges for a cell: the integral of the loss, or its sum over whole numbers."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad

from noisewright.problem.queries import Scalar
from noisewright.problem.utilities import AbsoluteError, ErrorQuantile, Expected, Growth, PowerError, Usefulness
from noisewright.search.families.scalar_pure import primitive

ONE = Fraction(1)
LOPSIDED = Expected(lambda x: x if x > 0 else -3 * x, growth=Growth(1, 3))


@pytest.mark.parametrize(
    ("utility", "loss"),
    [
        (AbsoluteError(), abs),
        (PowerError("5/2"), lambda x: abs(x) ** 2.5),
        (Usefulness("0.7"), lambda x: float(abs(x) > 0.7)),
        (LOPSIDED, LOPSIDED.loss),
    ],
    ids=["absolute", "power", "missing", "own"],
)
def test_real_cells_cost_the_integral_of_the_loss(utility, loss):
    total = primitive(Scalar(1), ONE, utility)
    edges = np.array([-3.0, -1.25, -0.5, 0.0, 0.25, 1.5, 4.0])
    direct = [
        quad(loss, a, b, points=[x for x in (-0.7, 0.0, 0.7) if a < x < b] or None)[0] for a, b in pairwise(edges)
    ]
    assert np.diff(total(edges)) == pytest.approx(direct, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize(
    ("utility", "loss"),
    [
        (AbsoluteError(), abs),
        (PowerError("3/2"), lambda k: abs(k) ** 1.5),
        (Usefulness("2.5"), lambda k: float(abs(k) > 2)),
        (LOPSIDED, LOPSIDED.loss),
    ],
    ids=["absolute", "power", "missing", "own"],
)
def test_integer_cells_cost_the_sum_over_their_whole_numbers(utility, loss):
    query = Scalar(3, integer=True)
    total = primitive(query, ONE, utility)
    edges = np.array([-6.5, -3.5, -0.5, 0.5, 1.5, 4.5])
    direct = [sum(loss(float(k)) for k in range(int(np.ceil(a)), int(np.floor(b)) + 1)) for a, b in pairwise(edges)]
    assert np.diff(total(edges)) == pytest.approx(direct, rel=1e-9)


def test_a_quantile_is_charged_as_missing_its_best_half_width():
    edges = np.linspace(-6, 6, 50)
    own = primitive(Scalar(1), ONE, ErrorQuantile("0.95"))(edges)
    best = 2 + (math.exp(-3) / 0.05 - math.exp(-1)) / (1 - math.exp(-1))
    assert own == pytest.approx(primitive(Scalar(1), ONE, Usefulness(best))(edges), abs=1e-12)

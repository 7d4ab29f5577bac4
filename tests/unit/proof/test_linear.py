"""Linear questions under ordinary privacy: whoever is replaced by whomever."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations, combinations_with_replacement
from typing import Any

import pytest
from scipy.stats import norm

import noisewright as nw
from noisewright.mechanisms.linear.noise import Block
from noisewright.problem.errors import InvalidMechanismError, UncertifiedError
from noisewright.proof.certify import certify
from noisewright.proof.linear import column_squared_sensitivity

QUERY = nw.Linear([[1, 0, 5], [0, 2, 3]])
COLUMNS = [[1, 0, 5], [0, 2, 3]]
LAPLACE = nw.mechanisms.LinearLaplace(QUERY, COLUMNS, [1, 1], [10, 20])
"""Elements 1 and 2 are farthest apart: 5/10 + 1/20 = 11/20."""
ROUND = nw.mechanisms.LinearElliptical(QUERY, [Block([0, 1], COLUMNS, Fraction(1, 10), [[1, 0], [0, 1]], 1)])
"""The longest difference is sqrt(26), between elements 1 and 2."""


def test_the_pair_that_is_farthest_apart_decides_under_independent_noise():
    assert certify(LAPLACE, nw.PureDP("11/20")).bound == Fraction(11, 20)
    with pytest.raises(UncertifiedError, match="elements 1 and 2"):
        certify(LAPLACE, nw.PureDP(Fraction(11, 20) - Fraction(1, 10**12)))


def test_the_pair_that_is_farthest_apart_decides_under_round_noise():
    enough = Fraction(math.isqrt(26 * 10**30) + 1, 10**16)
    certify(ROUND, nw.PureDP(enough))
    with pytest.raises(UncertifiedError, match="elements 1 and 2"):
        certify(ROUND, nw.PureDP(enough - Fraction(1, 10**12)))


@pytest.mark.parametrize("mechanism", [LAPLACE, ROUND], ids=["independent", "round"])
def test_pure_noise_needs_no_delta_and_a_delta_does_not_help_it(mechanism: Any):
    found = certify(mechanism, nw.ApproxDP("0.56", "1e-6"))
    assert found.bound == 0
    assert found.rule.startswith("approximate/pure-linear")
    with pytest.raises(UncertifiedError):
        certify(mechanism, nw.ApproxDP("0.5", "1e-6"))


def _gaussian(columns: list[list[int]], cell: int, std: Any) -> Any:
    size = len(columns)
    decode = [[int(i == j) for i in range(size)] for j in range(size)]
    return nw.mechanisms.ColumnGaussian(nw.Linear(columns), columns, cell, std, decode)


def _delta(epsilon: float, length: float) -> float:
    return float(norm.cdf(length / 2 - epsilon / length) - math.exp(epsilon) * norm.cdf(-length / 2 - epsilon / length))


@pytest.mark.parametrize("epsilon", ["0.3", "1", "2.5"])
def test_on_own_steps_delta_is_that_of_the_longest_difference(epsilon: str):
    made = _gaussian(COLUMNS, 1, 4)
    expected = _delta(float(epsilon), math.sqrt(26) / 4)
    bound = certify(made, nw.ApproxDP(epsilon, "0.999")).bound
    assert float(bound) == pytest.approx(expected, rel=1e-6)
    assert float(bound) >= expected * (1 - 1e-12)
    with pytest.raises(UncertifiedError):
        certify(made, nw.ApproxDP(epsilon, Fraction(expected * (1 - 1e-6)).limit_denominator(10**15)))


@pytest.mark.parametrize("epsilon", [0.2, 0.7])
def test_delta_covers_the_law_that_is_drawn(epsilon: float):
    """The delta of rounded noise, summed over what can be released, for every two people in one query."""
    columns = [[0, 3, 7, -2]]
    made = _gaussian(columns, 1, 2)
    bound = float(certify(made, nw.ApproxDP(str(epsilon), "0.999")).bound)

    def mass(k: int) -> float:
        return float(norm.cdf((k + 0.5) / 2) - norm.cdf((k - 0.5) / 2))

    deltas = [
        sum(max(0.0, mass(k - a) - math.exp(epsilon) * mass(k - b)) for k in range(-60, 61))
        for a in columns[0]
        for b in columns[0]
    ]
    assert 0.97 * bound <= max(deltas) <= bound * (1 + 1e-9)


@pytest.mark.parametrize("cell", [1, 2, 3, 5, 16])
@pytest.mark.parametrize("columns", [[[0, 1, 0]], [[0, 4, 9], [7, 0, 2]], [[1, 1, 2], [0, 3, 3], [5, 5, 0]]])
def test_cells_move_by_at_most_the_reach(columns: list[list[int]], cell: int):
    """Every histogram of up to four people, and everybody in it replaced by every other."""
    made = _gaussian(columns, cell, 4)
    reach = column_squared_sensitivity(made)
    worst = 0
    for people in combinations_with_replacement(range(3), 3):
        cells = [made.cells([sum(1 for p in (*people, last) if p == i) for i in range(3)]) for last in range(3)]
        for one, other in combinations(cells, 2):
            worst = max(worst, sum((a - b) ** 2 for a, b in zip(one, other, strict=True)))
    assert worst <= reach
    if cell == 1:
        assert float(reach) == pytest.approx(worst, rel=1e-8)


def test_columns_that_are_all_alike_need_no_noise():
    made = _gaussian([[3, 3, 3]], 1, 1)
    assert column_squared_sensitivity(made) == 0
    assert certify(made, nw.ApproxDP("0.1", "1e-9")).bound == 0


def test_noise_of_less_than_a_cell_or_a_way_back_that_does_not_fit_is_refused():
    with pytest.raises(InvalidMechanismError, match=r"std is 0\.9"):
        _gaussian(COLUMNS, 1, "0.9")
    with pytest.raises(InvalidMechanismError, match="square"):
        nw.mechanisms.ColumnGaussian(QUERY, COLUMNS, 1, 2, [[1, 0]])
    with pytest.raises(InvalidMechanismError, match="2 rows of 3 integers"):
        nw.mechanisms.ColumnGaussian(QUERY, [[1, 2, 3]], 1, 2, [[1, 0], [0, 1]])

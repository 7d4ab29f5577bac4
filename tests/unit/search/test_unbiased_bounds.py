"""What no unbiased method and no additive noise can beat under concentrated and Renyi privacy."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.optimize import linprog

import noisewright as nw
from noisewright.search.bounds.unbiased import largest_chi_squared, least_unbiased
from noisewright.search.bounds.vector import _most_spread, covariance_bound

F = Fraction
LOSS = nw.SquaredError()
RHO = nw.ZeroConcentratedDP("0.01")
masses = st.lists(st.floats(min_value=0.01, max_value=1), min_size=2, max_size=6)


def divergence(p: Any, q: Any, alpha: float) -> float:
    return math.log(float(np.sum(p**alpha * q ** (1 - alpha)))) / (alpha - 1)


def chi_squared(p: Any, q: Any) -> float:
    return float(np.sum((p - q) ** 2 / q))


def largest(privacy: Any) -> float:
    found = largest_chi_squared(privacy)
    assert found is not None
    return float(found)


def both_ways(p: Any, q: Any, alpha: float) -> F:
    return F(max(divergence(p, q, alpha), divergence(q, p, alpha)) + 1e-9)


@given(masses, masses, st.floats(min_value=2, max_value=20))
def test_no_pair_of_laws_is_further_apart_than_its_divergences_allow(
    first: list[float], second: list[float], order: float
):
    size = min(len(first), len(second))
    p, q = (np.array(v[:size]) / sum(v[:size]) for v in (first, second))
    apart = max(chi_squared(p, q), chi_squared(q, p))
    alpha = F(order).limit_denominator(1000)
    assert apart <= largest(nw.RenyiDP(alpha, both_ways(p, q, float(alpha)))) * (1 + 1e-7)
    assert apart <= largest(nw.ZeroConcentratedDP(both_ways(p, q, 2) / 2)) * (1 + 1e-7)
    pure = F(float(np.max(np.abs(np.log(p / q)))) + 1e-9)
    if pure >= F(1, 10**5):
        assert apart <= largest(nw.PureDP(pure)) * (1 + 1e-7)


@given(st.lists(st.floats(min_value=0.001, max_value=1), min_size=4, max_size=12), st.integers(1, 3))
def test_no_noise_of_whole_numbers_biased_or_not_has_a_smaller_squared_error(weights: list[float], reach: int):
    """Laws with a light tail on both sides, so that every divergence is finite."""
    tail = 0.3 ** np.arange(1, 60)
    line = np.concatenate([weights[0] * tail[::-1], weights, weights[-1] * tail])
    line = line / line.sum()
    # Beyond the table the geometric tails go on; what is left out is below 1e-31 of the mass.
    p, q = line[reach:], line[:-reach]
    epsilon = max(math.log(float(np.sum(a**2 / b))) for a, b in ((p, q), (q, p)))
    places = np.arange(len(line)) - 61
    error = float(np.sum(line * places**2))
    for privacy in (nw.RenyiDP(2, F(epsilon + 1e-9)), nw.ZeroConcentratedDP(F(epsilon + 1e-9) / 2)):
        least = least_unbiased(F(reach**2), privacy)
        assert least is not None
        assert error >= float(least) * (1 - 1e-6)


@pytest.mark.parametrize(("alpha", "epsilon"), [(F(9, 4), 1.0), (3, 0.2), (4, 3.0), (9, 1.0), (16, 0.05)])
def test_the_largest_divergence_is_the_optimum_of_the_programme(alpha: Any, epsilon: float):
    order, c = float(alpha), math.exp((float(alpha) - 1) * epsilon)
    ratios = np.exp(np.linspace(-2 * epsilon - 0.5, 2 * epsilon + 0.5, 4001))
    limits = np.array([ratios**order, ratios ** (1 - order)]) / c
    found = linprog(-(ratios**2), A_ub=limits, b_ub=[1, 1], A_eq=np.array([np.ones_like(ratios), ratios]), b_eq=[1, 1])
    assert found.status == 0
    claimed = largest(nw.RenyiDP(alpha, F(str(epsilon))))
    assert -found.fun - 1 <= claimed * (1 + 1e-6)
    assert -found.fun - 1 >= claimed * (1 - 1e-4)


@pytest.mark.parametrize("t", [0.01, 0.5, 3.0])
def test_two_answers_at_the_limits_of_two_divergences_reach_it(t: float):
    p = np.array([math.exp(t), 1]) / (1 + math.exp(t))
    for alpha in (2, 3, 40):
        privacy = nw.RenyiDP(alpha, F(divergence(p, p[::-1], alpha)))
        assert largest(privacy) == pytest.approx(chi_squared(p, p[::-1]), rel=1e-6)
    assert largest(nw.PureDP(F(t))) == pytest.approx(chi_squared(p, p[::-1]), rel=1e-9)


@pytest.mark.parametrize(
    "privacy", [nw.ApproxDP(1, "1e-6"), nw.ProbabilisticDP(1, "1e-6"), nw.RenyiDP("1.999", 1), nw.RenyiDP("3/2", "0.1")]
)
def test_where_the_divergence_may_be_infinite_there_is_no_bound(privacy: Any):
    assert largest_chi_squared(privacy) is None
    assert least_unbiased(F(1), privacy) is None


@pytest.mark.parametrize("query", [nw.Scalar(3), nw.Scalar(3, integer=True)], ids=str)
def test_one_number_is_told_what_no_unbiased_method_beats(query: nw.Scalar):
    report = nw.design(query, privacy=RHO, utility=LOSS)
    assert report.bound == pytest.approx(9 / math.expm1(0.02), rel=1e-12)
    assert report.candidates[0].gap is not None
    assert 0.009 < report.candidates[0].gap < 0.0102
    assert "unbiased" in report.why
    assert "unbiased" in report.bound_over
    at_two = nw.design(query, privacy=nw.RenyiDP(2, "0.02"), utility=LOSS)
    assert at_two.bound == pytest.approx(9 / math.expm1(0.02), rel=1e-12)
    assert nw.design(query, privacy=RHO, utility=nw.AbsoluteError()).bound is None


@pytest.mark.parametrize(
    ("chosen", "total"),
    [
        (nw.Box([1, 2, 3]), 36),
        (nw.Disjoint([1, 2, 3]), 14),
        (nw.Sparse(2, [1, 1, 1, 1]), 8),
        (nw.Sparse(2, [1, 1, 9]), (9 + math.sqrt(2)) ** 2),
        (nw.L2Ball(2, 3), 12),
        (nw.L1Ball(2, 3), 12),
        (nw.Replace([1, 1, 1]), 3),
        (nw.Points([[1, 1], [2, 0]]), 5),
    ],
    ids=str,
)
def test_several_numbers_have_the_bound_of_their_set(chosen: Any, total: float):
    found = covariance_bound(nw.Vector(chosen), RHO, LOSS)
    assert found is not None
    assert float(found) == pytest.approx(total / math.expm1(0.02), rel=1e-12)


@pytest.mark.parametrize("chosen", [nw.Box([1, 2, 3]), nw.Sparse(2, [1, 2, 3, 9]), nw.L2Ball(200, 3)], ids=str)
def test_gaussian_noise_comes_within_two_per_cent_of_it(chosen: Any):
    report = nw.design(nw.Vector(chosen), privacy=RHO, utility=LOSS)
    assert report.bound is not None
    assert 1 < report.candidates[0].value / report.bound < 1.02
    assert "unbiased" in report.why


def test_whole_numbers_in_a_ball_move_by_whole_numbers():
    found = covariance_bound(nw.Vector(nw.L2Ball("2.9", 2), integer=True), RHO, LOSS)
    assert found is not None
    assert float(found) == pytest.approx(8 / math.expm1(0.02), rel=1e-12)


@given(st.lists(st.integers(1, 50), min_size=1, max_size=6), st.data())
def test_the_chances_of_moving_are_chances_and_the_best_ones(costs: list[int], data: st.DataObject):
    together = data.draw(st.integers(1, len(costs)))
    claimed = float(_most_spread([F(v) for v in costs], together))
    roots, best = np.sqrt(costs), 0.0
    # By duality the largest is the least over thresholds: chances min(1, v / s) for the s at which they sum up.
    for s in np.geomspace(0.01, 10_000, 401):
        chances = np.minimum(1.0, np.array(costs) / s)
        if chances.sum() <= together:
            best = max(best, float(np.sum(roots * np.sqrt(chances))) ** 2)
    assert best <= claimed * (1 + 1e-9)
    assert claimed <= best * 1.2

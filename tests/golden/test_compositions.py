"""How tight compositions are, against exact values: binomials, one Gaussian for many, optimal composition of pairs."""

from __future__ import annotations

from fractions import Fraction
from math import isqrt

import pytest

import noisewright as nw
from tests.compositions import Exact, discrete_laplace_losses, high, low, response_losses

DELTA_ERROR = Fraction(5, 1000)
EPSILON_ERROR = Fraction(1, 1000)
WIDEST = 0.01


def check(plan: nw.Composition, exact: Exact, delta: str, *, bracketed: bool = True) -> None:
    """Within half a per cent in delta and a tenth in epsilon, above the truth, and in a bracket of one per cent."""
    epsilon = plan.epsilon(delta)
    found, truth = plan.delta(epsilon), exact.delta(epsilon)
    assert low(truth) <= found <= high(truth) * (1 + DELTA_ERROR)
    assert found <= Fraction(delta)
    assert low(exact.delta(epsilon * (1 - EPSILON_ERROR))) > Fraction(delta)
    if bracketed:
        for bracket in (plan.bracket(delta=delta), plan.bracket(epsilon=epsilon)):
            assert bracket.width is not None
            assert bracket.width <= WIDEST


@pytest.mark.parametrize("delta", ["1e-3", "1e-6", "1e-15"])
@pytest.mark.parametrize("times", [1, 2, 1000, 10_000])
def test_gaussians(times, delta):
    sigma = Fraction(isqrt(2 * times * 10**6), 1000)
    plan = nw.compose(f"gaussian(sigma={sigma}) x {times}")
    check(plan, Exact(squared=times / sigma**2), delta, bracketed=delta != "1e-15" or times == 1000)


@pytest.mark.parametrize("delta", ["1e-3", "1e-9", "1e-15"])
@pytest.mark.parametrize(("times", "epsilon"), [(1, "2"), (4, "1"), (30, "0.4"), (400, "0.1")])
def test_randomised_responses(times, epsilon, delta):
    plan = nw.compose(f"randomized_response(epsilon={epsilon}) x {times}")
    check(plan, Exact([(response_losses(Fraction(epsilon)), times)]), delta)


def test_discrete_laplace_noise_of_a_wider_reach():
    plan = nw.compose("discrete_laplace(scale=5, sensitivity=3) x 12")
    check(plan, Exact([(discrete_laplace_losses(Fraction(1, 5), 3), 12)]), "1e-6")


@pytest.mark.parametrize(("times", "epsilon"), [(1, "1"), (10, "0.3"), (300, "0.05")])
def test_the_optimal_composition_of_pairs(times, epsilon):
    plan = nw.compose(f"pair(epsilon={epsilon}, delta=1e-10) x {times}")
    exact = Exact([(response_losses(Fraction(epsilon)), times)], deltas=[(Fraction(1, 10**10), times)])
    check(plan, exact, "1e-6", bracketed=False)


def test_different_releases_together():
    plan = nw.compose(
        ["gaussian(sigma=20) x 100", "randomized_response(epsilon=0.1) x 20", "randomized_response(epsilon=0.25)"]
    )
    finite = [(response_losses(Fraction(1, 10)), 20), (response_losses(Fraction(1, 4)), 1)]
    check(plan, Exact(finite, Fraction(100, 400)), "1e-6")


def test_a_delta_of_one_in_ten_to_the_thirty():
    plan = nw.compose("gaussian(sigma=40) x 1000")
    exact = Exact(squared=Fraction(1000, 1600))
    epsilon = plan.epsilon("1e-30")
    assert low(exact.delta(epsilon)) <= plan.delta(epsilon) <= high(exact.delta(epsilon)) * (1 + DELTA_ERROR)


def test_a_million_releases():
    plan = nw.compose("gaussian(sigma=1000) x 1000000")
    check(plan, Exact(squared=Fraction(1)), "1e-6", bracketed=False)


def test_ten_thousand_discrete_laplace_releases_that_another_accountant_underestimates():
    plan = nw.compose("discrete_laplace(epsilon=0.01) x 10000")
    for epsilon, truth, claimed in (("6.5", 1.330428e-10, 1.328712e-10), ("7", 5.052e-12, 4.885e-12)):
        assert claimed < truth * 0.999 < float(plan.delta(epsilon)) < truth * 1.001
    assert 3.64e-15 < float(nw.compose("gaussian(sigma=100) x 10000").delta(8)) < 3.67e-15


def test_the_pair_that_no_single_pair_of_laws_reaches():
    """P = (.5, .5), Q = (.9, .1) twice at epsilon = 1: .2335 for the pair, .4054 for its profile in both orders."""
    from noisewright.accounting.curves import Curve
    from noisewright.accounting.grids import LossGrid
    from noisewright.accounting.loss_pmf import power
    from noisewright.accounting.pessimistic import PESSIMISTIC, connect_values

    grid = LossGrid(Fraction(1, 2000), Fraction(1, 10**6), 60, 80)
    bits = 80 + 32

    def profile(epsilon: float) -> float:
        from math import exp

        sides = [((0.5, 0.9), (0.5, 0.1)), ((0.9, 0.5), (0.1, 0.5))]
        return max(sum(max(0.0, p - exp(epsilon) * q) for p, q in side) for side in sides)

    values = [int(profile(j / 2000) * 2**52) + 1 << (bits - 52) for j in range(3300)]
    once = connect_values(values, grid, 0, 1.0)
    found = Curve(power(once, 2, grid, PESSIMISTIC, 1), grid, up=True).delta(Fraction(1))
    assert float(found) == pytest.approx(0.4054, abs=2e-4)

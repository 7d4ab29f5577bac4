"""What no mechanism can beat: closed forms, and the proof for integers."""

from __future__ import annotations

import math
from contextlib import suppress
from fractions import Fraction

import pytest

from noisewright.numerics.balls import lower, precision, upper
from noisewright.numerics.fields import FLOATS
from noisewright.problem.errors import SolverError
from noisewright.problem.queries import Scalar
from noisewright.problem.utilities import AbsoluteError, ErrorQuantile, PowerError, SquaredError, Usefulness
from noisewright.search.bounds import pure as bounds
from noisewright.search.bounds.pure import (
    _tail_bound,
    _wide_bound,
    best_possible,
    power_bound,
    quantile_optimum,
    usefulness_optimum,
)
from noisewright.search.families.scalar_pure import integer_staircase, tuned_staircase

EPSILONS = [Fraction(1, 20), Fraction(1, 2), Fraction(1), Fraction(3), Fraction(10)]


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_closed_forms(epsilon):
    """Theory, section 1: Geng and Viswanath's optima for sensitivity 1."""
    b = math.exp(-epsilon)
    absolute = math.exp(epsilon / 2) / math.expm1(epsilon)
    squared = (2 ** (-2 / 3) * b ** (2 / 3) * (1 + b) ** (2 / 3) + b) / (1 - b) ** 2
    assert float(best_possible(Scalar(1), epsilon, AbsoluteError())) == pytest.approx(absolute, rel=1e-9)
    assert float(best_possible(Scalar(1), epsilon, SquaredError())) == pytest.approx(squared, rel=1e-9)
    for r in (0.25, 0.5, 1.0):
        exact = r * (1 - b) / (b + r * (1 - b))
        assert float(best_possible(Scalar(1), epsilon, Usefulness(r))) == pytest.approx(exact, rel=1e-12)
    with precision():
        assert float(usefulness_optimum(Fraction(7, 2), epsilon)) == pytest.approx(1 - b**4 / (b + (1 - b) / 2))


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("confidence", ["0.001", "0.5", "0.95", "0.9999"])
def test_the_best_half_width_inverts_the_best_usefulness(epsilon, confidence):
    with precision():
        width = quantile_optimum(Fraction(confidence), epsilon)
        tiny = Fraction(1, 10**12)
        assert lower(usefulness_optimum(upper(width) * (1 + tiny), epsilon)) >= Fraction(confidence)
        assert upper(usefulness_optimum(lower(width) * (1 - tiny), epsilon)) < Fraction(confidence)


@pytest.mark.parametrize("utility", [AbsoluteError(), PowerError("5/2"), ErrorQuantile("0.9")], ids=str)
def test_bounds_scale_with_the_sensitivity(utility):
    power = utility.power if isinstance(utility, PowerError) else 1
    one, seven = (float(best_possible(Scalar(s), Fraction(1), utility)) for s in (1, 7))
    assert seven == pytest.approx(one * 7 ** float(power), rel=1e-12)


@pytest.mark.parametrize("power", ["1/2", "3/2", "5"])
def test_the_bound_from_tails_is_below_the_other_and_close_at_small_epsilon(power):
    with precision():
        for epsilon in (Fraction(1, 50), Fraction(1, 5), Fraction(1)):
            tails, tangent = _tail_bound(Fraction(power), epsilon), power_bound(Fraction(power), epsilon)
            assert upper(tails) <= lower(tangent) * (1 + Fraction(1, 10**9))
        near = float(_tail_bound(Fraction(power), Fraction(1, 50)) / power_bound(Fraction(power), Fraction(1, 50)))
        assert near > 0.999


@pytest.mark.parametrize("per", [1, 2, 5, 40])
@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(4)])
@pytest.mark.parametrize(
    "utility", [AbsoluteError(), SquaredError(), PowerError("1/2"), Usefulness(3), ErrorQuantile("0.9")], ids=str
)
def test_integer_bounds_are_the_best_of_all_top_steps(per, epsilon, utility):
    query = Scalar(per, integer=True)
    sign = -1 if isinstance(utility, Usefulness) else 1
    best = min(sign * integer_staircase(query, epsilon, half).expected(utility, FLOATS) for half in range(per + 3))
    bound = float(best_possible(query, epsilon, utility))
    assert sign * bound <= best + 1e-9 * abs(best)
    assert bound == pytest.approx(sign * best, rel=1e-5)


@pytest.mark.parametrize(
    ("per", "epsilon", "power"),
    [(10**6, "1", "1/2"), (10**9, "1", "2"), (10**12, "1", "1"), (10**12, "5", "2"), (100, "1/10000", "1")],
)
def test_large_or_nearly_flat_integer_problems_have_a_bound_too(per, epsilon, power):
    """Neighbouring top steps cannot be told apart there; the bound comes from three far apart."""
    query, utility = Scalar(per, integer=True), PowerError(power)
    bound = best_possible(query, Fraction(epsilon), utility)
    value = tuned_staircase(query, Fraction(epsilon), utility).expected(utility, FLOATS)
    assert float(bound) <= value * (1 + 1e-12)
    assert float(bound) >= value * (1 - 1e-4)


@pytest.mark.parametrize("within", [10**6, 10**50])
def test_a_limit_that_is_never_passed_is_useful_with_probability_one(within):
    assert best_possible(Scalar(1, integer=True), Fraction(1), Usefulness(within)) >= 1 - Fraction(1, 10**30)
    assert best_possible(Scalar(1), Fraction(1), Usefulness(within)) <= 1


@pytest.mark.parametrize("half", [0, 100, 600, 999])
@pytest.mark.parametrize("utility", [AbsoluteError(), SquaredError()], ids=str)
def test_a_search_that_is_off_never_raises_the_bound(half, utility, monkeypatch):
    """The best top step lies near 300; from any other nothing is proven, or a bound that holds."""
    query, epsilon = Scalar(1000, integer=True), Fraction(1)
    best = best_possible(query, epsilon, utility)
    monkeypatch.setattr(bounds, "best_half", lambda *given: half)
    for found in (lambda: _wide_bound(query, epsilon, utility, half), lambda: best_possible(query, epsilon, utility)):
        with precision(), suppress(SolverError):
            assert found() <= best

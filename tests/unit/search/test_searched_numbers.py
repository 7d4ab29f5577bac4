"""Numbers that only a second formula can check: gaps, largest errors, shares, scales, margins and words about them."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import noisewright as nw
from noisewright.mechanisms.linear.errors import estimate_independent
from noisewright.search.bounds.approximate import _costs_from_below
from noisewright.search.families.calibration import rounded_up
from noisewright.search.families.planned import largest_rate
from noisewright.search.families.shapes import two_point
from noisewright.search.families.two_fold import two_fold_optimum
from noisewright.search.families.vector_parts import exact_shares
from noisewright.search.programmes import linear as metric_programmes
from noisewright.search.programmes.bounded import smallest_epsilon, smallest_margin
from noisewright.search.programmes.linear import best_ellipse, best_rates
from noisewright.search.report.render import limit_text
from tests.bounded import question


@pytest.mark.parametrize(("a", "b"), [(1.0, 1.0), (1.0, 5.0), (40.0, 0.3)])
def test_the_larger_of_two_laplace_errors(a: float, b: float):
    """|noise| is exponential, so the larger of two has mean a + b - a b / (a + b)."""
    assert estimate_independent(np.array([a, b])) == pytest.approx(a + b - a * b / (a + b), rel=1e-4)


def test_the_largest_of_equal_laplace_errors_is_the_harmonic_number():
    assert estimate_independent(np.full(7, 3.0)) == pytest.approx(3 * sum(1 / k for k in range(1, 8)), rel=1e-4)


@pytest.mark.parametrize("programme", [best_rates, best_ellipse])
def test_a_programme_that_stops_early_says_how_far_off_it_may_be(programme: Any, monkeypatch: pytest.MonkeyPatch):
    rows = np.abs(np.random.default_rng(5).normal(size=(40, 3)))
    weights = np.array([1.0, 4.0, 0.5])
    exact = programme(rows, weights)
    assert exact.gap <= 1e-8
    monkeypatch.setattr(metric_programmes, "TARGET_GAP", 0.5)
    early = programme(rows, weights)
    assert exact.value * (1 + 1e-7) < early.value <= exact.value * (1 + early.gap)


def test_shares_that_are_a_trifle_too_large_are_made_to_fit():
    for together, power in ((2, 1), (3, 1), (2, 2)):
        given = np.array([0.1, 0.45, 0.45, 0.2]) ** (1 / power)
        given *= (1 + 1e-9) / np.sum(np.sort(given**power)[-together:]) ** (1 / power)
        shares = exact_shares(given, Fraction(3), together, power)
        largest = sorted(shares, reverse=True)[:together]
        assert Fraction(999, 1000) * 3**power < sum(s**power for s in largest) <= 3**power


@pytest.mark.parametrize("power", ["1/2", "1", "3/2", "2", "3", "9/2"])
def test_costs_of_lattice_points_interpolate_below_the_loss(power: str):
    costs = [float(c) for c in _costs_from_below(nw.Scalar(2), nw.PowerError(power), 5, 40)]
    for k in range(39):
        for share in (0.0, 0.1, 0.5, 0.77, 1.0):
            loss = ((k + share) / 5) ** float(Fraction(power))
            assert (1 - share) * costs[k] + share * costs[k + 1] <= loss * (1 + 1e-12)


@pytest.mark.parametrize("value", [0.1, 1 / 3, 1.0, math.pi, 1e-9, 123456.789, 2.0**40 + 0.5])
def test_scales_are_rounded_up_by_a_hair(value: float):
    assert value <= rounded_up(value) <= Fraction(value) * (1 + Fraction(1, 10**13))
    assert rounded_up(value).denominator & (rounded_up(value).denominator - 1) == 0


@pytest.mark.parametrize("guess", [0.001, 0.7, 1.0, 5.0, 1000.0])
def test_the_largest_parameter_of_a_plan_is_one_that_fits(guess: float):
    found = largest_rate(lambda x: x <= 1, guess, 1e-3)
    assert 1 / 1.002 < found <= 1


@pytest.mark.parametrize("epsilon", ["1/2", "1", "3"])
@pytest.mark.parametrize("bias", ["0", "1/10", "2/5"])
@pytest.mark.parametrize("sensitivity", ["1", "1/3"])
def test_the_smallest_margin_with_a_bias(epsilon: str, bias: str, sensitivity: str):
    """Two outputs whose means run from lo + b to hi - b just keep the ratio at the ends."""
    asked = replace(question(sensitivity, "9", bias=bias), exact=True)
    margin = float(smallest_margin(asked, Fraction(epsilon)))
    s, b = float(Fraction(sensitivity)), float(Fraction(bias))
    assert margin == pytest.approx(s * (1 - 2 * b) / math.expm1(float(Fraction(epsilon))) - b, rel=1e-9, abs=1e-9)
    if margin > 0:
        mechanism = two_point(asked, Fraction(epsilon))
        bound = float(nw.certify(mechanism, nw.PureDP(epsilon)).bound)
        assert bound == pytest.approx(float(Fraction(epsilon)), rel=1e-6)


@pytest.mark.parametrize("bias", ["0", "1/10", "2/5"])
def test_the_smallest_epsilon_with_a_bias_is_just_enough(bias: str):
    query = question("1/3", "1/20", bias=bias)
    least = smallest_epsilon(query)
    assert least is not None
    assert smallest_margin(query, least) <= query.margin
    assert smallest_margin(query, least * Fraction(999, 1000)) > query.margin


@pytest.mark.parametrize("epsilon", ["1", "8"])
def test_the_best_fold_for_a_quantile_just_reaches_the_confidence(epsilon: str):
    optimum = two_fold_optimum(nw.ErrorQuantile("0.9"), Fraction(epsilon))
    assert isinstance(optimum.utility, nw.Usefulness)
    assert optimum.cost == pytest.approx(0.1, rel=1e-9)
    laplace = math.log(10) / float(Fraction(epsilon))
    assert float(optimum.utility.within) <= laplace * (1 + 1e-9)
    assert (float(optimum.utility.within) < 0.99 * laplace) is optimum.helps


def _limit(gap: float | None, utility: Any = None) -> str:
    """What is said of a winner this far from the bound."""
    report = nw.design(nw.Scalar(1), privacy=nw.PureDP(1), utility=utility or nw.SquaredError())
    return limit_text(replace(report, candidates=(replace(report.candidates[0], gap=gap),)))


def _gap(size: str) -> str:
    return f"the gap to the best possible mechanism is at most {size}"


def test_words_about_the_distance_to_the_best_possible_say_how_far():
    assert _limit(1e-12) == "no mechanism can do better"
    assert _limit(1e-6) == _gap("0.0001 %")
    assert _limit(0.005) == _gap("0.5 %")
    assert _limit(0.1201) == _gap("13 %")
    assert _limit(0.998) == _gap("100 %")
    assert _limit(15.57) == _gap("a factor of 17 (bound not tight here)")
    assert (
        _limit(38_248.02)
        == "the gap to the best possible mechanism is at most a factor of 39,000 (bound not tight here)"
    )
    assert "too weak" in _limit(math.inf)
    assert _limit(None).startswith("no lower bound on the mean squared error is proven")


def test_a_missing_share_of_the_best_possible_is_a_larger_one_of_what_is_reached():
    """Half of the best possible is reached where the gap is one half: the best is twice as good."""
    useful = nw.Usefulness("1/2")
    assert _limit(0.2, useful) == _gap("20 %")
    assert _limit(0.5, useful) == _gap("50 % (bound not tight here)")
    assert _limit(0.95, useful) == _gap("95 % (bound not tight here)")
    assert "too weak" in _limit(1.0, useful)
    assert _limit(None, useful).startswith("no upper bound on P(|error| <= 0.5) is proven")


def test_a_bound_on_additive_noise_speaks_of_additive_noise_alone():
    report = nw.design(nw.Vector(nw.Box([1, 1])), privacy=nw.PureDP(1), utility=nw.SquaredError())
    assert "the gap to the best possible additive noise is at most" in report.why


@pytest.mark.parametrize("utility", [nw.SquaredError([1, 5, 2]), nw.AbsoluteError([1, 5, 2])], ids=str)
def test_errors_of_each_number_add_up_to_the_value(utility: Any):
    report: Any = nw.design(nw.Vector(nw.Box([1, 3, 10])), privacy=nw.PureDP(1), utility=utility)
    for candidate, parts in zip(report.candidates, report.parts, strict=True):
        total = sum(w * part for w, part in zip([1, 5, 2], parts, strict=True))
        assert total == pytest.approx(candidate.value, rel=1e-9)


@pytest.mark.parametrize("utility", [nw.LargestError(), nw.ErrorQuantile("0.9")], ids=str)
def test_where_all_numbers_count_together_each_is_shown_by_the_root_of_its_squared_error(utility: Any):
    report: Any = nw.design(nw.Vector(nw.Box([1, 3, 10])), privacy=nw.PureDP(1), utility=utility)
    for candidate in report.candidates:
        squares = candidate.certified.mechanism.expected(nw.SquaredError())
        assert sum(part**2 for part in candidate.parts) == pytest.approx(float(squares.mid()), rel=1e-9)
    assert report.utility.measure == "root mean square error"


def test_only_the_mallows_distance_of_order_one_has_the_bound_of_the_absolute_error():
    def bound(power: int) -> float | None:
        return nw.design(nw.Scalar(3), privacy=nw.PureDP(1), utility=nw.Mallows(power, 50)).bound

    assert bound(1) == nw.design(nw.Scalar(3), privacy=nw.PureDP(1), utility=nw.AbsoluteError()).bound
    assert bound(2) is None


def test_the_exponential_mechanism_spends_half_of_epsilon_on_each_of_two_normalisations():
    certified = nw.mechanisms.exponential_over([0, 1, 3], [0, 1, 3], nw.PureDP(2), power=2)
    # From answer 0 to 1 the candidate 3 loses 9 - 4 = 5, more than any other.
    assert certified.mechanism.rate == Fraction(2, 2 * 5)


def test_what_falls_outside_is_moved_to_the_nearer_end():
    noise = nw.design(nw.Scalar(1), privacy=nw.PureDP(1), utility=nw.SquaredError()).best
    assert nw.mechanisms.release_within(noise, -1000, 0, 1) == 0
    assert nw.mechanisms.release_within(noise, 1000, 0, 1) == 1


def test_cutting_planes_go_on_until_no_pair_is_violated(monkeypatch: pytest.MonkeyPatch):
    rng = np.random.default_rng(11)
    points, matrix = np.round(rng.uniform(0, 9, (40, 2)), 2), np.round(rng.normal(size=(3, 40)), 2)
    query, privacy = nw.Linear(matrix.tolist()), nw.MetricPrivacy(nw.metrics.Euclidean(points.tolist()))
    whole = {c.name: c.value for c in nw.design(query, privacy=privacy, utility=nw.SquaredError()).candidates}
    monkeypatch.setattr("noisewright.search.programmes.linear.ALL_PAIRS", 10)
    monkeypatch.setattr("noisewright.search.programmes.linear._ADDED", 2)
    # Another question object, about which no pairs are remembered.
    cut = nw.design(nw.Linear(matrix.tolist()), privacy=privacy, utility=nw.SquaredError())
    for candidate in cut.candidates:
        assert candidate.value == pytest.approx(whole[candidate.name], rel=1e-6), candidate.name


def test_the_standard_error_of_a_local_mean_is_the_spread_over_the_root_of_the_count():
    mechanism = two_point(question(), Fraction(1))
    certified = nw.Certified(mechanism, nw.certify(mechanism, nw.PureDP(1)))
    found = nw.mechanisms.local_mean(certified, [1.0, 2.0, 4.0, 5.0])
    assert (found.mean, found.count) == (3.0, 4)
    assert found.standard_error == pytest.approx(math.sqrt(10 / 3) / 2)
    assert found.interval(2) == pytest.approx((3 - math.sqrt(10 / 3), 3 + math.sqrt(10 / 3)))

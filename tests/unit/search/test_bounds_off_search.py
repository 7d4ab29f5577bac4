"""What no mechanism can beat does not hang on a search: a wrong guess only lowers it."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

import noisewright as nw
from noisewright.numerics.balls import lower, precision
from noisewright.search.bounds import pure as bounds
from noisewright.search.bounds.approximate import Dual, find_dual, proven_bound
from noisewright.search.bounds.pure import best_possible, power_bound
from noisewright.search.designer import outward
from noisewright.search.families.calibration import GAUSSIAN, _checked
from noisewright.search.families.scalar_pure import smallest_integer_width
from noisewright.search.families.two_fold import check_inequality


@pytest.mark.parametrize("split", [0.02, 0.2, 0.6, 0.95])
@pytest.mark.parametrize("power", [1, 2])
def test_a_split_that_is_off_never_raises_the_bound(split: float, power: int, monkeypatch: pytest.MonkeyPatch):
    b = math.exp(-1)
    absolute = math.exp(1 / 2) / math.expm1(1)
    squared = (2 ** (-2 / 3) * b ** (2 / 3) * (1 + b) ** (2 / 3) + b) / (1 - b) ** 2
    monkeypatch.setattr(bounds, "best_split", lambda *_: split)
    with precision():
        found = float(lower(power_bound(Fraction(power), Fraction(1))))
    assert found < (absolute, squared)[power - 1]


@pytest.mark.parametrize("off", [0, 1, 7])
def test_a_width_that_is_off_never_raises_the_bound_of_a_quantile(off: int, monkeypatch: pytest.MonkeyPatch):
    query, utility = nw.Scalar(3, integer=True), nw.ErrorQuantile("0.9")
    wanted = best_possible(query, Fraction(1, 2), utility)
    search = smallest_integer_width
    monkeypatch.setattr(bounds, "smallest_integer_width", lambda *given: search(*given) + off)
    assert best_possible(query, Fraction(1, 2), utility) == wanted


def test_multipliers_of_pairs_beyond_the_sensitivity_do_not_count():
    """Made for twice the sensitivity they would prove four times the squared error."""
    privacy, utility = nw.ApproxDP(1, "0.01"), nw.SquaredError()
    one, two = nw.Scalar(2, integer=True), nw.Scalar(4, integer=True)
    dual = find_dual(two, privacy, utility)
    assert dual is not None
    assert dual.per == 4
    best = nw.design(one, privacy=privacy, utility=utility).candidates[0].value
    assert float(proven_bound(two, privacy, utility, dual)) > 2 * best
    # Losses are counted in sensitivities, of which there are twice as many now: squares are four times as large.
    stretched = Dual(2, dual.count, dual.edge, [(shift, a, b, 4 * v) for shift, a, b, v in dual.multipliers])
    assert float(proven_bound(one, privacy, utility, stretched)) <= best


@pytest.mark.parametrize("bound", ["1/3", "1/10", "2/3", "7/10", "1"])
def test_a_shown_bound_is_still_one_on_both_sides(bound: str):
    exact = Fraction(bound)
    below, above = outward(exact, larger=False), outward(exact, larger=True)
    assert Fraction(below) <= exact <= Fraction(above)
    assert above - below <= 2 * math.ulp(above)


def test_a_scale_that_is_too_small_is_enlarged_until_both_tails_fit():
    """Probabilistic privacy of Gaussian noise: the loss passes 1 beyond s^2 - 1/2, whichever answer is the true one."""
    privacy = nw.ProbabilisticDP(1, "0.01")

    def delta(std: float) -> float:
        edge = std * std - 0.5
        return (math.erfc(edge / std / math.sqrt(2)) + math.erfc((edge + 1) / std / math.sqrt(2))) / 2

    for guess in (2.0, 2.4, 2.5):
        assert delta(guess) > 0.01
        assert delta(float(_checked(GAUSSIAN, Fraction(1), privacy, guess))) <= 0.01


def test_the_inequality_of_a_dual_is_checked_up_to_the_last_rate():
    """With this multiplier the sum is least near rate 39, in the last stretch that is looked at: it ends at 40."""
    utility, epsilon, multiplier = nw.Usefulness(2), Fraction(10), Fraction(2 * math.exp(-78))
    rate = math.log(2 / float(multiplier)) / 2
    least = Fraction(math.exp(-2 * rate) + float(multiplier) * rate * (1 - math.exp(10 - rate)))
    assert 38.2 < rate < float(least / multiplier) < 40
    assert check_inequality(utility, epsilon, multiplier, least * Fraction(9999, 10000)) > 0
    with pytest.raises(nw.errors.SolverError, match="does not hold"):
        check_inequality(utility, epsilon, multiplier, least * Fraction(10001, 10000))


def test_the_inequality_of_a_dual_is_checked_down_to_the_lowest_rate():
    """At the rate of Laplace noise all is well; at half of it 5 (1 - e^5) / 100 is far below what phi can make up."""
    with pytest.raises(nw.errors.SolverError):
        check_inequality(nw.Usefulness("1/100"), Fraction(10), Fraction(1, 100), Fraction(1, 2))

"""What charges bring and how large sums may become, against formulas computed elsewhere."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest

import noisewright as nw
from noisewright.ledger.costed import Together
from noisewright.ledger.rules import (
    Rule,
    added,
    largest_concentration,
    largest_squared_length,
    require_sound,
    rules_for,
    shortened,
)
from noisewright.proof.costs import squared_of_pure
from noisewright.sample.certified import make_certified
from tests.ledger import menu

mpmath.mp.dps = 40
NONE = Fraction(0)


def _normal_delta(epsilon: float, mu: mpmath.mpf) -> mpmath.mpf:
    return mpmath.ncdf(mu / 2 - epsilon / mu) - mpmath.exp(epsilon) * mpmath.ncdf(-mu / 2 - epsilon / mu)


def _concentrated_delta(epsilon: float, rho: mpmath.mpf) -> mpmath.mpf:
    """The least delta over all orders: the one conversion that bounds the integrand pointwise."""

    def at(order: mpmath.mpf) -> mpmath.mpf:
        return mpmath.exp((order - 1) * (order * rho - epsilon) + (order - 1) * mpmath.log1p(-1 / order)) / order

    low, high = mpmath.mpf("1.0001"), mpmath.mpf(10) ** 5
    for _ in range(120):
        left, right = low + (high - low) / 3, high - (high - low) / 3
        low, high = (low, right) if at(left) <= at(right) else (left, high)
    return at(low)


@pytest.mark.parametrize(("epsilon", "delta"), [("0.5", "1e-6"), ("1", "1e-6"), ("3", "1e-10"), ("1", "0.1")])
def test_thresholds_pass_and_a_little_more_does_not(epsilon: str, delta: str):
    e, d = Fraction(epsilon), Fraction(delta)
    squared, rho = largest_squared_length(e, d), largest_concentration(e, d)
    for factor, passes in ((1, True), (Fraction(100_001, 100_000), False)):
        mu = mpmath.sqrt(mpmath.mpf(str(float(squared * factor))))
        assert (_normal_delta(float(e), mu) <= float(d) * (1 + 1e-12)) is passes
    assert _concentrated_delta(float(e), mpmath.mpf(str(float(rho)))) <= float(d) * (1 + 1e-6)
    assert _concentrated_delta(float(e), mpmath.mpf(str(float(rho * Fraction(1001, 1000))))) > float(d)


@pytest.mark.parametrize("epsilon", ["0.00001", "0.1", "1", "5", "32"])
def test_the_mu_of_pure_privacy_is_above_the_true_one_and_close(epsilon: str):
    e = mpmath.mpf(epsilon)
    true = 4 * mpmath.erfinv(1 - 2 / (1 + mpmath.exp(e))) ** 2 * 2
    found = squared_of_pure(Fraction(epsilon))
    exact = mpmath.mpf(found.numerator) / found.denominator
    assert true <= exact <= true * (1 + mpmath.mpf("1e-5"))


def test_gaussian_noise_brings_its_length_and_discrete_gaussian_noise_none():
    assert menu.gaussian("3").costs().gaussian() == (Fraction(1, 9), NONE)
    assert menu.gaussian("3").costs().concentrated() == (Fraction(1, 18), NONE)
    assert menu.discrete_gaussian("1").costs().gaussian() is None
    assert menu.discrete_gaussian("1").costs().concentrated() == (Fraction(1, 2), NONE)
    # With a pair it brings what any mechanism with that pair brings, which is far more than s/sigma.
    square, delta = menu.discrete_gaussian("1", nw.ApproxDP(1, "0.2")).costs().gaussian() or (NONE, NONE)
    assert square == squared_of_pure(Fraction(1)) > 1
    assert round(float(delta), 4) == 0.1414


def test_vectors_bring_the_longest_difference():
    part = nw.mechanisms.Additive(nw.Scalar(1), nw.laws.Gaussian(2), nw.laws.Lattice.cells("0.01"))
    both = nw.mechanisms.PerCoordinate(nw.Vector(nw.Box([1, 1])), (part, part))
    one = nw.mechanisms.PerCoordinate(nw.Vector(nw.Disjoint([1, 1])), (part, part))
    costs = [make_certified(made, nw.ZeroConcentratedDP(10)).costs().gaussian() for made in (both, one)]
    assert costs[0] is not None
    assert costs[1] is not None
    assert Fraction(1, 2) <= costs[0][0] < Fraction("0.53"), "both move: 1/4 + 1/4, rounding included"
    assert Fraction(1, 4) <= costs[1][0] < Fraction("0.265"), "one at a time"


def test_pure_noise_brings_everything_and_a_pair_its_delta():
    costs = menu.laplace("0.5").costs()
    assert (costs.pure(), costs.pair()) == (Fraction(1, 2), (Fraction(1, 2), NONE))
    assert costs.gaussian() == (squared_of_pure(Fraction(1, 2)), NONE)
    assert costs.concentrated() == (Fraction(1, 8), NONE)
    assert 0 < (costs.divergence(Fraction(3)) or NONE) < Fraction(3, 8)
    truncated = menu.truncated("0.5", "1e-4").costs()
    assert truncated.pure() is None
    epsilon, delta = truncated.pair() or (0, 0)
    assert epsilon == Fraction(1, 2)
    assert 0 < delta <= Fraction(1, 10**4)
    assert truncated.gaussian() == (squared_of_pure(Fraction(1, 2)), delta)
    assert truncated.concentrated() == (Fraction(1, 8), delta)
    assert truncated.divergence(Fraction(2)) is None


def test_the_rules_of_a_pair_divide_its_delta():
    rules = {rule.name: rule.limits for rule in rules_for(nw.ApproxDP(1, "1e-6"))}
    assert rules["basic"] == {"epsilon": 1, "delta": Fraction(1, 2 * 10**6)}
    assert rules["gaussian"]["delta"] == rules["concentrated"]["delta"] == Fraction(1, 8 * 10**6)
    assert rules["gaussian"]["mu_squared"] == largest_squared_length(Fraction(1), Fraction(1, 8 * 10**6))
    assert rules["concentrated"]["rho"] == largest_concentration(Fraction(1), Fraction(1, 8 * 10**6))
    assert rules["concentrated"]["rho"] < rules["gaussian"]["mu_squared"] / 2


@pytest.mark.parametrize("name", ["basic", "gaussian", "concentrated"])
def test_limits_above_the_proven_ones_are_not_sound(name: str):
    budget = nw.ApproxDP(1, "1e-6")
    rules = rules_for(budget)
    require_sound(budget, rules)
    for amount in next(rule.limits for rule in rules if rule.name == name):
        forged = tuple(
            Rule(
                rule.name,
                {key: value * (2 if (rule.name, key) == (name, amount) else 1) for key, value in rule.limits.items()},
            )
            for rule in rules
        )
        with pytest.raises(nw.errors.LedgerDamagedError):
            require_sound(budget, forged)
    with pytest.raises(nw.errors.LedgerDamagedError):
        require_sound(budget, (*rules, rules[0]))
    with pytest.raises(nw.errors.LedgerDamagedError):
        require_sound(nw.PureDP(1), rules_for(nw.PureDP(2)))


def test_a_rule_holds_up_to_its_limit_and_never_again_once_it_is_off():
    rule = Rule("basic", {"epsilon": Fraction(1), "delta": Fraction(1, 10)})
    full = {"epsilon": Fraction(1), "delta": Fraction(1, 10)}
    assert rule.holds(full)
    for name in full:
        assert not rule.holds({**full, name: full[name] + Fraction(1, 10**60)})
    assert not rule.holds(None)
    assert added(None, full) is None
    assert added(full, None) is None
    assert added(full, full) == {"epsilon": 2, "delta": Fraction(1, 5)}


def test_long_denominators_are_shortened_upward():
    for value in (Fraction(1, 3), Fraction(5, 10**20)):
        assert shortened(value, 160) == value
    long = Fraction(1, 3**200)
    for value in (long, 7 - long, Fraction(10**80 + 1, 3**180)):
        short = shortened(value, 160)
        assert value < short <= value + Fraction(1, 2**159)
        assert short.denominator.bit_length() <= 160


def test_sums_of_ever_new_denominators_do_not_grow():
    total = {"epsilon": Fraction(0)}
    exact = Fraction(0)
    for n in range(1, 3000):
        more = {"epsilon": Fraction(1, 10**6 + n)}
        exact += more["epsilon"]
        total = dict(added(total, more) or {})
    assert total["epsilon"].denominator.bit_length() <= 256
    assert exact <= total["epsilon"] <= exact + Fraction(3000, 2**255)


def test_releases_charged_at_once_bring_what_each_of_them_brings_or_nothing():
    """Concentrated noise has no epsilon; beside a release that has one it is not free."""
    pure, but_for_a_delta, none = menu.laplace("1/2"), menu.truncated("1", "1e-6"), menu.discrete_gaussian("3")
    assert none.costs().pair() is None
    pair = but_for_a_delta.costs().pair()
    assert pair is not None
    assert pair[1] > 0
    assert Together([pure, but_for_a_delta]).costs().pair() == (Fraction(1, 2) + pair[0], pair[1])
    for parts in ([pure, none], [none, but_for_a_delta], [none, none]):
        assert Together(parts).costs().pair() is None


@pytest.mark.parametrize("count", [1, 2, 5])
@pytest.mark.parametrize("way", ["pair", "gaussian", "concentrated"])
def test_releases_charged_at_once_take_together_no_more_delta_than_can_be_spared(way: str, count: int):
    """A plan of noise of which one order is known has a cost only for a delta, and takes the one it is given."""
    law = nw.laws.GeneralizedGaussian(3, 4)
    noise = nw.mechanisms.Additive(nw.Scalar(1), law, nw.laws.Lattice.cells("0.01"))
    plan, spare = nw.compose([(make_certified(noise, nw.RenyiDP(3, 5)), 3)]), Fraction(1, 10**6)
    found = getattr(Together([plan] * count).costs(), way)(spare)
    alone = getattr(plan.costs(), way)(spare / count)
    assert alone[1] == spare / count > 0
    assert found == (alone[0] * count, spare)

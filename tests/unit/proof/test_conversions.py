"""What one kind of privacy says about another: each theorem against a direct computation, each gap refused."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import mpmath
import pytest

import noisewright as nw
from noisewright.proof.conversions import concentrated_to_approximate, renyi_to_approximate
from noisewright.proof.renyi import pure_to_renyi

F = Fraction


def exact(value: Fraction) -> Any:
    return mpmath.mpf(value.numerator) / value.denominator


KINDS: dict[str, Any] = {
    "pure": lambda epsilon, last: nw.PureDP(last),
    "approximate": nw.ApproxDP,
    "probabilistic": nw.ProbabilisticDP,
    "concentrated": lambda epsilon, last: nw.ZeroConcentratedDP(last),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_guarantee_says_the_same_and_anything_weaker_about_its_own_kind(kind):
    held = KINDS[kind]("1", "0.25")
    assert nw.mechanisms.implied_bound(held, held) == (F(1, 4), "same-kind")
    assert nw.mechanisms.implied_bound(held, KINDS[kind]("1", "0.3"))[0] == F(1, 4)
    assert nw.mechanisms.implied_bound(held, KINDS[kind]("1.5", "0.25"))[0] == F(1, 4)
    with pytest.raises(nw.errors.UncertifiedError, match=r"only with 0\.25"):
        nw.mechanisms.implied_bound(held, KINDS[kind]("1", "0.2499"))


@pytest.mark.parametrize("kind", ["approximate", "probabilistic"])
def test_a_guarantee_says_nothing_about_a_smaller_epsilon_of_its_own_kind(kind):
    held = KINDS[kind]("1", "0.25")
    with pytest.raises(nw.errors.UncertifiedError, match="smaller epsilon"):
        nw.mechanisms.implied_bound(held, KINDS[kind]("0.999", "0.9"))


def test_the_delta_is_compared_with_the_delta_and_not_with_the_epsilon():
    with pytest.raises(nw.errors.UncertifiedError, match="only with"):
        nw.mechanisms.implied_bound(nw.PureDP(3), nw.ApproxDP(2, "0.5"))
    with pytest.raises(nw.errors.UncertifiedError, match=r"only with 0\.25"):
        nw.mechanisms.implied_bound(nw.ProbabilisticDP(1, "0.25"), nw.ApproxDP(1, "0.1"))


def test_pure_privacy_is_probabilistic_from_its_own_epsilon_on_and_not_below():
    for epsilon in ("1", "1.5"):
        found = nw.mechanisms.implied_bound(nw.PureDP(1), nw.ProbabilisticDP(epsilon, "1e-9"))
        assert found == (F(0), "pure-is-probabilistic")
    with pytest.raises(nw.errors.UncertifiedError, match="below it"):
        nw.mechanisms.implied_bound(nw.PureDP(1), nw.ProbabilisticDP("0.999", "0.9"))


@pytest.mark.parametrize("epsilon", ["1", "1.5"])
def test_pure_privacy_is_approximate_with_no_delta_from_its_own_epsilon_on(epsilon):
    assert nw.mechanisms.implied_bound(nw.PureDP(1), nw.ApproxDP(epsilon, "1e-15")) == (F(0), "pure-is-approximate")


@pytest.mark.parametrize(
    ("held", "wanted"),
    [
        (nw.ApproxDP(1, "0.01"), nw.ProbabilisticDP(1, "0.9")),
        (nw.ApproxDP(1, "0.01"), nw.PureDP(32)),
        (nw.ApproxDP(1, "0.01"), nw.RenyiDP(2, 5)),
        (nw.ProbabilisticDP(1, "0.01"), nw.PureDP(32)),
        (nw.RenyiDP(2, "0.01"), nw.ZeroConcentratedDP(1)),
        (nw.RenyiDP(2, "0.01"), nw.PureDP(32)),
        (nw.ZeroConcentratedDP("0.01"), nw.PureDP(32)),
        (nw.ZeroConcentratedDP("0.01"), nw.ProbabilisticDP(1, "0.9")),
    ],
    ids=str,
)
def test_where_no_theorem_leads_nothing_is_implied(held, wanted):
    with pytest.raises(nw.errors.UncertifiedError, match="does not imply any"):
        nw.mechanisms.implied_bound(held, wanted)


def test_probabilistic_privacy_is_approximate_from_its_own_epsilon_on_and_not_below():
    held = nw.ProbabilisticDP(1, "0.25")
    assert nw.mechanisms.implied_bound(held, nw.ApproxDP("1.5", "0.25")) == (F(1, 4), "probabilistic-is-approximate")
    with pytest.raises(nw.errors.UncertifiedError, match="says nothing"):
        nw.mechanisms.implied_bound(held, nw.ApproxDP("0.999", "0.9"))


@pytest.mark.parametrize(("held", "wanted"), [("1", "1/2"), ("3", "1/10"), ("1/10", "1/100")])
def test_randomised_response_is_the_worst_that_pure_privacy_allows(held, wanted):
    bound, _ = nw.mechanisms.implied_bound(nw.PureDP(held), nw.ApproxDP(wanted, "0.999"))
    with mpmath.workdps(60):
        e, w = exact(F(held)), exact(F(wanted))
        yes = mpmath.exp(e) / (1 + mpmath.exp(e))
        truth = yes - mpmath.exp(w) * (1 - yes)
        assert truth <= exact(bound) <= truth * (1 + mpmath.mpf(10) ** -30)


@pytest.mark.parametrize("alpha", ["3/2", "2", "10"])
@pytest.mark.parametrize(("divergence", "epsilon"), [("1/10", "1"), ("1/2", "3"), ("1", "2")])
def test_one_order_shows_what_the_pointwise_inequality_shows(alpha, divergence, epsilon):
    """(1 - e^(epsilon - loss)) over e^((alpha - 1) loss) at its largest, found by looking."""
    bound = renyi_to_approximate(F(alpha), F(divergence), F(epsilon))
    with mpmath.workdps(40):
        a, d, e = exact(F(alpha)), exact(F(divergence)), exact(F(epsilon))

        def share(loss: Any) -> Any:
            return (1 - mpmath.exp(e - loss)) * mpmath.exp(-(a - 1) * loss)

        peak = e + mpmath.log(a / (a - 1))
        assert all(share(peak) > share(peak + mpmath.mpf(k) / 1000) for k in range(-900, 900) if k)
        truth = mpmath.exp((a - 1) * d) * share(peak)
        assert truth <= exact(bound) <= min(1, truth * (1 + mpmath.mpf(10) ** -25))


def test_a_divergence_that_shows_nothing_gives_a_delta_of_one():
    assert renyi_to_approximate(F(2), F(100), F(1)) == 1


@pytest.mark.parametrize(("rho", "epsilon"), [("1/10", "2"), ("1/2", "3"), ("1/100", "1")])
def test_concentrated_privacy_converts_at_its_best_order(rho, epsilon):
    bound = concentrated_to_approximate(F(rho), F(epsilon))
    orders = [1 + mpmath.mpf(k) / 100 for k in range(1, 20_000, 7)]
    r, e = exact(F(rho)), exact(F(epsilon))
    best = min(mpmath.exp((a - 1) * (a * r - e)) / a * (1 - 1 / a) ** (a - 1) for a in orders)
    assert float(bound) <= float(best) * (1 + 1e-12)
    assert float(bound) >= 0.999 * float(best)
    # The Gaussian of that concentration is really so private, and no better.
    std = 1 / mpmath.sqrt(2 * r)
    tail = [mpmath.erfc((e * std + sign / (2 * std)) / mpmath.sqrt(2)) / 2 for sign in (-1, 1)]
    assert float(tail[0] - mpmath.exp(e) * tail[1]) <= float(bound)


@pytest.mark.parametrize("alpha", ["3/2", "2", "8"])
def test_concentrated_and_pure_privacy_bound_every_order(alpha):
    order = F(alpha)
    assert nw.mechanisms.implied_bound(nw.ZeroConcentratedDP("0.1"), nw.RenyiDP(alpha, 5))[0] == order / 10
    bound, _ = nw.mechanisms.implied_bound(nw.PureDP("0.7"), nw.RenyiDP(alpha, 5))
    with mpmath.workdps(50):
        yes = 1 / (1 + mpmath.exp(-exact(F("0.7"))))
        a = exact(order)
        moment = yes**a * (1 - yes) ** (1 - a) + (1 - yes) ** a * yes ** (1 - a)
        truth = mpmath.log(moment) / (a - 1)
        assert truth <= exact(bound) <= truth * (1 + mpmath.mpf(10) ** -25)
    assert pure_to_renyi(F("0.7"), order) == bound
    assert nw.mechanisms.implied_bound(nw.PureDP("0.7"), nw.ZeroConcentratedDP(1))[0] == F(49, 200)


def test_a_divergence_holds_for_lower_orders_and_says_nothing_about_higher_ones():
    held = nw.RenyiDP(4, "0.5")
    for alpha in ("4", "2", "1.5"):
        assert nw.mechanisms.implied_bound(held, nw.RenyiDP(alpha, "0.5"))[0] == F(1, 2)
    with pytest.raises(nw.errors.UncertifiedError, match="higher order"):
        nw.mechanisms.implied_bound(held, nw.RenyiDP("4.001", 5))
    with pytest.raises(nw.errors.UncertifiedError, match="only with"):
        nw.mechanisms.implied_bound(held, nw.RenyiDP(2, "0.499"))

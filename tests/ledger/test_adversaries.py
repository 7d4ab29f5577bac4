"""Every strategy on small games, computed exactly, stays within the budget; under an invalid rule it does not."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

import noisewright as nw
from noisewright.ledger.deciding import ChargeCost, created, decide
from noisewright.ledger.state import Account, Budget, State
from tests.ledger.games import (
    Release,
    composed_delta,
    exp,
    largest_delta,
    largest_moment,
    lopsided,
    lower,
    randomised_response,
    upper,
)

TIME = "2000-01-01T00:00:00+00:00"
PUBLISHED = [randomised_response(e) for e in ("0.65", "0.86", "1.39")]
MIXED = [randomised_response("0.5"), randomised_response("0.3", "0.02"), lopsided("0.4"), randomised_response("1.1")]


def ledger_grants(budget: Any, menu: list[Release], rules: Any = None) -> Callable[[tuple[int, ...]], bool]:
    """Whether the ledger's own code grants a list of charges in this order, each decided on the state before it."""
    first = created(budget, None, rules, TIME)
    made = Budget.from_dict(0, first["budget"])
    states: dict[tuple[int, ...], State | None] = {(): State.from_dict(first["accounts"][""])}

    def after(charges: tuple[int, ...]) -> State | None:
        if charges not in states:
            before = after(charges[:-1])
            if before is None:
                states[charges] = None
            else:
                cost = ChargeCost(menu[charges[-1]], "declared")
                refused, row = decide([Account("", made, before)], cost, {"label": "game"}, TIME)
                states[charges] = None if refused else State.from_dict(row["accounts"][""])
        return states[charges]

    return lambda charges: after(charges) is not None


@pytest.mark.parametrize("epsilon", ["0.9", "1.5", "2"])
@pytest.mark.parametrize("delta", ["0.01", "0.2405"])
@pytest.mark.parametrize(("menu", "steps"), [(PUBLISHED, 4), (MIXED, 3)], ids=["published", "mixed"])
def test_no_strategy_passes_the_budget(epsilon: str, delta: str, menu: list[Release], steps: int):
    budget = nw.ApproxDP(epsilon, delta)
    granted = ledger_grants(budget, menu)
    # From below e^epsilon, so that the value is at least the true one.
    reached = largest_delta(granted, menu, exp(budget.epsilon, lower), steps)
    assert reached <= budget.delta
    assert any(granted((place,)) for place in range(len(menu))), "nothing was granted, so nothing was tested"


@pytest.mark.parametrize("rule", ["basic", "gaussian", "concentrated"])
def test_no_strategy_passes_a_single_rule(rule: str):
    budget = nw.ApproxDP("1.2", "0.3")
    menu = [randomised_response("0.25"), randomised_response("0.6"), randomised_response("0.1", "0.05")]
    granted = ledger_grants(budget, menu, {rule: 1})
    assert largest_delta(granted, menu, exp(budget.epsilon, lower), 4) <= budget.delta
    assert granted((0, 0)), "the rule grants too little to be tested"
    assert not granted((2,) * 40), "no rule forgets deltas"


def test_composing_and_stopping_is_no_filter():
    """The published counterexample, in the same game: promised .2405, reached .3052."""
    epsilon, promised = Fraction("1.5"), Fraction("0.2405")
    high, low = exp(epsilon, upper), exp(epsilon, lower)

    def compose_and_stop(charges: tuple[int, ...]) -> bool:
        return all(composed_delta(PUBLISHED, charges[:n], low) <= promised for n in range(1, len(charges) + 1))

    # From above e^epsilon, so that the value is at most the true one.
    reached = largest_delta(compose_and_stop, PUBLISHED, high, 5)
    assert round(float(reached), 4) == 0.3052
    budget = nw.ApproxDP(epsilon, promised)
    assert largest_delta(ledger_grants(budget, PUBLISHED), PUBLISHED, low, 5) <= promised


def test_pure_budgets_bound_every_likelihood_ratio():
    budget, menu = nw.PureDP("1.5"), PUBLISHED
    granted = ledger_grants(budget, menu)
    assert largest_delta(granted, menu, exp(budget.epsilon, lower), 4) <= Fraction(1, 10**9)
    assert largest_delta(granted, menu, exp(Fraction("1.3"), upper), 4) > Fraction(1, 100), "the budget is used"


@pytest.mark.parametrize("order", [2, 3, 8])
def test_concentrated_and_renyi_budgets_bound_every_moment(order: int):
    menu = [randomised_response("0.3"), randomised_response("0.7"), lopsided("0.4")]
    budget = nw.ZeroConcentratedDP("0.3")
    moment = largest_moment(ledger_grants(budget, menu), menu, order, 4)
    assert moment <= exp(budget.rho * order * (order - 1), lower)
    kept = nw.RenyiDP(order, "0.6")
    granted = ledger_grants(kept, menu)
    assert largest_moment(granted, menu, order, 4) <= exp(kept.epsilon * (order - 1), lower)
    assert granted((0, 0)), "the budget grants too little to be tested"


def test_the_game_notices_a_charge_that_brings_too_little():
    budget, menu = nw.ApproxDP("0.9", "0.01"), PUBLISHED
    cheap = [Release(release.laws, release.epsilon / 2) for release in menu]
    granted = ledger_grants(budget, cheap)
    assert largest_delta(granted, menu, exp(budget.epsilon, upper), 3) > budget.delta


def test_the_game_finds_what_is_known():
    """k randomised responses fixed in advance, and a single one, by their formulas."""
    one = [randomised_response("1")]
    low, high = exp(Fraction("0.4"), lower), exp(Fraction("0.4"), upper)
    ratio = one[0].laws[0][0] / one[0].laws[0][1]
    assert largest_delta(lambda charges: len(charges) == 1, one, low, 1) == (ratio - low) / (1 + ratio)
    always = largest_delta(lambda charges: True, one, high, 3)
    assert always == composed_delta(one, (0, 0, 0), high)

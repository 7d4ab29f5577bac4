"""A whole plan is one charge."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

import noisewright as nw
from noisewright.proof.costs import squared_of_pure
from noisewright.release.plan.strategies.selection import bounded_noise
from tests.ledger import menu


def test_a_plan_is_one_charge_and_cheaper_than_its_epsilons(path: Path):
    ledger = nw.Ledger.create(path, budget=nw.ApproxDP("1.5", "1e-6"))
    plan = nw.compose([(menu.laplace("0.02"), 200)])
    charge = ledger.charge(plan, reason="two hundred counts")
    row = list(ledger.rows())[charge.place]
    spare = Fraction(1, 2 * 10**6) / 64
    assert ledger.spent["basic"][0] == plan.epsilon(spare) < Fraction("1.5") < 200 * Fraction("0.02")
    assert ledger.now().deltas()["basic"][0] == spare
    assert row["certificate"]["plan"] == plan.certificate.plan
    assert ledger.spent["concentrated"][0] == 200 * Fraction("0.02") ** 2 / 2
    assert ledger.spent["gaussian"][0] >= 200 * squared_of_pure(Fraction("0.02"))
    assert ledger.verify().charges == 1


@pytest.mark.parametrize("budget", [nw.PureDP(4), nw.ZeroConcentratedDP("0.04"), nw.RenyiDP(2, "0.08")])
def test_plans_add_up_in_every_currency(path: Path, budget: object):
    ledger, plan = nw.Ledger.create(path, budget=budget), nw.compose([(menu.laplace("0.02"), 200)])
    ledger.charge(plan, reason="all of it")
    one = nw.Ledger.create(path.with_name("one"), budget=budget)
    one.charge([menu.laplace("0.02")] * 200, reason="the same, listed")
    assert abs(ledger.spent - one.spent) <= Fraction(1, 2**100)
    assert 0 < ledger.spent <= ledger.spent + ledger.remaining


def test_gaussian_plans_bring_their_squared_length():
    costs = nw.compose([(menu.gaussian("30"), 7), "gaussian(sigma=10) x 2"]).costs()
    assert costs.gaussian() == (7 * Fraction(1, 900) + 2 * Fraction(1, 100), Fraction(0))
    assert costs.concentrated() == ((7 * Fraction(1, 900) + 2 * Fraction(1, 100)) / 2, Fraction(0))
    assert costs.pure() is None
    assert costs.pair() is None
    epsilon, delta = costs.pair(Fraction(1, 10**6)) or (0, 0)
    assert delta == Fraction(1, 10**6)
    assert 0 < epsilon < 2


def test_groups_count_once():
    histogram = nw.design(nw.Histogram(4), privacy=nw.PureDP("0.1"), utility=nw.AbsoluteError()).best
    larger = nw.design(nw.Histogram(4), privacy=nw.PureDP("0.3"), utility=nw.AbsoluteError()).best
    costs = nw.compose([histogram, larger], groups=1).costs()
    assert costs.concentrated() == (Fraction("0.3") ** 2 / 2, Fraction(0))
    assert costs.pure() == Fraction("0.3")


def test_a_plan_with_a_delta_is_refused_by_a_pure_budget(path: Path):
    ledger = nw.Ledger.create(path, budget=nw.PureDP(4))
    with pytest.raises(nw.errors.UncertifiedError, match="Nothing was charged"):
        ledger.charge(nw.compose([menu.truncated("0.5", "1e-4")]), reason="x")


def test_neighbours_of_certificates_are_kept_apart(path: Path):
    ledger = nw.Ledger.create(path, budget=nw.PureDP(4))
    added = nw.design(nw.Histogram(4), privacy=nw.PureDP("0.1"), utility=nw.AbsoluteError()).best
    replaced = nw.design(nw.Histogram(4, replace=True), privacy=nw.PureDP("0.1"), utility=nw.AbsoluteError()).best
    ledger.charge(added, reason="people come and go")
    ledger.charge(menu.laplace("0.1"), reason="declared")
    for given in (replaced, nw.compose([replaced])):
        with pytest.raises(nw.errors.InvalidInputError, match="one kind"):
            ledger.charge(given, reason="people change")
    assert ledger.now().state.neighbours == "add-remove"


def test_a_plan_that_loses_more_than_can_be_spared_is_read_a_little_above_that(path: Path):
    """Noise that ends is lost altogether with a chance of delta; many such draws cost less than their epsilons."""
    noise = bounded_noise(nw.ApproxDP("0.05", "1e-7"), nw.SquaredError())
    plan = nw.compose([noise], groups=60)
    end, lost = plan.end
    assert end is not None
    assert float(end) == pytest.approx(3)
    epsilon, delta = plan.costs().pair(lost / 2) or (end, lost)
    assert epsilon < Fraction(4, 5) * end
    assert delta == lost * Fraction(4, 3)
    assert plan.delta(epsilon) <= delta
    few = nw.compose([noise], groups=2)
    assert few.costs().pair() == few.end, "where little is gained, no delta is spent on it"
    kept = nw.Ledger.create(path, budget=nw.ApproxDP(3, 2 * lost))
    with pytest.raises(nw.errors.BudgetExceeded, match=r"delta \S+ requested, \S+ left"):
        kept.charge(plan, reason="too large a delta")

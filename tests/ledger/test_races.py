"""Many processes charge at once: the rule never fails, every granted charge is there, none twice."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from typing import Any

import pytest

import noisewright as nw
from noisewright.ledger import postgres, sqlite
from noisewright.sample.certified import Certified
from tests.ledger import menu
from tests.ledger.many import forked, outcome, together

EPSILONS = ("0.001", "1/300", "0.007", "1/70", "0.02", "0.05")
STDS = ("30", "71/2", "50", "80", "120", "200")
Cost = Callable[[Certified], Fraction]


def _epsilon(certified: Certified) -> Fraction:
    return Fraction(certified.certificate.bound)


def _rho(certified: Certified) -> Fraction:
    return 1 / (2 * certified.mechanism.law.std**2)


def _share(certified: Certified) -> Fraction:
    metric: Any = certified.costs().metric()
    return Fraction(metric.factor)


BUDGETS: dict[str, tuple[Any, Callable[[], list[Certified]], Cost, Fraction]] = {
    "pure": (nw.PureDP("1/3"), lambda: [menu.laplace(e) for e in EPSILONS], _epsilon, Fraction(1, 3)),
    "zero-concentrated": (
        nw.ZeroConcentratedDP("0.01"),
        lambda: [menu.gaussian(s) for s in STDS],
        _rho,
        Fraction("0.01"),
    ),
    "renyi": (
        nw.RenyiDP(4, "0.03"),
        lambda: [menu.discrete_gaussian(s) for s in STDS],
        lambda certified: 4 * _rho(certified),
        Fraction("0.03"),
    ),
    "metric": (
        nw.MetricPrivacy(menu.PEOPLE),
        lambda: [menu.on_a_metric(s) for s in ("0.01", "1/30", "0.05", "0.07")],
        _share,
        Fraction(1),
    ),
    # Of the three rules the basic one holds longest for these; its two sums are compared below.
    "approximate": (
        nw.ApproxDP("0.3", "1e-6"),
        lambda: [menu.gaussian(s, nw.ApproxDP("0.02", "0.001")) for s in ("800", "1000")] + [menu.laplace("0.01")],
        lambda certified: Fraction(0),
        Fraction(0),
    ),
}
"""By kind: a budget that the charges pass several times over, what is charged, what that costs, and the limit."""


def _charging(url: str, menu_of: list[Certified], seed: int, charges: int) -> Callable[[], list[Any]]:
    def task() -> list[Any]:
        ledger, chosen = nw.Ledger.open(url), random.Random(seed)
        granted = []
        for i in range(charges):
            which = chosen.randrange(len(menu_of))
            try:
                charge = ledger.charge(menu_of[which], reason=f"{seed}/{i}")
            except nw.errors.BudgetExceeded:
                continue
            granted.append([charge.place, charge.digest, which, f"{seed}/{i}"])
        return granted

    return task


def race(url: str, kind: str, processes: int, charges: int, patience: int = 250) -> None:
    """Let them run, then compare what each was told with what is there."""
    budget, make, cost, limit = BUDGETS[kind]
    mechanisms = make()
    nw.Ledger.create(url, budget=budget)
    results = together([_charging(url, mechanisms, seed, charges) for seed in range(processes)], patience)
    granted = {place: (digest, which, label) for result in results for place, digest, which, label in result}
    assert len(granted) == sum(map(len, results)), "a row was promised twice"
    ledger = nw.Ledger.open(url)
    rows = {row["place"]: row for row in ledger.rows() if row["event"] == "charge"}
    assert {place: (row["digest"], row["label"]) for place, row in rows.items()} == {
        place: (digest, label) for place, (digest, _, label) in granted.items()
    }
    refused = [row for row in ledger.rows() if row["event"] == "refused"]
    assert len(rows) + len(refused) == processes * charges
    spent = sum((cost(mechanisms[which]) for _, which, _ in granted.values()), Fraction(0))
    assert spent <= limit
    assert ledger.verify().charges == len(granted)
    if kind == "approximate":
        assert any(used <= most for used, most in ledger.spent.values())
    else:
        assert ledger.spent == spent


@pytest.mark.parametrize("kind", BUDGETS)
def test_processes_race_for_one_budget(url: str, kind: str):
    race(url, kind, processes=6, charges=12)


@pytest.mark.soak
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("kind", BUDGETS)
def test_sixteen_processes_make_a_thousand_charges_each(url: str, kind: str):
    race(url, kind, processes=16, charges=1000, patience=1100)


def test_the_race_is_run_to_the_end_of_the_budget(path):
    race(str(path), "pure", processes=2, charges=40)
    assert nw.Ledger.open(path).remaining < Fraction("0.02")


def test_threads_of_one_process_share_a_ledger(url: str):
    ledger = nw.Ledger.create(url, budget=nw.PureDP("0.5"))
    mechanism, granted = menu.laplace("0.02"), []

    def charge() -> None:
        for i in range(10):
            with suppress(nw.errors.BudgetExceeded):
                granted.append(ledger.charge(mechanism, reason=str(i)).place)

    threads = [threading.Thread(target=charge) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(granted)) == len(granted) == 25
    assert ledger.remaining == 0
    assert ledger.verify().charges == 25


def _without_the_lock(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if url.startswith("postgresql"):
        head = postgres.PostgresStore._head
        monkeypatch.setattr(postgres.PostgresStore, "_head", lambda self, connection, locked="": head(self, connection))
    else:
        agree = sqlite.SQLiteStore._agree

        def unlocked(self: Any, connection: Any) -> None:
            connection.execute("ROLLBACK")
            connection.execute("BEGIN")
            agree(self, connection)

        monkeypatch.setattr(sqlite.SQLiteStore, "_agree", unlocked)


def test_without_the_lock_the_race_fails(url: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]):
    nw.Ledger.create(url, budget=nw.PureDP(1))
    _without_the_lock(url, monkeypatch)
    tasks = [_charging(url, [menu.laplace("0.001")], seed, 40) for seed in range(4)]
    codes = [outcome(*one)[0] for one in [forked(task) for task in tasks]]
    assert any(codes), "nobody noticed that charges are not serialised"
    assert "LedgerError" in capfd.readouterr().err


def _mixed(url: str, seed: int, steps: int) -> Callable[[], list[Any]]:
    """Charges to the whole and to sub-budgets, answers, raises and closings, in any order."""
    costs = {epsilon: menu.laplace(epsilon) for epsilon in ("0.01", "0.02", "0.05")}

    def task() -> list[Any]:
        ledger, chosen, granted = nw.Ledger.open(url), random.Random(seed), []
        accounts = [ledger, *(ledger.sub(name) for name in ("ann", "bob", "carl"))]
        for i in range(steps):
            account, epsilon = chosen.choice(accounts), chosen.choice(list(costs))
            kind = chosen.choices(["charge", "raise", "close"], [20, 2, 1 if account.name == "carl" else 0])[0]
            with suppress(nw.errors.BudgetExceeded, nw.errors.InvalidInputError, nw.errors.LedgerError):
                if kind == "raise":
                    account.raise_budget(nw.PureDP(account.budget.epsilon + Fraction(1, 50)), reason="more")
                elif kind == "close":
                    account.close_budget(reason="left")
                else:
                    with account.charge(costs[epsilon], reason=f"{seed}/{i}") as charge:
                        granted.append([charge.place, account.name, epsilon])
                        charge.answered(i)
        return granted

    return task


def test_sub_budgets_that_are_raised_and_closed_race_under_one_total(url: str):
    ledger = nw.Ledger.create(url, budget=nw.PureDP("0.3"))
    for name in ("ann", "bob", "carl"):
        ledger.sub(name, budget=nw.PureDP("0.1"))
    found = [each for result in together([_mixed(url, seed, 15) for seed in range(3)]) for each in result]
    assert len({place for place, _, _ in found}) == len(found)
    spent = {name: sum((Fraction(e) for _, a, e in found if a == name), Fraction(0)) for name in ("ann", "bob", "carl")}
    for name, amount in spent.items():
        assert ledger.sub(name).spent == amount <= ledger.sub(name).budget.epsilon
    assert ledger.spent == sum((Fraction(e) for _, _, e in found), Fraction(0)) <= ledger.budget.epsilon
    closed = [row["place"] for row in ledger.rows() if row["event"] == "close"]
    assert all(place < closed[0] for place, name, _ in found if name == "carl" and closed)
    assert ledger.verify().charges == len(found)

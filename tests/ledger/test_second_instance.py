"""A second account, order, kind of budget, ledger or delta beside the first: nothing of one counts for the other."""

from __future__ import annotations

import json
import os
import shutil
import stat
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import pytest

import noisewright as nw
from noisewright.ledger import idempotence
from noisewright.ledger.chain import Head
from noisewright.ledger.idempotence import Same
from noisewright.problem.records import digest
from tests.ledger import menu

F = Fraction
BUDGETS = {
    "pure": nw.PureDP(1),
    "approximate": nw.ApproxDP(1, "1e-6"),
    "concentrated": nw.ZeroConcentratedDP(1),
    "order 2": nw.RenyiDP(2, 1),
    "order 3": nw.RenyiDP(3, 1),
    "order 64": nw.RenyiDP(64, 1),
    "metric": nw.MetricPrivacy(menu.PEOPLE),
    "larger metric": nw.MetricPrivacy(nw.metrics.Hamming(5, 1)),
}
PAIRS = [(one, other) for one in BUDGETS for other in BUDGETS if one != other]


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_a_budget_is_neither_raised_to_one_of_another_kind_nor_divided_into_it(path: Path, one: str, other: str):
    ledger = nw.Ledger.create(path, budget=BUDGETS[one])
    for attempt in (
        lambda: ledger.raise_budget(BUDGETS[other], reason="more"),
        lambda: ledger.sub("ann", budget=BUDGETS[other]),
    ):
        with pytest.raises(nw.errors.InvalidPrivacyError, match="same kind"):
            attempt()
    assert [row["event"] for row in ledger.rows()] == ["create"]


@pytest.mark.parametrize("budget", [nw.PureDP, nw.ZeroConcentratedDP, lambda e: nw.RenyiDP(3, e)])
@pytest.mark.parametrize(("whole", "part"), [("1/4", "3"), ("3", "1/4")])
def test_the_largest_epsilon_of_a_sub_budget_is_what_it_and_the_whole_both_have(path: Path, budget, whole, part):
    ledger = nw.Ledger.create(path, budget=budget(F(whole)))
    ann = ledger.sub("ann", budget=budget(F(part)))
    bob = ledger.sub("bob", budget=budget(F("1/8")))
    largest = ann.largest_epsilon
    alone = nw.Ledger.create(path.with_name("alone"), budget=budget(F("1/4"))).largest_epsilon
    assert largest == alone <= ledger.largest_epsilon
    assert bob.largest_epsilon < largest
    with pytest.raises(nw.errors.BudgetExceeded) as told:
        ann.charge(menu.laplace(str(largest * F(10_001, 10_000))), reason="a little more")
    assert told.value.largest_epsilon == largest
    ann.charge(menu.laplace(str(largest)), reason="just that")
    assert bob.largest_epsilon <= ledger.largest_epsilon < F(1, 100) or whole == "3"


def test_another_account_that_asks_for_the_same_finishes_no_charge_but_its_own(path: Path):
    """Of two accounts under one whole each is charged, holds its own charge alone, and reads the other's answer."""
    whole = nw.Ledger.create(path, budget=nw.PureDP(4))
    accounts = [whole.sub("ann", budget=nw.PureDP(1)), whole.sub("bob", budget=nw.PureDP(1)), whole]
    named, made = digest({"drawn": "the same"}), menu.laplace("0.5")
    same = [Same(account, named, made, lambda answer: answer) for account in accounts]
    first = same[0].charged("hers")
    assert first is not None
    for other in same[1:]:
        assert other.look().standing == {}
        assert other.resumed(first.place) is None
    charges = [first, *(other.charged("the same", other.look()) for other in same[1:])]
    assert [None if charge is None else charge.place for charge in charges] == [3, 4, 5]
    assert [account.spent for account in accounts] == [F(1, 2), F(1, 2), F(3, 2)]
    for mine, charge in zip(same, charges, strict=True):
        assert charge is not None
        assert list(mine.look().standing) == [charge.place]
    assert charges[0] is not None
    charges[0].drawing()
    charges[0].answered("7")
    assert [mine.look().answer for mine in same] == [(3, "7")] * 3
    assert same[1].resumed(4) is not None


@pytest.mark.parametrize("between", [0, 1, 2, 5])
def test_a_charge_that_was_drawn_is_not_resumed_however_far_away_that_is_said(
    path: Path, monkeypatch: pytest.MonkeyPatch, between: int
):
    """Others charge between the charge and its drawing: more rows than are read at once."""
    monkeypatch.setattr(idempotence, "_AT_A_TIME", 2)
    ledger, made = nw.Ledger.create(path, budget=nw.PureDP(4)), menu.laplace("0.1")
    same = Same(ledger, digest({"drawn": "the same"}), made, lambda answer: answer)
    charge = same.charged("first")
    assert charge is not None
    for i in range(between):
        ledger.charge(made, reason=f"another {i}")
    charge.drawing()
    assert same.resumed(charge.place) is None
    assert ledger.verify().rows == between + 3


def _random_plan(chance: Random) -> tuple[Any, Fraction]:
    """Declared pairs and noise, certified noise and plans in plans; and the sum of all their deltas."""
    lost, parts = F(0), list[Any]()
    for _ in range(chance.randint(1, 4)):
        times, delta = chance.randint(1, 3), F(chance.choice(["1/200", "1/1000", "1/30000"]))
        kind = chance.choice(["pair", "pair", "noise", "certified", "plan"])
        if kind == "pair":
            parts.append(f"pair(epsilon=0.1, delta={delta}) x {times}")
            lost += times * delta
        elif kind == "noise":
            parts.append(f"laplace(scale=20) x {times}")
        elif kind == "certified":
            parts.append((menu.laplace("0.1"), times))
        else:
            parts.append((nw.compose([f"pair(epsilon=0.2, delta={delta})", menu.laplace("0.1")]), times))
            lost += times * delta
    return nw.compose(parts), lost


def test_what_declared_pairs_may_lose_is_charged_in_every_sum():
    """Of all deltas together at least what no better counting than 1 - prod(1 - delta) could leave."""
    for seed in range(60):
        plan, lost = _random_plan(Random(seed))
        costs = plan.costs()
        for found in (costs.gaussian(), costs.concentrated(), costs.pair()):
            assert found is not None
            assert lost * F(99, 100) - lost**2 <= found[1] <= lost * F(3, 2), f"seed {seed}"
        assert (costs.pure() is None) == bool(lost)
        assert (costs.divergence(F(2)) is None) == bool(lost)


@pytest.mark.parametrize("rule", ["basic", "gaussian", "concentrated"])
def test_no_rule_alone_grants_declared_pairs_beyond_the_delta_of_the_budget(path: Path, rule: str):
    shares = {name: F(int(name == rule)) for name in ("basic", "gaussian", "concentrated")}
    ledger = nw.Ledger.create(path, budget=nw.ApproxDP(8, "1e-2"), rules={rule: 1} if rule else shares)
    plan = nw.compose(["pair(epsilon=0.001, delta=0.003)"])
    for _ in range(4):
        with suppress(nw.errors.BudgetExceeded):
            ledger.charge(plan, reason="some")
    assert ledger.verify().charges <= 3


@pytest.mark.parametrize("told", [None, "add-remove", "replace"])
def test_a_plan_with_more_releases_is_about_the_neighbours_of_them_all(told):
    """Whether releases are added one by one or composed at once, and whichever of them only declares."""
    declared = "gaussian(sigma=40)"
    certified, replaced = (
        nw.design(nw.Histogram(3, replace=one), privacy=nw.PureDP("0.1"), utility=nw.AbsoluteError()).best
        for one in (False, True)
    )
    for first, *others in ([declared, certified], [certified, declared], [declared, replaced], [declared, declared]):
        at_once = _told(lambda f=first, o=others: nw.compose([f, *o], neighbours=told))
        begun = _told(lambda f=first: nw.compose(f, neighbours=told))
        longer = begun if isinstance(begun, str) else _told(lambda b=begun, o=others[0]: b.plus(o))
        kinds = [one if isinstance(one, str) else one.neighbours for one in (at_once, longer)]
        # A plan about known neighbours says what releases that declare are about, once it is composed.
        known = told is None and (first, others) == (certified, [declared])
        assert kinds == (["refused", "add-remove"] if known else [kinds[0]] * 2)
    with pytest.raises(nw.errors.InvalidInputError, match="different kinds of adjacency"):
        nw.compose(declared).plus(certified)
    plan = nw.compose(declared, neighbours="add-remove").plus(certified)
    assert plan.neighbours == certified.certificate.neighbours == "add-remove"
    with pytest.raises(nw.errors.InvalidInputError, match="different kinds of adjacency"):
        plan.plus(replaced)


def _told(made: Any) -> Any:
    try:
        return made()
    except nw.errors.InvalidInputError:
        return "refused"


def test_a_ledger_of_as_many_rows_in_the_place_of_another_is_not_believed(path: Path, tmp_path: Path):
    """Rows and chain of one ledger, all sound, beside the head of the other, which counts as many."""
    other = tmp_path / "other"
    for place in (path, other):
        ledger = nw.Ledger.create(place, budget=nw.PureDP(1))
        ledger.charge(menu.laplace("0.1"), reason=place.name)
    ledger = nw.Ledger.open(path)
    shutil.copy(other, path)
    for attempt in (lambda: ledger.spent, lambda: list(ledger.rows()), lambda: nw.Ledger.open(path), ledger.verify):
        with pytest.raises(nw.errors.LedgerDamagedError, match="do not belong together"):
            attempt()
    with pytest.raises(nw.errors.LedgerDamagedError, match="do not belong together"):
        ledger.charge(menu.laplace("0.1"), reason="x")


def test_a_head_of_which_the_disk_does_not_say_that_it_is_there_replaces_none(path: Path, monkeypatch):
    """The new head is synchronised before it takes the place of the old one: if that fails, the old one stays."""
    ledger = nw.Ledger.create(path, budget=nw.PureDP(1))
    beside = path.with_name(path.name + ".head")
    before = beside.read_text()

    def failing(file: int) -> None:
        if not stat.S_ISDIR(os.fstat(file).st_mode) and os.fstat(file).st_size:
            raise OSError(5, "Input/output error")
        return

    monkeypatch.setattr(os, "fsync", failing)
    with pytest.raises(nw.errors.LedgerError, match="Input/output error"):
        ledger.charge(menu.laplace("0.1"), reason="x")
    monkeypatch.undo()
    assert beside.read_text() == before
    assert nw.Ledger.open(path).spent == F(1, 10), "what was committed stays spent"
    ledger.charge(menu.laplace("0.1"), reason="the head is mended")
    assert Head.from_dict(json.loads(beside.read_text())) == ledger.head

"""Several that ask for the same plan at once: one charge where one was asked for, and nobody robbed of an answer."""

from __future__ import annotations

import multiprocessing
import os
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

import noisewright as nw
from noisewright.ledger import checkpoints
from noisewright.ledger.charge import Charge
from noisewright.ledger.idempotence import Same
from noisewright.release.plan.noise import drawn
from noisewright.release.run import idempotence as holding, transaction
from noisewright.release.run.checked_table import CheckedTable
from tests.ledger.many import together
from tests.release.charges import charged, clinic, events, taken

LEDGER = nw.errors.LedgerError


@pytest.fixture
def quicker(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What another process does, once each, after the ledger was read and before a charge is resumed."""
    listed: list[Any] = []
    real = Same.resumed

    def slower(self: Same, *given: Any) -> Charge | None:
        if listed:
            listed.pop(0)()
        return real(self, *given)

    monkeypatch.setattr(Same, "resumed", slower)
    return listed


@pytest.mark.parametrize("draws", [False, True])
@pytest.mark.parametrize("fresh", [False, True])
def test_of_two_that_see_a_failed_charge_one_finishes_it(tmp_path: Path, quicker: list[Any], fresh: bool, draws: bool):
    data = clinic(tmp_path / "x.ledger")
    plan = data.plan(nw.count(), privacy=nw.PureDP(1))
    charged(data, plan).failed("Away")
    faster: list[Charge | None] = []

    def take() -> None:
        faster.append(taken(data, plan))
        if draws and faster[0] is not None:
            faster[0].drawing()

    quicker.append(take)
    if fresh:
        assert plan.release(fresh=True, frame="pyarrow")["charge"].to_pylist() == [4 + draws]
    else:
        with pytest.raises(
            nw.errors.InvalidInputError, match=r"somebody else is finishing charge 1 .*Nothing else was"
        ):
            plan.release()
    assert faster[0] is not None
    if not draws:
        faster[0].drawing()  # it was left to whoever was quicker
    faster[0].answered(["7"])
    assert data.ledger is not None
    assert data.ledger.spent == 1 + fresh
    assert events(data.ledger).count("resumed") == 1


class Rival:
    """Another release of the same plan, which comes while a first one has its sums and is about to draw."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, path: Path, does: Any, epsilon: int = 3) -> None:
        self.data = clinic(path, epsilon)
        self.plan = self.data.plan(nw.count(), privacy=nw.PureDP(1))
        self.draws: list[int] = []
        self.reads: list[int] = []
        self.found: list[Any] = []
        real, aggregate = drawn, CheckedTable.true_aggregates

        def counted(*given: Any) -> Any:
            self.draws.append(1)
            return real(*given)

        def read(*given: Any, **named: Any) -> Any:
            self.reads.append(1)
            return aggregate(*given, **named)

        def reach(point: str) -> None:
            if point == "aggregated" and not self.found:
                # As another process would: locks of this one do not hold it.
                monkeypatch.setattr(transaction, "alone", lambda *_: nullcontext())
                self.found.append(None)
                self.found.append(does(self.data, self.plan))

        monkeypatch.setattr(transaction, "drawn", counted)
        monkeypatch.setattr(CheckedTable, "true_aggregates", read)
        monkeypatch.setattr(checkpoints, "passed", reach)


def test_a_holder_whose_charge_was_taken_draws_nothing_and_gets_the_stored_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    rival = Rival(monkeypatch, tmp_path / "x.ledger", lambda _, plan: plan.release(frame="pyarrow").to_pydict())
    answer = clinic(tmp_path / "x.ledger").plan(nw.count(), privacy=nw.PureDP(1)).release(frame="pyarrow")
    assert answer.to_pydict() == rival.found[1]
    assert len(rival.draws) == 1
    assert events(rival.data.ledger) == ["create", "charge", "resumed", "drawing", "answer"]


@pytest.mark.parametrize("fresh", [False, True])
def test_a_holder_whose_charge_was_taken_takes_it_back_and_reads_nothing_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fresh: bool
):
    rival = Rival(monkeypatch, tmp_path / "x.ledger", taken)
    data = clinic(tmp_path / "x.ledger")
    answer = data.plan(nw.count(), privacy=nw.PureDP(1)).release(fresh=fresh, frame="pyarrow")
    assert answer["charge"].to_pylist() == [1]
    with pytest.raises(LEDGER, match="was resumed by somebody else"):
        rival.found[1].drawing()
    assert rival.reads == rival.draws == [1]
    assert events(data.ledger) == ["create", "charge", "resumed", "resumed", "drawing", "answer"]


def test_a_holder_whose_charge_somebody_draws_from_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    rival = Rival(monkeypatch, tmp_path / "x.ledger", lambda *given: taken(*given).drawing())  # type: ignore[union-attr]
    with pytest.raises(nw.errors.InvalidInputError, match=r"charge 1 .*about to store it.*Nothing was spent now"):
        clinic(tmp_path / "x.ledger").plan(nw.count(), privacy=nw.PureDP(1)).release()
    assert rival.draws == []
    assert events(rival.data.ledger) == ["create", "charge", "resumed", "drawing"]


def test_two_that_ask_afresh_at_once_have_two_charges(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    rival = Rival(monkeypatch, tmp_path / "x.ledger", lambda _, plan: plan.release(fresh=True, frame="pyarrow"))
    plan = clinic(tmp_path / "x.ledger").plan(nw.count(), privacy=nw.PureDP(1))
    assert plan.release(fresh=True, frame="pyarrow")["charge"].to_pylist() == [5]
    assert rival.found[1]["charge"].to_pylist() == [1]
    assert rival.draws == [1, 1]
    assert events(rival.data.ledger) == ["create", "charge", "resumed", *["drawing", "answer", "charge"] * 2][:-1]


def test_who_lost_a_charge_draws_nothing_where_there_is_no_budget_for_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    rival = Rival(monkeypatch, tmp_path / "x.ledger", lambda _, plan: plan.release(fresh=True), epsilon=1)
    with pytest.raises(nw.errors.BudgetExceeded):
        rival.plan.release(fresh=True)
    assert rival.draws == [1]
    assert events(rival.data.ledger) == ["create", "charge", "resumed", "drawing", "answer", "refused"]


@pytest.mark.parametrize("store", ["sqlite", "postgres"])
def test_processes_that_ask_the_same_plan_at_the_same_instant_charge_once(
    tmp_path: Path, request: pytest.FixtureRequest, store: str
):
    rounds, processes = 2, 3
    places = [str(tmp_path / f"{number}.ledger") for number in range(rounds)]
    if store == "postgres":
        url = request.getfixturevalue("server").url
        places = [f"{url}?ledger=instant-{os.getpid()}-{number}" for number in range(rounds)]
    for place in places:
        nw.Ledger.create(place, budget=nw.PureDP(3))
    barrier = multiprocessing.get_context("fork").Barrier(processes)

    def reach(point: str) -> None:
        if point == "validated":  # everybody has read the ledger, and nobody has charged
            barrier.wait(60)

    def asked(plan: Any) -> Any:
        try:
            return plan.release(frame="pyarrow").to_pydict()
        except nw.errors.InvalidInputError as error:
            return str(error)

    def task() -> Any:
        checkpoints.passed = reach
        plans = [clinic(place).plan(nw.count(), privacy=nw.PureDP(1)) for place in places]
        found = [asked(plan) for plan in plans]
        barrier.wait(60)
        return found, [asked(plan) for plan in plans]

    told = together([task] * processes)
    for number, place in enumerate(places):
        assert events(nw.Ledger.open(place)) == ["create", "charge", "drawing", "answer"]
        answer = told[0][1][number]
        assert all(again[number] == answer for _, again in told)
        first = [found[number] for found, _ in told]
        assert answer in first
        assert all(one == answer or "somebody else is finishing charge 1" in one for one in first)


def test_other_charges_meanwhile_stop_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    data = clinic(tmp_path / "x.ledger", 5)
    plan, ledger = data.plan(nw.count(), privacy=nw.PureDP(1)), data.ledger
    assert ledger is not None
    cheap = data.plan(nw.count(), privacy=nw.PureDP("0.001"))
    done: list[int] = []

    def reach(point: str) -> None:
        if point == "validated" and not done:
            done.append(1)
            ledger.charge(cheap.price, reason=f"plan {plan.key}", undrawn=holding.undrawn(plan))
            ledger.charge(plan.price, reason=f"plan {plan.key}", undrawn=holding.undrawn(cheap))

    monkeypatch.setattr(checkpoints, "passed", reach)
    assert plan.release(frame="pyarrow")["charge"].to_pylist() == [3]


def test_a_charge_of_the_plan_meanwhile_stops_another_whatever_its_label_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    data = clinic(tmp_path / "x.ledger")
    plan, ledger, done = data.plan(nw.count(), privacy=nw.PureDP(1)), data.ledger, list[int]()
    assert ledger is not None

    def reach(point: str) -> None:
        if point == "validated" and not done:
            done.append(1)
            ledger.charge(plan.price, reason="something else", undrawn=holding.undrawn(plan))

    monkeypatch.setattr(checkpoints, "passed", reach)
    with pytest.raises(nw.errors.InvalidInputError, match=r"somebody else is finishing charge 1 .*Nothing else was"):
        plan.release()
    assert ledger.spent == 1


def test_a_ledger_that_cannot_say_that_somebody_draws_ends_the_release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    data = clinic(tmp_path / "x.ledger")
    plan = data.plan(nw.count(), privacy=nw.PureDP(1))

    real, failures = Charge.drawing, [LEDGER("the disk is full.")]

    def away(charge: Charge) -> None:
        if failures:
            raise failures.pop()
        real(charge)

    with monkeypatch.context() as patch:
        patch.setattr(Charge, "drawing", away)
        patch.setattr(transaction, "drawn", None)
        with pytest.raises(
            nw.errors.ReleaseFailedError, match=r"disk is full.*Nothing was drawn: release the same plan"
        ):
            plan.release()
    assert plan.release(frame="pyarrow")["charge"].to_pylist() == [1]

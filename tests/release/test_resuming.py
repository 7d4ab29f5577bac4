"""A release that failed after its charge and before anything was drawn is finished without another charge, once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import psycopg
import pyarrow as pa
import pytest

import noisewright as nw
from noisewright.ledger.resuming import resumed, unfinished
from noisewright.release import transaction
from noisewright.release.dataset import Dataset
from tests.postgres_server import Server

FAILED = nw.errors.ReleaseFailedError


def clinic(ledger: Any, **more: Any) -> nw.Dataset:
    return nw.Dataset(pa.table({"id": [1, 1, 2]}), "id", name="x", budget=nw.PureDP(3), ledger=ledger, **more)


def events(ledger: nw.Ledger | None) -> list[str]:
    assert ledger is not None
    ledger.verify()
    return [row["event"] for row in ledger.rows()]


class Away(Exception):
    """How an engine fails in these tests."""


@pytest.fixture
def breaking(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Where releases fail: "aggregate", "draw" or "store", each as often as it is listed."""
    listed: list[str] = []

    def failing(name: str, work: Any) -> Any:
        def done(*given: Any, **named: Any) -> Any:
            if name in listed and not named.get("rehearsal"):
                listed.remove(name)
                raise Away("its words hold a value: 42")
            return work(*given, **named)

        return done

    monkeypatch.setattr(Dataset, "_aggregate", failing("aggregate", Dataset._aggregate))
    monkeypatch.setattr(transaction, "drawn", failing("draw", transaction.drawn))
    monkeypatch.setattr(transaction, "stored_form", failing("store", transaction.stored_form))
    return listed


def test_the_same_plan_is_finished_without_a_second_charge(tmp_path: Path, breaking: list[str]):
    data = clinic(tmp_path / "x.ledger")
    plan = data.plan(nw.count(), privacy=nw.PureDP(1))
    breaking += ["aggregate", "aggregate"]
    for _ in range(2):
        with pytest.raises(FAILED, match=r"Charge 1 .* is spent.*without another charge") as caught:
            plan.release()
        assert "42" not in str(caught.value)
    answer = plan.release(frame="pyarrow").to_pydict()
    assert answer["charge"] == [1]
    assert plan.release(frame="pyarrow").to_pydict() == answer
    assert events(data.ledger) == ["create", "charge", "failure", "resumed", "failure", "resumed", "answer"]
    assert data.ledger is not None
    assert data.ledger.spent == 1
    plan.release(fresh=True)
    assert data.ledger.spent == 2


@pytest.mark.parametrize("where", ["draw", "store"])
def test_what_may_have_been_drawn_is_charged_again(tmp_path: Path, breaking: list[str], where: str):
    data = clinic(tmp_path / "x.ledger")
    plan = data.plan(nw.count(), privacy=nw.PureDP(1))
    breaking.append(where)
    with pytest.raises((FAILED, Away)) as caught:
        plan.release()
    assert "without another charge" not in str(caught.value)
    plan.release()
    assert events(data.ledger) == ["create", "charge", "failure", "charge", "answer"]


def test_another_plan_finishes_nothing(tmp_path: Path, breaking: list[str]):
    data = clinic(tmp_path / "x.ledger")
    breaking.append("aggregate")
    with pytest.raises(FAILED):
        data.plan(nw.count(), privacy=nw.PureDP(1)).release()
    data.plan(nw.ask.persons(), privacy=nw.PureDP(1)).release()
    # The same question with other noise: what was charged is not what would be drawn.
    data.plan(nw.count(), privacy=nw.PureDP(1), utility=nw.AbsoluteError()).release()
    assert events(data.ledger) == ["create", "charge", "failure", "charge", "answer", "charge", "answer"]


def test_other_noise_for_the_same_key_finishes_nothing(tmp_path: Path, breaking: list[str]):
    ledger = clinic(tmp_path / "x.ledger").ledger
    plan = clinic(ledger).plan(nw.count(), privacy=nw.PureDP(1))
    breaking.append("aggregate")
    with pytest.raises(FAILED):
        plan.release()
    assert ledger is not None
    assert unfinished(ledger, ("plan", plan.key), transaction.undrawn(plan)) == 1
    assert unfinished(ledger, ("plan", plan.key), "other noise") is None
    assert resumed(ledger, 1, "other noise") is None
    assert resumed(ledger, 0, transaction.undrawn(plan)) is None


def test_of_many_that_ask_one_gets_it(tmp_path: Path, breaking: list[str]):
    data = clinic(tmp_path / "x.ledger")
    plan = data.plan(nw.count(), privacy=nw.PureDP(1))
    breaking.append("aggregate")
    with pytest.raises(FAILED):
        plan.release()
    assert data.ledger is not None
    first = resumed(data.ledger, 1, transaction.undrawn(plan))
    assert first is not None
    assert resumed(data.ledger, 1, transaction.undrawn(plan)) is None
    first.answered(["7"])
    with pytest.raises(nw.errors.LedgerError, match="its answer or failure already"):
        first._note(first, "answer", {"answer": ["8"]})
    assert resumed(data.ledger, 1, transaction.undrawn(plan)) is None


def test_whoever_failed_writes_nothing_after_it_was_resumed(tmp_path: Path):
    data = clinic(tmp_path / "x.ledger")
    plan = data.plan(nw.count(), privacy=nw.PureDP(1))
    assert data.ledger is not None
    charge = data.ledger.charge(plan.charge, reason=f"plan {plan.key}")
    charge.failed("Away", transaction.undrawn(plan))
    second = resumed(data.ledger, 1, transaction.undrawn(plan))
    assert second is not None
    with pytest.raises(nw.errors.LedgerError, match="its answer or failure already"):
        charge._note(charge, "answer", {"answer": ["7"]})
    second.answered(["8"])
    assert events(data.ledger) == ["create", "charge", "failure", "resumed", "answer"]


def test_somebody_who_finishes_it_meanwhile_is_said(tmp_path: Path, breaking: list[str], monkeypatch: pytest.MonkeyPatch):
    data = clinic(tmp_path / "x.ledger")
    plan = data.plan(nw.count(), privacy=nw.PureDP(1))
    breaking.append("aggregate")
    with pytest.raises(FAILED):
        plan.release()

    def slower(*given: Any) -> int | None:
        found = unfinished(*given)
        resumed(data.ledger, 1, transaction.undrawn(plan))  # type: ignore[arg-type]
        return found

    monkeypatch.setattr(transaction, "unfinished", slower)
    with pytest.raises(nw.errors.InvalidInputError, match="somebody else is finishing charge 1"):
        plan.release()
    assert events(data.ledger) == ["create", "charge", "failure", "resumed"]

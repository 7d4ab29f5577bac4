"""A release that failed after its charge and before anything was drawn is finished without another charge, once."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from threading import Timer
from typing import Any

import pyarrow as pa
import pytest

import noisewright as nw
from noisewright.ledger.chain import Row
from noisewright.ledger.deciding import event
from noisewright.ledger.resuming import resumed, unfinished
from noisewright.release import transaction
from noisewright.release.dataset import Dataset
from noisewright.release.drawing import drawn
from noisewright.release.engines.postgres import Postgres
from tests.postgres_server import Server

FAILED = nw.errors.ReleaseFailedError


def clinic(ledger: Any, **more: Any) -> nw.Dataset:
    return nw.Dataset(pa.table({"id": [1, 1, 2]}), "id", name="x", budget=nw.PureDP(3), ledger=ledger, **more)


def events(ledger: nw.Ledger | None) -> list[str]:
    assert ledger is not None
    ledger.verify()
    return [row["event"] for row in ledger.rows()]


class AwayError(Exception):
    """How an engine fails in these tests."""


@pytest.fixture
def breaking(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Where releases fail: "aggregate", "draw" or "store", each as often as it is listed."""
    listed: list[str] = []

    def failing(name: str, work: Any) -> Any:
        def done(*given: Any, **named: Any) -> Any:
            if name in listed and not named.get("rehearsal"):
                listed.remove(name)
                raise AwayError("its words hold a value: 42")
            return work(*given, **named)

        return done

    monkeypatch.setattr(Dataset, "_aggregate", failing("aggregate", Dataset._aggregate))
    monkeypatch.setattr(transaction, "drawn", failing("draw", drawn))
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
    with pytest.raises((FAILED, AwayError)) as caught:
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
    assert unfinished(ledger, ("plan", plan.key), transaction.undrawn(plan), plan.charge) == 1
    assert unfinished(ledger, ("plan", plan.key), "other noise", plan.charge) is None
    assert resumed(ledger, 1, "other noise", plan.charge) is None
    assert resumed(ledger, 0, transaction.undrawn(plan), plan.charge) is None


def test_a_cheap_charge_under_the_name_of_a_plan_finishes_nothing(tmp_path: Path):
    data = clinic(tmp_path / "x.ledger")
    plan = data.plan(nw.count(), privacy=nw.PureDP(1))
    cheap = data.plan(nw.count(), privacy=nw.PureDP("0.001"))
    assert data.ledger is not None
    data.ledger.charge(cheap.charge, reason=f"plan {plan.key}").failed("Away", transaction.undrawn(plan))
    assert unfinished(data.ledger, ("plan", plan.key), transaction.undrawn(plan), plan.charge) is None
    assert resumed(data.ledger, 1, transaction.undrawn(plan), plan.charge) is None
    plan.release()
    assert data.ledger.spent == 1 + Fraction(1, 1000)


def test_of_many_that_ask_one_gets_it(tmp_path: Path, breaking: list[str]):
    data = clinic(tmp_path / "x.ledger")
    plan = data.plan(nw.count(), privacy=nw.PureDP(1))
    breaking.append("aggregate")
    with pytest.raises(FAILED):
        plan.release()
    assert data.ledger is not None
    first = resumed(data.ledger, 1, transaction.undrawn(plan), plan.charge)
    assert first is not None
    assert resumed(data.ledger, 1, transaction.undrawn(plan), plan.charge) is None
    first.answered(["7"])
    with pytest.raises(nw.errors.LedgerError, match="its answer or failure already"):
        first._note(first, "answer", {"answer": ["8"]})
    assert resumed(data.ledger, 1, transaction.undrawn(plan), plan.charge) is None


def test_whoever_failed_writes_nothing_after_it_was_resumed(tmp_path: Path):
    data = clinic(tmp_path / "x.ledger")
    plan = data.plan(nw.count(), privacy=nw.PureDP(1))
    assert data.ledger is not None
    charge = data.ledger.charge(plan.charge, reason=f"plan {plan.key}")
    charge.failed("Away", transaction.undrawn(plan))
    second = resumed(data.ledger, 1, transaction.undrawn(plan), plan.charge)
    assert second is not None
    with pytest.raises(nw.errors.LedgerError, match="its answer or failure already"):
        charge._note(charge, "answer", {"answer": ["7"]})
    second.answered(["8"])
    assert events(data.ledger) == ["create", "charge", "failure", "resumed", "answer"]


def test_somebody_who_finishes_it_meanwhile_is_said(
    tmp_path: Path, breaking: list[str], monkeypatch: pytest.MonkeyPatch
):
    data = clinic(tmp_path / "x.ledger")
    plan = data.plan(nw.count(), privacy=nw.PureDP(1))
    breaking.append("aggregate")
    with pytest.raises(FAILED):
        plan.release()

    def slower(*given: Any) -> int | None:
        found = unfinished(*given)
        resumed(data.ledger, 1, transaction.undrawn(plan), plan.charge)  # type: ignore[arg-type]
        return found

    monkeypatch.setattr(transaction, "unfinished", slower)
    with pytest.raises(nw.errors.InvalidInputError, match="somebody else is finishing charge 1"):
        plan.release()
    assert events(data.ledger) == ["create", "charge", "failure", "resumed"]


SCRIPT = """
import os, signal, sys
import pyarrow as pa
import noisewright as nw
from noisewright.release import transaction
from noisewright.release.dataset import Dataset

point, path = sys.argv[1:]
dead = lambda *given, **named: os.kill(os.getpid(), signal.SIGKILL)
data = nw.Dataset(pa.table({"id": [1, 1, 2]}), "id", name="x", budget=nw.PureDP(9), ledger=path)
plan = data.plan(nw.count(), privacy=nw.PureDP(1))
aggregate = Dataset._aggregate
if point == "resumed":
    Dataset._aggregate = lambda *a, rehearsal=False: aggregate(*a, rehearsal=True) if rehearsal else dead()
elif point == "aggregated":
    transaction.drawn = dead
elif point == "drawn":
    transaction.stored_form = dead
elif point == "before":
    transaction.resumed = dead
plan.release()
"""


def killed(path: Path, point: str) -> None:
    """Another process that finishes the plan and is killed at a point."""
    done = subprocess.run([sys.executable, "-c", SCRIPT, point, str(path)], capture_output=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()


def dies(folder: Path, breaking: list[str], point: str) -> None:
    """Fail once, let a process die at a point of finishing it, then release: what it costs, and the chain holds."""
    path = folder / f"{point}.ledger"
    data = nw.Dataset(pa.table({"id": [1, 1, 2]}), "id", name="x", budget=nw.PureDP(9), ledger=path)
    plan = data.plan(nw.count(), privacy=nw.PureDP(1))
    breaking.append("aggregate")
    with pytest.raises(FAILED):
        plan.release()
    killed(path, point)
    plan.release()
    # Nobody knows how far a holder came that died: what it held is spent, and nothing is drawn from it again.
    late = ["resumed", "answer"] if point == "before" else ["resumed", "charge", "answer"]
    assert events(data.ledger) == ["create", "charge", "failure", *late]


def test_a_process_that_dies_while_it_finishes_a_charge_leaves_it_spent(tmp_path: Path, breaking: list[str]):
    dies(tmp_path, breaking, "drawn")


@pytest.mark.soak
@pytest.mark.timeout(1200)
def test_processes_that_die_at_every_point(tmp_path: Path, breaking: list[str]):
    for place in range(12):
        for point in ("before", "resumed", "aggregated", "drawn"):
            folder = tmp_path / str(place)
            folder.mkdir(exist_ok=True)
            dies(folder, breaking, point)


HARM = ("terminate", "cancel", "restart")


@pytest.fixture(scope="module")
def fragile(server: Server) -> Iterator[Server]:
    """A server that may be stopped without harm to other tests."""
    made = server.another()
    made.execute("CREATE TABLE visits AS SELECT i % 40 AS id, i AS x FROM generate_series(1, 200) i")
    yield made
    made.remove()


def harmed(server: Server, folder: Path, monkeypatch: pytest.MonkeyPatch, how: str, at: int, number: int) -> None:
    """Harm the server before the query number `at` of a release; then release until it is finished."""
    ledger = folder / f"{how} {at} {number}.ledger"
    data = nw.Dataset(f"{server.url}/visits", "id", budget=nw.PureDP(3), ledger=ledger)
    plan = data.plan(nw.count(), nw.ask.persons(), privacy=nw.PureDP(1))
    fetch, seen = Postgres.fetch, []

    def harming(own: Postgres, expression: Any) -> Any:
        seen.append(1)
        if len(seen) == at:
            _harm(server, how, own.connection.con)
        return fetch(own, expression)

    with monkeypatch.context() as patch:
        patch.setattr(Postgres, "fetch", harming)
        with pytest.raises((FAILED, nw.errors.EngineError)) as caught:
            plan.release()
        told, listed = str(caught.value), events(data.ledger)
        charged = isinstance(caught.value, FAILED)
        assert listed == (["create", "charge", "failure"] if charged else ["create"]), told
        assert ("without another charge" in told) == charged
        assert "secret" not in told
        assert plan.release(frame="pyarrow")["charge"].to_pylist() == [1, 1]
    assert events(data.ledger) == [*listed, *(["resumed"] if charged else ["charge"]), "answer"]


def _harm(server: Server, how: str, connection: Any) -> None:
    process = connection.info.backend_pid
    if how == "restart":
        server.stop()
        server.start()
    elif how == "terminate":
        server.execute("SELECT pg_terminate_backend(%s, 5000)", process)
    else:
        somebody = Timer(0.05, server.execute, ("SELECT pg_cancel_backend(%s)", process))
        somebody.start()
        connection.execute("SELECT pg_sleep(60)")


@pytest.mark.parametrize(("how", "at"), [("terminate", 1), ("terminate", 4), ("cancel", 3), ("restart", 3)])
def test_a_server_that_fails_costs_no_charge_and_no_second_one(
    fragile: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str, at: int
):
    harmed(fragile, tmp_path, monkeypatch, how, at, 0)


@pytest.mark.soak
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("how", HARM)
def test_fifty_failures_at_every_query(fragile: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str):
    for number in range(50):
        harmed(fragile, tmp_path, monkeypatch, how, 1 + number % 4, number)


@pytest.mark.parametrize("ended", ["answered", "failed", "resumed"])
def test_the_check_of_a_ledger_refuses_what_was_resumed_without_a_failure_before_the_draw(tmp_path: Path, ended: str):
    data = clinic(tmp_path / "x.ledger")
    plan = data.plan(nw.count(), privacy=nw.PureDP(1))
    ledger = data.ledger
    assert ledger is not None
    charge = ledger.charge(plan.charge, reason=f"plan {plan.key}")
    if ended == "answered":
        charge.answered(["7"])
    elif ended == "failed":
        charge.__exit__(ValueError, None, None)
    else:
        charge.failed("Away", transaction.undrawn(plan))
        assert resumed(ledger, 1, transaction.undrawn(plan), plan.charge) is not None
    ledger.verify()
    with ledger._store.change("nothing") as rows:
        states = {account.name: account.state for account in ledger._accounts(rows)}
        rows.append(Row.after(rows.last().head, "", event("resumed", states, {"charge": 1}, "2099-01-01T00:00:00")))
    with pytest.raises(nw.errors.LedgerDamagedError, match="did not fail before anything was drawn"):
        ledger.verify()

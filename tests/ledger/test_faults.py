"""Commits that fail, rows that vanish, forks among threads, servers of other settings: told as it is."""

from __future__ import annotations

import json
import os
import sqlite3
import stat
import threading
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any, NoReturn

import psycopg
import pytest

import noisewright as nw
from noisewright.ledger import checkpoints
from noisewright.ledger.chain import Row
from tests.ledger import menu
from tests.ledger.many import forked, outcome
from tests.postgres_server import Server

TENTH = Fraction(1, 10)


class _Faulty(sqlite3.Connection):
    """Reports an error of the disk at a commit: after it was done, or before."""

    when = ""
    kind: type[sqlite3.Error] = sqlite3.OperationalError

    def execute(self, statement: str, *given: Any) -> sqlite3.Cursor:
        if statement == "COMMIT" and self.when:
            if self.when != "before":
                super().execute(statement)
            if self.when == "after, and gone":
                path = Path(self.execute("PRAGMA database_list").fetchone()[2])
                path.rename(path.with_name("moved"))
            raise self.kind("disk I/O error")
        return super().execute(statement, *given)


@pytest.fixture
def faults(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    real = sqlite3.connect

    def connect(*given: Any, **named: Any) -> sqlite3.Connection:
        return real(*given, **named, factory=_Faulty)

    monkeypatch.setattr(sqlite3, "connect", connect)
    return lambda when: monkeypatch.setattr(_Faulty, "when", when)


@pytest.mark.parametrize("kind", [sqlite3.OperationalError, sqlite3.DatabaseError, sqlite3.InternalError])
@pytest.mark.parametrize(
    ("when", "says", "spent"),
    [
        ("before", "nothing was charged", 0),
        ("after", "row 1 is written all the same, and what it charges is spent", 1),
        ("after, and gone", "not known: take what it charges for spent", 1),
    ],
)
def test_a_commit_that_fails_tells_what_became_of_the_row(
    path: Path,
    faults: Callable[[str], None],
    monkeypatch: pytest.MonkeyPatch,
    when: str,
    says: str,
    spent: int,
    kind: type[sqlite3.Error],
):
    """Whichever kind of error it is: a full disk, a file that is damaged, or SQLite's own."""
    ledger = nw.Ledger.create(path, budget=nw.PureDP(1))
    monkeypatch.setattr(_Faulty, "kind", kind)
    faults(when)
    with pytest.raises(nw.errors.LedgerError, match="disk I/O error") as told:
        ledger.charge(menu.laplace("0.1"), reason="x")
    assert says in str(told.value)
    assert ("nothing was charged" in str(told.value)) == (not spent)
    faults("")
    if not path.exists():
        (path.parent / "moved").rename(path)
    assert ledger.spent == spent * TENTH
    ledger.charge(menu.laplace("0.1"), reason="the head is mended")
    assert ledger.verify().charges == spent + 1


def test_an_answer_that_cannot_be_written_does_not_say_that_nothing_was_charged(
    path: Path, faults: Callable[[str], None]
):
    ledger = nw.Ledger.create(path, budget=nw.PureDP(1))
    charge = ledger.charge(menu.laplace("0.1"), reason="x")
    faults("before")
    with pytest.raises(nw.errors.LedgerError) as told:
        charge.answered(3)
    assert "the charge stays spent, and nothing was written beside it" in str(told.value)
    for attempt in (
        lambda: ledger.close_budget(reason="x"),
        lambda: ledger.raise_budget(nw.PureDP(2), reason="x"),
        lambda: ledger.sub("ann", budget=nw.PureDP("0.1")),
    ):
        with pytest.raises(nw.errors.LedgerError, match="nothing was changed"):
            attempt()
    faults("")
    charge.answered(3)
    assert ledger.verify().rows == 3


def test_a_row_that_another_writer_took_away_is_no_charge(path: Path, monkeypatch: pytest.MonkeyPatch):
    ledger = nw.Ledger.create(path, budget=nw.PureDP(1))
    before = ledger.head

    def overwrite(point: str) -> None:
        """As two writers do when a process lost its locks: it read the file beside SQLite, and closed it."""
        if point == "committed":
            monkeypatch.undo()
            with sqlite3.connect(path) as connection:
                [(body,)] = connection.execute("SELECT body FROM rows WHERE place = 1")
                row = Row.after(before, "", {**json.loads(body), "label": "theirs"})
                connection.execute("UPDATE rows SET body = ?, digest = ? WHERE place = 1", (row.body, row.digest))
            connection.close()
            path.with_name(path.name + ".head").write_text(json.dumps(row.head.to_dict()))

    monkeypatch.setattr(checkpoints, "passed", overwrite)
    with pytest.raises(nw.errors.LedgerDamagedError, match="Count it as spent"):
        ledger.charge(menu.laplace("0.1"), reason="ours")
    assert [row["label"] for row in ledger.rows() if row["event"] == "charge"] == ["theirs"]


def test_a_ledger_that_somebody_may_have_charged_is_not_removed(path: Path, monkeypatch: pytest.MonkeyPatch):
    real, mechanism = os.fsync, menu.laplace("0.1")

    def failing(file: int) -> None:
        if stat.S_ISDIR(os.fstat(file).st_mode):
            monkeypatch.undo()
            nw.Ledger.open(path).charge(mechanism, reason="somebody else, meanwhile")
            raise OSError(5, "Input/output error")
        real(file)

    monkeypatch.setattr(os, "fsync", failing)
    with pytest.raises(nw.errors.LedgerError, match="not made, or not durably"):
        nw.Ledger.create(path, budget=nw.PureDP(1))
    assert nw.Ledger.open(path).spent == TENTH


def test_a_row_that_vanishes_after_its_commit_is_no_charge(path: Path):
    ledger = nw.Ledger.create(path, budget=nw.PureDP(1))
    with sqlite3.connect(path) as connection:
        connection.execute(
            "CREATE TRIGGER eat AFTER INSERT ON rows BEGIN DELETE FROM rows WHERE place = new.place; END"
        )
    connection.close()
    with pytest.raises(nw.errors.LedgerDamagedError):
        ledger.charge(menu.laplace("0.1"), reason="x")


def test_children_of_threaded_processes_can_charge(url: str):
    ledger, mechanism = nw.Ledger.create(url, budget=nw.PureDP(1)), menu.laplace("0.1")
    reading = threading.Event()

    def read() -> None:
        with ledger._store.look():
            reading.set()
            time.sleep(0.3)

    thread = threading.Thread(target=read)
    thread.start()
    reading.wait()
    started = forked(lambda: ledger.charge(mechanism, reason="a child").place, patience=10)
    thread.join()
    assert outcome(*started) == (0, 1)
    assert ledger.charge(mechanism, reason="its parent").place == 2
    assert ledger.verify().charges == 2


def test_a_server_that_forgets_later_is_not_charged(server: Server):
    ledger = nw.Ledger.create(f"{server.url}?ledger=forgetful-later", budget=nw.PureDP(1))
    ledger.charge(menu.laplace("0.1"), reason="kept")
    server.execute("ALTER SYSTEM SET fsync = off")
    server.execute("SELECT pg_reload_conf()")
    try:
        for _ in range(100):
            if server.execute("SHOW fsync") == [("off",)]:
                break
        store: Any = ledger._store
        store.disconnect()
        with pytest.raises(nw.errors.LedgerError, match="fsync"):
            ledger.charge(menu.laplace("0.1"), reason="forgotten")
        assert ledger.spent == TENTH
    finally:
        server.execute("ALTER SYSTEM RESET fsync")
        server.execute("SELECT pg_reload_conf()")


def test_a_commit_that_the_server_takes_for_a_rollback_is_no_charge(server: Server):
    ledger = nw.Ledger.create(f"{server.url}?ledger=rolled-back", budget=nw.PureDP(1))
    row = Row.after(ledger.head, "", {"event": "charge"})

    def failed() -> NoReturn:
        with ledger._store.change() as transaction:
            transaction.append(row)
            rows: Any = transaction
            with pytest.raises(psycopg.Error, match="division by zero"):
                rows._connection.execute("SELECT 1 / 0")
        raise AssertionError("it was believed")

    with pytest.raises(nw.errors.LedgerError, match="ROLLBACK to COMMIT; nothing was charged"):
        failed()
    assert ledger.verify().rows == 1


def test_a_forked_child_never_charges_over_the_connection_of_its_parent(server: Server):
    """Two processes that write to one socket answer each other's questions, and one that ends closes it for both."""
    ledger = nw.Ledger.create(f"{server.url}?ledger=forked", budget=nw.PureDP(10))
    store: Any = ledger._store

    def backend() -> int:
        with store._connected("nothing was charged") as connection:
            return int(connection.info.backend_pid)

    own, mechanism = backend(), menu.laplace("0.1")

    def child() -> list[int]:
        return [backend(), *(ledger.charge(mechanism, reason="a child").place for _ in range(5))]

    started = [forked(child) for _ in range(2)]
    places = [ledger.charge(mechanism, reason="the parent").place for _ in range(5)]
    found = [outcome(*one) for one in started]
    assert [code for code, _ in found] == [0, 0]
    assert len({own, *(result[0] for _, result in found)}) == 3
    assert sorted([*places, *(place for _, result in found for place in result[1:])]) == list(range(1, 16))
    assert backend() == own


@pytest.mark.parametrize("level", ["serializable", "repeatable read", "read uncommitted"])
def test_a_server_with_another_isolation_serialises_all_the_same(server: Server, level: str):
    server.execute(f"ALTER DATABASE postgres SET default_transaction_isolation = '{level}'")
    try:
        url, mechanism = f"{server.url}?ledger=isolated-{level.replace(' ', '-')}", menu.laplace("0.1")

        def make(_: int) -> str:
            try:
                nw.Ledger.create(url, budget=nw.PureDP("0.5"))
            except nw.errors.LedgerError as error:
                return str(error)
            return "made"

        made = [outcome(*one)[1] for one in [forked(lambda i=i: make(i)) for i in range(4)]]  # type: ignore[misc]
        assert made.count("made") == 1
        assert all(text == "made" or "already" in text for text in made), made

        def charge() -> int:
            ledger, granted = nw.Ledger.open(url), 0
            for i in range(4):
                try:
                    ledger.charge(mechanism, reason=str(i))
                except nw.errors.BudgetExceeded:
                    continue
                granted += 1
            return granted

        assert sum(outcome(*one)[1] for one in [forked(charge) for _ in range(3)]) == 5
        assert nw.Ledger.open(url).verify().charges == 5
    finally:
        server.execute("ALTER DATABASE postgres RESET default_transaction_isolation")

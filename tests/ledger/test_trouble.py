"""Read-only files, full disks, lost connections, clocks, names, versions, labels: clear errors or exact storage."""

from __future__ import annotations

import os
import pickle
import resource
import sqlite3
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import noisewright as nw
from noisewright.ledger import checkpoints, ledger as ledger_module, sqlite
from noisewright.ledger.stores import VERSION
from tests.ledger import menu
from tests.ledger.many import together
from tests.postgres_server import PASSWORD, Server

HOSTILE = "O'Brien \"said\"\n\t<script>alert(1)</script> \x1b[2J \x00 ; DROP TABLE rows; -- \ud800 ε 'NULL'"


def _message(task: Callable[[], Any]) -> str:
    """What a LedgerError says, in a process of its own; nothing if there was none."""

    def told() -> str:
        try:
            task()
        except nw.errors.LedgerError as error:
            return str(error)
        return ""

    return str(together([told])[0])


def _as_nobody(task: Callable[[], Any]) -> Callable[[], Any]:
    def lowered() -> Any:
        if not os.geteuid():
            os.setgid(65534)
            os.setuid(65534)
        return task()

    return lowered


def test_a_read_only_file_is_read_and_not_charged(path: Path):
    ledger, mechanism = nw.Ledger.create(path, budget=nw.PureDP(1)), menu.laplace("0.1")
    path.chmod(0o444)
    beside = path.with_name(path.name + ".head")
    beside.chmod(0o444)
    for folder in (path.parent, *path.parents):
        if folder.owner() == Path.home().owner() and folder != Path(folder.anchor):
            folder.chmod(folder.stat().st_mode | 0o055)
    text = _message(_as_nobody(lambda: nw.Ledger.open(path).charge(mechanism, reason="x")))
    assert "readonly" in text
    assert "nothing was charged" in text
    assert _message(_as_nobody(lambda: nw.Ledger.open(path).spent + 0)) == ""
    assert ledger.spent == 0
    assert ledger.verify().rows == 1


@pytest.mark.parametrize("room", [0, 600, 1500, 5000])
def test_a_full_disk_charges_nothing(path: Path, room: int):
    ledger = nw.Ledger.create(path, budget=nw.PureDP(10))
    for i in range(5):
        ledger.charge(menu.laplace("0.1"), reason=f"before {i}")
    size, mechanism = path.stat().st_size, menu.laplace("0.1")

    def task() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + room, size + room))
        for i in range(20):
            nw.Ledger.open(path).charge(mechanism, reason="x" * 2000 + str(i))

    text = _message(task)
    assert text, "the disk was not full"
    found = [row for row in ledger.rows() if row["event"] == "charge"]
    assert ledger.spent == len(found) * Fraction(1, 10)
    assert "nothing was charged" in text
    assert ledger.verify().charges == len(found)
    ledger.charge(menu.laplace("0.1"), reason="there is room again")


def test_a_head_that_cannot_be_written_leaves_the_charge_spent_and_is_mended(
    path: Path, monkeypatch: pytest.MonkeyPatch
):
    ledger = nw.Ledger.create(path, budget=nw.PureDP(1))
    with monkeypatch.context() as patched:

        def full(self: Any, head: Any) -> None:
            raise OSError(28, "No space left on device")

        patched.setattr(sqlite.SQLiteStore, "_write_head", full)
        with pytest.raises(nw.errors.LedgerError, match="stays spent"):
            ledger.charge(menu.laplace("0.1"), reason="head")
        assert ledger.spent == Fraction(1, 10)
        with pytest.raises(nw.errors.LedgerError, match="nothing was charged"):
            ledger.charge(menu.laplace("0.1"), reason="another")
    assert ledger.charge(menu.laplace("0.1"), reason="after").place == 2
    assert ledger.verify().rows == 3


def test_a_lost_connection_charges_nothing_and_is_found_again(server: Server, monkeypatch: pytest.MonkeyPatch):
    url, mechanism = f"{server.url}?ledger=lost", menu.laplace("0.1")
    ledger = nw.Ledger.create(url, budget=nw.PureDP(1))
    end = (
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = 'postgres'"
    )
    ledger.charge(mechanism, reason="first")
    server.execute(end)
    ledger.charge(mechanism, reason="an idle connection that was lost is replaced")
    with monkeypatch.context() as patched:
        patched.setattr(checkpoints, "passed", lambda point: server.execute(end) if point == "appended" else None)
        with pytest.raises(nw.errors.LedgerError) as told:
            ledger.charge(mechanism, reason="lost")
    assert "spent" in str(told.value)
    assert ledger.spent == Fraction(2, 10)
    assert ledger.verify().charges == 2


def test_a_server_that_is_gone_and_comes_back(server: Server):
    url, mechanism = f"{server.url}?ledger=gone", menu.laplace("0.1")
    ledger = nw.Ledger.create(url, budget=nw.PureDP(1))
    ledger.charge(mechanism, reason="first")
    server.stop()
    try:
        with pytest.raises(nw.errors.LedgerError) as told:
            ledger.charge(mechanism, reason="nobody there")
        _reveals_nothing(str(told.value))
    finally:
        server.start()
    ledger.charge(mechanism, reason="second")
    assert ledger.spent == Fraction(2, 10)
    assert ledger.verify().charges == 2


def _reveals_nothing(text: str) -> None:
    for secret in (PASSWORD, "a%3Asecret", "secret"):
        assert secret not in text


def test_passwords_are_neither_shown_nor_stored(server: Server):
    url = f"{server.url}?ledger=hidden"
    ledger = nw.Ledger.create(url, budget=nw.PureDP(1))
    ledger.release(menu.laplace("0.1"), 5, reason="x")
    for text in (repr(ledger), str(ledger), ledger.url, str(ledger.to_dict()), repr(pickle.dumps(ledger))):
        _reveals_nothing(text)
    assert "owner@127.0.0.1" in ledger.url
    _reveals_nothing(str(server.execute("SELECT * FROM noisewright_rows, noisewright_heads")))
    wrong = url.replace("a%3Asecret", "wrong%3Asecret")
    with pytest.raises(nw.errors.LedgerError) as told:
        nw.Ledger.open(wrong)
    _reveals_nothing(str(told.value))
    assert "authentication failed" in str(told.value)
    query = (
        f"postgresql://owner@127.0.0.1:{server.port}/postgres?password=a%3Asecret%20word%2Fwith%40signs&ledger=hidden"
    )
    again = nw.Ledger.open(query)
    assert again.spent == Fraction(1, 10)
    _reveals_nothing(repr(again))


def test_the_clock_may_go_backwards(url: str, monkeypatch: pytest.MonkeyPatch):
    ledger = nw.Ledger.create(url, budget=nw.PureDP(1))
    ledger.charge(menu.laplace("0.1"), reason="now")
    monkeypatch.setattr(ledger_module, "clock", lambda: "1999-12-31T23:59:59.000000+00:00")
    charge = ledger.charge(menu.laplace("0.1"), reason="then")
    assert ledger.spent == Fraction(2, 10)
    assert list(ledger.rows())[charge.place]["time"] == "1999-12-31T23:59:59.000000+00:00"
    assert ledger.verify().remarks == ("the clock went backwards at row 2",)


def test_two_ledgers_of_one_name_are_refused(url: str):
    nw.Ledger.create(url, budget=nw.PureDP(1)).charge(menu.laplace("0.1"), reason="x")
    with pytest.raises(nw.errors.LedgerError, match="already"):
        nw.Ledger.create(url, budget=nw.PureDP(5))
    assert nw.Ledger.open(url).remaining == Fraction(9, 10)


def test_two_budgets_of_one_name_are_refused(url: str):
    ledger = nw.Ledger.create(url, budget=nw.PureDP(1))
    ledger.sub("ann", budget=nw.PureDP("0.2")).charge(menu.laplace("0.1"), reason="x")
    assert ledger.sub("ann", budget=nw.PureDP("0.2")).remaining == Fraction(1, 10), "the same again is the same"
    with pytest.raises(nw.errors.InvalidInputError, match="there is a sub-budget 'ann'"):
        ledger.sub("ann", budget=nw.PureDP("0.3"))
    with pytest.raises(nw.errors.InvalidInputError, match="give budget="):
        ledger.sub("bob")
    assert ledger.subs == ("ann",)


def test_a_ledger_of_a_newer_version_is_refused(path: Path, server: Server):
    nw.Ledger.create(path, budget=nw.PureDP(1))
    with sqlite3.connect(path) as connection:
        connection.execute(f"PRAGMA user_version = {VERSION + 1}")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(nw.errors.LedgerError, match="newer noisewright"):
        nw.Ledger.open(path)
    assert path.read_bytes() == before
    url = f"{server.url}?ledger=newer"
    nw.Ledger.create(url, budget=nw.PureDP(1))
    server.execute(f"UPDATE noisewright_layout SET version = {VERSION + 1}")
    try:
        for attempt in (nw.Ledger.open, lambda url: nw.Ledger.create(f"{url}2", budget=nw.PureDP(1))):
            with pytest.raises(nw.errors.LedgerError, match="newer noisewright"):
                attempt(url)
    finally:
        server.execute(f"UPDATE noisewright_layout SET version = {VERSION}")
    nw.Ledger.open(url)


def test_an_older_layout_is_brought_up_to_date(path: Path, server: Server):
    ledger = nw.Ledger.create(path, budget=nw.PureDP(1))
    ledger.charge(menu.laplace("0.1"), reason="x")
    with sqlite3.connect(path) as connection:
        connection.execute("DROP INDEX rows_by_account")
        connection.execute("PRAGMA user_version = 1")
    connection.close()
    assert nw.Ledger.open(path).spent == Fraction(1, 10)
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT name FROM sqlite_master WHERE type = 'index'").fetchall() == [
            ("rows_by_account",)
        ]
        assert connection.execute("PRAGMA user_version").fetchone() == (VERSION,)
    connection.close()
    url = f"{server.url}?ledger=older"
    nw.Ledger.create(url, budget=nw.PureDP(1)).charge(menu.laplace("0.1"), reason="x")
    server.execute("DROP INDEX noisewright_by_account")
    server.execute("UPDATE noisewright_layout SET version = 1")
    assert nw.Ledger.open(url).spent == Fraction(1, 10)
    assert server.execute("SELECT max(version) FROM noisewright_layout") == [(VERSION,)]
    assert server.execute("SELECT 1 FROM pg_indexes WHERE indexname = 'noisewright_by_account'") == [(1,)]


def test_a_hostile_label_is_stored_exactly_and_shown_harmlessly(url: str):
    ledger = nw.Ledger.create(url, budget=nw.PureDP(1))
    ledger.charge(menu.laplace("0.1"), reason=HOSTILE)
    again = nw.Ledger.open(url)
    assert list(again.rows())[1]["label"] == HOSTILE
    assert again.verify().charges == 1
    shown, page = str(again), again._repr_html_()
    assert "\x1b" not in shown
    assert "\x00" not in shown
    assert "<script>" not in page
    assert "&lt;script&gt;" in page


@pytest.mark.parametrize("reason", ["", "  ", None, 5, "x" * 10_001])
def test_a_charge_needs_a_reason(path: Path, reason: Any):
    ledger = nw.Ledger.create(path, budget=nw.PureDP(1))
    with pytest.raises(nw.errors.InvalidInputError, match="say what the charge is for"):
        ledger.charge(menu.laplace("0.1"), reason=reason)
    assert ledger.head.count == 1


@pytest.mark.parametrize("name", ["", " ", "a\nb", "x" * 101, None, "\x00"])
def test_names_of_sub_budgets_are_readable(path: Path, name: Any):
    ledger = nw.Ledger.create(path, budget=nw.PureDP(1))
    with pytest.raises(nw.errors.InvalidInputError, match="printable"):
        ledger.sub(name, budget=nw.PureDP("0.1"))


@pytest.mark.parametrize(
    "given", ["", "mysql://host/db", "sqlite://", "sqlite:///", None, 5, "postgresql://localhost/db?ledger="]
)
def test_a_url_that_means_nothing_is_refused(given: Any):
    with pytest.raises(nw.errors.InvalidInputError):
        nw.Ledger.open(given)


@pytest.mark.parametrize(
    "given",
    [
        "postgresql://ann:hush/hush@host/db",
        "postgresql://ann:hush#hush@host/db",
        "postgresql://ann:hush?hush@host/db",
        "postgresql://ann:hu:sh@hush@host:hush/db",
        "postgresql://ann:hush@[::1/db",
        "host=localhost password=hush",
    ],
)
def test_a_password_that_breaks_the_url_is_not_shown(given: str):
    with pytest.raises(nw.errors.InvalidInputError) as told:
        nw.Ledger.open(given)
    assert "hush" not in str(told.value)


def test_a_ledger_that_cannot_be_made_leaves_no_file(path: Path, monkeypatch: pytest.MonkeyPatch):
    def full(self: Any, head: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(sqlite.SQLiteStore, "_write_head", full)
        with pytest.raises(nw.errors.LedgerError, match="was not made"):
            nw.Ledger.create(path, budget=nw.PureDP(1))
    assert not path.exists()
    nw.Ledger.create(path, budget=nw.PureDP(1))


def test_what_is_no_ledger_is_refused(tmp_path: Path, server: Server):
    (tmp_path / "text").write_text("hello " * 1000)
    (tmp_path / "empty").write_bytes(b"")
    for name in ("text", "empty", "nothing", "."):
        with pytest.raises(nw.errors.LedgerError):
            nw.Ledger.open(tmp_path / name)
    with pytest.raises(nw.errors.LedgerError, match="no ledger"):
        nw.Ledger.open(f"{server.url}?ledger=never-made")


def test_a_path_may_be_written_as_a_url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    nw.Ledger.create("sqlite:///kept ?#.ledger", budget=nw.PureDP(1))
    assert nw.Ledger.open(tmp_path / "kept ?#.ledger").remaining == 1
    assert nw.Ledger.open(f"sqlite:///{tmp_path}/kept ?#.ledger").remaining == 1


def test_a_server_that_forgets_is_refused(server: Server):
    server.execute("ALTER SYSTEM SET fsync = off")
    server.execute("SELECT pg_reload_conf()")
    try:
        for _ in range(100):
            if server.execute("SHOW fsync") == [("off",)]:
                break
        with pytest.raises(nw.errors.LedgerError, match="fsync"):
            nw.Ledger.create(f"{server.url}?ledger=forgetful", budget=nw.PureDP(1))
    finally:
        server.execute("ALTER SYSTEM RESET fsync")
        server.execute("SELECT pg_reload_conf()")

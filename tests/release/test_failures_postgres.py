"""A connection is lost, a query stopped, the server restarted, Ctrl-C pressed or the process killed at every point."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ibis
import psycopg
import pyarrow as pa
import pytest

import noisewright as nw
from noisewright.app.cli import main
from tests.postgres_server import Server
from tests.release.failing import (
    BEFORE,
    LOST,
    POINTS,
    UNDRAWN,
    Harms,
    Trigger,
    dead,
    require_finished,
    require_ledger,
    seen,
    struck,
    triggered,
)
from tests.release.pressing import UNHEARD, at_any_moment, pressed

QUERIED = ("rehearsing", "aggregating")
"""Points at which the server is at work; at others a lost connection is made anew, and there is nothing to stop."""


@pytest.fixture(scope="module")
def fragile(server: Server) -> Iterator[Server]:
    """A server that may be stopped without harm to other tests."""
    made = server.another()
    made.execute("CREATE TABLE visits AS SELECT i % 40 AS id, i AS x FROM generate_series(1, 200) i")
    yield made
    made.remove()


def asked(server: Server, ledger: str) -> Any:
    data = nw.Dataset(f"{server.url}/visits", "id", name="visits", budget=nw.PureDP(3), ledger=ledger)
    return data.plan(nw.count(), nw.ask.persons(), privacy=nw.PureDP(1))


def harmed(server: Server, folder: Path, how: str, point: str, ledger: str | None = None) -> None:
    """Harm a release at a point; look at the ledger from another process; finish the same plan."""
    harms, draws = Harms(server), folder / "draws"
    draws.write_text("")
    kept = ledger or str(folder / "visits.ledger")
    if how == "kill":
        trigger = Trigger(point, harms.kill, harms.waiting)
        nw.Ledger.create(kept, budget=nw.PureDP(3))
        assert dead(trigger, draws, lambda: asked(server, kept).release()) == -9
        failed = True
    else:
        error = struck(asked(server, kept), harms, how, point, draws)
        failed = error is not None
        assert failed == (how == "interrupt" or point in QUERIED), error
    require_ledger(kept, point, failed=failed)
    with triggered(Trigger.never(), draws):
        require_finished(asked(server, kept), kept, draws, point, failed=failed)


SOME = [
    *[("terminate", point) for point in ("begun", "charged", "aggregating")],
    *[("cancel", point) for point in QUERIED],
    ("restart", "aggregating"),
    *[("interrupt", point) for point in ("rehearsing", "committed", "aggregating", "drawn")],
    *[("kill", point) for point in ("rehearsed", "committed", "aggregating", "drawing", "stored")],
]


@pytest.mark.parametrize(("how", "point"), SOME)
def test_whatever_fails_no_charge_is_lost_or_doubled_and_no_answer_drawn_twice(
    fragile: Server, tmp_path: Path, how: str, point: str
):
    harmed(fragile, tmp_path, how, point)


def test_a_ledger_on_the_same_server_survives_with_it(fragile: Server, tmp_path: Path):
    harmed(fragile, tmp_path, "restart", "aggregated", f"{fragile.url}?ledger=beside")


def fifty(server: Server, folder: Path, how: str, kept: str | None = None) -> None:
    """Fifty failures at all points; those at which the server is at work come more often where it is harmed."""
    points = POINTS if how in ("interrupt", "kill") else (*POINTS, *QUERIED, *QUERIED)
    for number in range(50):
        own = folder / str(number)
        own.mkdir()
        harmed(server, own, how, points[number % len(points)], kept and f"{server.url}?ledger={how}{number}")


@pytest.mark.soak
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("how", ["terminate", "cancel", "restart", "interrupt", "kill"])
def test_fifty_failures_of_each_kind(fragile: Server, tmp_path: Path, how: str):
    fifty(fragile, tmp_path, how)


@pytest.mark.soak
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("how", ["restart", "kill"])
def test_fifty_failures_with_the_ledger_on_the_same_server(fragile: Server, tmp_path: Path, how: str):
    fifty(fragile, tmp_path, how, "on the server")


def hurry(server: Server, folder: Path, engine: str, times: int) -> None:
    """Press Ctrl-C at any moment of releases of the same numbers, in a server or in this process."""
    rows = [{"id": i % 40, "x": i} for i in range(1, 201)]
    source = f"{server.url}/visits" if engine == "postgres" else pa.Table.from_pylist(rows)

    def made(kept: str) -> Any:
        data = nw.Dataset(source, "id", name="visits", budget=nw.PureDP(3), ledger=kept)
        return data.plan(nw.count(), nw.ask.persons(), privacy=nw.PureDP(1))

    at_any_moment(made, folder, times, Harms(server).until_quiet if engine == "postgres" else lambda: None)


@UNHEARD
@pytest.mark.parametrize("engine", ["postgres", "duckdb"])
def test_ctrl_c_at_any_moment(fragile: Server, tmp_path: Path, engine: str):
    hurry(fragile, tmp_path, engine, 10)


@UNHEARD
@pytest.mark.soak
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("engine", ["postgres", "duckdb"])
def test_ctrl_c_at_very_many_moments(fragile: Server, tmp_path: Path, engine: str):
    hurry(fragile, tmp_path, engine, 500)


def test_a_connection_that_was_given_and_is_lost_is_said_and_a_new_one_finishes(fragile: Server, tmp_path: Path):
    kept, harms, opened = tmp_path / "visits.ledger", Harms(fragile), contextlib.ExitStack()

    def given() -> Any:
        connection = psycopg.connect(fragile.url, autocommit=True, application_name="noisewright")
        opened.enter_context(contextlib.closing(connection))
        table = ibis.postgres.from_connection(connection).table("visits")
        data = nw.Dataset(table, "id", name="visits", budget=nw.PureDP(3), ledger=kept)
        return data.plan(nw.count(), privacy=nw.PureDP(1))

    plan = given()
    with opened, triggered(Trigger("charged", harms.terminate, harms.waiting), tmp_path / "draws"):
        with pytest.raises(nw.errors.ReleaseFailedError, match=r"ended the connection.*without another charge"):
            plan.release()
        # Nobody but its owner knows how it was made.
        with pytest.raises(nw.errors.EngineError, match=r"connect again, and make the dataset anew.*Nothing was spent"):
            plan.release()
        assert set(given().release(frame="pyarrow")["charge"].to_pylist()) == {1}
    rows, spent = seen(str(kept))
    assert rows == ["create", "charge", "failure", "resumed", "drawing", "answer"]
    assert spent == 1


SPEC = """
[dataset]
source = "{source}"
unit = "id"
budget = {{ epsilon = 3 }}
ledger = "visits.ledger"

[privacy]
epsilon = 1

[[ask]]
kind = "count"
"""


def stopped(server: Server, folder: Path, source: str, point: str) -> None:
    """Press Ctrl-C at a point of `noisewright release`; then run it again."""
    (folder / "visits.toml").write_text(SPEC.format(source=source))
    told = pressed(Harms(server), folder, point)
    if point in BEFORE:
        assert "interrupted. Nothing was spent." in told
    elif point in UNDRAWN:
        assert "visits.ledger is spent: pure differential privacy, epsilon = 1." in told
        assert "Nothing was drawn; asked again, it is finished without another charge." in told
    elif point in LOST:
        assert "something may have been drawn: asked again it is refused, --fresh charges again." in told
    else:
        assert "The answers are stored: the same command gives them back at no cost." in told
    with contextlib.chdir(folder):
        assert main(["release", "visits.toml"]) == (2 if point in LOST else 0)
        rows, spent = seen(str(folder / "visits.ledger"))
        assert [spent, rows.count("charge"), rows.count("drawing")] == [1, 1, 1]


def test_ctrl_c_at_the_command_line_says_what_was_spent(fragile: Server, tmp_path: Path):
    stopped(fragile, tmp_path, f"{fragile.url}/visits", "aggregating")


@pytest.mark.soak
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("engine", ["postgres", "duckdb"])
def test_ctrl_c_at_every_point_of_the_command_line(fragile: Server, tmp_path: Path, engine: str):
    (tmp_path / "visits.csv").write_text("id,x\n1,1\n1,2\n2,3\n")
    for point in POINTS:
        own = tmp_path / point
        own.mkdir()
        if engine == "postgres" or point not in QUERIED:
            stopped(fragile, own, f"{fragile.url}/visits" if engine == "postgres" else "../visits.csv", point)

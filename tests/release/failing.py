"""Releases that are harmed at marked points: where, how, and what must be true of the ledger afterwards."""

from __future__ import annotations

import atexit
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import psycopg
import pytest

import noisewright as nw
from noisewright.ledger import checkpoints
from noisewright.problem.errors import NoisewrightError
from noisewright.release.plan.noise import drawn
from noisewright.release.run import transaction
from tests.ledger.many import forked, outcome
from tests.postgres_server import Server

BEFORE = ("begun", "rehearsing", "rehearsed")
"""Points at which nothing is spent yet."""
UNDRAWN = ("committed", "charged", "aggregating", "aggregated")
"""Points at which the charge is spent and nothing is drawn."""
LOST = ("drawing", "drawn")
"""Points at which something may be drawn and nothing is stored."""
POINTS = (*BEFORE, *UNDRAWN, *LOST, "stored")
DURING = {"begun": "rehearsing", "charged": "aggregating"}
"""The points of the code after which a query comes, and the point within that query."""
_OURS = "application_name = 'noisewright'"
_OPEN = "xact_start IS NOT NULL"
PATIENCE = 60
"""Seconds after which whatever is waited for will not come."""


class Trigger:
    """Harms a release once, when it comes to a point; `waiting` harms it while the engine is at work."""

    def __init__(self, point: str, harm: Callable[[], None], waiting: Callable[[Callable[[], None]], None]) -> None:
        self._point, self._harm, self._waiting, self.done = point, harm, waiting, False

    @classmethod
    def never(cls) -> Trigger:
        """One that does nothing."""
        return cls("", lambda: None, lambda _: None)

    def reach(self, name: str) -> None:
        """Called at each marked point."""
        if self.done or self._point not in (name, DURING.get(name)):
            return
        self.done = True
        if name == self._point:
            self._harm()
        else:
            self._waiting(self._harm)


class Harms:
    """What can be done to a release of a table of a server."""

    def __init__(self, server: Server) -> None:
        self._server, self._watching = server, threading.Thread()

    def terminate(self) -> None:
        """Somebody ends the connection."""
        self._server.execute(f"SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE {_OURS}")

    def cancel(self) -> None:
        """Somebody stops the query."""
        self._server.execute(f"SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE {_OURS}")

    def restart(self) -> None:
        """The server is stopped at once, as `pg_ctl restart -m immediate` does, and started again."""
        self._server.stop(signal.SIGQUIT)
        self._server.start()

    def interrupt(self) -> None:
        """Ctrl-C."""
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    def kill(self) -> None:
        """The process that releases dies."""
        os.kill(os.getpid(), signal.SIGKILL)

    def waiting(self, harm: Callable[[], None]) -> None:
        """Let the next query on the table wait for a lock, and do harm as soon as it does."""
        locker = self.locked()

        def watch() -> None:
            try:
                self.until_blocked()
                harm()
            finally:
                locker.close()

        self._watching = threading.Thread(target=watch, daemon=True)
        self._watching.start()

    def over(self) -> None:
        """Wait until what was begun in a query is over: a server that was stopped is there again."""
        if self._watching.ident is not None:
            self._watching.join(PATIENCE)

    def until_quiet(self) -> None:
        """Wait until no transaction of ours is open: the server sees a little later that a connection was closed."""
        end = time.monotonic() + PATIENCE
        while left := self._server.execute(f"SELECT state, query FROM pg_stat_activity WHERE {_OURS} AND {_OPEN}"):
            assert time.monotonic() < end, left
            time.sleep(0.005)

    def locked(self) -> Any:
        """A connection that lets every query on the table wait until it is closed."""
        locker = psycopg.connect(self._server.url)
        locker.execute("LOCK TABLE visits IN ACCESS EXCLUSIVE MODE")
        return locker

    def until_blocked(self) -> None:
        """Wait until a query of ours waits for the lock."""
        waiting = f"SELECT 1 FROM pg_stat_activity WHERE {_OURS} AND state = 'active' AND wait_event_type = 'Lock'"
        end = time.monotonic() + PATIENCE
        while not self._server.execute(waiting):
            assert time.monotonic() < end, "no query came"
            time.sleep(0.005)


def listen() -> None:
    """Hear Ctrl-C: processes in the background ignore it from the start."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@contextmanager
def triggered(trigger: Trigger, draws: Path, expected: list[int] | None = None) -> Iterator[None]:
    """Within, a release is harmed, and every draw is counted as a line of a file; it is around the `expected` sums."""

    def counted(blocks: Any, layout: Any, vector: Any) -> Any:
        with draws.open("a") as file:
            file.write("drawn\n" if expected in (None, vector) else f"drawn around other sums: {vector}\n")
        return drawn(blocks, layout, vector)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checkpoints, "passed", trigger.reach)
        patch.setattr(transaction, "drawn", counted)
        listen()
        yield


def dead(trigger: Trigger, draws: Path, release: Callable[[], Any]) -> int:
    """How a process of its own ends that releases and is harmed."""

    def task() -> None:
        with triggered(trigger, draws):
            release()

    return outcome(*forked(task))[0]


READER = """
import json
import sys
import noisewright as nw

for line in sys.stdin:
    found = nw.Ledger.open(json.loads(line))
    found.verify()
    print(json.dumps([[row["event"] for row in found.rows()], str(found.spent)]), flush=True)
"""


@cache
def _reader() -> Any:
    """Another process that looks at ledgers: begun once, because beginning takes longer than looking."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    process = subprocess.Popen([sys.executable, "-c", READER], text=True, **pipes)  # type: ignore[call-overload]

    def ended() -> None:
        process.stdin.close()
        process.wait(PATIENCE)
        process.stdout.close()

    atexit.register(ended)
    return process


def seen(ledger: str) -> tuple[list[str], Fraction]:
    """The rows of a ledger and what was spent, as another process finds them; the chain is verified."""
    reader = _reader()
    reader.stdin.write(json.dumps(ledger) + "\n")
    reader.stdin.flush()
    rows, spent = json.loads(reader.stdout.readline())
    return rows, Fraction(spent)


def require_told(error: BaseException, point: str) -> None:
    """What was raised says what was spent and what to do, and repeats nothing that is secret."""
    told = " ".join([str(error), *getattr(error, "__notes__", ())])
    assert "secret" not in told
    if point in BEFORE:
        assert isinstance(error, KeyboardInterrupt) or "Nothing was spent: ask again." in told, told
    elif point in UNDRAWN:
        assert "is spent" in told, told
        assert "Nothing was drawn: release the same plan again to finish it, without another charge." in told
    elif point in LOST:
        assert "Charge 1 of" in told, told
        assert "release(fresh=True), --fresh at the command line, draws and charges again." in told
    else:
        assert "Its answer is stored: release the same plan again to get it, without another charge." in told, told


def struck(plan: Any, harms: Any, how: str, point: str, draws: Path, expected: list[int] | None = None) -> Any:
    """Harm the release of a plan at a point: the error with which it ends, or None; it says what was spent."""
    trigger, error = Trigger(point, getattr(harms, how), harms.waiting), None
    with triggered(trigger, draws, expected):
        try:
            plan.release()
        except (NoisewrightError, KeyboardInterrupt) as found:
            error = found
    harms.over()
    assert trigger.done
    if error is not None:
        require_told(error, point)
    return error


def reached(rows: list[str]) -> str:
    """A point that a release came to, by the rows of its ledger."""
    if "charge" not in rows:
        return "begun"
    return "charged" if "drawing" not in rows else "stored" if "answer" in rows else "drawing"


def require_ledger(ledger: str, point: str, *, failed: bool) -> None:
    """After harm at a point: one charge at most, of the right amount, and a draw only where one was announced."""
    rows, spent = seen(ledger)
    if not failed:
        assert rows == ["create", "charge", "drawing", "answer"], rows
    elif point in BEFORE:
        assert rows == ["create"], rows
    elif point in UNDRAWN:
        assert rows in (["create", "charge"], ["create", "charge", "failure"]), rows
    elif point in LOST:
        assert rows in (["create", "charge", "drawing"], ["create", "charge", "drawing", "failure"]), rows
    else:
        assert rows == ["create", "charge", "drawing", "answer"], rows
    assert spent == (1 if "charge" in rows else 0)


def require_finished(plan: Any, ledger: str, draws: Path, point: str, *, failed: bool) -> None:
    """The same plan is finished without a second charge, or refused where something may have been drawn."""
    if failed and point in LOST:
        with pytest.raises(nw.errors.InvalidInputError, match=r"charge 1 .*may have been drawn.*Nothing was spent now"):
            plan.release()
        assert seen(ledger)[1] == 1
        assert plan.release(fresh=True, frame="pyarrow")["charge"][0].as_py() > 1
        assert seen(ledger)[0].count("charge") == 2
        assert seen(ledger)[1] == 2
        return
    answer = plan.release(frame="pyarrow").to_pydict()
    assert set(answer["charge"]) == {1}
    assert plan.release(frame="pyarrow").to_pydict() == answer
    rows, spent = seen(ledger)
    assert [rows.count(name) for name in ("charge", "drawing", "answer")] == [1, 1, 1], rows
    assert spent == 1
    assert draws.read_text() == "drawn\n"

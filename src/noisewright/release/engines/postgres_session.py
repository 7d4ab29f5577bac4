"""A connection to PostgreSQL: of one process, one transaction at a time, made anew where it was lost."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from threading import RLock
from typing import Any
from weakref import WeakSet, finalize

import ibis
import psycopg
from psycopg.conninfo import conninfo_to_dict
from psycopg.pq import TransactionStatus

from noisewright.problem.errors import InvalidTableError

_CONNECT = "10"
_SETTINGS = {
    "search_path": "pg_catalog, pg_temp",  # named last, temporary tables hide nothing
    "timezone": "UTC",
    "datestyle": "ISO, YMD",
    "standard_conforming_strings": "on",
    "transform_null_equals": "off",
    "extra_float_digits": "1",
    "client_encoding": "UTF8",  # what queries are written in
    "quote_all_identifiers": "off",  # types are known by their names
    "idle_in_transaction_session_timeout": "0",  # the ledger is asked meanwhile
    "constraint_exclusion": "off",  # nothing that is known of the values decides what is read
    "enable_partition_pruning": "off",
    "enable_indexscan": "off",
    "enable_indexonlyscan": "off",
    "enable_bitmapscan": "off",
    "row_security": "off",  # a policy that would hide rows is an error
    "enable_mergejoin": "off",  # listed keys are few: sorting the table for them takes longer than all the rest
    "jit_optimize_above_cost": "100000",  # from a few million rows on, what is done with each is worth compiling well
}
_SESSIONS: WeakSet[Session] = WeakSet()


class Session:
    """What is asked over a connection of Ibis; with an `address` it is our own, without one it was given."""

    def __init__(self, backend: Any, address: str | None, timeout: int) -> None:
        self.backend, self._address, self._timeout = backend, address, timeout
        self._lock = vars(backend).setdefault("_noisewright_lock", RLock())
        self._inside, self._process = False, os.getpid()
        _SESSIONS.add(self)

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """One transaction, which reads one state of the database and writes nothing."""
        with self._lock:
            if self._inside:
                yield
                return
            self._ready()
            settings = {**_SETTINGS, "statement_timeout": str(self._timeout)}
            words = "; ".join(f"SET LOCAL {name} = {_value(name, value)}" for name, value in settings.items())
            with self._begun(f"BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY; {words}"):
                yield

    def rows(self, query: str, given: Mapping[str, Any] | None = None, *, local: bool = True) -> list[tuple[Any, ...]]:
        """What a query gives; unless `local`, by the settings that the session has by itself."""
        with self._lock, self.snapshot() if local else nullcontext(), self.backend.con.cursor() as cursor:
            found: list[tuple[Any, ...]] = cursor.execute(query.encode(), given).fetchall()
        return found

    @contextmanager
    def _begun(self, words: str) -> Iterator[None]:
        try:
            self._inside = True
            self._begin(words)
            yield
            self.backend.con.execute("COMMIT")
        except BaseException:
            self._undo()
            raise
        finally:
            self._inside = False

    def _undo(self) -> None:
        """Roll back. Ctrl-C amid a question may leave a connection that takes no more words: its locks end with it."""
        with ExitStack() as otherwise, suppress(psycopg.Error):
            otherwise.callback(self.backend.con.close)
            self.backend.con.execute("ROLLBACK")
            otherwise.pop_all()

    def _begin(self, words: str) -> None:
        """Begin a transaction. That a connection was lost while nobody used it shows here, and it is made anew."""
        try:
            self.backend.con.execute(words)
        except psycopg.OperationalError:
            if self._address is None:
                raise
            self.backend.con.close()
            self._ready()
            self.backend.con.execute(words)

    def _ready(self) -> None:
        """A connection of this process without a transaction; it is made anew where the address is known.

        What a parent process asked is never answered to its child, nor the other way round: a forked child does
        not touch the connection of its parent, and does not close it either.
        """
        connection, forked = self.backend.con, self._process != os.getpid()
        if forked and self._address is None:
            raise InvalidTableError(
                "the connection of this Ibis table was made in another process, which this one was forked from; connect"
                " here, and make the dataset anew. Nothing was spent."
            )
        if self._address is not None and (forked or connection.closed):
            self.backend.con = connection = connected(self._address, self.backend)
            self._process = os.getpid()
        if connection.closed:
            raise psycopg.InterfaceError("the connection that was given is closed")
        if not connection.autocommit or connection.info.transaction_status != TransactionStatus.IDLE:
            raise InvalidTableError(
                "the connection of this Ibis table has a transaction of its own, or begins one by itself; end it, or"
                " connect with autocommit, so that each release sees one state of the database. Nothing was spent."
            )

    def after_fork(self) -> None:
        """In a forked child no other thread holds the lock, whoever held it in the parent."""
        self._lock = vars(self.backend)["_noisewright_lock"] = RLock()
        self._inside = False


def backend_of(address: str) -> Any:
    """A backend of Ibis with a connection of its own."""
    connection = connected(address)
    backend = ibis.postgres.from_connection(connection)
    finalize(backend, _close, connection, os.getpid())
    return backend


def connected(address: str, backend: Any = None) -> Any:
    """A new connection that only reads; it ends with the backend."""
    given = conninfo_to_dict(address)
    read_only = "-c default_transaction_read_only=on"
    connection = psycopg.connect(
        address,
        autocommit=True,
        client_encoding="UTF8",
        options=f"{given['options']} {read_only}" if given.get("options") else read_only,
        connect_timeout=given.get("connect_timeout") or os.environ.get("PGCONNECT_TIMEOUT", _CONNECT),
        application_name=str(given.get("application_name") or "noisewright"),
    )
    if backend is not None:
        finalize(backend, _close, connection, os.getpid())
    return connection


def _close(connection: Any, process: int) -> None:
    """Closing tells the server, so that only the process that connected may."""
    if process == os.getpid():
        connection.close()


def _value(name: str, value: str) -> str:
    """A setting as SQL; a search path is a list of names."""
    return value if name == "search_path" else f"'{value}'"


def _after_fork() -> None:
    for session in list(_SESSIONS):
        session.after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)

"""Ledgers in a PostgreSQL database, for teams: rows in one table, heads in another.

A charge is one transaction. It locks the head of its ledger (`SELECT … FOR UPDATE`), which serialises all writers, adds
the row and moves the head, and is durable when the commit returns (`synchronous_commit = on`). Head and rows move
together or not at all, so that any difference between them is damage.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any
from urllib.parse import parse_qsl, urlunsplit
from weakref import finalize

from noisewright.ledger import checkpoints
from noisewright.ledger.chain import Head, Row
from noisewright.ledger.stores import (
    NOTHING_CHANGED,
    NOTHING_CHARGED,
    VERSION,
    Connection,
    Migrations,
    SQLRows,
    Transaction,
    apart,
    as_query,
    bring_up,
    hidden,
    newer,
    parts_of,
    passwords_in,
    without_password,
)
from noisewright.problem.errors import InvalidInputError, LedgerError, LedgerExistsError

try:
    import psycopg
except ImportError:  # the extra is not installed
    raise LedgerError("ledgers in PostgreSQL need the package psycopg: pip install 'noisewright[postgres]'.") from None

_WAIT = 120
_DEFAULT = "noisewright"
_LONGEST_NAME = 100

MIGRATIONS: Migrations = (
    (
        "CREATE TABLE IF NOT EXISTS noisewright_heads (ledger text PRIMARY KEY, count bigint NOT NULL,"
        " digest text NOT NULL)",
        "CREATE TABLE IF NOT EXISTS noisewright_rows (ledger text NOT NULL, place bigint NOT NULL,"
        " account text NOT NULL,"
        " body text NOT NULL, digest text NOT NULL, PRIMARY KEY (ledger, place))",
        "CREATE TABLE IF NOT EXISTS noisewright_layout (version integer NOT NULL)",
    ),
    ("CREATE INDEX IF NOT EXISTS noisewright_by_account ON noisewright_rows (ledger, account, place)",),
)
_COLUMNS = "SELECT place, account, body, digest FROM noisewright_rows WHERE ledger = %s"
_ONE_AT_A_TIME = 5_206_417_111
"""The advisory lock under which tables are made."""


class PostgresStore:
    """Rows of one ledger of a database; `?ledger=name` in the URL says which, "noisewright" if it does not."""

    def __init__(self, url: str) -> None:
        parts = parts_of(url)
        given = parse_qsl(parts.query, keep_blank_values=True)
        names = [value for key, value in given if key == "ledger"] or [_DEFAULT]
        self.name = names[-1]
        if not 1 <= len(self.name) <= _LONGEST_NAME or not self.name.isprintable():
            raise InvalidInputError("the name of a ledger has 1 to 100 printable characters.", given=self.name)
        rest = as_query([(key, value) for key, value in given if key != "ledger"])
        self._address = urlunsplit(parts._replace(query=rest))
        self._secrets = passwords_in(url)
        self.shown = without_password(url)
        # By process: a forked child must neither use nor end its parent's connections, nor wait for its threads.
        self._idle: dict[int, list[Any]] = {}
        # Not when a collector finds the store and its connections together: in which order those end is chance.
        finalize(self, _closed, self._idle)

    def create(self, first: Row) -> None:
        """Make the tables where they are not there, and the ledger; refuses where one of this name is there."""
        with self._connected("the ledger was not made") as connection, connection.transaction():
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (_ONE_AT_A_TIME,))
            connection.execute("SET LOCAL synchronous_commit = on")
            _require_durable(connection.execute("SHOW fsync").fetchone()[0])
            self._bring_up(connection)
            known = connection.execute("SELECT 1 FROM noisewright_heads WHERE ledger = %s", (self.name,)).fetchone()
            rows = connection.execute("SELECT 1 FROM noisewright_rows WHERE ledger = %s", (self.name,)).fetchone()
            if known or rows:
                raise LedgerExistsError(
                    f"there is a ledger {self.name!r} in this database already; open it, or choose another name."
                )
            connection.execute("INSERT INTO noisewright_heads VALUES (%s, 0, '')", (self.name,))
            _Rows(connection, self.name).append(first)

    @contextmanager
    def change(self, otherwise: str = NOTHING_CHARGED) -> Iterator[Transaction]:
        """Locks the head of this ledger from here to the commit."""
        with self._connected(otherwise) as connection:
            connection.execute("BEGIN ISOLATION LEVEL READ COMMITTED")
            try:
                connection.execute(f"SET LOCAL lock_timeout = '{_WAIT}s'")
                connection.execute("SET LOCAL synchronous_commit = on")
                head = self._head(connection, "FOR UPDATE")
                rows = _Rows(connection, self.name)
                self._require_same(rows.last(), head)
                yield rows
            except BaseException:
                with suppress(psycopg.Error):
                    connection.execute("ROLLBACK")
                raise
            self._commit(connection, otherwise)
            if rows.added:
                checkpoints.passed("committed")
                checkpoints.passed("settled")

    @contextmanager
    def look(self) -> Iterator[_Rows]:
        """Rows at one moment."""
        with self._connected("it was only read") as connection:
            connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            try:
                head = self._head(connection)
                rows = _Rows(connection, self.name)
                self._require_same(rows.last(), head)
                yield rows
            finally:
                with suppress(psycopg.Error):
                    connection.execute("ROLLBACK")

    def head(self) -> Head:
        """The head as it is kept beside the rows."""
        with self._connected("it was only read") as connection:
            return self._head(connection)

    def version(self) -> int:
        """The version of the layout of this database."""
        with self._connected("it was only read") as connection:
            return self._layout(connection)

    def migrate(self) -> None:
        """Bring an older layout up to date, in one transaction."""
        with self._connected(NOTHING_CHANGED) as connection, connection.transaction():
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (_ONE_AT_A_TIME,))
            self._bring_up(connection)

    def integrity(self) -> None:
        """Head and last row belong together; pages are the server's own business."""
        with self.look():
            pass

    def _layout(self, connection: Any) -> int:
        there = connection.execute("SELECT to_regclass('noisewright_layout') IS NOT NULL").fetchone()[0]
        found = connection.execute("SELECT max(version) FROM noisewright_layout").fetchone() if there else None
        return int(found[0]) if found and found[0] is not None else 0

    def _bring_up(self, connection: Any) -> None:
        found = self._layout(connection)
        if found > VERSION:
            raise newer(found)
        bring_up(connection, MIGRATIONS, found)
        if found < VERSION:
            connection.execute("INSERT INTO noisewright_layout VALUES (%s)", (VERSION,))

    def _head(self, connection: Any, locked: str = "") -> Head:
        version = self._layout(connection)
        if version > VERSION:
            raise newer(version)
        if not version:
            raise self._missing()
        question = f"SELECT count, digest, current_setting('fsync') FROM noisewright_heads WHERE ledger = %s {locked}"
        found = connection.execute(question, (self.name,)).fetchone()
        if found is None:
            raise self._missing()
        if locked:
            _require_durable(found[2])
        return Head(*found[:2])

    def _missing(self) -> LedgerError:
        return LedgerError(f"there is no ledger {self.name!r} in this database; make it with Ledger.create.")

    def _require_same(self, last: Row, head: Head) -> None:
        if last.head != head:
            raise apart("the ledger", last.head, head, " or changed")

    def _commit(self, connection: Any, otherwise: str) -> None:
        try:
            done = connection.execute("COMMIT").statusmessage
        except psycopg.Error as error:
            raise LedgerError(
                f"the connection was lost while a row was written ({self._said(error)}); whether it was is not known."
                " Take what it charges for spent: if it is in the ledger it counts."
            ) from None
        if done != "COMMIT":
            # So a server answers where a statement before had failed.
            raise LedgerError(f"{self.shown}: the server answered {done} to COMMIT; {otherwise}.")

    @contextmanager
    def _connected(self, what: str) -> Iterator[Any]:
        """A connection that nobody else in this process uses; kept for later unless something went wrong."""
        try:
            connection = self._taken()
            try:
                yield connection
            except BaseException:
                connection.close()
                raise
            self._kept().append(connection)
        except psycopg.Error as error:
            raise LedgerError(f"{self.shown}: {self._said(error)}; {what}.") from None

    def _taken(self) -> Any:
        with suppress(IndexError):  # none is left: taking the last of a list is one step among threads
            while True:
                connection = self._kept().pop()
                if _alive(connection):
                    return connection
                connection.close()
        made = psycopg.connect(self._address, autocommit=True, connect_timeout=10, client_encoding="utf8")
        # Whatever the server's default: what was committed before a lock was given must be seen after it.
        made.isolation_level = psycopg.IsolationLevel.READ_COMMITTED
        return made

    def _kept(self) -> list[Any]:
        """The connections of this process that nobody uses now."""
        return self._idle.setdefault(os.getpid(), [])

    def disconnect(self) -> None:
        """Close the connections that are kept for later."""
        _closed(self._idle)

    def _said(self, error: Exception) -> str:
        return hidden(" ".join(str(error).split()), self._secrets) or type(error).__name__


def _closed(idle: dict[int, list[Any]]) -> None:
    """Close the connections of this process that nobody uses."""
    kept = idle.get(os.getpid(), [])
    with suppress(IndexError):
        while True:
            connection = kept.pop()
            with suppress(Exception):  # it may be gone already
                connection.close()


def _require_durable(fsync: str) -> None:
    if fsync != "on":
        raise LedgerError(
            "the server runs with fsync = off, and would forget charges when the power goes; switch it on."
        )


def _alive(connection: Any) -> bool:
    """Whether the server still answers; asked before anything is begun, so that nothing is ever sent twice."""
    try:
        connection.execute("SELECT 1")
    except psycopg.Error:
        return False
    return not connection.closed


class _Rows(SQLRows):
    def __init__(self, connection: Connection, name: str) -> None:
        super().__init__(connection, _COLUMNS, "%s", name)

    def append(self, row: Row) -> None:
        self._connection.execute(
            "INSERT INTO noisewright_rows VALUES (%s, %s, %s, %s, %s)",
            (*self._own, row.place, row.account, row.body, row.digest),
        )
        self._connection.execute(
            "UPDATE noisewright_heads SET count = %s, digest = %s WHERE ledger = %s",
            (row.head.count, row.head.digest, *self._own),
        )
        self.added.append(row)

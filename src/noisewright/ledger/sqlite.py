"""A ledger in one SQLite file, with its head in a second file beside it.

The order of a charge, all under SQLite's own write lock: the head is compared with the rows; the row is committed
(rollback journal, extra synchronisation); the head is written and synced. A crash leaves the head where it was or one
row behind, and the next writer brings it up before it adds a row. So a head may be one row behind, never more, and
never ahead: rows that are missing below the head were taken away.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from noisewright.ledger import marks
from noisewright.ledger.files import found_path, read_head, require_no_head, require_one_name, require_own_name, write_head
from noisewright.ledger.chain import Head, Row, column
from noisewright.ledger.forks import GATE
from noisewright.ledger.stores import NOTHING_CHANGED, NOTHING_CHARGED, VERSION, Transaction, newer
from noisewright.problem.errors import LedgerDamagedError, LedgerError, LedgerExistsError

_WAIT = 120.0
"""Seconds to wait for other writers."""
_LOOK_EVERY = 10
"""Milliseconds after which a waiting writer looks anew."""
_ONLY_READ = "it was only read"

MIGRATIONS = (
    (
        "CREATE TABLE rows (place INTEGER PRIMARY KEY, account TEXT NOT NULL, body TEXT NOT NULL, digest TEXT NOT NULL)"
        " STRICT",
    ),
    ("CREATE INDEX rows_by_account ON rows (account, place)",),
)
"""What leads from each version of the layout to the next, beginning with an empty file."""
_COLUMNS = "SELECT place, account, body, digest FROM rows"


class SQLiteStore:
    """Rows in a SQLite file; one connection for each transaction, so that forks and threads share none."""

    def __init__(self, path: Path) -> None:
        self.path = found_path(path)
        self.head_path = self.path.with_name(self.path.name + ".head")
        self.shown = str(self.path)

    def create(self, first: Row) -> None:
        """Make the file; refuses where the file, or the head of one that was removed, is there."""
        require_own_name(self.path)
        with self._reporting("the ledger was not made"):
            require_no_head(self.path, self.head_path)
            try:
                os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
            except FileExistsError:
                raise LedgerExistsError(
                    f"there is a file {self.path} already; open it, or choose another name."
                ) from None
        try:
            unmade = "the ledger was not made, or not durably"
            with self._opened(unmade) as connection, self._reporting(unmade):
                connection.execute("BEGIN IMMEDIATE")
                for step in (step for steps in MIGRATIONS for step in steps):
                    connection.execute(step)
                connection.execute(f"PRAGMA user_version = {VERSION}")
                _Rows(connection).append(first)
                connection.execute("COMMIT")
                self._write_head(first.head)
        except BaseException:
            # The file is ours, and nobody could charge a ledger without a head; with one somebody may have.
            if not self.head_path.exists():
                self.path.unlink(missing_ok=True)
            raise

    @contextmanager
    def change(self, otherwise: str = NOTHING_CHARGED) -> Iterator[Transaction]:
        """Holds the write lock of the file from here to the commit; then the head is brought up under it again."""
        with self._opened(otherwise) as connection:
            with self._reporting(otherwise):
                _begin(connection)
                self._agree(connection)
                rows = _Rows(connection)
                yield rows
            if rows.added:
                self._commit(connection, rows.added[-1], otherwise)
                marks.reach("committed")
                with self._reporting("the row is written and what it charges stays spent, but its head is not"):
                    self._settle(connection, rows.added[-1])
                marks.reach("settled")

    @contextmanager
    def look(self) -> Iterator[_Rows]:
        """Rows at one moment; the head is read first, so that honest rows are never behind it."""
        head = self.head()
        with self._opened(_ONLY_READ, writing=False) as connection, self._reporting(_ONLY_READ):
            connection.execute("BEGIN")
            self._whole(connection)
            rows = _Rows(connection)
            if rows.last().place < head.count - 1 or rows.at(head.count - 1).digest != head.digest:
                raise self._behind(rows.last().head, head)
            yield rows

    def head(self) -> Head:
        """What the file beside the ledger says."""
        self._require_there(_ONLY_READ)
        return read_head(self.head_path, self.path)

    def version(self) -> int:
        """The version of the layout."""
        with self._opened(_ONLY_READ, writing=False) as connection, self._reporting(_ONLY_READ):
            return _version(connection)

    def migrate(self) -> None:
        """Bring an older layout up to date, in one transaction."""
        with self._opened(NOTHING_CHANGED) as connection, self._reporting(NOTHING_CHANGED):
            connection.execute("BEGIN IMMEDIATE")
            found = _version(connection)
            if found >= VERSION:
                return  # somebody else did, and perhaps more
            for step in (step for steps in MIGRATIONS[found:] for step in steps):
                connection.execute(step)
            connection.execute(f"PRAGMA user_version = {VERSION}")
            connection.execute("COMMIT")

    def integrity(self) -> None:
        """SQLite's own check of pages, tables and indexes."""
        with self._opened(_ONLY_READ, writing=False) as connection, self._reporting(_ONLY_READ):
            found = connection.execute("PRAGMA integrity_check(1)").fetchone()[0]
        if found != "ok":
            raise LedgerDamagedError(f"SQLite finds {self.path} damaged: {found}.")

    def _require_there(self, otherwise: str) -> None:
        with self._reporting(otherwise):
            if not self.path.is_file():
                raise LedgerError(f"there is no ledger {self.path}; make it with Ledger.create.")

    @contextmanager
    def _opened(self, otherwise: str, *, writing: bool = True) -> Iterator[sqlite3.Connection]:
        """A connection of its own; closing it drops what was not committed."""
        self._require_there(otherwise)
        with GATE.passed():
            with self._reporting(otherwise):
                if writing:
                    require_one_name(self.path)
                connection = self._connect(writing=writing)
            with closing(connection):
                yield connection

    def _connect(self, *, writing: bool = True) -> sqlite3.Connection:
        # A reader may have to roll back what a crash left, so it asks for no more than reading only where it must.
        mode = "rw" if writing or os.access(self.path, os.W_OK) else "ro"
        url = f"{self.path.absolute().as_uri()}?mode={mode}"
        connection = sqlite3.connect(url, uri=True, timeout=_WAIT, isolation_level=None)
        connection.text_factory = lambda raw: raw.decode("utf-8", "surrogateescape")
        try:
            if writing:
                mode = connection.execute("PRAGMA journal_mode = DELETE").fetchone()[0]
                if mode != "delete":
                    raise LedgerError(f"{self.path} cannot be kept with a rollback journal; nothing was charged.")
                connection.execute("PRAGMA synchronous = EXTRA")
            return connection
        except BaseException:
            connection.close()
            raise

    def _commit(self, connection: sqlite3.Connection, row: Row, otherwise: str) -> None:
        """Make a row durable. An error does not say that it is not there: look, and tell what is true."""
        try:
            connection.execute("COMMIT")
        except sqlite3.Error as error:
            connection.close()
            raise LedgerError(f"{self.path}: {error}; {self._became_of(row, otherwise)}. {_advice(error)}") from None

    def _became_of(self, row: Row, otherwise: str) -> str:
        try:
            with closing(self._connect(writing=False)) as connection:
                rows = _Rows(connection).rows(row.place, 1)
        except (sqlite3.Error, OSError):
            return f"whether row {row.place} was written is not known: take what it charges for spent"
        return f"row {row.place} is written all the same, and what it charges is spent" if row in rows else otherwise

    def _agree(self, connection: sqlite3.Connection) -> None:
        """Under the lock: the head fits the rows, or is one behind, which is mended; anything else is damage."""
        self._whole(connection)
        last, head = _Rows(connection).last(), self.head()
        if head == last.head:
            return
        if head != Head(last.place, last.read().get("previous", "")):
            raise self._behind(last.head, head)
        self._write_head(last.head)

    def _settle(self, connection: sqlite3.Connection, written: Row) -> None:
        """Bring the head up to what was written, unless the next writer did; the row must be there to be believed."""
        if self.head().count < written.head.count:
            _begin(connection)
            self._agree(connection)
        if _Rows(connection).at(written.place) != written:
            raise LedgerDamagedError(
                f"row {written.place} was written to {self.path} and is not there. Count it as spent."
            )

    def _whole(self, connection: sqlite3.Connection) -> None:
        """Refuse a file of a newer version, and one that is shorter than it says."""
        if (found := _version(connection)) > VERSION:
            raise newer(found)
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        size = connection.execute("PRAGMA page_size").fetchone()[0]
        if self.path.stat().st_size < pages * size:
            raise LedgerDamagedError(f"{self.path} was cut off: it is shorter than it says. It is not believed.")

    def _behind(self, rows: Head, head: Head) -> LedgerDamagedError:
        return LedgerDamagedError(
            f"{self.path} has {rows.count} rows, and its head knows {head.count}, which do not belong together: rows"
            " were taken away, or one of the two files was replaced. It is not believed.",
            rows=rows.count,
            head=head.count,
        )

    def _write_head(self, head: Head) -> None:
        write_head(self.head_path, head)

    @contextmanager
    def _reporting(self, what: str) -> Iterator[None]:
        """Errors of SQLite and of the file system in words that say what became of a charge."""
        try:
            yield
        except sqlite3.OperationalError as error:
            raise LedgerError(f"{self.path}: {error}; {what}. {_advice(error)}") from None
        except sqlite3.Error as error:
            raise LedgerDamagedError(f"{self.path} is damaged, or no ledger ({error}); {what}.") from None
        except OSError as error:
            raise LedgerError(f"{self.path}: {error.strerror or error}; {what}.") from None


def _begin(connection: sqlite3.Connection) -> None:
    """Take the write lock of the file, or wait for it.

    SQLite's own wait looks less and less often, up to ten times a second; among many writers that leaves the file idle.
    """
    end = time.monotonic() + _WAIT
    connection.execute(f"PRAGMA busy_timeout = {_LOOK_EVERY}")
    try:
        while True:
            try:
                connection.execute("BEGIN IMMEDIATE")
                return
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or time.monotonic() > end:
                    raise
    finally:
        connection.execute(f"PRAGMA busy_timeout = {1000 * _WAIT:.0f}")


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _advice(error: sqlite3.Error) -> str:
    if "locked" in str(error):
        return f"Others wrote for more than {_WAIT:.0f} seconds; try again."
    if "readonly" in str(error) or "unable to open" in str(error):
        return "Let the process write the file and its folder."
    return "Look at the disk, and run `noisewright ledger verify`."


class _Rows:
    """Rows through one connection."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self.added: list[Row] = []

    def last(self) -> Row:
        return self._one(f"{_COLUMNS} ORDER BY place DESC LIMIT 1")

    def last_of(self, account: str) -> Row | None:
        question = f"{_COLUMNS} WHERE account = ? ORDER BY place DESC LIMIT 1"
        found = self._connection.execute(question, (column(account),)).fetchone()
        return None if found is None else Row(*found)

    def at(self, place: int) -> Row:
        return self._one(f"{_COLUMNS} WHERE place = ?", place)

    def rows(self, start: int, most: int) -> list[Row]:
        question = f"{_COLUMNS} WHERE place >= ? ORDER BY place LIMIT ?"
        return [Row(*found) for found in self._connection.execute(question, (start, most))]

    def append(self, row: Row) -> None:
        self._connection.execute("INSERT INTO rows VALUES (?, ?, ?, ?)", (row.place, row.account, row.body, row.digest))
        self.added.append(row)

    def _one(self, question: str, *given: int) -> Row:
        found = self._connection.execute(question, given).fetchone()
        if found is None:
            raise LedgerDamagedError(f"row {given[0] if given else 0} of the ledger is missing; it is not believed.")
        return Row(*found)

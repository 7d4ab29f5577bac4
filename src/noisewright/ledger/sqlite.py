"""A ledger in one SQLite file, with its head in a second file beside it.

The order of a charge, all under SQLite's own write lock: the head is compared with the rows; the row is committed
(rollback journal, extra synchronisation); the head is written and synced. A crash leaves the head where it was or one
row behind, and the next writer brings it up before it adds a row. So a head may be one row behind, never more, and
never ahead: rows that are missing below the head were taken away.

A process is forked only while none of its threads has a file of a ledger open. SQLite remembers in the memory of the
process which locks its connections hold. A child that is forked in between takes over the memory and not the locks: it
could never write that file again, and would read it while others write.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from noisewright.ledger import checkpoints
from noisewright.ledger.chain import Head, Row, canonical
from noisewright.ledger.stores import (
    NOTHING_CHANGED,
    NOTHING_CHARGED,
    VERSION,
    Migrations,
    SQLRows,
    Transaction,
    apart,
    bring_up,
    newer,
)
from noisewright.problem.errors import InvalidInputError, LedgerDamagedError, LedgerError, LedgerExistsError
from noisewright.problem.untrusted import plain_of, text_in

_WAIT = 120.0
"""Seconds to wait for other writers."""
_LOOK_EVERY = 10
"""Milliseconds after which a waiting writer looks anew."""
_ONLY_READ = "it was only read"

MIGRATIONS: Migrations = (
    (
        "CREATE TABLE rows (place INTEGER PRIMARY KEY, account TEXT NOT NULL, body TEXT NOT NULL, digest TEXT NOT NULL)"
        " STRICT",
    ),
    ("CREATE INDEX rows_by_account ON rows (account, place)",),
)
_COLUMNS = "SELECT place, account, body, digest FROM rows WHERE 1"


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
                bring_up(connection, MIGRATIONS, 0)
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
                checkpoints.passed("committed")
                with self._reporting("the row is written and what it charges stays spent, but its head is not"):
                    self._settle(connection, rows.added[-1])
                checkpoints.passed("settled")

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
            bring_up(connection, MIGRATIONS, found)
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
        return apart(str(self.path), rows, head, ", or one of the two files was replaced")

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


class _Rows(SQLRows):
    def __init__(self, connection: sqlite3.Connection) -> None:
        super().__init__(connection, _COLUMNS, "?")

    def append(self, row: Row) -> None:
        self._connection.execute("INSERT INTO rows VALUES (?, ?, ?, ?)", (row.place, row.account, row.body, row.digest))
        self.added.append(row)


# The files that SQLite does not write: where they are, and the head beside the rows.


_ENDINGS = (".head", ".head.new", "-journal", "-wal", "-shm")
_LARGEST_HEAD = 1


def found_path(path: Path) -> Path:
    """The one path of a file, whatever links lead to it and wherever the process goes afterwards."""
    try:
        return Path(os.path.realpath(path))
    except ValueError:
        raise InvalidInputError("url is no path that a file can have; give plain characters, without NUL.") from None


def require_own_name(path: Path) -> None:
    """Refuse a name that belongs to the files beside another ledger."""
    if path.name.endswith(_ENDINGS):
        raise InvalidInputError(
            f"{path.name} ends like a file beside another ledger ({', '.join(_ENDINGS)}); choose another name.",
            given=str(path),
        )


def require_no_head(path: Path, head: Path) -> None:
    """Refuse a new ledger where the head of one that was removed still is."""
    if head.exists() and not path.exists():
        raise LedgerError(
            f"{head} is the head of a ledger that is not there any more; a new file would be a new budget. Restore the"
            " ledger, or choose another name."
        )


def require_one_name(path: Path) -> None:
    """Refuse a file with a second name: each name would have its own journal and its own head."""
    if path.stat().st_nlink > 1:
        raise LedgerError(
            f"{path} has a second name (a hard link), under which its journal and its head would not be found."
            " Nothing was charged; remove the other name."
        )


def read_head(path: Path, ledger: Path) -> Head:
    """What the file beside a ledger says."""
    try:
        return Head.from_dict(plain_of(text_in(path, _LARGEST_HEAD)))
    except FileNotFoundError:
        raise LedgerDamagedError(
            f"{ledger} has no head file {path}: it was removed, or making the ledger was interrupted. It is not"
            " believed; if nothing was ever charged, remove the file and create it again."
        ) from None
    except (OSError, ValueError) as error:
        raise LedgerDamagedError(f"the head file {path} cannot be read ({type(error).__name__}).") from None


def write_head(path: Path, head: Head) -> None:
    """Replace a head file as a whole; durable when this returns. A link in the way is not followed."""
    fresh = path.with_name(path.name + ".new")
    fresh.unlink(missing_ok=True)
    with os.fdopen(os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666), "w", encoding="ascii") as file:
        file.write(canonical(head.to_dict()) + "\n")
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(path)
    if os.name != "nt":
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


# No fork while a file is open.


_PATIENCE = 180.0
"""Seconds after which a fork takes place all the same: longer than any charge waits for others."""


class Gate:
    """Counts what this process has open; `os.fork` waits until other threads have closed it."""

    def __init__(self) -> None:
        self._change = threading.Condition()
        self._open = self._forking = 0
        self._own = threading.local()

    @contextmanager
    def passed(self) -> Iterator[None]:
        """Something is open meanwhile."""
        self._count(1)
        try:
            yield
        finally:
            self._count(-1)

    def before_fork(self) -> None:
        """Wait for other threads, and let none begin; the lock is held over the fork."""
        self._change.acquire()
        self._forking += 1
        self._change.wait_for(lambda: self._open == self._mine(), _PATIENCE)

    def after_in_parent(self) -> None:
        """Let the others go on."""
        self._forking -= 1
        self._change.notify_all()
        self._change.release()

    def after_in_child(self) -> None:
        """The thread that forked is the only one."""
        self._change, self._open, self._forking = threading.Condition(), self._mine(), 0

    def _mine(self) -> int:
        return int(getattr(self._own, "count", 0))

    def _count(self, more: int) -> None:
        with self._change:
            # Whoever is inside already must be able to finish.
            self._change.wait_for(lambda: not self._forking or self._mine())
            self._own.count = self._mine() + more
            self._open += more
            self._change.notify_all()


GATE = Gate()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=GATE.before_fork, after_in_parent=GATE.after_in_parent, after_in_child=GATE.after_in_child
    )

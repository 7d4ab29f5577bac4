"""One small interface over both stores, what they share, and URLs without their passwords."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol
from urllib.parse import SplitResult, parse_qsl, quote, unquote, urlencode, urlsplit, urlunsplit

from noisewright.ledger.chain import Head, Row, column
from noisewright.problem.errors import InvalidInputError, LedgerDamagedError, LedgerError

VERSION = 2
"""The version of the layout that this package writes; older ones are brought up to it, newer ones are refused."""

NOTHING_CHARGED = "nothing was charged"
"""What is true of a transaction that fails, unless it is said otherwise."""
NOTHING_CHANGED = "nothing was changed"

_SECRET = ("password", "sslpassword")
_HIDDEN = "***"
_AT_A_TIME = 1000
_WHERE = re.compile(r"((\[[0-9a-fA-F:.]+\]|[^:,\[\]]*)(:[0-9]+)?(,|$))*")
_AMBIGUOUS = (
    "the url cannot be read; give postgresql://user@host:port/database?ledger=name, with / ? # @ and : in names and"
    " passwords written as %2F %3F %23 %40 and %3A."
)


class Reading(Protocol):
    """Rows as they were at one moment."""

    def last(self) -> Row:
        """The last row."""

    def last_of(self, account: str) -> Row | None:
        """The last row that speaks of an account."""

    def at(self, place: int) -> Row:
        """The row at a place."""

    def rows(self, start: int, most: int) -> list[Row]:
        """So many rows from a place on at most, in order."""


Check = Callable[[Reading], None]
"""Something that is asked of the rows under the lock, and raises to stop what would be written."""


class Transaction(Reading, Protocol):
    """The only one that may write now."""

    def append(self, row: Row) -> None:
        """Add the next row; it is durable when the transaction has ended, or not there at all."""


class Store(Protocol):
    """Where rows are kept."""

    shown: str
    """The URL without its password."""

    def create(self, first: Row) -> None:
        """Make the ledger with its first row; refuses where there is one already."""

    def change(self, otherwise: str = NOTHING_CHARGED) -> AbstractContextManager[Transaction]:
        """A serialised transaction: durable, head included, when it has ended without an error.

        `otherwise` is what errors say is true if it did not take place.
        """

    def look(self) -> AbstractContextManager[Reading]:
        """A reading that neither waits for writers nor stops them."""

    def head(self) -> Head:
        """The head as it is kept beside the rows."""

    def version(self) -> int:
        """The version of the layout."""

    def migrate(self) -> None:
        """Bring an older layout up to `VERSION`."""

    def integrity(self) -> None:
        """Let the store look for damage of its own kind; LedgerDamagedError if there is any."""


def every_row(store: Store) -> Iterator[Row]:
    """All rows in order, some at a time: between them others may write, and what they add comes too."""
    place = 0
    while True:
        with store.look() as rows:
            found = rows.rows(place, _AT_A_TIME)
        yield from found
        if len(found) < _AT_A_TIME:
            return
        place += len(found)


class Connection(Protocol):
    """A connection to a database that takes statements."""

    def execute(self, statement: str, given: Sequence[object] = ..., /) -> Any:
        """The cursor of a statement with what is given for its marks."""


class SQLRows:
    """Rows of one ledger through one connection: `columns` selects them, `mark` stands for a value in a statement."""

    def __init__(self, connection: Connection, columns: str, mark: str, *own: str) -> None:
        self._connection, self._columns, self._mark, self._own = connection, columns, mark, own
        self.added: list[Row] = []

    def last(self) -> Row:
        return self._one("ORDER BY place DESC LIMIT 1")

    def last_of(self, account: str) -> Row | None:
        found = self._found(f"AND account = {self._mark} ORDER BY place DESC LIMIT 1", column(account)).fetchone()
        return None if found is None else Row(*found)

    def at(self, place: int) -> Row:
        return self._one(f"AND place = {self._mark}", place)

    def rows(self, start: int, most: int) -> list[Row]:
        condition = f"AND place >= {self._mark} ORDER BY place LIMIT {self._mark}"
        return [Row(*found) for found in self._found(condition, start, most)]

    def _found(self, condition: str, *given: object) -> Any:
        return self._connection.execute(f"{self._columns} {condition}", (*self._own, *given))

    def _one(self, condition: str, *given: int) -> Row:
        found = self._found(condition, *given).fetchone()
        if found is None:
            raise LedgerDamagedError(f"row {given[0] if given else 0} of the ledger is missing; it is not believed.")
        return Row(*found)


Migrations = tuple[tuple[str, ...], ...]
"""What leads from each version of the layout to the next, beginning with an empty store."""


def bring_up(connection: Connection, migrations: Migrations, found: int) -> None:
    """The statements that lead from a version of the layout to this one."""
    for step in (step for steps in migrations[found:] for step in steps):
        connection.execute(step)


def apart(whose: str, rows: Head, head: Head, why: str) -> LedgerDamagedError:
    """The error of rows and a head that do not belong together."""
    return LedgerDamagedError(
        f"{whose} has {rows.count} rows, and its head knows {head.count}, which do not belong together: rows were taken"
        f" away{why}. It is not believed.",
        rows=rows.count,
        head=head.count,
    )


def newer(found: int) -> LedgerError:
    """The refusal of a layout that this version does not know."""
    return LedgerError(
        f"the ledger has the layout of version {found}, and this package knows {VERSION}; use a newer"
        " noisewright. Nothing"
        " was changed.",
        version=found,
    )


def parts_of(url: str) -> SplitResult:
    """The parts of a URL; refuses one in which a password could be taken for something else, without showing it."""
    try:
        parts = urlsplit(url)
    except ValueError:
        raise InvalidInputError(_AMBIGUOUS) from None
    where = parts.netloc.rpartition("@")[2]
    if "@" in parts.path + parts.query + parts.fragment or parts.fragment or not _WHERE.fullmatch(where):
        raise InvalidInputError(_AMBIGUOUS)
    return parts


def without_password(url: str) -> str:
    """The URL without any password in it; what is shown, written and copied."""
    parts = parts_of(url)
    user, mark, place = parts.netloc.rpartition("@")
    kept = [(key, value) for key, value in parse_qsl(parts.query) if key.lower() not in _SECRET]
    return urlunsplit(parts._replace(netloc=user.partition(":")[0] + mark + place, query=as_query(kept)))


def as_query(pairs: list[tuple[str, str]]) -> str:
    """The query of a URL as PostgreSQL reads it, to which a plus sign is no space."""
    return urlencode(pairs, quote_via=quote)


def passwords_in(url: str) -> list[str]:
    """The passwords that a URL holds, so that messages of others can be freed of them."""
    parts = parts_of(url)
    found = [parts.netloc.rpartition("@")[0].partition(":")[2]]
    found += [value for key, value in parse_qsl(parts.query) if key.lower() in _SECRET]
    # As it was typed and as it is meant, the longer first, which may hold the shorter.
    spelled = {*found, *map(unquote, found), *map(quote, found)}
    return sorted((secret for secret in spelled if secret), key=len, reverse=True)


def hidden(text: str, secrets: list[str]) -> str:
    """Text of others without the secrets."""
    for secret in secrets:
        text = text.replace(secret, _HIDDEN)
    return text

"""One small interface over both stores, and which of them a URL means."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol
from urllib.parse import SplitResult, parse_qsl, quote, unquote, urlencode, urlsplit, urlunsplit

from noisewright.ledger.chain import Head, Row
from noisewright.problem.errors import InvalidInputError, LedgerError

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


def store_for(url: str | Path) -> Store:
    """The store that a URL or the path of a file means."""
    if isinstance(url, Path):
        return _sqlite(url)
    if not isinstance(url, str) or not url:
        raise InvalidInputError("url is no text; give the path of a file, or postgresql://user@host/database.")
    scheme, mark, rest = url.partition("://")
    if not mark and "password=" in url:
        raise InvalidInputError("url is a list of settings with a password; give postgresql://user@host/database.")
    if not mark:
        return _sqlite(Path(url))
    if scheme == "sqlite":
        # Three slashes and a path, as elsewhere: sqlite:///relative/path, sqlite:////absolute/path.
        if not rest.startswith("/") or rest == "/":
            raise InvalidInputError(f"url is {url}; give sqlite:///clinic.ledger, or the path alone.")
        return _sqlite(Path(rest[1:]))
    if scheme in ("postgresql", "postgres"):
        from noisewright.ledger.postgres import PostgresStore

        return PostgresStore(url)
    raise InvalidInputError(
        f"url begins with {scheme}://; give a path, sqlite:///path or postgresql://user@host/database."
    )


def _sqlite(path: Path) -> Store:
    from noisewright.ledger.sqlite import SQLiteStore

    return SQLiteStore(path)


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

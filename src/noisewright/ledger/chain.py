"""Rows in a chain: each holds the digest of the one before, so that none can be changed, removed or moved alone."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from noisewright.problem.errors import InvalidInputError, LedgerDamagedError

NOTHING = "0" * 64
"""What the first row has for the digest of the one before it."""


def canonical(data: Mapping[str, Any]) -> str:
    """The one text of plain data: sorted keys, no spaces, ASCII; numbers that are no integers are not allowed."""
    return json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def digest_of(body: str) -> str:
    """SHA-256 of a row's text."""
    return hashlib.sha256(body.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True)
class Head:
    """How many rows a ledger has and the digest of the last: kept elsewhere, it shows that rows were taken away."""

    count: int
    digest: str

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {"count": self.count, "digest": self.digest}

    @classmethod
    def from_dict(cls, data: Any) -> Head:
        """Inverse of `to_dict`; InvalidInputError for anything else."""
        whole = isinstance(data, Mapping) and type(data.get("count")) is int and data["count"] > 0
        if not whole or not isinstance(data.get("digest"), str) or len(data["digest"]) != len(NOTHING):
            raise InvalidInputError("a head has a count and a digest, as `noisewright ledger export` writes them.")
        return cls(data["count"], data["digest"])


@dataclass(frozen=True, slots=True)
class Row:
    """One row as it is stored: its place, the account it speaks of, its text and the digest of the text."""

    place: int
    account: str
    body: str
    digest: str

    @classmethod
    def after(cls, last: Head | None, account: str, content: Mapping[str, Any]) -> Row:
        """The row that follows the last one (None: the first row)."""
        place, previous = (0, NOTHING) if last is None else (last.count, last.digest)
        body = canonical({**content, "place": place, "previous": previous, "account": account})
        return cls(place, column(account), body, digest_of(body))

    @property
    def head(self) -> Head:
        """The head of a ledger that ends with this row."""
        return Head(self.place + 1, self.digest)

    def read(self) -> dict[str, Any]:
        """What the row says; LedgerDamagedError unless text, digest, place and account belong together."""
        if not isinstance(self.body, str) or digest_of(self.body) != self.digest:
            raise damaged(self.place, "its content does not fit its digest")
        try:
            data: dict[str, Any] = json.loads(self.body)
            place, account = data["place"], column(data["account"])
        except (ValueError, LookupError, TypeError, RecursionError) as error:
            raise damaged(self.place, f"it cannot be read ({type(error).__name__})") from None
        if place != self.place:
            raise damaged(self.place, f"it was written as row {place!r:.40}")
        if account != self.account:
            raise damaged(self.place, "it was written for another account")
        return data


def column(account: str) -> str:
    """The name of an account as stores keep it beside a row: ASCII, whatever was typed."""
    return json.dumps(account, ensure_ascii=True)


def damaged(place: object, why: str) -> LedgerDamagedError:
    """The error that names a row."""
    return LedgerDamagedError(
        f"row {place} of the ledger is damaged: {why}. Nothing was written; restore the ledger from a copy whose head"
        " is known, and count what was released since as spent.",
        row=place,
    )

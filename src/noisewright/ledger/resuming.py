"""What becomes of a charge is written beside it; one of which nothing was drawn may be finished, once.

Rule: at any time at most one holder of a charge may draw from it. A charge that may be finished by others says what
will be drawn (`undrawn`), and whoever draws from it first writes a row `drawing`. The first holder is who charged.
Under the lock of the ledger, and as long as no row `drawing` is there, somebody else may write that the charge is
resumed, and is the holder from there on, whether the one before failed, died or is still at work. Each row beside a
charge must follow the row that made its writer the holder: a holder that lost the charge cannot write `drawing`, and
therefore draws nothing from it. After `drawing` nobody else becomes the holder. So at most one answer of each charge is
drawn, whoever crashes where, and until then the charge is not lost.

What is charged or resumed because of what was read without the lock is asked again under it: of many that read the same
at the same instant one charges, or resumes, and the others are told that somebody was quicker.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property, partial
from threading import Lock
from typing import Any

from noisewright.ledger.chain import Row, canonical, column
from noisewright.ledger.charge import Charge
from noisewright.ledger.costed import accepted, certificate_of
from noisewright.ledger.deciding import clock, event
from noisewright.ledger.ledger import Ledger
from noisewright.ledger.stores import Reading

UNDRAWN, FAILED, DRAWN, ANSWERED = "undrawn", "failed", "drawn", "answered"
"""How a charge stands: nothing was drawn, and its holder may be at work; nothing was drawn, and its holder failed;
something may have been drawn, and no answer is there; its answer is there."""
_AT_A_TIME = 1000
_RELEASES: dict[tuple[int, str, str], Lock] = {}


def alone(ledger: Ledger, key: str) -> AbstractContextManager[Any]:
    """One release of a plan at a time in this process: who waits gets the stored answer, and takes no charge over."""
    return _RELEASES.setdefault((os.getpid(), ledger.url, key), Lock())


class _QuickerError(Exception):
    """Somebody else charged the same meanwhile."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What a ledger said of charges of one thing when it was read, without the lock."""

    answer: tuple[int, Any] | None
    """The charge and the text of the last answer to any charge of the name."""
    rows: int
    """How many rows were read."""
    _claimed: Mapping[int, tuple[Any, str]]
    _same: Same

    @property
    def standing(self) -> dict[int, str]:
        """How each charge stands, by its place; only those that have the certificates."""
        return {place: how for place, (proven, how) in self._claimed.items() if self._same.is_proven(proven)}


class Same:
    """The charges of a ledger whose labels begin with some words and that have the certificates of what `costed` gives.

    Those that say that something else will be drawn than `undrawn` are left out; of those that say nothing, something
    may have been drawn. `costed` is asked once, and not for a stored answer.
    """

    def __init__(self, ledger: Ledger, named: tuple[str, ...], undrawn: str, costed: Callable[[], Any]) -> None:
        self.ledger, self.named, self._undrawn, self._made = ledger, named, undrawn, costed

    @cached_property
    def _costed(self) -> Any:
        return self._made()

    @cached_property
    def _proven(self) -> str:
        return _text(certificate_of(accepted(self._costed)))

    def is_proven(self, certificate: Any) -> bool:
        """Whether the certificates of a row are those of what is about to be drawn."""
        return _text(certificate) == self._proven

    def look(self) -> Seen:
        """What the ledger says of them now: one reading of its rows, without the lock."""
        claimed: dict[int, tuple[Any, str]] = {}
        named, rows = set(), 0
        answer: tuple[int, Any] | None = None
        for row in self.ledger.rows():
            rows, beside = row["place"] + 1, row.get("charge")
            if row["event"] == "charge" and self._has_name(row):
                named.add(row["place"])
                if self._claims(row):
                    claimed[row["place"]] = row["certificate"], UNDRAWN if "undrawn" in row else DRAWN
            elif beside is not None and beside in named:
                answer = (beside, row["answer"]) if row["event"] == "answer" else answer
                if beside in claimed:
                    claimed[beside] = claimed[beside][0], _next(claimed[beside][1], row)
        return Seen(answer, rows, claimed, self)

    def charged(self, label: str, seen: Seen | None = None) -> Charge | None:
        """A new charge of it; with `seen`, None if there is another that was not seen: then nothing is spent.

        Guarantees: asked and written in one transaction of the ledger, so that of all who saw the same one charges.
        """
        check = None if seen is None else partial(self._require_none, seen.rows)
        try:
            return self.ledger.charge(self._costed, reason=label, undrawn=self._undrawn, check=check)
        except _QuickerError:
            return None

    def resumed(self, place: int, seen: Seen | None = None) -> Charge | None:
        """The charge of a row, which whoever asks now holds; None if something may have been drawn from it.

        None as well if a row beside it was not `seen`. Guarantees: what was charged has the certificates of `costed`,
        whatever a label says. Whoever held it before draws nothing from it, because what is asked and what is written
        are one transaction of the ledger, and so is `drawing`. It is durable before this returns.
        """
        ledger = self.ledger
        with ledger._store.change("nothing was drawn, and the charge is as it was") as transaction:
            made = transaction.at(place)
            facts, accounts = made.read(), ledger._accounts(transaction)
            if made.account != column(ledger.name) or facts["event"] != "charge":
                return None
            if not self.is_proven(facts["certificate"]) or facts.get("undrawn") != self._undrawn:
                return None
            beside = _beside(transaction, place)
            if any(row["event"] in ("drawing", "answer") for row in beside):
                return None
            if seen is not None and any(row["place"] >= seen.rows for row in beside):
                return None
            states = {account.name: account.state for account in accounts}
            row = Row.after(transaction.last().head, ledger.name, event("resumed", states, {"charge": place}, clock()))
            transaction.append(row)
        return Charge(place, made.digest, facts["label"], tuple(facts["rules"][ledger.name]), ledger._note, row.place)

    def _require_none(self, start: int, rows: Reading) -> None:
        """Refuse where a row from a place on is a charge of it."""
        while found := rows.rows(start, _AT_A_TIME):
            charges = (facts for row in found if (facts := row.read())["event"] == "charge")
            if any(self._has_name(row) and self._claims(row) and self.is_proven(row["certificate"]) for row in charges):
                raise _QuickerError
            start += len(found)

    def _has_name(self, row: Mapping[str, Any]) -> bool:
        return tuple(str(row.get("label", "")).split(" ")[: len(self.named)]) == self.named

    def _claims(self, row: Mapping[str, Any]) -> bool:
        """Whether a charge is of the account and does not say that something else will be drawn."""
        return bool(row["account"] == self.ledger.name and row.get("undrawn", self._undrawn) == self._undrawn)


def _next(before: str, row: Mapping[str, Any]) -> str:
    """How a charge stands after a row beside it."""
    if row["event"] in ("answer", "drawing"):
        return ANSWERED if row["event"] == "answer" else DRAWN
    if before in (UNDRAWN, FAILED):
        return FAILED if row["event"] == "failure" else UNDRAWN
    return before


def _text(certificate: Any) -> str:
    """Certificates as one text, from a row or from what is about to be drawn."""
    return canonical({"certificate": certificate})


def _beside(rows: Reading, place: int) -> list[dict[str, Any]]:
    """What was written beside a charge."""
    beside: list[dict[str, Any]] = []
    start, mark = place + 1, f'"charge":{place},'
    while found := rows.rows(start, _AT_A_TIME):
        beside += [facts for row in found if mark in row.body and (facts := row.read()).get("charge") == place]
        start += len(found)
    return beside

"""What becomes of a charge is written beside it; one of which nothing was drawn may be finished, once.

Rule: at any time at most one holder of a charge may draw from it. A charge that may be finished by others says what
will be drawn (`undrawn`), and whoever draws from it first writes a row `drawing`. The first holder is who charged.
Under the lock of the ledger, and as long as no row `drawing` is there, somebody else may write that the charge is
resumed, and is the holder from there on, whether the one before failed, died or is still at work. Each row beside a
charge must follow the row that made its writer the holder: a holder that lost the charge cannot write `drawing`, and
therefore draws nothing from it. After `drawing` nobody else becomes the holder. So at most one answer of each charge is
drawn, whoever crashes where, and until then the charge is not lost. [theory#one-charge-one-answer]

Which charges are of one thing is said by what only its price buys: the certificates in the row, and beside them the
digest of what is drawn, which is the `undrawn` of the row. Labels are for people; anybody may write any.

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

from noisewright.ledger.chain import Row, canonical
from noisewright.ledger.charge import Charge, is_whole
from noisewright.ledger.costed import Costed, accepted, certificate_of
from noisewright.ledger.deciding import clock, event
from noisewright.ledger.ledger import Ledger
from noisewright.ledger.stores import Reading
from noisewright.proof.provers import current_rule

UNDRAWN, FAILED, DRAWN, ANSWERED = "undrawn", "failed", "drawn", "answered"
"""How a charge stands: nothing was drawn, and its holder may be at work; nothing was drawn, and its holder failed;
something may have been drawn, and no answer is there; its answer is there."""
_AT_A_TIME = 1000
_RELEASES: dict[tuple[int, str, str], Lock] = {}


def alone(ledger: Ledger, drawn: str) -> AbstractContextManager[Any]:
    """One release of a thing at a time in this process: who waits gets the stored answer, and takes no charge over."""
    return _RELEASES.setdefault((os.getpid(), ledger.url, drawn), Lock())


class _QuickerError(Exception):
    """Somebody else charged the same meanwhile."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What a ledger said of charges of one thing when it was read, without the lock."""

    answer: tuple[int, Any] | None
    """The charge and what was read in the last answer that can be: to a charge of the account, or else of another."""
    cut: int | None
    """The charge of the account whose answer, after that, was too long to be kept whole."""
    rows: int
    """How many rows were read."""
    standing: Mapping[int, str]
    """How each charge of the account stands, by its place."""


class Same:
    """The charges of one thing in a ledger: those that name it by `drawn`, its digest, and have its very certificates.

    Guarantees: no label is looked at. What names something else, or costs something else, is none of them, whoever
    wrote it; whoever wrote one of them paid for the very mechanism. Charges of another account are never resumed and
    stop nothing; only an answer to one counts, where the account has none of its own. `costed` is what is
    charged; `read` gives what an answer says, None for what no draw can have given.
    """

    def __init__(self, ledger: Ledger, drawn: str, costed: Costed, read: Callable[[Any], Any | None]) -> None:
        self.ledger, self.drawn, self._costed, self._read = ledger, drawn, costed, read

    @cached_property
    def _proven(self) -> str:
        return _text(certificate_of(accepted(self._costed)))

    def holds(self, row: Mapping[str, Any]) -> bool:
        """Whether a row is a charge of it, of whatever account."""
        named = row["event"] == "charge" and row.get("undrawn") == self.drawn
        return named and _text(row["certificate"]) == self._proven

    def look(self) -> Seen:
        """What the ledger says of them now: one reading of its rows, without the lock."""
        standing: dict[int, str] = {}
        others, rows = set(), 0
        own: tuple[int, Any] | None = None
        other, cut = own, None
        for row in self.ledger.rows():
            rows, beside = row["place"] + 1, row.get("charge")
            if self.holds(row):
                if self._is_own(row):
                    standing[row["place"]] = UNDRAWN
                else:
                    others.add(row["place"])
            elif beside in standing:
                standing[beside] = _next(standing[beside], row)
                if row["event"] == "answer":
                    cut, own = (None, self._answer(row) or own) if is_whole(row["answer"]) else (beside, own)
            elif beside in others and row["event"] == "answer":
                other = self._answer(row) or other
        return Seen(own or other, cut, rows, standing)

    def charged(self, label: str, seen: Seen | None = None) -> Charge | None:
        """A new charge of it; with `seen`, None if there is another that was not seen: then nothing is spent.

        Guarantees: asked and written in one transaction of the ledger, so that of all who saw the same one charges.
        """
        check = None if seen is None else partial(self._require_none, seen.rows)
        try:
            return self.ledger.charge(self._costed, reason=label, undrawn=self.drawn, check=check)
        except _QuickerError:
            return None

    def resumed(self, place: int, seen: Seen | None = None) -> Charge | None:
        """The charge of a row, which whoever asks now holds; None if something may have been drawn from it.

        None as well if a row beside it was not `seen`. Guarantees: what was charged has the certificates of `costed`.
        Whoever held it before draws nothing from it, because what is asked and what is written are one transaction of
        the ledger, and so is `drawing`. It is durable before this returns.
        """
        ledger = self.ledger
        with ledger._store.change("nothing was drawn, and the charge is as it was") as transaction:
            made = transaction.at(place)
            facts, accounts = made.read(), ledger._accounts(transaction)
            if not self.holds(facts) or not self._is_own(facts):
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
        """Refuse where a row from a place on is a charge of it in the account."""
        while found := rows.rows(start, _AT_A_TIME):
            if any(self.holds(facts) and self._is_own(facts) for facts in (row.read() for row in found)):
                raise _QuickerError
            start += len(found)

    def _is_own(self, row: Mapping[str, Any]) -> bool:
        return bool(row["account"] == self.ledger.name)

    def _answer(self, row: Mapping[str, Any]) -> tuple[int, Any] | None:
        """The charge of an answer and what is read in it; None where that is nothing that was drawn."""
        found = self._read(row["answer"])
        return None if found is None else (row["charge"], found)


def _next(before: str, row: Mapping[str, Any]) -> str:
    """How a charge stands after a row beside it."""
    if row["event"] in ("answer", "drawing"):
        return ANSWERED if row["event"] == "answer" else DRAWN
    if before in (UNDRAWN, FAILED):
        return FAILED if row["event"] == "failure" else UNDRAWN
    return before


def _text(certificate: Any) -> str:
    """Certificates as one text, from a row or from what is about to be drawn, rules as they are called now."""
    return current_rule(canonical({"certificate": certificate}))


def _beside(rows: Reading, place: int) -> list[dict[str, Any]]:
    """What was written beside a charge."""
    beside: list[dict[str, Any]] = []
    start, mark = place + 1, f'"charge":{place},'
    while found := rows.rows(start, _AT_A_TIME):
        beside += [facts for row in found if mark in row.body and (facts := row.read()).get("charge") == place]
        start += len(found)
    return beside

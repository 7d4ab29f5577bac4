"""What becomes of a charge is written beside it; one of which nothing was drawn may be finished, once.

Rule: at any time at most one holder of a charge may draw from it. A charge that may be finished by others says what
will be drawn (`undrawn`), and whoever draws from it first writes a row `drawing`. The first holder is who charged.
Under the lock of the ledger, and as long as no row `drawing` is there, somebody else may write that the charge is
resumed, and is the holder from there on, whether the one before failed, died or is still at work. Each row beside a
charge must follow the row that made its writer the holder: a holder that lost the charge cannot write `drawing`, and
therefore draws nothing. After `drawing` nobody else becomes the holder. So at most one answer of each charge is drawn,
whoever crashes where, and until then the charge is not lost.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import AbstractContextManager
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


def standing(ledger: Ledger, named: tuple[str, ...], undrawn: str, costed: Any) -> dict[int, str]:
    """How each charge stands whose label begins with some words and that has the certificates of `costed`.

    Those that say that something else will be drawn than `undrawn` are left out; of those that say nothing, something
    may have been drawn. Asked without the lock: `resumed` asks again.
    """
    found: dict[int, str] = {}
    proven = _proven(certificate_of(accepted(costed)))
    for row in ledger.rows():
        if row["event"] == "charge" and row["account"] == ledger.name:
            own = tuple(str(row.get("label", "")).split(" ")[: len(named)]) == named
            if own and _proven(row["certificate"]) == proven and row.get("undrawn", undrawn) == undrawn:
                found[row["place"]] = UNDRAWN if "undrawn" in row else DRAWN
        elif row.get("charge") in found:
            found[row["charge"]] = _next(found[row["charge"]], row)
    return found


def _next(before: str, row: Mapping[str, Any]) -> str:
    """How a charge stands after a row beside it."""
    if row["event"] in ("answer", "drawing"):
        return ANSWERED if row["event"] == "answer" else DRAWN
    if before in (UNDRAWN, FAILED):
        return FAILED if row["event"] == "failure" else UNDRAWN
    return before


def _proven(certificate: Any) -> str:
    """Certificates as one text, from a row or from what is about to be drawn."""
    return canonical({"certificate": certificate})


def resumed(ledger: Ledger, place: int, undrawn: str, costed: Any) -> Charge | None:
    """The charge of a row, which whoever asks now holds; None if something may have been drawn from it.

    Guarantees: what was charged has the certificates of `costed`, whatever a label says. Whoever held it before draws
    nothing from it, because what is asked and what is written are one transaction of the ledger, and so is `drawing`.
    It is durable before this returns.
    """
    proven = _proven(certificate_of(accepted(costed)))
    with ledger._store.change("nothing was drawn, and the charge is as it was") as transaction:
        made = transaction.at(place)
        facts, accounts = made.read(), ledger._accounts(transaction)
        if made.account != column(ledger.name) or facts["event"] != "charge":
            return None
        if _proven(facts["certificate"]) != proven or facts.get("undrawn") != undrawn:
            return None
        if _was_drawn(transaction, place):
            return None
        states = {account.name: account.state for account in accounts}
        row = Row.after(transaction.last().head, ledger.name, event("resumed", states, {"charge": place}, clock()))
        transaction.append(row)
    return Charge(place, made.digest, facts["label"], tuple(facts["rules"][ledger.name]), ledger._note, row.place)


def _was_drawn(rows: Reading, place: int) -> bool:
    """Whether a row beside a charge says that something may have been drawn from it."""
    start, mark = place + 1, f'"charge":{place},'
    while found := rows.rows(start, _AT_A_TIME):
        beside = [facts for row in found if mark in row.body and (facts := row.read()).get("charge") == place]
        if any(facts["event"] in ("drawing", "answer") for facts in beside):
            return True
        start += len(found)
    return False

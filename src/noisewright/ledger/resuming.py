"""What becomes of a charge is written beside it; one that failed before anything was drawn may be finished, once.

Rule: at any time at most one holder of a charge may draw from it. The first is who charged. A holder that fails before
it draws says so in a failure that names what was charged (`undrawn`), and never draws afterwards. Under the lock of the
ledger, somebody else may then write that the charge is resumed, and is the holder from there on. What is written beside
a charge must follow the row that made its writer the holder: rows of one charge therefore alternate between undrawn
failures and resumptions, and end with an answer, another failure or a resumption whose holder died. So at most one
answer of each charge is drawn, whoever crashes where.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from noisewright.ledger.chain import Row, canonical, column
from noisewright.ledger.charge import Charge
from noisewright.ledger.costed import accepted, certificate_of
from noisewright.ledger.deciding import event, last_beside
from noisewright.ledger.ledger import Ledger


def unfinished(ledger: Ledger, named: tuple[str, ...], undrawn: str, costed: Any) -> int | None:
    """The place of the last charge whose label begins with some words and that failed before anything was drawn.

    Only a charge of the very same thing is found: its row has the certificates of `costed`, and its failure names it
    (`undrawn`). Asked without the lock: `resumed` asks again.
    """
    found: dict[int, bool] = {}
    proven = _proven(certificate_of(accepted(costed)))
    for row in ledger.rows():
        if row["event"] == "charge" and row["account"] == ledger.name:
            own = tuple(str(row.get("label", "")).split(" ")[: len(named)]) == named
            if own and _proven(row["certificate"]) == proven:
                found[row["place"]] = False
        elif row.get("charge") in found:
            found[row["charge"]] = row["event"] == "failure" and row.get("undrawn") == undrawn
    return max((place for place, failed in found.items() if failed), default=None)


def _proven(certificate: Any) -> str:
    """Certificates as one text, from a row or from what is about to be drawn."""
    return canonical({"certificate": certificate})


def resumed(ledger: Ledger, place: int, undrawn: str, costed: Any) -> Charge | None:
    """The charge of a row, which whoever asks now holds; None if it cannot be finished, or somebody else holds it.

    Guarantees: what was charged has the certificates of `costed`, whatever a label or a failure says. Of all that ask
    after one failure, at most one gets it, because what is asked and what is written are one transaction of the
    ledger. It is durable before this returns.
    """
    proven = _proven(certificate_of(accepted(costed)))
    with ledger._store.change("nothing was drawn, and the charge is as it was") as transaction:
        made, last = transaction.at(place), last_beside(transaction, place).read()
        facts, accounts = made.read(), ledger._accounts(transaction)
        if made.account != column(ledger.name) or facts["event"] != "charge":
            return None
        if _proven(facts["certificate"]) != proven:
            return None
        if last["event"] != "failure" or last.get("undrawn") != undrawn:
            return None
        states = {account.name: account.state for account in accounts}
        now = datetime.now(UTC).isoformat(timespec="microseconds")
        row = Row.after(transaction.last().head, ledger.name, event("resumed", states, {"charge": place}, now))
        transaction.append(row)
    return Charge(place, made.digest, facts["label"], tuple(facts["rules"][ledger.name]), ledger._note, row.place)

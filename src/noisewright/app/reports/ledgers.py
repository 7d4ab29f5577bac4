"""The page of a ledger: the budget, what was spent on what, what remains, and how to find out about changes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from noisewright.app.reports.blocks import NONE, Page, Section, command, facts, figure, paragraphs, points, table
from noisewright.app.reports.charts import lines
from noisewright.app.reports.designs import quoted
from noisewright.app.reports.sections import amount_card, guarantee, of_requirement
from noisewright.ledger.render import HEADER, burned, cleaned, listed, summary

if TYPE_CHECKING:
    from noisewright.ledger.ledger import Ledger

_MOST_ROWS = 500
_MOST_POINTS = 400


def ledger_page(ledger: Ledger, name: str) -> Page:
    """The page of a ledger that will be in a file of this name."""
    head = ledger.head.to_dict()
    rows = listed(list(ledger.rows()))
    budget = ledger.budget
    charges = sum(row[2] == "charge" for row in rows)
    whole = cleaned(ledger.url, 200) + (f", sub-budget {cleaned(ledger.name)}" if ledger.name else "")
    more = f" The last {_MOST_ROWS} of {len(rows):,}." if len(rows) > _MOST_ROWS else ""
    return Page(
        "Report of a ledger",
        f"The privacy budget kept in {whole}",
        f"{charges:,} charge{'' if charges == 1 else 's'} so far. {ledger.buys()}",
        [
            amount_card(budget, "all releases together"),
            ("Charges", f"{charges:,}"),
            ("Remaining", _remaining(ledger)),
        ],
        [
            guarantee(
                budget,
                of_requirement(budget),
                "everything that this ledger ever grants",
                whose="that you are in it",
            ),
            Section("Spent and remaining", remaining_of(ledger)),
            Section(
                "Every row",
                [
                    paragraphs(
                        f"Times are those of the machine’s clock. What a charge is for was written by people.{more}"
                    ),
                    table("Rows of the ledger, oldest first", HEADER, rows[-_MOST_ROWS:], words=len(HEADER)),
                ],
            ),
            _verification(ledger, head, name),
        ],
        head,
    )


def remaining_of(ledger: Ledger) -> list[str]:
    """The rules of a ledger with their sums, and the burn-down."""
    lines_of = {}
    for name, points_of in burned(ledger).items():
        step = -(-len(points_of) // _MOST_POINTS)
        lines_of[name] = [(float(x), 100 * y) for x, y in [*points_of[:-1:step], points_of[-1]]]
    drawn = lines(
        "Remaining budget",
        [(f"rule {name}", found) for name, found in lines_of.items()],
        "charges so far",
        "% of the limit that remains",
        counts=True,
    )
    moved = any(len(found) > 1 for found in lines_of.values())
    told = "What remains of each rule’s limit after each charge; a charge is granted while one rule holds."
    return [points(summary(ledger)), figure(drawn, told) if moved else NONE]


def _remaining(ledger: Ledger) -> str:
    """The share of its limit that remains of the rule with the most, rounded down."""
    shares = [points_of[-1][1] for points_of in burned(ledger).values()]
    return f"{math.floor(max(0.0, *shares) * 100)} %" if shares and not ledger.now().state.closed else "nothing"


def _verification(ledger: Ledger, head: dict[str, object], name: str) -> Section:
    return Section(
        "How to verify this ledger",
        [
            paragraphs(
                "Every row is chained to the one before. This file holds the head of the chain as it was when the page"
                " was made, so that the command finds any row that was changed, removed or put back since:"
            ),
            command(f"noisewright ledger verify {quoted(ledger.url)} --head {quoted(name)}"),
            facts([("Rows", f"{head['count']}"), ("Digest of the last one", str(head["digest"]))]),
            paragraphs(
                "What is checked is the ledger against the head in this file; the sentences and pictures are made from"
                " the ledger, but are not part of the check.",
                look="note",
            ),
        ],
    )

"""What the limits of a page keep of its own made-up table: a first number must not be far from that of all rows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

import noisewright as nw
from noisewright.release.ask.histogram import BinCount
from noisewright.release.plan.arranging import layout_of
from noisewright.release.plan.layout import ContributionBounds
from noisewright.release.run import transaction
from noisewright.release.run.checked_table import CheckedTable

LEAST = 0.95
_ALL = ContributionBounds(10**6, 10**6, False)


def shares(plan: Any, checked: CheckedTable) -> list[float]:
    """Of each grouping that rows are counted in, the share of the rows in its listed groups that the limits keep."""
    found = []
    for table in plan.layout.tables:
        if table.grouping.private or all(number.of_persons for number in table.aggregates):
            continue
        bins, keys = table.grouping.bins, table.grouping.keys
        # Cells that are answered together are one group, with the keys that they may stand beside.
        by = keys if table.together == 1 or bins else None
        asked = [BinCount(bins, by) if bins and table.together == 1 else nw.count(by=by)]
        kept, every = (sum(checked.true_aggregates(layout_of(asked, limits), 1)) for limits in (plan.limits, _ALL))
        if every:  # nothing is kept or left out of groups that nobody is in
            found.append(kept / every)
    return found


@contextmanager
def released_with_shares() -> Iterator[list[float]]:
    """The shares of every release that is made meanwhile."""
    found: list[float] = []
    released = transaction.released

    def watched(plan: Any, ledger: Any, checked: CheckedTable, **how: Any) -> Any:
        found.extend(shares(plan, checked))
        return released(plan, ledger, checked, **how)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(transaction, "released", watched)
        yield found

"""A small table with a ledger, and its charges by hand."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

import noisewright as nw
from noisewright.ledger.charge import Charge
from noisewright.release.run import idempotence as holding


def clinic(ledger: Any, epsilon: int = 3) -> nw.Dataset:
    """A table with a budget."""
    return nw.Dataset(pa.table({"id": [1, 1, 2]}), "id", name="x", budget=nw.PureDP(epsilon), ledger=ledger)


def events(ledger: nw.Ledger | None) -> list[str]:
    """The rows of a ledger, which is verified."""
    assert ledger is not None
    ledger.verify()
    return [row["event"] for row in ledger.rows()]


def charged(data: nw.Dataset, plan: Any) -> Charge:
    """A charge of a plan, from which nobody draws yet."""
    assert data.ledger is not None
    return data.ledger.charge(plan.price, reason=f"plan {plan.key}", undrawn=holding.undrawn(plan))


def taken(data: nw.Dataset, plan: Any) -> Charge | None:
    """Charge 1, taken over."""
    assert data.ledger is not None
    return holding.same_of(plan, data.ledger).resumed(1)

"""How long one more charge takes, after 100, 1,000, … 100,000 charges: durable, on SQLite and on PostgreSQL.

    python benchmarks/ledger.py [charges] [postgresql://…]

The ledger is made in a temporary folder. The history is filled with genuine charges, many to a transaction; the charges
that are timed are ordinary ones by one process: each opens the file, takes the lock, adds one row, syncs it and syncs
the head.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from contextlib import closing
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import noisewright as nw
from noisewright.ledger.chain import Row
from noisewright.ledger.costed import certificate_of, neighbours_of, question_of
from noisewright.ledger.deciding import Brought, decide
from noisewright.ledger.state import State
from noisewright.sample.certified import make_certified

LOOKED_AT = 200
TIME = "2000-01-01T00:00:00.000000+00:00"


def mechanism() -> nw.Certified:
    """A count whose charge fits a hundred thousand times."""
    law = nw.laws.DiscreteLaplace(10_000)
    query = nw.Scalar(1, integer=True)
    return make_certified(nw.mechanisms.Additive(query, law, nw.laws.Lattice.integers()), nw.PureDP("0.0001"))


def fill(ledger: nw.Ledger, counted: nw.Certified, until: int) -> None:
    """Charges up to so many rows, in one transaction, as the ledger itself would write them."""
    store: Any = ledger._store
    brought = Brought(counted.costs(), neighbours_of(counted))
    facts = {"question": question_of(counted), "certificate": certificate_of(counted)}
    account = ledger.now()
    with closing(store._connect()) as connection:
        connection.execute("BEGIN IMMEDIATE")
        last = ledger.head
        while last.count < until:
            _, content = decide([account], brought, {"label": f"charge {last.count}", **facts}, TIME)
            row = Row.after(last, "", content)
            values = (row.place, row.account, row.body, row.digest)
            connection.execute("INSERT INTO rows VALUES (?, ?, ?, ?)", values)
            last, account = row.head, replace(account, state=State.from_dict(content["accounts"][""]))
        connection.execute("COMMIT")
        store._write_head(last)


def timed(ledger: nw.Ledger, counted: nw.Certified, charges: int) -> list[float]:
    """Milliseconds of each charge."""
    taken = []
    for i in range(charges):
        start = time.perf_counter()
        ledger.charge(counted, reason=f"charge {i}")
        taken.append(1000 * (time.perf_counter() - start))
    return taken


def line(name: str, before: int, taken: list[float]) -> None:
    """One row of the table."""
    median, most = statistics.median(taken), sorted(taken)[int(0.95 * len(taken))]
    print(f"| {name} | {before:,} | {median:.1f} | {most:.1f} |")


def synced(folder: Path) -> float:
    """Milliseconds that the disk takes to sync a small file: what durability costs at least, several times a charge."""
    taken = []
    with (folder / "probe").open("wb") as file:
        for _ in range(100):
            start = time.perf_counter()
            file.write(b"x" * 512)
            file.flush()
            os.fsync(file.fileno())
            taken.append(1000 * (time.perf_counter() - start))
    return statistics.median(taken)


def main() -> None:
    """Run on SQLite, and on PostgreSQL if a URL is given."""
    charges = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    counted, budget = mechanism(), nw.PureDP(Fraction(charges, 10_000) + 1)
    print("| store | charges before | median ms | 95 of 100 within, ms |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        kept = nw.Ledger.create(folder / "kept.ledger", budget=budget)
        before = 100
        while before <= charges:
            fill(kept, counted, before)
            line("SQLite", before, timed(kept, counted, LOOKED_AT))
            before *= 10
        print(f"\none sync of a small file: {synced(folder):.2f} ms")
        start = time.perf_counter()
        found = kept.verify()
        print(f"verify: {found.rows:,} rows in {time.perf_counter() - start:.1f} s")
        start = time.perf_counter()
        nw.Ledger.open(folder / "kept.ledger")
        print(f"open:   {1000 * (time.perf_counter() - start):.1f} ms")
    if len(sys.argv) > 2:
        line("PostgreSQL", 0, timed(nw.Ledger.create(sys.argv[2], budget=budget), counted, LOOKED_AT))


if __name__ == "__main__":
    main()

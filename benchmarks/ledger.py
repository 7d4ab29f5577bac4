"""How long one more charge takes, after 10, 100, … 100,000 charges: durable, on SQLite and on PostgreSQL.

    python benchmarks/ledger.py [charges] [postgresql://…]

The ledger is made in a temporary folder; each charge opens the file, takes the lock, adds one row, syncs it and syncs the
head. Times are of single charges by one process, one after the other.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from fractions import Fraction
from pathlib import Path

import noisewright as nw
from noisewright.sample.certified import make_certified

LOOKED_AT = 200


def mechanism() -> nw.Certified:
    """A count whose charge fits a hundred thousand times."""
    law = nw.laws.DiscreteLaplace(10_000)
    query = nw.Scalar(1, integer=True)
    return make_certified(nw.mechanisms.Additive(query, law, nw.laws.Lattice.integers()), nw.PureDP("0.0001"))


def timed(ledger: nw.Ledger, counted: nw.Certified, charges: int) -> list[float]:
    """Seconds of each charge."""
    taken = []
    for i in range(charges):
        start = time.perf_counter()
        ledger.charge(counted, reason=f"charge {i}")
        taken.append(time.perf_counter() - start)
    return taken


def report(name: str, taken: list[float]) -> None:
    """Median and slowest of the charges around each power of ten."""
    print(f"{name:<12}{'charges before':>16}{'median ms':>12}{'slowest of ' + str(LOOKED_AT) + ', ms':>24}")
    place = LOOKED_AT
    marks = []
    while place < len(taken):
        marks.append(place)
        place *= 10
    for end in [*marks, len(taken)]:
        window = taken[max(0, end - LOOKED_AT) : end]
        print(f"{'':<12}{end:>16,}{1000 * statistics.median(window):>12.2f}{1000 * max(window):>24.2f}")


def main() -> None:
    """Run on SQLite, and on PostgreSQL if a URL is given."""
    charges = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    counted, budget = mechanism(), nw.PureDP(Fraction(charges, 10_000) + 1)
    with tempfile.TemporaryDirectory() as folder:
        kept = nw.Ledger.create(Path(folder) / "kept.ledger", budget=budget)
        report("SQLite", timed(kept, counted, charges))
        start = time.perf_counter()
        found = kept.verify()
        print(f"verify: {found.rows:,} rows in {time.perf_counter() - start:.1f} s")
        start = time.perf_counter()
        nw.Ledger.open(Path(folder) / "kept.ledger")
        print(f"open:   {1000 * (time.perf_counter() - start):.1f} ms")
    if len(sys.argv) > 2:
        report("PostgreSQL", timed(nw.Ledger.create(sys.argv[2], budget=budget), counted, charges // 10))


if __name__ == "__main__":
    main()

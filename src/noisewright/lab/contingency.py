"""Tables of counts: two published ones of 64 cells (Edwards 2000), or those that the data folder holds."""

from __future__ import annotations

from itertools import islice

import numpy as np

from noisewright.lab.tables import Table, all_fits
from noisewright.numerics.fields import Floats


def _counted(*rows: str) -> tuple[int, ...]:
    """The counts of a table written out in rows."""
    return tuple(int(count) for row in rows for count in row.split())


MILDEW = _counted(
    "0 16 1 0 0 1 0 0 3 1 7 0 0 0 1 0 0 4 1 0 0 1 0 0 1 0 4 0 0 0 0 0",
    "0 1 0 0 1 4 0 0 0 0 1 0 1 0 3 0 0 0 0 0 0 4 2 0 0 0 0 0 0 1 11 0",
)
"""Parental alleles at six loci of 70 strands of barley powder mildew; 22 cells are not empty."""

CZECH = _counted(
    "44 5 23 7 35 4 24 4 129 9 50 9 109 14 51 5 112 21 70 14 80 11 73 13 12 1 7 2 7 5 7 4",
    "40 7 32 3 12 3 25 0 145 17 80 16 67 17 63 14 67 9 66 14 33 8 57 11 23 4 13 3 9 2 16 4",
)
"""Six risk factors of 1,841 car workers; one cell is empty."""

_SHIPPED = ("mildew/mildew.csv", "reinis/reinis.csv")
_COUNTS = ("count", "counts", "freq", "frequency", "n")
_FEWEST, _MOST = 4, 4096


def cell_tables() -> list[tuple[str, Floats]]:
    """Two tables of counts with their names, the sparser one first; the package's own where the folder has none."""
    own = [("mildew (in the package)", _floats(MILDEW)), ("Czech car workers (in the package)", _floats(CZECH))]
    found = [(table.name, counts) for table, counts in islice(all_fits(_SHIPPED, _counts), 2)]
    chosen = [*found, *own[len(found) :]]
    return sorted(chosen, key=lambda named: -float(np.mean(named[1] == 0)))


def _counts(table: Table) -> Floats | None:
    """The column of counts, where there is one and it holds whole numbers of which some are positive."""
    name = table.named(*_COUNTS)
    values = None if name is None else table.numeric().get(name)
    if values is None or not _FEWEST <= len(values) <= _MOST or not np.isfinite(values).all():
        return None
    return values if (values >= 0).all() and (values == np.rint(values)).all() and values.any() else None


def _floats(counts: tuple[int, ...]) -> Floats:
    return np.array(counts, dtype=np.float64)

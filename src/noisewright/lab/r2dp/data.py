"""What the R2DP reproduction runs on: the stand-ins for its data, other tables of their kind, or data it makes."""

from __future__ import annotations

import numpy as np

from noisewright.lab.tables import Table, first_fit
from noisewright.numerics.fields import Floats

_BINS = 50
_INTERVALS_PER_DAY = 288
_FEWEST = 60
_SHIPPED_MOTION = "smart_building_pir/pir_5min.parquet"
_SHIPPED_GRAPH = "deezer_hu/edges.parquet"
_TIMES = ("timestamp", "time", "datetime", "date", "start_time")
_ACTIVE = ("active_minutes", "active", "motion", "events")
_ENDS = (("u", "v"), ("source", "target"), ("from", "to"), ("node1", "node2"), ("src", "dst"))


def motion_counts() -> tuple[Floats, str]:
    """How many rooms saw motion in each interval, in order of time; else any counts or numbers that follow in time."""
    found = first_fit([_SHIPPED_MOTION], _over_time) or first_fit([], _in_order)
    if found is not None:
        return found[1], f"motion: {found[0].name}, {len(found[1]):,} values in order (MERL is not to be had)"
    clock = np.arange(4 * _INTERVALS_PER_DAY)
    day = np.sin(2 * np.pi * clock / _INTERVALS_PER_DAY)
    return np.floor(12 + 11 * day + 3 * np.sin(clock * 1.7)), "motion: made (a daily wave)"


def _over_time(table: Table) -> Floats | None:
    """How many rows of each time are active; None where the table has no times, or too few."""
    time = table.named(*_TIMES)
    if time is None:
        return None
    known = np.array([v is not None and v == v for v in table.columns[time].tolist()])
    _, place = np.unique(table.columns[time][known].astype(str), return_inverse=True)
    column = table.named(*_ACTIVE)
    active = np.ones(len(place)) if column is None else (table.numeric().get(column, np.ones(len(known)))[known] > 0)
    counts = np.bincount(place, weights=active.astype(np.float64))
    return np.asarray(counts, dtype=np.float64) if len(counts) >= _FEWEST and np.ptp(counts) else None


def _in_order(table: Table) -> Floats | None:
    """The first column of numbers that is long enough and not all alike."""
    for values in table.numeric().values():
        finite = values[np.isfinite(values)]
        if len(finite) >= _FEWEST and np.ptp(finite):
            return finite
    return None


def motion_histogram(counts: Floats) -> list[int]:
    """A histogram of 50 bins over the moving average of six values: the paper's prior."""
    smooth = np.convolve(counts, np.ones(6) / 6, mode="valid")
    return [int(c) for c in np.histogram(smooth, bins=_BINS)[0]]


def degrees() -> tuple[Floats, str]:
    """The sorted degree sequence of a graph given by its edges."""
    found = first_fit([_SHIPPED_GRAPH], _degrees)
    if found is not None:
        nodes, edges = len(found[1]), int(found[1].sum()) // 2
        return found[1], f"degrees: {found[0].name}, {nodes:,} nodes and {edges:,} edges"
    ranks = np.arange(1, 5001)
    return np.sort(np.floor(60 / ranks**0.4) + 1), "degrees: made (a power law of 5,000 nodes)"


def _degrees(table: Table) -> Floats | None:
    """How many edges end at each node; None where the table is no list of edges."""
    named = next((pair for pair in _ENDS if table.named(pair[0]) and table.named(pair[1])), None)
    if named is not None:
        ends = [table.columns[str(table.named(name))] for name in named]
    elif len(table.columns) == 2 and len(table.numeric()) == 2:
        ends = list(table.columns.values())
        if not all(np.array_equal(v, np.round(v)) for v in ends):
            return None
    else:
        return None
    both = np.concatenate([values.astype(str) for values in ends])
    return np.sort(np.unique(both, return_counts=True)[1]).astype(np.float64) if len(both) >= _FEWEST else None

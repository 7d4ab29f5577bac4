"""What the R2DP reproduction runs on: the stand-ins for its data, or data the package makes."""

from __future__ import annotations

import numpy as np

from noisewright.lab.data import dataset
from noisewright.numerics.arrays import Floats

_BINS = 50
_INTERVALS_PER_DAY = 288


def motion_counts() -> tuple[Floats, str]:
    """How many rooms saw motion in each interval of five minutes, in order of time."""
    path = dataset("smart_building_pir/pir_5min.parquet")
    if path is None:
        clock = np.arange(4 * _INTERVALS_PER_DAY)
        day = np.sin(2 * np.pi * clock / _INTERVALS_PER_DAY)
        return np.floor(12 + 11 * day + 3 * np.sin(clock * 1.7)), "motion: made (a daily wave)"
    import pyarrow.parquet as parquet

    table = parquet.read_table(path, columns=["timestamp", "active_minutes"])
    _, place = np.unique(table["timestamp"].to_numpy(), return_inverse=True)
    active = table["active_minutes"].to_numpy() > 0
    counts = np.bincount(place, weights=active.astype(np.float64))
    return np.asarray(
        counts, dtype=np.float64
    ), "motion: smart_building_pir (stands in for MERL, which is not to be had)"


def motion_histogram(counts: Floats) -> list[int]:
    """A histogram of 50 bins over the moving average of half an hour: the paper's prior."""
    smooth = np.convolve(counts, np.ones(6) / 6, mode="valid")
    return [int(c) for c in np.histogram(smooth, bins=_BINS)[0]]


def degrees() -> tuple[Floats, str]:
    """The sorted degree sequence of the friendship graph."""
    path = dataset("deezer_hu/edges.parquet")
    if path is None:
        ranks = np.arange(1, 5001)
        return np.sort(np.floor(60 / ranks**0.4) + 1), "degrees: made (a power law of 5,000 nodes)"
    import pyarrow.parquet as parquet

    table = parquet.read_table(path)
    both = np.concatenate([table["u"].to_numpy(), table["v"].to_numpy()])
    counts = np.bincount(both)
    name = "degrees: deezer_hu, the graph whose counts the paper prints as Facebook"
    return np.sort(counts[counts > 0]).astype(np.float64), name

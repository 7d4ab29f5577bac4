"""Columns of the composite paper's datasets, and what its queries ask of them."""

from __future__ import annotations

import csv
import gzip
import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from noisewright.lab.data import dataset

_MADE_ROWS = 500


@dataclass(frozen=True, slots=True)
class Column:
    """One column: where it is from, its values, and the range that is known without looking at them."""

    source: str
    name: str
    values: tuple[float, ...]
    bounds: tuple[float, float]


def mode(values: tuple[float, ...]) -> float:
    """The most frequent value, the smallest of several."""
    counts = Counter(values)
    top = max(counts.values())
    return min(v for v, n in counts.items() if n == top)


def variance(values: tuple[float, ...]) -> float:
    """Mean squared distance to the mean."""
    centre = math.fsum(values) / len(values)
    return math.fsum((v - centre) ** 2 for v in values) / len(values)


QUERIES: dict[str, Callable[[tuple[float, ...]], float]] = {
    "Mode": mode,
    "Variance": variance,
    "Maximum": max,
    "Minimum": min,
    "Mean": lambda values: math.fsum(values) / len(values),
    "Count": lambda values: float(len(values)),
}
"""What the paper asks, by its names."""


def sensitivity(query: str, column: Column) -> float:
    """What one person who replaces his value can change: for a mode or an extreme that is the whole range."""
    width, n = column.bounds[1] - column.bounds[0], len(column.values)
    if query == "Mean":
        return width / n
    if query == "Variance":
        return width**2 * (n - 1) / n**2
    return 1.0 if query == "Count" else width


def columns() -> list[Column]:
    """One column of each dataset; where a dataset is not to be had, one that the package makes, which says so."""
    return [
        _from_csv("diabetes", "pima_diabetes/diabetes.csv", "BloodPressure", (0, 130)),
        _hospital(),
        _from_csv("running", "running_heart_rate/s1_heart_data.csv.gz", "altitude_start", (150, 250)),
    ]


def _from_csv(label: str, path: str, name: str, bounds: tuple[float, float]) -> Column:
    found = dataset(path)
    if found is None:
        return _made(label, name, bounds)
    stand_in = "early version of the running data" if label == "running" else "Pima diabetes"
    return Column(f"{label} ({stand_in})", name, _clamped(_read(found, name), bounds), bounds)


def _read(path: Path, name: str) -> list[float]:
    raw = path.read_bytes()
    text = (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode("utf-8")
    return [float(row[name]) for row in csv.DictReader(text.splitlines()) if row[name] not in ("", "NA")]


def _hospital() -> Column:
    bounds = (0.0, 120.0)
    found = dataset("support2_icu/support2.parquet")
    try:
        from pyarrow import parquet
    except ImportError:
        found = None
    if found is None:
        return _made("hospital", "age", bounds)
    values = [float(v) for v in parquet.read_table(found, columns=["age"]).column("age").to_pylist() if v is not None]
    return Column("hospital (SUPPORT2, stand-in for the ICU table)", "age", _clamped(values, bounds), bounds)


def _clamped(values: list[float], bounds: tuple[float, float]) -> tuple[float, ...]:
    return tuple(min(max(v, bounds[0]), bounds[1]) for v in values if math.isfinite(v))


def _made(label: str, name: str, bounds: tuple[float, float]) -> Column:
    """Values spread over the middle of the range, the same on every machine."""
    low, high = bounds
    values = tuple(low + (high - low) * (0.3 + 0.4 * ((i * 0.6180339887498949) % 1)) for i in range(_MADE_ROWS))
    return Column(f"{label} (made by the package: the dataset is not here)", name, values, bounds)

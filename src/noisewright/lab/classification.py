"""Adult and KDD'99 as naive Bayes sees them: columns, categories and bounds that are public knowledge."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

ADULT_NUMERIC = {
    "age": (17.0, 90.0),
    "fnlwgt": (0.0, 1_000_000.0),
    "education-num": (1.0, 16.0),
    "capital-gain": (0.0, 20_000.0),
    "capital-loss": (0.0, 4_000.0),
    "hours-per-week": (1.0, 99.0),
}


@dataclass(frozen=True, slots=True)
class Task:
    """Training and test rows, which columns are categorical, and bounds of the others."""

    name: str
    train: tuple[NDArray[np.float64], NDArray[np.int64]]
    test: tuple[NDArray[np.float64], NDArray[np.int64]]
    categorical: dict[int, int]
    bounds: dict[int, tuple[float, float]]


def _columns(path: Path) -> dict[str, NDArray[Any]]:
    import pyarrow.parquet as parquet

    table = parquet.read_table(path)
    return {name: table[name].to_numpy(zero_copy_only=False) for name in table.column_names}


def adult(path: Path) -> Task:
    """Income above 50k; the publisher's own split."""
    columns = {name.replace("_", "-"): values for name, values in _columns(path).items()}
    target = next(name for name in ("income", "class", "label") if name in columns)
    labels = np.array([str(v).strip().startswith(">50K") for v in columns.pop(target)], dtype=np.int64)
    train = np.array([str(v) == "train" for v in columns.pop("split")])
    return _task("Adult", columns, labels, train, ADULT_NUMERIC)


def kdd(path: Path, rows: int) -> Task:
    """Attack or not; every few rows of the file, four fifths of them to train on."""
    columns = _columns(path)
    target = next(name for name in ("label", "class", "target", "labels") if name in columns)
    stride = max(1, len(columns[target]) // rows)
    columns = {name: values[::stride] for name, values in columns.items()}
    labels = np.array([not _text(v).startswith("normal") for v in columns.pop(target)], dtype=np.int64)
    train = np.arange(len(labels)) % 5 != 0
    bounds = {}
    for name, values in columns.items():
        if not isinstance(values[0], str | bytes):
            # Rates lie in [0, 1], host counts in [0, 255], the rest is on a scale of thousands.
            top = 1.0 if name.endswith("rate") else 255.0 if name.startswith("dst_host") else 511.0
            bounds[name] = (0.0, 1000.0 if name.endswith("bytes") or name == "duration" else top)
    return _task("KDD'99", columns, labels, train, bounds)


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


def _task(
    name: str,
    columns: dict[str, NDArray[Any]],
    labels: NDArray[np.int64],
    train: NDArray[np.bool_],
    bounds: dict[str, tuple[float, float]],
) -> Task:
    categorical, numeric, matrix = {}, {}, []
    for j, (column, values) in enumerate(columns.items()):
        if column in bounds:
            numeric[j] = bounds[column]
            matrix.append(values.astype(np.float64))
        else:
            kinds, coded = np.unique(np.array([_text(v) for v in values]), return_inverse=True)
            categorical[j] = len(kinds)
            matrix.append(coded.astype(np.float64))
    rows = np.column_stack(matrix)
    return Task(name, (rows[train], labels[train]), (rows[~train], labels[~train]), categorical, numeric)


def made_task(rows: int = 4000) -> Task:
    """Data the package makes: two classes that differ in two categories and two numbers, without randomness."""
    index = np.arange(rows)
    labels = (index * 7919 % 1000 < 300).astype(np.int64)
    wave = (index * 0.6180339887) % 1.0
    first = np.floor((wave + 0.35 * labels) * 4) % 5
    second = np.floor(((index * 0.7548776662) % 1.0 + 0.2 * labels) * 3) % 4
    third = (index * 0.5698402910) % 1.0 * 50 + 20 * labels
    fourth = (index * 0.8191725134) % 1.0 * 10 - 3 * labels
    matrix = np.column_stack([first, second, third, fourth])
    train = index % 5 != 0
    bounds = {2: (0.0, 80.0), 3: (-5.0, 10.0)}
    return Task("made", (matrix[train], labels[train]), (matrix[~train], labels[~train]), {0: 5, 1: 4}, bounds)

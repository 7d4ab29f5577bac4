"""Tables as naive Bayes sees them: columns, categories, bounds, and a class to guess."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.lab.composite_data import rounded_range
from noisewright.lab.tables import Table, all_fits, kinds_of, label_of, positive

SHIPPED = ("adult/adult.parquet", "kddcup99_10pct/kddcup99_10pct.parquet")
_TASKS = 2
_FEWEST = 200
_MOST_KINDS = 200
_MOST_SPLIT = 60_000
_KNOWN = {
    "age": (17.0, 90.0),
    "fnlwgt": (0.0, 1_000_000.0),
    "education_num": (1.0, 16.0),
    "capital_gain": (0.0, 20_000.0),
    "capital_loss": (0.0, 4_000.0),
    "hours_per_week": (1.0, 99.0),
    "duration": (0.0, 1000.0),
    "src_bytes": (0.0, 1000.0),
    "dst_bytes": (0.0, 1000.0),
}
"""Bounds of columns of the shipped tables that are known without looking at them."""


@dataclass(frozen=True, slots=True)
class Task:
    """Training and test rows, which columns are categorical, and bounds of the others."""

    name: str
    train: tuple[NDArray[np.float64], NDArray[np.int64]]
    test: tuple[NDArray[np.float64], NDArray[np.int64]]
    categorical: dict[int, int]
    bounds: dict[int, tuple[float, float]]


def tasks(rows: int) -> list[Task]:
    """The shipped tables, else the first two tables with something to guess; every few rows of a long one."""
    return [task for _, task in islice(all_fits(SHIPPED, lambda table: task_of(table, rows)), _TASKS)]


def task_of(table: Table, rows: int) -> Task | None:
    """What can be guessed from a table; None where it has no classes, too few rows or no other column."""
    label = label_of(table)
    if label is None or table.rows < _FEWEST:
        return None
    split = table.named("split")
    stride = max(1, table.rows // (rows if split is None else _MOST_SPLIT))
    columns = {name: values[::stride] for name, values in table.columns.items()}
    labels = positive(columns.pop(label))
    parts = None if split is None else columns.pop(split)
    train = np.arange(len(labels)) % 5 != 0 if parts is None else parts == parts[0]
    matrix, categorical, bounds = _encoded(columns, table.name in SHIPPED)
    if not matrix or not 0 < int(labels[train].sum()) < int(train.sum()) or bool(train.all()):
        return None
    values = np.column_stack(matrix)
    return Task(table.name, (values[train], labels[train]), (values[~train], labels[~train]), categorical, bounds)


def _encoded(
    columns: dict[str, NDArray[Any]], shipped: bool
) -> tuple[list[NDArray[np.float64]], dict[int, int], dict[int, tuple[float, float]]]:
    """Columns of numbers with bounds and of categories in whole numbers; what differs from row to row is left out."""
    matrix: list[NDArray[np.float64]] = []
    categorical: dict[int, int] = {}
    bounds: dict[int, tuple[float, float]] = {}
    for column, values in columns.items():
        kinds = kinds_of(values)
        place = len(matrix)
        if np.issubdtype(values.dtype, np.floating):
            if len(kinds) < 2:
                continue
            bounds[place] = (shipped and _KNOWN.get(column.replace("-", "_"))) or rounded_range(tuple(kinds))
            middle = sum(bounds[place]) / 2
            matrix.append(np.where(np.isfinite(values), values, middle))
        elif 2 <= len(kinds) <= _MOST_KINDS:
            categorical[place] = len(kinds) + 1
            places = {kind: i for i, kind in enumerate(kinds)}
            matrix.append(np.array([places.get(v, len(kinds)) for v in values.tolist()], dtype=np.float64))
    return matrix, categorical, bounds


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

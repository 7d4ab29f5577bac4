"""The Adult table with the fourteen attributes and sizes that papers on marginals use."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.lab.tables import dataset

NAMED = ("workclass", "marital_status", "occupation", "relationship", "race", "sex", "native_country", "income")
ORDER = (
    "age", "workclass", "fnlwgt", "education_num", "marital_status", "occupation", "relationship", "race", "sex",
    "capital_gain", "capital_loss", "hours_per_week", "native_country", "income",
)  # fmt: skip
"""The attributes in order; their sizes are 85, 9, 100, 16, 7, 15, 6, 5, 2, 100, 100, 99, 42 and 2."""
BINS = {"fnlwgt": (10_000, 14_900), "capital_gain": (0, 1_000), "capital_loss": (0, 50)}
"""Where the hundred bins of a number begin, and how wide they are; their upper ends belong to them."""
FIRST = {"age": 16, "education_num": 1, "hours_per_week": 1}


def read_adult() -> dict[tuple[int, ...], int] | None:
    """How many people are in each cell that is not empty; None where the data are not at hand."""
    path = dataset("adult/adult.parquet")
    if path is None:
        return None
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(path, columns=list(ORDER))
    columns = [_codes(name, table.column(name).to_pylist()) for name in ORDER]
    return dict(Counter(zip(*(column.tolist() for column in columns), strict=True)))


def _codes(name: str, values: list[Any]) -> NDArray[np.int64]:
    if name in NAMED:
        places = {value: i for i, value in enumerate(sorted(set(values)))}
        return np.array([places[value] for value in values], dtype=np.int64)
    numbers = np.array(values, dtype=np.int64)
    if name in BINS:
        start, width = BINS[name]
        return np.maximum(numbers - start - 1, 0) // width
    return numbers - FIRST[name]

"""Tables with everything that real ones have: missing values, NaN, infinities, text among numbers, heavy persons."""

from __future__ import annotations

import math
from random import Random
from typing import Any

import pyarrow as pa

FLOATS = [
    None,
    math.nan,
    math.inf,
    -math.inf,
    -0.0,
    0.0,
    5e-324,
    1e300,
    -1e300,
    0.5,
    1.5,
    2.5,
    0.05,
    0.15,
    99.95,
    120.0,
]
TEXTS = [
    *(
        None,
        "",
        "12",
        " 7 ",
        "1e2",
        "-3.5",
        "+.5",
        "5.",
        "abc",
        "1_000",
        "0x10",
        "12d",
        "nan",
        "inf",
        "1e999",
        "1e-400",
    ),
    *("٣", "1,5", "--1", "1e", "9" * 41, "1e199", "-1e199", "0.05", "99.95", "1\n", "NULL"),
]
WHOLES = [None, 0, 1, -1, 7, 119, 121, 2**62, -(2**63), 2**53 + 1]
KEYS = ["A", "a", "Ä", "ß", "日本", "'; DROP TABLE t; --", '"', "A ", "", "other"]


def hostile(count: int, persons: int, seed: int, *, text_units: bool = False) -> list[dict[str, Any]]:
    """Rows with hostile values; the first person has a quarter of all rows, some rows belong to nobody."""
    random = Random(seed)
    rows = []
    for place in range(count):
        person: Any = 0 if place % 4 == 0 else random.randrange(persons)
        person = (person - 3) * 7 if random.random() < 0.97 else None
        rows.append(
            {
                "id": f"pérson {person}" if text_units and person is not None else person,
                "f": random.choice(FLOATS) if random.random() < 0.6 else random.uniform(-20, 140),
                "t": random.choice(TEXTS),
                "w": random.choice(WHOLES),
                "k": random.choice([*KEYS, None]),
                "b": random.choice([True, False, None]),
            }
        )
    return rows


def arrow(rows: list[dict[str, Any]], *, text_units: bool = False) -> pa.Table:
    """The same rows as an Arrow table."""
    kinds = {
        "id": pa.string() if text_units else pa.int64(),
        "f": pa.float64(),
        "t": pa.string(),
        "w": pa.int64(),
        "k": pa.string(),
        "b": pa.bool_(),
    }
    return pa.table({name: pa.array([row[name] for row in rows], kind) for name, kind in kinds.items()})


SPEC = """
[dataset]
source = "{source}"
unit = "id"
budget = {{ epsilon = 3 }}
ledger = "{ledger}"

[privacy]
epsilon = 1

[keys.kinds]
columns = "k"
values = ["A", "a"]

[[ask]]
kind = "count"
by = "kinds"
"""
"""A spec file about a table of visits, wherever it is."""

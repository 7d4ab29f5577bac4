"""Engines for the one suite: the same Python rows become a table of each.

An engine is one line of `ENGINES`: how a backend of Ibis is connected, with a session that is set as awkwardly as it
allows (a time zone of half an hour, for one), because no setting of a session may change a number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import count
from typing import Any

import ibis
import pyarrow as pa

ENGINES: dict[str, Callable[[], Any]] = {
    "duckdb": lambda: _with(ibis.duckdb.connect(), "SET TimeZone = 'America/St_Johns'"),
}
KINDS: dict[str, pa.DataType] = {
    "whole": pa.int64(),
    "double": pa.float64(),
    "text": pa.string(),
    "boolean": pa.bool_(),
    "date": pa.date32(),
    "time": pa.timestamp("us"),
    "instant": pa.timestamp("us", "UTC"),
}
"""What a column of Python values is stored as; dates are days and times microseconds from the beginning of 1970."""
_STORED = {"date": pa.int32(), "time": pa.int64(), "instant": pa.int64()}
_NAMES = (f"table {number}" for number in count())


def _with(backend: Any, *settings: str) -> Any:
    for setting in settings:
        backend.raw_sql(setting)
    return backend


def load(backend: Any, kinds: Mapping[str, str], rows: Iterable[Mapping[str, Any]]) -> Any:
    """The rows as a table of the engine, of Ibis."""
    listed = list(rows)
    columns = {
        name: pa.array([row[name] for row in listed], _STORED.get(kind, KINDS[kind])).cast(KINDS[kind])
        for name, kind in kinds.items()
    }
    return backend.create_table(next(_NAMES), pa.table(columns))

"""Frames in memory as Arrow tables, with the types that their schema says; no value is looked at to choose one."""

from __future__ import annotations

from typing import Any

from noisewright.problem.errors import InvalidTableError
from noisewright.release.names import require_distinct

_COARSE = {"s": 10**6, "ms": 10**3}
"""Units of time that are coarser than a microsecond, and how many of them it takes."""


def from_pandas(frame: Any) -> Any:
    """A frame of pandas as an Arrow table."""
    import pyarrow as pa

    if not all(isinstance(name, str) for name in frame.columns):
        raise InvalidTableError("the columns of a frame must be named by texts; rename them.")
    require_distinct(list(frame.columns))
    columns = {}
    for name in frame.columns:
        try:
            columns[name] = pa.array(frame[name], from_pandas=_missing(frame[name]))
        except pa.ArrowException:
            # Of mixed types: every value as its text, which is then read by our own grammar.
            columns[name] = pa.array([None if _is_missing(value) else str(value) for value in frame[name]], pa.string())
    return _plain_columns(pa.table(columns))


def _missing(column: Any) -> bool:
    """Whether NaN means a missing value in this column: in columns of objects it does."""
    return bool(column.dtype == object)


def _is_missing(value: Any) -> bool:
    return value is None or value != value or type(value).__name__ in ("NAType", "NaTType")


def from_polars(frame: Any) -> Any:
    """A frame of polars as an Arrow table."""
    if not hasattr(frame, "to_arrow"):
        raise InvalidTableError("this is a lazy frame; give frame.collect(), or the file that it reads.")
    return _plain_columns(frame.to_arrow())


def from_arrow(table: Any) -> Any:
    """An Arrow table whose columns every engine reads alike."""
    if not hasattr(table, "to_batches") or not hasattr(table, "column_names"):
        raise InvalidTableError("give an Arrow table, such as pyarrow.Table.")
    return _plain_columns(table)


def _plain_columns(table: Any) -> Any:
    """Categories as their values, because codes depend on who is in the table; times in microseconds."""
    import pyarrow as pa

    for place, field in enumerate(table.schema):
        if pa.types.is_dictionary(field.type):
            table = table.set_column(place, field.name, table.column(place).cast(field.type.value_type))
        elif pa.types.is_null(field.type):
            # A column without any value has the type of no value; it is read like one of texts that are all missing.
            table = table.set_column(place, field.name, table.column(place).cast(pa.string()))
        elif pa.types.is_timestamp(field.type) and field.type.unit in _COARSE:
            table = table.set_column(place, field.name, _microseconds(table.column(place), field.type))
    return table


def _microseconds(times: Any, kind: Any) -> Any:
    """Times that count seconds or milliseconds in microseconds; NULL beyond what 64 bits of them hold.

    DuckDB would cast them by itself, and fail on such a value after the charge.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    factor = _COARSE[kind.unit]
    whole, most = times.cast(pa.int64()), (2**63 - 2) // factor
    inside = pc.and_(pc.less_equal(whole, most), pc.greater_equal(whole, -most))
    kept = pc.if_else(inside, whole, pa.scalar(None, pa.int64()))
    return pc.multiply(kept, factor).cast(pa.timestamp("us", kind.tz))


READERS = {"pandas": from_pandas, "polars": from_polars, "pyarrow": from_arrow}
"""By the module that a frame comes from, how it is read."""
_NAMES = ("DataFrame", "LazyFrame", "Table")


def frame_kind(source: Any) -> str | None:
    """The module of a frame that can be read; None for anything else."""
    module = type(source).__module__.partition(".")[0]
    return module if module in READERS and type(source).__name__ in _NAMES else None


def is_spark(source: Any) -> bool:
    """Whether it is a table of Spark; Spark is not needed to know."""
    return type(source).__module__.startswith("pyspark.") and hasattr(source, "sparkSession")


def require_valid(data: Any) -> None:
    """Refuse frames whose text is no UTF-8, or that are broken in another way: an engine would fail in the middle."""
    import pyarrow as pa

    broken = False
    try:
        data.validate(full=True)
    except pa.ArrowInvalid:
        broken = True
    if broken:
        raise InvalidTableError(
            "the frame holds text that is no UTF-8, or is broken in another way (Table.validate(full=True) says how);"
            " make it anew. Nothing was spent."
        )


def content(data: Any) -> str:
    """A digest of a public table."""
    from hashlib import sha256

    found = sha256()
    for batch in data.combine_chunks().to_batches():
        found.update(batch.serialize())
    return found.hexdigest()


def has_memory(data: Any) -> bool:
    """Whether it is a frame, a column or an array, whose memory others may share."""
    return type(data).__module__.partition(".")[0] in (*READERS, "numpy")


def spans(data: Any) -> list[tuple[int, int]]:
    """Where the values of a frame, a column or an array begin and end in memory; nothing is copied to find out."""
    kind = type(data).__module__.partition(".")[0]
    if kind == "pandas":
        columns = [column for _, column in data.items()] if hasattr(data, "columns") else [data]
        return [span for column in columns for span in _of_pandas(column.array)]
    if kind == "polars":
        return _of_polars(data)
    if kind == "pyarrow":
        return _of_arrow(data)
    return _of_numpy(data)


def _of_pandas(column: Any) -> list[tuple[int, int]]:
    """Of a column of pandas, whatever stands behind it: an array of numpy, of Arrow, or one with a mask or codes."""
    if hasattr(column, "_pa_array"):
        return _of_arrow(column._pa_array)
    return _of_numpy(next((getattr(column, name) for name in ("_ndarray", "_data") if hasattr(column, name)), None))


def _of_polars(data: Any) -> list[tuple[int, int]]:
    """Of the Arrow form that shares memory; columns of Python objects have none, and lazy frames no values."""
    import polars as pl

    if isinstance(data, pl.LazyFrame):
        return []
    shared = data if isinstance(data, pl.DataFrame) else data.to_frame()
    return _of_arrow(shared.select(pl.exclude(pl.Object)).to_arrow(compat_level=pl.CompatLevel.newest()))


def _of_arrow(data: Any) -> list[tuple[int, int]]:
    """Of tables and arrays; what reads files or streams has no values in memory."""
    columns = data.columns if hasattr(data, "column_names") else [data]
    arrays = [array for column in columns for array in getattr(column, "chunks", [column])]
    buffers = [buffer for array in arrays if hasattr(array, "buffers") for buffer in array.buffers()]
    return [(buffer.address, buffer.address + buffer.size) for buffer in buffers if buffer is not None and buffer.size]


def _of_numpy(data: Any) -> list[tuple[int, int]]:
    import numpy as np

    return [np.lib.array_utils.byte_bounds(data)] if isinstance(data, np.ndarray) and data.size else []

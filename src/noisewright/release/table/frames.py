"""Frames of pandas, polars and Arrow: read as Arrow tables, found in memory, and made of answers.

A frame is read with the types that its schema says; no value is looked at to choose one. Answers come back as a tidy
frame, one row for each question and group, in the kind of frame that the caller works with.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from noisewright.problem.errors import InvalidTableError
from noisewright.problem.records import digest
from noisewright.release.table.names import require_distinct

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from pandas.api.extensions import ExtensionArray


def unread(name: str, kind: object) -> InvalidTableError:
    """The refusal of a column by its name and type; none of its values is told."""
    return InvalidTableError(
        f"{name!r} holds {kind}, which is not read; make its values texts, numbers, truth values, dates or times, or"
        " leave the column out. Nothing was spent.",
        column=name,
    )


def from_pandas(frame: pd.DataFrame) -> pa.Table:
    """A frame of pandas as an Arrow table."""
    import pyarrow as pa

    if not all(isinstance(name, str) for name in frame.columns):
        raise InvalidTableError("the columns of a frame must be named by texts; rename them.")
    require_distinct(list(frame.columns))
    return pa.table([_of_column(frame[name], name) for name in frame.columns], list(frame.columns))


def _of_column(column: pd.Series, name: str) -> pa.Array:
    """A column of pandas as an Arrow array.

    Of mixed types, every value as its text, which is then read by our own grammar. Whatever an object of the caller's
    raises when it is asked for its text, the refusal tells the name of its column alone.
    """
    import pyarrow as pa

    for read in (_as_it_is, _as_texts):
        try:
            return read(column)
        except pa.ArrowException:
            continue
        except Exception:  # noqa: BLE001 -- of objects of the caller's, of which nobody knows what they raise
            continue
    raise unread(name, f"{column.dtype} with values that have no text")


def _as_it_is(column: pd.Series) -> pa.Array:
    import pyarrow as pa

    return pa.array(column, from_pandas=_missing(column))


def _as_texts(column: pd.Series) -> pa.Array:
    import pyarrow as pa

    return pa.array([None if _is_missing(value) else str(value) for value in column], pa.string())


def _missing(column: pd.Series) -> bool:
    """Whether NaN means a missing value in this column: in columns of objects it does."""
    return bool(column.dtype == object)


def _is_missing(value: object) -> bool:
    """Whether a value is none; an array, which is compared element by element, is one."""
    unlike = value is None or value != value
    return type(value).__name__ in ("NAType", "NaTType") or (
        type(unlike).__name__ in ("bool", "bool_") and bool(unlike)
    )


def from_polars(frame: pl.DataFrame) -> pa.Table:
    """A frame of polars as an Arrow table; of Python objects it would hold where they are, so that they are refused."""
    import pyarrow as pa

    if not hasattr(frame, "to_arrow"):
        raise InvalidTableError("this is a lazy frame; give frame.collect(), or the file that it reads.")
    columns = {}
    for name, kind in frame.schema.items():
        try:
            if str(kind) == "Object":
                raise unread(name, kind)
            columns[name] = frame.select(name).to_arrow().column(0)
        except pa.ArrowException:
            raise unread(name, kind) from None
    return pa.table(columns)


def from_arrow(table: pa.Table) -> pa.Table:
    """An Arrow table as it is."""
    if not hasattr(table, "to_batches") or not hasattr(table, "column_names"):
        raise InvalidTableError("give an Arrow table, such as pyarrow.Table.")
    return table


READERS = {"pandas": from_pandas, "polars": from_polars, "pyarrow": from_arrow}
"""By the module that a frame comes from, how it is read."""
_NAMES = ("DataFrame", "LazyFrame", "Table")


def frame_kind(source: object) -> str | None:
    """The module of a frame that can be read; None for anything else."""
    module = type(source).__module__.partition(".")[0]
    return module if module in READERS and type(source).__name__ in _NAMES else None


def require_valid(data: pa.Table) -> None:
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


def listed_name(data: pa.Table) -> str:
    """The name of a small public table, by its columns and values."""
    return f"listed_{digest({'columns': str(data.schema), 'content': content(data)})[:32]}"


def content(data: pa.Table) -> str:
    """A digest of a public table."""
    from hashlib import sha256

    found = sha256()
    for batch in data.combine_chunks().to_batches():
        found.update(batch.serialize())
    return found.hexdigest()


def has_memory(data: object) -> bool:
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


def _of_pandas(column: ExtensionArray) -> list[tuple[int, int]]:
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


FRAMES = ("pandas", "polars", "pyarrow")


def frame_of(columns: dict[str, list[Any]], kind: str) -> Any:
    """Columns of Python values as a frame of pandas or polars, or as an Arrow table."""
    if kind == "polars":
        import polars

        return polars.DataFrame(columns, strict=False)
    import pyarrow as pa

    table = pa.table({name: _array(values) for name, values in columns.items()})
    return table if kind == "pyarrow" else table.to_pandas(date_as_object=True)


def _array(values: Sequence[object]) -> Any:
    import pyarrow as pa

    kinds = {type(value) for value in values if value is not None}
    # A column may hold the keys of several questions; texts then stand for all of them.
    mixed = len(kinds) > 1 and kinds != {int, float}
    return pa.array([None if value is None else str(value) for value in values] if mixed else values)


def require_frame(kind: str) -> str:
    """Refuse a kind of frame that is not known."""
    if kind not in FRAMES:
        raise InvalidTableError(f"frame is {kind!r}; give one of {', '.join(FRAMES)}.", frame=kind)
    return kind

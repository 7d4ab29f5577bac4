"""Columns of frames in a form of which DuckDB reads each value by itself, and fails on none.

What counts seconds or milliseconds is counted in microseconds here, because DuckDB would do so by itself and fail on
a value that is far away, after the charge. Codes of categories and lengths of runs depend on who is in the table, so
that each value stands for itself. Which columns are read is said by their types alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from noisewright.problem.errors import InvalidTableError
from noisewright.release.table.frames import unread

if TYPE_CHECKING:
    import pyarrow as pa

_COARSE = {"s": 10**6, "ms": 10**3}
"""Units of time that are coarser than a microsecond, and how many of them it takes."""
_DAY = 86_400_000
_DIGITS = 38
_KNOWN = ("arrow.uuid", "arrow.bool8")
"""Extensions that DuckDB reads as what they are; any other is read as what it is stored in."""


def plain_columns(table: pa.Table) -> pa.Table:
    """The same table with columns that are read as they are; refuses, by name, those of other types."""
    import pyarrow as pa

    if not table.column_names:
        raise InvalidTableError("the frame has no columns; one of them says whose row it is. Nothing was spent.")
    for place, field in enumerate(table.schema):
        try:
            changed = _plain(table.column(place), field.name)
        except pa.ArrowException:
            raise unread(field.name, field.type) from None
        if changed.type != field.type:
            table = table.set_column(place, field.name, changed)
    return table


def _plain(column: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    """A column in a type that is read as it is: the same values, and NULL for those that it does not hold."""
    import pyarrow as pa

    kind, is_a = column.type, pa.types
    if isinstance(kind, pa.BaseExtensionType):
        return column if kind.extension_name in _KNOWN else _plain(_stored(column), name)
    if is_a.is_dictionary(kind):
        return _plain(_decoded(column), name)
    if is_a.is_run_end_encoded(kind):
        return _plain(_without_runs(column), name)
    if is_a.is_null(kind):
        return column.cast(pa.string())  # without any value it is read like a column of texts that are all missing
    if (is_a.is_timestamp(kind) or is_a.is_duration(kind)) and kind.unit in _COARSE:
        return _microseconds(column)
    if is_a.is_date64(kind):
        return _days(column)
    if is_a.is_float16(kind):
        return column.cast(pa.float32())
    if is_a.is_decimal256(kind) and _is_decimal(kind):
        return column.cast(pa.decimal128(kind.precision, kind.scale))
    if not _is_plain(kind):
        raise unread(name, kind)
    return column


def _is_plain(kind: pa.DataType) -> bool:
    """Whether DuckDB reads a type as it is. What is nested may hold nothing that would have to be changed."""
    import pyarrow as pa

    is_a = pa.types
    if is_a.is_struct(kind):
        return kind.num_fields > 0 and all(_is_plain(kind.field(place).type) for place in range(kind.num_fields))
    if is_a.is_map(kind):
        return _is_plain(kind.key_type) and _is_plain(kind.item_type)
    if any(holds(kind) for holds in (is_a.is_list, is_a.is_large_list, is_a.is_fixed_size_list)) or any(
        holds(kind) for holds in (is_a.is_list_view, is_a.is_large_list_view)
    ):
        return _is_plain(kind.value_type)
    if is_a.is_decimal(kind):
        return not is_a.is_decimal256(kind) and _is_decimal(kind)
    if is_a.is_timestamp(kind) or is_a.is_duration(kind):
        return kind.unit not in _COARSE
    return any(
        holds(kind)
        for holds in (
            *(is_a.is_boolean, is_a.is_integer, is_a.is_float32, is_a.is_float64, is_a.is_date32, is_a.is_time),
            *(is_a.is_string, is_a.is_large_string, is_a.is_string_view),
            *(is_a.is_binary, is_a.is_large_binary, is_a.is_binary_view, is_a.is_fixed_size_binary),
        )
    )


def _is_decimal(kind: pa.DataType) -> bool:
    """Whether decimals have as many digits as DuckDB holds, and no fewer than stand behind the point."""
    return bool(0 <= kind.scale <= kind.precision <= _DIGITS)


def _stored(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column of an extension as what it is stored in."""
    import pyarrow as pa

    return pa.chunked_array([chunk.storage for chunk in column.chunks], column.type.storage_type)


def _decoded(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Categories as their values."""
    import pyarrow as pa

    held = column.type.value_type
    within = isinstance(held, pa.BaseExtensionType)
    pieces = [(one.dictionary.storage if within else one.dictionary).take(one.indices) for one in column.chunks]
    return pa.chunked_array(pieces, held.storage_type if within else held)


def _without_runs(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Each value of a run by itself."""
    import pyarrow as pa
    import pyarrow.compute as pc

    return pa.chunked_array([pc.run_end_decode(one) for one in column.chunks], column.type.value_type)


def _microseconds(times: pa.ChunkedArray) -> pa.ChunkedArray:
    """Times or spans that count seconds or milliseconds in microseconds; NULL beyond what 64 bits of them hold."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = times.type
    factor = _COARSE[kind.unit]
    whole, most = times.cast(pa.int64()), (2**63 - 2) // factor
    fine = pa.timestamp("us", kind.tz) if pa.types.is_timestamp(kind) else pa.duration("us")
    return pc.multiply(_within(whole, -most, most), factor).cast(fine)


def _days(moments: pa.ChunkedArray) -> pa.ChunkedArray:
    """Days that are counted in milliseconds as days; NULL beyond what 32 bits of them hold."""
    import pyarrow as pa
    import pyarrow.compute as pc

    counted = _within(moments.cast(pa.int64()), -(2**31 - 1) * _DAY, (2**31 - 1) * _DAY)
    return pc.divide(counted, _DAY).cast(pa.int32()).cast(pa.date32())


def _within(whole: pa.ChunkedArray, first: int, last: int) -> pa.ChunkedArray:
    import pyarrow as pa
    import pyarrow.compute as pc

    inside = pc.and_(pc.less_equal(whole, last), pc.greater_equal(whole, first))
    return pc.if_else(inside, whole, pa.scalar(None, pa.int64()))

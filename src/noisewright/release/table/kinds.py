"""Which values may be compared, chosen among or keys, and which constants an engine can write.

Engines cast one value to the type of another without being asked, and fail where it does not fit. A constant that does
not fit its type fails only where there is a row to write it for, so that a rehearsal on no rows sees nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import ibis
import ibis.expr.datatypes as dt
import ibis.expr.operations as ops

_COMPARED = ("string", "boolean", "numeric", "date", "timestamp", "time", "uuid", "binary")
_NANOSECONDS = 9
_NEAR = datetime(1678, 1, 1), datetime(2262, 1, 1)
"""Between them a time can be counted in nanoseconds."""
COARSE = "its times count seconds or milliseconds, which engines cast and fail on; make them TIMESTAMP in the table"


def why_not_alike(values: Sequence[ops.Value]) -> str | None:
    """Why values are not compared with each other; None if they are of one kind, which no engine casts."""
    kinds = {value.dtype for value in values}
    told = " and ".join(sorted(map(str, kinds)))
    families = {_family(kind) for kind in kinds}
    if None in families:
        return f"it compares {told}; texts, numbers, truth values, dates and times are on the list"
    if len(families) > 1:
        return f"it mixes {told}, which an engine may cast and fail on; cast one of them yourself"
    return _why_not_times(values, told) if families == {"timestamp"} else None


def _family(kind: dt.DataType) -> str | None:
    return next((name for name in _COMPARED if getattr(kind, f"is_{name}")()), None)


def is_carried(value: ops.Value) -> bool:
    """Whether it is of a type that is carried along, and of which nothing is asked but whether it is missing."""
    return _family(value.dtype) is None and not value.dtype.is_null()


def is_coarse(value: ops.Value) -> bool:
    """Whether it is a time that counts whole seconds or milliseconds."""
    return value.dtype.is_timestamp() and value.dtype.scale in (0, 3)


def hides_nanoseconds(found: ops.Value, values: Sequence[ops.Value]) -> bool:
    """Whether what is chosen among values counts nanoseconds and does not say so, so that nothing else is compared."""
    fine = any(value.dtype.is_timestamp() and value.dtype.scale == _NANOSECONDS for value in values)
    return bool(fine and found.dtype.is_timestamp() and found.dtype.scale != _NANOSECONDS)


def _why_not_times(values: Sequence[ops.Value], told: str) -> str | None:
    if any(is_coarse(value) for value in values):
        return COARSE
    constants = [value for value in values if isinstance(value, ops.Literal)]
    scales = {value.dtype.scale for value in values if value not in constants}
    if len({value.dtype.timezone is None for value in values}) > 1:
        return f"it mixes {told}: which instant a time without a zone is depends on the session"
    if len(scales) > 1 or (scales == {_NANOSECONDS} and not all(_is_near(value.value) for value in constants)):
        return f"it mixes {told}; times counted in nanoseconds lie between the years 1678 and 2261, others are refused"
    return None


def _is_near(moment: datetime) -> bool:
    return _NEAR[0] <= moment.replace(tzinfo=None) < _NEAR[1]


def constant(node: ops.Literal) -> ops.Value | None:
    """A constant that every engine can write, numbers that are not whole as doubles; None for one that it may not."""
    kind, value = node.dtype, node.value
    if kind.is_floating() or kind.is_decimal():
        return ibis.literal(None if value is None else float(value), "float64").op()
    if value is None or kind.is_boolean() or kind.is_date() or kind.is_uuid() or kind.is_binary():
        return node
    if kind.is_integer():
        return node if -(2**63) <= value < 2**64 else None
    if kind.is_string():
        return node if "\0" not in value and not any("\ud800" <= letter <= "\udfff" for letter in value) else None
    if kind.is_timestamp():
        return node if kind.scale in (None, 6) or _is_near(value) else None
    return None


def key_kind(held: dt.DataType) -> str | None:
    """Which kind of key a type holds; None for one that holds none."""
    fits = {
        "text": held.is_string(),
        "boolean": held.is_boolean(),
        "integer": held.is_integer() and not held.is_uint64(),
        "date": held.is_date(),
    }
    return next((kind for kind, holds in fits.items() if holds), None)

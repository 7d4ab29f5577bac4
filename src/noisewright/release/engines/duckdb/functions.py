"""Functions of DuckDB by their own names: Ibis has no name for them, or another type for what they give."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import ibis
import ibis.expr.operations as ops

from noisewright.release.engines.expressions import recreated

if TYPE_CHECKING:
    import ibis.expr.types as ir

_PARTS = (ops.ExtractYear, ops.ExtractMonth, ops.ExtractDay, ops.ExtractQuarter, ops.ExtractHour, ops.ExtractMinute)


@ibis.udf.scalar.builtin(name="md5", signature=(("string",), "string"))  # type: ignore[untyped-decorator]
def md5(text: ir.Value) -> ir.Value:
    """The MD5 of a text in hexadecimal digits."""


@ibis.udf.scalar.builtin(name="md5_number", signature=(("binary",), "uint64"))  # type: ignore[untyped-decorator]
def md5_number(data: ir.Value) -> ir.Value:
    """The MD5 of bytes as one number of 128 bits, its first byte the lowest."""


@ibis.udf.scalar.builtin(name="hash", signature=(("binary",), "uint64"))  # type: ignore[untyped-decorator]
def hashed(data: ir.Value) -> ir.Value:
    """What DuckDB itself puts bytes into hash tables by: quick, and any number of 64 bits."""


@ibis.udf.scalar.builtin(name="encode", signature=(("string",), "binary"))  # type: ignore[untyped-decorator]
def encode(text: ir.Value) -> ir.Value:
    """The bytes of a text in UTF-8."""


@ibis.udf.scalar.builtin(name="hex", signature=(("binary",), "string"))  # type: ignore[untyped-decorator]
def digits(data: ir.Value) -> ir.Value:
    """Bytes in hexadecimal digits."""


@ibis.udf.scalar.builtin(  # type: ignore[untyped-decorator]
    name="regexp_full_match", signature=(("string", "string"), "boolean")
)
def fits(text: ir.Value, grammar: ir.Value) -> ir.Value:
    """Whether the whole of a text fits a regular expression."""


@ibis.udf.scalar.builtin(name="floor", signature=(("float64",), "float64"))  # type: ignore[untyped-decorator]
def floor(number: ir.Value) -> ir.Value:
    """The floor of a double, as a double."""


@ibis.udf.agg.builtin(name="sum", signature=(("int64",), "decimal(38, 0)"))  # type: ignore[untyped-decorator]
def added(terms: ir.Value) -> ir.Value:
    """The sum of 64-bit whole numbers, in 128 bits."""


@ibis.udf.scalar.builtin(name="isfinite", signature=(("timestamp(6)",), "boolean"))  # type: ignore[untyped-decorator]
def is_finite(moment: ir.Value) -> ir.Value:
    """Whether a time is one of the calendar."""


@ibis.udf.scalar.builtin(name="isfinite", signature=(("date",), "boolean"))  # type: ignore[untyped-decorator]
def is_finite_day(day: ir.Value) -> ir.Value:
    """Whether a day is one of the calendar."""


def settled(node: ops.Node, changed: Mapping[str, Any] | None) -> ops.Node:
    """What replaces the parts of a day by such as are missing for infinite days; for `Node.replace`.

    DuckDB gives NULL there, and takes it for granted that there is none: `month(d) IS NULL` is false.
    """
    node = recreated(node, changed)
    if not isinstance(node, (*_PARTS, ops.DayOfWeekIndex)):
        return node
    finite = (is_finite_day if node.arg.dtype.is_date() else is_finite)(node.arg.to_expr())
    return finite.ifelse(node.to_expr(), ibis.null(node.dtype)).op()

"""Expressions for Spark that no value makes fail, and how they are written as SQL.

Spark fails, in its ANSI mode, on casts of what does not fit and on divisions by 0; `TRY_CAST` gives NULL instead. Its
doubles neither overflow nor raise. A number with a point is a decimal for Spark, so that each is written as a double.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any

import ibis
import ibis.expr.datatypes as dt
import ibis.expr.operations as ops
import sqlglot.expressions as sge
from ibis.backends.sql.compilers.base import SQLGlotCompiler
from ibis.backends.sql.compilers.pyspark import PySparkCompiler
from ibis.backends.sql.datatypes import PySparkType

from noisewright.release.engines.expressions import (
    Expressions,
    no_cast,
    recreated,
    refused_on,
    single,
    within,
    within_64_bits,
)

if TYPE_CHECKING:
    import ibis.expr.types as ir

_SPACES = " \t\n\r\v\f"
_INFINITE_TIMES = ("-290308-12-21 19:59:05.224193", "+294247-01-10 04:00:54.775807")
_INFINITE_DAYS = (-(2**31) + 1, 2**31 - 1)
"""What other engines read of a file as an infinite time or day: the last number on either side."""
_BITS, _PARTS = 21, 3
"""The bits of a part, and how many parts 64 bits have."""
_LOGARITHM = "the last digit of a logarithm may differ between the machines of a cluster, and a lost task is done again"
_REFUSED = {
    **dict.fromkeys((ops.Ln, ops.Log2, ops.Log10), _LOGARITHM),
    **dict.fromkeys((ops.Lowercase, ops.Uppercase), "which letters have another form depends on the version of Java"),
}
_DAYS = (ops.ExtractYear, ops.ExtractMonth, ops.ExtractDay, ops.ExtractQuarter, ops.DayOfWeekIndex)
_TIMES = (ops.ExtractHour, ops.ExtractMinute)


@ibis.udf.scalar.builtin(name="md5", signature=(("string",), "string"))  # type: ignore[untyped-decorator]
def _md5(text: ir.Value) -> ir.Value: ...


@ibis.udf.scalar.builtin(name="hex", signature=(("binary",), "string"))  # type: ignore[untyped-decorator]
def _hex(data: ir.Value) -> ir.Value: ...


@ibis.udf.scalar.builtin(name="rint", signature=(("float64",), "float64"))  # type: ignore[untyped-decorator]
def _rint(number: ir.Value) -> ir.Value: ...


@ibis.udf.scalar.builtin(name="regexp", signature=(("string", "string"), "boolean"))  # type: ignore[untyped-decorator]
def _matches(text: ir.Value, grammar: ir.Value) -> ir.Value: ...


@ibis.udf.scalar.builtin(name="date_from_unix_date", signature=(("int32",), "date"))  # type: ignore[untyped-decorator]
def _day(number: ir.Value) -> ir.Value: ...


@ibis.udf.scalar.builtin(name="unix_date", signature=(("date",), "int32"))  # type: ignore[untyped-decorator]
def _count(day: ir.Value) -> ir.Value: ...


@ibis.udf.scalar.builtin(name="shiftright", signature=(("int64", "int32"), "int64"))  # type: ignore[untyped-decorator]
def _shifted(number: ir.Value, places: ir.Value) -> ir.Value: ...


@ibis.udf.agg.builtin(name="sum", signature=(("int64",), "int64"))  # type: ignore[untyped-decorator]
def _plain_sum(terms: ir.Value) -> ir.Value: ...


@ibis.udf.agg.builtin(name="sum", signature=(("decimal(38, 0)",), "decimal(38, 0)"))  # type: ignore[untyped-decorator]
def _sum(terms: ir.Value) -> ir.Value: ...


class _Types(PySparkType):  # type: ignore[misc]
    """Times without a zone are TIMESTAMP_NTZ, instants are TIMESTAMP; Ibis takes both for the latter."""

    @classmethod
    def from_ibis(cls, dtype: dt.DataType) -> Any:
        if dtype.is_timestamp():
            kinds = sge.DataType.Type
            return sge.DataType(this=kinds.TIMESTAMPNTZ if dtype.timezone is None else kinds.TIMESTAMPLTZ)
        return super().from_ibis(dtype)


class _Compiler(PySparkCompiler):  # type: ignore[misc]
    """SQL for Spark: NaN is not NULL whatever the options say, constants have their own type, spaces are all spaces."""

    __slots__ = ()
    type_mapper = _Types
    SIMPLE_OPS: Mapping[Any, str] = {}  # those of the class above stay as they are there
    visit_Field = SQLGlotCompiler.visit_Field  # noqa: N815
    visit_IsNull = SQLGlotCompiler.visit_IsNull  # noqa: N815
    visit_NotNull = SQLGlotCompiler.visit_NotNull  # noqa: N815

    def visit_NonNullLiteral(self, op: ops.Node, *, value: ir.Value, dtype: dt.DataType) -> Any:  # noqa: N802
        if dtype.is_floating():
            return self.cast(sge.Literal.string(repr(float(value))), dt.float64)
        if dtype.is_timestamp():
            return self.cast(sge.Literal.string(value.isoformat()), dtype)
        if dtype.is_date():
            return self.cast(sge.Literal.string(value.isoformat()), dt.date)
        if dtype.is_string():
            return _text(value)
        return super().visit_NonNullLiteral(op, value=value, dtype=dtype)

    def visit_ScalarUDF(self, op: ops.Node, **given: sge.Expression) -> Any:  # noqa: N802
        # By its very name: functions that the writer of SQL knows would be written as others, such as casts that fail.
        return self.f.anon[op.__func_name__](*given.values())

    def visit_IsInf(self, op: ops.Node, *, arg: sge.Expression) -> Any:  # noqa: N802
        return self.f.abs(arg).eq(self.POS_INF) if op.arg.dtype.is_floating() else sge.false()

    def visit_Strip(self, op: ops.Node, *, arg: sge.Expression) -> Any:  # noqa: N802
        return self.f.anon.btrim(arg, _text(_SPACES))

    def visit_LStrip(self, op: ops.Node, *, arg: sge.Expression) -> Any:  # noqa: N802
        return self.f.anon.ltrim(_text(_SPACES), arg)

    def visit_RStrip(self, op: ops.Node, *, arg: sge.Expression) -> Any:  # noqa: N802
        return self.f.anon.rtrim(_text(_SPACES), arg)


_COMPILER = _Compiler()


def written(expression: ir.Expr) -> str:
    """The query as SQL."""
    return str(_COMPILER.to_sqlglot(expression).sql("spark"))


def _text(value: str) -> sge.Expression:
    """A constant text; by its bytes where it has signs that Spark and the writer of SQL escape differently."""
    if all(sign.isprintable() and sign not in "\\'" for sign in value):
        return sge.Literal.string(value)
    return sge.cast(sge.Anonymous(this="UNHEX", expressions=[sge.Literal.string(value.encode().hex())]), "string")


class SparkExpressions(Expressions):
    """What an engine gives as expressions, for Spark; `base.Engine` says what each is."""

    def of_text(self, text: ir.StringValue, grammar: str, kind: str, length: int | None = None) -> ir.Value:
        # $ would let a line end stand behind the text.
        plain = text.strip()
        said = plain if length is None else plain.left(length)
        return _matches(plain, rf"\A({grammar})\z").ifelse(said, ibis.null("string")).try_cast(kind)

    def bytes_of(self, text: ir.Value) -> ir.Value:
        # A cast keeps the bytes as they are, whatever they are; `encode` would look at them.
        return text.cast("binary")

    def digits_of(self, data: ir.Value) -> ir.Value:
        return _hex(data)

    def hash_of(self, text: ir.Value) -> ir.Value:
        return _md5(text)

    def sum_of(self, terms: ir.Value) -> ir.Value:
        # Spark's own sum of 64-bit numbers fails beyond 64 bits.
        return _sum(terms.cast("decimal(38, 0)"))

    def sum_text(self, terms: ir.Value, largest: int) -> ir.Value:
        """As many sums of 21 bits as the terms need, each of 64 bits for fewer than 2^42 rows, put together.

        A term is high 2^42 + middle 2^21 + low, middle and low from 0 to 2^21 - 1. Decimals are added much slower. A
        term beyond what was said makes the query fail, and no sum wrong: Spark's ANSI mode sees to it.
        """
        parts: list[Any] = []
        while largest >= 2**_BITS and len(parts) < _PARTS - 1:
            parts.append(terms & ibis.literal(2**_BITS - 1, "int64"))
            terms, largest = _shifted(terms, _BITS), (largest >> _BITS) + 1
        if not parts:
            return _plain_sum(terms).cast("string")
        sums = [_plain_sum(part).cast("decimal(20, 0)") for part in (*parts, terms)]
        return reduce(add, [one * 2 ** (_BITS * place) for place, one in enumerate(sums)]).cast("string")

    def settled(self, query: ir.Table) -> ir.Table:
        return query.replace(_replaced)

    def cast(self, value: ir.Value, to: str | dt.DataType) -> ir.Value:
        """A cast that gives NULL where Spark would raise; refuses those that differ from other engines."""
        held, kind = value.type(), dt.dtype(to)
        if kind.is_boolean():
            return value != 0
        if kind.is_floating():
            double = value.cast("float64")
            return double if kind == dt.float64 else single(double)
        if kind.is_signed_integer() and not (held.is_decimal() and held.scale != 0):
            return value.cast(kind) if held.is_boolean() else _whole(value, kind)
        if kind.is_date() and held.is_timestamp():
            return _day_of(value)
        if kind.is_string():
            return value.cast(kind)
        raise no_cast("Spark", held, kind)


def _whole(value: ir.Value, kind: dt.DataType) -> ir.Value:
    """A whole number; doubles are rounded to even, as elsewhere, and not cut off."""
    if value.type().is_floating():
        value = _rint(value.cast("float64"))
        value = within_64_bits(value).ifelse(value, ibis.null("float64")).try_cast("int64")
    return within(value, kind).ifelse(value, ibis.null(value.type())).try_cast(kind)


def _is_finite(value: ir.Value) -> ir.Value:
    """Whether a time or a day is finite.

    Days are counted: a comparison of days would be made one of times by Spark, in which the last of them do not fit.
    """
    first, last = _INFINITE_DAYS if value.type().is_date() else _ends(value)
    counted = _count(value) if value.type().is_date() else value
    return (counted > first) & (counted < last)


def _ends(moment: ir.Value) -> list[ir.Value]:
    return [ibis.literal(end).cast(moment.type()) for end in _INFINITE_TIMES]


def _day_of(moment: ir.Value) -> ir.Value:
    """The day of a time; that of an infinite one is infinite."""
    (first, last), (before, after) = _ends(moment), (_day(ibis.literal(end, "int32")) for end in _INFINITE_DAYS)
    return ibis.cases((moment <= first, before), (moment >= last, after), else_=moment.cast("date"))


def _replaced(node: ops.Node, changed: Mapping[str, Any] | None) -> ops.Node:
    node = recreated(node, changed)
    kind = type(node)
    cut = kind is ops.Substring and any(end is not None and end.value < 0 for end in (node.start, node.length))
    if kind in _REFUSED or cut:
        raise refused_on("Spark", node, "a place or a length below 0 is none" if cut else _REFUSED[kind])
    if kind is ops.Date and node.arg.dtype.is_timestamp():
        return _day_of(node.arg.to_expr()).op()
    if kind in _DAYS or kind in _TIMES:
        return _is_finite(node.arg.to_expr()).ifelse(node.to_expr(), ibis.null(node.dtype)).op()
    return node

"""Expressions for Spark that no value makes fail, and how they are written as SQL.

Spark fails, in its ANSI mode, on casts of what does not fit and on divisions by 0; `TRY_CAST` gives NULL instead. Its
doubles neither overflow nor raise. A number with a point is a decimal for Spark, so that each is written as a double.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from operator import add
from typing import Any

import ibis
import ibis.expr.datatypes as dt
import ibis.expr.operations as ops
import sqlglot.expressions as sge
from ibis.backends.sql.compilers.base import SQLGlotCompiler
from ibis.backends.sql.compilers.pyspark import PySparkCompiler
from ibis.backends.sql.datatypes import PySparkType

from noisewright.problem.errors import NotPersonLocalError
from noisewright.release.engines import base
from noisewright.release.engines.postgres.expressions import WHOLES, single

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
def _md5(text: Any) -> Any: ...


@ibis.udf.scalar.builtin(name="hex", signature=(("binary",), "string"))  # type: ignore[untyped-decorator]
def _hex(data: Any) -> Any: ...


@ibis.udf.scalar.builtin(name="rint", signature=(("float64",), "float64"))  # type: ignore[untyped-decorator]
def _rint(number: Any) -> Any: ...


@ibis.udf.scalar.builtin(name="regexp", signature=(("string", "string"), "boolean"))  # type: ignore[untyped-decorator]
def _fits(text: Any, grammar: Any) -> Any: ...


@ibis.udf.scalar.builtin(name="date_from_unix_date", signature=(("int32",), "date"))  # type: ignore[untyped-decorator]
def _day(number: Any) -> Any: ...


@ibis.udf.scalar.builtin(name="unix_date", signature=(("date",), "int32"))  # type: ignore[untyped-decorator]
def _count(day: Any) -> Any: ...


@ibis.udf.scalar.builtin(name="shiftright", signature=(("int64", "int32"), "int64"))  # type: ignore[untyped-decorator]
def _shifted(number: Any, places: Any) -> Any: ...


@ibis.udf.agg.builtin(name="sum", signature=(("int64",), "int64"))  # type: ignore[untyped-decorator]
def _plain_sum(terms: Any) -> Any: ...


@ibis.udf.agg.builtin(name="sum", signature=(("decimal(38, 0)",), "decimal(38, 0)"))  # type: ignore[untyped-decorator]
def _sum(terms: Any) -> Any: ...


class _Types(PySparkType):  # type: ignore[misc]
    """Times without a zone are TIMESTAMP_NTZ, instants are TIMESTAMP; Ibis takes both for the latter."""

    @classmethod
    def from_ibis(cls, dtype: Any) -> Any:
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

    def visit_NonNullLiteral(self, op: Any, *, value: Any, dtype: Any) -> Any:  # noqa: N802
        if dtype.is_floating():
            return self.cast(sge.Literal.string(repr(float(value))), dt.float64)
        if dtype.is_timestamp():
            return self.cast(sge.Literal.string(value.isoformat()), dtype)
        if dtype.is_date():
            return self.cast(sge.Literal.string(value.isoformat()), dt.date)
        if dtype.is_string():
            return _text(value)
        return super().visit_NonNullLiteral(op, value=value, dtype=dtype)

    def visit_ScalarUDF(self, op: Any, **given: Any) -> Any:  # noqa: N802
        # By its very name: functions that the writer of SQL knows would be written as others, such as casts that fail.
        return self.f.anon[op.__func_name__](*given.values())

    def visit_IsInf(self, op: Any, *, arg: Any) -> Any:  # noqa: N802
        return self.f.abs(arg).eq(self.POS_INF) if op.arg.dtype.is_floating() else sge.false()

    def visit_Strip(self, op: Any, *, arg: Any) -> Any:  # noqa: N802
        return self.f.anon.btrim(arg, _text(_SPACES))

    def visit_LStrip(self, op: Any, *, arg: Any) -> Any:  # noqa: N802
        return self.f.anon.ltrim(_text(_SPACES), arg)

    def visit_RStrip(self, op: Any, *, arg: Any) -> Any:  # noqa: N802
        return self.f.anon.rtrim(_text(_SPACES), arg)


_COMPILER = _Compiler()


def written(expression: Any) -> str:
    """The query as SQL."""
    return str(_COMPILER.to_sqlglot(expression).sql("spark"))


def _text(value: str) -> Any:
    """A constant text; by its bytes where it has signs that Spark and the writer of SQL escape differently."""
    if all(sign.isprintable() and sign not in "\\'" for sign in value):
        return sge.Literal.string(value)
    return sge.cast(sge.Anonymous(this="UNHEX", expressions=[sge.Literal.string(value.encode().hex())]), "string")


class Expressions(base.Plain):
    """What an engine gives as expressions, for Spark; `base.Engine` says what each is."""

    def number_of_text(self, text: Any) -> Any:
        return _fitting(text, base.GRAMMAR).try_cast("float64")

    def whole_of_text(self, text: Any) -> Any:
        return _fitting(text, base.WHOLE_GRAMMAR).try_cast("int64")

    def date_of_text(self, text: Any) -> Any:
        return _fitting(text, base.DATE_GRAMMAR).try_cast("date")

    def time_of_text(self, text: Any) -> Any:
        return _fitting(text, base.TIME_GRAMMAR).try_cast("timestamp(6)")

    def instant_of_text(self, text: Any) -> Any:
        return _fitting(text, base.INSTANT_GRAMMAR).try_cast("timestamp('UTC', 6)")

    def bytes_of(self, text: Any) -> Any:
        # A cast keeps the bytes as they are, whatever they are; `encode` would look at them.
        return text.cast("binary")

    def digits_of(self, data: Any) -> Any:
        return _hex(data)

    def hash_of(self, text: Any) -> Any:
        return _md5(text)

    def sum_of(self, terms: Any) -> Any:
        # Spark's own sum of 64-bit numbers fails beyond 64 bits.
        return _sum(terms.cast("decimal(38, 0)"))

    def sum_text(self, terms: Any, largest: int) -> Any:
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

    def divisible(self, number: Any) -> Any:
        return number

    def settled(self, query: Any) -> Any:
        return query.replace(_replaced)

    def cast(self, value: Any, to: Any) -> Any:
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
        why = f"Spark has no cast from {held} to {kind} that is the same as on other engines"
        raise NotPersonLocalError(f"Cast: {why}. Nothing was spent.", operation="Cast", reason=why)


def _fitting(text: Any, grammar: str) -> Any:
    """The text without spaces around it, NULL where it does not fit; $ would let a line end stand behind it."""
    plain = text.strip()
    return _fits(plain, rf"\A({grammar})\z").ifelse(plain, ibis.null("string"))


def _whole(value: Any, kind: Any) -> Any:
    """A whole number; doubles are rounded to even, as elsewhere, and not cut off."""
    low, high = WHOLES[kind.nbytes * 8]
    if value.type().is_floating():
        value = _rint(value.cast("float64"))
        first, last = ibis.literal(-(2.0**63), "float64"), ibis.literal(2.0**63, "float64")
        value = ((value >= first) & (value < last)).ifelse(value, ibis.null("float64")).try_cast("int64")
    fits = (value >= ibis.literal(low, "int64")) & (value <= ibis.literal(high, "int64"))
    return fits.ifelse(value, ibis.null(value.type())).try_cast(kind)


def _is_finite(value: Any) -> Any:
    """Whether a time or a day is finite.

    Days are counted: a comparison of days would be made one of times by Spark, in which the last of them do not fit.
    """
    first, last = _INFINITE_DAYS if value.type().is_date() else _ends(value)
    counted = _count(value) if value.type().is_date() else value
    return (counted > first) & (counted < last)


def _ends(moment: Any) -> list[Any]:
    return [ibis.literal(end).cast(moment.type()) for end in _INFINITE_TIMES]


def _day_of(moment: Any) -> Any:
    """The day of a time; that of an infinite one is infinite."""
    (first, last), (before, after) = _ends(moment), (_day(ibis.literal(end, "int32")) for end in _INFINITE_DAYS)
    return ibis.cases((moment <= first, before), (moment >= last, after), else_=moment.cast("date"))


def _replaced(node: Any, changed: Mapping[str, Any] | None) -> Any:
    node = node.__recreate__(dict(zip(node.argnames, node.args, strict=True)) | dict(changed)) if changed else node
    kind = type(node)
    cut = kind is ops.Substring and any(end is not None and end.value < 0 for end in (node.start, node.length))
    if kind in _REFUSED or cut:
        name, why = kind.__name__, "a place or a length below 0 is none" if cut else _REFUSED[kind]
        raise NotPersonLocalError(
            f"{name} cannot stand before a private answer on Spark: {why}. Nothing was spent.",
            operation=name,
            reason=why,
        )
    if kind is ops.Date and node.arg.dtype.is_timestamp():
        return _day_of(node.arg.to_expr()).op()
    if kind in _DAYS or kind in _TIMES:
        return _is_finite(node.arg.to_expr()).ifelse(node.to_expr(), ibis.null(node.dtype)).op()
    return node

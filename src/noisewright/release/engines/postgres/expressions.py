"""Expressions for PostgreSQL that no value makes fail."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import Any

import ibis
import ibis.expr.datatypes as dt
import sqlglot.expressions as sge

from noisewright.problem.errors import InvalidTableError, NotPersonLocalError
from noisewright.release.engines.barrier import column
from noisewright.release.engines.base import GRAMMAR, WHOLE_GRAMMAR, Plain, between_ends

_YEAR = r"([1-9][0-9]{3}|0[1-9][0-9]{2}|00[1-9][0-9]|000[1-9])"
_LEAP = r"([0-9]{2}(0[48]|[2468][048]|[13579][26])|(0[48]|[2468][048]|[13579][26])00)"
_DAY = (
    rf"({_YEAR}-(0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|{_YEAR}-(0[469]|11)-(0[1-9]|[12][0-9]|30)"
    rf"|{_YEAR}-02-(0[1-9]|1[0-9]|2[0-8])|{_LEAP}-02-29)"
)
"""The days of the calendar from the year 1 to 9999."""
_MINUTES, _SECONDS = r"[ T]([01][0-9]|2[0-3]):[0-5][0-9]", r":[0-5][0-9](\.[0-9]{1,6})?"
_TIME = f"{_DAY}{_MINUTES}({_SECONDS})?"
_INSTANT = f"{_DAY}{_MINUTES}{_SECONDS}(Z|[+-](0[0-9]|1[0-4]):[0-5][0-9])"
WHOLES = {8: (-(2**7), 2**7 - 1), 16: (-(2**15), 2**15 - 1), 32: (-(2**31), 2**31 - 1), 64: (-(2**63), 2**63 - 1)}
_TINY = 1e-100
_DIGITS = 300
"""Decimals of so many digits are doubles, whatever they are."""
_LARGEST, _LEAST = "1e308", "1e-300"
"""Decimals between them are doubles; what is nearer to 0 is 0, what is farther away is NULL."""


@ibis.udf.scalar.builtin(name="md5", signature=(("string",), "string"))  # type: ignore[untyped-decorator]
def _md5(text: Any) -> Any: ...


@ibis.udf.scalar.builtin(name="convert_to", signature=(("string", "string"), "binary"))  # type: ignore[untyped-decorator]
def _convert_to(text: Any, encoding: Any) -> Any: ...


@ibis.udf.scalar.builtin(name="encode", signature=(("binary", "string"), "string"))  # type: ignore[untyped-decorator]
def _encode(data: Any, how: Any) -> Any: ...


@ibis.udf.scalar.builtin(name="textregexeq", signature=(("string", "string"), "boolean"))  # type: ignore[untyped-decorator]
def _fits(text: Any, grammar: Any) -> Any: ...


@ibis.udf.agg.builtin(name="sum", signature=(("int64",), "decimal(38, 0)"))  # type: ignore[untyped-decorator]
def _sum(terms: Any) -> Any: ...


@ibis.udf.scalar.builtin(name="int8larger", signature=(("int64", "int64"), "int64"))  # type: ignore[untyped-decorator]
def _larger(one: Any, other: Any) -> Any: ...


@ibis.udf.scalar.builtin(name="int8smaller", signature=(("int64", "int64"), "int64"))  # type: ignore[untyped-decorator]
def _smaller(one: Any, other: Any) -> Any: ...


_ANY = "noisewright_any"


@ibis.udf.scalar.builtin(name=f"{_ANY}_text", signature=(("string", "string"), "boolean"))  # type: ignore[untyped-decorator]
def _any_text(value: Any, array: Any) -> Any: ...


@ibis.udf.scalar.builtin(name=f"{_ANY}_bigint", signature=(("int64", "string"), "boolean"))  # type: ignore[untyped-decorator]
def _any_whole(value: Any, array: Any) -> Any: ...


@ibis.udf.scalar.builtin(name=f"{_ANY}_date", signature=(("date", "string"), "boolean"))  # type: ignore[untyped-decorator]
def _any_date(value: Any, array: Any) -> Any: ...


class Expressions(Plain):
    """What an engine gives as expressions, for PostgreSQL; `base.Engine` says what each is."""

    def number_of_text(self, text: Any) -> Any:
        """By the grammar its size is between 1e-240 and 1e240, so that the double of it is neither infinite nor 0."""
        return _fitting(text, GRAMMAR, "float64")

    def whole_of_text(self, text: Any) -> Any:
        return _fitting(text, WHOLE_GRAMMAR, "int64")

    def date_of_text(self, text: Any) -> Any:
        return _fitting(text, _DAY, "date")

    def time_of_text(self, text: Any) -> Any:
        return _fitting(text, _TIME, "timestamp(6)")

    def instant_of_text(self, text: Any) -> Any:
        return _fitting(text, _INSTANT, "timestamp('UTC', 6)")

    def bytes_of(self, text: Any) -> Any:
        return _convert_to(text.cast("string"), "UTF8")

    def digits_of(self, data: Any) -> Any:
        return _encode(data, "hex").upper()

    def hash_of(self, text: Any) -> Any:
        return _md5(text)

    def sum_of(self, terms: Any) -> Any:
        # PostgreSQL adds 64-bit numbers as decimals of any length; Ibis would take the result for one of 64 bits.
        return _sum(terms)

    def sum_text(self, terms: Any, largest: int) -> Any:
        return _sum(terms).cast("string")

    def clamped(self, whole: Any, first: int, last: int) -> Any:
        # LEAST and GREATEST take several times as long.
        return _smaller(_larger(whole, ibis.literal(first, "int64")), ibis.literal(last, "int64"))

    def among(self, column: Any, kind: str, values: Collection[Any]) -> Any:
        """A comparison with the ends of a dense list of whole numbers, otherwise one with an array, which is hashed.

        Texts are equal here by the collation of the column: to all that have equal bytes, and maybe to others.
        """
        if kind == "boolean":
            return column.notnull()
        if kind != "integer":
            return (_any_date if kind == "date" else _any_text)(column, array_text(values))
        dense = between_ends(column, values)
        if dense is None:
            return _any_whole(column.cast("int64"), array_text(values))
        # Of a CASE a server foresees that every second row is left; of two ends of what it knows nothing of, very few.
        return ibis.cases((dense, True), else_=False)

    def divisible(self, number: Any) -> Any:
        """Numbers so near to 0 that a quotient of them is no double are made 0."""
        zero = ibis.literal(0.0, "float64")
        return (number.abs() < ibis.literal(_TINY, "float64")).ifelse(zero, number)

    def cast(self, value: Any, to: Any) -> Any:
        """A cast that gives NULL where PostgreSQL would raise; refuses those that it does not have."""
        held, kind = value.type(), dt.dtype(to)
        if held.is_boolean() and kind.is_numeric():
            whole = ibis.cases((value, 1), (~value, 0), else_=ibis.null("int16")).cast("int64")
            return whole if kind == dt.int64 else whole.cast(kind)
        if kind.is_boolean():
            return value != 0
        if kind.is_floating():
            return _double(value) if kind == dt.float64 else single(_double(value))
        if kind.is_signed_integer():
            return _whole(value, kind)
        if kind.is_string() or kind.is_date():
            return value.cast(kind)
        why = f"PostgreSQL has no cast from {held} to {kind} that is the same as on other engines"
        raise NotPersonLocalError(f"Cast: {why}. Nothing was spent.", operation="Cast", reason=why)


def _fitting(text: Any, grammar: str, kind: str) -> Any:
    plain = text.cast("string").strip()
    return _fits(plain, f"^({grammar})$").ifelse(plain.cast(kind), ibis.null(kind))


def _double(value: Any) -> Any:
    """Numbers as doubles; a decimal that is none is NULL, as is one that may be too large to be one and is."""
    held = value.type()
    if not held.is_decimal():
        return value.cast("float64")
    number, nothing = value.cast("float64"), ibis.null("float64")
    if held.precision is not None and held.precision <= _DIGITS and 0 <= (held.scale or 0) <= _DIGITS:
        return number.isnan().ifelse(nothing, number)
    size = value.abs()
    far, near = (ibis.literal(end).cast("decimal") for end in (_LARGEST, _LEAST))
    return ibis.cases((size < near, ibis.literal(0.0, "float64")), (size < far, number), else_=nothing)


def single(value: Any) -> Any:
    """Doubles as singles: NULL for those beyond, 0 for those too near to it."""
    most, least = ibis.literal(3.4028235677973362e38, "float64"), ibis.literal(7.006492321624086e-46, "float64")
    return ibis.cases(
        (value.isnan() | value.isinf(), value.cast("float32")),
        (value.abs() > most, ibis.null("float32")),
        (value.abs() <= least, ibis.literal(0.0, "float64").cast("float32")),
        else_=value.cast("float32"),
    )


def _whole(value: Any, kind: Any) -> Any:
    low, high = WHOLES[kind.nbytes * 8]
    if value.type().is_floating():
        first, last = ibis.literal(-(2.0**63), "float64"), ibis.literal(2.0**63, "float64")
        value = ((value >= first) & (value < last)).ifelse(value.cast("int64"), ibis.null("int64"))
        if kind == dt.int64:
            return value
    elif value.type().is_integer() and value.type().nbytes <= kind.nbytes and kind != dt.int8:
        return value.cast(kind)
    fits = (value >= ibis.literal(low, "int64")) & (value <= ibis.literal(high, "int64"))
    return fits.ifelse(value.cast(kind), ibis.null(kind))


def listed(data: Any) -> str:
    """A query that gives the places of public keys: an array for each column, in text that PostgreSQL takes apart.

    Valid for: places that count from 0, and keys of which none is there twice. DISTINCT ON says so to PostgreSQL, which
    otherwise may hash the table instead of the list.
    """
    kinds = {"string": "text", "bool": "boolean", "int64": "bigint", "date32[day]": "date"}
    held = {name: kinds[str(data.schema.field(name).type)] for name in data.column_names if name != "place"}
    arrays = [f"CAST({_quoted(array_text(data[name].to_pylist()))} AS {kind}[])" for name, kind in held.items()]
    names = ", ".join(held)
    return (
        f"SELECT DISTINCT ON ({names}) ordinal - 1 AS place, {names}"
        f" FROM UNNEST({', '.join(arrays)}) WITH ORDINALITY AS listed({names}, ordinal)"
    )


def array_text(values: Iterable[Any]) -> str:
    """Values in PostgreSQL's text for arrays."""
    return "{" + ",".join(map(_element, values)) + "}"


def with_arrays(tree: Any) -> Any:
    """A query of sqlglot in which what `among` asks for is written as `value = ANY(array)`."""
    for node in list(tree.find_all(sge.Anonymous)):
        called, _, kind = str(node.this).rpartition("_")
        if called == _ANY:
            value, array = (
                sge.cast(node.expressions[i], to, dialect="postgres") for i, to in enumerate((kind, f"{kind}[]"))
            )
            any_of = sge.Any(this=sge.Paren(this=array))
            node.replace(sge.Paren(this=sge.EQ(this=value, expression=any_of)))
    return tree


def opaque(name: str, kind: Any) -> Any:
    """The scan barrier of PostgreSQL: a column as it is, in a function for which no index or constraint is looked up.

    Every text is read as text that is compared by its bytes. Otherwise blanks at the end, and whatever a collation
    takes for the same, would make two persons one; and texts of two collations cannot be compared at all, which
    PostgreSQL says only when it comes to a row.
    """
    value = column(name)
    if kind.is_decimal():
        value = sge.cast(value, "numeric", dialect="postgres")  # what Ibis takes for a decimal may be money
    if kind in _PLUS:
        if kind.is_int64():
            value = sge.cast(value, "bigint", dialect="postgres")  # ... and for a whole number, an oid
        return sge.Anonymous(this=_PLUS[kind], expressions=[value])
    if kind.is_string():
        plain = sge.cast(value, "text", dialect="postgres")
        value = sge.Collate(this=plain, expression=sge.to_identifier("C", quoted=True))
    there = sge.Not(this=sge.Is(this=column(name), expression=sge.Null()))
    return sge.Case(ifs=[sge.If(this=there, true=value)])


_PLUS = {
    kind.copy(nullable=nullable): name
    for kind, name in ((dt.int16, "int2up"), (dt.int32, "int4up"), (dt.int64, "int8up"), (dt.float64, "float8up"))
    for nullable in (True, False)
}
"""By type, PostgreSQL's unary plus: the quickest function that gives what it is given."""


def _element(value: Any) -> str:
    """A value of an array in PostgreSQL's text for arrays."""
    text = str(value)
    if not isinstance(value, str):
        return text
    if "\0" in text:
        raise InvalidTableError(f"the key {text!r} has a NUL in it, which no text of PostgreSQL has; leave it out.")
    return '"' + re.sub(r'(["\\])', r"\\\1", text) + '"'


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"

"""Expressions for PostgreSQL that no value makes fail."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Any

import ibis
import ibis.expr.datatypes as dt
import sqlglot.expressions as sge

from noisewright.problem.errors import InvalidTableError
from noisewright.release.engines.barrier import column
from noisewright.release.engines.expressions import Expressions, between_ends, no_cast, single, within, within_64_bits

if TYPE_CHECKING:
    import ibis.expr.types as ir
    import pyarrow as pa

_YEAR = r"([1-9][0-9]{3}|0[1-9][0-9]{2}|00[1-9][0-9]|000[1-9])"
_LEAP = r"([0-9]{2}(0[48]|[2468][048]|[13579][26])|(0[48]|[2468][048]|[13579][26])00)"
_DAY = (
    rf"({_YEAR}-(0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|{_YEAR}-(0[469]|11)-(0[1-9]|[12][0-9]|30)"
    rf"|{_YEAR}-02-(0[1-9]|1[0-9]|2[0-8])|{_LEAP}-02-29)"
)
"""The days of the calendar from the year 1 to 9999."""
_TINY = 1e-100
_DIGITS = 300
"""Decimals of so many digits are doubles, whatever they are."""
_LARGEST, _LEAST = "1e308", "1e-300"
"""Decimals between them are doubles; what is nearer to 0 is 0, what is farther away is NULL."""


@ibis.udf.scalar.builtin(name="md5", signature=(("string",), "string"))  # type: ignore[untyped-decorator]
def _md5(text: ir.Value) -> ir.Value: ...


@ibis.udf.scalar.builtin(name="convert_to", signature=(("string", "string"), "binary"))  # type: ignore[untyped-decorator]
def _convert_to(text: ir.Value, encoding: ir.Value) -> ir.Value: ...


@ibis.udf.scalar.builtin(name="encode", signature=(("binary", "string"), "string"))  # type: ignore[untyped-decorator]
def _encode(data: ir.Value, how: ir.Value) -> ir.Value: ...


@ibis.udf.scalar.builtin(name="textregexeq", signature=(("string", "string"), "boolean"))  # type: ignore[untyped-decorator]
def _matches(text: ir.Value, grammar: ir.Value) -> ir.Value: ...


@ibis.udf.agg.builtin(name="sum", signature=(("int64",), "decimal(38, 0)"))  # type: ignore[untyped-decorator]
def _sum(terms: ir.Value) -> ir.Value: ...


@ibis.udf.scalar.builtin(name="int8larger", signature=(("int64", "int64"), "int64"))  # type: ignore[untyped-decorator]
def _larger(one: ir.Value, other: ir.Value) -> ir.Value: ...


@ibis.udf.scalar.builtin(name="int8smaller", signature=(("int64", "int64"), "int64"))  # type: ignore[untyped-decorator]
def _smaller(one: ir.Value, other: ir.Value) -> ir.Value: ...


_ANY = "noisewright_any"


@ibis.udf.scalar.builtin(name=f"{_ANY}_text", signature=(("string", "string"), "boolean"))  # type: ignore[untyped-decorator]
def _any_text(value: ir.Value, array: ir.Value) -> ir.Value: ...


@ibis.udf.scalar.builtin(name=f"{_ANY}_bigint", signature=(("int64", "string"), "boolean"))  # type: ignore[untyped-decorator]
def _any_whole(value: ir.Value, array: ir.Value) -> ir.Value: ...


@ibis.udf.scalar.builtin(name=f"{_ANY}_date", signature=(("date", "string"), "boolean"))  # type: ignore[untyped-decorator]
def _any_date(value: ir.Value, array: ir.Value) -> ir.Value: ...


class PostgresExpressions(Expressions):
    """What an engine gives as expressions, for PostgreSQL; `base.Engine` says what each is."""

    day_grammar = _DAY

    def of_text(self, text: ir.StringValue, grammar: str, kind: str, length: int | None = None) -> ir.Value:
        # A cast of what does not fit would fail: no day that is none is handed on to it.
        plain = text.cast("string").strip()
        said = plain if length is None else plain.left(length)
        return _matches(plain, f"^({grammar})$").ifelse(said.cast(kind), ibis.null(kind))

    def bytes_of(self, text: ir.Value) -> ir.Value:
        return _convert_to(text.cast("string"), "UTF8")

    def digits_of(self, data: ir.Value) -> ir.Value:
        return _encode(data, "hex").upper()

    def hash_of(self, text: ir.Value) -> ir.Value:
        return _md5(text)

    def sum_of(self, terms: ir.Value) -> ir.Value:
        # PostgreSQL adds 64-bit numbers as decimals of any length; Ibis would take the result for one of 64 bits.
        return _sum(terms)

    def sum_text(self, terms: ir.Value, largest: int) -> ir.Value:
        return _sum(terms).cast("string")

    def clamped(self, whole: ir.Value, first: int, last: int) -> ir.Value:
        # LEAST and GREATEST take several times as long.
        return _smaller(_larger(whole, ibis.literal(first, "int64")), ibis.literal(last, "int64"))

    def among(self, column: ir.Value, kind: str, values: Collection[Any]) -> ir.Value:
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

    def divisible(self, number: ir.Value) -> ir.Value:
        """Numbers so near to 0 that a quotient of them is no double are made 0."""
        zero = ibis.literal(0.0, "float64")
        return (number.abs() < ibis.literal(_TINY, "float64")).ifelse(zero, number)

    def cast(self, value: ir.Value, to: str | dt.DataType) -> ir.Value:
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
        raise no_cast("PostgreSQL", held, kind)


def _double(value: ir.Value) -> ir.Value:
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


def _whole(value: ir.Value, kind: dt.DataType) -> ir.Value:
    if value.type().is_floating():
        value = within_64_bits(value).ifelse(value.cast("int64"), ibis.null("int64"))
        if kind == dt.int64:
            return value
    elif value.type().is_integer() and value.type().nbytes <= kind.nbytes and kind != dt.int8:
        return value.cast(kind)
    return within(value, kind).ifelse(value.cast(kind), ibis.null(kind))


def listed(data: pa.Table) -> str:
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


def array_text(values: Iterable[object]) -> str:
    """Values in PostgreSQL's text for arrays."""
    return "{" + ",".join(map(_element, values)) + "}"


def with_arrays(tree: sge.Expression) -> sge.Expression:
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


def opaque(name: str, kind: dt.DataType) -> sge.Expression:
    """The scan barrier of PostgreSQL: a column as it is, in a function for which no index or constraint is looked up.

    Every text is read as text that is compared by its bytes. Otherwise blanks at the end, and whatever a collation
    takes for the same, would make two persons one; and texts of two collations cannot be compared at all, which
    PostgreSQL says only when it comes to a row.
    """
    value: sge.Expression = column(name)
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


def _element(value: object) -> str:
    """A value of an array in PostgreSQL's text for arrays."""
    text = str(value)
    if not isinstance(value, str):
        return text
    if "\0" in text:
        raise InvalidTableError(f"the key {text!r} has a NUL in it, which no text of PostgreSQL has; leave it out.")
    return '"' + re.sub(r'(["\\])', r"\\\1", text) + '"'


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"

"""The last stage, the only one whose sensitivity is proven: from rows to whole numbers, written once over Ibis.

rows -> (unit, group, values) -> drop NULL and NaN -> clamp -> floor(x/step + 1/2) -> clamp the whole numbers ->
limit per person -> add whole numbers. Nothing is inferred about what came before: whatever a value was, after the
second clamp it is one of finitely many whole numbers, and after the limit a person has so many of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch
from typing import Any

import ibis

from noisewright.problem.errors import InvalidTableError
from noisewright.release.engines.base import Engine
from noisewright.release.groupings import Bins, Grouping, least_double
from noisewright.release.keys import Keys
from noisewright.release.numbers import Number, Persons, Present, Rows, Squares, Total
from noisewright.release.ranges import Range

UNIT, GROUP = "u", "k"


def number_of(column: Any, engine: Engine) -> Any:
    """A column as doubles: NULL where it is missing, NaN or text that is no number."""
    kind = column.type()
    if kind.is_string():
        return engine.number_of_text(column)
    if kind.is_boolean():
        return column.cast("int8").cast("float64")
    double = column.cast("float64")
    return double.isnan().ifelse(ibis.null("float64"), double) if kind.is_floating() else double


def index_of(number: Any, span: Range) -> Any:
    """The whole number that stands for a value of a range; NULL stays NULL.

    Guarantees: first <= index <= last wherever it is not NULL, whatever the number was, because of the last clamp.
    """
    low, high = (float(end) for end in span.bounds)
    inside = ibis.least(ibis.greatest(number, ibis.literal(low, "float64")), ibis.literal(high, "float64"))
    unit = span.unit
    parts = inside * ibis.literal(float(unit.denominator), "float64") / ibis.literal(float(unit.numerator), "float64")
    whole = (parts + ibis.literal(0.5, "float64")).floor()
    clamped = ibis.least(ibis.greatest(whole, ibis.literal(span.first, "int64")), ibis.literal(span.last, "int64"))
    return number.isnull().ifelse(ibis.null("int64"), clamped)


@singledispatch
def term(number: Number, table: Any, engine: Engine) -> Any:
    """What one row adds to a number; None for numbers that are counted instead."""
    raise TypeError(f"no rule for {type(number).__name__}")


@term.register
def _(number: Rows, table: Any, engine: Engine) -> None:
    return None


@term.register
def _(number: Persons, table: Any, engine: Engine) -> None:
    return None


@term.register
def _(number: Present, table: Any, engine: Engine) -> Any:
    return number_of(table[number.column], engine).notnull().cast("int64")


@term.register
def _(number: Total, table: Any, engine: Engine) -> Any:
    centre = number.range.centre if number.centred else 0
    index = index_of(number_of(table[number.column], engine), number.range)
    return (index - ibis.literal(centre, "int64")).fill_null(0)


@term.register
def _(number: Squares, table: Any, engine: Engine) -> Any:
    span = number.range
    distance = index_of(number_of(table[number.column], engine), span) - ibis.literal(span.centre, "int64")
    return (distance * distance - ibis.literal(span.half_square, "int64")).fill_null(0)


def bin_of(number: Any, bins: Bins) -> Any:
    """The place of the bin that holds a number; NULL where none does.

    Doubles are compared with the least double at or above each edge, so that every comparison is exact.
    """
    ends = [least_double(edge) for edge in bins.edges]
    top = float(bins.edges[-1])
    inside = (number >= ends[0]) & (number <= (top if top <= bins.edges[-1] else _below(ends[-1])))
    inside = number.notnull() if bins.clamped else inside
    cases = [(number < end, place) for place, end in enumerate(ends[1:-1])]
    place = ibis.cases(*cases, else_=len(ends) - 2) if cases else ibis.literal(0)
    return inside.ifelse(place.cast("int64"), ibis.null("int64"))


def _below(end: float) -> float:
    import math

    return math.nextafter(end, -math.inf)


def rows_of(table: Any, unit: str, grouping: Grouping, numbers: Sequence[Number], engine: Engine) -> Any:
    """Every row that counts: its unit, its group and what it adds to each number that is a sum.

    Rows whose unit is NULL, or whose keys are not listed, are left out. Listed keys are distinct, so that the join
    gives each row at most once.
    """
    terms = {f"t{place}": one for place, n in enumerate(numbers) if (one := term(n, table, engine)) is not None}
    keyed = {f"g{place}": table[column] for place, column in enumerate(grouping.keys.columns)} if grouping.keys else {}
    place = bin_of(number_of(table[grouping.bins.column], engine), grouping.bins) if grouping.bins else ibis.literal(0)
    found = table.select(**{UNIT: comparable(table[unit], engine)}, b=place.cast("int64"), **keyed, **terms)
    found = found.filter(found[UNIT].notnull() & found.b.notnull())
    if grouping.keys is None:
        return found.rename({GROUP: "b"})
    listed = key_table(grouping.keys, engine)
    matched = [
        comparable(found[f"g{i}"], engine) == comparable(listed[f"l{i}"], engine)
        for i in range(len(grouping.keys.columns))
    ]
    joined = found.join(listed, matched)
    each = len(grouping.bins.edges) - 1 if grouping.bins else 1
    return joined.select(UNIT, **{GROUP: joined.place * each + joined.b}, **{name: joined[name] for name in terms})


def comparable(column: Any, engine: Engine) -> Any:
    """A unit or key in a form whose equality is equality of bytes."""
    kind = column.type()
    if kind.is_string():
        return engine.bytes_of(column)
    return column.cast("int64") if kind.is_integer() and not kind.is_uint64() else column


def key_table(keys: Keys, engine: Engine) -> Any:
    """The listed keys as a public table with their places."""
    import pyarrow as pa

    kinds = {"text": pa.string(), "boolean": pa.bool_(), "integer": pa.int64(), "date": pa.date32()}
    columns = {f"l{i}": pa.array([row[i] for row in keys.rows], type=kinds[kind]) for i, kind in enumerate(keys.kinds)}
    return engine.small_table({"place": pa.array(range(len(keys.rows)), type=pa.int64()), **columns})


def totals(rows: Any, numbers: Sequence[Number], engine: Engine, *, person: str | None) -> Any:
    """The sums of each group, as texts of whole numbers.

    `person` is the column that is 1 for one row of each person in a group; without one, every row is a person.
    """
    sums = {"n0": rows.count().cast("string")}
    for place, number in enumerate(numbers):
        if isinstance(number, Persons) and person is not None:
            sums[f"s{place}"] = engine.sum_text(rows[person])
        elif f"t{place}" in rows.columns:
            sums[f"s{place}"] = engine.sum_text(rows[f"t{place}"])
    return rows.group_by(GROUP).agg(**sums)


def require_key_types(table: Any, keys: Keys) -> None:
    """Refuse keys whose kind is not that of their column: text for text, whole for whole, and so on."""
    for column, kind in zip(keys.columns, keys.kinds, strict=True):
        held = table[column].type()
        fits = {
            "text": held.is_string(),
            "boolean": held.is_boolean(),
            "integer": held.is_integer() and not held.is_uint64(),
            "date": held.is_date(),
        }
        if not fits[kind]:
            raise InvalidTableError(
                f"the keys of {column!r} are {kind}, but the column holds {held}; give keys of its type, or say how"
                f' text is read with types={{"{column}": "{kind}"}}.',
                column=column,
            )

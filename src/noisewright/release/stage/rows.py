"""The last stage, the only one whose sensitivity is proven: from rows to whole numbers, written once over Ibis.

rows -> (unit, group, values) -> drop NULL and NaN -> clamp -> floor(x/step + 1/2) -> clamp the whole numbers ->
limit per person -> add whole numbers. Nothing is inferred about what came before: whatever a value was, after the
second clamp it is one of finitely many whole numbers, and after the limit a person has so many of them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import UTC
from functools import singledispatch
from typing import Any

import ibis

from noisewright.release.engines.base import Engine
from noisewright.release.stage.aggregates import Number, Partial, Persons, Present, Rows, Squares, Total
from noisewright.release.stage.groupings import Bins, Grouping, least_double
from noisewright.release.stage.ranges import Range
from noisewright.release.stage.times import TimeBins
from noisewright.release.table.keys import Keys

UNIT, GROUP = "u", "k"
_NANOSECONDS = 9


def number_of(column: Any, engine: Engine) -> Any:
    """A column as doubles: NULL where it is missing, NaN or text that is no number."""
    double = double_of(column, engine)
    return double.isnan().ifelse(ibis.null("float64"), double) if column.type().is_floating() else double


def double_of(column: Any, engine: Engine) -> Any:
    """A column as doubles: NULL where it is missing or text that is no number; NaN stays."""
    kind = column.type()
    if kind.is_string():
        return engine.number_of_text(column)
    if kind.is_boolean():
        return engine.cast(column, "int8").cast("float64")
    return engine.cast(column, "float64") if kind.is_decimal() else column.cast("float64")


def index_of(number: Any, span: Range, engine: Engine, *, less: int = 0, missing: int | None = None) -> Any:
    """The whole number that stands for a double of a range, less a constant; `missing` or NULL for NULL and NaN.

    Guarantees: first <= index <= last wherever there is one, whatever the number was, because of the last clamp.
    Only numbers between the bounds are multiplied and cast, so that nothing overflows; where it costs nothing the cast
    is total by itself besides. They are asked for first: an engine that works with columns then looks at the other
    cases for the few rows that are left. One whose floors are total asks of the whole number where it is, once.
    """
    low, high = (float(end) for end in span.bounds)
    factor, divisor = float(span.unit.denominator), float(span.unit.numerator)
    parts = number if factor == 1 else number * ibis.literal(factor, "float64")
    parts = parts if divisor == 1 else engine.divisible(parts) / ibis.literal(divisor, "float64")
    whole = engine.floor_of(parts + ibis.literal(0.5, "float64"))
    clamped = engine.clamped(whole, span.first, span.last)
    inside = clamped - ibis.literal(less, "int64") if less else clamped
    nothing = ibis.null("int64") if missing is None else ibis.literal(missing, "int64")
    bottom, top = (min(max(math.floor(end * factor / divisor + 0.5), span.first), span.last) for end in (low, high))
    between = (number > ibis.literal(low, "float64")) & (number < ibis.literal(high, "float64"))
    held = whole.between(ibis.literal(bottom, "int64"), ibis.literal(top, "int64"))
    known = whole - ibis.literal(less, "int64") if less else whole
    return ibis.cases(
        *([(held, known)] if engine.floors_all else []),
        (between, inside),
        (number.isnan(), nothing),
        (number >= ibis.literal(high, "float64"), ibis.literal(top - less, "int64")),
        (number <= ibis.literal(low, "float64"), ibis.literal(bottom - less, "int64")),
        else_=nothing,
    )


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
    there = number_of(table[number.column], engine).notnull()
    return there.ifelse(ibis.literal(1, "int64"), ibis.literal(0, "int64"))


@term.register
def _(number: Total, table: Any, engine: Engine) -> Any:
    centre = number.range.centre if number.centred else 0
    return index_of(double_of(table[number.column], engine), number.range, engine, less=centre, missing=0)


@term.register
def _(number: Partial, table: Any, engine: Engine) -> Any:
    return index_of(double_of(table[number.column], engine), number.range, engine, missing=0)


@term.register
def _(number: Squares, table: Any, engine: Engine) -> Any:
    span = number.range
    distance = index_of(double_of(table[number.column], engine), span, engine, less=span.centre)
    return (distance * distance - ibis.literal(span.half_square, "int64")).fill_null(0)


@singledispatch
def bin_of(bins: Any, column: Any, engine: Engine) -> Any:
    """The place of the bin that holds a value of a column; NULL where none does."""
    raise TypeError(f"no rule for {type(bins).__name__}")


@bin_of.register
def _(bins: Bins, column: Any, engine: Engine) -> Any:
    """Doubles are compared with the least double at or above each edge, so that every comparison is exact."""
    number = number_of(column, engine)
    ends = [least_double(edge) for edge in bins.edges]
    top = float(bins.edges[-1])
    inside = (number >= ends[0]) & (number <= (top if top <= bins.edges[-1] else _below(ends[-1])))
    inside = number.notnull() if bins.clamped else inside
    return _first_below(number, ends[1:-1], inside)


@bin_of.register
def _(bins: TimeBins, column: Any, engine: Engine) -> Any:
    """Times are compared with times of their own type: a cast of the column could fail on a value."""
    kind = column.type()
    moments = bins.moments(nanoseconds=kind.is_timestamp() and kind.scale == _NANOSECONDS)
    if kind.is_date():
        ends = [ibis.literal(moment.date()) for moment in moments]
    elif kind.timezone is None:
        ends = [ibis.literal(moment).cast(kind) for moment in moments]
    else:
        ends = [ibis.literal(moment.replace(tzinfo=UTC), "timestamp('UTC')") for moment in moments]
    return _first_below(column, ends[1:-1], (column >= ends[0]) & (column < ends[-1]))


def _first_below(value: Any, ends: Sequence[Any], inside: Any) -> Any:
    """The place of the first end that a value is below, and the one after all ends; NULL for a value not inside."""
    cases = [(value < end, place) for place, end in enumerate(ends)]
    place = ibis.cases(*cases, else_=len(ends)) if cases else ibis.literal(0)
    return inside.ifelse(place.cast("int64"), ibis.null("int64"))


def _below(end: float) -> float:
    return math.nextafter(end, -math.inf)


def rows_of(table: Any, unit: str, grouping: Grouping, numbers: Sequence[Number], engine: Engine) -> Any:
    """Every row that counts: its unit, its group and what it adds to each number that is a sum.

    Rows whose unit is NULL, or whose keys are not listed, are left out. Listed keys are distinct, so that the join
    gives each row at most once.
    """
    return _grouped(_unlisted(table, unit, grouping, numbers, engine), grouping, engine)


def _grouped(found: Any, grouping: Grouping, engine: Engine) -> Any:
    """Rows with the groups of their keys and bins."""
    if grouping.keys is None:
        return found.rename({GROUP: "b"})
    joined = _listed(found, grouping.keys, engine)
    terms = {name: joined[name] for name in found.columns if name.startswith("t")}
    return joined.select(UNIT, **{GROUP: _group(joined.place, joined, grouping)}, **terms)


def _group(place: Any, rows: Any, grouping: Grouping) -> Any:
    """The group of the place of a key and the bin of a row."""
    return place * grouping.bins.count + rows.b if grouping.bins else place


def counted(table: Any, unit: str, grouping: Grouping, numbers: Sequence[Number], engine: Engine) -> Any:
    """The sums of each listed group where every row counts and is a person: `totals` of `rows_of`.

    Where the engine says how listed keys are known by themselves, rows are added up by key first, and only the sums
    are joined with the list: the same rows in the same groups, because equal keys are equal bytes in both. Where no
    unit is missing, units need not be read.
    """
    everybody = engine.is_whole(table[unit])
    places, found = dict(enumerate(numbers)), _unlisted(table, unit, grouping, numbers, engine, everybody=everybody)
    few = _among(found, grouping.keys, engine) if grouping.keys else []
    if grouping.keys is None or any(one is None for one in few):
        return totals(_grouped(found, grouping, engine), places, engine)
    own = {f"g{i}": comparable(found[f"g{i}"], engine) for i in range(len(few))}
    changed = {name: column for name, column in own.items() if not column.equals(found[name])}
    by, run = ["b", *own] if grouping.bins else list(own), _run(grouping.keys)
    kept = found.filter(few)
    summed = totals(kept.mutate(**changed) if changed else kept, places, engine, by)
    joined = _listed(summed, grouping.keys, engine) if run is None else summed
    place = joined.place if run is None else joined.g0 - ibis.literal(run[0], "int64")
    sums = {f"s{number}": joined[f"s{number}"] for number in places}
    return joined.select(**{GROUP: _group(place, joined, grouping)}, **sums)


def _run(keys: Keys) -> range | None:
    """Keys of one column that are one whole number after the other; None for any others."""
    if keys.kinds != ("integer",):
        return None
    first: Any = keys.rows[0][0]
    run = range(first, first + len(keys.rows))
    return run if all(row == (value,) for row, value in zip(keys.rows, run, strict=True)) else None


def _among(found: Any, keys: Keys, engine: Engine) -> list[Any]:
    """For each column of keys, what holds for its listed values and few others; None where the engine says nothing."""
    columns = zip(keys.kinds, zip(*keys.rows, strict=True), strict=True)
    return [engine.among(found[f"g{i}"], kind, list(dict.fromkeys(values))) for i, (kind, values) in enumerate(columns)]


def _unlisted(
    table: Any, unit: str, grouping: Grouping, numbers: Sequence[Number], engine: Engine, *, everybody: bool = False
) -> Any:
    """Every row of a person that is in a bin: its unit, bin, keys and what it adds to each number that is a sum.

    `everybody` says that no unit is missing.
    """
    terms = {f"t{place}": one for place, n in enumerate(numbers) if (one := term(n, table, engine)) is not None}
    keyed = {f"g{place}": table[column] for place, column in enumerate(grouping.keys.columns)} if grouping.keys else {}
    place = bin_of(grouping.bins, table[grouping.bins.column], engine) if grouping.bins else ibis.literal(0)
    found = table.select(**{UNIT: comparable(table[unit], engine)}, b=place.cast("int64"), **keyed, **terms)
    asked = ([] if everybody else [UNIT]) + (["b"] if grouping.bins else [])
    return found.filter([found[name].notnull() for name in asked]) if asked else found


def _listed(found: Any, keys: Keys, engine: Engine) -> Any:
    """Rows with the places of their keys in the list."""
    listed = key_table(keys, engine)
    columns = range(len(keys.columns))
    matched = [comparable(found[f"g{i}"], engine) == comparable(listed[f"l{i}"], engine) for i in columns]
    return found.join(listed, matched)


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


def totals(rows: Any, numbers: Mapping[int, Number], engine: Engine, by: Sequence[str] = (GROUP,)) -> Any:
    """The sums of each group over its rows, as texts of whole numbers, by the places of their numbers.

    Each row is a whole person for numbers that are about persons: those are counted, and clamped, row by row.
    """
    sums = {}
    for place, number in numbers.items():
        if isinstance(number, Partial):
            sums[f"s{place}"] = engine.sum_text(_within(rows[f"t{place}"], number), number.extent(1))
        elif f"t{place}" in rows.columns:
            sums[f"s{place}"] = engine.sum_text(rows[f"t{place}"], number.extent(1))
        else:
            sums[f"s{place}"] = rows.count().cast("string")
    return rows.group_by(list(by)).agg(**sums)


def persons_of(rows: Any, numbers: Mapping[int, Number], engine: Engine) -> Any:
    """One row for each person in each group, with the sum of all of that person's rows for each partial number.

    Guarantees: each sum is within the clamps of its number, so that it fits into 64 bits, however many rows there are.
    """
    sums = {
        f"t{place}": _within(engine.sum_of(rows[f"t{place}"]), number).cast("int64")
        for place, number in numbers.items()
        if isinstance(number, Partial)
    }
    return rows.group_by([UNIT, GROUP]).agg(**sums)


def _within(whole: Any, number: Partial) -> Any:
    """A whole number clamped to what one person may add to a partial sum."""
    first, last = ibis.literal(number.first, "int64"), ibis.literal(number.last, "int64")
    return ibis.least(ibis.greatest(whole, first), last)

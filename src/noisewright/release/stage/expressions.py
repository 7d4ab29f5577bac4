"""Columns of a table as integers, in expressions of Ibis that are total: no value may make one of them fail.

Nothing is inferred about what came before: whatever a value was, after the last clamp it is one of finitely many
integers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import ibis

from noisewright.release.engines.base import Engine
from noisewright.release.stage.ranges import Range

if TYPE_CHECKING:
    import ibis.expr.types as ir


def literal(value: int) -> ir.Value:
    """An integer as a constant of 64 bits."""
    return ibis.literal(value, "int64")


def number_of(column: ir.Value, engine: Engine) -> ir.Value:
    """A column as doubles: NULL where it is missing, NaN or text that is no number."""
    double = double_of(column, engine)
    return double.isnan().ifelse(ibis.null("float64"), double) if column.type().is_floating() else double


def double_of(column: ir.Value, engine: Engine) -> ir.Value:
    """A column as doubles: NULL where it is missing or text that is no number; NaN stays.

    Questions about texts are refused before; should one come here, no value may make it fail.
    """
    kind = column.type()
    if kind.is_string():
        return engine.number_of_text(column)
    if kind.is_boolean():
        return engine.cast(column, "int8").cast("float64")
    return engine.cast(column, "float64") if kind.is_decimal() else column.cast("float64")


def index_of(number: ir.Value, span: Range, engine: Engine, *, less: int = 0, missing: int | None = None) -> ir.Value:
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
    inside = clamped - literal(less) if less else clamped
    nothing = ibis.null("int64") if missing is None else literal(missing)
    bottom, top = (min(max(math.floor(end * factor / divisor + 0.5), span.first), span.last) for end in (low, high))
    between = (number > ibis.literal(low, "float64")) & (number < ibis.literal(high, "float64"))
    held = whole.between(literal(bottom), literal(top))
    known = whole - literal(less) if less else whole
    return ibis.cases(
        *([(held, known)] if engine.floors_all else []),
        (between, inside),
        (number.isnan(), nothing),
        (number >= ibis.literal(high, "float64"), literal(top - less)),
        (number <= ibis.literal(low, "float64"), literal(bottom - less)),
        else_=nothing,
    )


def first_below(value: ir.Value, ends: Sequence[ir.Value | float], inside: ir.Value) -> ir.Value:
    """The place of the first end that a value is below, and the one after all ends; NULL for a value not inside."""
    cases = [(value < end, place) for place, end in enumerate(ends)]
    place = ibis.cases(*cases, else_=len(ends)) if cases else ibis.literal(0)
    return inside.ifelse(place.cast("int64"), ibis.null("int64"))


def comparable(column: ir.Value, engine: Engine) -> ir.Value:
    """A unit or key in a form whose equality is equality of bytes."""
    kind = column.type()
    if kind.is_string():
        return engine.bytes_of(column)
    return column.cast("int64") if kind.is_integer() and not kind.is_uint64() else column

"""Which functions of a row may stand before the last stage, each with the reason why no value makes it raise.

An error after the charge would tell something about the value that raised it. What can raise is rewritten so that it
gives NULL instead, or refused; what is not on the list is refused. A filter does not protect a function: an optimiser
may evaluate it on rows that the filter drops.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from operator import mul
from typing import Any

import ibis
import ibis.expr.datatypes as dt
import ibis.expr.operations as ops
import ibis.expr.types as ir

from noisewright.problem.errors import NotPersonLocalError
from noisewright.release.engines.base import Engine
from noisewright.release.table.kinds import COARSE, constant, hides_nanoseconds, is_carried, is_coarse, why_not_alike

_WHOLE_LIMIT = 9.0e15
_LONGEST = 10**6
_LARGEST_POWER = 8
_ESCAPED = set("\\'\"")

TOTAL: dict[type, str] = {
    **dict.fromkeys((ops.Field, ops.Literal, ops.Alias), "reads what is there"),
    **dict.fromkeys((ops.Equals, ops.NotEquals, ops.IdenticalTo), "compares any two values of one type"),
    **dict.fromkeys((ops.Less, ops.LessEqual, ops.Greater, ops.GreaterEqual, ops.Between), "orders any two values"),
    **dict.fromkeys((ops.And, ops.Or, ops.Xor, ops.Not), "is defined for true, false and NULL"),
    **dict.fromkeys((ops.IsNull, ops.NotNull, ops.IsNan, ops.IsInf), "asks about one value"),
    **dict.fromkeys((ops.InValues, ops.Coalesce, ops.NullIf), "chooses among values that are there"),
    **dict.fromkeys((ops.IfElse, ops.SimpleCase, ops.SearchedCase), "chooses among values that are there"),
    **dict.fromkeys((ops.Greatest, ops.Least), "chooses among values that are there"),
    **dict.fromkeys((ops.Lowercase, ops.Uppercase, ops.Strip, ops.LStrip, ops.RStrip), "maps any text to text"),
    **dict.fromkeys((ops.StringLength, ops.StartsWith, ops.EndsWith, ops.StringContains), "is defined for any text"),
    **dict.fromkeys((ops.Substring, ops.StringConcat), "is defined for any text; ends outside of it give less"),
    ops.Translate: "each letter becomes another one, of two lists that are written down",
    **dict.fromkeys((ops.ExtractYear, ops.ExtractMonth, ops.ExtractDay, ops.ExtractQuarter), "NULL for infinite days"),
    **dict.fromkeys((ops.ExtractHour, ops.ExtractMinute, ops.DayOfWeekIndex), "NULL for infinite times"),
    **dict.fromkeys(
        (ops.Add, ops.Subtract, ops.Multiply, ops.Negate, ops.Abs), "done in doubles, which cannot overflow"
    ),
    **dict.fromkeys((ops.Divide,), "done in doubles; a divisor of 0 is made NULL"),
    ops.Power: "done in doubles as a product, for a whole exponent from 1 to 8 that is written down",
    **dict.fromkeys((ops.Modulus, ops.FloorDivide), "done in doubles by a positive number that is written down"),
    **dict.fromkeys((ops.Sqrt, ops.Ln, ops.Log2, ops.Log10), "arguments without a value are made NULL"),
    **dict.fromkeys((ops.Floor, ops.Ceil, ops.Round), "arguments that are not finite or beyond 9e15 are made NULL"),
    **dict.fromkeys((ops.Cast, ops.TryCast), "rewritten to give NULL where the engine would raise"),
    ops.Date: "the day of a time",
}
"""Functions of one row, and why each is total."""

REDUCTIONS: dict[type, str] = {
    **dict.fromkeys((ops.CountStar, ops.Count, ops.CountDistinct), "counts"),
    **dict.fromkeys((ops.Min, ops.Max), "does not depend on the order of rows"),
    **dict.fromkeys((ops.Any, ops.All), "does not depend on the order of rows"),
}
"""Summaries of a person's own rows that do not depend on their order."""

REASONS: dict[type, str] = {
    ops.Sum: "a sum of floats depends on the order of the rows, and so on other persons; sum in the question instead",
    ops.Mean: "an average of floats depends on the order of the rows; ask nw.mean instead",
    ops.Variance: "a float variance depends on the order of the rows; ask nw.ask.variance instead",
    ops.StandardDev: "a float deviation depends on the order of the rows; ask nw.ask.variance instead",
    ops.ScalarSubquery: "its result depends on everybody's rows",
    ops.InSubquery: "whether a row stays would depend on other persons' rows; use join_public or join",
    ops.ExistsSubquery: "whether a row stays would depend on other persons' rows; use join_public or join",
    ops.RandomScalar: "it is different each time it is evaluated",
    ops.RandomUUID: "it is different each time it is evaluated",
    ops.RowID: "row numbers depend on where other persons' rows are stored",
    ops.RowNumber: "the order of equal rows, and so the number, depends on how they are stored",
    ops.Lag: "the row before depends on the order in which rows are stored",
    ops.Lead: "the row after depends on the order in which rows are stored",
    ops.First: "which row is first depends on how they are stored",
    ops.Last: "which row is last depends on how they are stored",
    ops.Arbitrary: "which value it takes depends on how rows are stored",
    ops.ArgMax: "which of several rows it takes depends on how they are stored",
    ops.ArgMin: "which of several rows it takes depends on how they are stored",
    ops.Mode: "which of several values it takes depends on how rows are stored",
    ops.ArrayCollect: "the order of the list depends on how rows are stored",
    ops.GroupConcat: "the order of the text depends on how rows are stored",
    ops.Unnest: "it makes many rows of one; do it before, in a table of its own",
    ops.TimestampNow: "it depends on the clock",
    ops.DateNow: "it depends on the clock",
    ops.Exp: "it may overflow",
    ops.Repeat: "it may need more memory than there is",
    ops.Hash: "its result differs between engines and versions",
    ops.ScalarUDF: "nobody has checked that it is pure and defined for every value",
}
"""Why functions that people try are refused."""


def refused(node: ops.Node, reason: str | None = None) -> NotPersonLocalError:
    """The refusal of one operation."""
    name = type(node).__name__
    why = reason or next((text for kind, text in REASONS.items() if isinstance(node, kind)), None)
    why = why or "it is not on the list of operations that are proven to be total and to keep persons apart"
    return NotPersonLocalError(
        f"{name} cannot stand before a private answer: {why}. Nothing was spent.", operation=name, reason=why
    )


def inside(value: ops.Value, kinds: type | tuple[type, ...]) -> list[Any]:
    """The operations of some kinds that a value is made of, without those of the relations it reads."""
    found: list[Any] = value.find(kinds, filter=ops.Value)
    return found


def require_total(value: ops.Value) -> None:
    """Refuse a value made with anything but listed functions of one row, of columns of types that are read."""
    for node in inside(value, ops.Value):
        if type(node) not in TOTAL and type(node) not in REDUCTIONS and not isinstance(node, ops.WindowFunction):
            raise refused(node)
        if type(node) not in _CARRYING:
            for given in _flat(node.args):
                require_read(given)


def require_read(value: ops.Value) -> None:
    """Refuse a value of a type whose meaning or order nobody has looked at, by the name of its column.

    Engines order and compare such values each in its own way, or fail; they are carried along as they are.
    """
    if isinstance(value, ops.Value) and is_carried(value):
        why = f"{value.name!r} holds {' '.join(str(value.dtype).split())}, which is only carried along"
        raise refused(value, f"{why} and asked whether it is missing; leave it out, or make it something else before")


def _flat(given: object) -> list[Any]:
    """The arguments of an operation, one after the other."""
    return [inner for one in given for inner in _flat(one)] if isinstance(given, tuple) else [given]


_CARRYING = (ops.Field, ops.Alias, ops.IsNull, ops.NotNull, ops.Literal, ops.CountStar, ops.Count)
"""What is asked of a value whatever its type is."""


def rewriting(engine: Engine) -> Callable[[Any, Any], Any]:
    """What replaces each operation of a query by one that is total; for `Node.replace`."""

    def replace(node: ops.Node, changed: Mapping[str, ops.Node] | None) -> Any:
        given = dict(zip(node.argnames, node.args, strict=True)) | dict(changed or {})
        rule = _RULES.get(type(node))
        if rule is not None:
            return rule(node, given, engine)
        return node.__recreate__(given) if changed else node

    return replace


def _double(value: ops.Value, engine: Engine) -> Any:
    exact = value.dtype.is_decimal() or value.dtype.is_boolean()
    return engine.cast(value.to_expr(), "float64") if exact else value.to_expr().cast("float64")


def _unless(wrong: ir.Value, value: ops.Value) -> Any:
    return wrong.ifelse(ibis.null("float64"), value)


def _alike(node: ops.Node, given: Mapping[str, ops.Node], engine: Engine) -> Any:
    """Values that are compared or chosen among have one kind, so that no engine casts one into another's.

    Decimals are made doubles, whatever they stand beside: engines cast whole numbers and decimals into a decimal of 38
    digits, which fails on large ones, and a column of 128 bits looks like a decimal here. So is whatever stands beside
    doubles or singles: DuckDB's NULLIF of a whole number and a double is whole, and its 0.1 beside a single is one.
    """
    if isinstance(node, ops.SimpleCase | ops.SearchedCase):
        sets = [["base", "cases"]] if isinstance(node, ops.SimpleCase) else []
        sets += [["results", "default"]]
    else:
        sets = [[name for name in given if name != "bool_expr"]]
    changed = dict(given)
    for names in sets:
        values = [value for name in names for value in _each(changed[name]) if not value.dtype.is_null()]
        if (why := why_not_alike(values)) is not None:
            raise refused(node, why)
        kinds = {value.dtype.copy(nullable=True) for value in values}
        if any(kind.is_decimal() or (kind.is_floating() and len(kinds) > 1) for kind in kinds):
            for name in names:
                doubles = tuple(_double(value, engine).op() for value in _each(changed[name]))
                changed[name] = doubles if isinstance(changed[name], tuple) else doubles[0]
    found = node.__recreate__(changed)
    if hides_nanoseconds(found, values):  # those it chooses among come last
        raise refused(node, "it mixes times counted in nanoseconds with a constant; make them TIMESTAMP in the table")
    return found


def _each(value: ops.Value) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def _literal(node: ops.Node, given: Mapping[str, ops.Node], engine: Engine) -> Any:
    found = constant(node)
    if found is None:
        raise refused(node, f"a constant of type {node.dtype} is not on the list, or is none that an engine can write")
    return found


def _filled(node: ops.Node, given: Mapping[str, ops.Node], engine: Engine) -> Any:
    """Missing values of the named columns replaced by a constant of the column's kind."""
    parent = given["parent"].to_expr()
    if not isinstance(node.replacements, Mapping):
        raise refused(node, "it fills every column with one value; name the columns to fill")
    changed = {}
    for name, value in node.replacements.items():
        constant = _literal(ibis.literal(value).op(), {}, engine)
        both = ops.Coalesce((parent[name].op(), constant))
        changed[name] = _alike(both, {"arg": both.arg}, engine).to_expr()
    return parent.mutate(**changed).op()


def _arithmetic(node: ops.Node, given: Mapping[str, ops.Node], engine: Engine) -> Any:
    if not all(value.dtype.is_numeric() for value in given.values()):
        raise refused(node, "only numbers are added and multiplied; dates and spans of time are not")
    return type(node)(**{name: _double(value, engine).op() for name, value in given.items()})


def _divide(node: ops.Node, given: Mapping[str, ops.Node], engine: Engine) -> Any:
    bottom = _double(given["right"], engine)
    return (_double(given["left"], engine) / _unless(bottom == 0, bottom)).op()


def _power(node: ops.Node, given: Mapping[str, ops.Node], engine: Engine) -> Any:
    exponent = given["right"]
    if not isinstance(exponent, ops.Literal) or exponent.value not in range(1, _LARGEST_POWER + 1):
        raise refused(node, f"it may overflow unless the exponent is written down and is 1 to {_LARGEST_POWER}")
    return reduce(mul, [_double(given["left"], engine)] * int(exponent.value)).op()


def _by_a_constant(node: ops.Node, given: Mapping[str, ops.Node], engine: Engine) -> Any:
    right = given["right"]
    if not isinstance(right, ops.Literal) or right.value is None or not 0 < right.value < 2**53:
        raise refused(
            node, "it is defined for every value only if the divisor is a positive number that is written down"
        )
    top, bottom = _double(given["left"], engine), ibis.literal(float(right.value), "float64")
    quotient = _whole(top / bottom, "floor").cast("float64")
    return quotient.op() if isinstance(node, ops.FloorDivide) else (top - quotient * bottom).op()


def _root(node: ops.Node, given: Mapping[str, ops.Node], engine: Engine) -> Any:
    value = _double(given["arg"], engine)
    wrong = value < 0 if isinstance(node, ops.Sqrt) else value <= 0
    return type(node)(_unless(wrong, value).op())


def _whole(value: ops.Value, how: str) -> Any:
    finite = _unless(value.isnan() | (value > _WHOLE_LIMIT) | (value < -_WHOLE_LIMIT), value)
    return getattr(finite, how)()


def _rounding(node: ops.Node, given: Mapping[str, ops.Node], engine: Engine) -> Any:
    if not isinstance(node, ops.Round):
        return _whole(_double(given["arg"], engine), type(node).__name__.lower()).op()
    digits = given.get("digits")
    if digits is not None and not (isinstance(digits, ops.Literal) and digits.value == 0):
        raise refused(node, "rounding to digits differs between engines; the question rounds to its step")
    # Engines round a half up, down or to even; the floor of x + 1/2 is one and the same.
    return _whole(_double(given["arg"], engine) + 0.5, "floor").op()


def _cast(node: ops.Node, given: Mapping[str, ops.Node], engine: Engine) -> Any:
    if is_coarse(given["arg"]):
        raise refused(node, COARSE)
    value, to = given["arg"].to_expr(), given["to"]
    held = value.type()
    if held == to:
        return value.op()
    if held.is_string():
        return _cast_text(node, value, to, engine).op()
    if to.is_string() and not (held.is_integer() or held.is_boolean() or held.is_uuid()):
        raise refused(node, f"the text of a {held} differs between engines")
    if held.is_timestamp() and held.timezone is not None:
        raise refused(node, "what a day is depends on a zone; use times without one")
    if held.is_numeric() and (to.is_numeric() or to.is_boolean()):
        return engine.cast(value, to).op()
    if (held.is_boolean() and to.is_numeric()) or to.is_string() or (held.is_timestamp() and to.is_date()):
        return engine.cast(value, to).op()
    raise refused(node, f"a cast from {held} to {to} is not on the list")


def _cast_text(node: ops.Node, text: ir.Value, to: dt.DataType, engine: Engine) -> Any:
    if to.is_floating():
        number = engine.number_of_text(text)
        return number if to == dt.float64 else engine.cast(number, to)
    if to.is_integer():
        return engine.cast(engine.whole_of_text(text), to)
    if to.is_date():
        return engine.date_of_text(text)
    if to.is_timestamp():
        return engine.time_of_text(text) if to.timezone is None else engine.instant_of_text(text)
    raise refused(node, f"text is cast to numbers, dates and times, not to {to}")


def _substring(node: ops.Node, given: Mapping[str, ops.Node], engine: Engine) -> Any:
    ends = [given[name] for name in ("start", "length") if given.get(name) is not None]
    if not all(isinstance(end, ops.Literal) and end.value is not None and abs(end.value) <= _LONGEST for end in ends):
        raise refused(node, f"a place in a text is a number that is written down, of at most {_LONGEST}")
    return node.__recreate__(dict(given))


def _translated(node: ops.Node, given: Mapping[str, ops.Node], engine: Engine) -> Any:
    first, second = (_letters(given[name]) for name in ("from_str", "to_str"))
    if not first or len(first) != len(second) or len(set(first)) < len(first):
        raise refused(
            node, "which letter becomes which is written down, in two lists of ASCII letters, each as long as the other"
        )
    return node.__recreate__(dict(given))


def _letters(value: ops.Node) -> str:
    """ASCII letters that are written down and that no engine escapes; empty for anything else."""
    text = value.value if isinstance(value, ops.Literal) else None
    if not isinstance(text, str) or not text.isascii() or not text.isprintable() or _ESCAPED & set(text):
        return ""
    return text


def _of_a_day(node: ops.Node, given: Mapping[str, ops.Node], engine: Engine) -> Any:
    held = given["arg"].dtype
    if is_coarse(given["arg"]) or (not held.is_date() and not (held.is_timestamp() and held.timezone is None)):
        zone = "what an hour or a day is depends on a zone; use dates, or times without a zone"
        raise refused(node, COARSE if is_coarse(given["arg"]) else zone)
    return node.__recreate__(dict(given))


_RULES: dict[type, Callable[[Any, Mapping[str, Any], Engine], Any]] = {
    ops.Literal: _literal,
    ops.FillNull: _filled,
    **dict.fromkeys((ops.Equals, ops.NotEquals, ops.IdenticalTo, ops.Less, ops.LessEqual, ops.Greater), _alike),
    **dict.fromkeys((ops.GreaterEqual, ops.Between, ops.InValues, ops.Coalesce, ops.NullIf, ops.IfElse), _alike),
    **dict.fromkeys((ops.SimpleCase, ops.SearchedCase, ops.Greatest, ops.Least), _alike),
    **dict.fromkeys((ops.Add, ops.Subtract, ops.Multiply, ops.Negate, ops.Abs), _arithmetic),
    ops.Divide: _divide,
    ops.Power: _power,
    **dict.fromkeys((ops.Modulus, ops.FloorDivide), _by_a_constant),
    **dict.fromkeys((ops.Sqrt, ops.Ln, ops.Log2, ops.Log10), _root),
    **dict.fromkeys((ops.Floor, ops.Ceil, ops.Round), _rounding),
    **dict.fromkeys((ops.Cast, ops.TryCast), _cast),
    ops.Substring: _substring,
    ops.Translate: _translated,
    **dict.fromkeys((ops.ExtractYear, ops.ExtractMonth, ops.ExtractDay, ops.ExtractQuarter), _of_a_day),
    **dict.fromkeys((ops.ExtractHour, ops.ExtractMinute, ops.DayOfWeekIndex, ops.Date), _of_a_day),
}

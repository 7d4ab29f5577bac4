"""Arithmetic on PostgreSQL, which raises where a double overflows or becomes 0, and what else differs there.

Of every value it is worked out how large and how near to 0 it can be: whole numbers are at least 1 and at most 2^63,
decimals as many digits as they have, a column of doubles anything. An operation whose result is a double whatever the
values are stands as it is. One of a column of doubles with a constant is made total: beyond the numbers for which it
is defined, the result that others give is written out. Everything else is refused.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import ibis
import ibis.expr.operations as ops

from noisewright.release.engines.expressions import recreated, refused_on

if TYPE_CHECKING:
    import ibis.expr.types as ir

Size = tuple[int, int]
"""Powers of two: every value that is not 0 is from 2^first to 2^second in size; with `ANY` also infinite or NaN."""
ANY: Size = (-1075, 1025)
_LOWEST, _HIGHEST = -1021, 1023
_NO_MATTER = 900
_TEN = math.log2(10)
_LEAST, _GREATEST = 5e-324, 1.7976931348623157e308
_REFUSED = {
    ops.Log2: "PostgreSQL works out the logarithm to base 2 in decimals, with another result; use ln",
    ops.Lowercase: "which letters have a small form depends on the collation of a PostgreSQL database",
    ops.Uppercase: "which letters have a large form depends on the collation of a PostgreSQL database",
}
_ORDERED = (ops.Less, ops.LessEqual, ops.Greater, ops.GreaterEqual, ops.Between, ops.Min, ops.Max)
_DAYS = (ops.ExtractYear, ops.ExtractMonth, ops.ExtractDay, ops.ExtractQuarter, ops.ExtractHour, ops.ExtractMinute)


@ibis.udf.scalar.builtin(name="isfinite", signature=(("timestamp(6)",), "boolean"))  # type: ignore[untyped-decorator]
def _is_finite(moment: ir.Value) -> ir.Value: ...


@ibis.udf.scalar.builtin(name="isfinite", signature=(("date",), "boolean"))  # type: ignore[untyped-decorator]
def _is_finite_day(day: ir.Value) -> ir.Value: ...


def settled(query: ir.Table) -> ir.Table:
    """A query of total functions with those replaced that are not total here; refuses what cannot be."""
    return query.replace(_replaced)


def _replaced(node: ops.Node, changed: Mapping[str, Any] | None) -> ops.Node:
    node = recreated(node, changed)
    kind = type(node)
    if kind in _REFUSED:
        raise _refused(node, _REFUSED[kind])
    if kind in _ORDERED and any(value.dtype.is_string() for value in node.args if isinstance(value, ops.Value)):
        raise _refused(node, "texts are ordered by the collation of a PostgreSQL database; compare them with == only")
    if kind in (ops.Greatest, ops.Least) and any(value.dtype.is_string() for value in node.arg):
        raise _refused(node, "texts are ordered by the collation of a PostgreSQL database")
    if kind is ops.Substring and any(end is not None and end.value < 0 for end in (node.start, node.length)):
        raise _refused(node, "PostgreSQL takes no place or length below 0")
    if kind in _DAYS or kind is ops.DayOfWeekIndex:
        # A day may be later than any moment. What it has of it is a decimal, and infinite for infinite days.
        finite = (_is_finite_day if node.arg.dtype.is_date() else _is_finite)(node.arg.to_expr())
        part = ops.Cast(node, "int64").to_expr()
        if kind is ops.ExtractYear:
            part = (part < 0).ifelse(part + 1, part)  # the year before 1 is -1 here, and 0 elsewhere
        return finite.ifelse(part, ibis.null("int64")).cast(node.dtype).op()
    if kind in (ops.Add, ops.Subtract, ops.Multiply, ops.Divide) and node.dtype.is_floating():
        return _operation(node)
    return node


_refused = partial(refused_on, "PostgreSQL")


def _operation(node: ops.Value) -> ops.Node:
    left, right = size(node.left), size(node.right)
    found = _result(node, left, right)
    if found is not None:
        return node
    if isinstance(node, ops.Multiply | ops.Divide):
        behind, before = constant(node.right), constant(node.left)
        if behind is not None:
            return _total(node.left.to_expr(), behind, partial(_by, node, behind), node)
        if before is not None:
            return _total(node.right.to_expr(), before, partial(_apply, node, before), node)
    raise _refused(
        node,
        "PostgreSQL fails where a double becomes too large or too near to 0; round a column of doubles to a step first,"
        " such as (t.x * 100).round() / 100, store whole numbers or NUMERIC(12, 3), or make it a column of the table",
    )


def _apply(node: ops.Value, left: float, right: float) -> float:
    return left * right if isinstance(node, ops.Multiply) else left / right


def _by(node: ops.Value, right: float, left: float) -> float:
    return _apply(node, left, right)


def _result(node: ops.Value, left: Size, right: Size) -> Size | None:
    """The size of a result, if no values make it raise."""
    if isinstance(node, ops.Add | ops.Subtract):
        # A sum is a multiple of the last place of its parts, so that it never comes nearer to 0 than that.
        found = (min(left[0], right[0]) - 54, max(left[1], right[1]) + 1)
        if found[1] <= _HIGHEST:
            return max(found[0], -1074), found[1]
        if not all(math.isfinite(one) for one in (constant(node.left), constant(node.right)) if one is not None):
            return ANY  # what is infinite, or no number, stays so
        # Half the last place of the largest double is 2^970: what is smaller does not make it larger.
        return ANY if min(left[1], right[1]) <= _NO_MATTER else None
    times = isinstance(node, ops.Multiply)
    low, high = (left[0] + right[0], left[1] + right[1]) if times else (left[0] - right[1], left[1] - right[0])
    found = (low - 1, high + 1)
    if constant(node.right) in (1.0, -1.0, 0.0) or constant(node.left) in ((1.0, -1.0, 0.0) if times else (0.0,)):
        return ANY
    return found if found[0] >= _LOWEST and found[1] <= _HIGHEST else None


def constant(node: ops.Value) -> float | None:
    """The value of a constant other than NULL; None for anything else. A divisor is asked for 0 around it."""
    if isinstance(node, ops.Literal):
        return None if node.value is None or not node.dtype.is_numeric() else float(node.value)
    if isinstance(node, ops.Cast) and isinstance(node.arg, ops.Literal):
        return constant(node.arg)
    if isinstance(node, ops.IfElse) and _is_null(node.true_expr):
        found = constant(node.false_null_expr)
        return found if found else None
    return None


def _is_null(node: ops.Value) -> bool:
    return isinstance(node, ops.Literal) and node.value is None


def size(node: ops.Value) -> Size:
    """How large and how near to 0 the values of a number can be."""
    value = constant(node)
    if value is not None:
        exponent = math.frexp(value)[1]
        return (exponent - 1, exponent) if math.isfinite(value) else ANY
    kind = node.dtype
    if isinstance(node, ops.Field) and kind.is_floating():
        behind = _behind(node)
        return ANY if behind is None else size(behind)
    if kind.is_integer() or kind.is_boolean():
        return 0, 63
    if kind.is_decimal():
        if kind.precision is None or kind.scale is None:
            return ANY
        return -math.ceil(kind.scale * _TEN) - 1, math.ceil((kind.precision - kind.scale) * _TEN) + 1
    rule = _SIZES.get(type(node))
    return ANY if rule is None else rule(node)


def _behind(field: ops.Field) -> ops.Value | None:
    """What a column of a query was made of; None for one of a table."""
    if isinstance(field.rel, ops.Project):
        return field.rel.values[field.name]
    if isinstance(field.rel, ops.Filter):
        return ops.Field(field.rel.parent, field.name)
    return None


def _either(*nodes: ops.Value) -> Size:
    sizes = [size(node) for node in nodes if not _is_null(node)]
    return (min(low for low, _ in sizes), max(high for _, high in sizes)) if sizes else (0, 0)


def _of_operation(node: ops.Value) -> Size:
    return _result(node, size(node.left), size(node.right)) or ANY


def _of_root(node: ops.Value) -> Size:
    low, high = size(node.arg)
    return ANY if high > _HIGHEST else (low // 2 - 1, high // 2 + 2)


def _of_logarithm(node: ops.Value) -> Size:
    """A double next to 1 has a logarithm of 2^-53 or so; the largest one is below 2^10."""
    return ANY if size(node.arg)[1] > _HIGHEST else (-54, 10)


_SIZES: dict[type, Callable[[ops.Value], Size]] = {
    ops.Alias: lambda node: size(node.arg),
    ops.Cast: lambda node: size(node.arg),
    ops.Negate: lambda node: size(node.arg),
    ops.Abs: lambda node: size(node.arg),
    ops.Min: lambda node: size(node.arg),
    ops.Max: lambda node: size(node.arg),
    ops.IfElse: lambda node: _either(node.true_expr, node.false_null_expr),
    ops.SearchedCase: lambda node: _either(*node.results, node.default),
    ops.SimpleCase: lambda node: _either(*node.results, node.default),
    ops.Coalesce: lambda node: _either(*node.arg),
    ops.Greatest: lambda node: _either(*node.arg),
    ops.Least: lambda node: _either(*node.arg),
    ops.Sqrt: _of_root,
    **dict.fromkeys((ops.Ln, ops.Log10), _of_logarithm),
    **dict.fromkeys((ops.Add, ops.Subtract, ops.Multiply, ops.Divide), _of_operation),
}


def _total(value: ir.Value, factor: float, of: Callable[[float], float], node: ops.Value) -> ops.Node:
    """An operation of any double with a constant: where it would raise, what it is on other engines."""
    if not math.isfinite(factor):
        return _of_sign(value, of)
    first, last = _defined(of, factor)
    tiny, huge = (ibis.literal(end, "float64") for end in (first, last))
    below, beyond = (0.0 if first == _LEAST else of(_LEAST)), of(math.inf)
    return ibis.cases(
        (value.isnan(), value),
        (value > huge, ibis.literal(beyond, "float64")),
        (value < -huge, ibis.literal(-beyond, "float64")),
        ((value < tiny) & (value > 0), ibis.literal(below, "float64")),
        ((value > -tiny) & (value < 0), ibis.literal(-below, "float64")),
        (value == 0, ibis.literal(0.0, "float64")),
        else_=node.to_expr(),
    ).op()


def _of_sign(value: ir.Value, of: Callable[[float], float]) -> ops.Node:
    """An operation with a constant that is infinite or no number, which hangs on the sign of any finite double alone.

    A divisor of 0 was made NULL before.
    """
    cases = (
        (value.isnan(), math.nan),
        (value == ibis.literal(math.inf, "float64"), of(math.inf)),
        (value == ibis.literal(-math.inf, "float64"), of(-math.inf)),
        (value > 0, of(1.0)),
        (value < 0, of(-1.0)),
        (value == 0, 0.0 * of(1.0)),
    )
    return ibis.cases(*((where, ibis.literal(found, "float64")) for where, found in cases)).op()


def _defined(of: Callable[[float], float], factor: float) -> tuple[float, float]:
    """The least and the greatest positive double for which an operation gives a double other than 0.

    It grows or falls throughout, so that those are the ends of all for which it does; they are found by halving.
    """
    inner = next(start for start in (1.0, abs(factor)) if _is_double(of(start)))
    ends = []
    for end in (_LEAST, _GREATEST):
        good, bad = _place(inner), _place(end)
        if _is_double(of(end)):
            ends.append(end)
            continue
        while abs(good - bad) > 1:
            middle = (good + bad) // 2
            good, bad = (middle, bad) if _is_double(of(_double(middle))) else (good, middle)
        ends.append(_double(good))
    return ends[0], ends[1]


def _is_double(value: float) -> bool:
    return math.isfinite(value) and value != 0


def _place(value: float) -> int:
    """The place of a positive double among all of them."""
    return int(struct.unpack("<q", struct.pack("<d", value))[0])


def _double(place: int) -> float:
    return float(struct.unpack("<d", struct.pack("<q", place))[0])

"""Derived columns, written as text: `charge / days`, `floor(age / 10)`, `if(age >= 18, 'adult', 'child')`, `year(day)`.

Columns (in double quotes where a name is not a plain word), numbers, texts in single quotes, arithmetic, one
comparison, and the functions of a list. There is nothing else, so that each column is made of one row and is defined
for every value: what has no result, such as a division by zero, is NULL.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from noisewright.problem.errors import InvalidInputError, InvalidTableError

_TOKEN = re.compile(
    r"\s*(?:(?P<number>[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?|\.[0-9]+)|(?P<text>'(?:[^']|'')*')"
    r'|(?P<column>"(?:[^"]|"")+")|(?P<word>[^\W\d]\w*)|(?P<sign>//|<=|>=|==|!=|[-+*/%(),<>=]))'
)
_LONGEST, _DEEPEST = 2000, 40
_LARGEST = 2**63

Value = Callable[[Any], Any]
"""From a table of Ibis to the value of an expression on it."""


def _known(value: Any) -> Any:
    """NaN is a missing value like NULL; engines order it in their own ways."""
    import ibis

    return value.isnan().ifelse(ibis.null(value.type()), value) if value.type().is_floating() else value


def _chosen(condition: Any, first: Any, second: Any) -> Any:
    import ibis

    if not condition.type().is_boolean():
        raise TypeError("if takes a comparison first")
    chosen = condition.ifelse(first, second)
    # Where nothing is known to compare, nothing is chosen.
    return condition.isnull().ifelse(ibis.null(chosen.type()), chosen)


def _coalesced(*values: Any) -> Any:
    import ibis

    return ibis.coalesce(*(_known(value) for value in values))


_SUMS = {"+": operator.add, "-": operator.sub}
_PRODUCTS = {"*": operator.mul, "/": operator.truediv, "//": operator.floordiv, "%": operator.mod}
_COMPARISONS = {
    "=": operator.eq,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_METHODS = ("abs", "floor", "ceil", "round", "sqrt", "ln", "log2", "log10", "lower", "upper", "strip", "length")
_TIMES = ("year", "quarter", "month", "day", "hour", "minute")
FUNCTIONS: dict[str, tuple[int, Callable[..., Any]]] = {
    **{name: (1, operator.methodcaller(name)) for name in (*_METHODS, *_TIMES)},
    "weekday": (1, lambda value: value.day_of_week.index()),
    "date": (1, lambda value: value.date()),
    "number": (1, lambda value: value.cast("float64")),
    "integer": (1, lambda value: value.cast("int64")),
    "if": (3, _chosen),
    "coalesce": (2, _coalesced),
}
"""Every function by its name, with how many values it takes."""


@dataclass(frozen=True, slots=True)
class Derived:
    """A derived column: what was written, and its value on a table."""

    text: str
    value: Value

    def __call__(self, table: Any) -> Any:
        """The value on a table of Ibis; refuses columns that are not there and values of another kind."""
        from ibis.common.annotations import ValidationError
        from ibis.common.exceptions import IbisError

        try:
            return self.value(table)
        except (IbisError, ValidationError, AttributeError, TypeError):
            pass
        raise InvalidTableError(
            f"{self.text!r} does not fit the types of its columns; numbers are added and multiplied, dates have years."
            " Say under types how the text of a CSV file is read."
        )


def derived(text: str) -> Derived:
    """Read an expression; whatever else stands in it is refused."""
    return Derived(text, _Reader(text).whole())


class _Reader:
    """Reads an expression from left to right: comparison, sum, product, sign, value."""

    def __init__(self, text: str) -> None:
        self.text, self.place, self.depth = text, 0, 0
        self.tokens = self._tokens()

    def _tokens(self) -> list[tuple[str, str]]:
        found, place = [], 0
        while place < len(self.text.rstrip()):
            token = _TOKEN.match(self.text, place)
            if token is None or len(self.text) > _LONGEST:
                raise self._wrong()
            found.append((str(token.lastgroup), str(token[str(token.lastgroup)])))
            place = token.end()
        return [*found, ("end", "")]

    def _wrong(self) -> InvalidInputError:
        return InvalidInputError(
            f"{self.text[:200]!r} cannot be read; write columns, numbers, texts in single quotes, + - * / // %, one"
            f" comparison, and {', '.join(FUNCTIONS)}, such as floor(age / 10) or if(age >= 18, 'adult', 'child')."
        )

    def _sign(self, *signs: str) -> str | None:
        kind, text = self.tokens[self.place]
        if kind != "sign" or text not in signs:
            return None
        self.place += 1
        return text

    def _require(self, sign: str) -> None:
        if self._sign(sign) is None:
            raise self._wrong()

    def whole(self) -> Value:
        """The whole text as one value."""
        found = self._comparison()
        if self.tokens[self.place][0] != "end":
            raise self._wrong()
        return found

    def _comparison(self) -> Value:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise self._wrong()
        left = self._chain(_SUMS, lambda: self._chain(_PRODUCTS, self._signed))
        sign = self._sign(*_COMPARISONS)
        self.depth -= 1
        if sign is None:
            return left
        right = self._chain(_SUMS, lambda: self._chain(_PRODUCTS, self._signed))
        return lambda table: _COMPARISONS[sign](_known(left(table)), _known(right(table)))

    def _chain(self, signs: dict[str, Callable[[Any, Any], Any]], one: Callable[[], Value]) -> Value:
        found = one()
        while (sign := self._sign(*signs)) is not None:
            found = _both(signs[sign], found, one())
        return found

    def _signed(self) -> Value:
        minus = False
        while (sign := self._sign("-", "+")) is not None:
            minus ^= sign == "-"
        value = self._value()
        return (lambda table: -value(table)) if minus else value

    def _value(self) -> Value:
        kind, text = self.tokens[self.place]
        self.place += 1
        if kind == "number":
            return _literal(self._number(text))
        if kind == "text":
            return _literal(text[1:-1].replace("''", "'"))
        if kind == "column":
            return _column(text[1:-1].replace('""', '"'))
        if kind == "word":
            return self._call(text) if self._sign("(") else _column(text)
        if (kind, text) != ("sign", "("):
            raise self._wrong()
        inner = self._comparison()
        self._require(")")
        return inner

    def _number(self, text: str) -> int | float:
        value = int(text) if text.isdecimal() and len(text) < len(str(_LARGEST)) else float(text)
        if not math.isfinite(value):
            raise self._wrong()
        return value

    def _call(self, name: str) -> Value:
        if name not in FUNCTIONS:
            raise self._wrong()
        count, function = FUNCTIONS[name]
        values = [self._comparison()]
        while self._sign(",") is not None:
            values.append(self._comparison())
        self._require(")")
        if len(values) != count:
            raise InvalidInputError(f"{self.text[:200]!r}: {name} takes {count} values and was given {len(values)}.")
        return lambda table: function(*(value(table) for value in values))


def _both(function: Callable[[Any, Any], Any], left: Value, right: Value) -> Value:
    return lambda table: function(left(table), right(table))


def _literal(value: Any) -> Value:
    def made(table: Any) -> Any:
        import ibis

        return ibis.literal(value)

    return made


def _column(name: str) -> Value:
    def read(table: Any) -> Any:
        from noisewright.release.table.sources import require_column

        require_column(table, name)
        return table[name]

    return read

"""Derived columns and conditions on a row, written as text, for spec files.

A derived column is made of columns (in double quotes where a name is not a plain word), numbers, texts in single
quotes, arithmetic, one comparison, and the functions of a list: `charge / days`, `floor(age / 10)`,
`if(age >= 18, 'adult', 'child')`, `year(day)`. What has no result, such as a division by zero, is NULL.

A condition is a column, a comparison and a value as TOML writes it: `age >= 18`, `ward != "C"`, `sex in ["f", "m"]`,
`height is not null`. Several conditions of a list must all hold; a row without a value, which NaN counts as, meets
none but `is null`.

There is nothing else, so that each looks at one row and is defined for every value.
"""

from __future__ import annotations

import math
import operator
import re
import tomllib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
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
    "decimal_comma": (1, lambda value: value.translate(",.", ".,").cast("float64")),
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
        from noisewright.release.table.names import require_column

        require_column(table, name)
        return table[name]

    return read


# Conditions.

_FORM = re.compile(
    r'\s*(?P<column>[^\W\d]\w*|"(?:[^"]|"")+")\s*'
    r"(?:(?P<sign>==|=|!=|<=|>=|<|>|\bnot\s+in\b|\bin\b)\s*(?P<value>\S.*?)|is\s+(?P<missing>null|not\s+null))\s*",
)
_SIGNS: dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq,
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "in": lambda column, values: column.isin(values),
    "not in": lambda column, values: column.notin(values),
}
_EXAMPLE = """such as age >= 18, ward != "C", sex in ["f", "m"] or height is not null"""


@dataclass(frozen=True, slots=True)
class Condition:
    """A column, how it is compared, and with what."""

    text: str
    column: str
    sign: str
    value: Any

    def __call__(self, table: Any) -> Any:
        """The condition on a table of Ibis; refuses columns that are not there and values of another kind."""
        from noisewright.release.table.names import require_column

        require_column(table, self.column)
        held = table[self.column]
        # NaN is a missing value like NULL; engines order it in their own ways.
        known = held.notnull() & ~held.isnan() if held.type().is_floating() else held.notnull()
        if self.value is None:
            return known if self.sign == "not null" else ~known
        values = self.value if isinstance(self.value, list) else [self.value]
        if not all(_fits(held.type(), one) for one in values):
            raise InvalidTableError(
                f"the condition {self.text!r} does not fit {self.column!r}, which holds {held.type()}; compare numbers"
                " with numbers and text with text, and say under types how the text of a CSV file is read.",
                column=self.column,
            )
        return known & _SIGNS[self.sign](held, self.value)


def condition(text: str) -> Condition:
    """Read a condition; whatever else stands in it is refused."""
    found = _FORM.fullmatch(text)
    if found is None:
        raise InvalidInputError(
            f"the condition {text!r} cannot be read; give a column, a comparison and a value, {_EXAMPLE}."
        )
    column = found["column"]
    if column.startswith('"'):
        column = column[1:-1].replace('""', '"')
    if found["missing"] is not None:
        return Condition(text, column, " ".join(found["missing"].split()), None)
    sign = " ".join(found["sign"].split())
    value = _value(found["value"], text)
    if isinstance(value, list) != (sign in ("in", "not in")):
        raise InvalidInputError(f"the condition {text!r} compares with {sign}; in takes a list, others one value.")
    return Condition(text, column, sign, value)


def _value(written: str, text: str) -> Any:
    """A value of TOML: a number, a text, a truth value, a date or a list of them."""
    found: dict[str, Any] = {}
    # One line is one value: nothing can follow it.
    with suppress(ValueError, ArithmeticError, RecursionError):
        found = {} if len(written.splitlines()) > 1 else tomllib.loads(f"value = {written}", parse_float=Decimal)
    if set(found) != {"value"}:
        raise InvalidInputError(
            f"the value of the condition {text!r} cannot be read; write texts in quotes, {_EXAMPLE}."
        )
    value = found["value"]
    return [_plain(one, text) for one in value] if isinstance(value, list) else _plain(value, text)


def _plain(value: Any, text: str) -> Any:
    if isinstance(value, Decimal) and math.isfinite(float(value)):
        return float(value)
    if isinstance(value, str | bool) or (isinstance(value, int) and abs(value) < _LARGEST):
        return value
    if isinstance(value, date) and not isinstance(value, datetime):
        return value
    raise InvalidInputError(
        f"the condition {text!r} compares with something else than a text, a finite number, true, false or a date."
    )


def _fits(kind: Any, value: Any) -> bool:
    """Whether a column holds values that can be compared with this one."""
    if isinstance(value, bool):
        return bool(kind.is_boolean())
    if isinstance(value, int | float):
        return bool(kind.is_numeric())
    return bool(kind.is_date() if isinstance(value, date) else kind.is_string())

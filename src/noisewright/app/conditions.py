"""Conditions on a row, written as text: `age >= 18`, `ward != "C"`, `sex in ["f", "m"]`, `height is not null`.

A column, a comparison and a value as TOML writes it; there is nothing else, so that every condition looks at one
row and is defined for every value. Several conditions of a list must all hold; a row without a value, which NaN counts
as, meets none but `is null`.
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
_LARGEST = 2**63
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
        from noisewright.release.table.sources import require_column

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

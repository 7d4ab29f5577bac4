"""Exact numbers: what a person types becomes a rational, once, at the border.

A *parameter* typed as the float 0.1 means one tenth (its shortest decimal). A *data value* is the
binary number it is. The two readings are different functions on purpose.
"""

from __future__ import annotations

import math
import numbers
from decimal import Decimal
from fractions import Fraction
from typing import TypeAlias

from noisewright.problem.errors import InvalidNumberError

Number: TypeAlias = int | float | str | Decimal | Fraction
"""What the public API accepts wherever it asks for a number."""

_LONGEST_TEXT = 60
_LARGEST_EXPONENT = 400


def parameter(value: Number, name: str) -> Fraction:
    """The rational that `value` means as a parameter: 0.1, "0.1" and "1/10" are all one tenth."""
    if isinstance(value, float):
        _require_finite(float(value), name)
        return Fraction(repr(float(value)))
    return _rational(value, name)


def data_value(value: Number, name: str) -> Fraction:
    """The rational that `value` is as data: a float is the binary number it stores."""
    if isinstance(value, float):
        _require_finite(float(value), name)
        return Fraction(float(value))
    return _rational(value, name)


def make_exact(thing: object, *names: str) -> None:
    """Read fields of a frozen object, numbers or tuples of numbers, as exact parameters."""
    for name in names:
        value = getattr(thing, name)
        exact = tuple(parameter(v, name) for v in value) if isinstance(value, tuple | list) else parameter(value, name)
        object.__setattr__(thing, name, exact)


def show(value: Fraction) -> str:
    """A short decimal for people; exact values of few digits are shown exactly."""
    if value.denominator == 1 and abs(value) < 10**15:
        return str(value.numerator)
    try:
        return f"{float(value):.6g}"
    except OverflowError:
        return "above 1e308" if value > 0 else "below -1e308"


def _require_finite(value: float, name: str) -> None:
    if not math.isfinite(value):
        raise InvalidNumberError(f'{name} is {value}; give a finite number such as 1, 0.5 or "1/3".', given=value)


def _rational(value: object, name: str) -> Fraction:
    if isinstance(value, bool):
        raise InvalidNumberError(f"{name} is {value}; give a number, not a truth value.", given=value)
    if isinstance(value, Fraction):
        return value
    if isinstance(value, numbers.Integral):
        return Fraction(int(value))
    if isinstance(value, Decimal):
        if not value.is_finite():
            raise InvalidNumberError(f"{name} is {value}; give a finite number.", given=value)
        return _bounded_text(str(value), name)
    if isinstance(value, str):
        return _bounded_text(value, name)
    if isinstance(value, numbers.Real):
        number = float(value)
        _require_finite(number, name)
        return Fraction(number)
    raise InvalidNumberError(
        f"{name} is {value!r} of type {type(value).__name__}; give an int, float, Fraction, Decimal"
        ' or a string such as "1/3".',
        given=value,
    )


def _bounded_text(text: str, name: str) -> Fraction:
    """Parse decimal or fraction text; the length and exponent limits keep parsing cheap."""
    problem = InvalidNumberError(
        f'{name} is "{text[:_LONGEST_TEXT]}"; give a finite number such as "1", "0.1", "1e-3" or "1/3".',
        given=text[:_LONGEST_TEXT],
    )
    stripped = text.strip()
    if len(stripped) > 4 * _LONGEST_TEXT:
        raise problem
    _, marker, exponent = stripped.lower().partition("e")
    try:
        if marker and abs(int(exponent)) > _LARGEST_EXPONENT:
            raise problem
        return Fraction(stripped)
    except (ValueError, ZeroDivisionError):
        raise problem from None

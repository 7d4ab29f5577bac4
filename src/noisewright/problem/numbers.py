"""Exact numbers: what a person types, or a program computes, becomes a rational once, at the border.

One reading serves parameters and data alike, so that a bound and an answer written the same way are
the same number. A float of at most 15 significant digits is that decimal: 0.1 means one tenth. A
longer one was computed and is the binary number it stores. Single and half precision are read as
their own shortest decimals. A sensitivity with more digits than a person types is raised by one unit
in its last place, because the float nearest to a quotient may lie below it.
"""

from __future__ import annotations

import math
import numbers
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeAlias

from noisewright.problem.errors import InvalidAnswerError, InvalidNumberError

Number: TypeAlias = int | float | str | Decimal | Fraction
"""What the public API accepts wherever it asks for a number."""

_LONGEST_TEXT = 60
_LARGEST_EXPONENT = 400
_TYPED_DIGITS = 15
_SURELY_TYPED_DIGITS = {53: 12, 24: 3, 11: 1}
_LARGEST_BITS = 1 << 16


def parameter(value: Number, name: str) -> Fraction:
    """The rational that `value` means: 0.1, "0.1" and "1/10" are all one tenth."""
    read = _read(_unboxed(value), name)
    if max(read.numerator.bit_length(), read.denominator.bit_length()) > _LARGEST_BITS:
        raise InvalidNumberError(f"{name} has more digits than anyone can mean; round it, or use another unit.")
    return read


def sensitivity_value(value: Number, name: str) -> Fraction:
    """A rational that is not smaller in size than the sensitivity that `value` was computed as."""
    exact, given = parameter(value, name), _unboxed(value)
    bits, text = precision_bits(given), str(given)
    if bits is not None and _digits(text) > _SURELY_TYPED_DIGITS.get(bits, 12):
        stored = Fraction(*map(int, given.as_integer_ratio()))
        unit = Fraction(2) ** (math.frexp(float(given))[1] - bits)
    elif isinstance(given, Decimal | str) and "/" not in text and _digits(text) > _TYPED_DIGITS:
        stored, unit = exact, Fraction(10) ** int(Decimal(text).as_tuple().exponent)
    else:
        return exact
    return max(exact, stored + unit) if stored > 0 else min(exact, stored - unit)


def precision_bits(value: Any) -> int | None:
    """How many significant bits a floating number of this type has; None for types that are exact."""
    if isinstance(value, numbers.Rational | Decimal | str):
        return None
    itemsize = getattr(getattr(value, "dtype", None), "itemsize", 8)
    return {2: 11, 4: 24, 8: 53}.get(itemsize, 64)


def typed(value: Any) -> bool:
    """Whether a number of an inexact type has so few digits that a person may have typed it."""
    bits = precision_bits(value)
    return bits is None or _digits(str(value)) <= {53: _TYPED_DIGITS, 24: 6, 11: 3}.get(bits, _TYPED_DIGITS)


def data_value(value: Any, name: str = "answer") -> Fraction:
    """A true answer as the number it is; an error does not repeat it, because it is private."""
    # Raised outside of the handler, so that the error does not carry the other one, which repeats the value.
    with suppress(InvalidNumberError):
        return parameter(value, name)
    raise InvalidAnswerError(
        f"the {name} is not a finite number (NaN, infinite, text that is no number, or another type); give a"
        " finite number."
    )


def whole_number(value: Any, name: str) -> int:
    """A Python integer from anything that is a whole number by its type; truth values and floats are refused."""
    value = _unboxed(value)
    if not isinstance(value, bool) and isinstance(value, numbers.Integral):
        return int(value)
    shown = str(value) if isinstance(value, Decimal | Fraction) else repr(value)
    raise InvalidNumberError(f"{name} is {shown}; give a whole number such as 3.", given=value)


def show(value: Fraction) -> str:
    """A short decimal for people; exact values of few digits are shown exactly."""
    if value.denominator == 1 and abs(value) < 10**15:
        return str(value.numerator)
    try:
        return f"{float(value):.6g}"
    except OverflowError:
        return "above 1e308" if value > 0 else "below -1e308"


def above(bound: Fraction) -> str:
    """A decimal of seven digits that is not below the bound."""
    digits = Fraction(f"{float(bound):.6e}")
    shown = digits if digits >= bound else digits * (1 + Fraction(1, 10**6))
    return f"{float(shown):.7g}"


def _unboxed(value: Any) -> Any:
    """The number inside an array without dimensions, of the array's own type."""
    if isinstance(value, str) or getattr(value, "shape", None) != () or not hasattr(value, "dtype"):
        return value
    # Spans of time call themselves whole numbers.
    return value[()] if value.dtype.kind in "biufO" else None


def _digits(text: str) -> int:
    """How many significant digits a decimal has."""
    return len(text.strip().lower().partition("e")[0].lstrip("+-").replace(".", "").strip("0"))


def _require_finite(value: float, name: str) -> None:
    if not math.isfinite(value):
        raise InvalidNumberError(f'{name} is {value}; give a finite number such as 1, 0.5 or "1/3".', given=value)


def _read(value: Any, name: str) -> Fraction:
    if type(value) is Fraction and type(value.numerator) is int and type(value.denominator) is int:
        return value
    if isinstance(value, float):
        _require_finite(float(value), name)
        text = repr(float(value))
        return Fraction(text) if _digits(text) <= _TYPED_DIGITS else Fraction(float(value))
    if isinstance(value, bool):
        raise InvalidNumberError(f"{name} is {value}; give a number, not a truth value.", given=value)
    if isinstance(value, numbers.Rational):
        return Fraction(int(value.numerator), int(value.denominator))
    if isinstance(value, Decimal | str):
        return _bounded_text(str(value), name)
    if isinstance(value, numbers.Real) and hasattr(value, "as_integer_ratio"):
        return _of_another_precision(value, name)
    raise InvalidNumberError(
        f"{name} is {value!r} of type {type(value).__name__}; give an int, float, Fraction, Decimal"
        ' or a string such as "1/3".',
        given=value,
    )


def _of_another_precision(value: Any, name: str) -> Fraction:
    """A floating number that is no double: by its own shortest decimal if that is short, else the ratio it stores."""
    _require_finite(float(value), name)
    ratio = Fraction(*map(int, value.as_integer_ratio()))
    itemsize = getattr(getattr(value, "dtype", None), "itemsize", None)
    if itemsize is None:
        return ratio
    text = str(value)
    return Fraction(text) if itemsize < 8 or _digits(text) <= _TYPED_DIGITS else ratio


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

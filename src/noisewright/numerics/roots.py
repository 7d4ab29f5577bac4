"""Powers of rationals from above."""

from __future__ import annotations

from fractions import Fraction

from noisewright.numerics.balls import precision, upper
from noisewright.numerics.bisection import turn
from noisewright.numerics.fields import BALLS

_BITS = 256
_LARGEST_EXPONENT = 64


def power_from_above(base: Fraction, exponent: Fraction) -> Fraction:
    """base^exponent exactly where it is rational, else a rational just above it; for base >= 0."""
    over, under = exponent.numerator, exponent.denominator
    if max(over, under) <= _LARGEST_EXPONENT:
        raised = base**over
        numerator, denominator = _root(raised.numerator, under), _root(raised.denominator, under)
        if numerator is not None and denominator is not None:
            return Fraction(numerator, denominator)
    with precision(_BITS):
        return upper(BALLS.power(BALLS.real(base), exponent))


def _root(value: int, degree: int) -> int | None:
    """The whole number whose power is the value, if there is one."""
    low, _ = turn(lambda k: k**degree > value, 0, 1 << (value.bit_length() // degree + 1))
    return low if low**degree == value else None

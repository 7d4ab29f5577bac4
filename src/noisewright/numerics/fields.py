"""The two number systems behind one face, so that each formula is written once.

A formula takes a `Field` and exact inputs; with FLOATS it runs at float speed for search, with
BALLS it returns a rigorous enclosure for proof.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, Protocol, TypeAlias

from noisewright.numerics.balls import Ball, ball, hull, pi_ball, upper_gamma_share

Value: TypeAlias = Any
"""A float or a ball, whichever the field gives."""

Exact: TypeAlias = Fraction | int
Point: TypeAlias = Fraction | int | float
"""Where a law is evaluated: exact for balls, exact or float for floats."""


class Field(Protocol):
    """A number system: constants from rationals, elementary functions, enclosures."""

    name: str

    def real(self, value: Point) -> Value: ...
    def exp(self, value: Value) -> Value: ...
    def expm1(self, value: Value) -> Value: ...
    def log(self, value: Value) -> Value: ...
    def power(self, base: Value, exponent: Exact) -> Value: ...
    def gamma(self, value: Exact) -> Value: ...
    def pi(self) -> Value: ...
    def sin_pi(self, value: Value) -> Value:
        """sin(pi value)."""
        ...

    def sqrt(self, value: Value) -> Value: ...
    def erfc(self, value: Value) -> Value: ...
    def gamma_tail(self, order: Exact, value: Value) -> Value:
        """Regularised upper incomplete gamma function Q(order, value)."""
        ...

    def between(self, low: Value, high: Value) -> Value:
        """A value for something known to lie between two others."""
        ...


class _Floats:
    name = "floats"

    def real(self, value: Point) -> float:
        return float(value)

    def exp(self, value: float) -> float:
        return math.exp(value)

    def expm1(self, value: float) -> float:
        return math.expm1(value)

    def log(self, value: float) -> float:
        return math.log(value)

    def power(self, base: float, exponent: Exact) -> float:
        return float(base ** float(exponent)) if base else float(exponent == 0)

    def gamma(self, value: Exact) -> float:
        return math.gamma(value)

    def pi(self) -> float:
        return math.pi

    def sin_pi(self, value: float) -> float:
        return math.sin(math.pi * value)

    def sqrt(self, value: float) -> float:
        return math.sqrt(value)

    def erfc(self, value: float) -> float:
        return math.erfc(value)

    def gamma_tail(self, order: Exact, value: float) -> float:
        from scipy.special import gammaincc

        return float(gammaincc(float(order), value))

    def between(self, low: float, high: float) -> float:
        return (low + high) / 2


class _Balls:
    name = "balls"

    def real(self, value: Point) -> Ball:
        if isinstance(value, float):
            return ball(Fraction(value))
        return ball(value)

    def exp(self, value: Ball) -> Ball:
        return value.exp()

    def expm1(self, value: Ball) -> Ball:
        return value.expm1()

    def log(self, value: Ball) -> Ball:
        return value.log()

    def power(self, base: Ball, exponent: Exact) -> Ball:
        if exponent == int(exponent):
            return base ** int(exponent)
        if base.is_zero():
            return ball(0)
        return base ** ball(exponent)

    def gamma(self, value: Exact) -> Ball:
        return ball(value).gamma()

    def pi(self) -> Ball:
        return pi_ball()

    def sin_pi(self, value: Ball) -> Ball:
        return value.sin_pi()

    def sqrt(self, value: Ball) -> Ball:
        return value.sqrt()

    def erfc(self, value: Ball) -> Ball:
        return value.erfc()

    def gamma_tail(self, order: Exact, value: Ball) -> Ball:
        return upper_gamma_share(order, value)

    def between(self, low: Ball, high: Ball) -> Ball:
        return hull(low, high)


FLOATS: Field = _Floats()
BALLS: Field = _Balls()

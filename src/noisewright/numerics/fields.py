"""The two number systems behind one face, so that each formula is written once.

A formula takes a `Field` and exact inputs; with FLOATS it runs at float speed for search, with
BALLS it returns a rigorous enclosure for proof.
"""

from __future__ import annotations

import math
from fractions import Fraction
from operator import methodcaller
from typing import Any, Protocol, TypeAlias

from noisewright.numerics.balls import Ball, ball, hull, pi, upper_gamma_share
from noisewright.numerics.gamma import one_gamma_tail

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

    def sqrt(self, value: Value) -> Value: ...
    def erfc(self, value: Value) -> Value: ...
    def atan(self, value: Value) -> Value: ...
    def gamma_tail(self, order: Exact, value: Value) -> Value:
        """Regularised upper incomplete gamma function Q(order, value)."""

    def between(self, low: Value, high: Value) -> Value:
        """A value for something known to lie between two others."""


class _Floats:
    name = "floats"
    real = staticmethod(float)
    exp, expm1, log = staticmethod(math.exp), staticmethod(math.expm1), staticmethod(math.log)
    sqrt, erfc, gamma = staticmethod(math.sqrt), staticmethod(math.erfc), staticmethod(math.gamma)
    atan = staticmethod(math.atan)

    def power(self, base: float, exponent: Exact) -> float:
        return float(base ** float(exponent)) if base else float(exponent == 0)

    def pi(self) -> float:
        return math.pi

    def sin_pi(self, value: float) -> float:
        return math.sin(math.pi * value)

    def gamma_tail(self, order: Exact, value: float) -> float:
        return one_gamma_tail(float(order), value)

    def between(self, low: float, high: float) -> float:
        return (low + high) / 2


class _Balls:
    name = "balls"
    exp, expm1, log = (staticmethod(methodcaller(name)) for name in ("exp", "expm1", "log"))
    sqrt, erfc, sin_pi, atan = (staticmethod(methodcaller(name)) for name in ("sqrt", "erfc", "sin_pi", "atan"))
    pi, gamma_tail, between = staticmethod(pi), staticmethod(upper_gamma_share), staticmethod(hull)

    def real(self, value: Point) -> Ball:
        return ball(Fraction(value) if isinstance(value, float) else value)

    def power(self, base: Ball, exponent: Exact) -> Ball:
        if exponent == int(exponent):
            return base ** int(exponent)
        return ball(0) if base.is_zero() else base ** ball(exponent)

    def gamma(self, value: Exact) -> Ball:
        return ball(value).gamma()


FLOATS: Field = _Floats()
BALLS: Field = _Balls()

"""The two number systems behind one face, so that each formula is written once.

A formula takes a `Field` and exact inputs; with FLOATS it runs at float speed for search, with
BALLS it returns a rigorous enclosure for proof.
"""

from __future__ import annotations

import math
from fractions import Fraction
from operator import methodcaller
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from noisewright.numerics.balls import Ball, ball, hull, pi, upper_gamma_share

Floats: TypeAlias = NDArray[np.float64]
"""Arrays of floats."""
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


_FEW, _TURN, _DEPTH, _FAR = 1024, 1.5, 120.0, 800.0


def gamma_tail(a: Floats, x: Floats) -> Floats:
    """The upper regularised incomplete gamma function Q(a, x) for x >= 0, in floats, to about twelve digits.

    Few places with a <= 1 do without scipy, whose import takes longer than they do.
    """
    if np.size(x) > _FEW or np.any(np.asarray(a) > 1):
        from scipy.special import gammaincc

        return np.asarray(gammaincc(a, x))
    return np.asarray(np.vectorize(one_gamma_tail, otypes=[np.float64])(a, x))


def one_gamma_tail(a: float, x: float) -> float:
    """At one place: near zero by the lower function, a series of positive terms, else by a continued fraction.

    Its n-th step leaves about e^(-4 sqrt(n x)), so that fewer are needed further out. Orders above 1 are left to scipy.
    """
    if a > 1:
        return float(gamma_tail(np.asarray(a), np.asarray(x)))
    if x <= 0 or x > _FAR:
        return float(x <= 0)
    if a == 0.5:
        return math.erfc(math.sqrt(x))
    front = math.exp(a * math.log(x) - x) / math.gamma(a)
    if x < _TURN:
        total = term = 1 / a
        n = 0
        while term > total * 2.0**-54:
            n += 1
            term *= x / (a + n)
            total += term
        return 1 - front * total
    steps = math.ceil(_DEPTH / x) + 2
    fraction = x + (2 * steps + 1) - a
    for n in range(steps, 0, -1):
        fraction = x + (2 * n - 1) - a - n * (n - a) / fraction
    return front / fraction

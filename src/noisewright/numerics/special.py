"""Special functions of the laws, in floats or in balls, and powers of rationals from above."""

from __future__ import annotations

import math
from fractions import Fraction

from noisewright.numerics.balls import ball, infinite, pi, precision, upper
from noisewright.numerics.bisection import turn
from noisewright.numerics.fields import BALLS, Field, Value


def gaussian_transform(order: int, z: Value, field: Field) -> Value:
    """The integral over t > 0 of t^order e^(-t^2/2 - z t).

    Valid for: order 0, 1 or 2 and every z. Near zero by the complementary error function (which costs
    at most 20 of the working bits), far out without cancellation: in balls by Tricomi's function, in
    floats by the asymptotic series.
    """
    return _gaussian_ball(order, z) if field is BALLS else _gaussian_float(order, float(z))


def _gaussian_ball(order: int, z: Value) -> Value:
    if bool(z > 40):
        scale = Fraction(math.factorial(order))
        root = ball(2) ** ball(Fraction(order + 1, 2))
        return ball(scale) * (z * z / 2).hypgeom_u(ball(Fraction(order + 1, 2)), ball(Fraction(1, 2))) / root
    zeroth = (z * z / 2).exp() * (z / ball(2).sqrt()).erfc() * pi().sqrt() / ball(2).sqrt()
    return _of_order(order, z, zeroth)


def _gaussian_float(order: int, z: float) -> float:
    if z > 20:
        # sum over j of (-1)^j (order + 2j)! / (j! 2^j z^(order + 2j + 1))
        total, term = 0.0, math.factorial(order) / z ** (order + 1)
        for j in range(1, 10):
            total += term
            term *= -(order + 2 * j) * (order + 2 * j - 1) / (2 * j * z * z)
        return total
    from scipy.special import erfcx

    return float(_of_order(order, z, math.sqrt(math.pi / 2) * float(erfcx(z / math.sqrt(2)))))


def _of_order(order: int, z: Value, zeroth: Value) -> Value:
    """The integral of this order from the one of order 0, by parts."""
    first = 1 - z * zeroth
    return (zeroth, first, zeroth - z * first)[order]


def kummer(a: Fraction, b: Fraction, x: Fraction, field: Field) -> Value:
    """1F1(a; b; x) for 0 < a <= b and 0 <= x <= 500, summed term by term: all terms are positive.

    Once terms at least halve, the rest is at most the last term; it is below 2^-140 of the sum.
    """
    total, term = field.real(1), field.real(1)
    n, size, whole = 0, 1.0, 1.0
    while size > whole * 2.0**-140 or (a + n) * x > (b + n) * (n + 1) / 2:
        ratio = (a + n) * x / ((b + n) * (n + 1))
        term = term * field.real(ratio)
        total = total + term
        size *= float(ratio)
        whole += size
        n += 1
    return field.between(total, total + term) if field is BALLS else total


def infinity(field: Field) -> Value:
    """The value of an expectation that is not finite."""
    return infinite() if field is BALLS else math.inf


def power_from_above(base: Fraction, exponent: Fraction) -> Fraction:
    """base^exponent exactly where it is rational, else a rational just above it; for base >= 0."""
    over, under = exponent.numerator, exponent.denominator
    if max(over, under) <= 64:
        raised = base**over
        numerator, denominator = _root(raised.numerator, under), _root(raised.denominator, under)
        if numerator is not None and denominator is not None:
            return Fraction(numerator, denominator)
    with precision(256):
        return upper(BALLS.power(BALLS.real(base), exponent))


def shortened(value: Fraction, digits: int) -> Fraction:
    """A positive number, or 0, rounded up to so many binary digits and one.

    What was proven with the help of floats, or of a ball arithmetic that may change, is then the same number anywhere.
    """
    if not value:
        return value
    unit = Fraction(2) ** (math.floor(math.log2(value)) - digits)
    return math.ceil(value / unit) * unit


def _root(value: int, degree: int) -> int | None:
    """The whole number whose power is the value, if there is one."""
    low, _ = turn(lambda k: k**degree > value, 0, 1 << (value.bit_length() // degree + 1))
    return low if low**degree == value else None

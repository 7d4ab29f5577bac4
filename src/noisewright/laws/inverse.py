"""Inverse moments of rates from the Laplace transform alone, between two rigorous sums.

E u^(-p) = 1/Gamma(p) * integral over x > 0 of x^(p-1) L(x). L is convex, so on each cell a chord
bounds it from above and a tangent from below; beyond the last cell L falls exponentially or by a power.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from noisewright.numerics.balls import hull
from noisewright.numerics.fields import BALLS, FLOATS, Field, Value
from noisewright.problem.errors import EnclosureError


def inverse_moment_between(fold: Any, power: Fraction, field: Field) -> Value:
    """E u^(-power) of a fold, where it is finite and power > 0; with balls an enclosure.

    Unless its rates have a lowest one above 0, the fold has `tail_bound(power, field)`: (order, C) with order > power
    and L(x) <= C x^(-order) for every x > 0.
    """
    edges = _edges(fold, power, 1000 if field is BALLS else 100)
    low, high = field.real(0), field.real(0)
    left, left_value = field.real(0), field.real(1)
    moments: tuple[Value, ...] = (field.real(0), field.real(0))
    for edge in edges:
        right = field.real(edge)
        right_value = fold.transform(right, field)
        ahead = tuple(field.power(right, q) / field.real(q) for q in (power, power + 1))
        area, turn = ahead[0] - moments[0], ahead[1] - moments[1]
        gradient = (right_value - left_value) / (right - left)
        high = high + left_value * area + gradient * (turn - left * area)
        middle = (left + right) / 2
        slope = -fold.slope(middle, field)
        low = low + fold.transform(middle, field) * area + slope * (turn - middle * area)
        left, left_value, moments = right, right_value, ahead
    rest = _rest(fold, power, field, edges[-1], left_value)
    scale = field.gamma(power)
    if field is BALLS:
        return hull(low, high + rest) / scale
    # The chord errs twice as much as the tangent, the other way.
    return ((2 * low + high) / 3 + rest) / scale


def _rest(fold: Any, power: Fraction, field: Field, x: Fraction, value: Value) -> Value:
    """An upper bound of the integral of t^(power-1) L(t) over t > x, where L(x) is the value.

    For rates above `lowest`: L(t) <= L(x) e^(-lowest (t - x)), and (t/x)^(p-1) <= e^((p-1)(t-x)/x).
    """
    if not fold.lowest:
        order, constant = fold.tail_bound(power, field)
        return constant / (field.real(order - power) * field.power(field.real(x), order - power))
    rate = fold.lowest - max(Fraction(0), power - 1) / x
    if rate <= 0:
        raise EnclosureError("the tail of a two-fold law was cut too early")
    return value * field.power(field.real(x), power - 1) / field.real(rate)


def _edges(fold: Any, power: Fraction, cells: int) -> list[Fraction]:
    """Geometric cells from near zero to where the rest is negligible, if that is ever the case."""
    unit = 1 / float(fold.slope(0.0, FLOATS))
    near, far, whole = 1e-8 * unit, unit, 1e-300
    while far < 1e24 * unit:
        here = float(fold.transform(far, FLOATS)) * far ** float(power)
        whole = max(whole, here)
        if here < 1e-13 * whole:
            break
        far *= 2
    ratio = math.log(far / near) / (cells - 1)
    return [Fraction(near * math.exp(ratio * i)) for i in range(cells)]

"""Sums with geometric weights, in floats or in balls."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate

from noisewright.numerics.balls import ball, certainly_at_most, hull, precision
from noisewright.numerics.fields import BALLS, FLOATS, Exact, Field, Value
from noisewright.problem.errors import EnclosureError

_DIRECT_TERMS = 2_000
_HEAD_TERMS = 1_000


def geometric_power_sum(field: Field, decay: Fraction, start: Fraction, stride: Fraction, power: Exact) -> Value:
    """Sum over n >= 0 of e^(-decay n) (start + n stride)^power, for decay, stride > 0 and start, power >= 0.

    Whole powers use a closed form whose terms are all positive (no cancellation). Other powers are
    summed until the rest, bounded by a geometric series, is below 2^-60 of the sum; where that would
    take long, the rest is enclosed by Euler and Maclaurin's formula.
    """
    if power == int(power):
        return _whole_power(field, decay, start, stride, int(power))
    if field is FLOATS:
        return _real_power_floats(decay, start, stride, power)
    return _real_power_balls(decay, start, stride, power)


def _whole_power(field: Field, decay: Fraction, start: Fraction, stride: Fraction, power: int) -> Value:
    plain = enumerate(index_moments(field, decay, power))
    terms = (field.real(math.comb(power, i) * start ** (power - i) * stride**i) * moment for i, moment in plain)
    return sum(terms, field.real(0))


def index_moments(field: Field, decay: Fraction, highest: int) -> list[Value]:
    """Sum of n^i e^(-decay n) for i = 0 … highest; from E_i (1 - b) = b * sum_{l<i} C(i,l) E_l."""
    rest = -field.expm1(field.real(-decay))
    odds = field.exp(field.real(-decay)) / rest
    moments = [field.real(1) / rest]
    for i in range(1, highest + 1):
        moments.append(odds * sum((math.comb(i, j) * moments[j] for j in range(i)), field.real(0)))
    return moments


def _real_power_floats(decay: Fraction, start: Fraction, stride: Fraction, power: Exact) -> float:
    import numpy as np

    rate, exponent = float(decay), float(power)
    count = _terms(rate, exponent, 45)
    if count > 50_000:
        with precision():
            return float(_real_power_balls(decay, start, stride, power).mid())
    n = np.arange(count)
    return float(np.sum(np.exp(-rate * n) * (float(start) + n * float(stride)) ** exponent))


def _real_power_balls(decay: Fraction, start: Fraction, stride: Fraction, power: Exact) -> Value:
    count = _terms(float(decay), float(power), 60)
    if count > _DIRECT_TERMS:
        head, x, weight = _partial_sum(decay, start, stride, power, _HEAD_TERMS)
        return head + weight * _smooth_rest(decay, x, stride, power)
    head, x, weight = _partial_sum(decay, start, stride, power, count)
    ratio = BALLS.exp(BALLS.real(-decay)) * BALLS.power(BALLS.real(1 + stride / x), power)
    if not certainly_at_most(ratio, BALLS.real(Fraction(2**20 - 1, 2**20))):
        raise EnclosureError("a geometric sum was cut before its terms decrease")
    return head + hull(BALLS.real(0), weight * BALLS.power(BALLS.real(x), power) / (1 - ratio))


def _partial_sum(
    decay: Fraction, start: Fraction, stride: Fraction, power: Exact, count: int
) -> tuple[Value, Fraction, Value]:
    """The first `count` terms, where the next one stands, and its geometric weight."""
    b = BALLS.exp(BALLS.real(-decay))
    exponent, step = BALLS.real(power), BALLS.real(stride)
    x, weight, total = BALLS.real(start), BALLS.real(1), BALLS.real(0)
    for n in range(count):
        if start or n:
            total = total + weight * x**exponent
        x = x + step
        weight = weight * b
    return total, start + count * stride, weight


def _smooth_rest(decay: Fraction, start: Fraction, stride: Fraction, power: Exact) -> Value:
    """The whole sum again, for a start many strides from zero: Euler and Maclaurin's formula, enclosed.

    For f(x) = e^(-decay x) (start + stride x)^power and c = decay + (power + 3) stride / start,
    |f^(i)| <= c^i f everywhere; the sum is the integral + f(0)/2 - f'(0)/12 up to
    (c^3 f(0) + c^4 integral) / 720.
    """
    d, scale = BALLS.real(decay), BALLS.real(stride)
    origin = BALLS.real(start / stride)
    integral = (d * origin).exp() * BALLS.power(scale / d, power) / d * (d * origin).gamma_upper(ball(power + 1))
    first = BALLS.power(BALLS.real(start), power)
    slope = first * (BALLS.real(power) / origin - d)
    c = d + BALLS.real(power + 3) / origin
    error = (c**3 * first + c**4 * integral) / 720
    return integral + first / 2 - slope / 12 + hull(-error, error)


def _terms(decay: float, power: float, bits: int) -> int:
    reach = bits * math.log(2)
    return 16 + math.ceil((reach + power * math.log1p(reach + power) + power) / decay)


@lru_cache(maxsize=64)
def power_sum_polynomial(power: int) -> tuple[Fraction, ...]:
    """Coefficients c with sum_{k=1}^{n} k^power = sum_i c_i n^i (Faulhaber), for every whole n >= 0."""
    # Telescoping (n+1)^(q+1) - 1 = sum_{i<=q} C(q+1, i) S_i(n) gives S_q from the lower ones.
    coefficients = [Fraction(math.comb(power + 1, i)) for i in range(power + 2)]
    coefficients[0] -= 1
    for i in range(power):
        for j, value in enumerate(power_sum_polynomial(i)):
            coefficients[j] -= math.comb(power + 1, i) * value
    return tuple(value / (power + 1) for value in coefficients)


def alternating(term: Callable[[int], float]) -> float:
    """The sum of (-1)^k term(k) over k >= 0, by Chebyshev weights: 30 terms leave an error below 1e-20 of term(0).

    Valid for: terms that are moments of a positive measure on [0, 1], as (k + 1)^-p and (2k + 1)^-p are.
    """
    count = 30
    weights = [1.0]
    for i in range(1, count + 1):
        weights.append(weights[-1] * 4 * (count + i - 1) * (count - i + 1) / ((2 * i - 1) * (2 * i)))
    sums = list(accumulate(weights))
    return float(sum((-1) ** k * (1 - sums[k] / sums[-1]) * term(k) for k in range(count)))

"""Special functions of the laws, in floats or in balls, and powers of rationals from above."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate

from noisewright.numerics.balls import ball, certainly_at_most, hull, infinite, pi, precision, upper
from noisewright.numerics.bisection import turn
from noisewright.numerics.fields import BALLS, FLOATS, Exact, Field, Value
from noisewright.problem.errors import EnclosureError


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


_DIRECT_TERMS = 2_000
_HEAD_TERMS = 1_000


def geometric_power_sum(field: Field, decay: Fraction, start: Fraction, stride: Fraction, power: Exact) -> Value:
    """Sum over n >= 0 of e^(-decay n) (start + n stride)^power, for decay, stride > 0 and start, power >= 0.

    Whole powers use a closed form whose terms are all positive (no cancellation). Other powers are
    summed until the rest, bounded by a geometric series, is below 2^-60 of the sum; where that would
    take long, the rest is enclosed by Euler and Maclaurin's formula.
    """
    if power == int(power):
        whole, total = int(power), field.real(0)
        for i, moment in enumerate(index_moments(field, decay, whole)):
            total = total + field.real(math.comb(whole, i) * start ** (whole - i) * stride**i) * moment
        return total
    if field is FLOATS:
        return _real_power_floats(decay, start, stride, power)
    return _real_power_balls(decay, start, stride, power)


def index_moments(field: Field, decay: Fraction, highest: int) -> list[Value]:
    """Sum of n^i e^(-decay n) for i = 0 … highest; from E_i (1 - b) = b * sum_{l<i} C(i,l) E_l."""
    rest = -field.expm1(field.real(-decay))
    odds = field.exp(field.real(-decay)) / rest
    moments = [field.real(1) / rest]
    for i in range(1, highest + 1):
        total = field.real(0)
        for j in range(i):
            total = total + math.comb(i, j) * moments[j]
        moments.append(odds * total)
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
    window = bits * math.log(2)
    return 16 + math.ceil((window + power * math.log1p(window + power) + power) / decay)


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

"""Gaussian noise: the law itself, mixtures, other powers than 2, and those on the integers, rounded and discrete."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from typing import ClassVar

from noisewright.laws.base import LAWS, MOST_MIXED, Crossing, SmoothLaw, SymmetricLaw, bracket_crossing, mixed
from noisewright.laws.laplace import Laplace
from noisewright.numerics.balls import Ball, around, ball, hull, precision, working_bits
from noisewright.numerics.fields import BALLS, FLOATS, Exact, Field, Point, Value
from noisewright.problem.errors import InvalidLawError, UncertifiedError
from noisewright.problem.fields import Rational, Rationals, rational, rationals
from noisewright.problem.records import record


@record("gaussian", LAWS, error=InvalidLawError)
class Gaussian(SmoothLaw):
    """Gaussian noise with a rational standard deviation."""

    std: Rational = rational(above=0)
    lengths: ClassVar[tuple[str, ...]] = ("std",)

    def density(self, x: Point, field: Field) -> Value:
        z = field.real(x) / field.real(self.std)
        return field.exp(-z * z / 2) / (field.real(self.std) * field.sqrt(2 * field.pi()))

    def sf(self, x: Point, field: Field) -> Value:
        return field.erfc(field.real(x) / (field.real(self.std) * field.sqrt(field.real(2)))) / 2

    def moment(self, power: Exact, field: Field) -> Value:
        spread = field.real(self.std) * field.sqrt(field.real(2))
        half = field.gamma(Fraction(power + 1) / 2) / field.sqrt(field.pi())
        return field.power(spread, power) * half

    def drop(self, x: Point, shift: Point, field: Field) -> Value:
        """ln f(x) - ln f(x + shift) = (2 x + shift) shift / (2 std^2)."""
        return field.real((2 * x + shift) * shift) / field.real(2 * self.std**2)

    def crossing(self, epsilon: Fraction, shift: Fraction) -> Crossing:
        """The log-ratio (2 x shift + shift^2) / (2 std^2) passes epsilon at a rational point."""
        place = epsilon * self.std**2 / shift - shift / 2
        return place, place


@record("gaussian-mixture", LAWS, error=InvalidLawError)
class GaussianMixture(SmoothLaw):
    """Gaussian noise of standard deviation stds[i] with probability weights[i]."""

    stds: Rationals = rationals(above=0, least=1, most=MOST_MIXED)
    weights: Rationals = rationals(above=0, like="stds", total=1)
    lengths: ClassVar[tuple[str, ...]] = ("stds",)

    def density(self, x: Point, field: Field) -> Value:
        return self._mean(lambda part: part.density(x, field), field)

    def sf(self, x: Point, field: Field) -> Value:
        return self._mean(lambda part: part.sf(x, field), field)

    def moment(self, power: Exact, field: Field) -> Value:
        return self._mean(lambda part: part.moment(power, field), field)

    def _mean(self, function: Callable[[Gaussian], Value], field: Field) -> Value:
        return mixed(self.stds, self.weights, lambda std: function(_of_std(std)), field)


@lru_cache(maxsize=256)
def _of_std(std: Fraction) -> Gaussian:
    return Gaussian(std)


LARGEST_POWER = Fraction(100)


@record("generalized-gaussian", LAWS, error=InvalidLawError)
class GeneralizedGaussian(SmoothLaw):
    """Generalized Gaussian noise: Laplace at power 1, Gaussian of variance scale^2 / 2 at power 2.

    Valid for: powers from 1/10 to 100. Below 1 the density has a cusp and heavy tails and the law is
    purely private; from 1 on it is log-concave.
    """

    power: Rational = rational(at_least=Fraction(1, 10), at_most=LARGEST_POWER, hint=" (1 is Laplace, 2 is Gaussian)")
    scale: Rational = rational(above=0)

    def density(self, x: Point, field: Field) -> Value:
        norm = field.real(2 * self.scale) * field.gamma(1 / self.power) / field.real(self.power)
        return field.exp(-self.reduced(x, field)) / norm

    def reduced(self, x: Point, field: Field) -> Value:
        """|x / scale|^power."""
        return field.power(field.real(max(x, -x)) / field.real(self.scale), self.power)

    def sf(self, x: Point, field: Field) -> Value:
        if not x:
            return field.real(1) / 2
        half_tail = field.gamma_tail(1 / self.power, self.reduced(x, field)) / 2
        return half_tail if x > 0 else 1 - half_tail

    def moment(self, power: Exact, field: Field) -> Value:
        share = field.gamma(Fraction(power + 1) / self.power) / field.gamma(1 / self.power)
        return field.power(field.real(self.scale), power) * share

    def drop(self, x: Point, shift: Point, field: Field) -> Value:
        """ln f(x) - ln f(x + shift)."""
        return self.reduced(x + shift, field) - self.reduced(x, field)

    def crossing(self, epsilon: Fraction, shift: Fraction) -> Crossing | None:
        """Where the log-ratio passes epsilon, for power >= 1; None if it never does (power 1)."""
        if self.power < 1:
            raise UncertifiedError("below power 1 the likelihood ratio does not increase outward.")
        if self.power == 1:
            return Laplace(self.scale).crossing(epsilon, shift)
        if self.power == 2:
            place = (epsilon * self.scale**2 / shift - shift) / 2
            return place, place
        level = float(epsilon) * float(self.scale / shift) ** float(self.power)
        return bracket_crossing(self, epsilon, shift, float(shift) * _float_crossing(float(self.power), level))


def _float_crossing(power: float, level: float) -> float:
    """The x with |x + 1|^power - |x|^power = level, in floats; saved certificates hold what is proven around it."""

    def rise(x: float) -> float:
        if x > 1e3:
            # The difference of two large powers loses its digits; this form does not.
            return float(x**power * math.expm1(power * math.log1p(1 / x)))
        return float(abs(x + 1) ** power - abs(x) ** power)

    low, high = -0.5, 1.0
    while rise(high) < level:
        low, high = high, 2 * high
    at_low, at_high = rise(low) - level, rise(high) - level
    if at_high == 0:
        return high
    for turn in range(200):
        # False position, with a halving every third turn so that neither end stays behind.
        middle = low - at_low * (high - low) / (at_high - at_low) if turn % 3 else (low + high) / 2
        if not low < middle < high or high - low <= 1e-15 * abs(middle):
            break
        value = rise(middle) - level
        if abs(value) <= 1e-15 * level:
            return middle
        if value <= 0:
            low, at_low = middle, value
        else:
            high, at_high = middle, value
    return low


# Rounded: known by its formulas, never stored.


SMALLEST_VARIANCE = Fraction(1, 16)
"""Below it rounded noise is nearly always 0, and the series of its variance is not used."""


@dataclass(frozen=True, slots=True)
class RoundedNormal:
    """The law of floor(Z + 1/2) where Z is Gaussian with mean 0 and this variance."""

    variance: Fraction

    def cdf(self, k: int, field: Field) -> Value:
        """P(X <= k), accurate in the lower tail."""
        return self.sf(-k - 1, field)

    def sf(self, k: int, field: Field) -> Value:
        """P(X > k), accurate in the upper tail."""
        edge = field.real(Fraction(2 * k + 1, 2))
        return field.erfc(edge / field.sqrt(field.real(2 * self.variance))) / 2

    def second_moment(self, field: Field) -> Value:
        """Its variance, rounding included: a little more than the variance before rounding plus 1/12.

        Rule: the masses are the values of a smooth density at whole numbers, so their sums are sums of its
        transform (Poisson); the terms alternate, and the first that is left out is more than all the others.
        [theory#what-the-stated-error-means]
        Valid for: variances of at least 1/16.
        """
        v, tau = field.real(self.variance), 2 * field.pi() ** 2
        first = field.exp(-tau * v) * (2 * v + 1 / tau)
        value = v + field.real(Fraction(1, 12)) - 2 * first
        if field is not BALLS:
            return value
        return value + around(0.0, 1.0) * (2 * field.exp(-4 * tau * v) * (2 * v + 1 / tau))


# Discrete.


LARGEST_STD = Fraction(30_000)
_SMALLEST_STD = Fraction(1, 100)
_GUARD_BITS = 32


@record("discrete-gaussian", LAWS, error=InvalidLawError)
class DiscreteGaussian(SymmetricLaw):
    """Gaussian noise defined on the integers; between them the mass of k is spread over [k - 1/2, k + 1/2).

    Valid for: standard parameters from 1/100 to 30,000 (the tables that sampling walks along grow with it).
    """

    std: Rational = rational(at_least=_SMALLEST_STD, at_most=LARGEST_STD, hint=" (use real-valued answers beyond)")
    on_integers: ClassVar[bool | None] = True

    @property
    def period(self) -> Fraction:
        """A length to start searches from."""
        return Fraction(1)

    def mass(self, k: int, field: Field) -> Value:
        """P(K = k)."""
        return self._weight(k, field) / self._tails(field)[0]

    def density(self, x: Point, field: Field) -> Value:
        return self.mass(math.floor(x + Fraction(1, 2)), field)

    def sf(self, x: Point, field: Field) -> Value:
        place = Fraction(x) + Fraction(1, 2)
        k = math.floor(place)
        share = place - k
        beyond = self.tail(k, field)
        return beyond if not share else beyond - field.real(share) * self.mass(k, field)

    def tail(self, k: int, field: Field) -> Value:
        """P(K >= k), accurate in the upper tail."""
        total, tails = self._tails(field)
        if k <= 0:
            return 1 - self.tail(1 - k, field)
        if k < len(tails):
            return tails[k] / total
        first = self._weight(k, field)
        if field is FLOATS:
            return first / total
        # Later weights fall at least geometrically.
        ratio = BALLS.exp(BALLS.real(-Fraction(2 * k + 1) / (2 * self.std**2)))
        return hull(first, first / (1 - ratio)) / total

    def moment(self, power: Exact, field: Field) -> Value:
        def term(k: int) -> Value:
            return field.power(field.real(k), power) * self._weight(k, field)

        total, tails = self._tails(field)
        terms, k = sum((term(i) for i in range(1, len(tails))), field.real(0)), len(tails)
        if field is BALLS:
            shrink = field.power(field.real(Fraction(k + 1, k)), power)
            ratio = shrink * field.exp(field.real(-Fraction(2 * k + 1) / (2 * self.std**2)))
            terms = terms + hull(ball(0), term(k) / (1 - ratio))
        return 2 * terms / total

    def first_above(self, epsilon: Fraction, shift: int) -> int:
        """Smallest k whose mass exceeds e^epsilon times that of k + shift: 2 k shift + shift^2 > 2 std^2 epsilon."""
        return math.floor((2 * self.std**2 * epsilon - shift**2) / (2 * shift)) + 1

    def _weight(self, k: int, field: Field) -> Value:
        return field.exp(field.real(-Fraction(k * k) / (2 * self.std**2)))

    def _tails(self, field: Field) -> tuple[Value, list[Value]]:
        """The total weight, and the weight at k and beyond for k = 0, 1, … as far as it matters."""
        return _float_tails(self.std) if field is FLOATS else _ball_tails(self.std, working_bits())


@lru_cache(maxsize=16)
def _ball_tails(std: Fraction, bits: int) -> tuple[Ball, list[Ball]]:
    """By the recurrence w(k+1) = w(k) r(k), r(k+1) = r(k) q: two multiplications per point."""
    with precision(bits + _GUARD_BITS + 2 * int(std).bit_length() + 16):
        count = math.ceil(float(std) * math.sqrt(2 * math.log(2) * (bits + _GUARD_BITS))) + 4
        twice = 2 * std**2
        quotient, ratio = ball(-2 / twice).exp(), ball(-1 / twice).exp()
        weights = [ball(1)]
        for _ in range(count):
            weights.append(weights[-1] * ratio)
            ratio = ratio * quotient
        rest = hull(weights[-1], weights[-1] / (1 - ratio))
        backwards = list(accumulate(reversed(weights[:-1]), initial=rest))
        tails = backwards[::-1][:-1]
        return 2 * tails[0] - 1, tails


@lru_cache(maxsize=16)
def _float_tails(std: Fraction) -> tuple[float, list[float]]:
    import numpy as np

    count = math.ceil(float(std) * 39) + 4
    weights = np.exp(-(np.arange(count, dtype=np.float64) ** 2) / (2 * float(std) ** 2))
    tails = np.cumsum(weights[::-1])[::-1]
    return float(2 * tails[0] - 1), [float(t) for t in tails]

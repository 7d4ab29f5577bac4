"""Gaussian noise, mixtures of it, and its generalisation to other powers than 2."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import ClassVar

from noisewright.laws.base import LAWS, MOST_MIXED, Crossing, SmoothLaw, bracket_crossing, mixed
from noisewright.laws.laplace import Laplace
from noisewright.numerics.fields import Exact, Field, Point, Value
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
        return mixed(self.stds, self.weights, lambda std: function(Gaussian(std)), field)


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

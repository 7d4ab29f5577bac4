"""Second folds: laws of the random rate u of two-fold noise, known by their Laplace transforms.

X given u is Laplace noise of scale 1/u. A fold offers L(x) = E e^(-ux), its negative derivative
-L'(x) = E u e^(-ux), and inverse moments E u^(-p); each formula runs in floats or in balls.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from fractions import Fraction
from typing import Any, ClassVar

from noisewright.laws.base import MOST_MIXED, Scalable, mixed
from noisewright.laws.inverse import inverse_moment_between
from noisewright.numerics.fields import BALLS, Field, Value
from noisewright.numerics.special import gaussian_transform, infinity, kummer
from noisewright.problem.errors import InvalidLawError
from noisewright.problem.fields import Rational, Rationals, rational, rationals
from noisewright.problem.numbers import Number, parameter
from noisewright.problem.records import Family, record

_SMALL = 1e-3

FOLDS: Family[Any] = Family("a second fold such as GammaFold(shape, scale)", InvalidLawError)
"""Every second fold by the name it has in files."""


class Fold(Scalable):
    """The law of a positive random rate with a finite mean."""

    __slots__ = ()
    costly: ClassVar[bool] = False
    """Whether evaluating the transform in balls takes special functions."""

    @property
    def lowest(self) -> Fraction:
        """No rate lies below this; 0 where rates come arbitrarily close to 0."""
        return Fraction(0)

    @property
    def inverse_reach(self) -> Fraction | None:
        """E u^(-p) is finite for every p below this; None where it is for every p."""
        return None

    @abstractmethod
    def transform(self, x: Value, field: Field) -> Value:
        """L(x) = E e^(-ux), for x >= 0 and for x < 0 where it is finite."""

    @abstractmethod
    def slope(self, x: Value, field: Field) -> Value:
        """-L'(x) = E u e^(-ux), for x >= 0."""

    def inverse_moment(self, power: Fraction, field: Field) -> Value:
        """E u^(-power), infinite where it does not exist; power >= 0."""
        reach = self.inverse_reach
        if power == 0:
            return field.real(1)
        return self._inverse_moment(power, field) if reach is None or power < reach else infinity(field)

    def _inverse_moment(self, power: Fraction, field: Field) -> Value:
        """The same for a power above 0 and below the reach; from the transform, where no closed form is known."""
        return inverse_moment_between(self, power, field)


@record("atoms", FOLDS, error=InvalidLawError)
class Atoms(Fold):
    """Finitely many rates with their probabilities; one is a point fold, two the "Bernoulli" fold."""

    rates: Rationals = rationals(above=0, least=1, most=MOST_MIXED)
    weights: Rationals = rationals(above=0, like="rates", total=1)
    lengths: ClassVar[tuple[str, ...]] = ("rates",)

    @property
    def lowest(self) -> Fraction:
        return min(self.rates)

    def transform(self, x: Value, field: Field) -> Value:
        return self._mean(lambda rate: field.exp(-rate * x), field)

    def slope(self, x: Value, field: Field) -> Value:
        return self._mean(lambda rate: rate * field.exp(-rate * x), field)

    def _inverse_moment(self, power: Fraction, field: Field) -> Value:
        return self._mean(lambda rate: 1 / field.power(rate, power), field)

    def _mean(self, function: Any, field: Field) -> Value:
        return mixed(self.rates, self.weights, lambda rate: function(field.real(rate)), field)


@record("gamma", FOLDS, error=InvalidLawError)
class GammaFold(Fold):
    """Gamma rates: L(x) = (1 + scale x)^(-shape). Tails of the noise fall like x^(-shape)."""

    shape: Rational = rational(above=0)
    scale: Rational = rational(above=0)

    @property
    def inverse_reach(self) -> Fraction | None:
        return self.shape

    def transform(self, x: Value, field: Field) -> Value:
        return 1 / field.power(1 + field.real(self.scale) * x, self.shape)

    def slope(self, x: Value, field: Field) -> Value:
        return field.real(self.shape * self.scale) / field.power(1 + field.real(self.scale) * x, self.shape + 1)

    def _inverse_moment(self, power: Fraction, field: Field) -> Value:
        return _gamma_ratio(self.shape, power, field) / field.power(field.real(self.scale), power)


@record("uniform", FOLDS, error=InvalidLawError)
class UniformFold(Fold):
    """Rates uniform between low and high: L(x) = (e^(-low x) - e^(-high x)) / ((high - low) x)."""

    low: Rational = rational(at_least=0)
    high: Rational = rational()
    lengths: ClassVar[tuple[str, ...]] = ("low", "high")

    def __post_init__(self) -> None:
        if not self.low < self.high:
            raise InvalidLawError("a uniform fold needs 0 <= low < high.")

    @property
    def lowest(self) -> Fraction:
        return self.low

    @property
    def inverse_reach(self) -> Fraction | None:
        return None if self.low else Fraction(1)

    def transform(self, x: Value, field: Field) -> Value:
        z = field.real(self.high - self.low) * x
        return field.exp(-field.real(self.low) * x) * _average(z, field)

    def slope(self, x: Value, field: Field) -> Value:
        width, low = field.real(self.high - self.low), field.real(self.low)
        z = width * x
        return field.exp(-low * x) * (low * _average(z, field) + width * _average_slope(z, field))

    def _inverse_moment(self, power: Fraction, field: Field) -> Value:
        if not self.low:
            return 1 / (field.power(field.real(self.high), power) * field.real(1 - power))
        if power == 1:
            return field.log(field.real(self.high / self.low)) / field.real(self.high - self.low)
        ends = [1 / field.power(field.real(end), power - 1) for end in (self.low, self.high)]
        return (ends[0] - ends[1]) / field.real((power - 1) * (self.high - self.low))


@record("noncentral-chi-squared", FOLDS, error=InvalidLawError)
class NoncentralChiSquaredFold(Fold):
    """scale times noncentral chi-squared: L(x) = (1 + 2sx)^(-degrees/2) e^(-noncentrality s x / (1 + 2sx))."""

    degrees: Rational = rational(above=0)
    noncentrality: Rational = rational(at_least=0, at_most=1000)
    scale: Rational = rational(above=0)

    @property
    def inverse_reach(self) -> Fraction | None:
        return self.degrees / 2

    def transform(self, x: Value, field: Field) -> Value:
        s = field.real(self.scale) * x
        return field.exp(-field.real(self.noncentrality) * s / (1 + 2 * s)) / field.power(1 + 2 * s, self.degrees / 2)

    def slope(self, x: Value, field: Field) -> Value:
        spread = 1 + 2 * field.real(self.scale) * x
        rate = field.real(self.degrees) / spread + field.real(self.noncentrality) / (spread * spread)
        return field.real(self.scale) * rate * self.transform(x, field)

    def _inverse_moment(self, power: Fraction, field: Field) -> Value:
        shape, half = self.degrees / 2, self.noncentrality / 2
        # Kummer's other form: every term of this series is positive, so nothing cancels.
        series = field.exp(field.real(-half)) * kummer(shape - power, shape, half, field)
        return _gamma_ratio(shape, power, field) * series / field.power(field.real(2 * self.scale), power)


@record("rayleigh", FOLDS, error=InvalidLawError)
class RayleighFold(Fold):
    """Rayleigh rates: L(x) = integral of t e^(-t^2/2 - scale x t); the noise has no variance."""

    scale: Rational = rational(above=0)
    costly: ClassVar[bool] = True

    @property
    def inverse_reach(self) -> Fraction | None:
        return Fraction(2)

    def transform(self, x: Value, field: Field) -> Value:
        return gaussian_transform(1, field.real(self.scale) * x, field)

    def slope(self, x: Value, field: Field) -> Value:
        scale = field.real(self.scale)
        return scale * gaussian_transform(2, scale * x, field)

    def _inverse_moment(self, power: Fraction, field: Field) -> Value:
        root = field.power(field.real(2), power / 2)
        return field.gamma(1 - power / 2) / (root * field.power(field.real(self.scale), power))


def point_fold(rate: Number) -> Atoms:
    """The fold that makes plain Laplace noise."""
    return Atoms([rate], [1])


def two_point_fold(low: Number, high: Number, weight_of_low: Number) -> Atoms:
    """Rate `low` with the given probability, else `high`."""
    weight = parameter(weight_of_low, "weight_of_low")
    return Atoms([low, high], [weight, 1 - weight])


def _gamma_ratio(shape: Fraction, power: Fraction, field: Field) -> Value:
    """Gamma(shape - power) / Gamma(shape)."""
    if field is BALLS:
        return field.gamma(shape - power) / field.gamma(shape)
    return math.exp(math.lgamma(shape - power) - math.lgamma(shape))


def _average(z: Value, field: Field) -> Value:
    """(1 - e^(-z)) / z, the mean of e^(-zt) over 0 < t < 1."""
    return field.real(1) if bool(z == 0) else -field.expm1(-z) / z


def _average_slope(z: Value, field: Field) -> Value:
    """(1 - (1 + z) e^(-z)) / z^2, the mean of t e^(-zt) over 0 < t < 1."""
    if bool(z == 0):
        return field.real(Fraction(1, 2))
    if field is not BALLS and abs(z) < _SMALL:
        return 1 / 2 - z / 3 + z * z / 8 - z**3 / 30
    return (-field.expm1(-z) - z * field.exp(-z)) / (z * z)

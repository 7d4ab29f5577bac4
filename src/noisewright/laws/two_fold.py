"""Two-fold noise: Laplace noise whose rate is itself random, and its second folds, the laws of that rate.

X given u is Laplace of scale 1/u and u follows a second fold with the Laplace transform L(x) = E e^(-ux). Then X has
density -L'(|x|)/2, P(X > x) = L(x)/2 for x >= 0 and E|X|^p = Gamma(p+1) E u^(-p). So a fold offers L, its negative
derivative -L'(x) = E u e^(-ux), and inverse moments E u^(-p); each formula runs in floats or in balls.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar

from noisewright.laws.base import LAWS, MOST_MIXED, Scalable, SmoothLaw, mixed
from noisewright.numerics.balls import hull, working_bits
from noisewright.numerics.fields import BALLS, FLOATS, Exact, Field, Point, Value
from noisewright.numerics.special import gaussian_transform, infinity, kummer
from noisewright.problem import fields
from noisewright.problem.errors import EnclosureError, InvalidLawError
from noisewright.problem.fields import Rational, Rationals, one_of, rational, rationals
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


# Inverse moments of rates from the Laplace transform alone, between two rigorous sums.
#
# E u^(-p) = 1/Gamma(p) * integral over x > 0 of x^(p-1) L(x). L is convex, so on each cell a chord
# bounds it from above and a tangent from below; beyond the last cell L falls exponentially or by a power.


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


# Second folds without closed inverse moments: truncated normal rates and independent sums.


_MOST_PARTS = 16


@record("truncated-normal", FOLDS, error=InvalidLawError)
class TruncatedNormalFold(Fold):
    """Normal rates kept to low < u < high; `high` may be None for no upper limit.

    With a = (low - centre)/spread and G(z) the integral of e^(-t^2/2 - zt) over t > 0,
    L(x) is e^(-a^2/2 - low x) G(a + spread x) minus the same at `high`, divided by its value at 0.
    Valid for: low >= 0, ends at most 30 spreads from the centre.
    """

    centre: fields.Rational = fields.rational()
    spread: fields.Rational = fields.rational(above=0)
    low: fields.Rational = fields.rational(at_least=0)
    high: fields.MaybeRational = fields.optional(fields.rational())
    costly: ClassVar[bool] = True
    lengths: ClassVar[tuple[str, ...]] = ("centre", "spread", "low", "high")

    def __post_init__(self) -> None:
        if self.high is not None and self.high <= self.low:
            raise InvalidLawError("a truncated normal fold needs spread > 0 and 0 <= low < high.")
        far = 30 * self.spread
        if abs(self.low - self.centre) > far or (self.high is not None and abs(self.high - self.centre) > far):
            raise InvalidLawError(
                "the ends of a truncated normal fold must lie within 30 spreads of its centre; use None for no"
                " upper end."
            )

    @property
    def inverse_reach(self) -> Fraction | None:
        return None if self.low else Fraction(1)

    def transform(self, x: Value, field: Field) -> Value:
        if bool(x == 0):
            return field.real(1)
        return self._ends(x, field, 0) / self._whole(field)

    def slope(self, x: Value, field: Field) -> Value:
        return self._ends(x, field, 1) / self._whole(field)

    def _inverse_moment(self, power: Fraction, field: Field) -> Value:
        """In floats by Gauss's rule over the logarithm of the rate: quick, for search."""
        if field is BALLS:
            return inverse_moment_between(self, power, field)
        import numpy as np

        centre, spread = float(self.centre), float(self.spread)
        top = centre + 12 * spread if self.high is None else min(float(self.high), max(centre, 0.0) + 12 * spread)
        bottom = max(float(self.low), 1e-12 * top)
        nodes, weights = np.polynomial.legendre.leggauss(120)
        logs = np.log(bottom) + (nodes + 1) / 2 * np.log(top / bottom)
        rates = np.exp(logs)
        exponents = -(((rates - centre) / spread) ** 2) / 2
        mass = weights * np.exp(exponents - exponents.max()) * rates
        return float(np.sum(mass * rates ** -float(power)) / np.sum(mass))

    @property
    def lowest(self) -> Fraction:
        return self.low

    def tail_bound(self, power: Fraction, field: Field) -> tuple[Fraction, Value]:
        """No density of the rate exceeds a height, so L(x) is at most that height divided by x."""
        return Fraction(1), 1 / (field.real(self.spread) * self._whole(field))

    def _whole(self, field: Field) -> Value:
        """The normalising constant, computed once per precision."""
        return _normaliser(self, working_bits() if field is BALLS else None)

    def _ends(self, x: Value, field: Field, order: int) -> Value:
        """The integral of u^order e^(-ux) times the unnormalised density, in units of the spread."""
        total = self._beyond(self.low, x, field, order)
        return total if self.high is None else total - self._beyond(self.high, x, field, order)

    def _beyond(self, end: Fraction, x: Value, field: Field, order: int) -> Value:
        """The same over u > end: substitute u = end + spread t."""
        a = (end - self.centre) / self.spread
        spread = field.real(self.spread)
        z = field.real(a) + spread * x
        weight = field.exp(field.real(-a * a / 2) - field.real(end) * x)
        inner = gaussian_transform(0, z, field)
        if order == 1:
            inner = field.real(end) * inner + spread * gaussian_transform(1, z, field)
        return weight * inner


@lru_cache(maxsize=128)
def _normaliser(fold: TruncatedNormalFold, bits: int | None) -> Value:
    field = FLOATS if bits is None else BALLS
    return fold._ends(field.real(0), field, 0)


@record("ensemble", FOLDS, error=InvalidLawError)
class Ensemble(Fold):
    """A sum of independent folds with positive coefficients: L(x) is the product of the L_i(a_i x)."""

    coefficients: fields.Rationals = fields.rationals(above=0, least=1, most=_MOST_PARTS)
    parts: fields.Many[Fold] = fields.tuple_of(fields.one_of(FOLDS), like="coefficients")
    costly: ClassVar[bool] = True
    lengths: ClassVar[tuple[str, ...]] = ("coefficients",)

    def __post_init__(self) -> None:
        if any(isinstance(part, Ensemble) for part in self.parts):
            raise InvalidLawError("an ensemble is made of plain folds; put all of them into one ensemble.")

    @property
    def inverse_reach(self) -> Fraction | None:
        reaches = [part.inverse_reach for part in self.parts]
        return None if None in reaches else sum((r for r in reaches if r is not None), Fraction(0))

    def transform(self, x: Value, field: Field) -> Value:
        return math.prod(self._transforms(x, field), start=field.real(1))

    def slope(self, x: Value, field: Field) -> Value:
        transforms = self._transforms(x, field)
        total = field.real(0)
        for i, (a, part) in enumerate(zip(self.coefficients, self.parts, strict=True)):
            others = math.prod(transforms[:i] + transforms[i + 1 :], start=field.real(1))
            total = total + field.real(a) * part.slope(field.real(a) * x, field) * others
        return total

    @property
    def lowest(self) -> Fraction:
        return sum((a * part.lowest for a, part in zip(self.coefficients, self.parts, strict=True)), Fraction(0))

    def tail_bound(self, power: Fraction, field: Field) -> tuple[Fraction, Value]:
        """From L_i(x) <= Gamma(q+1) E u_i^(-q) x^(-q) for each part.

        That holds because x^q L_i(x) / q is at most the integral of t^(q-1) L_i(t) over t < x.
        """
        assert self.inverse_reach is not None
        order = power + (self.inverse_reach - power) * Fraction(9, 10)
        total = field.real(1)
        for a, part in zip(self.coefficients, self.parts, strict=True):
            assert part.inverse_reach is not None
            q = part.inverse_reach * order / self.inverse_reach
            total = total * field.gamma(q + 1) * part.inverse_moment(q, field) / field.power(field.real(a), q)
        return order, total

    def _transforms(self, x: Value, field: Field) -> list[Value]:
        return [part.transform(field.real(a) * x, field) for a, part in zip(self.coefficients, self.parts, strict=True)]


# The law.


@record("two-fold", LAWS, error=InvalidLawError)
class TwoFold(SmoothLaw):
    """Compound Laplace noise with the given second fold; for whole numbers it is rounded to the nearest one."""

    fold: Fold = one_of(FOLDS)
    on_integers: ClassVar[bool | None] = None

    @property
    def largest_table(self) -> int:
        """How many entries a table of the distribution function may have: fewer where one costs more."""
        return 1 << 13 if self.fold.costly else 1 << 17

    def density(self, x: Point, field: Field) -> Value:
        return self.fold.slope(field.real(max(x, -x)), field) / 2

    def sf(self, x: Point, field: Field) -> Value:
        half_tail = self.fold.transform(field.real(max(x, -x)), field) / 2
        return half_tail if x >= 0 else 1 - half_tail

    def moment(self, power: Exact, field: Field) -> Value:
        """E |X|^power, infinite where the tails are too heavy for it."""
        return field.gamma(power + 1) * self.fold.inverse_moment(Fraction(power), field)

    def scaled(self, factor: Fraction) -> TwoFold:
        return TwoFold(self.fold.scaled(1 / factor))

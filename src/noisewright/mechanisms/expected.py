"""Expected utilities of one number's error density, in floats or in balls."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from noisewright.laws.gaussian import DiscreteGaussian
from noisewright.laws.lattice import HALF
from noisewright.laws.piecewise import Piecewise
from noisewright.laws.tabulated import Tabulated
from noisewright.laws.two_fold import Atoms, TwoFold
from noisewright.mechanisms.base import Errors
from noisewright.mechanisms.losses import Smoothed, expected_loss, off_by
from noisewright.mechanisms.numerical import entropy_of_error, histogram_value, mallows_value
from noisewright.numerics.balls import certainly_at_most
from noisewright.numerics.bisection import first_true, gallop, turn
from noisewright.numerics.fields import BALLS, Exact, Field, Point, Value
from noisewright.numerics.special import geometric_power_sum, power_sum_polynomial
from noisewright.problem.divergences import HistogramMetric, Mallows
from noisewright.problem.errors import InvalidMechanismError, InvalidUtilityError
from noisewright.problem.utilities import Expected

_HALF = Fraction(1, 2)


@dataclass(frozen=True, slots=True)
class WholeFold:
    """The mass of k is that of [k - 1/2, k + 1/2) under the law, spread evenly over it.

    Valid for: folds with finitely many rates (`Atoms`); moments of others have no closed form.
    """

    law: TwoFold

    def __post_init__(self) -> None:
        if not isinstance(self.law.fold, Atoms):
            raise InvalidMechanismError(
                "two-fold noise for whole numbers takes finitely many rates: Atoms, point_fold or two_point_fold."
            )

    def scaled(self, factor: Fraction) -> WholeFold:
        """Whole numbers are never stretched."""
        assert factor == 1
        return self

    @property
    def period(self) -> Fraction:
        """A length to start searches from."""
        return Fraction(1)

    def density(self, x: Point, field: Field) -> Value:
        k = math.floor(Fraction(x) + _HALF)
        return self.law.sf(k - _HALF, field) - self.law.sf(k + _HALF, field)

    def sf(self, x: Point, field: Field) -> Value:
        place = Fraction(x) + _HALF
        k = math.floor(place)
        share = field.real(place - k)
        return (1 - share) * self.law.sf(k - _HALF, field) + share * self.law.sf(k + _HALF, field)

    def cdf(self, x: Point, field: Field) -> Value:
        return self.sf(-x, field)

    def mean(self, field: Field) -> Value:
        return field.real(0)

    def moment(self, power: Exact, field: Field) -> Value:
        """E |k|^power: at rate u the numbers k and -k have the mass 2 sinh(u/2) e^(-u|k|) together."""
        total, fold = field.real(0), self.law.fold
        assert isinstance(fold, Atoms)
        for rate, weight in zip(fold.rates, fold.weights, strict=True):
            both = field.exp(field.real(-rate / 2)) - field.exp(field.real(-3 * rate / 2))
            series = geometric_power_sum(field, rate, Fraction(1), Fraction(1), power)
            total = total + field.real(weight) * both * series
        return total


ErrorDensity = Piecewise | Smoothed | Tabulated | DiscreteGaussian | WholeFold


@dataclass(frozen=True, slots=True)
class ErrorLaw(Errors):
    """The error of one number by its density (for integers: its masses per whole number)."""

    density: ErrorDensity
    integer: bool

    def apart(self) -> list[Errors]:
        return [self]

    def power_means(self, power: Fraction, field: Field) -> list[Value]:
        if self.integer and isinstance(self.density, Piecewise):
            return [_integer_moment(self.density, power, field)]
        return [self.density.moment(power, field)]

    def chances(self, limits: tuple[Fraction, ...], field: Field) -> list[Value]:
        return [1 - self._outside(limit, field) for limit in limits]

    def half_width(self, confidence: Fraction, field: Field) -> Value:
        """Smallest half-width that holds with the confidence.

        With balls the result encloses it: the probability at the upper end was checked to reach the
        confidence, and at the lower end not to be certain to.
        """
        target = field.real(1 - confidence)

        def reached(width: Fraction | int) -> bool:
            outside = self._outside(width, field)
            return certainly_at_most(outside, target) if field is BALLS else bool(outside <= target)

        if self.integer:
            most = least = first_true(reached, *gallop(reached, -1, 1))
            while field is BALLS and least > 0 and not bool(self._outside(least - 1, field) > target):
                least -= 1
            return field.between(field.real(least), field.real(most))
        ends = gallop(reached, Fraction(0), getattr(self.density, "period", Fraction(1)))
        low, high = turn(reached, *ends, relative=Fraction(1, 2**44))
        return field.between(field.real(low), field.real(high))

    def _outside(self, limit: Fraction | int, field: Field) -> Value:
        """P(|error| > limit)."""
        reach = math.floor(limit) + HALF if self.integer else limit
        return self.density.sf(reach, field) + self.density.cdf(-reach, field)

    def largest(self, field: Field) -> Value:
        return self.power_means(Fraction(1), field)[0]

    def mean_loss(self, utility: Expected, field: Field) -> Value:
        if not isinstance(self.density, Piecewise | Smoothed):
            raise InvalidUtilityError(
                "a loss of your own cannot be evaluated for this law; use PowerError, Usefulness or ErrorQuantile."
            )
        return expected_loss(self.density, utility, field, integer=self.integer)

    def histogram(self, utility: HistogramMetric, field: Field) -> Value:
        return off_by(*histogram_value(self.density, utility, integer=self.integer), field)

    def mallows(self, utility: Mallows, field: Field) -> Value:
        if utility.power == 1:
            return self.largest(field)
        return off_by(*mallows_value(self.density, utility, integer=self.integer), field)

    def entropy(self, field: Field) -> Value:
        return off_by(*entropy_of_error(self.density), field)


def _integer_moment(density: Piecewise, power: Fraction, field: Field) -> Value:
    """Sum over whole k of |k|^power times the mass of k; cells are runs of whole numbers."""
    total = field.real(0)
    runs = [(math.ceil(start), math.ceil(end) - 1, level) for start, end, level in density.cells]
    for first, last, level in runs:
        if last >= 0:
            total = total + density.weight(level, field) * _run(field, max(first, 0), last, power)
        if first < 0:
            total = total + density.weight(level, field) * _run(field, max(-last, 1), -first, power)
    for tail, direction in ((runs[: density.left_cells], -1), (runs[-density.right_cells :], 1)):
        for first, last, level in tail:
            near, far = sorted((first * direction + int(density.period), last * direction + int(density.period)))
            total = total + density.weight(level + 1, field) * _repeated_run(field, density, near, far, power)
    return total / density.mass_total(field)


def _run(field: Field, first: int, last: int, power: Fraction) -> Value:
    """Sum of k^power over first <= k <= last, first >= 0."""
    if power.denominator == 1:
        polynomial = power_sum_polynomial(int(power))
        return field.real(sum(c * (last**i - max(first - 1, 0) ** i) for i, c in enumerate(polynomial)))
    return _bracketed(field, lambda x, exponent: field.power(field.real(x), exponent), power, first, last)


def _repeated_run(field: Field, density: Piecewise, near: int, far: int, power: Fraction) -> Value:
    """Sum over n >= 0 of e^(-rate n) times the sum of k^power over near + nT <= k <= far + nT; near >= 1."""
    rate, period = density.rate, density.period
    if power.denominator > 1:
        return _bracketed(
            field, lambda k, p: geometric_power_sum(field, rate, Fraction(k), period, p), power, near, far
        )
    total = field.real(0)
    for i, c in enumerate(power_sum_polynomial(int(power))):
        if c:
            above = geometric_power_sum(field, rate, Fraction(far), period, i)
            total = total + field.real(c) * (above - geometric_power_sum(field, rate, Fraction(near - 1), period, i))
    return total


def _bracketed(
    field: Field, raised: Callable[[Exact, Fraction], Value], power: Fraction, first: int, last: int
) -> Value:
    """A sum of raised(k, power) over whole numbers: term by term, or between two integrals.

    Its primitive is raised(k, power + 1) / (power + 1). The midpoint rule errs to one side and the trapezoid rule to
    the other where the second derivative keeps its sign, as it does for powers; long runs are enclosed by the two.
    """
    start = min(last + 1, first + 64)
    total = sum((raised(k, power) for k in range(first, start) if k), field.real(0))
    if start > last:
        return total

    def integral(low: Exact, high: Exact) -> Value:
        return (raised(high, power + 1) - raised(low, power + 1)) / field.real(power + 1)

    trapezoid = integral(start, last) + (raised(start, power) + raised(last, power)) / 2
    return total + field.between(integral(start - HALF, last + HALF), trapezoid)

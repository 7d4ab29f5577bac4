"""Expected utilities of one number's error density, in floats or in balls."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from noisewright.laws.discrete_gaussian import DiscreteGaussian
from noisewright.laws.lattice import HALF
from noisewright.laws.piecewise import Piecewise
from noisewright.laws.tabulated import Tabulated
from noisewright.mechanisms.errors import Errors
from noisewright.mechanisms.losses import expected_loss
from noisewright.mechanisms.numerical import entropy_of_error, histogram_value, mallows_value
from noisewright.mechanisms.smoothed import Smoothed
from noisewright.numerics.balls import around, certainly_at_most
from noisewright.numerics.bisection import first_true, gallop, turn
from noisewright.numerics.fields import BALLS, Exact, Field, Value
from noisewright.numerics.series import geometric_power_sum, power_sum_polynomial
from noisewright.problem.divergences import HistogramMetric, Mallows
from noisewright.problem.errors import InvalidUtilityError
from noisewright.problem.utilities import Expected

ErrorDensity = Piecewise | Smoothed | Tabulated | DiscreteGaussian


@dataclass(frozen=True, slots=True)
class ErrorLaw(Errors):
    """The error of one number by its density (for integers: its masses per whole number)."""

    density: ErrorDensity
    integer: bool

    def power_means(self, power: Fraction, field: Field) -> list[Value]:
        if self.integer and isinstance(self.density, Piecewise):
            return [_integer_moment(self.density, power, field)]
        return [self.density.moment(power, field)]

    def chances(self, limits: tuple[Fraction, ...], field: Field) -> list[Value]:
        return [probability_within(self.density, limit, field, integer=self.integer) for limit in limits]

    def half_width(self, confidence: Fraction, field: Field) -> Value:
        return half_width(self.density, confidence, field, integer=self.integer)

    def largest(self, field: Field) -> Value:
        return self.power_means(Fraction(1), field)[0]

    def mean_loss(self, utility: Expected, field: Field) -> Value:
        if not isinstance(self.density, Piecewise | Smoothed):
            raise InvalidUtilityError(
                "a loss of your own cannot be evaluated for this law; use PowerError, Usefulness or ErrorQuantile."
            )
        return expected_loss(self.density, utility, field, integer=self.integer)

    def histogram(self, utility: HistogramMetric, field: Field) -> Value:
        return _with_error(*histogram_value(self.density, utility, integer=self.integer), field)

    def mallows(self, utility: Mallows, field: Field) -> Value:
        if utility.power == 1:
            return self.largest(field)
        return _with_error(*mallows_value(self.density, utility, integer=self.integer), field)

    def entropy(self, field: Field) -> Value:
        return _with_error(*entropy_of_error(self.density), field)


def _with_error(value: float, error: float, field: Field) -> Value:
    """A numerical value; as a ball, one as wide as its estimated error (no proof)."""
    return around(value, error) if field is BALLS else value


def probability_within(density: ErrorDensity, within: Fraction, field: Field, *, integer: bool) -> Value:
    """P(|error| <= within)."""
    reach = math.floor(within) + HALF if integer else within
    return 1 - density.sf(reach, field) - density.cdf(-reach, field)


def half_width(density: ErrorDensity, confidence: Fraction, field: Field, *, integer: bool) -> Value:
    """Smallest half-width that holds with the confidence.

    With balls the result encloses it: the probability at the upper end was checked to reach the
    confidence, and at the lower end not to be certain to.
    """
    target = field.real(1 - confidence)

    def reached(width: Fraction | int) -> bool:
        reach = width + HALF if integer else width
        outside = density.sf(reach, field) + density.cdf(-reach, field)
        return certainly_at_most(outside, target) if field is BALLS else bool(outside <= target)

    if integer:
        return field.real(first_true(reached, *gallop(reached, -1, 1)))
    ends = gallop(reached, Fraction(0), getattr(density, "period", Fraction(1)))
    low, high = turn(reached, *ends, relative=Fraction(1, 2**44))
    return field.between(field.real(low), field.real(high))


def _integer_moment(density: Piecewise, power: Fraction, field: Field) -> Value:
    """Sum over whole k of |k|^power times the mass of k; cells are runs of whole numbers."""

    total = field.real(0)
    for (start, end), level in zip(pairwise(density.breaks), density.levels, strict=True):
        first, last = math.ceil(start), math.ceil(end) - 1
        if last >= 0:
            total = total + density.weight(level, field) * _run(field, max(first, 0), last, power)
        if first < 0:
            total = total + density.weight(level, field) * _run(field, max(-last, 1), -first, power)
    for cells, direction in ((density.left_cells, -1), (density.right_cells, 1)):
        chosen = range(cells) if direction < 0 else range(len(density.levels) - cells, len(density.levels))
        for i in chosen:
            ends = (math.ceil(density.breaks[i]) * direction, (math.ceil(density.breaks[i + 1]) - 1) * direction)
            near, far = min(ends) + int(density.period), max(ends) + int(density.period)
            run = _repeated_run(field, density, near, far, power)
            total = total + density.weight(density.levels[i] + 1, field) * run
    return total / density.mass_total(field)


def _run(field: Field, first: int, last: int, power: Fraction) -> Value:
    """Sum of k^power over first <= k <= last, first >= 0."""
    if power.denominator == 1:
        polynomial = power_sum_polynomial(int(power))
        return field.real(sum(c * (last**i - max(first - 1, 0) ** i) for i, c in enumerate(polynomial)))
    return _bracketed(
        field,
        last - first + 1,
        lambda x: field.power(field.real(x), power),
        lambda x: field.power(field.real(x), power + 1) / field.real(power + 1),
        first,
        last,
    )


def _repeated_run(field: Field, density: Piecewise, near: int, far: int, power: Fraction) -> Value:
    """Sum over n >= 0 of e^(-rate n) times the sum of k^power over near + nT <= k <= far + nT; near >= 1."""

    def series(start: Fraction, exponent: Fraction) -> Value:
        return geometric_power_sum(field, density.rate, start, density.period, exponent)

    if power.denominator == 1:
        total = field.real(0)
        for i, c in enumerate(power_sum_polynomial(int(power))):
            if c:
                step = series(Fraction(far), Fraction(i)) - series(Fraction(near - 1), Fraction(i))
                total = total + field.real(c) * step
        return total
    return _bracketed(
        field,
        far - near + 1,
        lambda x: series(Fraction(x), power),
        lambda x: series(Fraction(x), power + 1) / field.real(power + 1),
        near,
        far,
    )


def _bracketed(
    field: Field,
    count: int,
    term: Callable[[Exact], Value],
    primitive: Callable[[Exact], Value],
    first: int,
    last: int,
) -> Value:
    """A sum of a function of one curvature over whole numbers: term by term, or between two integrals.

    The midpoint rule errs to one side and the trapezoid rule to the other where the second
    derivative keeps its sign, as it does for powers; long runs are enclosed by the two.
    """
    direct = min(count, 64)
    total = field.real(0)
    for k in range(first, first + direct):
        if k:
            total = total + term(k)
    if direct == count:
        return total
    start = first + direct
    midpoint = primitive(last + HALF) - primitive(start - HALF)
    trapezoid = primitive(last) - primitive(start) + (term(start) + term(last)) / 2
    return total + field.between(midpoint, trapezoid)

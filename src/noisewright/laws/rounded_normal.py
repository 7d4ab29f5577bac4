"""Gaussian noise of a rational variance, rounded to whole numbers: known by its formulas, never stored."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from noisewright.numerics.balls import around
from noisewright.numerics.fields import BALLS, Field, Value

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

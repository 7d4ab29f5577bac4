"""Compound Gaussian noise: Gaussian noise whose standard deviation is itself random, with finitely many values."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import ClassVar

from noisewright.laws.base import LAWS
from noisewright.laws.gaussian import Gaussian
from noisewright.numerics.fields import Exact, Field, Point, Value
from noisewright.problem.errors import InvalidLawError, UncertifiedError
from noisewright.problem.fields import Rationals, rationals
from noisewright.problem.records import Record, record


@record("gaussian-mixture", LAWS, error=InvalidLawError)
class GaussianMixture(Record):
    """Gaussian noise of standard deviation stds[i] with probability weights[i]."""

    stds: Rationals = rationals(above=0)
    weights: Rationals = rationals(above=0)
    on_integers: ClassVar[bool | None] = False

    def __post_init__(self) -> None:
        if not 1 <= len(self.stds) <= 64 or len(self.stds) != len(self.weights):
            raise InvalidLawError("a Gaussian mixture needs as many standard deviations as weights, 1 to 64.")
        if sum(self.weights) != 1:
            raise InvalidLawError("a Gaussian mixture needs positive weights that sum to exactly 1.")

    def density(self, x: Point, field: Field) -> Value:
        """Density at x."""
        return self._mean(lambda part: part.density(x, field), field)

    def cdf(self, x: Point, field: Field) -> Value:
        """P(X <= x), accurate in the lower tail."""
        return self.sf(-x, field)

    def sf(self, x: Point, field: Field) -> Value:
        """P(X > x), accurate in the upper tail."""
        return self._mean(lambda part: part.sf(x, field), field)

    def moment(self, power: Exact, field: Field) -> Value:
        """E |X|^power."""
        return self._mean(lambda part: part.moment(power, field), field)

    def mean(self, field: Field) -> Value:
        """E X, which is 0."""
        return field.real(0)

    def log_ratio(self, shift: Fraction) -> Fraction:
        """Never finite: refused."""
        raise UncertifiedError("the likelihood ratio of Gaussian noise is not bounded: it is never purely private.")

    def scaled(self, factor: Fraction) -> GaussianMixture:
        """Every standard deviation times the factor."""
        return GaussianMixture(tuple(s * factor for s in self.stds), self.weights)

    def _mean(self, function: Callable[[Gaussian], Value], field: Field) -> Value:
        total = field.real(0)
        for std, weight in zip(self.stds, self.weights, strict=True):
            total = total + field.real(weight) * function(Gaussian(std))
        return total

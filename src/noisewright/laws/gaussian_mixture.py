"""Compound Gaussian noise: Gaussian noise whose standard deviation is itself random, with finitely many values."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from noisewright.laws.base import LAWS, SmoothLaw
from noisewright.laws.gaussian import Gaussian
from noisewright.numerics.fields import Exact, Field, Point, Value
from noisewright.problem.errors import InvalidLawError
from noisewright.problem.fields import Rationals, rationals
from noisewright.problem.records import record


@record("gaussian-mixture", LAWS, error=InvalidLawError)
class GaussianMixture(SmoothLaw):
    """Gaussian noise of standard deviation stds[i] with probability weights[i]."""

    stds: Rationals = rationals(above=0)
    weights: Rationals = rationals(above=0)
    lengths: ClassVar[tuple[str, ...]] = ("stds",)

    def __post_init__(self) -> None:
        if not 1 <= len(self.stds) <= 64 or len(self.stds) != len(self.weights):
            raise InvalidLawError("a Gaussian mixture needs as many standard deviations as weights, 1 to 64.")
        if sum(self.weights) != 1:
            raise InvalidLawError("a Gaussian mixture needs positive weights that sum to exactly 1.")

    def density(self, x: Point, field: Field) -> Value:
        return self._mean(lambda part: part.density(x, field), field)

    def sf(self, x: Point, field: Field) -> Value:
        return self._mean(lambda part: part.sf(x, field), field)

    def moment(self, power: Exact, field: Field) -> Value:
        return self._mean(lambda part: part.moment(power, field), field)

    def _mean(self, function: Callable[[Gaussian], Value], field: Field) -> Value:
        total = field.real(0)
        for std, weight in zip(self.stds, self.weights, strict=True):
            total = total + field.real(weight) * function(Gaussian(std))
        return total

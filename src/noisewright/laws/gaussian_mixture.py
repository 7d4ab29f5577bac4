"""Compound Gaussian noise: Gaussian noise whose standard deviation is itself random, with finitely many values."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from noisewright.laws.base import LAWS, SmoothLaw, check_mixture, mixed
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
        check_mixture(self.stds, self.weights, "a Gaussian mixture", "standard deviations")

    def density(self, x: Point, field: Field) -> Value:
        return self._mean(lambda part: part.density(x, field), field)

    def sf(self, x: Point, field: Field) -> Value:
        return self._mean(lambda part: part.sf(x, field), field)

    def moment(self, power: Exact, field: Field) -> Value:
        return self._mean(lambda part: part.moment(power, field), field)

    def _mean(self, function: Callable[[Gaussian], Value], field: Field) -> Value:
        return mixed(self.stds, self.weights, lambda std: function(Gaussian(std)), field)

"""The Gaussian law, density proportional to e^(-x^2 / (2 std^2)), and noise whose deviation is itself random."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import ClassVar

from noisewright.laws.base import LAWS, Crossing, SmoothLaw, check_mixture, mixed
from noisewright.numerics.fields import Exact, Field, Point, Value
from noisewright.problem.errors import InvalidLawError
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

    def crossing(self, epsilon: Fraction, shift: Fraction) -> Crossing:
        """The log-ratio (2 x shift + shift^2) / (2 std^2) passes epsilon at a rational point."""
        place = epsilon * self.std**2 / shift - shift / 2
        return place, place


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

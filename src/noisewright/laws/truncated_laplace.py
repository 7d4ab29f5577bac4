"""The Laplace law cut off at a bound on either side."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

from noisewright.laws.base import LAWS, Crossing, SmoothLaw
from noisewright.numerics.fields import Exact, Field, Point, Value
from noisewright.problem.errors import InvalidLawError
from noisewright.problem.fields import Rational, rational
from noisewright.problem.records import record


@record("truncated-laplace", LAWS, error=InvalidLawError)
class TruncatedLaplace(SmoothLaw):
    """Density proportional to e^(-|x|/scale) on [-bound, bound]: errors never exceed the bound."""

    scale: Rational = rational(above=0)
    bound: Rational = rational(above=0)
    lengths: ClassVar[tuple[str, ...]] = ("scale", "bound")

    def density(self, x: Point, field: Field) -> Value:
        if max(x, -x) > self.bound:
            return field.real(0)
        return self._fade(max(x, -x), field) / (field.real(2 * self.scale) * self._inside(field))

    def sf(self, x: Point, field: Field) -> Value:
        if x >= self.bound:
            return field.real(0)
        if x <= -self.bound:
            return field.real(1)
        # e^(-x/s) - e^(-bound/s) in the form that keeps its digits near the bound.
        gap = (field.real(self.bound) - field.real(max(x, -x))) / field.real(self.scale)
        half_tail = self._fade(self.bound, field) * field.expm1(gap) / (2 * self._inside(field))
        return half_tail if x >= 0 else 1 - half_tail

    def moment(self, power: Exact, field: Field) -> Value:
        reach = field.real(self.bound) / field.real(self.scale)
        whole = field.gamma(power + 1)
        cut = whole * field.gamma_tail(power + 1, reach)
        return field.power(field.real(self.scale), power) * (whole - cut) / self._inside(field)

    def crossing(self, epsilon: Fraction, shift: Fraction) -> Crossing | None:
        """At the latest where x + shift leaves the support."""
        end = self.bound - shift
        if epsilon * self.scale < shift:
            end = min(end, (epsilon * self.scale - shift) / 2)
        return end, end

    def _fade(self, size: Point, field: Field) -> Value:
        return field.exp(-field.real(size) / field.real(self.scale))

    def _inside(self, field: Field) -> Value:
        return -field.expm1(-field.real(self.bound) / field.real(self.scale))

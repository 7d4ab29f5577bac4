"""The Laplace law, density e^(-|x|/scale) / (2 scale): whole, cut off at a bound, and on the integers."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

from noisewright.laws.base import LAWS, Crossing, SmoothLaw
from noisewright.laws.piecewise import Piecewise
from noisewright.numerics.fields import Exact, Field, Point, Value
from noisewright.problem.errors import InvalidLawError
from noisewright.problem.fields import Rational, rational
from noisewright.problem.records import Record, record


@record("laplace", LAWS, error=InvalidLawError)
class Laplace(SmoothLaw):
    """Laplace noise with a rational scale."""

    scale: Rational = rational(above=0)

    def density(self, x: Point, field: Field) -> Value:
        return field.exp(-field.real(max(x, -x)) / field.real(self.scale)) / field.real(2 * self.scale)

    def sf(self, x: Point, field: Field) -> Value:
        half_tail = field.exp(-field.real(max(x, -x)) / field.real(self.scale)) / 2
        return half_tail if x >= 0 else 1 - half_tail

    def moment(self, power: Exact, field: Field) -> Value:
        return field.gamma(power + 1) * field.power(field.real(self.scale), power)

    def drop(self, x: Point, shift: Point, field: Field) -> Value:
        """ln f(x) - ln f(x + shift)."""
        return field.real(_farther(x, shift)) / field.real(self.scale)

    def crossing(self, epsilon: Fraction, shift: Fraction) -> Crossing | None:
        """Where the log-ratio passes epsilon: between -shift and 0 it is (2 x + shift) / scale."""
        if epsilon * self.scale >= shift:
            return None
        place = (epsilon * self.scale - shift) / 2
        return place, place

    def stepped(self, step: Fraction) -> Piecewise:
        """The law with its mass spread evenly over each cell [k step, (k+1) step): rounding in and out."""
        return Piecewise(step / self.scale, step, (-step, 0, step), (0, 0), left_cells=1, right_cells=1)


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

    def drop(self, x: Point, shift: Point, field: Field) -> Value:
        """ln f(x) - ln f(x + shift), for x and x + shift within the bound."""
        return field.real(_farther(x, shift)) / field.real(self.scale)

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


def _farther(x: Point, shift: Point) -> Point:
    """|x + shift| - |x|."""
    return max(x + shift, -x - shift) - max(x, -x)


@record("discrete-laplace", LAWS, error=InvalidLawError)
class DiscreteLaplace(Record):
    """Two-sided geometric noise on the integers: mass proportional to e^(-|k|/scale)."""

    scale: Rational = rational(above=0)
    on_integers: ClassVar[bool | None] = True

    def stepped(self) -> Piecewise:
        """The density that is constant on [k - 1/2, k + 1/2) and carries the mass of k there."""
        breaks = [Fraction(n, 2) for n in (-3, -1, 1, 3)]
        return Piecewise(1 / self.scale, 1, breaks, (1, 0, 1), left_cells=1, right_cells=1)

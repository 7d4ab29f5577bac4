"""The Laplace law: density e^(-|x|/scale) / (2 scale)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from noisewright.laws.base import Crossing
from noisewright.laws.piecewise import Piecewise
from noisewright.numerics.fields import Exact, Field, Point, Value
from noisewright.problem.errors import InvalidLawError
from noisewright.problem.numbers import parameter, show


@dataclass(frozen=True, slots=True)
class Laplace:
    """Laplace noise with a rational scale."""

    scale: Fraction
    on_integers: ClassVar[bool | None] = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", parameter(self.scale, "scale"))
        if self.scale <= 0:
            raise InvalidLawError(f"scale is {show(self.scale)}; a Laplace law needs a positive scale.")

    def density(self, x: Point, field: Field) -> Value:
        """Density at x."""
        return field.exp(-field.real(x if x >= 0 else -x) / field.real(self.scale)) / field.real(2 * self.scale)

    def cdf(self, x: Point, field: Field) -> Value:
        """P(X <= x), accurate in the lower tail."""
        return self.sf(-x, field)

    def sf(self, x: Point, field: Field) -> Value:
        """P(X > x), accurate in the upper tail."""
        half_tail = field.exp(-field.real(x if x >= 0 else -x) / field.real(self.scale)) / 2
        return half_tail if x >= 0 else 1 - half_tail

    def moment(self, power: Exact, field: Field) -> Value:
        """E |X|^power."""
        return field.gamma(power + 1) * field.power(field.real(self.scale), power)

    def mean(self, field: Field) -> Value:
        """E X."""
        return field.real(0)

    def log_ratio(self, shift: Fraction) -> Fraction:
        """Supremum over x of ln f(x) - ln f(x + shift)."""
        return abs(shift) / self.scale

    def crossing(self, epsilon: Fraction, shift: Fraction) -> Crossing | None:
        """Where the log-ratio passes epsilon: between -shift and 0 it is (2 x + shift) / scale."""
        if epsilon * self.scale >= shift:
            return None
        place = (epsilon * self.scale - shift) / 2
        return place, place

    def stepped(self, step: Fraction) -> Piecewise:
        """The law with its mass spread evenly over each cell [k step, (k+1) step): rounding in and out."""
        return Piecewise(
            rate=step / self.scale,
            period=step,
            breaks=(-step, Fraction(0), step),
            levels=(Fraction(0), Fraction(0)),
            left_cells=1,
            right_cells=1,
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain data, numbers as exact text."""
        return {"kind": "laplace", "scale": str(self.scale)}


@dataclass(frozen=True, slots=True)
class DiscreteLaplace:
    """Two-sided geometric noise on the integers: mass proportional to e^(-|k|/scale)."""

    scale: Fraction
    on_integers: ClassVar[bool | None] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", parameter(self.scale, "scale"))
        if self.scale <= 0:
            raise InvalidLawError(f"scale is {show(self.scale)}; a discrete Laplace law needs a positive scale.")

    def stepped(self) -> Piecewise:
        """The density that is constant on [k - 1/2, k + 1/2) and carries the mass of k there."""
        half = Fraction(1, 2)
        return Piecewise(
            rate=1 / self.scale,
            period=Fraction(1),
            breaks=(-3 * half, -half, half, 3 * half),
            levels=(Fraction(1), Fraction(0), Fraction(1)),
            left_cells=1,
            right_cells=1,
        )

    def log_ratio(self, shift: Fraction) -> Fraction:
        """Supremum over x of ln f(x) - ln f(x + shift)."""
        return abs(shift) / self.scale

    def to_dict(self) -> dict[str, Any]:
        """Plain data, numbers as exact text."""
        return {"kind": "discrete-laplace", "scale": str(self.scale)}

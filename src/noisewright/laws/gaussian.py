"""The Gaussian law: density proportional to e^(-x^2 / (2 std^2))."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from noisewright.laws.base import Crossing
from noisewright.numerics.balls import pi
from noisewright.numerics.fields import BALLS, Exact, Field, Point, Value
from noisewright.problem.errors import InvalidLawError, UncertifiedError
from noisewright.problem.numbers import make_exact, show


@dataclass(frozen=True, slots=True)
class Gaussian:
    """Gaussian noise with a rational standard deviation."""

    std: Fraction
    on_integers: ClassVar[bool | None] = False

    def __post_init__(self) -> None:
        make_exact(self, "std")
        if self.std <= 0:
            raise InvalidLawError(f"std is {show(self.std)}; a Gaussian law needs a positive standard deviation.")

    def density(self, x: Point, field: Field) -> Value:
        z = field.real(x) / field.real(self.std)
        return field.exp(-z * z / 2) / (field.real(self.std) * field.sqrt(2 * _pi(field)))

    def cdf(self, x: Point, field: Field) -> Value:
        return self.sf(-x, field)

    def sf(self, x: Point, field: Field) -> Value:
        return field.erfc(field.real(x) / (field.real(self.std) * field.sqrt(field.real(2)))) / 2

    def moment(self, power: Exact, field: Field) -> Value:
        spread = field.real(self.std) * field.sqrt(field.real(2))
        half = field.gamma(Fraction(power + 1) / 2) / field.sqrt(_pi(field))
        return field.power(spread, power) * half

    def mean(self, field: Field) -> Value:
        return field.real(0)

    def log_ratio(self, shift: Fraction) -> Fraction:
        raise UncertifiedError("the likelihood ratio of a Gaussian law is not bounded: it is never purely private.")

    def crossing(self, epsilon: Fraction, shift: Fraction) -> Crossing:
        """The log-ratio (2 x shift + shift^2) / (2 std^2) passes epsilon at a rational point."""
        place = epsilon * self.std**2 / shift - shift / 2
        return place, place

    def to_dict(self) -> dict[str, Any]:
        return {"kind": "gaussian", "std": str(self.std)}


def _pi(field: Field) -> Value:
    return pi() if field is BALLS else math.pi

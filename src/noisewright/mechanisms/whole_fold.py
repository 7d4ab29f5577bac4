"""The error of whole numbers with two-fold noise that is rounded to the nearest whole number."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from noisewright.laws.folds import Atoms
from noisewright.laws.twofold import TwoFold
from noisewright.numerics.fields import Exact, Field, Point, Value
from noisewright.numerics.special import geometric_power_sum
from noisewright.problem.errors import InvalidMechanismError

_HALF = Fraction(1, 2)


@dataclass(frozen=True, slots=True)
class WholeFold:
    """The mass of k is that of [k - 1/2, k + 1/2) under the law, spread evenly over it.

    Valid for: folds with finitely many rates (`Atoms`); moments of others have no closed form.
    """

    law: TwoFold

    def __post_init__(self) -> None:
        if not isinstance(self.law.fold, Atoms):
            raise InvalidMechanismError(
                "two-fold noise for whole numbers takes finitely many rates: Atoms, point_fold or two_point_fold."
            )

    def scaled(self, factor: Fraction) -> WholeFold:
        """Whole numbers are never stretched."""
        assert factor == 1
        return self

    @property
    def period(self) -> Fraction:
        """A length to start searches from."""
        return Fraction(1)

    def density(self, x: Point, field: Field) -> Value:
        k = math.floor(Fraction(x) + _HALF)
        return self.law.sf(k - _HALF, field) - self.law.sf(k + _HALF, field)

    def sf(self, x: Point, field: Field) -> Value:
        place = Fraction(x) + _HALF
        k = math.floor(place)
        share = field.real(place - k)
        return (1 - share) * self.law.sf(k - _HALF, field) + share * self.law.sf(k + _HALF, field)

    def cdf(self, x: Point, field: Field) -> Value:
        return self.sf(-x, field)

    def mean(self, field: Field) -> Value:
        return field.real(0)

    def moment(self, power: Exact, field: Field) -> Value:
        """E |k|^power: at rate u the numbers k and -k have the mass 2 sinh(u/2) e^(-u|k|) together."""
        total, fold = field.real(0), self.law.fold
        assert isinstance(fold, Atoms)
        for rate, weight in zip(fold.rates, fold.weights, strict=True):
            both = field.exp(field.real(-rate / 2)) - field.exp(field.real(-3 * rate / 2))
            series = geometric_power_sum(field, rate, Fraction(1), Fraction(1), power)
            total = total + field.real(weight) * both * series
        return total

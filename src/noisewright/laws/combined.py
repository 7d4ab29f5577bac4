"""Second folds without closed inverse moments: truncated normal rates and independent sums."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar

from noisewright.laws.folds import FOLDS, Fold
from noisewright.laws.inverse import inverse_moment_between
from noisewright.numerics.balls import working_bits
from noisewright.numerics.fields import BALLS, FLOATS, Field, Value
from noisewright.numerics.special import gaussian_transform
from noisewright.problem import fields
from noisewright.problem.errors import InvalidLawError
from noisewright.problem.records import record

_MOST_PARTS = 16


@record("truncated-normal", FOLDS, error=InvalidLawError)
class TruncatedNormalFold(Fold):
    """Normal rates kept to low < u < high; `high` may be None for no upper limit.

    With a = (low - centre)/spread and G(z) the integral of e^(-t^2/2 - zt) over t > 0,
    L(x) is e^(-a^2/2 - low x) G(a + spread x) minus the same at `high`, divided by its value at 0.
    Valid for: low >= 0, ends at most 30 spreads from the centre.
    """

    centre: fields.Rational = fields.rational()
    spread: fields.Rational = fields.rational(above=0)
    low: fields.Rational = fields.rational(at_least=0)
    high: fields.MaybeRational = fields.optional(fields.rational())
    costly: ClassVar[bool] = True
    lengths: ClassVar[tuple[str, ...]] = ("centre", "spread", "low", "high")

    def __post_init__(self) -> None:
        if self.high is not None and self.high <= self.low:
            raise InvalidLawError("a truncated normal fold needs spread > 0 and 0 <= low < high.")
        far = 30 * self.spread
        if abs(self.low - self.centre) > far or (self.high is not None and abs(self.high - self.centre) > far):
            raise InvalidLawError(
                "the ends of a truncated normal fold must lie within 30 spreads of its centre; use None for no"
                " upper end."
            )

    @property
    def inverse_reach(self) -> Fraction | None:
        return None if self.low else Fraction(1)

    def transform(self, x: Value, field: Field) -> Value:
        if bool(x == 0):
            return field.real(1)
        return self._ends(x, field, 0) / self._whole(field)

    def slope(self, x: Value, field: Field) -> Value:
        return self._ends(x, field, 1) / self._whole(field)

    def _inverse_moment(self, power: Fraction, field: Field) -> Value:
        """In floats by Gauss's rule over the logarithm of the rate: quick, for search."""
        if field is BALLS:
            return inverse_moment_between(self, power, field)
        import numpy as np

        centre, spread = float(self.centre), float(self.spread)
        top = centre + 12 * spread if self.high is None else min(float(self.high), max(centre, 0.0) + 12 * spread)
        bottom = max(float(self.low), 1e-12 * top)
        nodes, weights = np.polynomial.legendre.leggauss(120)
        logs = np.log(bottom) + (nodes + 1) / 2 * np.log(top / bottom)
        rates = np.exp(logs)
        exponents = -(((rates - centre) / spread) ** 2) / 2
        mass = weights * np.exp(exponents - exponents.max()) * rates
        return float(np.sum(mass * rates ** -float(power)) / np.sum(mass))

    @property
    def lowest(self) -> Fraction:
        return self.low

    def tail_bound(self, power: Fraction, field: Field) -> tuple[Fraction, Value]:
        """No density of the rate exceeds a height, so L(x) is at most that height divided by x."""
        return Fraction(1), 1 / (field.real(self.spread) * self._whole(field))

    def _whole(self, field: Field) -> Value:
        """The normalising constant, computed once per precision."""
        return _normaliser(self, working_bits() if field is BALLS else None)

    def _ends(self, x: Value, field: Field, order: int) -> Value:
        """The integral of u^order e^(-ux) times the unnormalised density, in units of the spread."""
        total = self._beyond(self.low, x, field, order)
        return total if self.high is None else total - self._beyond(self.high, x, field, order)

    def _beyond(self, end: Fraction, x: Value, field: Field, order: int) -> Value:
        """The same over u > end: substitute u = end + spread t."""
        a = (end - self.centre) / self.spread
        spread = field.real(self.spread)
        z = field.real(a) + spread * x
        weight = field.exp(field.real(-a * a / 2) - field.real(end) * x)
        inner = gaussian_transform(0, z, field)
        if order == 1:
            inner = field.real(end) * inner + spread * gaussian_transform(1, z, field)
        return weight * inner


@lru_cache(maxsize=128)
def _normaliser(fold: TruncatedNormalFold, bits: int | None) -> Value:
    field = FLOATS if bits is None else BALLS
    return fold._ends(field.real(0), field, 0)


@record("ensemble", FOLDS, error=InvalidLawError)
class Ensemble(Fold):
    """A sum of independent folds with positive coefficients: L(x) is the product of the L_i(a_i x)."""

    coefficients: fields.Rationals = fields.rationals(above=0, least=1, most=_MOST_PARTS)
    parts: fields.Many[Fold] = fields.tuple_of(fields.one_of(FOLDS), like="coefficients")
    costly: ClassVar[bool] = True
    lengths: ClassVar[tuple[str, ...]] = ("coefficients",)

    def __post_init__(self) -> None:
        if any(isinstance(part, Ensemble) for part in self.parts):
            raise InvalidLawError("an ensemble is made of plain folds; put all of them into one ensemble.")

    @property
    def inverse_reach(self) -> Fraction | None:
        reaches = [part.inverse_reach for part in self.parts]
        return None if None in reaches else sum((r for r in reaches if r is not None), Fraction(0))

    def transform(self, x: Value, field: Field) -> Value:
        return math.prod(self._transforms(x, field), start=field.real(1))

    def slope(self, x: Value, field: Field) -> Value:
        transforms = self._transforms(x, field)
        total = field.real(0)
        for i, (a, part) in enumerate(zip(self.coefficients, self.parts, strict=True)):
            others = math.prod(transforms[:i] + transforms[i + 1 :], start=field.real(1))
            total = total + field.real(a) * part.slope(field.real(a) * x, field) * others
        return total

    @property
    def lowest(self) -> Fraction:
        return sum((a * part.lowest for a, part in zip(self.coefficients, self.parts, strict=True)), Fraction(0))

    def tail_bound(self, power: Fraction, field: Field) -> tuple[Fraction, Value]:
        """From L_i(x) <= Gamma(q+1) E u_i^(-q) x^(-q) for each part.

        That holds because x^q L_i(x) / q is at most the integral of t^(q-1) L_i(t) over t < x.
        """
        assert self.inverse_reach is not None
        order = power + (self.inverse_reach - power) * Fraction(9, 10)
        total = field.real(1)
        for a, part in zip(self.coefficients, self.parts, strict=True):
            assert part.inverse_reach is not None
            q = part.inverse_reach * order / self.inverse_reach
            total = total * field.gamma(q + 1) * part.inverse_moment(q, field) / field.power(field.real(a), q)
        return order, total

    def _transforms(self, x: Value, field: Field) -> list[Value]:
        return [part.transform(field.real(a) * x, field) for a, part in zip(self.coefficients, self.parts, strict=True)]

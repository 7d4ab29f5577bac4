"""The discrete Gaussian law on the integers: mass proportional to e^(-k^2 / (2 std^2))."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from typing import ClassVar

from noisewright.laws.base import LAWS, SymmetricLaw
from noisewright.numerics.balls import Ball, ball, hull, precision, working_bits
from noisewright.numerics.fields import BALLS, FLOATS, Exact, Field, Point, Value
from noisewright.problem.errors import InvalidLawError
from noisewright.problem.fields import Rational, rational
from noisewright.problem.records import record

LARGEST_STD = Fraction(30_000)
_SMALLEST_STD = Fraction(1, 100)
_GUARD_BITS = 32


@record("discrete-gaussian", LAWS, error=InvalidLawError)
class DiscreteGaussian(SymmetricLaw):
    """Gaussian noise born on the integers; between them the mass of k is spread over [k - 1/2, k + 1/2).

    Valid for: standard parameters from 1/100 to 30,000 (the tables that sampling walks along grow with it).
    """

    std: Rational = rational(at_least=_SMALLEST_STD, at_most=LARGEST_STD, hint=" (use real-valued answers beyond)")
    on_integers: ClassVar[bool | None] = True

    @property
    def period(self) -> Fraction:
        """A length to start searches from."""
        return Fraction(1)

    def mass(self, k: int, field: Field) -> Value:
        """P(K = k)."""
        return self._weight(k, field) / self._tails(field)[0]

    def density(self, x: Point, field: Field) -> Value:
        return self.mass(math.floor(x + Fraction(1, 2)), field)

    def sf(self, x: Point, field: Field) -> Value:
        place = Fraction(x) + Fraction(1, 2)
        k = math.floor(place)
        share = place - k
        beyond = self.tail(k, field)
        return beyond if not share else beyond - field.real(share) * self.mass(k, field)

    def tail(self, k: int, field: Field) -> Value:
        """P(K >= k), accurate in the upper tail."""
        total, tails = self._tails(field)
        if k <= 0:
            return 1 - self.tail(1 - k, field)
        if k < len(tails):
            return tails[k] / total
        first = self._weight(k, field)
        if field is FLOATS:
            return first / total
        # Later weights fall at least geometrically.
        ratio = BALLS.exp(BALLS.real(-Fraction(2 * k + 1) / (2 * self.std**2)))
        return hull(first, first / (1 - ratio)) / total

    def moment(self, power: Exact, field: Field) -> Value:
        def term(k: int) -> Value:
            return field.power(field.real(k), power) * self._weight(k, field)

        total, tails = self._tails(field)
        terms, k = sum((term(i) for i in range(1, len(tails))), field.real(0)), len(tails)
        if field is BALLS:
            shrink = field.power(field.real(Fraction(k + 1, k)), power)
            ratio = shrink * field.exp(field.real(-Fraction(2 * k + 1) / (2 * self.std**2)))
            terms = terms + hull(ball(0), term(k) / (1 - ratio))
        return 2 * terms / total

    def first_above(self, epsilon: Fraction, shift: int) -> int:
        """Smallest k whose mass exceeds e^epsilon times that of k + shift: 2 k shift + shift^2 > 2 std^2 epsilon."""
        return math.floor((2 * self.std**2 * epsilon - shift**2) / (2 * shift)) + 1

    def _weight(self, k: int, field: Field) -> Value:
        return field.exp(field.real(-Fraction(k * k) / (2 * self.std**2)))

    def _tails(self, field: Field) -> tuple[Value, list[Value]]:
        """The total weight, and the weight at k and beyond for k = 0, 1, … as far as it matters."""
        return _float_tails(self.std) if field is FLOATS else _ball_tails(self.std, working_bits())


@lru_cache(maxsize=16)
def _ball_tails(std: Fraction, bits: int) -> tuple[Ball, list[Ball]]:
    """By the recurrence w(k+1) = w(k) r(k), r(k+1) = r(k) q: two multiplications per point."""
    with precision(bits + _GUARD_BITS + 2 * int(std).bit_length() + 16):
        count = math.ceil(float(std) * math.sqrt(2 * math.log(2) * (bits + _GUARD_BITS))) + 4
        twice = 2 * std**2
        quotient, ratio = ball(-2 / twice).exp(), ball(-1 / twice).exp()
        weights = [ball(1)]
        for _ in range(count):
            weights.append(weights[-1] * ratio)
            ratio = ratio * quotient
        rest = hull(weights[-1], weights[-1] / (1 - ratio))
        backwards = list(accumulate(reversed(weights[:-1]), initial=rest))
        tails = backwards[::-1][:-1]
        return 2 * tails[0] - 1, tails


@lru_cache(maxsize=16)
def _float_tails(std: Fraction) -> tuple[float, list[float]]:
    import numpy as np

    count = math.ceil(float(std) * 39) + 4
    weights = np.exp(-(np.arange(count, dtype=np.float64) ** 2) / (2 * float(std) ** 2))
    tails = np.cumsum(weights[::-1])[::-1]
    return float(2 * tails[0] - 1), [float(t) for t in tails]

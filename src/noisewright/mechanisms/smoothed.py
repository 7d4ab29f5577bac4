"""The error of a continuous law that is rounded to cells, where no closed form of its own exists."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from noisewright.laws.base import SmoothLaw
from noisewright.numerics.fields import BALLS, Exact, Field, Point, Value


@dataclass(frozen=True, slots=True)
class Smoothed:
    """A symmetric law, not increasing away from zero, with the mass of each cell [k step, (k+1) step) spread evenly.

    That is the density of released minus true answer, averaged over where the answer falls in its
    cell. Cell edges keep their distribution function; within a cell it is linear.
    """

    law: SmoothLaw
    step: Fraction

    def scaled(self, factor: Fraction) -> Smoothed:
        """The density of `factor` times the error."""
        return self if factor == 1 else Smoothed(self.law.scaled(factor), self.step * factor)

    @property
    def period(self) -> Fraction:
        """A length to start searches from."""
        return self.step

    def density(self, x: Point, field: Field) -> Value:
        low, high, _ = self._cell(x)
        return (self.law.sf(low, field) - self.law.sf(high, field)) / field.real(self.step)

    def sf(self, x: Point, field: Field) -> Value:
        low, high, share = self._cell(x)
        part = field.real(share)
        return (1 - part) * self.law.sf(low, field) + part * self.law.sf(high, field)

    def cdf(self, x: Point, field: Field) -> Value:
        return self.sf(-x, field)

    def mean(self, field: Field) -> Value:
        return field.real(0)

    def moment(self, power: Exact, field: Field) -> Value:
        """E |error|^power: at least that of the law, at most more by the sum of products of ranges.

        Rule: within a cell the density does not increase and the power does not decrease, so
        spreading evenly adds between 0 and (range of density) * (range of power) * step / 4 (Gruess).
        """
        exact = self.law.moment(power, field)
        if field is not BALLS or not exact.is_finite():
            return exact
        return field.between(exact, exact + self._excess(Fraction(power)))

    def _excess(self, power: Fraction) -> Value:
        """Upper bound of step/2 * sum over cells of (drop of density) * (rise of power)."""
        h, top = BALLS.real(self.step), self.law.density(Fraction(0), BALLS)
        first = BALLS.power(h, power)
        if power <= 1:
            # The rises of a concave power decrease, so all drops of the density count with the first.
            return h * top * first / 2
        if power < 2:
            # Rises are at most p h^p (k+1)^(p-1); summed by parts and cut at k = K.
            cut = BALLS.real(max(1, math.ceil(float(1 / (2 * h * top).mid()))))
            inner = top + top * BALLS.power(cut, power - 1)
            outer = BALLS.real(power - 1) / (BALLS.power(cut, 2 - power) * 2 * h)
            return h * BALLS.real(power) * first * (inner + outer) / 2
        # Second differences are at most p (p-1) h^2 (x + 2h)^(p-2), and step * f(k step) at most the mass before it.
        rest = power - 2
        spread = self.law.moment(rest, BALLS) + BALLS.power(2 * h, rest)
        doubled = BALLS.power(BALLS.real(2), max(Fraction(0), rest - 1))
        return h / 2 * (top * first + BALLS.real(power * (power - 1)) * h / 2 * doubled * spread)

    def _cell(self, x: Point) -> tuple[Fraction, Fraction, Any]:
        place = Fraction(x) / self.step
        k = math.floor(place)
        return k * self.step, (k + 1) * self.step, place - k

"""Piecewise-constant densities with geometric tails: the staircase, and everything tailored.

Heights are e^(-rate * level) with *rational* levels, so that whether one height is at most
e^epsilon times another is a question about rationals, which can be decided exactly; only the
normalising constant needs balls.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from fractions import Fraction
from itertools import pairwise
from typing import ClassVar

from noisewright.laws.base import LAWS, Scalable
from noisewright.numerics.balls import working_bits
from noisewright.numerics.fields import BALLS, Exact, Field, Point, Value
from noisewright.numerics.remembered import Remembered
from noisewright.numerics.special import geometric_power_sum
from noisewright.problem.errors import InvalidLawError
from noisewright.problem.fields import Rational, Rationals, Whole, rational, rationals, whole
from noisewright.problem.numbers import Number, parameter
from noisewright.problem.records import record

_LARGEST_CELLS = 200_000
_TOTALS: Remembered[tuple[Value, Value, Value]] = Remembered()


@record("piecewise", LAWS, error=InvalidLawError)
class Piecewise(Scalable):
    """Density proportional to e^(-rate * levels[i]) between breaks[i] and breaks[i+1].

    The last `right_cells` cells span exactly one `period`; they repeat to the right for ever, one
    level lower in height (one more in level) each time. The first `left_cells` do so to the left.
    """

    rate: Rational = rational(above=0)
    period: Rational = rational(above=0)
    breaks: Rationals = rationals(rising=True)
    levels: Rationals = rationals(least=1, most=_LARGEST_CELLS)
    left_cells: Whole = whole(at_least=1)
    right_cells: Whole = whole(at_least=1)
    on_integers: ClassVar[bool | None] = None
    lengths: ClassVar[tuple[str, ...]] = ("period", "breaks")

    def __post_init__(self) -> None:
        cells = len(self.levels)
        if len(self.breaks) != cells + 1:
            raise InvalidLawError(f"{cells} levels need {cells + 1} breaks; {len(self.breaks)} were given.")
        if max(self.left_cells, self.right_cells) > cells:
            raise InvalidLawError("the repeating cells of a tail must be among the cells of the law.")
        left = self.breaks[self.left_cells] - self.breaks[0]
        right = self.breaks[-1] - self.breaks[-1 - self.right_cells]
        if left != self.period or right != self.period:
            raise InvalidLawError("the repeating cells of each tail must span exactly one period.")

    # Totals are relative to the unnormalised density e^(-rate * level).

    def density(self, x: Point, field: Field) -> Value:
        return self.weight(self.level_at(x), field) / self._totals(field)[0]

    def level_at(self, x: Point) -> Fraction:
        """The level of the cell that contains x, tails included."""
        if x >= self.breaks[-1]:
            turns, rest = divmod(x - self.breaks[-1], self.period)
            return self.level_at(self.breaks[-1] - self.period + rest) + int(turns) + 1
        if x < self.breaks[0]:
            turns, rest = divmod(self.breaks[0] - x, self.period)
            # Mirrored: a point just below the first break belongs to the end of the repeating period.
            inside = self.breaks[0] + (self.period - rest if rest else 0)
            return self.level_at(inside) + int(turns) + (1 if rest else 0)
        return self.levels[bisect_right(self.breaks, x) - 1]

    def sf(self, x: Point, field: Field) -> Value:
        total, _, right = self._totals(field)
        if x < self.breaks[0]:
            return 1 - self.cdf(x, field)
        end = self.breaks[-1]
        if x < end:
            return (self._area(x, end, field) + right) / total
        turns, rest = divmod(x - end, self.period)
        fade = self.weight(Fraction(int(turns) + 1), field)
        return fade * (self._area(end - self.period + rest, end, field) + right) / total

    def cdf(self, x: Point, field: Field) -> Value:
        total, left, _ = self._totals(field)
        if x > self.breaks[-1]:
            return 1 - self.sf(x, field)
        start = self.breaks[0]
        if x > start:
            return (self._area(start, x, field) + left) / total
        turns, rest = divmod(start - x, self.period)
        fade = self.weight(Fraction(int(turns) + 1), field)
        return fade * (self._area(start, start + self.period - rest, field) + left) / total

    def moment(self, power: Exact, field: Field) -> Value:
        return self.integrate_power(Fraction(power), field, signed=False)

    def mean(self, field: Field) -> Value:
        return self.integrate_power(Fraction(1), field, signed=True)

    def integrate_power(self, power: Fraction, field: Field, *, signed: bool) -> Value:
        """E |X|^power, or with `signed` E sign(X) |X|^power, by exact integration of each cell."""
        q = power + 1

        def primitive(x: Fraction) -> Value:
            value = field.power(field.real(abs(x)), q)
            return value if x >= 0 or signed else -value

        def tail(cells: list[tuple[Fraction, Fraction, Fraction]], direction: int) -> Value:
            outward = field.real(0)
            for a, b, level in cells:
                ends = sorted((a * direction + self.period, b * direction + self.period))
                if ends[0] < 0:
                    raise InvalidLawError("the tails of a piecewise law must start beyond zero.")
                inner, outer = (geometric_power_sum(field, self.rate, end, self.period, q) for end in ends)
                outward = outward + self.weight(level, field) * (outer - inner)
            return outward * self.weight(Fraction(1), field)

        cells = self.cells
        body = sum((self.weight(level, field) * (primitive(b) - primitive(a)) for a, b, level in cells), field.real(0))
        left, right = tail(cells[: self.left_cells], -1), tail(cells[-self.right_cells :], 1)
        both = right - left if signed else right + left
        return (body + both) / (field.real(q) * self._totals(field)[0])

    @property
    def cells(self) -> list[tuple[Fraction, Fraction, Fraction]]:
        """(start, end, level) of every cell of the body."""
        return [(a, b, level) for (a, b), level in zip(pairwise(self.breaks), self.levels, strict=True)]

    def unrolled(self, reach: Fraction) -> list[tuple[Fraction, Fraction, Fraction]]:
        """Cells (start, end, level), with enough tail that any pair within `reach` recurs among them."""
        turns = math.floor(reach / self.period) + 2
        body = self.cells
        right, left = body[-self.right_cells :], body[: self.left_cells]
        after = [(a + n * self.period, b + n * self.period, v + n) for n in range(1, turns + 1) for a, b, v in right]
        before = [(a - n * self.period, b - n * self.period, v + n) for n in range(turns, 0, -1) for a, b, v in left]
        return before + body + after

    def mass_total(self, field: Field) -> Value:
        """The normalising constant: the integral of e^(-rate * level)."""
        return self._totals(field)[0]

    def aligned(self, step: Fraction, edge: Fraction) -> bool:
        """Whether every jump falls on an edge (k - edge) * step of the lattice's cells."""
        whole = (self.period / step).denominator == 1
        return whole and all((b / step + edge).denominator == 1 for b in self.breaks)

    def weight(self, level: Fraction, field: Field) -> Value:
        """The unnormalised height e^(-rate * level)."""
        return field.exp(field.real(-self.rate * level))

    def _area(self, start: Point, end: Point, field: Field) -> Value:
        """Unnormalised mass of the body between two points of it."""
        total = field.real(0)
        first, last = max(bisect_right(self.breaks, start) - 1, 0), min(bisect_left(self.breaks, end), len(self.levels))
        for i in range(first, last):
            width = min(end, self.breaks[i + 1]) - max(start, self.breaks[i])
            total = total + self.weight(self.levels[i], field) * field.real(width)
        return total

    def _totals(self, field: Field) -> tuple[Value, Value, Value]:
        """Total mass, left tail, right tail (tails beyond the body), unnormalised."""
        key = f"balls{working_bits()}" if field is BALLS else "floats"
        memo = _TOTALS.of(self)
        if key not in memo:
            start, end = self.breaks[0], self.breaks[-1]
            fade = self.weight(Fraction(1), field) / -field.expm1(field.real(-self.rate))
            left = fade * self._area(start, start + self.period, field)
            right = fade * self._area(end - self.period, end, field)
            memo[key] = (self._area(start, end, field) + left + right, left, right)
        totals: tuple[Value, Value, Value] = memo[key]
        return totals


def staircase(*, epsilon: Number, sensitivity: Number, split: Number) -> Piecewise:
    """The symmetric staircase of Geng and Viswanath: one level down at split, split + 1, … sensitivities.

    Valid for: 0 < split <= 1; raises InvalidLawError outside.
    """
    sensitivity, split = parameter(sensitivity, "sensitivity"), parameter(split, "split")
    if not 0 < split <= 1:
        raise InvalidLawError(f"split is {split}; a staircase needs a split above 0 and at most 1.")
    return skewed_staircase(
        epsilon=epsilon, sensitivity=sensitivity, left=-split * sensitivity, right=split * sensitivity
    )


def skewed_staircase(*, epsilon: Number, sensitivity: Number, left: Number, right: Number) -> Piecewise:
    """Top level on [left, right), then one level down per sensitivity on either side.

    Every pair of points within the sensitivity differs by at most one level. The body reaches
    beyond zero on both sides so that the tails are one-sided.
    """
    sensitivity = parameter(sensitivity, "sensitivity")
    left, right = parameter(left, "left"), parameter(right, "right")
    if right <= left:
        raise InvalidLawError("the top step of a staircase must have a positive width.")
    downs_right = max(1, math.ceil(-right / sensitivity) + 1)
    downs_left = max(1, math.ceil(left / sensitivity) + 1)
    breaks = [left - j * sensitivity for j in range(downs_left, 0, -1)] + [left, right]
    breaks += [right + j * sensitivity for j in range(1, downs_right + 1)]
    levels = [*range(downs_left, 0, -1), *range(downs_right + 1)]
    return Piecewise(epsilon, sensitivity, breaks, levels, left_cells=1, right_cells=1)

"""Laws whose tails fade slowly: which cell of a period, and how many periods out, are independent and drawn apart.

A table of all cells would grow with one over the rate. Folded into one period each, the tails take a handful of
entries; the number of periods is geometric, and the digits of a geometric number are independent of each other.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from itertools import accumulate

import numpy as np

from noisewright.laws.piecewise import Piecewise
from noisewright.numerics.fields import Field, Value
from noisewright.sample.segments import Segments
from noisewright.sample.table import CdfTable, Indices
from noisewright.sample.uniform import WordStream, uniform_below

_BASE = 1 << 12
_SLOW = Fraction(1, 1 << 8)
# At the slowest rate of a last digit the tail beyond is e^-16.
_LAST_DIGIT = 1 << 12


class Folded:
    """Exact draws of lattice noise by cell, periods and point."""

    def __init__(self, law: Segments, *, bits: int) -> None:
        cells = FoldedCells(law.law)
        first, last = cells.first, cells.last
        self._first = first
        self._table = CdfTable(cells, first, last, bits=bits)
        self._turns = Turns(law.law.rate, bits=bits)
        places = range(first, last + 1)
        self._starts = np.array([law.start_at(p) for p in places], dtype=np.int64)
        self._lengths = np.array([law.start_at(p + 1) - law.start_at(p) for p in places], dtype=np.uint64)
        self._outward = np.array([-1 if p < 0 else int(p >= law.body_cells) for p in places], dtype=np.int64)
        self._period = law.period

    def draw(self, count: int, stream: WordStream) -> Indices:
        """`count` draws."""
        places = self._table.draw(count, stream) - self._first
        points: Indices = self._starts.take(places)
        points += uniform_below(self._lengths.take(places), stream).view(np.int64)
        outward = self._outward.take(places)
        outside = np.flatnonzero(outward)
        away = multiplied(self._turns.draw(len(outside), stream), self._period) * outward[outside]
        if away.dtype == object:
            points = points.astype(object)
        points[outside] += away
        return points


class FoldedCells:
    """Law of the cell alone: the body's cells from 0 on, a period of the left tail before and of the right after them.

    Each cell of a tail stands for its repetitions in all periods.
    """

    def __init__(self, law: Piecewise) -> None:
        self._law = law
        self.body = len(law.levels)
        # One entry more in front, of probability zero.
        self.first, self.last = -law.left_cells - 1, self.body + law.right_cells - 1

    def cdf(self, p: int, field: Field) -> Value:
        """P(cell <= p)."""
        law = self._law
        if p >= 0:
            return 1 - self.sf(p, field)
        left = self._areas(range(law.left_cells), field)
        reached = left[p - self.first - 1] if p > self.first else field.real(0)
        return law.cdf(law.breaks[0], field) * reached / left[-1]

    def sf(self, p: int, field: Field) -> Value:
        """P(cell > p)."""
        law = self._law
        if p < 0:
            return 1 - self.cdf(p, field)
        if p < self.body:
            return law.sf(law.breaks[p + 1], field)
        right = self._areas(reversed(range(self.body - law.right_cells, self.body)), field)
        beyond = right[self.last - p - 1] if p < self.last else field.real(0)
        return law.sf(law.breaks[-1], field) * beyond / right[-1]

    def _areas(self, cells: Iterable[int], field: Field) -> list[Value]:
        """Running totals of the unnormalised masses of cells."""
        law = self._law
        masses = (law.weight(law.levels[i], field) * field.real(law.breaks[i + 1] - law.breaks[i]) for i in cells)
        return list(accumulate(masses))


class Turns:
    """Whole numbers n >= 0 with P(n) proportional to e^(-rate n), exactly, digit by digit."""

    def __init__(self, rate: Fraction, *, bits: int) -> None:
        place = 1
        self._digits: list[tuple[int, CdfTable]] = []
        while rate * place < _SLOW:
            self._digits.append((place, CdfTable(Digit(rate * place, _BASE), -1, _BASE - 1, bits=bits)))
            place *= _BASE
        self._digits.append((place, CdfTable(Digit(rate * place, None), -1, _LAST_DIGIT, bits=bits)))

    def draw(self, count: int, stream: WordStream) -> Indices:
        """`count` draws."""
        total: Indices = np.zeros(count, dtype=np.int64)
        for place, table in self._digits:
            total = total + multiplied(table.draw(count, stream), place)
        return total


class Digit:
    """Law of a digit of a geometric number: P(d) proportional to e^(-rate d), for d below `base` if there is one."""

    def __init__(self, rate: Fraction, base: int | None) -> None:
        self._rate, self._base = rate, base

    def cdf(self, d: int, field: Field) -> Value:
        """P(digit <= d)."""
        return 1 - self.sf(d, field)

    def sf(self, d: int, field: Field) -> Value:
        """P(digit > d)."""
        if d < 0:
            return field.real(1)
        fade = field.exp(field.real(-self._rate * (d + 1)))
        if self._base is None:
            return fade
        if d >= self._base - 1:
            return field.real(0)
        left = field.expm1(field.real(-self._rate * (self._base - d - 1)))
        return fade * left / field.expm1(field.real(-self._rate * self._base))


def multiplied(values: Indices, factor: int) -> Indices:
    """Products, as Python integers if one comes near the end of 64 bits."""
    if len(values) and int(values.max()) * factor >= 2**61:
        values = values.astype(object)
    return values * factor

"""Which exact sampler serves which noise for one number.

Of laws whose tails fade slowly, which cell of a period and how many periods out are independent and drawn apart: a
table of all cells would grow with one over the rate. Folded into one period each, the tails take a handful of
entries; the number of periods is geometric, and the digits of a geometric number are independent of each other.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from functools import partial
from itertools import accumulate
from typing import Any

import numpy as np

from noisewright.laws.lattice import Rounded
from noisewright.laws.piecewise import Piecewise
from noisewright.numerics.bisection import first_true
from noisewright.numerics.fields import FLOATS, Field, Value
from noisewright.sample.entropy import WordStream, uniform_below
from noisewright.sample.inversion import CdfTable, Indices, Inverter, Runs, Segments, put, segments_of

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


_BITS = 64
_CHUNK = 1 << 16
_LARGEST_TABLE = 1 << 17
_MOST_FOLDED = 512
_TAIL = 2.0**-22
_WIDEST = 2**62
# A law that can be walked along fills its table a hundred times faster than one evaluated at each point.
_WITHOUT_TABLE, _WITHOUT_WALKED = 400, 32

Draw = Callable[[int, WordStream], Indices]


class NoiseSampler:
    """Exact draws of lattice noise: one by one without a table, or many at once with one.

    Guarantees: every value has exactly the probability that `noise` gives it. `bits` and `reach`
    (how far the table goes, in cells) only shift work between the table and refinement.
    """

    def __init__(self, noise: Rounded, *, bits: int = _BITS, reach: int | None = None) -> None:
        self._bits, self._reach = bits, reach
        self._segments = segments_of(noise)
        self._law: Any = self._segments or noise
        self._inverter = Inverter(self._law)
        self._few = _WITHOUT_WALKED if self._segments else _WITHOUT_TABLE
        if self._segments and not self._segments.body_within(_WIDEST):
            self._few = sys.maxsize
        # Laws whose distribution function takes special functions ask for a smaller table.
        self._largest = min(_LARGEST_TABLE, getattr(noise.law, "largest_table", _LARGEST_TABLE))
        self._draw: Draw | None = None

    def one(self, stream: WordStream) -> int:
        """A single draw; needs no table."""
        u = int(stream.words(1)[0]) >> (_BITS - self._bits)
        cell = self._inverter.invert(u, self._bits, stream)
        return self._segments.point(cell, stream) if self._segments else cell

    def many(self, count: int, stream: WordStream) -> Indices:
        """`count` draws, through a table unless they are few."""
        result: Indices = np.empty(count, dtype=np.int64)
        begin = 0
        for part in self.parts(count, stream):
            result = put(result, slice(begin, begin + len(part)), part)
            begin += len(part)
        return result

    def parts(self, count: int, stream: WordStream) -> Iterator[Indices]:
        """The same in arrays of a size that stays in the processor's cache."""
        if self._draw is None and count <= self._few:
            yield put(np.empty(count, dtype=np.int64), slice(None), [self.one(stream) for _ in range(count)])
            return
        draw = self._draw = self._draw or self._make_table()
        for begin in range(0, count, _CHUNK):
            yield draw(min(_CHUNK, count - begin), stream)

    def _make_table(self) -> Draw:
        """What draws many: cells with their points; cells that are points; cells and periods apart."""
        first, last = _span(self._law, self._largest // 2) if self._reach is None else (-self._reach, self._reach)
        segments = self._segments
        if segments is None:
            return CdfTable(self._law, first, last, bits=self._bits).draw
        if self._reach is None and last - first >= _LARGEST_TABLE // 2 and segments.body_cells <= _MOST_FOLDED:
            return Folded(segments, bits=self._bits).draw
        if segments.longest == 1:
            return partial(CdfTable(segments, first, last, bits=self._bits).draw, offset=segments.start(0))
        while not segments.within(first, last, _WIDEST):
            first, last = first // 2, last // 2
        return Runs(segments, first, last, bits=self._bits).draw


def _span(law: Any, reach: int) -> tuple[int, int]:
    """Indices up to `reach` between which all but a sliver of the mass lies, in floats (only speed depends on it)."""
    first, last = -1, 1
    while law.cdf(first, FLOATS) > _TAIL and first > -reach:
        first *= 2
    while law.sf(last, FLOATS) > _TAIL and last < reach:
        last *= 2
    return _shrink(law.cdf, first, -1), -_shrink(lambda k, field: law.sf(-k, field), -last, -1)


def _shrink(tail: Any, low: int, high: int) -> int:
    """Largest k in [low, high] (to a few per cent) whose tail is still a sliver."""
    return first_true(lambda k: tail(k, FLOATS) <= _TAIL, high, low, relative=1 / 64)

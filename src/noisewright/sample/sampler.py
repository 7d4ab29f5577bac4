"""Which exact sampler serves which noise."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from noisewright.laws.lattice import Rounded
from noisewright.numerics.fields import FLOATS
from noisewright.sample.entropy import WordStream
from noisewright.sample.refine import Inverter
from noisewright.sample.segments import segments_of
from noisewright.sample.spread import Runs
from noisewright.sample.table import CdfTable, Indices, put

_BITS = 64
_CHUNK = 1 << 16
_TAIL = 2.0**-22
_WIDEST = 2**62
# A law that can be walked along fills its table a hundred times faster than one evaluated at each point.
_LARGEST_TABLE, _WITHOUT_TABLE = 1 << 17, 400
_LARGEST_WALKED, _WITHOUT_WALKED = 1 << 19, 32


class NoiseSampler:
    """Exact draws of lattice noise: one by one without a table, or many at once with one.

    Guarantees: every value has exactly the probability that `noise` gives it. `bits` and `reach`
    (how far the table goes, in cells) only shift work between the table and refinement.
    """

    def __init__(self, noise: Rounded, *, bits: int = _BITS, reach: int | None = None) -> None:
        self._bits, self._reach = bits, reach
        segments = segments_of(noise)
        self._law: Any = segments or noise
        self._segments = segments if segments and segments.longest > 1 else None
        # Cells of one point each are numbered like the points, but for an offset.
        self._offset = segments.start(0) if segments else 0
        self._largest, self._few = (_LARGEST_WALKED, _WITHOUT_WALKED) if segments else (_LARGEST_TABLE, _WITHOUT_TABLE)
        # Laws whose distribution function takes special functions ask for a smaller table.
        self._largest = min(self._largest, getattr(noise.law, "largest_table", self._largest))
        if self._segments is not None and not self._segments.within(-1, 0, _WIDEST):
            self._few = sys.maxsize
        self._inverter = Inverter(self._law)
        self._table: tuple[CdfTable, Runs | None] | None = None

    def one(self, stream: WordStream) -> int:
        """A single draw; needs no table."""
        u = int(stream.words(1)[0]) >> (_BITS - self._bits)
        cell = self._inverter.invert(u, self._bits, stream)
        return cell + self._offset if self._segments is None else self._segments.point(cell, stream)

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
        if self._table is None and count <= self._few:
            yield put(np.empty(count, dtype=np.int64), slice(None), [self.one(stream) for _ in range(count)])
            return
        table, runs = self._table = self._table or self._make_table()
        for begin in range(0, count, _CHUNK):
            yield self._part(table, runs, min(_CHUNK, count - begin), stream)

    def _make_table(self) -> tuple[CdfTable, Runs | None]:
        first, last = _span(self._law, self._largest // 2) if self._reach is None else (-self._reach, self._reach)
        runs = None
        if self._segments is not None:
            while not self._segments.within(first, last, _WIDEST):
                first, last = first // 2, last // 2
            runs = Runs(self._segments, first, last)
        return CdfTable(self._law, first, last, bits=self._bits), runs

    def _part(self, table: CdfTable, runs: Runs | None, count: int, stream: WordStream) -> Indices:
        words = stream.words(count)
        u = words >> np.uint64(_BITS - self._bits) if self._bits < _BITS else words
        places = table.places(u)
        unsettled = np.flatnonzero(places == table.size)
        cells = table.settle(u[unsettled], stream)
        if runs is None:
            result, points = places + np.int64(table.first + self._offset), cells + self._offset
        else:
            # A bucket of the guide is chosen by the first bits of a word alone; the others are still fresh.
            result = runs.by_spare_bits(places, words, table.guide_bits, stream)
            points = runs.points(cells, stream)
        return put(result, unsettled, points)


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
    while high - low > max(1, -low // 64):
        middle = (low + high) // 2
        if tail(middle, FLOATS) > _TAIL:
            high = middle
        else:
            low = middle
    return low

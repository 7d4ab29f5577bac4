"""Which exact sampler serves which noise."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from noisewright.laws.lattice import Rounded
from noisewright.numerics.bisection import first_true
from noisewright.numerics.fields import FLOATS
from noisewright.sample.folded import Folded
from noisewright.sample.refine import Inverter
from noisewright.sample.runs import Runs
from noisewright.sample.segments import segments_of
from noisewright.sample.table import CdfTable, Indices, put
from noisewright.sample.uniform import WordStream

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

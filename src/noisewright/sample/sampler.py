"""Which exact sampler serves which noise."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.laws.lattice import Rounded
from noisewright.laws.piecewise import Piecewise
from noisewright.numerics.fields import FLOATS
from noisewright.sample.entropy import WordStream
from noisewright.sample.refine import Inverter
from noisewright.sample.segments import Segments, uniform_below
from noisewright.sample.table import CdfTable, Indices

_CHUNK = 1 << 17
_LARGEST_TABLE = 1 << 17
_TAIL = 2.0**-22
_BITS = 64


class NoiseSampler:
    """Exact draws of lattice noise: one by one without a table, or many at once with one.

    Guarantees: every value has exactly the probability that `noise` gives it. `bits` and `reach`
    (how far the table goes, in cells) only shift work between the table and refinement.
    """

    def __init__(self, noise: Rounded, *, bits: int = _BITS, reach: int | None = None) -> None:
        self._noise = noise
        self._bits = bits
        law = noise.law
        points = _span(noise)
        segmented = isinstance(law, Piecewise) and points[1] - points[0] > _LARGEST_TABLE
        self._segments = Segments(law, noise.lattice) if segmented and isinstance(law, Piecewise) else None
        self._index_law: Any = self._segments or noise
        self._reach = reach
        self._inverter = Inverter(self._index_law)
        self._table: CdfTable | None = None
        self._starts: NDArray[np.int64] | None = None

    def one(self, stream: WordStream) -> int:
        """A single draw; needs no table."""
        u = int(stream.words(1)[0]) >> (64 - self._bits)
        index = self._inverter.invert(u, self._bits, stream)
        if self._segments is None:
            return index
        return self._within_segment(index, stream)

    def many(self, count: int, stream: WordStream) -> Indices:
        """`count` draws through the table, which is built the first time."""
        if self._table is None:
            self._build()
        assert self._table is not None
        parts = [self._part(self._table, min(_CHUNK, count - i), stream) for i in range(0, count, _CHUNK)]
        return np.concatenate(parts) if len(parts) > 1 else parts[0]

    def _build(self) -> None:
        first, last = _span(self._index_law) if self._reach is None else (-self._reach, self._reach)
        half = getattr(self._noise.law, "largest_table", _LARGEST_TABLE) // 2
        first, last = max(first, -half), min(last, half)
        self._first, self._last = first, last
        self._table = CdfTable(self._index_law, first, last, bits=self._bits)
        if self._segments is not None:
            self._starts = np.array([self._segments.start(s) for s in range(first, last + 2)], dtype=np.int64)

    def _part(self, table: CdfTable, count: int, stream: WordStream) -> Indices:
        drawn = table.draw(count, stream)
        if self._segments is None:
            return drawn
        assert self._starts is not None
        inside = (drawn >= self._first) & (drawn <= self._last)
        place = np.where(inside, drawn - self._first, 0).astype(np.intp)
        starts = self._starts[place]
        lengths = (self._starts[place + 1] - starts).astype(np.uint64)
        result: Indices = starts + uniform_below(lengths, stream).astype(np.int64)
        for i in np.flatnonzero(~inside):
            value = self._within_segment(int(drawn[i]), stream)
            if not -(2**63) <= value < 2**63 and result.dtype != object:
                result = result.astype(object)
            result[i] = value
        return result

    def _within_segment(self, s: int, stream: WordStream) -> int:
        assert self._segments is not None
        start = self._segments.start(s)
        length = np.array([self._segments.start(s + 1) - start], dtype=np.uint64)
        return start + int(uniform_below(length, stream)[0])


def _span(law: Any) -> tuple[int, int]:
    """Indices between which all but a sliver of the mass lies, found in floats (only speed depends on it)."""
    first, last = -1, 1
    while law.cdf(first, FLOATS) > _TAIL and first > -_LARGEST_TABLE:
        first *= 2
    while law.sf(last, FLOATS) > _TAIL and last < _LARGEST_TABLE:
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

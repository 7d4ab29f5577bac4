"""Cells with a run of equally probable lattice points each: draw the cell, then a point in it."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.sample.segments import Segments
from noisewright.sample.table import CdfTable, Indices, put
from noisewright.sample.uniform import Words, WordStream, uniform_below, uniform_from

_MOST_USED = 32


class Runs:
    """A table of the cells `first` to `last` of a law, each with its run of lattice points.

    Guarantees: given its cell, a point is exactly uniform in it.
    Valid for: points within 62 bits.
    """

    def __init__(self, law: Segments, first: int, last: int, *, bits: int) -> None:
        self._law, self._first, self._last = law, first, last
        self._table = CdfTable(law, first, last, bits=bits)
        starts = [law.start(s) for s in range(first, last + 2)]
        # One entry more, for draws whose cell is not settled yet.
        self._starts = np.array([*starts[:-1], 0], dtype=np.int64)
        self._lengths = np.array([*(b - a for a, b in pairwise(starts)), 1], dtype=np.uint64)

    def draw(self, count: int, stream: WordStream) -> Indices:
        """`count` exact draws of the lattice noise."""
        words = stream.words(count)
        u = self._table.first_bits(words)
        places = self._table.places(u)
        unsettled = np.flatnonzero(places == self._table.size)
        cells = self._table.settle(u[unsettled], stream)
        # A bucket of the guide is chosen by the first bits of a word alone; the others are still fresh.
        points = self._by_spare_bits(places, words, self._table.guide_bits, stream)
        return put(points, unsettled, self._points(cells, stream))

    def _by_spare_bits(self, places: NDArray[Any], words: Words, used: int, stream: WordStream) -> Indices:
        """Points in the cells at these places of the table, where the first `used` bits of each word chose the place.

        The other bits are independent of the place, so they can choose the point.
        """
        points, lengths = self._starts.take(places), self._lengths.take(places)
        longest = self._law.longest
        used = max(used, (longest - 1).bit_length())
        if used <= _MOST_USED:
            points += uniform_from(words, used, lengths, longest, stream).view(np.int64)
        else:
            points += uniform_below(lengths, stream).view(np.int64)
        return points

    def _points(self, cells: Indices, stream: WordStream) -> Indices:
        """Points in cells given by their index, be they in the table or beyond."""
        known = (cells >= self._first) & (cells <= self._last)
        places = np.where(known, cells - self._first, len(self._starts) - 1).astype(np.intp)
        points = self._starts.take(places) + uniform_below(self._lengths.take(places), stream).view(np.int64)
        beyond = np.flatnonzero(~known)
        return put(points, beyond, [self._law.point(int(cell), stream) for cell in cells[beyond]])

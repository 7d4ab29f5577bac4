"""Exact draws of norm-shaped noise: the shell from its distribution function, then uniform coordinates."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from noisewright.laws.shells import ShellRadius
from noisewright.sample.entropy import WordStream
from noisewright.sample.refine import Inverter
from noisewright.sample.table import CdfTable
from noisewright.sample.uniform import uniform_below

_MOST_COORDINATES = 1 << 19


class ShellSampler:
    """Integer vectors of mass proportional to e^(-rate max|z_i|).

    Guarantees: every vector has exactly that probability: the radius is inverted with as many bits
    as it takes, the coordinates are uniform by rejection.
    """

    def __init__(self, size: int, rate: Fraction) -> None:
        self._size = size
        self._law = ShellRadius(size, rate)
        self._inverter = Inverter(self._law)
        self._table: CdfTable | None = None

    def one(self, stream: WordStream) -> list[int]:
        """A single vector; needs no table."""
        r = self._inverter.draw(stream)
        limits = np.full(self._size, 2 * r + 1, dtype=np.uint64)
        return [int(v) - r for v in uniform_below(limits, stream)]

    def many(self, count: int, stream: WordStream) -> NDArray[np.int64]:
        """`count` vectors, one a row, through a table of the radius."""
        if self._table is None:
            first, last = self._law.span()
            self._table = CdfTable(self._law, first - 1, last)
        rows = max(1, _MOST_COORDINATES // self._size)
        parts = [self._part(self._table, min(rows, count - i), stream) for i in range(0, count, rows)]
        return np.concatenate(parts) if parts else np.zeros((0, self._size), dtype=np.int64)

    def _part(self, table: CdfTable, count: int, stream: WordStream) -> NDArray[np.int64]:
        radius = table.draw(count, stream)
        limits = np.repeat((2 * radius + 1).astype(np.uint64), self._size)
        drawn = uniform_below(limits, stream).astype(np.int64).reshape(count, self._size)
        return np.asarray(drawn - radius[:, None])

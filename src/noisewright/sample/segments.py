"""Laws that are constant on long runs of lattice points: draw the run, then a point in it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from noisewright.laws.lattice import Lattice
from noisewright.laws.piecewise import Piecewise
from noisewright.numerics.fields import Field, Value
from noisewright.sample.entropy import WordStream

_HALF_WORD = np.uint64(32)
_LOW_HALF = np.uint64(2**32 - 1)


class Segments:
    """The cells of a piecewise law, numbered along the line: a law of integers in its own right.

    Cell 0 is the one that contains zero or the last one before it. Tails repeat for ever, so every
    integer has a cell.
    """

    def __init__(self, law: Piecewise, lattice: Lattice) -> None:
        self._law, self._lattice = law, lattice
        self._origin = sum(1 for b in law.breaks[1:-1] if b <= 0)

    def start(self, s: int) -> int:
        """First lattice index of cell s; cell s ends where cell s + 1 begins."""
        law, position = self._law, s + self._origin
        last = len(law.levels)
        period = int(law.period / self._lattice.step)
        turns = 0
        if position > last:
            turns, rest = divmod(position - last, law.right_cells)
            position = last - law.right_cells + rest
            turns += 1
        elif position < 0:
            turns, rest = divmod(-position, law.left_cells)
            position = law.left_cells - rest if rest else 0
            turns = -turns - (1 if rest else 0)
        edge = law.breaks[position] / self._lattice.step + self._lattice.edge
        return int(edge) + turns * period

    def cdf(self, s: int, field: Field) -> Value:
        """P(the noise falls into cell s or below)."""
        return self._law.cdf(self._lattice.lower_edge(self.start(s + 1)), field)

    def sf(self, s: int, field: Field) -> Value:
        """P(the noise falls above cell s)."""
        return self._law.sf(self._lattice.lower_edge(self.start(s + 1)), field)


def uniform_below(limits: NDArray[np.uint64], stream: WordStream) -> NDArray[np.uint64]:
    """One exact uniform integer in [0, limit) for each limit, by multiplication and rejection.

    The high half of word * limit is uniform once words whose low half falls below 2^64 mod limit
    are thrown away.
    """
    words = stream.words(len(limits))
    high, low = _product(words, limits)
    if len(limits):
        smallest = limits.max()
        doubtful = np.flatnonzero(low < smallest)
        rejected = doubtful[low[doubtful] < (np.uint64(0) - limits[doubtful]) % limits[doubtful]]
        if len(rejected):
            high[rejected] = uniform_below(limits[rejected], stream)
    return high


def _product(a: NDArray[np.uint64], b: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """High and low 64 bits of a product of 64-bit words."""
    a_low, a_high = a & _LOW_HALF, a >> _HALF_WORD
    b_low, b_high = b & _LOW_HALF, b >> _HALF_WORD
    cross = a_high * b_low + (a_low * b_low >> _HALF_WORD)
    middle = a_low * b_high + (cross & _LOW_HALF)
    return a_high * b_high + (cross >> _HALF_WORD) + (middle >> _HALF_WORD), a * b

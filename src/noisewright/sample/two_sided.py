"""Exact integer noise of mass proportional to e^(-rate |k|), for any rate, however small.

The binary digits of a geometric variable are independent: digit j is one with probability
1 / (1 + e^(2^j rate)). So a draw is a few dozen coin flips, each decided by 64 random bits, or by
more bits and balls where 64 leave it open; a scale of 2^50 costs no more than one of 100.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

import numpy as np
from numpy.typing import NDArray

from noisewright.numerics.balls import Ball, ceil_scaled, floor_scaled, precision
from noisewright.sample.uniform import WordStream

_WORD = 64
_GUARD = 64
_TOP = 48.0
_CHUNK = 1 << 15
_LARGEST_DIGITS = 60


def flip(probability: Callable[[], Ball], u: int, bits: int, stream: WordStream) -> bool:
    """Whether a uniform number that starts with the given bits is below the probability, exactly."""
    while True:
        with precision(bits + _GUARD):
            value = probability()
            low, high = floor_scaled(value, bits), ceil_scaled(value, bits)
        if u + 1 <= low:
            return True
        if u >= high:
            return False
        u = (u << _WORD) | int(stream.words(1)[0])
        bits += _WORD


class TwoSided:
    """Draws of a two-sided geometric law whose rate is a positive real, given as a ball at any precision."""

    def __init__(self, rate: Callable[[], Ball]) -> None:
        self._rate = rate
        with precision(2 * _WORD):
            scale = float(rate().mid())
            self._digits = next(j for j in count() if 2.0**j * scale >= _TOP)
            ones = [self._one(j) for j in range(self._digits)]
            self._ends = [(np.uint64(floor_scaled(p, _WORD)), np.uint64(ceil_scaled(p, _WORD))) for p in ones]

    def draw(self, count: int, stream: WordStream) -> NDArray[np.int64] | NDArray[np.object_]:
        """`count` independent values."""
        parts = [self._part(min(_CHUNK, count - i), stream) for i in range(0, count, _CHUNK)]
        return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)  # type: ignore[return-value]

    def _part(self, count: int, stream: WordStream) -> NDArray[np.int64] | NDArray[np.object_]:
        values = self._magnitudes(count, stream)
        negative = stream.words(count) >= np.uint64(1 << 63)
        # Zero has no sign: of its two readings one is thrown away and drawn again.
        again = np.flatnonzero(negative & (values == 0))
        values[negative] = -values[negative]
        if len(again):
            values[again] = self._part(len(again), stream)
        return values

    def _magnitudes(self, count: int, stream: WordStream) -> NDArray[np.int64] | NDArray[np.object_]:
        large = self._digits > _LARGEST_DIGITS
        values = np.zeros(count, dtype=object if large else np.int64)
        for j, (low, high) in enumerate(self._ends):
            words = stream.words(count)
            ones = words < low
            for i in np.flatnonzero((words >= low) & (words < high)):
                ones[i] = flip(lambda j=j: self._one(j), int(words[i]), _WORD, stream)  # type: ignore[misc]
            values[ones] += 1 << j
        beyond = np.flatnonzero(stream.words(count) == 0)
        for i in beyond:
            # The part above all digits is a geometric variable too; it is nearly always zero.
            turns, u = 0, 0
            while flip(self._more, u, _WORD, stream):
                turns, u = turns + 1, int(stream.words(1)[0])
            if turns:
                values = values.astype(object)
                values[i] += turns << self._digits
        return values

    def _one(self, j: int) -> Ball:
        return 1 / (1 + (self._rate() * 2**j).exp())

    def _more(self) -> Ball:
        return (-self._rate() * 2**self._digits).exp()

"""Vectorised exact draws: 64 bits decide almost always, refinement decides the rest."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.sample.entropy import WordStream
from noisewright.sample.refine import Inverter

_GUIDE_BITS = 20
_UNDECIDED = np.int32(-(2**31))

Indices = NDArray[Any]


class CdfTable:
    """Rigorous bounds of 2^bits F(k) at consecutive k, and a guide that answers most draws by one look-up.

    `lower[i] <= 2^bits F(first + i) <= upper[i]`. A draw u lies below F(k) for sure if
    u < lower[i], and not below for sure if u >= upper[i]; anything else is refined in balls.
    """

    def __init__(self, law: Any, first: int, last: int, *, bits: int = 64) -> None:
        self._first, self._last, self._bits = first, last, bits
        self._inverter = Inverter(law)
        self._build(self._inverter.scaled_cdfs(first, last, bits))

    def _build(self, bounds: list[tuple[int, int]]) -> None:
        # The largest word always goes to refinement: an upper bound of 2^bits does not fit its type.
        top = (1 << self._bits) - 1
        self._lower = np.array([min(low, top) for low, _ in bounds], dtype=np.uint64)
        self._upper = np.array([min(high, top) for _, high in bounds], dtype=np.uint64)
        guide_bits = min(_GUIDE_BITS, self._bits)
        self._shift = np.uint64(self._bits - guide_bits)
        starts = np.arange(1 << guide_bits, dtype=np.uint64) << self._shift
        ends = starts + np.uint64((1 << int(self._shift)) - 1)
        at_start, sure_start = self._decide(starts)
        at_end, sure_end = self._decide(ends)
        same = sure_start & sure_end & (at_start == at_end)
        self._guide = np.where(same, at_start, _UNDECIDED).astype(np.int32)

    def _decide(self, u: NDArray[np.uint64]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Index of the first k with U < F(k), and whether the known bits decide it."""
        found = np.searchsorted(self._upper, u, side="right")
        inside = found < len(self._upper)
        clipped = np.minimum(found, len(self._upper) - 1)
        top = np.uint64((1 << self._bits) - 1)
        below_first = (found == 0) & inside
        # In front of the table F(first - 1) is unknown, so the first entry cannot be told from the tail.
        sure = inside & (u < self._lower[clipped]) & ~below_first & (u < top)
        return found, sure

    def draw(self, count: int, stream: WordStream) -> Indices:
        """`count` exact draws; 64-bit integers, or Python integers if one lies beyond them."""
        u = stream.words(count) >> np.uint64(64 - self._bits)
        out = self._guide[(u >> self._shift).astype(np.intp)]
        open_draws = np.flatnonzero(out == _UNDECIDED)
        result: Indices = out.astype(np.int64) + self._first
        if len(open_draws):
            found, sure = self._decide(u[open_draws])
            result[open_draws] = found + self._first
            result = self._refine(result, u, open_draws[~sure], stream)
        return result

    def _refine(self, result: Indices, u: NDArray[np.uint64], where: NDArray[np.intp], stream: WordStream) -> Indices:
        for i in where:
            value = self._invert(int(u[i]), stream)
            if not -(2**63) <= value < 2**63 and result.dtype != object:
                result = result.astype(object)
            result[i] = value
        return result

    def _invert(self, u: int, stream: WordStream) -> int:
        word = np.uint64(u)
        passed = int(np.searchsorted(self._upper, word, side="right"))
        certain = int(np.searchsorted(self._lower, word, side="right"))
        if u == (1 << self._bits) - 1:
            passed = 0
            certain = len(self._lower)
        return self._inverter.invert(
            u,
            self._bits,
            stream,
            above=self._first + passed - 1 if passed else None,
            at_most=self._first + certain if certain < len(self._lower) else None,
        )

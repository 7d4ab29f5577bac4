"""Vectorised exact draws: the first bits of a word decide almost always, refinement decides the rest."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.sample.refine import Inverter
from noisewright.sample.segments import Segments
from noisewright.sample.uniform import Words, WordStream

_WORD_BITS = 64
_MOST_GUIDE_BITS = 20
_BUCKETS_PER_ENTRY = 1 << 7

Indices = NDArray[Any]
"""64-bit integers, or Python integers where one lies beyond them."""


def put(result: Indices, where: NDArray[np.intp] | slice, values: list[int] | Indices) -> Indices:
    """`result` with these values at these positions; all of it as Python integers if one needs that."""
    wide = any(not -(2**63) <= k < 2**63 for k in values) if isinstance(values, list) else values.dtype == object
    if wide:
        result = result.astype(object)
    result[where] = values
    return result


class CdfTable:
    """Rigorous bounds of 2^bits F(k) at consecutive k, and a guide that answers most draws by one look-up.

    `lower[i] <= 2^bits F(first + i) <= upper[i]`. A draw u lies below F(k) for sure if
    u < lower[i], and not below for sure if u >= upper[i]; anything else is refined in balls.
    The guide cuts the draws into buckets by their first `guide_bits` bits.
    """

    def __init__(self, law: Any, first: int, last: int, *, bits: int = _WORD_BITS) -> None:
        self.first, self._bits = first, bits
        self._inverter = Inverter(law)
        walked = isinstance(law, Segments)
        bounds = law.scaled_cdfs(first, last, bits) if walked else self._inverter.scaled_cdfs(first, last, bits)
        # The largest word always goes to refinement: an upper bound of 2^bits does not fit its type.
        top = (1 << bits) - 1
        self._lower = np.array([min(low, top) for low, _ in bounds], dtype=np.uint64)
        self._upper = np.array([min(high, top) for _, high in bounds], dtype=np.uint64)
        self.size = len(bounds)
        self.guide_bits = min((self.size * _BUCKETS_PER_ENTRY).bit_length(), _MOST_GUIDE_BITS, bits)
        self._shift = np.uint64(bits - self.guide_bits)
        self._guide = self._make_guide()

    def _make_guide(self) -> NDArray[Any]:
        """Place of the entry that every draw of a bucket belongs to, or `size` where they differ or may differ."""
        buckets = 1 << self.guide_bits
        begins, ends = self._bucket_of(self._lower), self._past_bucket_of(self._upper)
        places = np.cumsum(np.bincount(ends, minlength=buckets + 1))[:buckets]
        uncertain = np.bincount(begins, minlength=buckets + 1) - np.bincount(ends, minlength=buckets + 1)
        places[np.cumsum(uncertain)[:buckets] > 0] = self.size
        # In front of the table F(first - 1) is unknown, so the first entry cannot be told from the tail.
        places[places == 0] = self.size
        return places.astype(np.uint16 if self.size < 1 << 16 else np.int32)

    def _bucket_of(self, u: Words) -> NDArray[np.int64]:
        return (u >> self._shift).view(np.int64)

    def _past_bucket_of(self, u: Words) -> NDArray[np.int64]:
        """The first bucket that begins at u or later."""
        return np.where(u > 0, self._bucket_of(np.maximum(u, 1) - np.uint64(1)) + 1, 0)

    def places(self, u: Words) -> NDArray[Any]:
        """Which entry each draw belongs to, counted from 0; `size` where only `settle` can tell."""
        return self._guide.take(self._bucket_of(u))

    def draw(self, count: int, stream: WordStream, *, offset: int = 0) -> Indices:
        """`count` exact draws of the law, plus `offset`."""
        return self.choose(stream.words(count), stream, offset=offset)

    def choose(self, words: Words, stream: WordStream, *, offset: int = 0) -> Indices:
        """What each word stands for, plus `offset`; the stream has further bits where it stands for several."""
        u = self.first_bits(words)
        places = self.places(u)
        unsettled = np.flatnonzero(places == self.size)
        return put(places + np.int64(self.first + offset), unsettled, self.settle(u[unsettled], stream) + offset)

    def first_bits(self, words: Words) -> Words:
        """As much of each word as the table looks at."""
        return words >> np.uint64(_WORD_BITS - self._bits) if self._bits < _WORD_BITS else words

    def settle(self, u: Words, stream: WordStream) -> Indices:
        """The exact k of each draw, with further bits where these do not decide."""
        found = np.searchsorted(self._upper, u, side="right")
        inside = (found > 0) & (found < self.size) & (u < np.uint64((1 << self._bits) - 1))
        sure = inside & (u < self._lower[np.minimum(found, self.size - 1)])
        unsure = np.flatnonzero(~sure)
        return put(found + self.first, unsure, [self._invert(int(word), stream) for word in u[unsure]])

    def _invert(self, u: int, stream: WordStream) -> int:
        word = np.uint64(u)
        passed = int(np.searchsorted(self._upper, word, side="right"))
        certain = int(np.searchsorted(self._lower, word, side="right"))
        if u == (1 << self._bits) - 1:
            passed, certain = 0, self.size
        return self._inverter.invert(
            u,
            self._bits,
            stream,
            above=self.first + passed - 1 if passed else None,
            at_most=self.first + certain if certain < self.size else None,
        )

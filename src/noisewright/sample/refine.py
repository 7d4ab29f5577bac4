"""Exact inversion of a distribution function, with as many random bits as it takes.

The uniform number U is known to lie in [u, u + 1) / 2^bits. The drawn value is the smallest k with
U < F(k). A comparison that the known bits cannot decide draws 64 more and evaluates F in balls at
a higher precision; it ends with probability one, and the result has exactly the law F.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from noisewright.numerics.balls import ceil_scaled, floor_scaled, precision
from noisewright.numerics.bisection import first_true, gallop
from noisewright.numerics.fields import BALLS
from noisewright.sample.uniform import WordStream

_GUARD_BITS = 64
_MORE_BITS = 64
_MEMO_SIZE = 1 << 16


class Inverter:
    """Draws from an integer law given by its distribution function."""

    def __init__(self, law: Any) -> None:
        self._law = law
        self.scaled_cdf = lru_cache(maxsize=_MEMO_SIZE)(lambda k, bits: self.scaled_cdfs(k, k, bits)[0])

    def scaled_cdfs(self, first: int, last: int, bits: int) -> list[tuple[int, int]]:
        """Integers around 2^bits F(k) at every k from `first` to `last`, from balls that enclose F(k)."""
        with precision(bits + _GUARD_BITS):
            return [self._evaluate(k, bits) for k in range(first, last + 1)]

    def _evaluate(self, k: int, bits: int) -> tuple[int, int]:
        value = self._law.cdf(k, BALLS) if k < 0 else 1 - self._law.sf(k, BALLS)
        # A ball around a chance of zero reaches below it, and no chance does: a table holds no negative word.
        return max(floor_scaled(value, bits), 0), ceil_scaled(value, bits)

    def draw(self, stream: WordStream, *, above: int | None = None, at_most: int | None = None) -> int:
        """One draw, between the bounds that are known; see `invert`."""
        return self.invert(int(stream.words(1)[0]), _MORE_BITS, stream, above=above, at_most=at_most)

    def invert(
        self, u: int, bits: int, stream: WordStream, *, above: int | None = None, at_most: int | None = None
    ) -> int:
        """The k of a U that starts with the given bits.

        `above` is a point already known to satisfy F(above) <= U and `at_most` one with
        U < F(at_most); where they are not given the search gallops outward to any distance.
        """
        uniform = _Uniform(u, bits, stream, self)
        return first_true(uniform.below_cdf, *_bracket(uniform, above, at_most))


class _Uniform:
    """A uniform number of which more bits can be drawn when a comparison needs them."""

    def __init__(self, u: int, bits: int, stream: WordStream, inverter: Inverter) -> None:
        self._u, self._bits, self._stream, self._inverter = u, bits, stream, inverter

    def below_cdf(self, k: int) -> bool:
        while True:
            low, high = self._inverter.scaled_cdf(k, self._bits)
            if self._u + 1 <= low:
                return True
            if self._u >= high:
                return False
            self._u = (self._u << _MORE_BITS) | int(self._stream.words(1)[0])
            self._bits += _MORE_BITS


def _bracket(uniform: _Uniform, above: int | None, at_most: int | None) -> tuple[int, int]:
    if above is None and at_most is None:
        above, at_most = (None, 0) if uniform.below_cdf(0) else (0, None)
    if above is None:
        assert at_most is not None
        high, low = gallop(lambda k: not uniform.below_cdf(k), at_most, -1)
        return low, high
    return gallop(uniform.below_cdf, above, 1) if at_most is None else (above, at_most)

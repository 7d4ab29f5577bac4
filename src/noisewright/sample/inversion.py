"""Exact inversion of a distribution function, with as many random bits as it takes.

The uniform number U is known to lie in [u, u + 1) / 2^bits. The drawn value is the smallest k with
U < F(k). A comparison that the known bits cannot decide draws 64 more and evaluates F in balls at
a higher precision; it ends with probability one, and the result has exactly the law F. For many draws the first bits
of a word decide almost always, by a table; a law that is constant on runs of points draws the run, then a point in it.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.laws.laplace import Laplace
from noisewright.laws.lattice import Lattice, Rounded
from noisewright.laws.piecewise import Piecewise
from noisewright.numerics.balls import ceil_scaled, floor_scaled, precision
from noisewright.numerics.bisection import first_true, gallop
from noisewright.numerics.fields import BALLS, Field, Value
from noisewright.sample.entropy import Words, WordStream, uniform_below, uniform_from, whole_below

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


Bounds = list[tuple[int, int]]
"""Integers below and above each of a list of scaled probabilities."""


class Segments:
    """The cells of a piecewise law, numbered along the line: a law of integers in its own right.

    Cell 0 is the one that contains zero or the last one before it. Tails repeat for ever, so every
    integer has a cell.
    """

    def __init__(self, law: Piecewise, lattice: Lattice) -> None:
        self.law, self._lattice = law, lattice
        self._origin = sum(1 for b in law.breaks[1:-1] if b <= 0)
        self._edges = [int(b / lattice.step + lattice.edge) for b in law.breaks]
        self.period = int(law.period / lattice.step)
        self.body_cells = len(law.levels)
        self.longest = max(b - a for a, b in pairwise(self._edges))

    def start(self, s: int) -> int:
        """First lattice index of cell s; cell s ends where cell s + 1 begins."""
        return self.start_at(s + self._origin)

    def start_at(self, position: int) -> int:
        """The same by position: 0 is the first cell of the body."""
        last, turns = self.body_cells, 0
        if position > last:
            turns = -((last - position) // self.law.right_cells)
            position -= turns * self.law.right_cells
        elif position < 0:
            turns = position // self.law.left_cells
            position -= turns * self.law.left_cells
        return self._edges[position] + turns * self.period

    def within(self, first: int, last: int, limit: int) -> bool:
        """Whether all lattice indices of the cells `first` to `last` are below `limit` in size."""
        return -limit < self.start(first) and self.start(last + 1) < limit

    def body_within(self, limit: int) -> bool:
        """Whether the body and a period on either side of it are below `limit` in size."""
        return self.period - self._edges[0] < limit and self._edges[-1] + self.period < limit

    def point(self, s: int, stream: WordStream) -> int:
        """A uniform lattice index of cell s."""
        start = self.start(s)
        return start + whole_below(self.start(s + 1) - start, stream)

    def cdf(self, s: int, field: Field) -> Value:
        """P(the noise falls into cell s or below)."""
        return self.law.cdf(self._lattice.lower_edge(self.start(s + 1)), field)

    def sf(self, s: int, field: Field) -> Value:
        """P(the noise falls above cell s)."""
        return self.law.sf(self._lattice.lower_edge(self.start(s + 1)), field)

    def scaled_cdfs(self, first: int, last: int, bits: int) -> Bounds:
        """Integers around 2^bits F(s) for every s from `first` to `last`, by walking along the cells.

        Balls give F on the body. One period further out a tail is e^(-rate) times what it was; that
        is followed in integers of `_GUARD_BITS` more bits, one rounded down and one rounded up.
        """
        wide = bits + _GUARD_BITS
        body, fade = self._body(wide)
        one, cells = 1 << wide, len(body)
        low, high = first + self._origin, last + self._origin
        before = _faded(body[: self.law.left_cells][::-1], -low, fade, wide)[::-1]
        above = [(one - up, one - down) for down, up in body[cells - self.law.right_cells :]]
        after = [(one - up, one - down) for down, up in _faded(above, high - cells + 1, fade, wide)]
        walked = (before + body + after)[max(low, 0) :][: high - low + 1]
        return [(down >> _GUARD_BITS, -(-up >> _GUARD_BITS)) for down, up in walked]

    def _body(self, bits: int) -> tuple[Bounds, tuple[int, int]]:
        """Bounds of 2^bits F at the end of each cell of the body, and of 2^bits e^(-rate)."""
        law = self.law
        with precision(bits + _GUARD_BITS):
            total, below = law.mass_total(BALLS), law.cdf(law.breaks[0], BALLS)
            values = [BALLS.exp(BALLS.real(-law.rate))]
            for (start, end), level in zip(pairwise(law.breaks), law.levels, strict=True):
                below = below + law.weight(level, BALLS) * BALLS.real(end - start) / total
                values.append(below)
            fade, *body = [(floor_scaled(value, bits), ceil_scaled(value, bits)) for value in values]
        return body, fade


def segments_of(noise: Rounded) -> Segments | None:
    """The cells of a law that has them and whose jumps fall on the edges of the lattice's cells, else None."""
    law = noise.law.stepped(noise.lattice.step) if isinstance(noise.law, Laplace) else noise.law
    if isinstance(law, Piecewise) and law.aligned(noise.lattice.step, noise.lattice.edge):
        return Segments(law, noise.lattice)
    return None


def _faded(period: Bounds, count: int, fade: tuple[int, int], bits: int) -> Bounds:
    """The next `count` tails beyond one period of them, going outward."""
    down, up = fade
    walk = list(period)
    for i in range(count):
        low, high = walk[i]
        walk.append((low * down >> bits, -(-high * up >> bits)))
    return walk[len(period) :]


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

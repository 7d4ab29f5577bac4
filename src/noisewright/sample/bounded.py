"""Exact draws of answers in bounds, whose law depends on the answer.

The answer is rounded at random to a grid input. Then that row's output index is drawn by exact inversion; of clamped
noise, where every chance is a ratio of integers, a slab by its weight and a lattice point of the slab evenly.
Comparisons draw more bits where 64 do not decide.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Hashable
from fractions import Fraction
from functools import cache, cached_property, singledispatch
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.mechanisms.answers import (
    LARGEST_FLOAT,
    Whole,
    as_numbers,
    read_answer,
    read_whole,
    whole_indices,
    within_range,
)
from noisewright.mechanisms.bounded.clamped import Clamped
from noisewright.mechanisms.bounded.composite import Blend, Composite
from noisewright.mechanisms.bounded.conditional import Conditional, Rows
from noisewright.mechanisms.bounded.positions import GridPositions, positions_of
from noisewright.mechanisms.bounded.truncated import Truncated
from noisewright.mechanisms.bounded.worst_cases import Table
from noisewright.numerics.fields import Floats
from noisewright.problem.numbers import data_value
from noisewright.sample.drawers import Releasing, drawer_for
from noisewright.sample.entropy import Entropy, Words, WordStream, uniform_below, whole_below
from noisewright.sample.inversion import CdfTable, Inverter

_WITHOUT_TABLE = 400
_BITS = 64
_CHUNK = 1 << 21
_UNIT = 2.0**-64
_ROUNDING = 2.0**-52


@singledispatch
def float_rows(mechanism: Any) -> Table | None:
    """The distribution function of every row in floats, by output index, if what they may be off by is proven."""
    return None


@float_rows.register(Rows)
@float_rows.register(Composite)
def _float_rows_of_one(mechanism: Rows | Composite) -> Table:
    return mechanism.table()


@float_rows.register
def _float_rows_of_blend(mechanism: Blend) -> Table:
    """The indices of the first mechanism, then those of the second, as in `Blend.row`."""
    first, second = (part.table() for part in mechanism.parts)
    share = float(mechanism.share)

    def levels(begin: int, end: int) -> NDArray[np.float64]:
        return np.hstack([share * first.levels(begin, end), share + (1 - share) * second.levels(begin, end)])

    return Table((*first.outputs, *second.outputs), levels, 2.0**-50 + max(first.slack, second.slack))


@drawer_for.register(Rows)
@drawer_for.register(Composite)
@drawer_for.register(Blend)
@drawer_for.register(Truncated)
class ConditionalDrawer(Releasing):
    """One row of outputs for each grid input.

    Many answers are released by floats with a proven margin, or by tables made for rows that are drawn often; exact
    inversion decides the rest.
    """

    def __init__(self, mechanism: Conditional) -> None:
        super().__init__(mechanism)
        self._inverter = cache(lambda row: Inverter(mechanism.row(row)))
        self._tables: dict[int, CdfTable] = {}

    def release(self, answer: Any, entropy: Entropy) -> float | int:
        i, share = self._place(answer)
        stream = entropy.stream()
        value = self._mechanism.value(self._one(i + _bernoulli(share, stream), stream))
        return int(value) if self._mechanism.query.integer else float(value)

    def release_many(self, answers: Any, entropy: Entropy) -> NDArray[Any]:
        """One independent private answer for each answer given: a word for its coin, if it takes one, then one for it.

        On replayed words they are those that `release` gives one after another, as long as no word leaves anything
        open; what does takes further words after all others.
        """
        asked = self._mechanism.query
        free = asked.exact or asked.sensitivity == asked.width
        # A list may mix kinds of numbers; each is read by itself, so that none changes how another is read.
        numbers = as_numbers(answers)
        if asked.integer:
            numbers = whole_indices(numbers, self._whole)
        points = self._mechanism.grid.points
        positions = positions_of(numbers, points, None if free else asked.sensitivity, self._place)
        stream = entropy.stream()
        released = np.empty(len(positions.rows), dtype=self._values.dtype)
        for begin in range(0, len(released), _CHUNK):
            part = positions.part(begin, begin + _CHUNK)
            # Answers on the grid take no coin: their only word is that of the output.
            takes_coin = (~part.on_grid).astype(np.int64)
            last = np.cumsum(1 + takes_coin) - 1
            words = stream.words(int(last[-1]) + 1)
            rows = part.rows + _coins(part, words[last - takes_coin], stream)
            released[begin : begin + _CHUNK] = self._values[self._indices(rows, words[last], stream)]
        return released

    def _place(self, answer: Any) -> tuple[int, Fraction]:
        found: tuple[int, Fraction] = self._mechanism.grid.locate(self._read(answer), exact=self._mechanism.query.exact)
        return found

    def _read(self, answer: Any) -> Fraction:
        """A float too coarse for the sensitivity is refused, unless all answers are neighbours anyway."""
        asked = self._mechanism.query
        if asked.integer:
            return read_whole(answer)
        return read_answer(answer, asked.sensitivity, asked.exact or asked.sensitivity == asked.width)

    def _whole(self, answer: Any) -> int:
        low, high = self._mechanism.query.inputs
        return int(within_range(read_whole(answer), low, high, exact=True))

    @cached_property
    def _values(self) -> NDArray[Any]:
        outputs = self._floats.outputs if self._floats is not None else self._mechanism.lattice()
        if self._mechanism.query.integer:
            return np.array([int(value) for value in outputs], dtype=np.int64)
        return np.array([float(value) for value in outputs])

    @cached_property
    def _floats(self) -> Table | None:
        return float_rows(self._mechanism)

    def _indices(self, rows: NDArray[np.int64], words: Words, stream: WordStream) -> NDArray[np.int64]:
        """One output index for each row asked for, each by its own word."""
        result = np.empty(len(rows), dtype=np.int64)
        # Sorting short integers is many times faster, and no grid has more inputs than they count.
        order = np.argsort(rows.astype(np.uint16 if rows.max() < 1 << 16 else np.int64), kind="stable")
        found, starts = np.unique(rows[order], return_index=True)
        ends = [*starts[1:].tolist(), len(rows)]
        for row, start, end in zip(found.tolist(), starts.tolist(), ends, strict=True):
            where = order[start:end]
            result[where] = self._many(row, words[where], len(rows), stream)
        return result

    def _many(self, row: int, words: Words, total: int, stream: WordStream) -> NDArray[np.int64]:
        if total > _WITHOUT_TABLE and self._floats is not None:
            return self._by_floats(row, self._floats, words, stream)
        if len(words) <= _WITHOUT_TABLE and row not in self._tables:
            return np.array([self._invert(row, word, stream) for word in words.tolist()], dtype=np.int64)
        if row not in self._tables:
            self._tables[row] = CdfTable(self._mechanism.row(row), -1, self._mechanism.last, bits=_BITS)
        return np.asarray(self._tables[row].choose(words, stream))

    def _by_floats(self, row: int, table: Table, words: Words, stream: WordStream) -> NDArray[np.int64]:
        """The output index of each word, by the floats of a row.

        Rule: index k is drawn if F(k - 1) <= U < F(k). Each float is within `slack` of F, and that of U within 2^-53
        of every number that begins with its bits; a k whose two ends are farther away than both is the right one,
        whether or not the floats increase. All others are inverted in balls. [theory#exact-draws]
        """
        last = self._mechanism.last
        levels = np.concatenate([[-np.inf], table.levels(row, row + 1)[0][:last], [np.inf]])
        u = words.astype(np.float64) * _UNIT
        found: NDArray[np.int64] = np.minimum(np.searchsorted(levels, u, side="right"), last + 1)
        margin = table.slack + _ROUNDING
        unsure = (u - levels[found - 1] < margin) | (levels[found] - u < margin)
        found -= 1
        for j in np.flatnonzero(unsure).tolist():
            found[j] = self._invert(row, int(words[j]), stream)
        return found

    def _invert(self, row: int, word: int, stream: WordStream) -> int:
        return self._inverter(row).invert(word, _BITS, stream, above=-1, at_most=self._mechanism.last)

    def _one(self, row: int, stream: WordStream) -> int:
        return self._inverter(row).draw(stream, above=-1, at_most=self._mechanism.last)


def _bernoulli(share: Fraction, stream: WordStream) -> int:
    """1 with exactly the given probability: a uniform number is compared with it bit by bit of need."""
    return _compared(share, int(stream.words(1)[0]), stream) if share else 0


def _compared(share: Fraction, word: int, stream: WordStream) -> int:
    """1 if a uniform number that begins with the word is below the share, else 0."""
    scaled = share * 2**_BITS
    whole = scaled.numerator // scaled.denominator
    if word != whole:
        return 1 if word < whole else 0
    return _bernoulli(scaled - whole, stream)


def _coins(positions: GridPositions, words: Words, stream: WordStream) -> NDArray[np.int64]:
    """Whether each answer goes to the row above it, with exactly its share, each by its own word."""
    u = words.astype(np.float64) * _UNIT
    margin = positions.slack + _ROUNDING
    up = (u < positions.shares) & ~positions.on_grid
    for j in np.flatnonzero((np.abs(u - positions.shares) <= margin) & ~positions.on_grid).tolist():
        up[j] = _compared(positions.share(j), int(words[j]), stream)
    return up.astype(np.int64)


# Clamped noise.


_CLAMPED_CHUNK = 1 << 16
_MARGIN = 2.0**-49
_RESIDUAL_ROUNDING = 2.0**-40
_EXACT_FLOATS = 2**53
_ROUNDS = 20
_OFF = 2.0**-6
_BELOW_A_LIMIT = 1 - 2.0**-40

_NONE = (np.zeros(0), np.zeros(0))


@drawer_for.register(Clamped)
class ClampedDrawer(Releasing):
    """Rows by a place, then noise from a stack of slabs, then the bounds."""

    def __init__(self, mechanism: Clamped) -> None:
        super().__init__(mechanism)
        levels = mechanism.levels
        # Slab i reaches from -ends[i] to ends[i]; the last slab is all of the lattice, whatever the place.
        self._ends = [*levels.ends, 0]
        self._sizes = [2 * end + 1 for end in levels.ends] + [mechanism.points]
        slabs = [*levels.slabs, mechanism.heights[-1]]
        self._sums = list(accumulate(slab * size for slab, size in zip(slabs, self._sizes, strict=True)))

    def release(self, answer: Any, entropy: Entropy) -> float | int:
        k, share = self._place(answer)
        stream = entropy.stream()
        return self._number(self._one(k + row_above(share, int(stream.words(1)[0]), stream), stream))

    def release_many(self, answers: Any, entropy: Entropy) -> NDArray[Any]:
        """One independent private answer for each answer given; all are read before anything is drawn."""
        asked = as_numbers(answers)
        found = [self._places(asked[i : i + _CLAMPED_CHUNK]) for i in range(0, len(asked), _CLAMPED_CHUNK)]
        places, slack = (np.concatenate(column) for column in zip(*found or [_NONE], strict=True))
        known = self._known(asked, np.flatnonzero(np.isinf(slack)).tolist())
        stream = entropy.stream()
        released = np.empty(len(asked), dtype=np.int64 if self._mechanism.query.integer else np.float64)
        for begin in range(0, len(asked), _CLAMPED_CHUNK):
            part = slice(begin, begin + _CLAMPED_CHUNK)
            coins = stream.words(len(places[part]))
            z = places[part] + coins.astype(np.float64) * _UNIT
            rows = np.floor(z).astype(np.int64)
            for j in np.flatnonzero(np.abs(z - np.rint(z)) <= slack[part]).tolist():
                k, share = known.get(begin + j) or self._place(asked[begin + j])
                rows[j] = k + row_above(share, int(coins[j]), stream)
            released[part] = self._numbers(self._many(rows, stream))
        return released

    def _known(self, answers: NDArray[Any], wanted: list[int]) -> dict[int, tuple[int, Fraction]]:
        """The exact places of some answers; those that are alike are read once."""
        seen: dict[Any, tuple[int, Fraction]] = {}
        found = {}
        for j in wanted:
            # True is equal to 1, but no number; what cannot be compared is no number either.
            key = (type(answers[j]), answers[j]) if isinstance(answers[j], Hashable) else j
            found[j] = seen[key] = seen.get(key) or self._place(answers[j])
        return found

    def _place(self, answer: Any) -> tuple[int, Fraction]:
        found: tuple[int, Fraction] = self._mechanism.place(self._mechanism.read(answer))
        return found

    def _one(self, k: int, stream: WordStream) -> int:
        """The lattice point that row k releases."""
        first, last = self._mechanism.ends
        slab = self._slab(int(stream.words(1)[0]), stream)
        start = k - self._ends[slab] if slab < len(self._ends) - 1 else first - self._mechanism.levels.reach
        return int(min(max(start + whole_below(self._sizes[slab], stream), first), last))

    def _many(self, rows: Whole, stream: WordStream) -> Whole:
        """The same for many rows at once."""
        first, last = self._mechanism.ends
        words = stream.words(len(rows))
        slabs = np.searchsorted(self._cuts, words, side="right")
        # A word equal to a cut says nothing of the bits after it.
        for j in np.flatnonzero((slabs > 0) & (self._cuts[slabs - 1] == words)).tolist():
            slabs[j] = self._slab(int(words[j]), stream)
        even = slabs == len(self._ends) - 1
        starts = np.where(even, first - self._mechanism.levels.reach, rows - np.array(self._ends)[slabs])
        inside = uniform_below(np.array(self._sizes, dtype=np.uint64)[slabs], stream).astype(np.int64)
        return np.asarray(np.clip(starts + inside, first, last))

    def _slab(self, word: int, stream: WordStream) -> int:
        """The slab of a uniform number that begins with the word: as many sums as it reaches lie before it."""
        total, u, bits = self._sums[-1], word, _BITS
        while True:
            low = bisect_right(self._sums, u * total >> bits)
            # The uniform number is below (u + 1) / 2^bits, so a sum that this meets exactly is not reached.
            if low == bisect_left(self._sums, -(-(u + 1) * total >> bits)):
                return low
            u, bits = u << _BITS | int(stream.words(1)[0]), bits + _BITS

    @cached_property
    def _cuts(self) -> Words:
        """Whole parts of 2^64 times the distribution function of the slabs, but for the last, which is one."""
        return np.array([(s << _BITS) // self._sums[-1] for s in self._sums[:-1]], dtype=np.uint64)

    def _number(self, index: int) -> float | int:
        step = self._mechanism.step
        return index if self._mechanism.query.integer else index * step.numerator / step.denominator

    def _numbers(self, indices: Whole) -> NDArray[Any]:
        """The released numbers: the double nearest to each lattice point."""
        step = self._mechanism.step
        if self._mechanism.query.integer:
            return indices
        largest = max(abs(end) for end in self._mechanism.ends)
        if largest * step.numerator <= _EXACT_FLOATS and step.denominator <= _EXACT_FLOATS:
            return np.asarray((indices * step.numerator) / float(step.denominator))
        return np.array([self._number(index) for index in indices.tolist()])

    def _places(self, answers: NDArray[Any]) -> tuple[Floats, Floats]:
        """For each answer its place in floats, and by how much that may be off: infinite where it must be read exactly.

        Rule: the double x of an answer that is read as v is within 2^-53 |x| of v, and where x is strictly between the
        doubles of two numbers, v lies between them. The float of x / step is off by two more roundings. At any place t
        the mean minus v is then known to within the margin, and a place is at most that over the smallest slope away
        from the right one. The last rounding is that of the sum with the coin. [theory#floats-that-decide]
        """
        asked, step = self._mechanism.query, self._mechanism.step
        low, high = (float(end) for end in asked.inputs)
        whole = answers.dtype.kind in "iu"
        x = answers.astype(np.float64) if whole or answers.dtype == np.float64 else np.full(len(answers), np.nan)
        free = whole or asked.exact or asked.sensitivity == asked.width
        limit = float(_EXACT_FLOATS if free else min(LARGEST_FLOAT * asked.sensitivity, _EXACT_FLOATS))
        with np.errstate(invalid="ignore"):
            plain = (x > low) & (x < high)
            for end, told in zip((low, high), asked.inputs, strict=True):
                plain |= (x == end) & (data_value(end) == told)
            plain &= np.abs(x) < limit * _BELOW_A_LIMIT
            if asked.integer:
                plain &= np.floor(x) == x
        wanted = np.where(plain, x, (low + high) / 2) / float(step)
        places = wanted.copy()
        margin = _MARGIN * (np.abs(wanted) + 1.0)
        for _ in range(_ROUNDS):
            moved = self._moved(places)
            residual = moved + (places - wanted)
            if (np.abs(residual) <= margin).all():
                break
            places -= residual
        off = np.abs(residual) + margin + _RESIDUAL_ROUNDING * np.abs(moved)
        slack = off / self._smallest_slope + margin
        return places, np.where(plain & (slack < _OFF), slack, np.inf)

    @cached_property
    def _smallest_slope(self) -> float:
        """A float below the smallest slope over the rows that answers use."""
        rows = (self._mechanism.place(end)[0] for end in self._mechanism.query.inputs)
        return min(float(self._mechanism.slope(k)) for k in rows) * (1 - 2.0**-30)

    def _moved(self, places: Floats) -> Floats:
        """The mean at each place minus the place, in floats, by the line between two rows."""
        first, last = self._mechanism.ends
        k = np.clip(np.floor(places), first, last - 1)
        part = places - k
        even = float(Fraction(self._mechanism.points * self._mechanism.heights[-1], self._mechanism.total))
        here, there = (self._clamped(k + e - first) - self._clamped(last - k - e) for e in (0, 1))
        return np.asarray(even * ((first + last) / 2 - places) + (1 - part) * here + part * there)

    def _clamped(self, room: Floats) -> Floats:
        """The mean of (noise - room)+ at a whole room >= 0, from what lies beyond the level's end and inside it."""
        ends, excess, beyond, inside = self._tables
        i = np.searchsorted(ends, room)
        rest = np.where(i < len(ends) - 1, ends[i] - room, 0.0)
        return np.asarray(excess[i] + rest * beyond[i] + inside[i] * rest * (rest + 1) / 2)

    @cached_property
    def _tables(self) -> tuple[Floats, Floats, Floats, Floats]:
        """Ends of levels, what lies beyond each, and the chance of a point inside; zeros after the last."""
        levels, total = self._mechanism.levels, self._mechanism.total

        def shares(weights: list[int]) -> Floats:
            return np.array([float(Fraction(weight, total)) for weight in (*weights, 0)])

        ends = np.array([*map(float, levels.ends), np.inf])
        inside = shares([height - levels.heights[-1] for height in levels.heights[:-1]])
        return (
            ends,
            shares([levels.excess(e) for e in levels.ends]),
            shares([levels.beyond(e) for e in levels.ends]),
            inside,
        )


def row_above(share: Fraction, word: int, stream: WordStream) -> int:
    """1 with exactly the chance `share`: if a uniform number that begins with the word is at least 1 - share."""
    u, bits, least = word, _BITS, 1 - share
    while True:
        scaled = least * 2**bits
        if u >= scaled:
            return 1
        if u + 1 <= scaled:
            return 0
        u, bits = u << _BITS | int(stream.words(1)[0]), bits + _BITS

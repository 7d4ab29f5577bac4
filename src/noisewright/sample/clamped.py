"""Exact draws of clamped noise: every chance is a ratio of whole numbers.

The answer is rounded at random to a row, a slab of the noise is chosen by its weight, and a lattice point of the slab
evenly; both comparisons draw more bits where 64 do not decide.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Hashable
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.mechanisms.answers import LARGEST_FLOAT
from noisewright.mechanisms.clamped import Clamped
from noisewright.mechanisms.rounding import as_numbers
from noisewright.numerics.balls import ball, precision, upper
from noisewright.numerics.fields import Floats
from noisewright.problem.numbers import data_value, show
from noisewright.sample.drawers import Releasing, describe_error, drawer_for
from noisewright.sample.uniform import Entropy, Words, WordStream, uniform_below, whole_below

_BITS = 64
_UNIT = 2.0**-64
_CHUNK = 1 << 16
_MARGIN = 2.0**-49
_ROUNDING = 2.0**-40
_EXACT_FLOATS = 2**53
_ROUNDS = 20
_OFF = 2.0**-6
_BELOW_A_LIMIT = 1 - 2.0**-40

Places = NDArray[np.int64]
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
        return self._number(self._one(k + rounded_up(share, int(stream.words(1)[0]), stream), stream))

    def release_many(self, answers: Any, entropy: Entropy) -> NDArray[Any]:
        """One independent private answer for each answer given; all are read before anything is drawn."""
        asked = as_numbers(answers)
        found = [self._places(asked[i : i + _CHUNK]) for i in range(0, len(asked), _CHUNK)]
        places, slack = (np.concatenate(column) for column in zip(*found or [_NONE], strict=True))
        known = self._known(asked, np.flatnonzero(np.isinf(slack)).tolist())
        stream = entropy.stream()
        released = np.empty(len(asked), dtype=np.int64 if self._mechanism.query.integer else np.float64)
        for begin in range(0, len(asked), _CHUNK):
            part = slice(begin, begin + _CHUNK)
            coins = stream.words(len(places[part]))
            z = places[part] + coins.astype(np.float64) * _UNIT
            rows = np.floor(z).astype(np.int64)
            for j in np.flatnonzero(np.abs(z - np.rint(z)) <= slack[part]).tolist():
                k, share = known.get(begin + j) or self._place(asked[begin + j])
                rows[j] = k + rounded_up(share, int(coins[j]), stream)
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

    def _many(self, rows: Places, stream: WordStream) -> Places:
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

    def _numbers(self, indices: Places) -> NDArray[Any]:
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
        off = np.abs(residual) + margin + _ROUNDING * np.abs(moved)
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


def rounded_up(share: Fraction, word: int, stream: WordStream) -> int:
    """1 with exactly the chance `share`: if a uniform number that begins with the word is at least 1 - share."""
    u, bits, least = word, _BITS, 1 - share
    while True:
        scaled = least * 2**bits
        if u >= scaled:
            return 1
        if u + 1 <= scaled:
            return 0
        u, bits = u << _BITS | int(stream.words(1)[0]), bits + _BITS


@describe_error.register
def _(mechanism: Clamped) -> list[str]:
    low, high = mechanism.query.inputs
    shown = [mechanism.near(x) for x in (low, (low + high) / 2, high)]
    with precision():
        errors = [f"{float(upper(ball(mechanism.variance_at(x)).sqrt())):.6g} at {show(x)}" for x in shown]
    first, last = mechanism.ends
    kind = "whole numbers" if mechanism.query.integer else f"multiples of {show(mechanism.step)}"
    return [
        f"Error: root mean square {', '.join(errors)}.",
        "Mean: exactly the true answer, for every answer in the range.",
        f"Released values are {kind} between {show(first * mechanism.step)} and {show(last * mechanism.step)}.",
    ]

"""Exact draws from mechanisms whose law depends on the answer.

The answer is rounded at random to a grid input, then that row's output index is drawn by exact
inversion; both comparisons draw more bits where 64 do not decide.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache, cached_property, singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.mechanisms.answers import read_answer, read_whole, within_range
from noisewright.mechanisms.blend import Blend
from noisewright.mechanisms.composite import Composite
from noisewright.mechanisms.conditional import Conditional
from noisewright.mechanisms.places import Places, places_of
from noisewright.mechanisms.rounding import as_numbers, whole_indices
from noisewright.mechanisms.rows import Rows
from noisewright.mechanisms.truncated import Truncated
from noisewright.mechanisms.worst_cases import Table
from noisewright.numerics.balls import precision, upper
from noisewright.numerics.fields import BALLS
from noisewright.problem.numbers import above, show
from noisewright.proof.bounded import largest_bias
from noisewright.sample.drawers import Releasing, describe_error, drawer_for
from noisewright.sample.refine import Inverter
from noisewright.sample.table import CdfTable
from noisewright.sample.uniform import Entropy, Words, WordStream

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
def _(mechanism: Rows | Composite) -> Table:
    return mechanism.table()


@float_rows.register
def _(mechanism: Blend) -> Table:
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
        places = places_of(numbers, points, None if free else asked.sensitivity, self._place)
        stream = entropy.stream()
        released = np.empty(len(places.rows), dtype=self._values.dtype)
        for begin in range(0, len(released), _CHUNK):
            part = places.part(begin, begin + _CHUNK)
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


def _coins(places: Places, words: Words, stream: WordStream) -> NDArray[np.int64]:
    """Whether each answer goes to the row above it, with exactly its share, each by its own word."""
    u = words.astype(np.float64) * _UNIT
    margin = places.slack + _ROUNDING
    up = (u < places.shares) & ~places.on_grid
    for j in np.flatnonzero((np.abs(u - places.shares) <= margin) & ~places.on_grid).tolist():
        up[j] = _compared(places.share(j), int(words[j]), stream)
    return up.astype(np.int64)


@describe_error.register(Rows)
@describe_error.register(Composite)
@describe_error.register(Blend)
@describe_error.register(Truncated)
def _(mechanism: Conditional) -> list[str]:
    grid, query = mechanism.grid, mechanism.query
    with precision():
        rows = sorted({0, grid.last // 2, grid.last})
        errors = [mechanism.moments(i, BALLS)[1].sqrt() for i in rows]
        shown = [f"{float(upper(e)):.6g} at {show(grid.points[i])}" for i, e in zip(rows, errors, strict=True)]
        bias = largest_bias(mechanism)
    if not bias:
        mean = "Mean: exactly the true answer, for every answer in the range."
    elif bias <= query.width / 10**12:
        mean = f"Mean: proven to be within {above(bias)} of the true answer, for every answer in the range."
    else:
        mean = f"Bias: answers are off by up to {above(bias)} on average."
    low, high = mechanism.value(0), mechanism.value(mechanism.last)
    return [
        f"Error: root mean square {', '.join(shown)}.",
        mean,
        f"Released values {'are whole numbers' if query.integer else 'lie'} between {show(low)} and {show(high)}.",
        *mechanism.remarks,
    ]

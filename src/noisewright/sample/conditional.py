"""Exact draws from mechanisms whose law depends on the answer.

The answer is rounded at random to a grid input, then that row's output index is drawn by exact
inversion; both comparisons draw more bits where 64 do not decide.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.mechanisms.answers import read_answer
from noisewright.mechanisms.blend import Blend
from noisewright.mechanisms.composite import Composite
from noisewright.mechanisms.conditional import Conditional
from noisewright.mechanisms.rows import Rows
from noisewright.mechanisms.truncated import Truncated
from noisewright.numerics.balls import precision, upper
from noisewright.numerics.fields import BALLS
from noisewright.problem.errors import InvalidAnswerError
from noisewright.problem.numbers import above, show
from noisewright.proof.bounded import largest_bias
from noisewright.sample.drawers import Releasing, describe_error, drawer_for
from noisewright.sample.refine import Inverter
from noisewright.sample.table import CdfTable
from noisewright.sample.uniform import Entropy, WordStream

_WITHOUT_TABLE = 400
_BITS = 64
_CHUNK = 1 << 16


@drawer_for.register(Rows)
@drawer_for.register(Composite)
@drawer_for.register(Blend)
@drawer_for.register(Truncated)
class ConditionalDrawer(Releasing):
    """One row of outputs for each grid input; tables are made for rows that are drawn often."""

    def __init__(self, mechanism: Conditional) -> None:
        super().__init__(mechanism)
        self._values = np.array([float(mechanism.value(k)) for k in range(mechanism.last + 1)])
        self._inverter = cache(lambda row: Inverter(mechanism.row(row)))
        self._tables: dict[int, CdfTable] = {}

    def release(self, answer: Any, entropy: Entropy) -> float:
        i, share = self._place(answer)
        stream = entropy.stream()
        return float(self._values[self._one(i + _bernoulli(share, stream), stream)])

    def release_many(self, answers: Iterable[Any], entropy: Entropy) -> NDArray[np.float64]:
        """One independent private answer for each answer given."""
        # A list may mix kinds of numbers; each is read by itself, so that none changes how another is read.
        plain = isinstance(answers, np.ndarray) and answers.dtype != object
        given = np.asarray(answers) if plain else np.array([self._read(answer) for answer in answers], dtype=object)
        if given.ndim != 1:
            raise InvalidAnswerError(f"answers have {given.ndim} dimensions; give a flat list of numbers.")
        if not len(given):
            return np.empty(0)
        stream = entropy.stream()
        if bool((given == given[0]).all()):
            i, share = self._place(given[0])
            return self._values[self._indices(i + _bernoullis(share, len(given), stream), stream)]
        distinct, inverse, counts = np.unique(given, return_inverse=True, return_counts=True)
        places = [self._place(a) for a in distinct]
        order = np.argsort(inverse, kind="stable")
        rows = np.empty(len(given), dtype=np.int64)
        start = 0
        for (i, share), count in zip(places, counts.tolist(), strict=True):
            rows[order[start : start + count]] = i + _bernoullis(share, count, stream)
            start += count
        return self._values[self._indices(rows, stream)]

    def _place(self, answer: Any) -> tuple[int, Fraction]:
        found: tuple[int, Fraction] = self._mechanism.grid.locate(self._read(answer), exact=self._mechanism.query.exact)
        return found

    def _read(self, answer: Any) -> Fraction:
        """A float too coarse for the sensitivity is refused, unless all answers are neighbours anyway."""
        asked = self._mechanism.query
        return read_answer(answer, asked.sensitivity, asked.exact or asked.sensitivity == asked.width)

    def _indices(self, rows: NDArray[np.int64], stream: WordStream) -> NDArray[np.int64]:
        """One output index for each row asked for."""
        result = np.empty(len(rows), dtype=np.int64)
        if rows.max() - rows.min() <= 1:
            for row in {int(rows.min()), int(rows.max())}:
                where = np.flatnonzero(rows == row)
                result[where] = self._many(row, len(where), stream)
            return result
        order = np.argsort(rows, kind="stable")
        found, starts = np.unique(rows[order], return_index=True)
        ends = [*starts[1:].tolist(), len(rows)]
        for row, start, end in zip(found.tolist(), starts.tolist(), ends, strict=True):
            result[order[start:end]] = self._many(row, end - start, stream)
        return result

    def _many(self, row: int, count: int, stream: WordStream) -> NDArray[np.int64]:
        if count <= _WITHOUT_TABLE and row not in self._tables:
            return np.array([self._one(row, stream) for _ in range(count)], dtype=np.int64)
        if row not in self._tables:
            self._tables[row] = CdfTable(self._mechanism.row(row), -1, self._mechanism.last, bits=_BITS)
        table = self._tables[row]
        parts = [table.draw(min(_CHUNK, count - i), stream) for i in range(0, count, _CHUNK)]
        return np.concatenate(parts)

    def _one(self, row: int, stream: WordStream) -> int:
        return self._inverter(row).draw(stream, above=-1, at_most=self._mechanism.last)


def _bernoulli(share: Fraction, stream: WordStream) -> int:
    """1 with exactly the given probability: a uniform number is compared with it bit by bit of need."""
    rest = share
    while rest:
        scaled = rest * 2**_BITS
        whole = scaled.numerator // scaled.denominator
        word = int(stream.words(1)[0])
        if word != whole:
            return 1 if word < whole else 0
        rest = scaled - whole
    return 0


def _bernoullis(share: Fraction, count: int, stream: WordStream) -> NDArray[np.int64]:
    if not share:
        return np.zeros(count, dtype=np.int64)
    scaled = share * 2**_BITS
    whole = min(scaled.numerator // scaled.denominator, 2**_BITS - 1)
    words = stream.words(count)
    result = (words < np.uint64(whole)).astype(np.int64)
    for i in np.flatnonzero(words == np.uint64(whole)):
        result[i] = _bernoulli(scaled - whole, stream)
    return result


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
        f"Released values lie between {show(low)} and {show(high)}.",
    ]

"""True answers on their way into a mechanism: exact numbers, with room for the rounding errors of floats.

Two people may compute the same answer in floats and be off by a little, so two neighbouring answers may be read
a little farther apart than the sensitivity. Where answers are put on a lattice they are therefore contracted by
a factor 1 / STRETCH first, and what is released is stretched by as much: computed answers that differ by no
more than STRETCH sensitivities are then within the sensitivity, and the certificate speaks of them too. It costs
one part in 2^24 of the noise. Questions whose owner declares exact answers are left alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.numerics.fields import Floats
from noisewright.problem.errors import InvalidAnswerError
from noisewright.problem.numbers import data_value, precision_bits, show, typed
from noisewright.problem.queries import ROUNDING, Vector

STRETCH = 1 + ROUNDING
DOUBLE = 53
LARGEST_FLOAT = 2**26
"""Floats of at most so many sensitivities are within a quarter of what the stretch absorbs, if rounded once."""

LARGEST_WHOLE = 2**200
"""Whole answers are read below it in size: far beyond the sum of any table, and far within the range of floats."""


def stretch_of(exact: bool) -> Fraction:
    """What an answer is divided by before it is put on a lattice, and what is released is multiplied by."""
    return Fraction(1) if exact else STRETCH


def read_answer(answer: Any, sensitivity: Fraction, exact: bool) -> Fraction:
    """An answer as an exact number; a float too coarse for the question is refused unless answers are exact."""
    value, bits = data_value(answer), precision_bits(answer)
    if exact or bits is None:
        return value
    narrow = bits < DOUBLE and not typed(answer)
    limit = LARGEST_FLOAT * sensitivity / (2 ** (DOUBLE - bits) if narrow else 1)
    if abs(value) > limit:
        raise InvalidAnswerError(
            f"the answer is too large for a float of its precision: beyond {show(limit)} in size its rounding error may"
            " exceed what this mechanism absorbs; compute it in double precision, or give a whole number, a Fraction"
            " or a Decimal.",
            limit=limit,
        )
    return value


def read_whole(answer: Any) -> Fraction:
    """A whole-number answer, however large it may be in a table: up to 2^200.

    A float beyond the whole numbers that its type can tell apart is refused.
    """
    value, bits = data_value(answer), precision_bits(answer)
    if value.denominator != 1:
        raise InvalidAnswerError(
            "the answer is not a whole number, but this mechanism was made for integers; round it first or design"
            " for real answers."
        )
    if bits is not None and abs(value) > 2**bits:
        raise InvalidAnswerError(
            f"the answer is a float beyond 2^{bits}, where floats of its type skip whole numbers; give an int."
        )
    if abs(value) >= LARGEST_WHOLE:
        raise InvalidAnswerError(
            f"the answer is too large: whole numbers below {float(LARGEST_WHOLE):.6g} in size are allowed; rescale the"
            " query.",
            limit=float(LARGEST_WHOLE),
        )
    return value


def read_answers(answers: Sequence[Any], query: Vector) -> list[Fraction]:
    """Several answers, one for each number of the question."""
    check_count(answers, query.dimension)
    moves = zip(answers, query.sensitivity.smallest, query.whole, strict=True)
    return [read_number(x, move, query.exact, whole) for x, move, whole in moves]


def check_count(answers: Any, count: int) -> None:
    """Refuse what is no list of so many numbers."""
    listed = hasattr(answers, "__len__") and hasattr(answers, "__iter__") and getattr(answers, "shape", 1) != ()
    if isinstance(answers, str | bytes) or not listed:
        raise InvalidAnswerError(f"the answer is not a list; give a list of {count} numbers.")
    if len(answers) != count:
        raise InvalidAnswerError(
            f"the answer has {len(answers)} numbers, the question {count}; give one for each.", given=len(answers)
        )


def read_number(answer: Any, move: Fraction, exact: bool, whole: bool) -> Fraction:
    """One of several answers, of which one person can move it by as little as `move`, or not at all if that is 0."""
    return read_whole(answer) if whole else read_answer(answer, move, exact or not move)


def within_range(answer: Any, low: Fraction, high: Fraction, exact: bool) -> Fraction:
    """An answer that lies in a range; one that a rounding error put just outside is at the end it left."""
    value = data_value(answer)
    slack = Fraction(0) if exact else (high - low) * (STRETCH - 1)
    if not low - slack <= value <= high + slack:
        raise InvalidAnswerError(
            f"the answer lies outside the stated inputs, {show(low)} to {show(high)}; clamp the data before computing"
            " it, or design for a wider range."
        )
    return min(max(value, low), high)


# Many answers put on a lattice at once: the cells that exact rationals give, at the speed of floats.
#
# A float filter decides nearly every answer, one division that rounds correctly decides those on or beside an edge of
# a cell, and what is left is read one by one in exact rationals. Anything that might be refused is left too, so that
# every refusal is the one that a single answer gets.


Whole = NDArray[Any]
"""64-bit whole numbers, or Python's where one lies beyond them."""
Flags = NDArray[np.bool_]

_CHUNK = 1 << 16
_MARGIN = 2.0**-50
_NEAR_A_LIMIT = 1 - 2.0**-40
_SAFE_EXPONENT = 900
_EXACT_FLOATS = 2**53
_LARGEST_CELL = 2**51
_WORD = 2**63
_MOST_DECIMALS = 22
SURELY_READ = 10**15
"""Two decimals of at most fifteen digits never share a double."""


def as_numbers(answers: Any) -> NDArray[Any]:
    """Answers as a flat array: of one type of number where they share one, else of objects, each read by itself."""
    if not isinstance(answers, np.ndarray):
        if isinstance(answers, str | bytes) or not hasattr(answers, "__iter__"):
            raise InvalidAnswerError("the answers are not a list; give a list or an array of numbers.")
        answers = _listed(list(answers))
    if answers.ndim != 1:
        raise InvalidAnswerError(f"answers have {answers.ndim} dimensions; give a flat list of numbers.")
    return np.asarray(answers)


def _listed(answers: list[Any]) -> NDArray[Any]:
    types = set(map(type, answers))
    if types and types <= {float, np.float64}:
        return np.array(answers, dtype=np.float64)
    if types == {int} and min(answers) >= -(2**63) and max(answers) < 2**63:
        return np.array(answers, dtype=np.int64)
    result = np.empty(len(answers), dtype=object)
    for i, answer in enumerate(answers):
        result[i] = answer
    return result


@dataclass(frozen=True)
class Cells:
    """Cells [(k - edge), (k + 1 - edge)) * spacing of answers.

    `one` reads a single answer: its exact index, or the error that refuses it. Computed floats beyond `LARGEST_FLOAT`
    times `sensitivity` are too coarse; None where answers are declared to be exact.
    """

    spacing: Fraction
    edge: Fraction
    sensitivity: Fraction | None
    one: Callable[[Any], int]

    def indices(self, answers: NDArray[Any]) -> Whole:
        """The cell of each answer.

        Guarantees: every index is that of `one`, and every answer that `one` refuses is refused; errors do not repeat
        an answer.
        """
        if answers.dtype.kind not in "iuf" or answers.dtype.itemsize > 8 or not self._plain:
            return _each(answers, self.one)
        parts = [self._part(answers[i : i + _CHUNK]) for i in range(0, len(answers), _CHUNK)]
        return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)

    def whole_indices(self, answers: NDArray[Any]) -> Whole:
        """The same for answers that must be whole numbers: `one` refuses others, and floats that skip some."""
        fine = answers.dtype.kind in "iu"
        if answers.dtype == np.float64:
            fine = bool(np.all((np.floor(answers) == answers) & (np.abs(answers) <= _EXACT_FLOATS)))
        return self.indices(answers) if fine else _each(answers, self.one)

    @property
    def _plain(self) -> bool:
        """Whether no product with the spacing or its inverse leaves the range of normal floats."""
        size = self.spacing.numerator.bit_length() - self.spacing.denominator.bit_length()
        return -_SAFE_EXPONENT < size < _SAFE_EXPONENT

    def _part(self, answers: NDArray[Any]) -> Whole:
        """The cells of a part, by a float filter with a margin.

        Rule: let x be the double of an answer that is read as v, T = v / spacing + edge, and t the float computed here.
        v is within 2^-53 |x| of x (it is x, or a decimal or a whole number whose nearest double is x; below the normal
        floats within 2^-1075); the inverse, the product and the sum add a relative 2^-53 each. So t is within
        4.1 * 2^-53 (|t| + 1) of T, less than the margin 2^-50 (|t| + 1) by a factor that also covers the rounding of
        the margin itself. The distance of t < 2^52 to the nearest whole number is a float, computed without error; if
        it exceeds the margin, then no whole number lies between t and T, and floor(T) = floor(t).
        [theory#floats-that-decide]
        """
        x, readable = self._doubles(answers)
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            t = x * float(1 / self.spacing)
            if self.edge:
                t += float(self.edge)
            size = np.abs(t)
            nearest = np.rint(t)
            away = np.abs(t - nearest)
            readable &= size < _LARGEST_CELL * _NEAR_A_LIMIT
            size += 1.0
            size *= _MARGIN
            decided = away > size
            decided &= readable
            found = np.floor(t)
        undecided = np.flatnonzero(~decided)
        if not len(undecided):
            return found.astype(np.int64)
        found[undecided] = 0.0
        result = found.astype(np.int64)
        beside = undecided[readable[undecided]]
        cells, known = self._beside_an_edge(x[beside], nearest[beside])
        result[beside] = cells
        left = np.concatenate([undecided[~readable[undecided]], beside[~known]])
        left.sort()
        return _put(result, left, _each(answers[left], self.one))

    def _doubles(self, answers: NDArray[Any]) -> tuple[Floats, Flags]:
        """The double nearest to what each answer is read as, and which are surely fine enough to be read."""
        if answers.dtype.kind in "iu":
            whole = answers.astype(np.float64)
            return whole, np.abs(whole) <= _EXACT_FLOATS
        wide = answers.dtype.itemsize == 8
        # A narrower float is read as its shortest decimal, which the double nearest to that is read as, too.
        x = answers.astype(np.float64) if wide else answers.astype(str).astype(np.float64)
        with np.errstate(invalid="ignore"):
            size = np.abs(x)
            if self.sensitivity is None:
                return x, size < np.inf
            limit = _NEAR_A_LIMIT * _as_float(LARGEST_FLOAT * self.sensitivity)
            readable = size <= limit
            if not wide:
                bits = precision_bits(answers[:1][0]) if len(answers) else DOUBLE
                for i in np.flatnonzero(readable & (size > limit / 2 ** (DOUBLE - (bits or DOUBLE)))):
                    readable[i] = typed(answers[i])
        return x, readable

    @cached_property
    def _half(self) -> Fraction:
        return self.spacing / 2

    def _beside_an_edge(self, x: Floats, nearest: Floats) -> tuple[Whole, Flags]:
        """The cells of answers beside the lower edges of the cells `nearest`, and which of them are decided.

        Rule: the edge is e = m * numerator / denominator, with m = 2 (k - edge) a whole number. Where both factors and
        the denominator are whole numbers up to 2^53 the quotient is the double nearest to e. Rounding never changes an
        order, so x < fl(e) means v < e, and x > fl(e) means v > e. Where x = fl(e), and e is a decimal of at most 15
        digits, v is e itself: among such decimals only one has the nearest double x, and x is read as it. Zero is an
        edge of every lattice whose edge is 0, and is read as itself. [theory#floats-that-decide]
        """
        top, bottom = self._half.numerator, self._half.denominator
        rest, twos, fives = _without(bottom)
        decimals = max(twos, fives)
        short = decimals <= _MOST_DECIMALS and bottom < _EXACT_FLOATS and top < _EXACT_FLOATS
        multiples = 2 * nearest - float(2 * self.edge)
        if not short:
            zero = multiples == 0
            return (nearest - (zero & (x < 0))).astype(np.int64), zero
        known = np.abs(multiples) <= _EXACT_FLOATS // top
        m = np.where(known, multiples, 0.0).astype(np.int64) * top
        edge = m / float(bottom)
        tied = x == edge
        scale = 10**decimals // (bottom // rest)
        decimal = (m % rest == 0) & (np.abs(m // rest) <= SURELY_READ // scale)
        return (nearest - (x < edge)).astype(np.int64), known & (~tied | decimal)


def whole_indices(answers: NDArray[Any], one: Callable[[Any], int]) -> Whole:
    """Whole-number answers themselves, however large; `one` reads or refuses all but the plain ones.

    Rule: doubles up to 2^53 that are whole are read as themselves, and others are read as no whole number: the
    decimal that a double is read as has it as its nearest double, and a whole number up to 2^53 is its own.
    [theory#floats-that-decide]
    """
    kind = answers.dtype.kind
    if kind == "i":
        return answers.astype(np.int64)
    if kind not in "uf" or (kind == "f" and answers.dtype.itemsize != 8):
        return _each(answers, one)
    with np.errstate(invalid="ignore"):
        clear = np.abs(answers) <= _EXACT_FLOATS
        if kind == "f":
            clear &= np.floor(answers) == answers
    result = np.where(clear, answers, np.zeros(1, dtype=answers.dtype)).astype(np.int64)
    left = np.flatnonzero(~clear)
    return _put(result, left, _each(answers[left], one))


def _each(answers: Iterable[Any], one: Callable[[Any], int]) -> Whole:
    found = [one(answer) for answer in answers]
    wide = any(not -_WORD <= index < _WORD for index in found)
    return np.array(found, dtype=object if wide else np.int64)


def _put(result: Whole, places: NDArray[np.intp], found: Whole) -> Whole:
    """The indices with others in some places, in Python's whole numbers if one of those needs that."""
    result = result.astype(object) if found.dtype == object else result
    result[places] = found
    return result


def _as_float(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        return np.inf


def _without(whole: int) -> tuple[int, int, int]:
    """A whole number without its factors 2 and 5, and how many of each it has."""
    counts = []
    for prime in (2, 5):
        count = 0
        while whole % prime == 0:
            whole, count = whole // prime, count + 1
        counts.append(count)
    return whole, counts[0], counts[1]

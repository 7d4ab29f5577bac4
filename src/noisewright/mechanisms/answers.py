"""True answers on their way into a mechanism: exact numbers, with room for the rounding errors of floats.

Two people may compute the same answer in floats and be off by a little, so two neighbouring answers may be read
a little farther apart than the sensitivity. Where answers are put on a lattice they are therefore contracted by
a factor 1 / STRETCH first, and what is released is stretched by as much: computed answers that differ by no
more than STRETCH sensitivities are then within the sensitivity, and the certificate speaks of them too. It costs
one part in 2^24 of the noise. Questions whose owner declares exact answers are left alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

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

"""Where the values of a column may lie, and the whole numbers that stand for them.

A value x becomes floor(x/step + 1/2), clamped to the whole numbers of the bounds. What one person can change follows
from the two whole ends alone, whatever happened to the value before.
"""

from __future__ import annotations

import math
from fractions import Fraction

from noisewright.problem.errors import InvalidQueryError
from noisewright.problem.fields import MaybeRational, Pair, derived, optional, pair, rational
from noisewright.problem.numbers import show
from noisewright.problem.records import Record, keep, record

_FINENESS = 10**6
_LARGEST_INDEX = 2**40
_LARGEST_FACTOR = 2**53


@record("range", error=InvalidQueryError)
class Range(Record):
    """Bounds of a value and the step it is rounded to; `first` to `last` are the whole numbers it can become.

    Without a step it is the largest power of ten that divides the width into a million or more.
    """

    bounds: Pair = pair()
    step: MaybeRational = optional(rational(above=0), default=None)
    first: int = derived()
    last: int = derived()
    centre: int = derived()

    def __post_init__(self) -> None:
        low, high = self.bounds
        step = self.step if self.step is not None else _fine(high - low)
        first, last = (math.floor(end / step + Fraction(1, 2)) for end in (low, high))
        if first == last:
            raise InvalidQueryError(
                f"step is {show(step)}, wider than the bounds {show(low)} to {show(high)}; make it finer.", step=step
            )
        if max(abs(first), abs(last)) > _LARGEST_INDEX or max(step.numerator, step.denominator) > _LARGEST_FACTOR:
            raise InvalidQueryError(
                f"bounds {show(low)} to {show(high)} at a step of {show(step)} need whole numbers beyond 2^40; give a"
                " coarser step, or shift the column nearer to 0.",
                step=step,
            )
        keep(self, step=step, first=first, last=last, centre=(first + last) // 2)

    @property
    def unit(self) -> Fraction:
        """What one of the whole numbers is worth: the step."""
        assert self.step is not None, "it was found when the range was made"
        return self.step

    @property
    def radius(self) -> int:
        """How far a whole number can be from the centre."""
        return max(self.last - self.centre, self.centre - self.first)

    @property
    def largest(self) -> int:
        """How far a whole number can be from zero."""
        return max(abs(self.first), abs(self.last))

    @property
    def half_square(self) -> int:
        """What is taken off each square of a distance to the centre, so that squares move both ways alike."""
        return self.radius**2 // 2


def _fine(width: Fraction) -> Fraction:
    """The largest power of ten that is at most a millionth of the width."""
    exponent = math.floor(math.log10(width / _FINENESS))
    while Fraction(10) ** (exponent + 1) <= width / _FINENESS:
        exponent += 1
    while Fraction(10) ** exponent > width / _FINENESS:
        exponent -= 1
    return Fraction(10) ** exponent

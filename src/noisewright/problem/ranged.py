"""One number that is known to lie in a range."""

from __future__ import annotations

from noisewright.problem.errors import InvalidQueryError
from noisewright.problem.fields import Flag, Rational, flag, rational
from noisewright.problem.numbers import Number, parameter, sensitivity_value, show
from noisewright.problem.queries import QUERIES, at_most_range, check_float_size
from noisewright.problem.records import Record, record


@record("ranged-scalar", QUERIES, error=InvalidQueryError)
class RangedScalar(Record):
    """One number between `low` and `high` that a single person can move by at most `sensitivity`.

    Answers and what is released lie in the range; the range is public and does not depend on the data.
    `exact=True` declares that answers are exact numbers; otherwise they may carry the rounding of floats.
    """

    low: Rational = rational()
    high: Rational = rational()
    sensitivity: Rational = rational()
    exact: Flag = flag(absent=True)

    def __init__(self, low: Number, high: Number, sensitivity: Number | None = None, *, exact: bool = False) -> None:
        width = parameter(high, "high") - parameter(low, "low")
        reach = width if sensitivity is None else sensitivity_value(sensitivity, "sensitivity")
        self.born(low=low, high=high, sensitivity=at_most_range(reach, width), exact=exact)

    def __post_init__(self) -> None:
        if self.high <= self.low:
            raise InvalidQueryError(
                f"the range runs from {show(self.low)} to {show(self.high)}; give low < high.",
                low=self.low,
                high=self.high,
            )
        check_float_size(self.sensitivity, self.low, self.high, self.exact)
        if not 0 < self.sensitivity <= self.high - self.low:
            raise InvalidQueryError(
                f"sensitivity is {show(self.sensitivity)}; for answers between {show(self.low)} and {show(self.high)}"
                f" it must be above 0 and at most {show(self.high - self.low)}.",
                sensitivity=self.sensitivity,
            )

    def __str__(self) -> str:
        return f"one number between {show(self.low)} and {show(self.high)}, sensitivity {show(self.sensitivity)}"

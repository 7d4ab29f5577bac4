"""The variance of a column: its noisy mean square less the square of its noisy mean, both around the centre."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from noisewright.problem import numbers as exact
from noisewright.problem.errors import InvalidQueryError
from noisewright.problem.fields import Text, only, text
from noisewright.problem.numbers import show
from noisewright.problem.records import record
from noisewright.release.ask.estimates import NOTHING, Estimate, Interval, clamped, quotient
from noisewright.release.ask.question import QUESTIONS, By, Name, Valued, by_field, name_field
from noisewright.release.stage.aggregates import Aggregate, Present, Squares, Total
from noisewright.release.stage.ranges import Range
from noisewright.release.table.keys import Keys


@record("variance", QUESTIONS, error=InvalidQueryError)
class Variance(Valued):
    """The variance of a column within bounds, over the rows that have a value."""

    column: Text = text()
    range: Range = only(Range)
    by: By = by_field()
    name: Name = name_field()
    word = "variance"
    remark = (
        "A variance is computed from a noisy count, a noisy sum and a noisy sum of squares; its interval comes with the"
        " answer, and groups too small to support a variance are returned as missing."
    )

    def __post_init__(self) -> None:
        if self.range.radius > 2**30:
            raise InvalidQueryError(
                f"the squares of {self.column} on a step of {show(self.range.unit)} do not fit into 64"
                " bits; give a coarser step."
            )

    @property
    def aggregates(self) -> tuple[Aggregate, ...]:
        column, span = self.column, self.range
        return Present(column), Total(column, span, True), Squares(column, span)

    def estimate(self, values: Sequence[int], widths: Sequence[Fraction]) -> Estimate:
        """Mean square less the square of the mean, both around the centre; from 0 to the square of half the width."""
        span = self.range
        first = quotient(values[0], widths[0], values[1], widths[1])
        second = quotient(values[0], widths[0], values[2], widths[2])
        if first is None or second is None:
            return NOTHING
        mid, low, high = (clamped(part, span) for part in first)
        squares = [part + span.half_square for part in second]
        nearest = Fraction(0) if low <= 0 <= high else min(low**2, high**2)
        most = Fraction(span.last - span.first) ** 2 / 4
        ends = (squares[0] - mid**2, squares[1] - max(low**2, high**2), squares[2] - nearest)
        return Interval(*(span.unit**2 * min(max(end, Fraction(0)), most) for end in ends))


def variance(
    column: str,
    *,
    bounds: Sequence[exact.Number],
    by: Keys | None = None,
    step: exact.Number | None = None,
    name: str | None = None,
) -> Variance:
    """The variance (of the population of rows) of a column whose values are clamped to `bounds`."""
    span = Range(bounds, step)
    # Squares need twice the digits, and their rounding matters less.
    return Variance(column, Range(bounds, 100 * span.unit) if step is None else span, by, name)

"""The mean of a column: the noisy sum of distances to the centre of its bounds, divided by the noisy count."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from noisewright.problem import numbers as exact
from noisewright.problem.errors import InvalidQueryError
from noisewright.problem.fields import Text, only, text
from noisewright.problem.records import record
from noisewright.release.ask.estimates import NOTHING, Estimate, Interval, clamped, quotient
from noisewright.release.ask.question import QUESTIONS, By, Name, Valued, by_field, name_field
from noisewright.release.stage.aggregates import Aggregate, Present, Total
from noisewright.release.stage.ranges import Range
from noisewright.release.table.keys import Keys


@record("mean", QUESTIONS, error=InvalidQueryError)
class Mean(Valued):
    """The mean of a column within bounds, over the rows that have a value."""

    column: Text = text()
    range: Range = only(Range)
    by: By = by_field()
    name: Name = name_field()
    word = "mean"
    remark = (
        "A mean is a noisy sum divided by a noisy count; its interval comes with the answer, and groups too small to"
        " support a mean are returned as missing."
    )

    @property
    def aggregates(self) -> tuple[Aggregate, ...]:
        return Present(self.column), Total(self.column, self.range, True)

    def estimate(self, values: Sequence[int], widths: Sequence[Fraction]) -> Estimate:
        """Centre plus centred sum over count, within the bounds."""
        span = self.range
        ratio = quotient(values[0], widths[0], values[1], widths[1])
        if ratio is None:
            return NOTHING
        value, low, high = (clamped(part, span) for part in ratio)
        return Interval(*(span.unit * (span.centre + part) for part in (value, low, high)))

    def promised(self, widths: Sequence[Fraction], smallest_group: int | None) -> Fraction | None:
        """The largest half-width that `estimate` states for a group of at least so many rows with a value.

        Rule: let c be the noisy count, s the noisy sum, w and v their widths, and e the upper end, within the radius R
        of the bounds. It is met where e c <= s + v + |e| w, so that (e - s/c) c <= v + R w; the lower end is the same
        with signs turned, and clamping brings the answer no farther from it. c is at least smallest_group - w, and the
        answer is given wherever c - w >= 1/2.
        None where a group of so few rows may be too few to say. [theory#tables-and-contribution-bounds]
        """
        if smallest_group is None or smallest_group - 2 * widths[0] < Fraction(1, 2):
            return None
        span = self.range
        return span.unit * (span.radius * widths[0] + widths[1]) / (smallest_group - widths[0])

    def shortage(self, widths: Sequence[Fraction], smallest_group: int | None) -> Fraction:
        return (2 * widths[0] + Fraction(1, 2)) / (smallest_group or 1)


def mean(
    column: str,
    *,
    bounds: Sequence[exact.Number],
    by: Keys | None = None,
    step: exact.Number | None = None,
    name: str | None = None,
) -> Mean:
    """The mean of a column whose values are clamped to `bounds`, over the rows that have one.

    >>> print(nw.mean("age", bounds=(0, 120)))
    mean of age, everything
    >>> nw.mean("age", bounds=(120, 0))
    Traceback (most recent call last):
        ...
    InvalidQueryError: bounds is 120 to 0; give (lowest, highest).
    """
    return Mean(column, Range(bounds, step), by, name)

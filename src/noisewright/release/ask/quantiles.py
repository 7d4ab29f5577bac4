"""Quantiles from noisy counts of bins: the counts of all first bins, answered together, and tests turned around.

The q-quantile is the first bin x at which F(x), the rows up to it, reaches q n. D(x) = F(x) - q n is below 0 before it
and at least 0 from it on. With a noisy D within w of the truth, x is excluded where D(x) < -w(x), since the quantile
comes later, and where D(x - 1) >= w(x - 1), since it came before. The true x is excluded only if the noise of D(x) is
below -w(x) or that of D(x - 1) is at least w(x - 1): two ends of symmetric laws, each with half of what is left of the
confidence. No band over all bins is needed, whatever the data are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import accumulate
from typing import Any

from noisewright.problem import numbers as exact
from noisewright.problem.errors import InvalidQueryError
from noisewright.problem.fields import (
    Rationals,
    Spec,
    Text,
    only,
    optional,
    rational,
    rationals,
    text,
    tuple_of,
)
from noisewright.problem.numbers import parameter, show
from noisewright.problem.records import record
from noisewright.problem.workload import Workload
from noisewright.release.ask.estimates import NOTHING, Estimate, Interval
from noisewright.release.ask.linear import FINE, Linear
from noisewright.release.ask.question import (
    QUESTIONS,
    Answers,
    By,
    Line,
    Name,
    by_field,
    name_field,
    require_keys,
    span_text,
)
from noisewright.release.stage.groupings import Bins, Grouping
from noisewright.release.stage.ranges import Range
from noisewright.release.table.keys import Keys

MOST_BINS = 512
_FEWEST = 100
"""How many bins there are at least where nobody gives a step."""
_COLUMN = "quantile"


@record("quantiles", QUESTIONS, error=InvalidQueryError)
class Quantiles(Linear):
    """The values below which given shares of the rows are, of a column in steps within bounds, or in bins.

    Guarantees: with steps, the q-quantile is the least multiple of the step up to which at least a share q of the rows
    lies, values rounded to the step and clamped; with edges it lies in the bin in which that share is reached, of the
    rows that are in any bin. The interval holds it with the confidence that is stated.
    """

    column: Text = text()
    probabilities: Rationals = rationals(above=0, below=1, least=1, most=100, rising=True, each="probability")
    range: Spec[Range | None, Range | None] = optional(only(Range), default=None, absent=None)
    edges: Spec[Any, tuple[Fraction, ...] | None] = optional(
        tuple_of(rational(), least=2, rising=True), default=None, absent=None
    )
    by: By = by_field()
    name: Name = name_field()
    word = "quantiles"

    def __post_init__(self) -> None:
        if (self.range is None) == (self.edges is None):
            raise InvalidQueryError(
                f"the quantiles of {self.column} need bounds=(low, high) and a step, or edges=[...]; give one of them."
            )
        if self.count > MOST_BINS:
            raise InvalidQueryError(
                f"the quantiles of {self.column} need {self.count} bins; at most {MOST_BINS}: give a coarser step or"
                " fewer edges.",
                bins=self.count,
            )
        require_keys(self.by, _COLUMN)

    @property
    def about(self) -> str:
        return self.column

    @property
    def count(self) -> int:
        """How many bins there are."""
        if self.range is not None:
            return self.range.last - self.range.first + 1
        return len(self.edges or ()) - 1

    @property
    def grouping(self) -> Grouping:
        span = self.range
        if span is None:
            return Grouping(self.by, Bins(self.column, self.edges))
        half = Fraction(1, 2)
        edges = [span.unit * (index - half) for index in range(span.first, span.last + 2)]
        return Grouping(self.by, Bins(self.column, edges, True))

    @property
    def strategy(self) -> tuple[Any, ...]:
        return ("over-bins", self.count)

    @property
    def clamps(self) -> tuple[str, ...]:
        return () if self.range is None else (f"values clamped to {span_text(self.range.bounds)}",)

    @staticmethod
    def measured(questions: Sequence[Linear]) -> Workload:
        """The rows up to each bin, less a share of all: as many squares as all quantiles of a table have together.

        Rule: with c the mean of k probabilities q, the sum over them of (F - q n)^2 is k (F - c n)^2 plus n^2 times the
        sum of (q - c)^2. [theory#tables-and-contribution-bounds]
        """
        own = [question for question in questions if isinstance(question, Quantiles)]
        found, size = sorted({q for question in own for q in question.probabilities}), own[0].count
        centre = sum(found, Fraction(0)) / len(found)
        spread = sum(((q - centre) ** 2 for q in found), Fraction(0)) * size
        first = Workload(list(_below(centre, size))) * len(found)
        return first | Workload.total(size) * spread if spread else first

    @property
    def reading(self) -> Workload:
        return Workload([row for q in self.probabilities for row in _below(q, self.count)])

    @property
    def given(self) -> int:
        return len(self.probabilities)

    @property
    def columns(self) -> tuple[str, ...]:
        return (*(self.by.columns if self.by else ()), _COLUMN)

    def lines(self, table: Answers, indices: Sequence[int]) -> list[Line]:
        each = self.count
        return [
            (f"rows below, at {show(q)}", Fraction(1), indices[i * each : (i + 1) * each])
            for i, q in enumerate(self.probabilities)
        ]

    def answers(
        self, table: Answers, part: Sequence[int], indices: Sequence[int], widths: Sequence[Fraction]
    ) -> Iterator[tuple[Mapping[str, Any], Estimate]]:
        size = self.count
        for row, key in enumerate(self.by.rows if self.by else ((),)):
            first = list(accumulate(part[row * size : (row + 1) * size]))
            for i, q in enumerate(self.probabilities):
                named = {**dict(zip(self.columns, key, strict=False)), _COLUMN: float(q)}
                # In units of 1 / FINE throughout, so that every comparison is exact.
                below = [count - q * first[-1] for count in first]
                half_widths = [FINE * width for width in widths[i * size : (i + 1) * size]]
                yield named, self._estimate(q, below, half_widths)

    def _estimate(self, q: Fraction, below: Sequence[Fraction], half_widths: Sequence[Fraction]) -> Estimate:
        found = quantile(below, half_widths)
        if found is None:
            return NOTHING
        best, low, high = found
        if self.range is not None:
            return Interval(*(self.range.unit * (self.range.first + place) for place in found))
        edges = self.edges or ()
        before = below[best - 1] if best else -q * below[-1] / (1 - q)
        step = below[best] - before
        share = min(max(-before / step, Fraction(0)), Fraction(1)) if step > 0 else Fraction(1, 2)
        return Interval(edges[best] + share * (edges[best + 1] - edges[best]), edges[low], edges[high + 1])


def quantile(below: Sequence[Fraction], half_widths: Sequence[Fraction]) -> tuple[int, int, int] | None:
    """The best place of a quantile and the first and last that are not excluded; None where there may be no rows.

    `below` are noisy numbers that are negative before the quantile and not from it on, each within its half-width of
    the truth. The best place is where they turn in a least-squares fit that never falls: where the sum of all before is
    least. All places are excluded only if the last is, from below, which is a table that has no rows.
    """
    last = len(below) - 1
    if below[last] <= half_widths[last]:
        return None
    kept = [x for x in range(last + 1) if below[x] >= -half_widths[x] and (x == 0 or below[x - 1] < half_widths[x - 1])]
    sums = list(accumulate(below[:-1], initial=Fraction(0)))
    best = min(range(last + 1), key=lambda x: sums[x])
    return min(max(best, kept[0]), kept[-1]), kept[0], kept[-1]


def _below(q: Fraction, size: int) -> Iterator[list[Fraction]]:
    """The weights of the rows up to each bin, less a share of all rows."""
    for place in range(size):
        yield [int(cell <= place) - q for cell in range(size)]


def quantiles(
    column: str,
    probabilities: Sequence[exact.Number],
    *,
    bounds: Sequence[exact.Number] | None = None,
    step: exact.Number | None = None,
    edges: Sequence[exact.Number] | None = None,
    by: Keys | None = None,
    name: str | None = None,
) -> Quantiles:
    """Values of a column below which given shares of the rows are: 0.5 is the median.

    Values are clamped to `bounds` and rounded to multiples of `step` (unless given, a hundredth of the bounds or
    finer), or sorted into the bins between `edges`. All of it from public knowledge.

    >>> print(nw.quantiles("age", [0.25, 0.5], bounds=(0, 120)))
    quantiles of age, 121 bins of age
    """
    if bounds is None:
        if step is not None:
            raise InvalidQueryError("step goes with bounds=(low, high), which are missing.")
        return Quantiles(column, probabilities, None, edges, by, name)
    ends = Range(bounds).bounds
    return Quantiles(column, probabilities, Range(ends, _coarse(ends) if step is None else step), edges, by, name)


def _coarse(bounds: Sequence[Fraction]) -> Fraction:
    """The largest of 1, 2 or 5 times a power of ten that is at most a hundredth of the width."""
    most = Fraction(parameter(bounds[1], "bounds") - parameter(bounds[0], "bounds")) / _FEWEST
    power = Fraction(1)
    while power > most:
        power /= 10
    while power * 10 <= most:
        power *= 10
    return next(times * power for times in (5, 2, 1) if times * power <= most)

"""Histograms: rows or persons in each bin of a column, of numbers or of times."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date

from noisewright.problem import numbers as exact
from noisewright.problem.errors import InvalidQueryError
from noisewright.problem.fields import Flag, Spec, flag, one_of
from noisewright.problem.records import record
from noisewright.release.ask.question import QUESTIONS, By, Ends, Name, OneNumber, by_field, name_field
from noisewright.release.ask.within import MaybeWithin, maybe_within, within
from noisewright.release.stage.aggregates import Aggregate, Persons, Rows
from noisewright.release.stage.groupings import BINS, Bins, Grouping, bins_of
from noisewright.release.stage.times import TimeBins
from noisewright.release.table.keys import Keys


@record("histogram", QUESTIONS, error=InvalidQueryError)
class BinCount(OneNumber):
    """How many rows, or different persons, there are in each bin of a column."""

    bins: Spec[Bins | TimeBins, Bins | TimeBins] = one_of(BINS)
    by: By = by_field()
    name: Name = name_field()
    persons: Flag = flag(default=False, absent=False)
    within: MaybeWithin = maybe_within()
    word = "histogram"
    plain = True

    @property
    def about(self) -> str:
        return self.bins.column

    @property
    def grouping(self) -> Grouping:
        return Grouping(self.by, self.bins)

    @property
    def aggregates(self) -> tuple[Aggregate, ...]:
        return (Persons() if self.persons else Rows(),)


def histogram(
    column: str,
    *,
    edges: Iterable[exact.Number] | None = None,
    every: str | None = None,
    start: date | str | None = None,
    end: date | str | None = None,
    zone: str | None = None,
    persons: bool = False,
    by: Keys | None = None,
    name: str | None = None,
    outputs: Ends = None,
    inputs: Ends = None,
) -> BinCount:
    """How many rows are in each bin of a column of numbers (`edges`), or of dates or times (`every`, `start`, `end`).

    With `persons=True` different persons are counted, which one person changes by one however many rows there are.
    Bins of numbers go from one edge up to the next, which belongs to the next bin; the last edge belongs to the last
    bin. Bins of time are every hour, day, week (from Monday), month, quarter or year from `start` up to, but without,
    `end`. A column of instants needs a `zone`, such as "Europe/Berlin", whose days and hours are meant; dates, and
    times without a zone, are compared as they are written. `outputs` and `inputs` are those of `count`.

    >>> print(nw.histogram("age", edges=[0, 18, 65, 120]))
    histogram of age, 3 bins of age
    """
    found = bins_of(column, edges, every, start, end, zone)
    return BinCount(found, by, name, persons, within(outputs, inputs))

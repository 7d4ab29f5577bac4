"""What can be asked of a table: each question says which groups it needs, which numbers, and what they mean."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from noisewright.problem import numbers as exact
from noisewright.problem.errors import InvalidQueryError
from noisewright.problem.fields import Flag, Spec, Text, flag, only, optional, text
from noisewright.problem.numbers import show
from noisewright.problem.records import Family, Record, record
from noisewright.release import estimates
from noisewright.release.estimates import Estimate
from noisewright.release.groupings import Bins, Grouping
from noisewright.release.keys import Keys
from noisewright.release.numbers import Number, Persons, Present, Rows, Squares, Total
from noisewright.release.ranges import Range
from noisewright.release.ways import BY_GROUP, Way

if TYPE_CHECKING:
    from noisewright.release.layout import Table

QUESTIONS: Family[Any] = Family(
    "questions such as nw.count(), nw.mean('age', bounds=(0, 120)) or nw.ask.sum('cost', bounds=(0, 1000))",
    InvalidQueryError,
)
"""Every question by the name it has in files."""

By = Spec[Keys | None, Keys | None]
Name = Spec[str | None, str | None]


def _by() -> Any:
    return optional(only(Keys), default=None, absent=None)


def _name() -> Any:
    return optional(text(), default=None, absent=None)


class Question(Record):
    """What every question answers: its groups, the whole numbers that each group needs, and what they say."""

    __slots__ = ()
    by: By
    name: Name
    word = ""

    @property
    def about(self) -> str:
        """The column that it is about; empty for rows and persons."""
        return ""

    @property
    def label(self) -> str:
        """Its name in answers."""
        return self.name or (f"{self.word} of {self.about}" if self.about else self.word)

    @property
    def grouping(self) -> Grouping:
        """The groups that it is asked for."""
        return Grouping(self.by)

    @property
    def numbers(self) -> tuple[Number, ...]:
        """The numbers of each group that it is computed from."""
        raise TypeError("a question says which numbers it needs")

    @property
    def way(self) -> Way:
        """How the numbers of its table are answered."""
        return BY_GROUP

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that name its rows in an answer."""
        return self.grouping.columns

    @property
    def at_once(self) -> int:
        """How many numbers must be within their widths together for an interval to hold."""
        return len(self.numbers)

    def lines(self, table: Table, places: Sequence[int]) -> list[tuple[str, Fraction, Sequence[int]]]:
        """Its lines in a plan: what is meant, what one is worth, and the places of the answered numbers behind it."""
        return [(table.numbers[i].word, table.numbers[i].unit, (i,)) for i in places]

    def answers(
        self, table: Table, part: Sequence[int], places: Sequence[int], widths: Sequence[Fraction]
    ) -> Iterator[tuple[dict[str, Any], Estimate]]:
        """Its rows in an answer: what names each, and the estimate; `part` are the released numbers of its table."""
        width = len(table.numbers)
        for row, label in enumerate(table.grouping.labels()):
            named = dict(zip(table.grouping.columns, label, strict=True))
            yield named, self.estimate([part[row * width + i] for i in places], widths)

    def estimate(self, values: Sequence[int], widths: Sequence[Fraction]) -> Estimate:
        """The answer of one group from noisy numbers, each within its width of the truth."""
        unit = self.numbers[0].unit
        return estimates.plain(values[0], widths[0], unit)

    def __str__(self) -> str:
        return f"{self.label}, {self.grouping}"


@record("count", QUESTIONS, error=InvalidQueryError)
class Count(Question):
    """How many rows there are."""

    by: By = _by()
    name: Name = _name()
    word = "count"

    @property
    def numbers(self) -> tuple[Number, ...]:
        return (Rows(),)


@record("persons", QUESTIONS, error=InvalidQueryError)
class PersonCount(Question):
    """How many different persons there are."""

    by: By = _by()
    name: Name = _name()
    word = "persons"

    @property
    def numbers(self) -> tuple[Number, ...]:
        return (Persons(),)


class Valued(Question):
    """A question about the values of a column within bounds."""

    __slots__ = ()
    column: Text
    range: Range

    @property
    def about(self) -> str:
        return self.column


@record("sum", QUESTIONS, error=InvalidQueryError)
class Sum(Valued):
    """The sum of a column within bounds, or of the distances to the middle of the bounds."""

    column: Text = text()
    range: Range = only(Range)
    by: By = _by()
    name: Name = _name()
    centred: Flag = flag(default=False)
    word = "sum"

    @property
    def numbers(self) -> tuple[Number, ...]:
        return (Total(self.column, self.range, self.centred),)


@record("mean", QUESTIONS, error=InvalidQueryError)
class Mean(Valued):
    """The mean of a column within bounds, over the rows that have a value."""

    column: Text = text()
    range: Range = only(Range)
    by: By = _by()
    name: Name = _name()
    word = "mean"

    @property
    def numbers(self) -> tuple[Number, ...]:
        return Present(self.column), Total(self.column, self.range, True)

    def estimate(self, values: Sequence[int], widths: Sequence[Fraction]) -> Estimate:
        return estimates.mean(self.range, values, widths)


@record("variance", QUESTIONS, error=InvalidQueryError)
class Variance(Valued):
    """The variance of a column within bounds, over the rows that have a value."""

    column: Text = text()
    range: Range = only(Range)
    by: By = _by()
    name: Name = _name()
    word = "variance"

    def __post_init__(self) -> None:
        if self.range.reach > 2**30:
            raise InvalidQueryError(
                f"the squares of {self.column} on a step of {show(self.range.unit)} do not fit into 64"
                " bits; give a coarser step."
            )

    @property
    def numbers(self) -> tuple[Number, ...]:
        column, span = self.column, self.range
        return Present(column), Total(column, span, True), Squares(column, span)

    def estimate(self, values: Sequence[int], widths: Sequence[Fraction]) -> Estimate:
        return estimates.variance(self.range, values, widths)


@record("histogram", QUESTIONS, error=InvalidQueryError)
class BinCount(Question):
    """How many rows there are in each bin of a column."""

    bins: Bins = only(Bins)
    by: By = _by()
    name: Name = _name()
    word = "histogram"

    @property
    def about(self) -> str:
        return self.bins.column

    @property
    def grouping(self) -> Grouping:
        return Grouping(self.by, self.bins)

    @property
    def numbers(self) -> tuple[Number, ...]:
        return (Rows(),)


def refuse_column(by: Keys | None, column: str) -> None:
    """Refuse a key with the name of a column that the answer needs for itself."""
    if by is not None and column in by.columns:
        raise InvalidQueryError(
            f"the answer has a column {column!r} of its own; rename the key, with dataset.mutate(...).", column=column
        )


def count(*, by: Keys | None = None, name: str | None = None) -> Count:
    """How many rows there are, in each group of `by`."""
    return Count(by, name)


def persons(*, by: Keys | None = None, name: str | None = None) -> PersonCount:
    """How many different persons there are, in each group of `by`."""
    return PersonCount(by, name)


def sum(
    column: str,
    *,
    bounds: Sequence[exact.Number],
    by: Keys | None = None,
    step: exact.Number | None = None,
    centred: bool = False,
    name: str | None = None,
) -> Sum:
    """The sum of a column whose values are clamped to `bounds`, from public knowledge.

    With `centred=True` the sum of the distances to the middle of the bounds, which one person moves less. Values are
    rounded to multiples of `step`, unless given a millionth of the bounds or finer.
    """
    return Sum(column, Range(bounds, step), by, name, centred)


def mean(
    column: str,
    *,
    bounds: Sequence[exact.Number],
    by: Keys | None = None,
    step: exact.Number | None = None,
    name: str | None = None,
) -> Mean:
    """The mean of a column whose values are clamped to `bounds`, over the rows that have one."""
    return Mean(column, Range(bounds, step), by, name)


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


def histogram(
    column: str, *, edges: Iterable[exact.Number], by: Keys | None = None, name: str | None = None
) -> BinCount:
    """How many rows are in each bin of a column of numbers.

    Bins go from one edge up to the next, which belongs to the next bin; the last edge belongs to the last bin.
    """
    return BinCount(Bins(column, edges), by, name)

"""What can be asked of a table: each question says which groups it needs, which numbers, and what they mean."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from noisewright.problem import numbers as exact
from noisewright.problem.errors import InvalidQueryError
from noisewright.problem.fields import Flag, Spec, Text, flag, only, optional, pair, text
from noisewright.problem.numbers import show
from noisewright.problem.records import Family, Record, record
from noisewright.release.ask import estimates
from noisewright.release.ask.estimates import Estimate
from noisewright.release.plan.strategies.by_group import BY_GROUP, Way
from noisewright.release.plan.strategies.in_bounds import MaybeWithin, maybe_within, way_of, within
from noisewright.release.stage.aggregates import Number, Partial, Persons, Present, Rows, Squares, Total
from noisewright.release.stage.groupings import Grouping
from noisewright.release.stage.ranges import Range
from noisewright.release.table.keys import Keys

if TYPE_CHECKING:
    from noisewright.release.plan.layout import Table

QUESTIONS: Family[Any] = Family(
    "questions such as nw.count(), nw.mean('age', bounds=(0, 120)) or nw.ask.sum('cost', bounds=(0, 1000))",
    InvalidQueryError,
)
"""Every question by the name it has in files."""

_ROWS: tuple[Number, ...] = (Rows(),)
_PERSONS: tuple[Number, ...] = (Persons(),)

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
    plain = False
    """Whether its answer in a group is its one number, in the unit of that number."""
    no_target = ""
    """Why it can have no target, where that is not for want of a public size of groups."""

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
        columns, way = table.grouping.columns, table.way
        for label, row in way.groups(table, part):
            yield dict(zip(columns, label, strict=True)), way.estimate(self, row, places, widths)

    def estimate(self, values: Sequence[int], widths: Sequence[Fraction]) -> Estimate:
        """The answer of one group from noisy numbers, each within its width of the truth."""
        unit = self.numbers[0].unit
        return estimates.plain(values[0], widths[0], unit)

    def promised(self, widths: Sequence[Fraction], smallest_group: int | None) -> Fraction | None:
        """The largest half-width of its answers where each number is within its width; None if that is not public.

        `smallest_group` is how many rows every group is publicly known to have.
        """
        return widths[0] * self.numbers[0].unit if self.plain else None

    def shortage(self, widths: Sequence[Fraction], smallest_group: int | None) -> Fraction:
        """How many times too wide the widths are for the smallest group to be sure of an answer; 0 if it always is."""
        return Fraction(0)

    def __str__(self) -> str:
        return f"{self.label}, {self.grouping}"


class OneNumber(Question):
    """A question about one number of each group, which can be asked for within bounds."""

    __slots__ = ()
    within: MaybeWithin

    @property
    def way(self) -> Way:
        return way_of(self.numbers[0], self.within)


@record("count", QUESTIONS, error=InvalidQueryError)
class Count(OneNumber):
    """How many rows there are."""

    by: By = _by()
    name: Name = _name()
    within: MaybeWithin = maybe_within()
    word = "count"
    plain = True

    @property
    def numbers(self) -> tuple[Number, ...]:
        return _ROWS


@record("persons", QUESTIONS, error=InvalidQueryError)
class PersonCount(OneNumber):
    """How many different persons there are."""

    by: By = _by()
    name: Name = _name()
    within: MaybeWithin = maybe_within()
    word = "persons"
    plain = True

    @property
    def numbers(self) -> tuple[Number, ...]:
        return _PERSONS


class Valued(Question):
    """A question about the values of a column within bounds."""

    __slots__ = ()
    column: Text
    range: Range

    @property
    def about(self) -> str:
        return self.column


@record("sum", QUESTIONS, error=InvalidQueryError)
class Sum(OneNumber, Valued):
    """The sum of a column within bounds, of the distances to their middle, or of persons' clamped sums."""

    column: Text = text()
    range: Range = only(Range)
    by: By = _by()
    name: Name = _name()
    centred: Flag = flag(default=False)
    person_bounds: Spec[Any, tuple[Fraction, Fraction] | None] = optional(pair(), default=None, absent=None)
    within: MaybeWithin = maybe_within()
    word = "sum"
    plain = True

    def __post_init__(self) -> None:
        if self.person_bounds is None:
            return
        if self.centred:
            raise InvalidQueryError(
                "centred=True and person_bounds= are two ways to make what a person moves small; give one of them."
            )
        Partial(self.column, self.range, self.person_bounds)

    @property
    def numbers(self) -> tuple[Number, ...]:
        if self.person_bounds is not None:
            return (Partial(self.column, self.range, self.person_bounds),)
        return (Total(self.column, self.range, self.centred),)

    def estimate(self, values: Sequence[int], widths: Sequence[Fraction]) -> Estimate:
        return estimates.plain(values[0], widths[0], self.range.unit)


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

    def promised(self, widths: Sequence[Fraction], smallest_group: int | None) -> Fraction | None:
        return None if smallest_group is None else estimates.mean_reach(self.range, widths, smallest_group)

    def shortage(self, widths: Sequence[Fraction], smallest_group: int | None) -> Fraction:
        return (2 * widths[0] + Fraction(1, 2)) / (smallest_group or 1)


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


Ends = Sequence[exact.Number] | None


def require_keys(by: Keys | None, column: str) -> None:
    """Refuse keys that are not listed, and one with the name of a column that the answer needs for itself."""
    if by is not None and by.private:
        raise InvalidQueryError("this question needs listed keys, not keys that are chosen privately.")
    if by is not None and column in by.columns:
        raise InvalidQueryError(
            f"the answer has a column {column!r} of its own; rename the key, with dataset.mutate(...).", column=column
        )


def count(*, by: Keys | None = None, name: str | None = None, outputs: Ends = None, inputs: Ends = None) -> Count:
    """How many rows there are, in each group of `by`.

    With `outputs=(lowest, highest)` every answer stays within them and is right on average; `inputs` says then where
    the true answers lie, from public knowledge. They are clamped to it.

    >>> print(nw.count(by=nw.keys("ward", ["A", "B"])))
    count, ward (2 groups)
    """
    return Count(by, name, within(outputs, inputs))


def persons(
    *, by: Keys | None = None, name: str | None = None, outputs: Ends = None, inputs: Ends = None
) -> PersonCount:
    """How many different persons there are, in each group of `by`; `outputs` and `inputs` are those of `count`."""
    return PersonCount(by, name, within(outputs, inputs))


def sum(
    column: str,
    *,
    bounds: Sequence[exact.Number],
    by: Keys | None = None,
    step: exact.Number | None = None,
    centred: bool = False,
    person_bounds: Sequence[exact.Number] | None = None,
    name: str | None = None,
    outputs: Ends = None,
    inputs: Ends = None,
) -> Sum:
    """The sum of a column whose values are clamped to `bounds`, from public knowledge.

    With `centred=True` the sum of the distances to the middle of the bounds, which one person moves less. Values are
    rounded to multiples of `step`, unless given a millionth of the bounds or finer. With `person_bounds` all rows of a
    person in a group are added up, however many, and the sum of each person is clamped to these bounds. `outputs` and
    `inputs` are bounds of the sum, as those of `count`.
    """
    return Sum(column, Range(bounds, step), by, name, centred, person_bounds, within(outputs, inputs))


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

"""The whole numbers that are summed in every group, and what one person can change of each.

| number | one row adds | one person with r rows changes it by at most |
|---|---|---|
| rows | 1 | r |
| persons | 1 for the first row of a person | 1 |
| present | 1 if the column has a value | r |
| total | the value, or its distance to the centre | r times the farthest |
| partial | the value, added up over all rows of a person and then clamped | the farther of the two clamps |
| squares | the squared distance to the centre, less half of the largest | r times the larger half |
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from noisewright.problem.errors import InvalidQueryError
from noisewright.problem.fields import Flag, Pair, Text, derived, flag, only, pair, text
from noisewright.problem.numbers import show
from noisewright.problem.records import Family, Record, keep, record
from noisewright.release.stage.ranges import Range

NUMBERS: Family[Any] = Family("a number of a group")
"""Every number by the name it has in files."""
_ONE = Fraction(1)


class Number(Record):
    """One whole number of each group: how far a person moves it, and what one unit of it is worth."""

    __slots__ = ()
    word = ""
    """What it is called in plans."""
    of_persons = False
    """Whether each person in the group is one term of it, whose size has nothing to do with how many rows count."""

    def extent(self, rows: int) -> int:
        """The most that a person with so many rows in the group can change it by, either way."""
        return rows

    @property
    def unit(self) -> Fraction:
        """What one is worth in the units of the question."""
        return _ONE

    @property
    def never_negative(self) -> bool:
        """Whether the truth is at least 0, whatever the data."""
        return False


@record("rows", NUMBERS)
class Rows(Number):
    """How many rows the group has."""

    word = "rows"

    @property
    def never_negative(self) -> bool:
        return True


@record("persons", NUMBERS)
class Persons(Number):
    """How many different persons have a row in the group."""

    word = "persons"
    of_persons = True

    def extent(self, rows: int) -> int:
        return 1

    @property
    def never_negative(self) -> bool:
        return True


@record("present", NUMBERS)
class Present(Number):
    """How many rows have a value in the column."""

    column: Text = text()
    word = "rows with a value"

    @property
    def never_negative(self) -> bool:
        return True


@record("total", NUMBERS)
class Total(Number):
    """The sum of the values, or of their distances to the centre of the range."""

    column: Text = text()
    range: Range = only(Range)
    centred: Flag = flag()
    word = "sum"

    def extent(self, rows: int) -> int:
        return rows * (self.range.reach if self.centred else self.range.largest)

    @property
    def unit(self) -> Fraction:
        return self.range.unit

    @property
    def never_negative(self) -> bool:
        return not self.centred and self.range.first >= 0


@record("partial", NUMBERS)
class Partial(Number):
    """The sum of persons' sums: all rows of a person in the group are added, and what comes out is clamped.

    Guarantees: one person changes it by at most `extent`, whatever the rows are and however many.
    """

    column: Text = text()
    range: Range = only(Range)
    person_bounds: Pair = pair()
    first: int = derived()
    last: int = derived()
    word = "sum, clamped by person"
    of_persons = True

    def __post_init__(self) -> None:
        low, high = self.person_bounds
        if not low <= 0 <= high:
            raise InvalidQueryError(
                f"person_bounds of {self.column} are {show(low)} to {show(high)}; 0 must be within them, because a"
                " person without a value adds 0.",
                person_bounds=self.person_bounds,
            )
        first, last = (math.floor(end / self.unit + Fraction(1, 2)) for end in self.person_bounds)
        if first == last:
            raise InvalidQueryError(
                f"person_bounds of {self.column} are narrower than the step {show(self.unit)}; make the step finer.",
                step=self.unit,
            )
        keep(self, first=first, last=last)

    def extent(self, rows: int) -> int:
        return max(abs(self.first), abs(self.last))

    @property
    def unit(self) -> Fraction:
        return self.range.unit

    @property
    def never_negative(self) -> bool:
        return self.first >= 0 or self.range.first >= 0


@record("squares", NUMBERS)
class Squares(Number):
    """The sum of squared distances to the centre, each less half of the largest one."""

    column: Text = text()
    range: Range = only(Range)
    word = "sum of squares"

    def extent(self, rows: int) -> int:
        return rows * (self.range.reach**2 - self.range.half_square)

    @property
    def unit(self) -> Fraction:
        return self.range.unit**2

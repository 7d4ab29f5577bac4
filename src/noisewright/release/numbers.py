"""The whole numbers that are summed in every group, and what one person can change of each.

| number | one row adds | one person with r rows changes it by at most |
|---|---|---|
| rows | 1 | r |
| persons | 1 for the first row of a person | 1 |
| present | 1 if the column has a value | r |
| total | the value, or its distance to the centre | r times the farthest |
| squares | the squared distance to the centre, less half of the largest | r times the larger half |
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from noisewright.problem.fields import Flag, Text, flag, only, text
from noisewright.problem.records import Family, Record, record
from noisewright.release.ranges import Range

NUMBERS: Family[Any] = Family("a number of a group")
"""Every number by the name it has in files."""


class Number(Record):
    """One whole number of each group: how far a person moves it, and what one unit of it is worth."""

    __slots__ = ()
    word = ""
    """What it is called in plans."""

    def extent(self, rows: int) -> int:
        """The most that a person with so many rows in the group can change it by, either way."""
        return rows

    @property
    def unit(self) -> Fraction:
        """What one is worth in the units of the question."""
        return Fraction(1)

    @property
    def never_negative(self) -> bool:
        """Whether the truth is at least 0, whatever the data."""
        return True


@record("rows", NUMBERS)
class Rows(Number):
    """How many rows the group has."""

    word = "rows"


@record("persons", NUMBERS)
class Persons(Number):
    """How many different persons have a row in the group."""

    word = "persons"

    def extent(self, rows: int) -> int:
        return 1


@record("present", NUMBERS)
class Present(Number):
    """How many rows have a value in the column."""

    column: Text = text()
    word = "rows with a value"


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

    @property
    def never_negative(self) -> bool:
        return False

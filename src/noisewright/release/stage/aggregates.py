"""The integers that are summed in every group: what each row adds, and what one person can change of each.

| aggregate | one row adds | one person with r rows changes it by at most |
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
from typing import TYPE_CHECKING

from noisewright.problem.errors import InvalidQueryError, InvalidTableError
from noisewright.problem.fields import Flag, Pair, Text, derived, flag, only, pair, text
from noisewright.problem.numbers import show
from noisewright.problem.records import Family, Record, keep, record
from noisewright.release.stage.ranges import Range
from noisewright.release.table.names import require_column

if TYPE_CHECKING:
    import ibis.expr.types as ir

    from noisewright.release.engines.base import Engine

AGGREGATES: Family[Aggregate] = Family("an aggregate of a group")
"""Every aggregate by the name it has in files."""
_ONE = Fraction(1)


class Aggregate(Record):
    """One integer of each group: what it reads, what a row adds, how far a person moves it, and what one is worth."""

    __slots__ = ()
    word = ""
    """What it is called in plans."""
    of_persons = False
    """Whether each person in the group is one term of it, whose size has nothing to do with how many rows count."""

    def sensitivity(self, rows: int) -> int:
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

    def require(self, table: ir.Table) -> None:
        """Refuse a table, by its schema alone, that has not what it reads."""

    def term(self, table: ir.Table, engine: Engine) -> ir.Value | None:
        """What one row adds to it, an integer that no value makes fail; None if rows or persons are counted."""
        return None


class OfColumn(Aggregate):
    """An aggregate of a column of numbers."""

    __slots__ = ()
    column: Text

    def require(self, table: ir.Table) -> None:
        require_column(table, self.column)
        kind = table[self.column].type()
        if kind.is_string():
            raise InvalidTableError(
                f"{self.column!r} holds text, and the question needs numbers; say how its table is read, with"
                f' types={{"{self.column}": "number"}} or "integer", or derive a column of numbers from it:'
                ' .cast("float64"), in a spec number(...).',
                column=self.column,
            )
        if not (kind.is_numeric() or kind.is_boolean()):
            raise InvalidTableError(
                f"{self.column!r} holds {kind}, and the question needs numbers; derive a column of numbers with"
                " dataset.mutate(...), such as the year of a date.",
                column=self.column,
            )


@record("rows", AGGREGATES)
class Rows(Aggregate):
    """How many rows the group has."""

    word = "rows"

    @property
    def never_negative(self) -> bool:
        return True


@record("persons", AGGREGATES)
class Persons(Aggregate):
    """How many different persons have a row in the group."""

    word = "persons"
    of_persons = True

    def sensitivity(self, rows: int) -> int:
        return 1

    @property
    def never_negative(self) -> bool:
        return True


@record("present", AGGREGATES)
class Present(OfColumn):
    """How many rows have a value in the column."""

    column: Text = text()
    word = "rows with a value"

    @property
    def never_negative(self) -> bool:
        return True

    def term(self, table: ir.Table, engine: Engine) -> ir.Value:
        from noisewright.release.stage.expressions import literal, number_of

        there = number_of(table[self.column], engine).notnull()
        return there.ifelse(literal(1), literal(0))


@record("total", AGGREGATES)
class Total(OfColumn):
    """The sum of the values, or of their distances to the centre of the range."""

    column: Text = text()
    range: Range = only(Range)
    centred: Flag = flag()
    word = "sum"

    def sensitivity(self, rows: int) -> int:
        return rows * (self.range.radius if self.centred else self.range.largest)

    @property
    def unit(self) -> Fraction:
        return self.range.unit

    @property
    def never_negative(self) -> bool:
        return not self.centred and self.range.first >= 0

    def term(self, table: ir.Table, engine: Engine) -> ir.Value:
        from noisewright.release.stage.expressions import double_of, index_of

        centre = self.range.centre if self.centred else 0
        return index_of(double_of(table[self.column], engine), self.range, engine, less=centre, missing=0)


@record("partial", AGGREGATES)
class Partial(OfColumn):
    """The sum of persons' sums: all rows of a person in the group are added, and what comes out is clamped.

    Guarantees: one person changes it by at most `sensitivity`, whatever the rows are and however many.
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

    def sensitivity(self, rows: int) -> int:
        return max(abs(self.first), abs(self.last))

    @property
    def unit(self) -> Fraction:
        return self.range.unit

    @property
    def never_negative(self) -> bool:
        return self.first >= 0 or self.range.first >= 0

    def term(self, table: ir.Table, engine: Engine) -> ir.Value:
        from noisewright.release.stage.expressions import double_of, index_of

        return index_of(double_of(table[self.column], engine), self.range, engine, missing=0)


@record("squares", AGGREGATES)
class Squares(OfColumn):
    """The sum of squared distances to the centre, each less half of the largest one."""

    column: Text = text()
    range: Range = only(Range)
    word = "sum of squares"

    def sensitivity(self, rows: int) -> int:
        return rows * (self.range.radius**2 - self.range.half_square)

    @property
    def unit(self) -> Fraction:
        return self.range.unit**2

    def term(self, table: ir.Table, engine: Engine) -> ir.Value:
        from noisewright.release.stage.expressions import double_of, index_of, literal

        distance = index_of(double_of(table[self.column], engine), self.range, engine, less=self.range.centre)
        return (distance * distance - literal(self.range.half_square)).fill_null(0)

"""All outputs of a plan as one vector of whole numbers, and every difference that one person can make to it.

Questions about the same groups that are answered in the same way share a table; in each of its groups stand the
numbers that the questions need, each once. One person changes at most so many groups of a table, in each of them by an
element of a box, and in every table at once: the set is the product over tables. Where cells are answered together
(`Way.together`), they are one such group, in which a person moves so many rows, in whichever cells.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from noisewright.problem.errors import InvalidQueryError
from noisewright.problem.fields import Flag, Whole, flag, whole
from noisewright.problem.records import Record, record
from noisewright.problem.sensitivity import Box, Disjoint, Groups, L1Ball, SensitivitySet, Sparse
from noisewright.release.ask.question import QUESTIONS, Question
from noisewright.release.plan.strategies.by_group import BY_GROUP, Way
from noisewright.release.plan.strategies.selection import SELECTING, private_way
from noisewright.release.stage.aggregates import Number
from noisewright.release.stage.groupings import Grouping

_MOST_NUMBERS = 1_000_000
_LARGEST_EXTENT = 10**12


@record("limits", error=InvalidQueryError)
class Limits(Record):
    """What a person may contribute: rows in a group, groups of a table; or the owner's word that it is one row."""

    rows_per_group: Whole = whole(at_least=1, at_most=10**6, hint=": the rows of a person that count in a group")
    groups_per_person: Whole = whole(at_least=1, at_most=10**6, hint=": the groups of a table a person can be in")
    one_row_per_person: Flag = flag()

    def __str__(self) -> str:
        rows, groups = self.rows_per_group, self.groups_per_person
        return f"{rows} row{'s' * (rows > 1)} in a group and {groups} group{'s' * (groups > 1)} of a table"

    def __post_init__(self) -> None:
        if self.one_row_per_person and (self.rows_per_group, self.groups_per_person) != (1, 1):
            raise InvalidQueryError(
                "one_row_per_person says that each person has one row, hence one group; leave rows_per_group and"
                " groups_per_person at 1."
            )


@dataclass(frozen=True, slots=True)
class Table:
    """The numbers of each group of one grouping, and where each question finds its own."""

    grouping: Grouping
    numbers: tuple[Number, ...]
    questions: tuple[tuple[Question, tuple[int, ...]], ...]
    rows: int
    groups: int
    way: Way = BY_GROUP

    @property
    def extents(self) -> tuple[int, ...]:
        """How far one person can move each number of a group."""
        return tuple(number.extent(self.rows) for number in self.numbers)

    @property
    def count(self) -> int:
        """How many numbers the table has; the groups of keys that nobody listed are one mapping."""
        return 1 if self.grouping.private else self.grouping.count * len(self.numbers)

    @property
    def together(self) -> int:
        """How many neighbouring groups are one for the limits of a person."""
        return self.way.together(self.grouping)

    @property
    def released(self) -> int:
        """How many whole numbers are released of it."""
        return self.way.released(self)

    @property
    def sensitivity(self) -> SensitivitySet:
        """Every difference that one person can make to the table, as the smallest set that has a name."""
        box, count = Box(self.extents), self.grouping.count
        if self.together > 1:
            ball = L1Ball(self.rows, self.together)
            return ball if self.together == count else Groups([ball] * (count // self.together), self.groups)
        if count == 1:
            return box
        if len(self.numbers) == 1:
            each = self.extents * count
            return Disjoint(each) if self.groups == 1 else Sparse(self.groups, each)
        return Groups([box] * count, self.groups)

    def holds(self, difference: Sequence[Any]) -> bool:
        """Whether a difference of the table's numbers is one that a person can make."""
        width = len(self.numbers) * self.together
        if self.grouping.private:
            difference = [value for numbers in difference[0].values() for value in numbers]
        groups = [difference[start : start + width] for start in range(0, len(difference), width)]
        changed = [group for group in groups if any(group)]
        if self.together > 1:
            return all(sum(map(abs, group)) <= self.rows for group in changed) and len(changed) <= self.groups
        inside = all(abs(d) <= most for group in changed for d, most in zip(group, self.extents, strict=True))
        return inside and len(changed) <= self.groups


@dataclass(frozen=True, slots=True)
class Layout:
    """The tables of a plan, in the order in which their groupings were first asked for."""

    tables: tuple[Table, ...]

    @property
    def private(self) -> bool:
        """Whether the release chooses the groups of a table."""
        return any(table.grouping.private for table in self.tables)

    @property
    def dimension(self) -> int:
        """How many numbers there are."""
        return sum(table.count for table in self.tables)

    @property
    def released(self) -> int:
        """How many whole numbers are released."""
        return sum(table.released for table in self.tables)

    @property
    def sensitivity(self) -> Any:
        """Every difference that one person can make: of all tables at once."""
        sets = [table.sensitivity for table in self.tables]
        return sets[0] if len(sets) == 1 else Groups(sets, len(sets))

    def split(self, vector: Sequence[Any]) -> list[Sequence[Any]]:
        """The true numbers of each table."""
        return _split(vector, [table.count for table in self.tables])

    def split_released(self, numbers: Sequence[Any]) -> list[Sequence[Any]]:
        """The released numbers of each table."""
        return _split(numbers, [table.released for table in self.tables])

    def holds(self, difference: Sequence[Any]) -> bool:
        """Whether a difference of all numbers is one that a person can make."""
        parts = zip(self.tables, self.split(difference), strict=True)
        return len(difference) == self.dimension and all(table.holds(part) for table, part in parts)


def _split(numbers: Sequence[Any], counts: Sequence[int]) -> list[Sequence[Any]]:
    ends = list(accumulate(counts))
    return [numbers[end - count : end] for end, count in zip(ends, counts, strict=True)]


def layout_of(questions: Sequence[Question], limits: Limits, *, apart: bool = False) -> Layout:
    """The vector of a list of questions; refuses none, what is no question, and two of one name.

    With `apart` each question has a table of its own, so that it can get an amount of its own.
    """
    if not questions:
        raise InvalidQueryError("nothing is asked; give at least one question, such as nw.count().")
    for question in questions:
        QUESTIONS.read(question, "a question")
    names = [question.label for question in questions]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise InvalidQueryError(f"two questions are called {twice!r}; give one of them another name=.", name=twice)
    asked: dict[tuple[Grouping, Way, str], list[Question]] = {}
    for question in questions:
        grouping, way, alone = question.grouping, question.way, question.label if apart else ""
        if grouping.private:
            # The table that chooses the groups comes before those that are asked about them.
            asked.setdefault((Grouping(grouping.keys), SELECTING, ""), [])
            way = private_way(question, limits.rows_per_group)
            alone = "" if way == SELECTING else alone
        asked.setdefault((grouping, way, alone), []).append(question)
    found = Layout(tuple(_table(grouping, way, own, limits) for (grouping, way, _), own in asked.items()))
    if (most := max(found.dimension, found.released)) > _MOST_NUMBERS:
        raise InvalidQueryError(f"these questions need {most} numbers; at most {_MOST_NUMBERS}.", numbers=most)
    return found


def _table(grouping: Grouping, way: Way, questions: Sequence[Question], limits: Limits) -> Table:
    numbers = way.numbers(questions)
    placed = tuple(zip(questions, way.placed(questions, numbers), strict=True))
    rows = 1 if all(number.of_persons for number in numbers) else limits.rows_per_group
    most = grouping.count // way.together(grouping)
    groups = limits.groups_per_person if grouping.private else min(limits.groups_per_person, most)
    found = Table(grouping, numbers, placed, rows, groups, way)
    for number, extent in zip(numbers, found.extents, strict=True):
        if extent > _LARGEST_EXTENT:
            column = getattr(number, "column", "")
            raise InvalidQueryError(
                f"one person can move the {number.word} of {column} by {extent} steps; give a coarser step=, so that it"
                f" is at most {_LARGEST_EXTENT}, or narrower bounds.",
                column=column,
            )
    return found

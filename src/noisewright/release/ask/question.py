"""What every question answers: which groups it is asked for, which aggregates it needs, and what they mean.

A question knows nothing of plans: how its table of answers is answered it names (`strategy`), and what it needs of the
table it is given (`Answers`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, Protocol

from noisewright.problem import numbers as exact
from noisewright.problem.errors import InvalidQueryError
from noisewright.problem.fields import Spec, Text, only, optional, text
from noisewright.problem.numbers import show
from noisewright.problem.records import Family, Record
from noisewright.release.ask import estimates
from noisewright.release.ask.estimates import Estimate
from noisewright.release.ask.within import MaybeWithin
from noisewright.release.stage.aggregates import Aggregate
from noisewright.release.stage.groupings import Grouping
from noisewright.release.stage.ranges import Range
from noisewright.release.table.keys import Keys

QUESTIONS: Family[Question] = Family(
    "questions such as nw.count(), nw.mean('age', bounds=(0, 120)) or nw.ask.sum('cost', bounds=(0, 1000))",
    InvalidQueryError,
)
"""Every question by the name it has in files; `registry` loads all of them."""

By = Spec[Keys | None, Keys | None]
Name = Spec[str | None, str | None]
Ends = Sequence[exact.Number] | None
Line = tuple[str, Fraction, Sequence[int]]
"""A line of a plan: what is meant, what one is worth, and the indices of the released numbers behind it."""
Released = Sequence[Any]
"""The released numbers of a table: integers, or a listing of groups where the release chooses them."""
BY_GROUP = ("by-group",)
"""The numbers of one group are answered together, and every group has noise of its own."""


def by_field() -> Any:
    """The groups of a question; one group of everything without them."""
    return optional(only(Keys), default=None, absent=None)


def name_field() -> Any:
    """The name of a question in answers; unless given, what it is about."""
    return optional(text(), default=None, absent=None)


class Answers(Protocol):
    """What a question needs to know of the table that it is answered in."""

    @property
    def grouping(self) -> Grouping:
        """The groups."""

    @property
    def aggregates(self) -> Sequence[Aggregate]:
        """What is answered in each of them."""

    def released_groups(self, part: Released) -> Iterator[tuple[tuple[Any, ...], Sequence[int]]]:
        """Of each group, in order, the values that name it and its released numbers."""

    def estimate(
        self, question: Question, row: Sequence[int], indices: Sequence[int], widths: Sequence[Fraction]
    ) -> Estimate:
        """What the released numbers of a group say about a question."""


class Question(Record):
    """What every question answers: its groups, the aggregates that each group needs, and what they say."""

    __slots__ = ()
    by: By
    name: Name
    word = ""
    plain = False
    """Whether its answer in a group is its one aggregate, in the unit of that."""
    no_target = ""
    """Why it can have no target, where that is not for want of a public size of groups."""
    remark = ""
    """A sentence about what it is computed from, where its answer is not one released number."""

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
    def aggregates(self) -> tuple[Aggregate, ...]:
        """The aggregates of each group that it is computed from."""
        raise TypeError("a question says which aggregates it needs")

    @property
    def strategy(self) -> tuple[Any, ...]:
        """How the aggregates of its table are answered: the name of a strategy of plans, and its fields."""
        return BY_GROUP

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that name its rows in an answer."""
        return self.grouping.columns

    @property
    def at_once(self) -> int:
        """How many numbers must be within their widths together for an interval to hold."""
        return len(self.aggregates)

    @property
    def clamps(self) -> tuple[str, ...]:
        """What is clamped on the way to its answer, in words: the interval holds the number after that."""
        return ()

    def lines(self, table: Answers, indices: Sequence[int]) -> list[Line]:
        """Its lines in a plan."""
        return [(table.aggregates[i].word, table.aggregates[i].unit, (i,)) for i in indices]

    def answers(
        self, table: Answers, part: Released, indices: Sequence[int], widths: Sequence[Fraction]
    ) -> Iterator[tuple[Mapping[str, Any], Estimate]]:
        """Its rows in an answer: what names each, and the estimate; `part` are the released numbers of its table."""
        columns = table.grouping.columns
        for label, row in table.released_groups(part):
            yield dict(zip(columns, label, strict=True)), table.estimate(self, row, indices, widths)

    def estimate(self, values: Sequence[int], widths: Sequence[Fraction]) -> Estimate:
        """The answer of one group from noisy numbers, each within its width of the truth."""
        return estimates.plain(values[0], widths[0], self.aggregates[0].unit)

    def promised(self, widths: Sequence[Fraction], smallest_group: int | None) -> Fraction | None:
        """The largest half-width of its answers where each number is within its width; None if that is not public.

        `smallest_group` is how many rows every group is publicly known to have.
        """
        return widths[0] * self.aggregates[0].unit if self.plain else None

    def shortage(self, widths: Sequence[Fraction], smallest_group: int | None) -> Fraction:
        """How many times too wide the widths are for the smallest group to be sure of an answer; 0 if it always is."""
        return Fraction(0)

    def __str__(self) -> str:
        return f"{self.label}, {self.grouping}"


class OneNumber(Question):
    """A question about one aggregate of each group, which can be asked for within bounds."""

    __slots__ = ()
    within: MaybeWithin

    @property
    def strategy(self) -> tuple[Any, ...]:
        return BY_GROUP if self.within is None else ("in-bounds", self.aggregates[0], self.within)

    @property
    def clamps(self) -> tuple[str, ...]:
        return () if self.within is None else (f"true answers clamped to {span_text(self.within.inputs)}",)


class Valued(Question):
    """A question about the values of a column within bounds."""

    __slots__ = ()
    column: Text
    range: Range

    @property
    def about(self) -> str:
        return self.column

    @property
    def clamps(self) -> tuple[str, ...]:
        return (f"values clamped to {span_text(self.range.bounds)}",)


def span_text(ends: Sequence[Fraction]) -> str:
    """Two ends as people write them."""
    return f"[{', '.join(map(show, ends))}]"


def require_keys(by: Keys | None, column: str) -> None:
    """Refuse keys that are not listed, and one with the name of a column that the answer needs for itself."""
    if by is not None and by.private:
        raise InvalidQueryError("this question needs listed keys, not keys that are chosen privately.")
    if by is not None and column in by.columns:
        raise InvalidQueryError(
            f"the answer has a column {column!r} of its own; rename the key, with dataset.mutate(...).", column=column
        )

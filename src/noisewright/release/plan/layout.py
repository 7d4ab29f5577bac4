"""All outputs of a plan as one vector of integers, and every difference that one person can make to it.

Questions about the same groups that are answered in the same way share a table; in each of its groups stand the
aggregates that the questions need, each once. One person changes at most so many groups of a table, in each of them by
an element of a box, and in every table at once: the set is the product over tables. Where cells are answered together
(`AnswerStrategy.together`), they are one such group, in which a person moves so many rows, in whichever cells.

How the aggregates of a table are answered is its strategy: everything that plans ask of a mechanism goes through it,
so that a new one needs no change elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import TYPE_CHECKING, Any, TypeAlias

from noisewright.problem.errors import InvalidQueryError
from noisewright.problem.fields import Flag, Whole, flag, whole
from noisewright.problem.records import Family, Record, record
from noisewright.problem.sensitivity import Box, Disjoint, Groups, L1Ball, SensitivitySet, Sparse
from noisewright.release.ask.estimates import Estimate
from noisewright.release.ask.question import Question
from noisewright.release.stage.aggregates import Aggregate
from noisewright.release.stage.groupings import Grouping

if TYPE_CHECKING:
    from noisewright.problem.privacy import Notion
    from noisewright.problem.utilities import Utility
    from noisewright.sample.certified import Certified
    from noisewright.sample.entropy import Entropy

STRATEGIES: Family[AnswerStrategy] = Family("a strategy that answers a table")
"""Every strategy by the name that questions call it by."""
Numbers: TypeAlias = Sequence[Any]
"""Numbers of a table: integers, or one mapping or listing of groups where the release chooses them."""
_KEPT = re.compile("0|-?[1-9][0-9]{0,149}")


def kept_whole(text: object) -> int:
    """A released whole number from a ledger, where it stands as text; ValueError for what none is written as.

    Of more than 150 digits is none: no table and no noise is so large, and doubles of its multiples might not be.
    """
    if not isinstance(text, str) or not _KEPT.fullmatch(text):
        raise ValueError("this is no released number")
    return int(text)


@record("limits", error=InvalidQueryError)
class ContributionBounds(Record):
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
class Proposal:
    """A certified mechanism for a table, with its name, the reason for it and the weighted error of the whole table."""

    certified: Certified
    name: str
    why: str
    error: float


class AnswerStrategy(Record):
    """What every strategy answers for a table. One that differs from group by group says what differs."""

    __slots__ = ()

    def together(self, grouping: Grouping) -> int:
        """How many neighbouring groups of a table are one group for the limits of a person; unless said, one."""
        return 1

    def aggregates(self, questions: Sequence[Question]) -> tuple[Aggregate, ...]:
        """The numbers of each group that answer the questions, each once."""
        return tuple(dict.fromkeys(one for question in questions for one in question.aggregates))

    def indices(self, question: Question, aggregates: Sequence[Aggregate]) -> tuple[int, ...]:
        """Where a question finds its own among them."""
        return tuple(aggregates.index(one) for one in question.aggregates)

    def placed(self, questions: Sequence[Question], aggregates: Sequence[Aggregate]) -> list[tuple[int, ...]]:
        """Of each question of a table, the indices of its own among what is answered for a group."""
        return [self.indices(question, aggregates) for question in questions]

    def require_served(self, table: AnswerTable, utility: Utility) -> None:
        """Refuse what the strategy cannot answer, before anything is designed."""

    def query(self, table: AnswerTable) -> Any:
        """The question that the mechanism must be certified for: a loaded plan is compared with it."""
        raise TypeError("a strategy says which question is designed for")

    def fits(self, certified: Certified, table: AnswerTable) -> bool:
        """Whether a mechanism, which may come from a file, answers the very question of the table."""
        return bool(certified.mechanism.query == self.query(table))

    def alone(self, table: AnswerTable) -> bool:
        """Whether one draw answers the table, so that a certificate of its own is enough."""
        return self.touched(table) == 1

    def touched(self, table: AnswerTable) -> int:
        """How many independent draws of the mechanism one person can change."""
        raise TypeError("a strategy says what one person can change")

    def charge(self, certified: Certified, table: AnswerTable) -> Any:
        """What one person can lose to the whole table."""
        from noisewright.accounting.composition import compose

        return compose([certified], groups=self.touched(table))

    def proposed(self, table: AnswerTable, privacy: Notion, utility: Utility, weights: Sequence[Fraction]) -> Proposal:
        """The best mechanism for one draw; `weights` are those of the numbers of a group."""
        raise TypeError("a strategy says how it designs")

    def released(self, table: AnswerTable) -> int:
        """How many whole numbers are released; unless a strategy says otherwise, one for each true number."""
        return table.count

    def after(self, table: AnswerTable, part: Numbers, earlier: Sequence[tuple[AnswerTable, Numbers]]) -> Sequence[Any]:
        """The true numbers that it draws for, given what the tables before it released; unless said, all."""
        return part

    def drawn(self, certified: Certified, table: AnswerTable, part: Numbers, entropy: Entropy | None) -> list[Any]:
        """The released numbers around the true ones."""
        raise TypeError("a strategy says how it draws")

    def stored(self, part: Numbers) -> list[Any]:
        """Released numbers as a ledger keeps them."""
        return list(part)

    def restored(self, table: AnswerTable, part: Numbers) -> list[Any]:
        """Inverse of `stored`; ValueError or TypeError if a ledger holds something else."""
        return [kept_whole(text) for text in part]

    def groups(self, table: AnswerTable, part: Numbers) -> Iterator[tuple[tuple[Any, ...], Sequence[int]]]:
        """Of each group, in order, the values that name it and its released numbers."""
        width = len(table.aggregates)
        for row, label in enumerate(table.grouping.labels()):
            yield label, part[row * width : (row + 1) * width]

    def estimate(
        self, question: Question, row: Sequence[int], indices: Sequence[int], widths: Sequence[Fraction]
    ) -> Estimate:
        """What the released numbers of a group say about a question."""
        return question.estimate([row[i] for i in indices], widths)

    def widths(self, certified: Certified, table: AnswerTable, confidence: Fraction) -> list[Fraction]:
        """How far each number of a group is from the truth with a confidence."""
        raise TypeError("a strategy says how far it is off")

    def errors(self, certified: Certified, table: AnswerTable, utility: Utility) -> list[float]:
        """The expected error of each number of a group by itself."""
        raise TypeError("a strategy says what error to expect")

    def plain(self, table: AnswerTable) -> list[float]:
        """The deviation of each answered number where every true one has noise as large as a person moves it."""
        return [float(one) for one in table.sensitivities]


@dataclass(frozen=True, slots=True)
class AnswerTable:
    """The numbers of each group of one grouping, and where each question finds its own."""

    grouping: Grouping
    aggregates: tuple[Aggregate, ...]
    questions: tuple[tuple[Question, tuple[int, ...]], ...]
    rows: int
    groups: int
    strategy: AnswerStrategy

    @property
    def sensitivities(self) -> tuple[int, ...]:
        """How far one person can move each number of a group."""
        return tuple(aggregate.sensitivity(self.rows) for aggregate in self.aggregates)

    @property
    def count(self) -> int:
        """How many numbers the table has; the groups of keys that nobody listed are one mapping."""
        return 1 if self.grouping.private else self.grouping.count * len(self.aggregates)

    @property
    def together(self) -> int:
        """How many neighbouring groups are one for the limits of a person."""
        return self.strategy.together(self.grouping)

    @property
    def released(self) -> int:
        """How many whole numbers are released of it."""
        return self.strategy.released(self)

    @property
    def sensitivity(self) -> SensitivitySet:
        """Every difference that one person can make to the table, as the smallest set that has a name."""
        box, count = Box(self.sensitivities), self.grouping.count
        if self.together > 1:
            ball = L1Ball(self.rows, self.together)
            return ball if self.together == count else Groups([ball] * (count // self.together), self.groups)
        if count == 1:
            return box
        if len(self.aggregates) == 1:
            each = self.sensitivities * count
            return Disjoint(each) if self.groups == 1 else Sparse(self.groups, each)
        return Groups([box] * count, self.groups)

    def released_groups(self, part: Numbers) -> Iterator[tuple[tuple[Any, ...], Sequence[int]]]:
        """Of each group, in order, the values that name it and its released numbers."""
        return self.strategy.groups(self, part)

    def estimate(
        self, question: Question, row: Sequence[int], indices: Sequence[int], widths: Sequence[Fraction]
    ) -> Estimate:
        """What the released numbers of a group say about a question."""
        return self.strategy.estimate(question, row, indices, widths)

    def holds(self, difference: Numbers) -> bool:
        """Whether a difference of the table's numbers is one that a person can make."""
        width = len(self.aggregates) * self.together
        if self.grouping.private:
            difference = [value for numbers in difference[0].values() for value in numbers]
        groups = [difference[start : start + width] for start in range(0, len(difference), width)]
        changed = [group for group in groups if any(group)]
        if self.together > 1:
            return all(sum(map(abs, group)) <= self.rows for group in changed) and len(changed) <= self.groups
        inside = all(abs(d) <= most for group in changed for d, most in zip(group, self.sensitivities, strict=True))
        return inside and len(changed) <= self.groups


@dataclass(frozen=True, slots=True)
class Layout:
    """The tables of a plan, in the order in which their groupings were first asked for."""

    tables: tuple[AnswerTable, ...]

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

    def split(self, vector: Numbers) -> list[Sequence[Any]]:
        """The true numbers of each table."""
        return _split(vector, [table.count for table in self.tables])

    def split_released(self, numbers: Numbers) -> list[Sequence[Any]]:
        """The released numbers of each table."""
        return _split(numbers, [table.released for table in self.tables])

    def holds(self, difference: Numbers) -> bool:
        """Whether a difference of all numbers is one that a person can make."""
        parts = zip(self.tables, self.split(difference), strict=True)
        return len(difference) == self.dimension and all(table.holds(part) for table, part in parts)


def _split(numbers: Numbers, counts: Sequence[int]) -> list[Sequence[Any]]:
    ends = list(accumulate(counts))
    return [numbers[end - count : end] for end, count in zip(ends, counts, strict=True)]

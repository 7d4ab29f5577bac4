"""How the numbers of a table are answered: which question is designed for, what it costs a person, how it is drawn.

A question says its way (`Question.way`), and questions about the same groups in the same way share a table. Everything
that plans ask of a mechanism goes through the way of its table, so that a new one needs no change elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from noisewright.accounting.composition import compose
from noisewright.numerics.balls import precision
from noisewright.numerics.fields import BALLS
from noisewright.problem.queries import Scalar, Vector
from noisewright.problem.records import Family, Record, record
from noisewright.problem.sensitivity import Box
from noisewright.release.ask.estimates import Estimate
from noisewright.release.stage.aggregates import Number
from noisewright.sample.certified import Certified
from noisewright.sample.entropy import Entropy
from noisewright.search.design import design

if TYPE_CHECKING:
    from noisewright.release.ask.question import Question
    from noisewright.release.plan.layout import Table
    from noisewright.release.stage.groupings import Grouping

WAYS: Family[Any] = Family("a way of answering a table")
"""Every way by the name it has in files."""
_LARGEST_WORD = 2**63
_KEPT = re.compile("0|-?[1-9][0-9]{0,149}")


def kept_whole(text: Any) -> int:
    """A released whole number from a ledger, where it stands as text; ValueError for what none is written as.

    Of more than 150 digits is none: no table and no noise is so large, and doubles of its multiples might not be.
    """
    if not isinstance(text, str) or not _KEPT.fullmatch(text):
        raise ValueError("this is no released number")
    return int(text)


@dataclass(frozen=True, slots=True)
class Proposal:
    """A certified mechanism for a table, with its name, the reason for it and the weighted error of the whole table."""

    certified: Certified
    name: str
    why: str
    error: float


class Way(Record):
    """What every way answers for a table. A way that differs from group by group says what differs."""

    __slots__ = ()

    def together(self, grouping: Grouping) -> int:
        """How many neighbouring groups of a table are one group for the limits of a person; unless said, one."""
        return 1

    def numbers(self, questions: Sequence[Question]) -> tuple[Number, ...]:
        """The numbers of each group that answer the questions, each once."""
        return tuple(dict.fromkeys(number for question in questions for number in question.numbers))

    def places(self, question: Question, numbers: Sequence[Number]) -> tuple[int, ...]:
        """Where a question finds its own among them."""
        return tuple(numbers.index(number) for number in question.numbers)

    def placed(self, questions: Sequence[Question], numbers: Sequence[Number]) -> list[tuple[int, ...]]:
        """Of each question of a table, the places of its own among what is answered for a group."""
        return [self.places(question, numbers) for question in questions]

    def require_served(self, table: Table, utility: Any) -> None:
        """Refuse what the way cannot answer, before anything is designed."""

    def query(self, table: Table) -> Any:
        """The question that the mechanism must be certified for: a loaded plan is compared with it."""
        raise TypeError("a way says which question is designed for")

    def fits(self, certified: Certified, table: Table) -> bool:
        """Whether a mechanism, which may come from a file, answers the very question of the table."""
        return bool(certified.mechanism.query == self.query(table))

    def alone(self, table: Table) -> bool:
        """Whether one draw answers the table, so that a certificate of its own is enough."""
        return self.touched(table) == 1

    def touched(self, table: Table) -> int:
        """How many independent draws of the mechanism one person can change."""
        raise TypeError("a way says what one person can change")

    def charge(self, certified: Certified, table: Table) -> Any:
        """What one person can lose to the whole table."""
        return compose([certified], groups=self.touched(table))

    def proposed(self, table: Table, privacy: Any, utility: Any, weights: Sequence[Fraction]) -> Proposal:
        """The best mechanism for one draw; `weights` are those of the numbers of a group."""
        raise TypeError("a way says how it designs")

    def released(self, table: Table) -> int:
        """How many whole numbers are released; unless a way says otherwise, one for each true number."""
        return table.count

    def after(self, table: Table, part: Sequence[Any], earlier: Sequence[tuple[Table, Sequence[Any]]]) -> Sequence[Any]:
        """The true numbers that it draws for, given what the tables before it released; all unless a way says less."""
        return part

    def drawn(self, certified: Certified, table: Table, part: Sequence[Any], entropy: Entropy | None) -> list[Any]:
        """The released numbers around the true ones."""
        raise TypeError("a way says how it draws")

    def stored(self, part: Sequence[Any]) -> list[Any]:
        """Released numbers as a ledger keeps them."""
        return list(part)

    def restored(self, table: Table, part: Sequence[Any]) -> list[Any]:
        """Inverse of `stored`; ValueError or TypeError if a ledger holds something else."""
        return [kept_whole(text) for text in part]

    def groups(self, table: Table, part: Sequence[Any]) -> Iterator[tuple[tuple[Any, ...], Sequence[int]]]:
        """Of each group, in order, the values that name it and its released numbers."""
        width = len(table.numbers)
        for row, label in enumerate(table.grouping.labels()):
            yield label, part[row * width : (row + 1) * width]

    def estimate(
        self, question: Question, row: Sequence[int], places: Sequence[int], widths: Sequence[Fraction]
    ) -> Estimate:
        """What the released numbers of a group say about a question."""
        return question.estimate([row[i] for i in places], widths)

    def widths(self, certified: Certified, table: Table, confidence: Fraction) -> list[Fraction]:
        """How far each number of a group is from the truth with a confidence."""
        raise TypeError("a way says how far it is off")

    def errors(self, certified: Certified, table: Table, utility: Any) -> list[float]:
        """The expected error of each number of a group by itself."""
        raise TypeError("a way says what error to expect")

    def plain(self, table: Table) -> list[float]:
        """The deviation of each answered number where every true one has noise as large as a person moves it."""
        return [float(extent) for extent in table.extents]


@record("by-group", WAYS)
class ByGroup(Way):
    """The numbers of one group are one question, a box, and every group gets a draw of its own.

    Rule: the groups of a table are disjoint in what they read of a person's limited rows, and a person is in at most
    `table.groups` of them; every group has the same mechanism, whose profile is therefore the largest.
    [theory#composition-and-filters]
    """

    def alone(self, table: Table) -> bool:
        # Of several groups, each with a draw of its own, a joint design is tried besides.
        return table.grouping.count == 1

    def query(self, table: Table) -> Any:
        extents = table.extents
        return Scalar(extents[0], integer=True) if len(extents) == 1 else Vector(Box(extents), integer=True)

    def touched(self, table: Table) -> int:
        return table.groups

    def proposed(self, table: Table, privacy: Any, utility: Any, weights: Sequence[Fraction]) -> Proposal:
        one = len(table.numbers) == 1
        wanted = type(utility)() if one else type(utility)(weights)
        report = design(self.query(table), privacy=privacy, utility=wanted, progress=False)
        best = report.candidates[0]
        error = best.value * float(weights[0] if one else 1) * table.grouping.count
        return Proposal(report.best, best.name, report.why, error)

    def drawn(self, certified: Certified, table: Table, part: Sequence[Any], entropy: Entropy | None) -> list[Any]:
        width = len(table.numbers)
        if width == 1:
            answers: Any = certified.release_many(list(part), entropy=entropy)
            return [int(value) for value in answers]
        rows: Any = [list(part[start : start + width]) for start in range(0, len(part), width)]
        if max(map(abs, part), default=0) < _LARGEST_WORD:
            rows = np.array(rows, np.int64)  # the rows of an array are not looked at one by one
        released = certified.release_many(rows, entropy=entropy)
        return [int(value) for row in released for value in row]

    def widths(self, certified: Certified, table: Table, confidence: Fraction) -> list[Fraction]:
        own = certified.half_width(confidence)
        return [Fraction(value) for value in (own if isinstance(own, tuple) else (own,))]

    def errors(self, certified: Certified, table: Table, utility: Any) -> list[float]:
        return errors_of(certified.mechanism, utility)


BY_GROUP = ByGroup()


def errors_of(mechanism: Any, utility: Any) -> list[float]:
    """The expected error of each number that a mechanism answers, by itself."""
    plain = type(utility)()
    if not hasattr(mechanism.query, "dimension"):
        with precision():
            return [mechanism.shown(plain, mechanism.expected(plain))]
    with precision():
        values = [float(value.mid()) for value in plain.each(mechanism.errors, BALLS)]
    return values * (int(mechanism.errors.count) // len(values))

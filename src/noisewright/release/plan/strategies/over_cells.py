"""Linear questions about the cells of a group, answered together by a strategy: whole rows measured in their place.

The cells of a group (bins of a column, or listed keys) are one group for the limits of a person, who has so many rows
in it, in whichever cells. One draw of a strategy answers a group, and every group gets a draw of its own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import accumulate, pairwise, product
from typing import TYPE_CHECKING, Any

from noisewright.mechanisms.half_widths import half_width
from noisewright.numerics.fields import FLOATS
from noisewright.problem.errors import InvalidQueryError, InvalidUtilityError
from noisewright.problem.fields import Whole, whole
from noisewright.problem.records import record
from noisewright.problem.utilities import SquaredError
from noisewright.problem.workload import Factor, Regular, Workload
from noisewright.release.ask.linear import FINE, MOST_CELLS, Linear, readings
from noisewright.release.ask.quantiles import MOST_BINS
from noisewright.release.ask.question import Question
from noisewright.release.plan.layout import STRATEGIES, AnswerStrategy, AnswerTable, Proposal
from noisewright.release.stage.aggregates import Aggregate
from noisewright.release.stage.groupings import Grouping
from noisewright.sample.certified import Certified
from noisewright.sample.entropy import Entropy
from noisewright.search.design import design

if TYPE_CHECKING:
    from noisewright.problem.privacy import Notion
    from noisewright.problem.utilities import Utility


class OverCells(AnswerStrategy):
    """What the strategies of linear questions share.

    Rule: a person has at most `table.rows` rows in a group, each in one cell, hence moves its cells by a sum of so many
    unit changes (`Workload.rows_per_person`), and is in at most `table.groups` groups, each with a draw of its own.
    [theory#tables-and-contribution-bounds]
    """

    __slots__ = ()
    size: Whole

    def together(self, grouping: Grouping) -> int:
        return self.size

    def placed(self, questions: Sequence[Question], aggregates: Sequence[Aggregate]) -> list[tuple[int, ...]]:
        ends = [0, *accumulate(question.reading.dimension for question in linear(questions))]
        return [tuple(range(start, end)) for start, end in pairwise(ends)]

    def require_served(self, table: AnswerTable, utility: Utility) -> None:
        if not isinstance(utility, SquaredError):
            names = ", ".join(question.label for question, _ in table.questions)
            raise InvalidUtilityError(
                f"{names}: the cells of a group are answered together, which is designed for nw.SquaredError() alone.",
                utility=utility,
            )

    def asked(self, table: AnswerTable) -> Workload:
        """What the strategy is designed for."""
        own = linear([question for question, _ in table.questions])
        return own[0].measured(own)

    def reading(self, table: AnswerTable) -> Workload:
        """The linear questions of all questions, one after the other."""
        return readings(linear([question for question, _ in table.questions]))

    def query(self, table: AnswerTable) -> Any:
        return self.asked(table).with_rows(table.rows)

    def touched(self, table: AnswerTable) -> int:
        return table.groups

    def proposed(self, table: AnswerTable, privacy: Notion, utility: Utility, weights: Sequence[Fraction]) -> Proposal:
        query = self.query(table)
        report = design(query, privacy=privacy, utility=SquaredError(), progress=False)
        best = report.candidates[0]
        each = best.value / math.fsum(float(part.weight) * part.questions for part in query.parts)
        given = sum(one.given for one in linear([question for question, _ in table.questions]))
        error = each * given * float(weights[0]) * (table.grouping.count // self.size)
        return Proposal(report.best, best.name, report.why, error)

    def drawn(
        self, certified: Certified, table: AnswerTable, part: Sequence[int], entropy: Entropy | None
    ) -> list[int]:
        groups = [list(part[start : start + self.size]) for start in range(0, len(part), self.size)]
        answers = (self.rebuilt(certified.release(cells, entropy=entropy)) for cells in groups)
        return [math.floor(Fraction(float(value)) * FINE + Fraction(1, 2)) for own in answers for value in own]

    def rebuilt(self, released: Any) -> Any:
        """What is kept of a release: post-processing of the noisy rows."""
        return released.answers

    def widths(self, certified: Certified, table: AnswerTable, confidence: Fraction) -> list[Fraction]:
        widths = half_width(self._read(certified, table), confidence, joint=False)
        return [Fraction(value) + Fraction(self.summed, FINE) for value in widths]

    @property
    def summed(self) -> int:
        """How many released numbers an answer is the sum of, at most: each is rounded by half of a multiple."""
        return 1

    def errors(self, certified: Certified, table: AnswerTable, utility: Utility) -> list[float]:
        return [float(value) for value in self._read(certified, table).power_means(Fraction(2), FLOATS)]

    def _read(self, certified: Certified, table: AnswerTable) -> Any:
        """The same noise on the same rows, as a mechanism that answers what the questions are computed from."""
        mechanism: Any = certified.mechanism
        reading = self.reading(table).with_rows(table.rows)
        return mechanism if mechanism.query == reading else replace(mechanism, query=reading)

    def plain(self, table: AnswerTable) -> list[float]:
        squares = [one for part in self.reading(table).parts for one in _squares(part.factors)]
        return [float(table.sensitivities[0]) * math.sqrt(one) for one in squares]


@record("over-cells", STRATEGIES, error=InvalidQueryError)
class Answered(OverCells):
    """The answers of all linear questions about the `size` cells of a group are released."""

    size: Whole = whole(at_least=1, at_most=MOST_CELLS, shown="cells", hint=" in a group, to be answered together")

    def released(self, table: AnswerTable) -> int:
        return (table.grouping.count // self.size) * self.reading(table).dimension


@record("over-bins", STRATEGIES, error=InvalidQueryError)
class OverBins(OverCells):
    """The counts of the `size` bins of a group are released, from a strategy for the counts of all first bins."""

    size: Whole = whole(at_least=1, at_most=MOST_BINS, shown="bins", hint="; give a coarser step or fewer edges")

    def rebuilt(self, released: Any) -> Any:
        return released.estimate

    @property
    def summed(self) -> int:
        return self.size


def linear(questions: Sequence[Question]) -> list[Linear]:
    """Questions about cells as what they are; others are not answered so."""
    found = [question for question in questions if isinstance(question, Linear)]
    if len(found) < len(questions):
        raise TypeError("only linear questions are answered by a strategy over cells")
    return found


def _squares(factors: Sequence[Factor]) -> list[float]:
    """The sum of squared weights of each question that is a product of questions about axes."""
    return [math.prod(row) for row in product(*map(_own_squares, factors))]


def _own_squares(factor: Factor) -> list[float]:
    if not isinstance(factor, Regular):
        rows = zip(factor.numerators, factor.denominators, strict=True)
        return [math.fsum((v / d) ** 2 for v in row) for row, d in rows]
    n = factor.size
    lengths = {
        "identity": range(1, 2),
        "total": range(n, n + 1),
        "prefixes": range(1, n + 1),
        "ranges": [length for first in range(n) for length in range(1, n - first + 1)],
    }[factor.form]
    return [float(length) for length in lengths] * (n if factor.form == "identity" else 1)

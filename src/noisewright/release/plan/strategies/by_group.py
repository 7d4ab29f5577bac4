"""Group by group: the aggregates of one group are one question, and every group has a draw of its own."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from noisewright.problem.queries import Scalar, Vector
from noisewright.problem.records import record
from noisewright.problem.sensitivity import Box
from noisewright.release.plan.layout import STRATEGIES, AnswerStrategy, AnswerTable, Numbers, Proposal
from noisewright.release.plan.noise import errors_of
from noisewright.sample.entropy import Entropy
from noisewright.search.design import design

if TYPE_CHECKING:
    from noisewright.problem.privacy import Notion
    from noisewright.problem.utilities import Utility
    from noisewright.sample.certified import Certified
    from noisewright.sample.entropy import Entropy

_LARGEST_WORD = 2**63


@record("by-group", STRATEGIES)
class ByGroup(AnswerStrategy):
    """The numbers of one group are one question, a box, and every group gets a draw of its own.

    Rule: the groups of a table are disjoint in what they read of a person's limited rows, and a person is in at most
    `table.groups` of them; every group has the same mechanism, whose profile is therefore the largest.
    [theory#composition-and-filters]
    """

    def alone(self, table: AnswerTable) -> bool:
        # Of several groups, each with a draw of its own, a joint design is tried besides.
        return table.grouping.count == 1

    def query(self, table: AnswerTable) -> Any:
        sensitivities = table.sensitivities
        return (
            Scalar(sensitivities[0], integer=True)
            if len(sensitivities) == 1
            else Vector(Box(sensitivities), integer=True)
        )

    def touched(self, table: AnswerTable) -> int:
        return table.groups

    def proposed(self, table: AnswerTable, privacy: Notion, utility: Utility, weights: Sequence[Fraction]) -> Proposal:
        one = len(table.aggregates) == 1
        wanted = type(utility)() if one else type(utility)(weights)
        report = design(self.query(table), privacy=privacy, utility=wanted, progress=False)
        best = report.candidates[0]
        error = best.value * float(weights[0] if one else 1) * table.grouping.count
        return Proposal(report.best, best.name, report.why, error)

    def drawn(self, certified: Certified, table: AnswerTable, part: Numbers, entropy: Entropy | None) -> list[Any]:
        width = len(table.aggregates)
        if width == 1:
            answers: Any = certified.release_many(list(part), entropy=entropy)
            return [int(value) for value in answers]
        rows: Any = [list(part[start : start + width]) for start in range(0, len(part), width)]
        if max(map(abs, part), default=0) < _LARGEST_WORD:
            rows = np.array(rows, np.int64)  # the rows of an array are not looked at one by one
        released = certified.release_many(rows, entropy=entropy)
        return [int(value) for row in released for value in row]

    def widths(self, certified: Certified, table: AnswerTable, confidence: Fraction) -> list[Fraction]:
        own = certified.half_width(confidence)
        return [Fraction(value) for value in (own if isinstance(own, tuple) else (own,))]

    def errors(self, certified: Certified, table: AnswerTable, utility: Utility) -> list[float]:
        return errors_of(certified.mechanism, utility)


BY_GROUP = ByGroup()

"""Weighted counts of persons under metric privacy, all of a table at once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from noisewright.problem.errors import InvalidPrivacyError, InvalidQueryError
from noisewright.problem.linear import Linear
from noisewright.problem.privacy import MetricPrivacy
from noisewright.problem.records import record
from noisewright.problem.utilities import SquaredError
from noisewright.release.ask.weighted import PARTS, PersonsOf
from noisewright.release.plan.layout import STRATEGIES, AnswerStrategy, AnswerTable, Layout, Proposal
from noisewright.release.plan.noise import errors_of
from noisewright.sample.certified import Certified
from noisewright.sample.entropy import Entropy
from noisewright.search.design import design

if TYPE_CHECKING:
    from noisewright.problem.privacy import Notion
    from noisewright.problem.utilities import Utility


@record("by-weights", STRATEGIES)
class ByWeights(AnswerStrategy):
    """All weighted counts of a table at once, by the mechanism that is best for their matrix and the metric.

    Guarantees: the mechanism is certified for every pair of elements of the universe, absent included.
    """

    def query(self, table: AnswerTable) -> Linear:
        """Rule: a person is in at most one group, once, so that the table is a histogram of the universe.
        [theory#tables-and-contribution-bounds]
        """
        if table.groups != 1:
            raise InvalidQueryError(
                "metric privacy protects which one value a person has, and here a person can be in"
                f" {table.groups} groups; make the dataset with groups_per_person=1."
            )
        weights = [one.weights for one in table.aggregates if isinstance(one, PersonsOf)]
        return Linear(weights).with_absent()

    def touched(self, table: AnswerTable) -> int:
        return 1

    def charge(self, certified: Certified, table: AnswerTable) -> Any:
        return certified

    def proposed(self, table: AnswerTable, privacy: Notion, utility: Utility, weights: Sequence[Fraction]) -> Proposal:
        asked, size = self.query(table), table.grouping.count + 1
        _require_universe(privacy, size)
        power = 2 if isinstance(utility, SquaredError) else 1
        # Errors count against the largest weight, or sums of large weights would drown the others.
        own = [w / max(map(abs, row)) ** power for w, row in zip(weights, asked.rationals(), strict=True)]
        report = design(asked, privacy=privacy, utility=type(utility)(own), progress=False)
        best = report.candidates[0]
        return Proposal(report.best, best.name, report.why, best.value)

    def released(self, table: AnswerTable) -> int:
        return len(table.aggregates)

    def drawn(
        self, certified: Certified, table: AnswerTable, part: Sequence[int], entropy: Entropy | None
    ) -> list[int]:
        # Every weighted count has the same persons in its groups; nobody has to be counted as absent.
        counts = list(part[:: len(table.aggregates)])
        found: Any = certified.release([*counts, 0], entropy=entropy)
        return [math.floor(Fraction(float(value)) * PARTS + Fraction(1, 2)) for value in found]

    def widths(self, certified: Certified, table: AnswerTable, confidence: Fraction) -> list[Fraction]:
        return [Fraction(math.ceil(Fraction(width) * PARTS) + 1) for width in certified.half_width(confidence)]

    def errors(self, certified: Certified, table: AnswerTable, utility: Utility) -> list[float]:
        scale = float(PARTS) ** (2 if isinstance(utility, SquaredError) else 1)
        return [error * scale for error in errors_of(certified.mechanism, utility)]


BY_WEIGHTS = ByWeights()


def _require_universe(privacy: Notion, size: int) -> None:
    if not isinstance(privacy, MetricPrivacy):
        raise InvalidPrivacyError(
            "nw.ask.weighted is answered under metric privacy; give privacy=nw.MetricPrivacy(metric), or count with"
            " nw.ask.persons(by=...).",
            privacy=privacy,
        )
    if privacy.metric.size != size:
        raise InvalidPrivacyError(
            f"the metric is about {privacy.metric.size} elements, and there are {size - 1} listed keys and, last,"
            f" absent: {size}. Give nw.metrics.WithAbsent(metric of the keys, budget), where the budget says how well"
            " it is hidden that a person is there at all.",
            privacy=privacy,
        )


def require_metric(layout: Layout, privacy: Notion) -> None:
    """Refuse a mixture of weighted counts under metric privacy with anything else."""
    weighted = [table.strategy == BY_WEIGHTS for table in layout.tables]
    if not all(weighted) or len(weighted) > 1:
        raise InvalidQueryError(
            "metric privacy answers questions nw.ask.weighted(weights, by=keys, name=...) about one set of keys in a"
            " plan; ask others in a plan of their own, under another requirement and ledger."
        )
    _require_universe(privacy, layout.tables[0].grouping.count + 1)

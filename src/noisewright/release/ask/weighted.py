"""Weighted counts of persons under metric privacy: the nearer two values are, the better it is hidden who has which.

Each person counts in one of the listed groups or in none. The universe is the listed keys and, last, "absent": not
being there, or having a value that is not listed. Neighbours: one person's element changes from i to j, from or to
absent too, and no outcome becomes more than e^d(i, j) times likelier. A metric without that element is refused, since
it would say nothing of persons who come or go.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from noisewright.problem import numbers as exact
from noisewright.problem.errors import InvalidPrivacyError, InvalidQueryError
from noisewright.problem.fields import Rationals, Spec, Text, only, rationals, text
from noisewright.problem.linear import Linear
from noisewright.problem.privacy import MetricPrivacy
from noisewright.problem.records import record
from noisewright.problem.utilities import SquaredError
from noisewright.release.ask import estimates
from noisewright.release.ask.estimates import Estimate
from noisewright.release.ask.question import QUESTIONS, Question
from noisewright.release.plan.strategies.by_group import WAYS, Proposal, Way, errors_of
from noisewright.release.stage.aggregates import NUMBERS, Number, Persons
from noisewright.release.stage.groupings import Grouping
from noisewright.release.table.keys import Keys
from noisewright.sample.certified import Certified
from noisewright.sample.entropy import Entropy
from noisewright.search.design import design

if TYPE_CHECKING:
    from noisewright.release.plan.layout import Layout, Table

_PARTS = 10**6
"""Answers are kept in whole millionths: a rounding of what was released, which costs no privacy."""


@record("persons-of", NUMBERS)
class PersonsOf(Persons):
    """How many persons are in the group; the groups are added up with these weights."""

    weights: Rationals = rationals(least=1)
    word = "weighted persons"

    @property
    def unit(self) -> Fraction:
        return Fraction(1, _PARTS)


@record("weighted", QUESTIONS, error=InvalidQueryError)
class Weighted(Question):
    """The sum over persons of the weight of the group that each is in."""

    weights: Rationals = rationals(least=1)
    by: Spec[Any, Keys] = only(Keys)  # other questions may have none
    name: Text = text()
    word = "weighted persons"

    def __post_init__(self) -> None:
        if len(self.weights) != len(self.by.rows) or not any(self.weights):
            raise InvalidQueryError(
                f"{len(self.weights)} weights are given for {len(self.by.rows)} groups; give one for each, not all 0."
            )

    @property
    def grouping(self) -> Grouping:
        return Grouping(self.by)

    @property
    def numbers(self) -> tuple[Number, ...]:
        return (PersonsOf(self.weights),)

    @property
    def way(self) -> Way:
        return BY_WEIGHTS

    def answers(
        self, table: Table, part: Sequence[int], places: Sequence[int], widths: Sequence[Fraction]
    ) -> Iterator[tuple[dict[str, Any], Estimate]]:
        yield {}, estimates.plain(part[places[0]], widths[0], Fraction(1, _PARTS))


def weighted(weights: Sequence[exact.Number] | Mapping[Any, exact.Number], *, by: Keys, name: str) -> Weighted:
    """The sum over persons of the weight of their group, such as the height of their town; for `MetricPrivacy`.

    `weights` has one number for each key of `by`, in their order, or maps keys to numbers (rows of several columns as
    tuples). A weight of 1 for some keys and 0 for others counts the persons in them. Several such questions about the
    same keys are answered together.
    """
    if not isinstance(by, Keys):
        raise InvalidQueryError('by is needed: the keys that the weights belong to, such as nw.keys("town", [...]).')
    if not isinstance(weights, Mapping):
        return Weighted(weights, by, name)
    rows = [row if len(row) > 1 else row[0] for row in by.rows]
    if set(weights) != set(rows):
        odd = next(iter(set(weights) ^ set(rows)))
        raise InvalidQueryError(
            f"{odd!r} is a key of the weights or of by=, but not of both; give each key its weight."
        )
    return Weighted([weights[row] for row in rows], by, name)


@record("by-weights", WAYS)
class ByWeights(Way):
    """All weighted counts of a table at once, by the mechanism that is best for their matrix and the metric.

    Guarantees: the mechanism is certified for every pair of elements of the universe, absent included.
    """

    def query(self, table: Table) -> Linear:
        """Rule: a person is in at most one group, once, so that the table is a histogram of the universe.
        [theory#tables-and-contribution-bounds]
        """
        if table.groups != 1:
            raise InvalidQueryError(
                "metric privacy protects which one value a person has, and here a person can be in"
                f" {table.groups} groups; make the dataset with groups_per_person=1."
            )
        weights = [number.weights for number in table.numbers if isinstance(number, PersonsOf)]
        return Linear(weights).with_absent()

    def touched(self, table: Table) -> int:
        return 1

    def charge(self, certified: Certified, table: Table) -> Any:
        return certified

    def proposed(self, table: Table, privacy: Any, utility: Any, weights: Sequence[Fraction]) -> Proposal:
        asked, size = self.query(table), table.grouping.count + 1
        _require_universe(privacy, size)
        power = 2 if isinstance(utility, SquaredError) else 1
        # Errors count against the largest weight, or sums of large weights would drown the others.
        own = [w / max(map(abs, row)) ** power for w, row in zip(weights, asked.rationals(), strict=True)]
        report = design(asked, privacy=privacy, utility=type(utility)(own), progress=False)
        best = report.candidates[0]
        return Proposal(report.best, best.name, report.why, best.value)

    def released(self, table: Table) -> int:
        return len(table.numbers)

    def drawn(self, certified: Certified, table: Table, part: Sequence[int], entropy: Entropy | None) -> list[int]:
        # Every weighted count has the same persons in its groups; nobody has to be counted as absent.
        counts = list(part[:: len(table.numbers)])
        found: Any = certified.release([*counts, 0], entropy=entropy)
        return [math.floor(Fraction(float(value)) * _PARTS + Fraction(1, 2)) for value in found]

    def widths(self, certified: Certified, table: Table, confidence: Fraction) -> list[Fraction]:
        return [Fraction(math.ceil(Fraction(width) * _PARTS) + 1) for width in certified.half_width(confidence)]

    def errors(self, certified: Certified, table: Table, utility: Any) -> list[float]:
        scale = float(_PARTS) ** (2 if isinstance(utility, SquaredError) else 1)
        return [error * scale for error in errors_of(certified.mechanism, utility)]


BY_WEIGHTS = ByWeights()


def _require_universe(privacy: Any, size: int) -> None:
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


def fits_a_metric(layout: Layout, privacy: Any) -> bool:
    """Whether a layout is one of weighted counts under metric privacy; refuses a mixture with anything else."""
    weighed = [table.way == BY_WEIGHTS for table in layout.tables]
    if not any(weighed) and not isinstance(privacy, MetricPrivacy):
        return False
    if not all(weighed) or len(weighed) > 1:
        raise InvalidQueryError(
            "metric privacy answers questions nw.ask.weighted(weights, by=keys, name=...) about one set of keys in a"
            " plan; ask others in a plan of their own, under another requirement and ledger."
        )
    _require_universe(privacy, layout.tables[0].grouping.count + 1)
    return True

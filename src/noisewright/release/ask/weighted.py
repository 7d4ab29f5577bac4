"""Weighted counts of persons under metric privacy: the nearer two values are, the better it is hidden who has which.

Each person counts in one of the listed groups or in none. The universe is the listed keys and, last, "absent": not
being there, or having a value that is not listed. Neighbours: one person's element changes from i to j, from or to
absent too, and no outcome becomes more than e^d(i, j) times likelier. A metric without that element is refused, since
it would say nothing of persons who come or go.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from noisewright.problem import numbers as exact
from noisewright.problem.errors import InvalidQueryError
from noisewright.problem.fields import Rationals, Spec, Text, only, rationals, text
from noisewright.problem.records import record
from noisewright.release.ask import estimates
from noisewright.release.ask.estimates import Estimate
from noisewright.release.ask.question import QUESTIONS, Answers, Question
from noisewright.release.stage.aggregates import AGGREGATES, Aggregate, Persons
from noisewright.release.stage.groupings import Grouping
from noisewright.release.table.keys import Keys, Row, Value

PARTS = 10**6
"""Answers are kept in whole millionths: a rounding of what was released, which costs no privacy."""


@record("persons-of", AGGREGATES)
class PersonsOf(Persons):
    """How many persons are in the group; the groups are added up with these weights."""

    weights: Rationals = rationals(least=1)
    word = "weighted persons"

    @property
    def unit(self) -> Fraction:
        return Fraction(1, PARTS)


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
    def aggregates(self) -> tuple[Aggregate, ...]:
        return (PersonsOf(self.weights),)

    @property
    def strategy(self) -> tuple[Any, ...]:
        return ("by-weights",)

    def answers(
        self, table: Answers, part: Sequence[int], indices: Sequence[int], widths: Sequence[Fraction]
    ) -> Iterator[tuple[Mapping[str, Any], Estimate]]:
        yield {}, estimates.plain(part[indices[0]], widths[0], Fraction(1, PARTS))


def weighted(weights: Sequence[exact.Number] | Mapping[Value | Row, exact.Number], *, by: Keys, name: str) -> Weighted:
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

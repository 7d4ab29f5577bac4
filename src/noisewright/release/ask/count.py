"""How many rows there are."""

from __future__ import annotations

from noisewright.problem.errors import InvalidQueryError
from noisewright.problem.records import record
from noisewright.release.ask.question import QUESTIONS, By, Ends, Name, OneNumber, by_field, name_field
from noisewright.release.ask.within import MaybeWithin, maybe_within, within
from noisewright.release.stage.aggregates import Aggregate, Rows
from noisewright.release.table.keys import Keys

_ROWS: tuple[Aggregate, ...] = (Rows(),)


@record("count", QUESTIONS, error=InvalidQueryError)
class Count(OneNumber):
    """How many rows there are."""

    by: By = by_field()
    name: Name = name_field()
    within: MaybeWithin = maybe_within()
    word = "count"
    plain = True

    @property
    def aggregates(self) -> tuple[Aggregate, ...]:
        return _ROWS


def count(*, by: Keys | None = None, name: str | None = None, outputs: Ends = None, inputs: Ends = None) -> Count:
    """How many rows there are, in each group of `by`.

    With `outputs=(lowest, highest)` every answer stays within them and is right on average; `inputs` says then where
    the true answers lie, from public knowledge. They are clamped to it.

    >>> print(nw.count(by=nw.keys("ward", ["A", "B"])))
    count, ward (2 groups)
    """
    return Count(by, name, within(outputs, inputs))

"""How many different persons there are."""

from __future__ import annotations

from noisewright.problem.errors import InvalidQueryError
from noisewright.problem.records import record
from noisewright.release.ask.question import QUESTIONS, By, Ends, Name, OneNumber, by_field, name_field
from noisewright.release.ask.within import MaybeWithin, maybe_within, within
from noisewright.release.stage.aggregates import Aggregate, Persons
from noisewright.release.table.keys import Keys

_PERSONS: tuple[Aggregate, ...] = (Persons(),)


@record("persons", QUESTIONS, error=InvalidQueryError)
class PersonCount(OneNumber):
    """How many different persons there are."""

    by: By = by_field()
    name: Name = name_field()
    within: MaybeWithin = maybe_within()
    word = "persons"
    plain = True

    @property
    def aggregates(self) -> tuple[Aggregate, ...]:
        return _PERSONS


def persons(
    *, by: Keys | None = None, name: str | None = None, outputs: Ends = None, inputs: Ends = None
) -> PersonCount:
    """How many different persons there are, in each group of `by`; `outputs` and `inputs` are those of `count`."""
    return PersonCount(by, name, within(outputs, inputs))

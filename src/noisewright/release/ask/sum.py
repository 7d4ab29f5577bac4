"""The sum of a column within bounds."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from noisewright.problem import numbers as exact
from noisewright.problem.errors import InvalidQueryError
from noisewright.problem.fields import Flag, Spec, Text, flag, only, optional, pair, text
from noisewright.problem.records import record
from noisewright.release.ask.question import (
    QUESTIONS,
    By,
    Ends,
    Name,
    OneNumber,
    Valued,
    by_field,
    name_field,
    span_text,
)
from noisewright.release.ask.within import MaybeWithin, maybe_within, within
from noisewright.release.stage.aggregates import Aggregate, Partial, Total
from noisewright.release.stage.ranges import Range
from noisewright.release.table.keys import Keys


@record("sum", QUESTIONS, error=InvalidQueryError)
class Sum(Valued, OneNumber):
    """The sum of a column within bounds, of the distances to their middle, or of persons' clamped sums."""

    column: Text = text()
    range: Range = only(Range)
    by: By = by_field()
    name: Name = name_field()
    centred: Flag = flag(default=False)
    person_bounds: Spec[Any, tuple[Fraction, Fraction] | None] = optional(pair(), default=None, absent=None)
    within: MaybeWithin = maybe_within()
    word = "sum"
    plain = True

    def __post_init__(self) -> None:
        if self.person_bounds is None:
            return
        if self.centred:
            raise InvalidQueryError(
                "centred=True and person_bounds= are two ways to make what a person moves small; give one of them."
            )
        Partial(self.column, self.range, self.person_bounds)

    @property
    def aggregates(self) -> tuple[Aggregate, ...]:
        if self.person_bounds is not None:
            return (Partial(self.column, self.range, self.person_bounds),)
        return (Total(self.column, self.range, self.centred),)

    @property
    def clamps(self) -> tuple[str, ...]:
        own = () if self.person_bounds is None else (f"sums of persons clamped to {span_text(self.person_bounds)}",)
        return (*Valued.clamps.__get__(self), *own, *OneNumber.clamps.__get__(self))


def sum(
    column: str,
    *,
    bounds: Sequence[exact.Number],
    by: Keys | None = None,
    step: exact.Number | None = None,
    centred: bool = False,
    person_bounds: Sequence[exact.Number] | None = None,
    name: str | None = None,
    outputs: Ends = None,
    inputs: Ends = None,
) -> Sum:
    """The sum of a column whose values are clamped to `bounds`, from public knowledge.

    With `centred=True` the sum of the distances to the middle of the bounds, which one person moves less. Values are
    rounded to multiples of `step`, unless given a millionth of the bounds or finer. With `person_bounds` all rows of a
    person in a group are added up, however many, and the sum of each person is clamped to these bounds. `outputs` and
    `inputs` are bounds of the sum, as those of `count`.

    >>> print(nw.sum("cost", bounds=(0, 500), by=nw.keys("ward", ["A", "B"])))
    sum of cost, ward (2 groups)
    """
    return Sum(column, Range(bounds, step), by, name, centred, person_bounds, within(outputs, inputs))

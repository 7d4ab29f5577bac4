"""Groupings: the groups of one table of answers, from listed keys and from the bins of a column."""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import date
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from noisewright.problem import numbers as exact
from noisewright.problem.errors import InvalidQueryError, InvalidTableError
from noisewright.problem.fields import Flag, Spec, Text, flag, one_of, only, optional, rational, text, tuple_of
from noisewright.problem.numbers import show
from noisewright.problem.records import Family, Record, record
from noisewright.release.stage.times import TimeBins
from noisewright.release.table.keys import MOST_GROUPS, Keys
from noisewright.release.table.names import require_column

if TYPE_CHECKING:
    import ibis.expr.datatypes as dt
    import ibis.expr.types as ir

    from noisewright.release.engines.base import Engine

_MOST_EDGES = 2000

BINS: Family[Any] = Family("bins of a column", InvalidQueryError)
"""Every kind of bins by the name it has in files."""
BINS.add(TimeBins, "time bins")


@record("bins", BINS, error=InvalidQueryError)
class Bins(Record):
    """Bins of a column of numbers: from each edge up to, but without, the next; the last bin holds its upper edge.

    Values outside of all bins, NULL and NaN are in none; with `clamped` the first and the last bin have no end.
    """

    column: Text = text()
    edges: Any = tuple_of(rational(), least=2, most=_MOST_EDGES, rising=True)
    clamped: Flag = flag(default=False, absent=False)

    @property
    def count(self) -> int:
        """How many bins there are."""
        return len(self.edges) - 1

    def refusal(self, kind: dt.DataType) -> str | None:
        """Why a column of this type (of Ibis) has no such bins; None if it has."""
        if kind.is_date() or kind.is_timestamp():
            return f'it holds {kind}; give every="month" and so on, with start and end, instead of edges'
        if kind.is_string():
            return (
                f'it holds text; say how its table is read, with types={{"{self.column}": "number"}} or "integer", or'
                ' derive a column of numbers from it: .cast("float64"), in a spec number(...)'
            )
        fits = kind.is_numeric() or kind.is_boolean()
        return None if fits else f"it holds {kind}, and the question needs numbers"

    @property
    def labels(self) -> tuple[str, ...]:
        """The bins as people write them."""
        ends = [show(edge) for edge in self.edges]
        last = len(ends) - 2
        return tuple(f"[{ends[i]}, {ends[i + 1]}{']' if i == last else ')'}" for i in range(len(ends) - 1))

    def place_of(self, column: ir.Value, engine: Engine) -> ir.Value:
        """The place of the bin that holds a value of a column; NULL where none does.

        Doubles are compared with the least double at or above each edge, so that every comparison is exact.
        """
        from noisewright.release.stage.expressions import first_below, number_of

        number = number_of(column, engine)
        ends = [least_double(edge) for edge in self.edges]
        top = float(self.edges[-1])
        inside = (number >= ends[0]) & (number <= (top if top <= self.edges[-1] else _below(ends[-1])))
        inside = number.notnull() if self.clamped else inside
        return first_below(number, ends[1:-1], inside)

    def __str__(self) -> str:
        return f"{self.count} bins of {self.column}"


@record("grouping", error=InvalidQueryError)
class Grouping(Record):
    """One table of answers: keys, bins of a column, both (every combination) or neither (one group)."""

    keys: Spec[Keys | None, Keys | None] = optional(only(Keys), default=None)
    bins: Spec[Bins | TimeBins | None, Bins | TimeBins | None] = optional(one_of(BINS), default=None)

    def __post_init__(self) -> None:
        if self.count > MOST_GROUPS:
            raise InvalidQueryError(f"these keys and bins make {self.count} groups; at most {MOST_GROUPS} are allowed.")

    @property
    def count(self) -> int:
        """How many groups there are; where keys are chosen privately, those of one key."""
        return (self.keys.count if self.keys else 1) * (self.bins.count if self.bins else 1)

    @property
    def private(self) -> bool:
        """Whether its keys are chosen by the release."""
        return self.keys is not None and self.keys.private

    @property
    def counted(self) -> str:
        """How many groups there are, in words where the release chooses them."""
        if not self.private:
            return str(self.count)
        return "private" if self.bins is None else f"private x {self.count}"

    @property
    def key_columns(self) -> tuple[str, ...]:
        """The columns of its keys."""
        return self.keys.columns if self.keys else ()

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that name a group in an answer."""
        return (*self.key_columns, *((self.bins.column,) if self.bins else ()))

    def require(self, table: ir.Table) -> None:
        """Refuse a table, by its schema alone, that has no such keys or bins."""
        for column in self.key_columns:
            require_column(table, column)
        if self.keys is not None:
            self.keys.require(table)
        if self.bins is not None:
            require_column(table, self.bins.column)
            if (refusal := self.bins.refusal(table[self.bins.column].type())) is not None:
                raise InvalidTableError(f"{self.bins.column!r}: {refusal}.", column=self.bins.column)

    def labels(self) -> list[tuple[Any, ...]]:
        """Of each group, in the order of keys and then of bins, the values that name it."""
        rows: tuple[tuple[Any, ...], ...] = self.keys.rows if self.keys else ((),)
        ends: tuple[tuple[Any, ...], ...] = tuple((label,) for label in self.bins.labels) if self.bins else ((),)
        return [(*row, *end) for row in rows for end in ends]

    def __str__(self) -> str:
        parts = [str(self.keys)] if self.keys else []
        parts += [str(self.bins)] if self.bins else []
        return " by ".join(parts) or "everything"


def bins_of(
    column: str,
    edges: Iterable[exact.Number] | None,
    every: str | None,
    start: date | str | None,
    end: date | str | None,
    zone: str | None,
) -> Bins | TimeBins:
    """Bins of numbers or of times, whichever was asked for; refuses half of one and half of the other."""
    if every is None:
        if edges is None or (start, end, zone) != (None, None, None):
            raise InvalidQueryError(
                "give edges=[...] for numbers, or every=, start= and end= (and zone=) for dates and times."
            )
        return Bins(column, edges)
    if edges is not None or start is None or end is None:
        raise InvalidQueryError(f'every="{every}" takes start= and end= beside it, such as "2026-01-01", and no edges.')
    return TimeBins(column, every, start, end, zone)


def least_double(edge: Fraction) -> float:
    """The least double that is not below an edge: a double is at or above the edge where it is at or above this."""
    near = float(edge)
    return near if Fraction(near) >= edge else math.nextafter(near, math.inf)


def _below(end: float) -> float:
    return math.nextafter(end, -math.inf)

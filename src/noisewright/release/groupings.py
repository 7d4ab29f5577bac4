"""Groupings: the groups of one table of answers, from listed keys and from the bins of a column."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from noisewright.problem.errors import InvalidQueryError
from noisewright.problem.fields import Flag, Spec, Text, flag, only, optional, rational, text, tuple_of
from noisewright.problem.numbers import show
from noisewright.problem.records import Record, record
from noisewright.release.keys import MOST_GROUPS, Keys

_MOST_EDGES = 2000


@record("bins", error=InvalidQueryError)
class Bins(Record):
    """Bins of a column of numbers: from each edge up to, but without, the next; the last bin holds its upper edge.

    Values outside of all bins, NULL and NaN are in none; with `clamped` the first and the last bin have no end.
    """

    column: Text = text()
    edges: Any = tuple_of(rational(), least=2, most=_MOST_EDGES, rising=True)
    clamped: Flag = flag(default=False, absent=False)

    @property
    def labels(self) -> tuple[str, ...]:
        """The bins as people write them."""
        ends = [show(edge) for edge in self.edges]
        last = len(ends) - 2
        return tuple(f"[{ends[i]}, {ends[i + 1]}{']' if i == last else ')'}" for i in range(len(ends) - 1))


@record("grouping", error=InvalidQueryError)
class Grouping(Record):
    """One table of answers: listed keys, bins of a column, both (every combination) or neither (one group)."""

    keys: Spec[Keys | None, Keys | None] = optional(only(Keys), default=None)
    bins: Spec[Bins | None, Bins | None] = optional(only(Bins), default=None)

    def __post_init__(self) -> None:
        if self.count > MOST_GROUPS:
            raise InvalidQueryError(f"these keys and bins make {self.count} groups; at most {MOST_GROUPS} are allowed.")

    @property
    def count(self) -> int:
        """How many groups there are."""
        return (len(self.keys.rows) if self.keys else 1) * (len(self.bins.edges) - 1 if self.bins else 1)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that name a group in an answer."""
        return (*(self.keys.columns if self.keys else ()), *((self.bins.column,) if self.bins else ()))

    def labels(self) -> list[tuple[Any, ...]]:
        """Of each group, in the order of keys and then of bins, the values that name it."""
        rows: tuple[tuple[Any, ...], ...] = self.keys.rows if self.keys else ((),)
        ends: tuple[tuple[Any, ...], ...] = tuple((label,) for label in self.bins.labels) if self.bins else ((),)
        return [(*row, *end) for row in rows for end in ends]

    def __str__(self) -> str:
        parts = [str(self.keys)] if self.keys else []
        parts += [f"{len(self.bins.edges) - 1} bins of {self.bins.column}"] if self.bins else []
        return " by ".join(parts) or "everything"


def least_double(edge: Fraction) -> float:
    """The least double that is not below an edge: a double is at or above the edge where it is at or above this."""
    near = float(edge)
    return near if Fraction(near) >= edge else math.nextafter(near, math.inf)

"""A coin chooses which of two bounded mechanisms answers."""

from __future__ import annotations

from bisect import bisect_right
from fractions import Fraction

import numpy as np

from noisewright.mechanisms.base import MECHANISMS
from noisewright.mechanisms.bounded.composite import Composite
from noisewright.mechanisms.bounded.conditional import Conditional, Grid, Row
from noisewright.mechanisms.bounded.worst_cases import Table
from noisewright.mechanisms.rows import Rows
from noisewright.numerics.fields import Field, Floats, Value
from noisewright.problem.errors import InvalidMechanismError
from noisewright.problem.fields import Rational, only, rational
from noisewright.problem.queries import Bounded
from noisewright.problem.records import record


@record("blend", MECHANISMS, error=InvalidMechanismError)
class Blend(Conditional):
    """With probability `share` the first mechanism answers, else the second; the hybrid mechanism is one."""

    first: Composite = only(Composite)
    second: Rows = only(Rows)
    share: Rational = rational(at_least=0, at_most=1)

    def __post_init__(self) -> None:
        if self.first.query != self.second.query or self.first.grid.points != self.second.grid.points:
            raise InvalidMechanismError("both mechanisms of a blend must answer one question on one grid of inputs.")

    @property
    def parts(self) -> tuple[Conditional, Conditional]:
        """The two mechanisms."""
        return self.first, self.second

    @property
    def query(self) -> Bounded:
        """The question it answers."""
        return self.first.query

    @property
    def grid(self) -> Grid:
        """The inputs that have a law of their own."""
        return self.first.grid

    @property
    def last(self) -> int:
        return self.first.last + 1 + self.second.last

    def value(self, k: int) -> Fraction:
        return self.first.value(k) if k <= self.first.last else self.second.value(k - self.first.last - 1)

    def table(self) -> Table:
        tables = [part.table() for part in self.parts]
        outputs = tuple(sorted(v for table in tables for v in table.outputs))
        places = [[bisect_right(table.outputs, v) for v in outputs] for table in tables]
        shares = float(self.share), float(1 - self.share)

        def levels(first: int, end: int) -> Floats:
            padded = [np.pad(table.levels(first, end), ((0, 0), (1, 0))) for table in tables]
            return np.asarray(sum(s * p[:, k] for s, p, k in zip(shares, padded, places, strict=True)))

        return Table(outputs, levels, 2.0**-50 + max(table.slack for table in tables))

    def row(self, i: int) -> Row:
        """The indices of the first law, then those of the second."""
        first, second = self.first.row(i), self.second.row(i)

        def inside(k: int, field: Field) -> Value:
            share = field.real(self.share)
            if k <= self.first.last:
                return share * first.cdf(k, field)
            return share + (1 - share) * second.cdf(k - self.first.last - 1, field)

        return Row(inside, self.last)

    def moments(self, i: int, field: Field) -> tuple[Value, Value]:
        share = field.real(self.share)
        ours, theirs = self.first.moments(i, field), self.second.moments(i, field)
        return share * ours[0] + (1 - share) * theirs[0], share * ours[1] + (1 - share) * theirs[1]

"""Several numbers that are answered together."""

from __future__ import annotations

from fractions import Fraction

from noisewright.problem.errors import InvalidQueryError
from noisewright.problem.fields import Flag, flag, one_of
from noisewright.problem.queries import QUERIES
from noisewright.problem.records import Record, record
from noisewright.problem.sensitivity import SETS, L1Ball, L2Ball, Points, SensitivitySet

_LARGEST_RATIO = 10**40


@record("vector", QUERIES, error=InvalidQueryError)
class Vector(Record):
    """Several numbers; `sensitivity` is the set of all differences that one person can make to them.

    `exact=True` declares that answers are exact numbers; otherwise they may carry the rounding errors of floats.
    """

    sensitivity: SensitivitySet = one_of(SETS)
    exact: Flag = flag(default=False, absent=True)

    def __post_init__(self) -> None:
        moving = [extent for extent in self.extents if extent]
        if max(moving) > _LARGEST_RATIO * min(moving):
            raise InvalidQueryError(
                f"the sensitivities differ by a factor of {float(max(moving) / min(moving)):.3g}; at most 1e40 is"
                " allowed. Measure the numbers in other units, or ask for them separately.",
            )

    def __str__(self) -> str:
        count = self.dimension
        return f"{count} number{'s' if count > 1 else ''}, {self.sensitivity}"

    @property
    def dimension(self) -> int:
        """How many numbers there are."""
        return len(self.extents)

    @property
    def extents(self) -> tuple[Fraction, ...]:
        """How far each number can move."""
        return self.sensitivity.extents

    @property
    def smallest_moves(self) -> tuple[Fraction, ...]:
        """The smallest difference of each number that the set tells from none; 0 where it cannot move.

        In a ball rounding errors of all numbers add up, so each gets its share of the radius.
        """
        chosen = self.sensitivity
        if isinstance(chosen, Points):
            columns = zip(*chosen.rows, strict=True)
            return tuple(min((abs(v) for v in column if v), default=Fraction(0)) for column in columns)
        if isinstance(chosen, L1Ball | L2Ball):
            return (chosen.radius / chosen.dimension,) * chosen.dimension
        return self.extents

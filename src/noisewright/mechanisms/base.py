"""What a mechanism is."""

from __future__ import annotations

from typing import Any

from noisewright.mechanisms.errors import Errors
from noisewright.numerics.balls import Ball, precision
from noisewright.numerics.fields import BALLS, FLOATS, Field, Value
from noisewright.problem.errors import InvalidMechanismError
from noisewright.problem.records import Family, Record
from noisewright.problem.utility import Utility

MECHANISMS: Family[Any] = Family("a mechanism such as Additive(query, law, lattice)", InvalidMechanismError)
"""Every kind of mechanism by the name it has in files."""


class Mechanism(Record, Errors):
    """Maps a true answer to the law of the released one; built from a problem, knows no randomness.

    It answers what a utility asks of its errors (`mechanisms.errors`), rounding included.
    """

    __slots__ = ()
    query: Any

    @property
    def errors(self) -> Errors:
        """What is known of released minus true answers."""
        return self

    def expected(self, utility: Utility, field: Field = BALLS) -> Value:
        """Expected utility, in balls or floats; in balls the value is enclosed.

        Raises InvalidUtilityError where no rule is known, and for weights of another count of numbers.
        """
        utility.check_count(self.errors.count)
        if field is FLOATS:
            return utility.under(self.errors, field)
        with precision():
            return utility.under(self.errors, field)

    def bias(self, field: Field) -> Value:
        """Mean of released minus true answer, where it is farthest from zero."""
        return field.real(0)

    def shown(self, utility: Utility, value: Ball) -> float:
        """The value to show: the middle of its ball, unless an estimate inside it is known."""
        return float(value.mid())

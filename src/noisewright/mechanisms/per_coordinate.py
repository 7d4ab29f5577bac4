"""Independent noise for each of several numbers, each with a law and a lattice of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from noisewright.mechanisms.additive import Additive
from noisewright.mechanisms.answers import read_answers
from noisewright.mechanisms.base import MECHANISMS
from noisewright.problem.errors import InvalidMechanismError
from noisewright.problem.fields import Many, only, optional, tuple_of
from noisewright.problem.numbers import Number
from noisewright.problem.records import Record, record
from noisewright.problem.vector import Vector


@record("per-coordinate", MECHANISMS, error=InvalidMechanismError)
class PerCoordinate(Record):
    """Number i gets the noise of parts[i]; None means that it is released as it is.

    The sensitivity inside a part is only what its lattice was made for; what is proven is always
    about the set of the question.
    """

    query: Vector = only(Vector)
    parts: Many[Additive | None] = tuple_of(optional(only(Additive)))

    def __post_init__(self) -> None:
        if len(self.parts) != self.query.dimension:
            raise InvalidMechanismError(
                f"{self.query.dimension} numbers need as many parts; {len(self.parts)} were given."
            )
        if any(part is not None and part.query.integer for part in self.parts):
            raise InvalidMechanismError("the parts of a mechanism for several numbers are for real answers.")
        if not self.query.exact and any(part is not None and part.query.exact for part in self.parts):
            raise InvalidMechanismError(
                "a part is for exact answers, but the question does not declare them; say Vector(..., exact=True), or"
                " leave exact out of the part's question."
            )

    def law_given(self, answer: Sequence[Number]) -> list[Any]:
        """The law of each released number when `answer` is the truth (the number itself where none is added)."""
        values = read_answers(answer, self.query)
        return [part.law_given(x) if part else x for part, x in zip(self.parts, values, strict=True)]

"""Independent noise for each of several numbers, each with a law and a lattice of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from noisewright.mechanisms.additive import Additive
from noisewright.mechanisms.digest import digest
from noisewright.problem.errors import InvalidAnswerError, InvalidMechanismError
from noisewright.problem.numbers import Number
from noisewright.problem.vector import Vector


@dataclass(frozen=True, slots=True)
class PerCoordinate:
    """Number i gets the noise of parts[i]; None means that it is released as it is.

    The sensitivity inside a part is only what its lattice was made for; what is proven is always
    about the set of the question.
    """

    query: Vector
    parts: tuple[Additive | None, ...]

    def __post_init__(self) -> None:
        if len(self.parts) != self.query.dimension:
            raise InvalidMechanismError(
                f"{self.query.dimension} numbers need as many parts; {len(self.parts)} were given."
            )
        if any(part is not None and part.query.integer for part in self.parts):
            raise InvalidMechanismError("the parts of a mechanism for several numbers are for real answers.")

    def law_given(self, answer: Sequence[Number]) -> list[Any]:
        """The law of each released number when `answer` is the truth (the number itself where none is added)."""
        check_length(answer, self.query)
        return [part.law_given(x) if part else x for part, x in zip(self.parts, answer, strict=True)]

    def to_dict(self) -> dict[str, Any]:
        """Plain data with exact numbers as text."""
        return {
            "kind": "per-coordinate",
            "query": self.query.to_dict(),
            "parts": [part.to_dict() if part else None for part in self.parts],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> PerCoordinate:
        """Inverse of `to_dict`; KeyError, TypeError or ValueError if the data describe none."""
        parts = tuple(Additive.from_dict(part) if part else None for part in data["parts"])
        return cls(Vector.from_dict(data["query"]), parts)

    @property
    def digest(self) -> str:
        """Fingerprint of everything that determines what is drawn."""
        return digest(self.to_dict())


def check_length(answer: Sequence[Number], query: Vector) -> None:
    """Refuse an answer that has not as many numbers as the question."""
    if isinstance(answer, str | bytes) or not hasattr(answer, "__len__") or not hasattr(answer, "__iter__"):
        raise InvalidAnswerError(f"the answer is not a list; give a list of {query.dimension} numbers.")
    if len(answer) != query.dimension:
        raise InvalidAnswerError(
            f"the answer has {len(answer)} numbers, the question {query.dimension}; give one for each.",
            given=len(answer),
        )

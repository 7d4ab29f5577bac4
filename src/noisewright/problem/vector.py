"""Several numbers that are answered together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from noisewright.problem.errors import InvalidQueryError
from noisewright.problem.sensitivity import (
    SETS,
    Box,
    Disjoint,
    L1Ball,
    L2Ball,
    Points,
    Replace,
    SensitivitySet,
    Sparse,
)


@dataclass(frozen=True, slots=True, init=False)
class Vector:
    """Several numbers; `sensitivity` is the set of all differences that one person can make to them."""

    sensitivity: SensitivitySet

    def __init__(self, sensitivity: SensitivitySet) -> None:
        if not isinstance(sensitivity, Box | Disjoint | Sparse | Replace | L1Ball | L2Ball | Points):
            raise InvalidQueryError(
                f"sensitivity is {sensitivity!r}; give the set of differences one person can make: Box([...]) if all"
                " numbers may move at once, Disjoint([...]) for a histogram, Sparse, Replace, L1Ball, L2Ball, Points.",
                sensitivity=sensitivity,
            )
        object.__setattr__(self, "sensitivity", sensitivity)

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

    def to_dict(self) -> dict[str, Any]:
        """Plain data, numbers as exact text."""
        return {"kind": "vector", "sensitivity": self.sensitivity.to_dict()}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Vector:
        """Inverse of `to_dict`; KeyError, TypeError or ValueError if the data describe none."""
        if data["kind"] != "vector":
            raise ValueError("this is not a question about several numbers")
        chosen = data["sensitivity"]
        return cls(SETS[chosen["kind"]](chosen))

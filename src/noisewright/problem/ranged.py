"""One number that is known to lie in a range."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from noisewright.problem.errors import InvalidQueryError
from noisewright.problem.numbers import Number, parameter, show


@dataclass(frozen=True, slots=True, init=False)
class RangedScalar:
    """One number between `low` and `high` that a single person can move by at most `sensitivity`.

    Answers and what is released lie in the range; the range is public and does not depend on the data.
    """

    low: Fraction
    high: Fraction
    sensitivity: Fraction

    def __init__(self, low: Number, high: Number, sensitivity: Number | None = None) -> None:
        start, end = parameter(low, "low"), parameter(high, "high")
        if end <= start:
            raise InvalidQueryError(
                f"the range runs from {show(start)} to {show(end)}; give low < high.", low=start, high=end
            )
        reach = end - start if sensitivity is None else parameter(sensitivity, "sensitivity")
        if not 0 < reach <= end - start:
            raise InvalidQueryError(
                f"sensitivity is {show(reach)}; for answers between {show(start)} and {show(end)} it must be above"
                f" 0 and at most {show(end - start)}.",
                sensitivity=reach,
            )
        object.__setattr__(self, "low", start)
        object.__setattr__(self, "high", end)
        object.__setattr__(self, "sensitivity", reach)

    def __str__(self) -> str:
        return f"one number between {show(self.low)} and {show(self.high)}, sensitivity {show(self.sensitivity)}"

    def to_dict(self) -> dict[str, Any]:
        """Plain data, numbers as exact text."""
        return {
            "kind": "ranged-scalar",
            "low": str(self.low),
            "high": str(self.high),
            "sensitivity": str(self.sensitivity),
        }

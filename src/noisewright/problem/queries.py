"""What is asked, and every difference one person can make to it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from noisewright.problem.errors import InvalidQueryError
from noisewright.problem.numbers import Number, parameter, show

_SMALLEST = Fraction(1, 10**100)
_LARGEST = Fraction(10**100)
_LARGEST_INTEGER = 10**12
_MOST_CANDIDATES = 100_000


@dataclass(frozen=True, slots=True, init=False)
class Choice:
    """One of finitely many candidates, each with a score that one person can move by at most `sensitivity`."""

    candidates: tuple[str, ...]
    sensitivity: Fraction

    def __init__(self, candidates: Iterable[str], sensitivity: Number = 1) -> None:
        names = tuple(candidates)
        if not 1 <= len(names) <= _MOST_CANDIDATES or len(set(names)) != len(names):
            raise InvalidQueryError(
                f"a choice needs 1 to {_MOST_CANDIDATES} candidates with different names; {len(names)} were given.",
                candidates=len(names),
            )
        if not all(isinstance(name, str) for name in names):
            raise InvalidQueryError("candidates are named by text.")
        value = parameter(sensitivity, "sensitivity")
        if not _SMALLEST <= value <= _LARGEST:
            raise InvalidQueryError(f"sensitivity is {show(value)}; it must be positive.", sensitivity=value)
        object.__setattr__(self, "candidates", names)
        object.__setattr__(self, "sensitivity", value)

    def __str__(self) -> str:
        return f"one of {len(self.candidates)} candidates, score sensitivity {show(self.sensitivity)}"

    def to_dict(self) -> dict[str, Any]:
        """Plain data, numbers as exact text."""
        return {"kind": "choice", "candidates": list(self.candidates), "sensitivity": str(self.sensitivity)}


@dataclass(frozen=True, slots=True, init=False)
class Scalar:
    """One number that a single person can move by at most `sensitivity`, either way.

    With `integer=True` the answer is a whole number (a count) and so is what is released; the
    sensitivity must then be whole too.
    """

    sensitivity: Fraction
    integer: bool

    def __init__(self, sensitivity: Number = 1, *, integer: bool = False) -> None:
        value = parameter(sensitivity, "sensitivity")
        if value <= 0:
            raise InvalidQueryError(
                f"sensitivity is {show(value)}; it must be positive: the most that one person can change the answer"
                " (1 for a count).",
                sensitivity=value,
            )
        if not _SMALLEST <= value <= _LARGEST:
            raise InvalidQueryError(
                "sensitivity is outside 1e-100 to 1e100; measure the answer in another unit.", sensitivity=value
            )
        if not isinstance(integer, bool):
            raise InvalidQueryError(f"integer is {integer!r}; give True or False.", integer=integer)
        if integer and value.denominator != 1:
            raise InvalidQueryError(
                f"sensitivity is {show(value)} but the answer is an integer; give a whole sensitivity"
                " or leave integer=False.",
                sensitivity=value,
            )
        if integer and value > _LARGEST_INTEGER:
            raise InvalidQueryError(
                f"sensitivity is {show(value)}; for integer answers at most 1e12 is allowed. Use integer=False.",
                sensitivity=value,
            )
        object.__setattr__(self, "sensitivity", value)
        object.__setattr__(self, "integer", integer)

    def __str__(self) -> str:
        kind = "one integer" if self.integer else "one number"
        return f"{kind}, sensitivity {show(self.sensitivity)}"

    def to_dict(self) -> dict[str, Any]:
        """Plain data, numbers as exact text."""
        return {"kind": "scalar", "sensitivity": str(self.sensitivity), "integer": self.integer}

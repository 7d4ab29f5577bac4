"""What counts as a good answer when there are several numbers.

Weights say how much each number matters; without them all matter equally. Their count is checked
against the question when a design starts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from noisewright.problem.errors import InvalidUtilityError
from noisewright.problem.numbers import Number, parameter, show
from noisewright.problem.utilities import ErrorQuantile

Weights = tuple[Fraction, ...]


@dataclass(frozen=True, slots=True, init=False)
class TotalSquaredError:
    """Sum over the numbers of weight times mean squared error."""

    weights: Weights | None
    label: ClassVar[str] = "total-squared-error"
    larger_is_better: ClassVar[bool] = False
    power: ClassVar[int] = 2

    def __init__(self, weights: Iterable[Number] | None = None) -> None:
        object.__setattr__(self, "weights", _weights(weights))

    def __str__(self) -> str:
        return f"{'weighted ' if self.weights else ''}total squared error"

    def to_dict(self) -> dict[str, Any]:
        """Plain data, numbers as exact text."""
        return {"kind": self.label, "weights": _texts(self.weights)}


@dataclass(frozen=True, slots=True, init=False)
class TotalAbsoluteError:
    """Sum over the numbers of weight times mean absolute error."""

    weights: Weights | None
    label: ClassVar[str] = "total-absolute-error"
    larger_is_better: ClassVar[bool] = False
    power: ClassVar[int] = 1

    def __init__(self, weights: Iterable[Number] | None = None) -> None:
        object.__setattr__(self, "weights", _weights(weights))

    def __str__(self) -> str:
        return f"{'weighted ' if self.weights else ''}total absolute error"

    def to_dict(self) -> dict[str, Any]:
        """Plain data, numbers as exact text."""
        return {"kind": self.label, "weights": _texts(self.weights)}


@dataclass(frozen=True, slots=True, init=False)
class LargestError:
    """Mean of the largest absolute error among the numbers."""

    weights: ClassVar[None] = None
    label: ClassVar[str] = "largest-error"
    larger_is_better: ClassVar[bool] = False

    def __init__(self) -> None:
        return

    def __str__(self) -> str:
        return "mean of the largest error"

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {"kind": self.label}


@dataclass(frozen=True, slots=True, init=False)
class LargestErrorQuantile:
    """Half-width that all errors stay within together, with probability `confidence`."""

    confidence: Fraction
    weights: ClassVar[None] = None
    label: ClassVar[str] = "largest-error-quantile"
    larger_is_better: ClassVar[bool] = False

    def __init__(self, confidence: Number) -> None:
        object.__setattr__(self, "confidence", ErrorQuantile(confidence).confidence)

    def __str__(self) -> str:
        return f"half-width around all numbers at {float(self.confidence):.6g} confidence"

    def to_dict(self) -> dict[str, Any]:
        """Plain data, numbers as exact text."""
        return {"kind": self.label, "confidence": str(self.confidence)}


@dataclass(frozen=True, slots=True, init=False)
class CoordinateUsefulness:
    """Weighted share of the numbers whose error is at most `within` (one limit, or one for each number)."""

    within: tuple[Fraction, ...]
    weights: Weights | None
    label: ClassVar[str] = "coordinate-usefulness"
    larger_is_better: ClassVar[bool] = True

    def __init__(self, within: Number | Iterable[Number], weights: Iterable[Number] | None = None) -> None:
        given = list(within) if isinstance(within, Iterable) and not isinstance(within, str) else [within]
        values = tuple(parameter(v, "within") for v in given)
        if not values or any(v <= 0 for v in values):
            raise InvalidUtilityError(
                "within needs positive limits: the error of each number that still counts as useful.", within=values
            )
        object.__setattr__(self, "within", values)
        object.__setattr__(self, "weights", _weights(weights))

    def __str__(self) -> str:
        low, high = min(self.within), max(self.within)
        limit = show(low) if low == high else f"{show(low)} to {show(high)}"
        return f"{'weighted ' if self.weights else ''}share of numbers within {limit}"

    def limits(self, dimension: int) -> tuple[Fraction, ...]:
        """One limit for each number."""
        return self.within * dimension if len(self.within) == 1 else self.within

    def to_dict(self) -> dict[str, Any]:
        """Plain data, numbers as exact text."""
        return {"kind": self.label, "within": _texts(self.within), "weights": _texts(self.weights)}


VectorUtility = TotalSquaredError | TotalAbsoluteError | LargestError | LargestErrorQuantile | CoordinateUsefulness
"""Every way of saying what counts as good for several numbers."""


def weights_of(utility: VectorUtility, dimension: int) -> Weights:
    """One weight for each number; shares that add up to one for usefulness."""
    weights = utility.weights or (Fraction(1),) * dimension
    if isinstance(utility, CoordinateUsefulness):
        total = sum(weights, Fraction(0))
        return tuple(w / total for w in weights)
    return weights


def check_counts(utility: VectorUtility, dimension: int) -> None:
    """Refuse weights or limits whose count is not that of the numbers."""
    if utility.weights is not None and len(utility.weights) != dimension:
        raise InvalidUtilityError(
            f"there are {len(utility.weights)} weights for {dimension} numbers; give one weight for each number.",
            weights=len(utility.weights),
            dimension=dimension,
        )
    if isinstance(utility, CoordinateUsefulness) and len(utility.within) not in (1, dimension):
        raise InvalidUtilityError(
            f"there are {len(utility.within)} limits for {dimension} numbers; give one, or one for each number.",
            within=len(utility.within),
            dimension=dimension,
        )


def _weights(weights: Iterable[Number] | None) -> Weights | None:
    if weights is None:
        return None
    if isinstance(weights, str | bytes | Mapping) or not isinstance(weights, Iterable):
        raise InvalidUtilityError(f"weights is {weights!r}; give a list of positive numbers.", weights=weights)
    values = tuple(parameter(w, f"weight {i + 1}") for i, w in enumerate(weights))
    for i, value in enumerate(values):
        if not Fraction(1, 10**30) <= value <= 10**30:
            raise InvalidUtilityError(
                f"weight {i + 1} is {float(value):.6g}; weights must be positive (1e-30 to 1e30)."
                " Leave a number out of the question if it does not matter.",
                weight=value,
                place=i,
            )
    if not values:
        raise InvalidUtilityError("weights is empty; give one weight for each number, or leave weights out.")
    return values


def _texts(values: tuple[Fraction, ...] | None) -> list[str] | None:
    return None if values is None else [str(v) for v in values]

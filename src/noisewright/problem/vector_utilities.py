"""What counts as a good answer when there are several numbers.

Weights say how much each number matters; without them all matter equally. Their count is checked
against the question when a design starts.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any, ClassVar, TypeAlias

from noisewright.problem.errors import InvalidUtilityError
from noisewright.problem.fields import Rational, Rationals, Spec, optional, rational, rationals, tuple_of
from noisewright.problem.numbers import Number, show
from noisewright.problem.records import Record, record
from noisewright.problem.utilities import check_confidence

Weights = tuple[Fraction, ...]
MaybeWeights: TypeAlias = Spec[Iterable[Number] | None, Weights | None]


def _check_weight(value: Fraction, name: str) -> None:
    if not Fraction(1, 10**30) <= value <= 10**30:
        raise InvalidUtilityError(
            f"{name} is {float(value):.6g}; weights must be positive (1e-30 to 1e30)."
            " Leave a number out of the question if it does not matter.",
            weight=value,
            place=int(name.removeprefix("weight ")) - 1,
        )


def _weights() -> Any:
    return optional(tuple_of(rational(check=_check_weight), each="weight"), default=None)


class _Weighted(Record):
    """What the utilities with weights share."""

    __slots__ = ()
    weights: MaybeWeights

    def __post_init__(self) -> None:
        if self.weights == ():
            raise InvalidUtilityError("weights is empty; give one weight for each number, or leave weights out.")


@record("total-squared-error", error=InvalidUtilityError)
class TotalSquaredError(_Weighted):
    """Sum over the numbers of weight times mean squared error."""

    weights: MaybeWeights = _weights()
    label: ClassVar[str] = "total-squared-error"
    larger_is_better: ClassVar[bool] = False
    power: ClassVar[int] = 2

    def __str__(self) -> str:
        return f"{'weighted ' if self.weights else ''}total squared error"


@record("total-absolute-error", error=InvalidUtilityError)
class TotalAbsoluteError(_Weighted):
    """Sum over the numbers of weight times mean absolute error."""

    weights: MaybeWeights = _weights()
    label: ClassVar[str] = "total-absolute-error"
    larger_is_better: ClassVar[bool] = False
    power: ClassVar[int] = 1

    def __str__(self) -> str:
        return f"{'weighted ' if self.weights else ''}total absolute error"


@record("largest-error", error=InvalidUtilityError)
class LargestError(Record):
    """Mean of the largest absolute error among the numbers."""

    weights: ClassVar[None] = None
    label: ClassVar[str] = "largest-error"
    larger_is_better: ClassVar[bool] = False

    def __str__(self) -> str:
        return "mean of the largest error"


@record("largest-error-quantile", error=InvalidUtilityError)
class LargestErrorQuantile(Record):
    """Half-width that all errors stay within together, with probability `confidence`."""

    confidence: Rational = rational(check=check_confidence)
    weights: ClassVar[None] = None
    label: ClassVar[str] = "largest-error-quantile"
    larger_is_better: ClassVar[bool] = False

    def __str__(self) -> str:
        return f"half-width around all numbers at {float(self.confidence):.6g} confidence"


@record("coordinate-usefulness", error=InvalidUtilityError)
class CoordinateUsefulness(_Weighted):
    """Weighted share of the numbers whose error is at most `within` (one limit, or one for each number)."""

    within: Rationals = rationals(above=0, hint=": the error of each number that still counts as useful")
    weights: MaybeWeights = _weights()
    label: ClassVar[str] = "coordinate-usefulness"
    larger_is_better: ClassVar[bool] = True

    def __init__(self, within: Number | Iterable[Number], weights: Iterable[Number] | None = None) -> None:
        several = isinstance(within, Iterable) and not isinstance(within, str) and getattr(within, "shape", 0) != ()
        self.born(within=within if several else [within], weights=weights)

    def __post_init__(self) -> None:
        _Weighted.__post_init__(self)
        if not self.within:
            raise InvalidUtilityError(
                "within needs positive limits: the error of each number that still counts as useful.", within=()
            )

    def __str__(self) -> str:
        low, high = min(self.within), max(self.within)
        limit = show(low) if low == high else f"{show(low)} to {show(high)}"
        return f"{'weighted ' if self.weights else ''}share of numbers within {limit}"

    def limits(self, dimension: int) -> tuple[Fraction, ...]:
        """One limit for each number."""
        return self.within * dimension if len(self.within) == 1 else self.within


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

"""What counts as a good answer: utilities, frozen and validated at birth.

Every utility but `Usefulness` is a cost (smaller is better); `Usefulness` is a probability
(larger is better). Their formulas live where laws are; here is only what a person says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from noisewright.problem.divergences import Numerical
from noisewright.problem.errors import InvalidUtilityError
from noisewright.problem.numbers import Number, parameter, show

_LARGEST_POWER = 16
_LARGEST = Fraction(10**120)


@dataclass(frozen=True, slots=True, init=False)
class PowerError:
    """Mean of |error|^power, for a power above 0 and at most 16."""

    power: Fraction
    label: ClassVar[str] = "power-error"
    larger_is_better: ClassVar[bool] = False

    def __init__(self, power: Number) -> None:
        value = parameter(power, "power")
        if not 0 < value <= _LARGEST_POWER:
            raise InvalidUtilityError(
                f"power is {show(value)}; allowed is above 0 and at most {_LARGEST_POWER}"
                " (1 is absolute, 2 is squared error).",
                power=value,
            )
        object.__setattr__(self, "power", value)

    def __str__(self) -> str:
        return f"mean of |error|^{show(self.power)}"

    def to_dict(self) -> dict[str, Any]:
        """Plain data, numbers as exact text."""
        return {"kind": self.label, "power": str(self.power)}


@dataclass(frozen=True, slots=True, init=False)
class SquaredError(PowerError):
    """Mean squared error."""

    label: ClassVar[str] = "squared-error"

    def __init__(self) -> None:
        object.__setattr__(self, "power", Fraction(2))

    def __str__(self) -> str:
        return "mean squared error"

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {"kind": self.label}


@dataclass(frozen=True, slots=True, init=False)
class AbsoluteError(PowerError):
    """Mean absolute error."""

    label: ClassVar[str] = "absolute-error"

    def __init__(self) -> None:
        object.__setattr__(self, "power", Fraction(1))

    def __str__(self) -> str:
        return "mean absolute error"

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {"kind": self.label}


@dataclass(frozen=True, slots=True, init=False)
class Usefulness:
    """Probability that the error is at most `within`."""

    within: Fraction
    label: ClassVar[str] = "usefulness"
    larger_is_better: ClassVar[bool] = True

    def __init__(self, within: Number) -> None:
        value = parameter(within, "within")
        if value < 0:
            raise InvalidUtilityError(
                f"within is {show(value)}; it must be at least 0: the error that still counts as useful.", within=value
            )
        if value > _LARGEST:
            raise InvalidUtilityError(
                f"within is {show(value)}; at most 1e120 is allowed. Measure the answer in another unit.", within=value
            )
        object.__setattr__(self, "within", value)

    def __str__(self) -> str:
        return f"P(|error| <= {show(self.within)})"

    def to_dict(self) -> dict[str, Any]:
        """Plain data, numbers as exact text."""
        return {"kind": self.label, "within": str(self.within)}


@dataclass(frozen=True, slots=True, init=False)
class ErrorQuantile:
    """Half-width that the error stays within, with probability `confidence`."""

    confidence: Fraction
    label: ClassVar[str] = "error-quantile"
    larger_is_better: ClassVar[bool] = False

    def __init__(self, confidence: Number) -> None:
        value = parameter(confidence, "confidence")
        if not Fraction(1, 10**6) <= value <= 1 - Fraction(1, 10**12):
            raise InvalidUtilityError(
                f"confidence is {show(value)}; it must lie between 0 and 1 (1e-6 to 1 - 1e-12), such as 0.95.",
                confidence=value,
            )
        object.__setattr__(self, "confidence", value)

    def __str__(self) -> str:
        return f"half-width at {float(self.confidence):.6g} confidence"

    def to_dict(self) -> dict[str, Any]:
        """Plain data, numbers as exact text."""
        return {"kind": self.label, "confidence": str(self.confidence)}


@dataclass(frozen=True, slots=True, init=False)
class Growth:
    """A promise about a loss: loss(x) <= factor * (1 + |x|)^power for every x."""

    power: Fraction
    factor: Fraction

    def __init__(self, power: Number, factor: Number = 1) -> None:
        exponent = parameter(power, "growth power")
        scale = parameter(factor, "growth factor")
        if not 0 <= exponent <= _LARGEST_POWER:
            raise InvalidUtilityError(
                f"growth power is {show(exponent)}; allowed is 0 to {_LARGEST_POWER}.", power=exponent
            )
        if not 0 < scale <= _LARGEST:
            raise InvalidUtilityError(
                f"growth factor is {show(scale)}; it must be positive and at most 1e120.", factor=scale
            )
        object.__setattr__(self, "power", exponent)
        object.__setattr__(self, "factor", scale)

    def __str__(self) -> str:
        return f"{show(self.factor)} * (1 + |x|)^{show(self.power)}"


@dataclass(frozen=True, slots=True, init=False)
class Expected:
    """Mean of a loss the user writes as a function of the error (released minus true answer).

    The loss is at least 0, does not decrease away from zero on either side, is not flat on either
    side, and stays below the declared growth; it may cost over- and under-reporting differently.
    Guarantees: each promise is checked wherever the loss is evaluated. The function is not stored
    in files.
    """

    loss: Callable[[float], float]
    growth: Growth
    name: str
    label: ClassVar[str] = "expected-loss"
    larger_is_better: ClassVar[bool] = False

    def __init__(self, loss: Callable[[float], float], *, growth: Growth | Number, name: str = "expected loss") -> None:
        if not callable(loss):
            raise InvalidUtilityError(f"loss is {loss!r}; give a function of one number, the error.", loss=loss)
        object.__setattr__(self, "loss", loss)
        object.__setattr__(self, "growth", growth if isinstance(growth, Growth) else Growth(growth))
        object.__setattr__(self, "name", name)

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class WorstVariance:
    """Largest variance over all true answers in the input range, for bounded questions.

    Where a bias is allowed it is the largest mean squared error, which is the same for no bias.
    """

    label: ClassVar[str] = "worst-variance"
    larger_is_better: ClassVar[bool] = False

    def __str__(self) -> str:
        return "worst-case variance"

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {"kind": self.label}


@dataclass(frozen=True, slots=True, init=False)
class AverageVariance:
    """Variance averaged over the true answer, for bounded questions.

    `prior` is None for answers spread evenly over the input range, or pairs (answer, weight). Where
    a bias is allowed it is the average mean squared error, which is the same for no bias.
    """

    prior: tuple[tuple[Fraction, Fraction], ...] | None
    label: ClassVar[str] = "average-variance"
    larger_is_better: ClassVar[bool] = False

    def __init__(self, prior: Iterable[tuple[Number, Number]] | None = None) -> None:
        object.__setattr__(self, "prior", None if prior is None else _prior(prior))

    def __str__(self) -> str:
        return "average variance" if self.prior is None else "average variance over the prior"

    def to_dict(self) -> dict[str, Any]:
        """Plain data, numbers as exact text."""
        pairs = None if self.prior is None else [[str(x), str(weight)] for x, weight in self.prior]
        return {"kind": self.label, "prior": pairs}


_MOST_PRIOR_POINTS = 60


def _prior(pairs: Iterable[tuple[Number, Number]]) -> tuple[tuple[Fraction, Fraction], ...]:
    """The prior with equal answers merged and weights that sum to one."""
    found: dict[Fraction, Fraction] = {}
    for pair in pairs:
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise InvalidUtilityError(f"the prior holds {pair!r}; give pairs (answer, weight).", given=pair)
        answer, weight = parameter(pair[0], "an answer of the prior"), parameter(pair[1], "a weight of the prior")
        if weight < 0:
            raise InvalidUtilityError(f"a weight of the prior is {show(weight)}; give at least 0.", weight=weight)
        found[answer] = found.get(answer, Fraction(0)) + weight
    total = sum(found.values())
    if not total or len(found) > _MOST_PRIOR_POINTS:
        raise InvalidUtilityError(
            f"the prior has {len(found)} answers of total weight {show(Fraction(total))}; give 1 to"
            f" {_MOST_PRIOR_POINTS} answers and a positive weight."
        )
    return tuple((x, found[x] / total) for x in sorted(found) if found[x])


Utility = PowerError | Usefulness | ErrorQuantile | Expected | Numerical
"""Every way of saying what counts as good."""

"""What counts as a good answer: utilities, frozen and validated at birth.

Every utility but `Usefulness` is a cost (smaller is better); `Usefulness` is a probability
(larger is better). Their formulas live where laws are; here is only what a person says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any, ClassVar

from noisewright.problem.divergences import Numerical
from noisewright.problem.errors import InvalidUtilityError
from noisewright.problem.fields import Prior, Rational, Text, derived, fixed, optional, rational, text, tuple_of
from noisewright.problem.numbers import Number, show
from noisewright.problem.records import Record, keep, record

_LARGEST_POWER = 16
_LARGEST = Fraction(10**120)


@record("power-error", error=InvalidUtilityError)
class PowerError(Record):
    """Mean of |error|^power, for a power above 0 and at most 16."""

    power: Rational = rational(above=0, at_most=_LARGEST_POWER, hint=" (1 is absolute, 2 is squared error)")
    label: ClassVar[str] = "power-error"
    larger_is_better: ClassVar[bool] = False

    def __str__(self) -> str:
        return f"mean of |error|^{show(self.power)}"


@record("squared-error", error=InvalidUtilityError)
class SquaredError(PowerError):
    """Mean squared error."""

    power: Fraction = fixed(Fraction(2))
    label: ClassVar[str] = "squared-error"

    def __str__(self) -> str:
        return "mean squared error"


@record("absolute-error", error=InvalidUtilityError)
class AbsoluteError(PowerError):
    """Mean absolute error."""

    power: Fraction = fixed(Fraction(1))
    label: ClassVar[str] = "absolute-error"

    def __str__(self) -> str:
        return "mean absolute error"


@record("usefulness", error=InvalidUtilityError)
class Usefulness(Record):
    """Probability that the error is at most `within`."""

    within: Rational = rational(at_least=0, at_most=_LARGEST, hint=": the error that still counts as useful")
    label: ClassVar[str] = "usefulness"
    larger_is_better: ClassVar[bool] = True

    def __str__(self) -> str:
        return f"P(|error| <= {show(self.within)})"


def check_confidence(value: Fraction, name: str) -> None:
    """Refuse what is no probability strictly between 0 and 1."""
    if not Fraction(1, 10**6) <= value <= 1 - Fraction(1, 10**12):
        raise InvalidUtilityError(
            f"confidence is {show(value)}; it must lie between 0 and 1 (1e-6 to 1 - 1e-12), such as 0.95.",
            confidence=value,
        )


@record("error-quantile", error=InvalidUtilityError)
class ErrorQuantile(Record):
    """Half-width that the error stays within, with probability `confidence`."""

    confidence: Rational = rational(check=check_confidence)
    label: ClassVar[str] = "error-quantile"
    larger_is_better: ClassVar[bool] = False

    def __str__(self) -> str:
        return f"half-width at {float(self.confidence):.6g} confidence"


@record("growth", error=InvalidUtilityError)
class Growth(Record):
    """A promise about a loss: loss(x) <= factor * (1 + |x|)^power for every x."""

    power: Rational = rational(at_least=0, at_most=_LARGEST_POWER, shown="growth power")
    factor: Rational = rational(above=0, at_most=_LARGEST, shown="growth factor", default=1)

    def __str__(self) -> str:
        return f"{show(self.factor)} * (1 + |x|)^{show(self.power)}"


@record("expected-loss", error=InvalidUtilityError)
class Expected(Record):
    """Mean of a loss the user writes as a function of the error (released minus true answer).

    The loss is at least 0, does not decrease away from zero on either side, is not flat on either
    side, and stays below the declared growth; it may cost over- and under-reporting differently.
    Guarantees: each promise is checked wherever the loss is evaluated. The function is not stored
    in files.
    """

    name: Text = text()
    loss: Callable[[float], float] = derived(compare=True)
    growth: Growth = derived(compare=True)
    label: ClassVar[str] = "expected-loss"
    larger_is_better: ClassVar[bool] = False

    def __init__(self, loss: Callable[[float], float], *, growth: Growth | Number, name: str = "expected loss") -> None:
        if not callable(loss):
            raise InvalidUtilityError(f"loss is {loss!r}; give a function of one number, the error.", loss=loss)
        self.born(name=name)
        keep(self, loss=loss, growth=growth if isinstance(growth, Growth) else Growth(growth))

    def __str__(self) -> str:
        return self.name

    def __reduce__(self) -> tuple[Any, ...]:
        return _expected, (self.loss, self.growth, self.name)


def _expected(loss: Callable[[float], float], growth: Growth, name: str) -> Expected:
    return Expected(loss, growth=growth, name=name)


@record("worst-variance", error=InvalidUtilityError)
class WorstVariance(Record):
    """Largest variance over all true answers in the input range, for bounded questions.

    Where a bias is allowed it is the largest mean squared error, which is the same for no bias.
    """

    label: ClassVar[str] = "worst-variance"
    larger_is_better: ClassVar[bool] = False

    def __str__(self) -> str:
        return "worst-case variance"


@record("average-variance", error=InvalidUtilityError)
class AverageVariance(Record):
    """Variance averaged over the true answer, for bounded questions.

    `prior` is None for answers spread evenly over the input range, or pairs (answer, weight). Where
    a bias is allowed it is the average mean squared error, which is the same for no bias.
    """

    prior: Prior = optional(tuple_of(tuple_of(rational())), default=None)
    label: ClassVar[str] = "average-variance"
    larger_is_better: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if self.prior is not None:
            keep(self, prior=_merged(self.prior))

    def __str__(self) -> str:
        return "average variance" if self.prior is None else "average variance over the prior"


_MOST_PRIOR_POINTS = 60


def _merged(pairs: Iterable[tuple[Fraction, ...]]) -> tuple[tuple[Fraction, Fraction], ...]:
    """The prior with equal answers merged and weights that sum to one."""
    found: dict[Fraction, Fraction] = {}
    for pair in pairs:
        if len(pair) != 2:
            raise InvalidUtilityError(f"the prior holds {pair!r}; give pairs (answer, weight).", given=pair)
        answer, weight = pair
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

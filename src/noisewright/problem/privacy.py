"""What must be protected: privacy requirements, frozen and validated at birth."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol, runtime_checkable

from noisewright.problem.errors import InvalidPrivacyError
from noisewright.problem.metric_privacy import MetricPrivacy, metric_from_dict
from noisewright.problem.numbers import Number, parameter, show


@runtime_checkable
class Requirement(Protocol):
    """What must hold for every pair of neighbouring answers."""

    def to_dict(self) -> dict[str, Any]:
        """Plain data, numbers as exact text; `requirement_from_dict` inverts it."""
        ...

    def promise(self) -> str:
        """What is promised, in words that follow "whatever one person's data are, …"."""
        ...


SMALLEST_EPSILON = Fraction(1, 100_000)
LARGEST_EPSILON = Fraction(32)


@dataclass(frozen=True, slots=True, init=False)
class PureDP:
    """Pure epsilon-differential privacy: no outcome becomes more than e^epsilon times likelier.

    Valid for: epsilon from 1e-5 to 32; raises InvalidPrivacyError outside.
    """

    epsilon: Fraction

    def __init__(self, epsilon: Number) -> None:
        value = parameter(epsilon, "epsilon")
        if value <= 0:
            raise InvalidPrivacyError(
                f"epsilon is {show(value)}; it must be positive (typical values: 0.1 to 3).", epsilon=value
            )
        if not SMALLEST_EPSILON <= value <= LARGEST_EPSILON:
            reason = (
                "noise would exceed the sensitivity a hundred thousand times"
                if value < SMALLEST_EPSILON
                else "likelihood ratios of e^32 protect nobody"
            )
            raise InvalidPrivacyError(
                f"epsilon is {show(value)}; allowed is 1e-05 to 32 ({reason}). Choose an epsilon in that range.",
                epsilon=value,
            )
        object.__setattr__(self, "epsilon", value)

    def __str__(self) -> str:
        return f"pure differential privacy, epsilon = {show(self.epsilon)}"

    def to_dict(self) -> dict[str, Any]:
        """Plain data, numbers as exact text."""
        return {"kind": "pure", "epsilon": str(self.epsilon)}

    def promise(self) -> str:
        """In words."""
        return f"the probability of any released value changes by a factor of at most e^{show(self.epsilon)}"


REQUIREMENTS: dict[str, Callable[[Mapping[str, Any]], Requirement]] = {
    "pure": lambda data: PureDP(data["epsilon"]),
    "metric": lambda data: MetricPrivacy(metric_from_dict(data["metric"])),
}
"""How each kind of requirement is read back from files."""


def requirement_from_dict(data: Mapping[str, Any]) -> Requirement:
    """The requirement that `to_dict` described; KeyError, TypeError or ValueError if it is none."""
    return REQUIREMENTS[data["kind"]](data)

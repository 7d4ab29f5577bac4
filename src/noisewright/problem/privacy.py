"""What must be protected: privacy requirements, frozen and validated at birth."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from noisewright.problem.errors import InvalidPrivacyError
from noisewright.problem.numbers import Number, parameter, show

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
                f"epsilon is {float(value):.6g}; allowed is 1e-05 to 32 ({reason}). Choose an epsilon in that range.",
                epsilon=value,
            )
        object.__setattr__(self, "epsilon", value)

    def __str__(self) -> str:
        return f"pure differential privacy, epsilon = {show(self.epsilon)}"

    def to_dict(self) -> dict[str, Any]:
        """Plain data, numbers as exact text."""
        return {"kind": "pure", "epsilon": str(self.epsilon)}

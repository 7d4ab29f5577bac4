"""The same independent noise for every bin of a histogram."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from noisewright.mechanisms.additive import Additive, Released
from noisewright.mechanisms.base import MECHANISMS, Errors
from noisewright.mechanisms.expected import ErrorDensity
from noisewright.mechanisms.per_coordinate import Several, inside_of_part
from noisewright.numerics.fields import BALLS, Field, Floats, Value
from noisewright.problem.errors import InvalidAnswerError, InvalidMechanismError, InvalidUtilityError
from noisewright.problem.fields import only
from noisewright.problem.queries import Histogram
from noisewright.problem.records import record


@record("alike", MECHANISMS, error=InvalidMechanismError)
class IdenticalNoise(Several):
    """Every bin of a histogram gets independent noise of `part`; what is known of one bin is known of all."""

    query: Histogram = only(Histogram)  # type: ignore[assignment]  # several numbers, told by their count
    part: Additive = only(Additive)

    def __post_init__(self) -> None:
        if not self.part.query.integer:
            raise InvalidMechanismError(
                "the bins of a histogram are whole numbers; give noise for Scalar(integer=True)."
            )

    def law_given(self, answer: Sequence[Any]) -> list[Released]:
        """The law of each released count when `answer` are the true ones."""
        self.check(answer)
        return [self.part.law_given(x) for x in answer]

    def check(self, answer: Any) -> None:
        """Refuse what has not one count for each bin."""
        listed = (
            hasattr(answer, "__len__") and not isinstance(answer, str | bytes) and getattr(answer, "shape", 1) != ()
        )
        if not listed or len(answer) != self.query.bins:
            given = f"{len(answer)} counts" if listed else "no list"
            raise InvalidAnswerError(f"the answer has {given}; give one count for each of {self.query.bins} bins.")

    @property
    def error_density(self) -> ErrorDensity:
        """The density of the error of each bin."""
        return self.part.error_density

    def apart(self) -> list[Errors]:
        return [self.part.errors]

    def power_means(self, power: Fraction, field: Field) -> list[Value]:
        return self.part.errors.power_means(power, field)

    def chances(self, limits: tuple[Fraction, ...], field: Field) -> list[Value]:
        if len(set(limits)) > 1:
            raise InvalidUtilityError("the bins of a histogram share one limit; give within as a single number.")
        return self.part.errors.chances(limits[:1], BALLS)

    def inside(self, x: Floats) -> Floats:
        with np.errstate(divide="ignore"):
            return np.asarray(np.exp(self.query.bins * np.log(inside_of_part(self.part, x, direct=True))))

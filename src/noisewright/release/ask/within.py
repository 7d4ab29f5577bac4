"""Bounds of answers: where the true ones lie, from public knowledge, and what every released one stays within."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from noisewright.problem import numbers as exact
from noisewright.problem.errors import InvalidQueryError
from noisewright.problem.fields import Pair, Spec, only, optional, pair
from noisewright.problem.records import Record, record


@record("within", error=InvalidQueryError)
class Within(Record):
    """Where true answers lie and what released ones stay within, in the units of the question."""

    outputs: Pair = pair()
    inputs: Pair = pair()

    def __post_init__(self) -> None:
        if not self.outputs[0] <= self.inputs[0] < self.inputs[1] <= self.outputs[1]:
            raise InvalidQueryError(
                f"inputs is {ends_text(self.inputs)} and outputs {ends_text(self.outputs)}; the true answers must lie"
                " inside what may be released, with some room on both sides.",
                inputs=self.inputs,
                outputs=self.outputs,
            )


MaybeWithin = Spec[Within | None, Within | None]


def maybe_within() -> Any:
    """The bounds of answers as a field of a question; files of questions without them do not name it."""
    return optional(only(Within), default=None, absent=None)


def within(outputs: Sequence[exact.Number] | None, inputs: Sequence[exact.Number] | None) -> Within | None:
    """The bounds of a question; None without any, and a refusal of one without the other."""
    if outputs is None and inputs is None:
        return None
    if outputs is None or inputs is None:
        given, missing = ("inputs", "outputs") if outputs is None else ("outputs", "inputs")
        raise InvalidQueryError(
            f"{given} is given without {missing}; answers in bounds that are right on average need both:"
            " inputs=(lowest, highest) of the true answer, from public knowledge, and outputs=(lowest, highest) of"
            " released ones, which must leave room on both sides."
        )
    return Within(outputs, inputs)


def ends_text(ends: Sequence[Fraction]) -> str:
    """Two ends, each with every digit."""
    return f"{decimal_text(ends[0])} to {decimal_text(ends[1])}"


def decimal_text(value: Fraction) -> str:
    """Every digit of a decimal fraction, so that what is named can be typed back."""
    shown = f"{float(value):.15g}"
    return shown if Fraction(shown) == value else str(value)

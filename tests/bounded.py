"""Bounded questions that several tests ask."""

from __future__ import annotations

from fractions import Fraction

from noisewright.problem.queries import Bounded, Scalar


def question(
    sensitivity: str = "1",
    margin: str = "1.54149",
    *,
    bias: str | None = "0",
    inputs: tuple[int, int] = (0, 1),
    exact: bool = False,
) -> Bounded:
    """Answers from 0 to 1 (or other inputs), released within a margin on both sides."""
    room = Fraction(margin)
    outputs = (inputs[0] - room, inputs[1] + room)
    found = Scalar(sensitivity, inputs=inputs, outputs=outputs, bias=bias, exact=exact).bounded
    assert found is not None
    return found

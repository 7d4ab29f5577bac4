"""Bounded questions that several tests ask, and designs of them that take a part of the time."""

from __future__ import annotations

from fractions import Fraction

import pytest

from noisewright.problem.queries import Bounded, Scalar
from noisewright.search.designers import bounded

_MAKERS = bounded._closed_makers


def few_forms(patch: pytest.MonkeyPatch, *names: str) -> None:
    """Of the closed forms propose these alone: to tune and to prove all thirteen is most of what a design takes."""
    patch.setattr(bounded, "_closed_makers", lambda *asked: {name: _MAKERS(*asked)[name] for name in names})


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

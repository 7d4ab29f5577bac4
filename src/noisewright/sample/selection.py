"""Exact draws of mechanisms whose law depends on the answer: one inversion per release."""

from __future__ import annotations

from typing import Any

from noisewright.mechanisms.exponential import MinkowskiExponential
from noisewright.mechanisms.ranged import RangedNoise
from noisewright.numerics.balls import precision
from noisewright.numerics.fields import FLOATS
from noisewright.problem.numbers import show
from noisewright.sample.drawers import Releasing, describe_error, drawer_for
from noisewright.sample.entropy import Entropy
from noisewright.sample.refine import Inverter

_BITS = 64


@drawer_for.register(RangedNoise)
@drawer_for.register(MinkowskiExponential)
class AnswerDrawer(Releasing):
    """Draws the index of what is released from its own law, given the answer."""

    def __init__(self, mechanism: RangedNoise | MinkowskiExponential) -> None:
        self._mechanism = mechanism

    def release(self, answer: Any, entropy: Entropy) -> Any:
        stream = entropy.stream()
        index = Inverter(self._mechanism.law_given(answer)).invert(int(stream.words(1)[0]), _BITS, stream)
        if isinstance(self._mechanism, RangedNoise):
            return float(self._mechanism.value(index))
        point = tuple(float(x) for x in self._mechanism.candidates[index])
        return point[0] if len(point) == 1 else point


@describe_error.register
def _(mechanism: RangedNoise) -> list[str]:
    with precision():
        low, high = mechanism.query.low, mechanism.query.high
        roots = [root_mean_square(mechanism, s) for s in (low, (low + high) / 2)]
    return [
        f"Error: root mean square {roots[0]:.6g} for answers at an end of the range, {roots[1]:.6g} in its middle.",
        f"Released values lie between {show(low)} and {show(high)}, on cells of {show(mechanism.step)}.",
    ]


def root_mean_square(mechanism: RangedNoise, answer: Any) -> float:
    """Root mean square error at one answer, in floats."""
    law = mechanism.law_given(answer)
    total, before = 0.0, 1.0
    for k in range(mechanism.first_cell, mechanism.last_cell + 1):
        after = float(law.sf(k, FLOATS))
        total += (before - after) * float(mechanism.value(k) - law.point) ** 2
        before = after
    return float(total**0.5)


@describe_error.register
def _(mechanism: MinkowskiExponential) -> list[str]:
    return [f"Releases {mechanism.query}, with weight e^(-{show(mechanism.rate)} * distance^{show(mechanism.power)})."]

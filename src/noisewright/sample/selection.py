"""Exact draws of the exponential mechanism over enumerated candidates: one inversion per release."""

from __future__ import annotations

from typing import Any

from noisewright.mechanisms.exponential import MinkowskiExponential
from noisewright.problem.numbers import show
from noisewright.sample.drawers import Releasing, describe_error, drawer_for
from noisewright.sample.entropy import Entropy
from noisewright.sample.refine import Inverter


@drawer_for.register(MinkowskiExponential)
class AnswerDrawer(Releasing):
    """Draws the index of what is released from its own law, given the answer."""

    def release(self, answer: Any, entropy: Entropy) -> Any:
        index = Inverter(self._mechanism.law_given(answer)).draw(entropy.stream())
        point = tuple(float(x) for x in self._mechanism.candidates[index])
        return point[0] if len(point) == 1 else point


@describe_error.register
def _(mechanism: MinkowskiExponential) -> list[str]:
    return [f"Releases {mechanism.query}, with weight e^(-{show(mechanism.rate)} * distance^{show(mechanism.power)})."]

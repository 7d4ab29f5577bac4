"""Exact draws of the exponential mechanism."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from noisewright.mechanisms.choice import RandomExponential
from noisewright.problem.numbers import show
from noisewright.sample.drawers import Releasing, describe_error, drawer_for
from noisewright.sample.entropy import Entropy
from noisewright.sample.refine import Inverter

_BITS = 64


@drawer_for.register(RandomExponential)
class SelectionDrawer(Releasing):
    """Chooses a candidate by inverting the distribution function of its index in balls."""

    def __init__(self, mechanism: RandomExponential) -> None:
        self._mechanism = mechanism

    def release(self, answer: Mapping[str, Any], entropy: Entropy) -> str:
        stream = entropy.stream()
        inverter = Inverter(self._mechanism.law_given(answer))
        last = len(self._mechanism.query.candidates) - 1
        index = inverter.invert(int(stream.words(1)[0]), _BITS, stream, above=-1, at_most=last)
        return self._mechanism.query.candidates[index]


@describe_error.register
def _(mechanism: RandomExponential) -> list[str]:
    epsilons = ", ".join(show(e) for e in mechanism.epsilons)
    return [
        f"Chooses one of {len(mechanism.query.candidates)} candidates, higher scores more often (epsilon {epsilons})."
    ]

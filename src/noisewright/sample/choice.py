"""Exact draws of choices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from noisewright.mechanisms.choice import PermuteAndFlip, RandomExponential
from noisewright.numerics.balls import ball, precision, upper
from noisewright.problem.numbers import above, show
from noisewright.problem.utilities import ErrorQuantile
from noisewright.sample.drawers import Releasing, describe_error, drawer_for
from noisewright.sample.entropy import Entropy, WordStream
from noisewright.sample.refine import Inverter
from noisewright.sample.two_sided import flip
from noisewright.sample.uniform import whole_below

_BITS = 64


@drawer_for.register(RandomExponential)
@drawer_for.register(PermuteAndFlip)
class ChoiceDrawer(Releasing):
    """Chooses a candidate from the scores of all."""

    def release(self, answer: Mapping[str, Any], entropy: Entropy) -> str:
        stream = entropy.stream()
        if isinstance(self._mechanism, PermuteAndFlip):
            index = _flipped(self._mechanism, answer, stream)
        else:
            inverter, last = Inverter(self._mechanism.law_given(answer)), len(self._mechanism.query.candidates) - 1
            index = inverter.draw(stream, above=-1, at_most=last)
        return str(self._mechanism.query.candidates[index])


def _flipped(mechanism: PermuteAndFlip, answer: Mapping[str, Any], stream: WordStream) -> int:
    """The first index in a uniform order whose coin of probability e^-x accepts, both exactly."""
    refusals = mechanism.refusals(answer)
    waiting = list(range(len(refusals)))
    while True:
        place = whole_below(len(waiting), stream)
        index, waiting[place] = waiting[place], waiting[-1]
        waiting.pop()
        x = refusals[index]
        if not x or flip(lambda x=x: (-ball(x)).exp(), int(stream.words(1)[0]), _BITS, stream):  # type: ignore[misc]
            return index


@describe_error.register(RandomExponential)
@describe_error.register(PermuteAndFlip)
def _(mechanism: RandomExponential | PermuteAndFlip) -> list[str]:
    flips = isinstance(mechanism, PermuteAndFlip)
    epsilons = (mechanism.epsilon,) if isinstance(mechanism, PermuteAndFlip) else mechanism.epsilons
    with precision():
        far = upper(mechanism.expected(ErrorQuantile("0.95")))
    return [
        f"Chooses one of {len(mechanism.query.candidates)} candidates, higher scores more often, by"
        f" {'permute-and-flip' if flips else 'the exponential mechanism'} (epsilon {', '.join(map(show, epsilons))}).",
        f"Error: whatever the scores are, the chosen one is with 95 % confidence at most {above(far)} below the best.",
    ]

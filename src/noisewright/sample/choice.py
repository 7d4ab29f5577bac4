"""Exact draws of choices."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import accumulate
from typing import Any

from noisewright.mechanisms.choice import PermuteAndFlip, RandomExponential
from noisewright.mechanisms.exponential import MinkowskiExponential
from noisewright.mechanisms.metric_choice import MetricChoice
from noisewright.mechanisms.response import RandomisedResponse
from noisewright.numerics.balls import ball, ceil_scaled, floor_scaled, precision, upper
from noisewright.problem.numbers import above, show
from noisewright.problem.utilities import ErrorQuantile
from noisewright.sample.drawers import Releasing, describe_error, drawer_for
from noisewright.sample.refine import Inverter
from noisewright.sample.two_sided import flip
from noisewright.sample.uniform import Entropy, WordStream, whole_below

_WORD = 64
_GUARD = 96
_BITS = 64


def choose(log_weights: Sequence[Fraction], stream: WordStream) -> int:
    """An index drawn with probability proportional to e^log_weight, exactly."""
    bits, u = _WORD, int(stream.words(1)[0])
    while True:
        lows, highs = _scaled_sums(log_weights, bits)
        k = bisect_left(lows, u + 1)
        if k == 0 or highs[k - 1] <= u:
            return k
        u = (u << _WORD) | int(stream.words(1)[0])
        bits += _WORD


def _scaled_sums(log_weights: Sequence[Fraction], bits: int) -> tuple[list[int], list[int]]:
    """Integers below and above 2^bits times the distribution function."""
    with precision(bits + _GUARD):
        top = max(log_weights)
        sums = list(accumulate(ball(value - top).exp() for value in log_weights))
        shares = [value / sums[-1] for value in sums[:-1]]
        # Rounding may make lower ends of nearly equal sums decrease by a unit; searching needs them in order.
        lows = list(accumulate((min(1 << bits, floor_scaled(s, bits)) for s in shares), max))
        highs = [ceil_scaled(s, bits) for s in shares]
    return [*lows, 1 << bits], [*highs, 1 << bits]


@drawer_for.register(RandomExponential)
@drawer_for.register(PermuteAndFlip)
@drawer_for.register(MetricChoice)
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


@describe_error.register
def _(mechanism: MetricChoice) -> list[str]:
    with precision():
        far = upper(mechanism.expected(ErrorQuantile("0.95")))
    return [
        f"Chooses one of {len(mechanism.query.candidates)} candidates, higher scores more often, by the exponential"
        f" mechanism with scale {show(mechanism.scale)}.",
        f"Declared: a person who changes element moves every score by at most {show(mechanism.query.sensitivity)} times"
        f" the {mechanism.moves}.",
        f"Error: whatever the scores are, the chosen one is with 95 % confidence at most {above(far)} below the best.",
    ]


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


@drawer_for.register(RandomisedResponse)
class ResponseDrawer(Releasing):
    """The true value, or one of the others, from whole random numbers alone."""

    def release(self, answer: Any, entropy: Entropy) -> str:
        mechanism, stream = self._mechanism, entropy.stream()
        place, others = mechanism.law_given(answer).place, len(mechanism.values) - 1
        if whole_below(mechanism.truth.denominator, stream) < mechanism.truth.numerator:
            return str(mechanism.values[place])
        other = whole_below(others, stream)
        return str(mechanism.values[other + (other >= place)])


@describe_error.register
def _(mechanism: RandomisedResponse) -> list[str]:
    return [
        f"Releases a person's own value with probability {show(mechanism.truth)}, each of the other"
        f" {len(mechanism.values) - 1} with {show(mechanism.other)}."
    ]

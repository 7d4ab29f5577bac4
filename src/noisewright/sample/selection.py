"""Exact draws of choices, of answers in the local model, and of synthetic histograms."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.mechanisms.linear.synthetic import MetricExponential, MetricMWEM, MetricSmallDB
from noisewright.mechanisms.response import RandomisedResponse
from noisewright.mechanisms.selection import MetricChoice, MinkowskiExponential, PermuteAndFlip, RandomExponential
from noisewright.numerics.balls import ball, ceil_scaled, floor_scaled, precision
from noisewright.numerics.lp import reweighed
from noisewright.problem.linear import checked_histogram
from noisewright.sample.drawers import Releasing, drawer_for
from noisewright.sample.entropy import Entropy, WordStream, whole_below
from noisewright.sample.integer_noise import TwoSided, flip
from noisewright.sample.inversion import Inverter

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


@drawer_for.register(MinkowskiExponential)
class AnswerDrawer(Releasing):
    """Draws the index of what is released from its own law, given the answer."""

    def release(self, answer: Any, entropy: Entropy) -> Any:
        index = Inverter(self._mechanism.law_given(answer)).draw(entropy.stream())
        point = tuple(float(x) for x in self._mechanism.candidates[index])
        return point[0] if len(point) == 1 else point


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


@drawer_for.register(MetricExponential)
class ExponentialDrawer(Releasing):
    """One choice."""

    def release(self, answer: Any, entropy: Entropy) -> int:
        """The index of the chosen row, from the histogram."""
        return choose(self._mechanism.log_weights(answer), entropy.stream())


@drawer_for.register(MetricSmallDB)
class SmallDBDrawer(Releasing):
    """One of all small databases."""

    def release(self, answer: Any, entropy: Entropy) -> NDArray[np.float64]:
        """The chosen database, scaled to everybody, from the histogram."""
        counts = checked_histogram(answer, self._mechanism.query.size)
        scores, people = self._mechanism.scores(counts), sum(counts)
        databases = list(self._mechanism.databases())
        weights = [self._mechanism.log_weight(scores, people, y) for y in databases]
        chosen = databases[choose(weights, entropy.stream())]
        return np.array(chosen, dtype=np.float64) * float(people / self._mechanism.rows)


@drawer_for.register(MetricMWEM)
class MWEMDrawer(Releasing):
    """Rounds of choosing, measuring and reweighing."""

    def __init__(self, mechanism: MetricMWEM) -> None:
        super().__init__(mechanism)
        share = mechanism.rate / (2 * mechanism.rounds)
        self._noise = TwoSided(lambda: ball(share))

    def release(self, answer: Any, entropy: Entropy) -> NDArray[np.float64]:
        """A synthetic histogram with the public number of people, from the histogram."""
        mechanism, stream = self._mechanism, entropy.stream()
        counts = checked_histogram(answer, mechanism.query.size)
        scores, people = mechanism.scores(counts), sum(counts)
        step = float(mechanism.step)
        rows = np.array(mechanism.columns, dtype=np.float64) * step
        weights = np.full(len(counts), people / len(counts))
        total = np.zeros(len(counts))
        if not people:
            return total
        for _ in range(mechanism.rounds):
            # The synthetic answers are public, so they may be rounded to whole steps before comparing.
            current = [round(float(v) / step) for v in rows @ weights]
            distances = [abs(s - v) for s, v in zip(scores, current, strict=True)]
            chosen = choose([mechanism.rate * d / (4 * mechanism.rounds) for d in distances], stream)
            measured = step * float(scores[chosen] + int(self._noise.draw(1, stream)[0]))
            weights = reweighed(weights, rows[chosen], measured, people)
            total += weights
        return np.asarray(total / mechanism.rounds)

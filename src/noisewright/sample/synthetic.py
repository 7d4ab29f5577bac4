"""How choices and synthetic histograms are drawn."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.mechanisms.selection import MetricExponential, MetricMWEM, MetricSmallDB
from noisewright.numerics.balls import ball
from noisewright.numerics.lp import reweighed
from noisewright.problem.linear import checked_histogram
from noisewright.problem.numbers import above
from noisewright.sample.choice import choose
from noisewright.sample.drawers import Releasing, describe_error, drawer_for
from noisewright.sample.two_sided import TwoSided
from noisewright.sample.uniform import Entropy

_CONFIDENCE = Fraction(95, 100)


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


@describe_error.register
def _(mechanism: MetricExponential) -> list[str]:
    scale = float(mechanism.scale)
    choices = mechanism.query.dimension
    return [
        f"Chooses one of {choices}: except with probability e^-t its score is within {2 * scale:.4g} (ln {choices} + t)"
        " of the best."
    ]


@describe_error.register
def _(mechanism: MetricSmallDB) -> list[str]:
    return [
        f"Chooses one of {mechanism.candidates} databases of {mechanism.rows} rows, scaled to everybody.",
        *_how_far(mechanism),
    ]


@describe_error.register
def _(mechanism: MetricMWEM) -> list[str]:
    return [
        f"Synthetic histogram after {mechanism.rounds} rounds; each measurement has noise of scale"
        f" {float(2 * mechanism.rounds * mechanism.scale):.4g}.",
        *_how_far(mechanism),
    ]


def _how_far(mechanism: MetricSmallDB | MetricMWEM) -> list[str]:
    if mechanism.known_people is None:
        return ["How far off its answers are depends on how many people there are, which the question does not say."]
    far = above(mechanism.within(_CONFIDENCE, mechanism.known_people))
    return [
        f"Error: with 95 % confidence every answer is within {far} of the truth, for {mechanism.known_people} people."
    ]

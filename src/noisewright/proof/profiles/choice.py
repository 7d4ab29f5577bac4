"""Profiles of the exponential mechanism: all losses of one pair of neighbours lie in one interval of length epsilon."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from noisewright.numerics.balls import Ball, ball, precision
from noisewright.proof.profiles.base import GUARD_BITS, Profile, units_above


@dataclass(frozen=True, slots=True)
class BoundedRangeProfile(Profile):
    """Choices with weights e^(epsilon score / 2), scores that one person moves by 1; epsilon is random, weights[i].

    Rule: the loss of candidate r is epsilon (s_r - s'_r) / 2, between -epsilon/2 and epsilon/2, plus the logarithm of
    the ratio of the two sums of weights, the same for every r: all losses lie between t - epsilon and t for some t
    (Durfee and Rogers 2019). Among such pairs none is told apart better than one with losses t and t - epsilon alone
    (a chord lies above its curve); the first then has probability (1 - e^(t - epsilon)) / (1 - e^-epsilon), which
    times 1 - e^(e - t) is largest at t = (e + epsilon) / 2. So delta is (1 - e^((e - epsilon) / 2))^2 over
    1 - e^-epsilon for e up to epsilon, and 0 beyond. It is jointly convex, so a random epsilon has the mean of these.
    [DurfeeRogers19, DongDurfeeRogers20]
    """

    epsilons: tuple[Fraction, ...]
    weights: tuple[Fraction, ...]
    rule: str = "profile/bounded-range"

    @property
    def spread(self) -> float:
        halves = [float(min(e, Fraction(600))) / 2 for e in self.epsilons]
        return math.sqrt(sum(w * (h / math.cosh(h / 2)) ** 2 for h, w in zip(halves, self.weights, strict=True)))

    @property
    def largest(self) -> Fraction | None:
        return max(self.epsilons)

    def deltas(self, epsilons: Sequence[Fraction], bits: int) -> list[int]:
        with precision(bits + GUARD_BITS):
            return [
                units_above(self._delta(epsilon), bits) if epsilon < max(self.epsilons) else 0 for epsilon in epsilons
            ]

    def _delta(self, epsilon: Fraction) -> Ball:
        total = ball(0)
        for own, weight in zip(self.epsilons, self.weights, strict=True):
            if epsilon < own:
                total = total - ball(weight) * ball((epsilon - own) / 2).expm1() ** 2 / ball(-own).expm1()
        return total

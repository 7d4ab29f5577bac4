"""Profiles of noise born on the integers: the losses of a shift by whole numbers, exactly at their atoms."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from noisewright.numerics.balls import Ball, ball, precision
from noisewright.proof.profiles import GUARD_BITS, NOTHING, units_above


@dataclass(frozen=True, slots=True)
class DiscreteLaplaceProfile:
    """Noise with masses proportional to e^(-rate |k|) on the whole numbers, shifted by at most `shift` of them.

    Rule: the noise is symmetric and falls outward, so the largest shift s is the worst (see `composed`). The loss at k
    is rate (|k + s| - |k|), that is rate (2k + s) for -s <= k <= 0 and rate s beyond; it does not decrease in k, so the
    worst set at epsilon is {k, k + 1, …} with k the first one whose loss exceeds epsilon.
    """

    rate: Fraction
    shift: int
    rule: str = "profile/discrete-laplace"

    @property
    def spread(self) -> float:
        return float(self.rate) * self.shift / math.cosh(min(float(self.rate), 40.0) * self.shift / 2)

    @property
    def largest(self) -> Fraction | None:
        return self.rate * self.shift

    @property
    def lost(self) -> Fraction:
        return NOTHING

    @property
    def lattice(self) -> Fraction | None:
        return self.rate if self.shift % 2 else 2 * self.rate

    def deltas(self, epsilons: Sequence[Fraction], bits: int) -> list[int]:
        with precision(bits + GUARD_BITS):
            fade = ball(-self.rate).exp()
            found = []
            for epsilon in epsilons:
                first = math.floor((epsilon / self.rate - self.shift) / 2) + 1
                if first > 0:
                    found.append(0)
                    continue
                value = _tail(fade, first) - ball(epsilon).exp() * _tail(fade, first + self.shift)
                found.append(units_above(value, bits))
            return found


def _tail(fade: Ball, k: int) -> Ball:
    """P(K >= k) of masses proportional to fade^|k|."""
    return fade**k / (1 + fade) if k > 0 else 1 - fade ** (1 - k) / (1 + fade)

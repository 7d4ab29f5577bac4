"""Profiles of noise defined on the integers: the losses of a shift by whole numbers, exactly at their atoms."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from noisewright.laws.gaussian import DiscreteGaussian
from noisewright.laws.lattice import Lattice
from noisewright.numerics.balls import Ball, ball, precision
from noisewright.numerics.fields import BALLS
from noisewright.proof.profiles.base import GUARD_BITS, PairLosses, Profile, units_above


@dataclass(frozen=True, slots=True)
class DiscreteLaplaceProfile(Profile, PairLosses):
    """Noise with masses proportional to e^(-rate |k|) on the whole numbers, shifted by at most `shift` of them.

    Rule: the noise is symmetric and falls outward, so the largest shift s is the worst (see `composed`). The loss at k
    is rate (|k + s| - |k|), that is rate (2k + s) for -s <= k <= 0 and rate s beyond; it does not decrease in k, so the
    worst set at epsilon is {k, k + 1, …} with k the first one whose loss exceeds epsilon.
    [theory#the-privacy-profile-of-one-number]
    """

    rate: Fraction
    shift: int
    rule: str = "profile/discrete-laplace"

    @property
    def spread(self) -> float:
        half = min(self.rate * self.shift / 2, Fraction(300))
        return 2 * float(half) / math.cosh(half)

    @property
    def largest(self) -> Fraction | None:
        return self.rate * self.shift

    @property
    def lattice(self) -> Fraction | None:
        return self.rate if self.shift % 2 else 2 * self.rate

    def deltas(self, epsilons: Sequence[Fraction], bits: int) -> list[int]:
        with precision(bits + GUARD_BITS):
            fade, largest = ball(-self.rate).exp(), self.rate * self.shift
            found = []
            for epsilon in epsilons:
                first = self._first_above(epsilon)
                value = _tail(fade, first) - ball(epsilon).exp() * _tail(fade, first + self.shift)
                found.append(0 if epsilon >= largest else units_above(value, bits))
            return found

    def _first_above(self, epsilon: Fraction) -> int:
        """The first whole number whose loss exceeds epsilon, for epsilon below the largest loss."""
        return math.floor((epsilon / self.rate - self.shift) / 2) + 1

    def passed(self, epsilons: Sequence[Fraction], lattice: Lattice | None) -> Iterator[tuple[Ball, Ball]]:
        """P(loss >= epsilon) and Q(loss > epsilon), epsilon >= 0, at the working precision."""
        fade, largest = ball(-self.rate).exp(), self.rate * self.shift
        for epsilon in epsilons:
            first = math.ceil((epsilon / self.rate - self.shift) / 2)
            yield (
                ball(0) if epsilon > largest else _tail(fade, first),
                ball(0) if epsilon >= largest else _tail(fade, self._first_above(epsilon) + self.shift),
            )


@dataclass(frozen=True, slots=True)
class DiscreteGaussianProfile(Profile, PairLosses):
    """Noise with masses proportional to e^(-k^2 / (2 std^2)) on the whole numbers, shifted by at most `shift` of them.

    Rule: as for discrete Laplace noise, with the loss (2k + s) s / (2 std^2).
    [CanonneKamathSteinke20, theory#the-privacy-profile-of-one-number]
    """

    law: DiscreteGaussian
    shift: int
    rule: str = "profile/half-line-of-integers"

    @property
    def spread(self) -> float:
        return self.shift / float(self.law.std)

    @property
    def lattice(self) -> Fraction | None:
        return self.shift * Fraction(1 if self.shift % 2 else 2) / (2 * self.law.std**2)

    def deltas(self, epsilons: Sequence[Fraction], bits: int) -> list[int]:
        with precision(bits + GUARD_BITS):
            tail, found = self.law.tail, list[int]()
            for epsilon in epsilons:
                first = self.law.first_above(epsilon, self.shift)
                value = tail(first, BALLS) - ball(epsilon).exp() * tail(first + self.shift, BALLS)
                found.append(units_above(value, bits))
            return found

    def passed(self, epsilons: Sequence[Fraction], lattice: Lattice | None) -> Iterator[tuple[Ball, Ball]]:
        """P(loss >= epsilon) and Q(loss > epsilon), epsilon >= 0, at the working precision."""
        for epsilon in epsilons:
            at_least = math.ceil((2 * self.law.std**2 * epsilon - self.shift**2) / (2 * self.shift))
            above = self.law.first_above(epsilon, self.shift)
            yield self.law.tail(at_least, BALLS), self.law.tail(above + self.shift, BALLS)


def _tail(fade: Ball, k: int) -> Ball:
    """P(K >= k) of masses proportional to fade^|k|."""
    return fade**k / (1 + fade) if k > 0 else 1 - fade ** (1 - k) / (1 + fade)

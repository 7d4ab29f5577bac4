"""Profiles of Laplace noise, whole or cut off at a bound: the place where the loss passes epsilon is rational."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from noisewright.laws.laplace import Laplace, TruncatedLaplace
from noisewright.laws.lattice import Lattice
from noisewright.numerics.balls import Ball, ball, precision, upper
from noisewright.numerics.fields import BALLS
from noisewright.proof.profiles.base import (
    GUARD_BITS,
    NOTHING,
    Interval,
    PairLosses,
    Profile,
    grown,
    shrunk,
    units_above,
)

_BITS = 320


@dataclass(frozen=True, slots=True)
class LaplaceProfile(Profile, PairLosses):
    """Laplace noise of scale 1, shifted by at most `shift` scales, and cut off at `bound` if there is one.

    Rule: symmetric and log-concave, so the largest shift is the worst and the worst set a half-line. The loss
    |x + s| - |x| is 2x + s from -s/2 to 0 and s from there on; where x + s is beyond the bound it is infinite.
    [theory#the-privacy-profile-of-one-number]
    """

    shift: Fraction
    bound: Fraction | None = None
    rule: str = "profile/laplace"

    @property
    def _law(self) -> Laplace | TruncatedLaplace:
        return Laplace(1) if self.bound is None else TruncatedLaplace(1, self.bound)

    @property
    def spread(self) -> float:
        size = min(float(self.shift), 40.0)
        mean = size - 1 + math.exp(-size)
        return math.sqrt(max(0.0, self._square(size) - mean**2))

    @staticmethod
    def _square(size: float) -> float:
        """The mean of the squared loss: s^2 half the time and as e^-s / 2, (s - 2t)^2 with density e^-t / 2 between."""
        fade = math.exp(-size)
        between = (size**2 - 4 * size + 8) - fade * (size**2 + 4 * size + 8)
        return size**2 * (1 + fade) / 2 + between / 2

    @property
    def largest(self) -> Fraction | None:
        if self.bound is None:
            return self.shift
        return max(NOTHING, min(self.shift, 2 * self.bound - self.shift))

    @property
    def lost(self) -> Fraction:
        if self.bound is None:
            return NOTHING
        with precision(_BITS):
            return min(Fraction(1), upper(self._law.sf(self.bound - self.shift, BALLS)))

    def deltas(self, epsilons: Sequence[Fraction], bits: int) -> list[int]:
        law, found = self._law, list[int]()
        with precision(bits + GUARD_BITS):
            for epsilon in epsilons:
                around = law.crossing(epsilon, self.shift)
                if around is None:
                    found.append(0)
                    continue
                value = law.sf(around[0], BALLS) - ball(epsilon).exp() * law.sf(around[0] + self.shift, BALLS)
                found.append(units_above(value, bits))
        return found

    def infinite(self, lattice: Lattice | None) -> Ball:
        """P(loss is infinite) from below, at the working precision; of noise on a lattice for its whole cells."""
        if self.bound is None:
            return ball(0)
        beyond = shrunk(self.bound - self.shift, None, lattice)
        return ball(0) if beyond is None else self._law.sf(beyond[0], BALLS)

    def passed(self, epsilons: Sequence[Fraction], lattice: Lattice | None) -> Iterator[tuple[Ball, Ball]]:
        """P(finite loss >= epsilon) from below and Q(loss > epsilon) from above, epsilon >= 0 (see `SmoothProfile`)."""
        end = None if self.bound is None else self.bound - self.shift
        largest = self.largest or NOTHING
        for epsilon in epsilons:
            place = (epsilon - self.shift) / 2
            certain = None if epsilon > largest else shrunk(place, end, lattice)
            possible = None if epsilon >= largest else grown(place, end, lattice)
            yield self._mass(certain, NOTHING), self._mass(possible, self.shift)

    def _mass(self, interval: Interval | None, shift: Fraction) -> Ball:
        if interval is None:
            return ball(0)
        a, b = interval
        inside = self._law.sf(a + shift, BALLS)
        return inside if b is None else inside - self._law.sf(b + shift, BALLS)

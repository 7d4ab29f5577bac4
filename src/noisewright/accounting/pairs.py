"""Pairs of neighbours in closed form, for lower ends: continuous Gaussian noise and randomised response."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from noisewright.laws.lattice import Lattice
from noisewright.numerics.balls import Ball, ball


@dataclass(frozen=True, slots=True)
class GaussianLosses:
    """Losses of N(0, 1) against N(mu, 1), `squared` being mu^2: N(mu^2/2, mu^2) under the first law."""

    squared: Fraction

    def infinite(self, lattice: Lattice | None) -> Ball:
        """There are none."""
        return ball(0)

    def passed(self, epsilons: Sequence[Fraction], lattice: Lattice | None) -> Iterator[tuple[Ball, Ball]]:
        """P(loss >= epsilon) and Q(loss > epsilon)."""
        mu = ball(self.squared).sqrt()
        half, slope = mu / ball(8).sqrt(), 1 / (mu * ball(2).sqrt())
        for epsilon in epsilons:
            place = ball(epsilon) * slope
            yield (place - half).erfc() / 2, (place + half).erfc() / 2


@dataclass(frozen=True, slots=True)
class ResponseLosses:
    """Losses of randomised response: epsilon where the answer is true, -epsilon where it is not."""

    epsilon: Fraction

    def infinite(self, lattice: Lattice | None) -> Ball:
        """There are none."""
        return ball(0)

    def passed(self, epsilons: Sequence[Fraction], lattice: Lattice | None) -> Iterator[tuple[Ball, Ball]]:
        """P(loss >= epsilon) and Q(loss > epsilon), for epsilons >= 0."""
        grown = ball(self.epsilon).exp()
        for epsilon in epsilons:
            yield (
                ball(0) if epsilon > self.epsilon else grown / (1 + grown),
                ball(0) if epsilon >= self.epsilon else 1 / (1 + grown),
            )

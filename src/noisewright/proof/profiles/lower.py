"""Losses of one pair of neighbours from below: noise, and the same noise moved by the whole sensitivity.

What is drawn is on a lattice, and rounding can only lessen what is lost. So the pair is that of the drawn laws: where a
continuous law is rounded, only cells count of which every place has the loss.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from noisewright.laws.lattice import Lattice
from noisewright.laws.piecewise import Piecewise
from noisewright.numerics.balls import Ball, ball, floor_scaled, precision
from noisewright.proof.profiles.base import GUARD_BITS, PairLosses
from noisewright.proof.profiles.cells import atoms_of, mass_of


@dataclass(frozen=True, slots=True)
class SymmetricPair:
    """Symmetric noise at its largest shift; rounded to a lattice, in units of the shift, if it is.

    Rule: reflection at half the shift exchanges P and Q and turns the sign of the loss. So P(loss >= -e) is one minus
    Q(loss > e), and a pair in the other order is the same pair. [theory#privacy-loss-distributions]
    """

    profile: PairLosses
    lattice: Lattice | None = None
    rule: str = "pair/largest-shift"

    def turned(self) -> SymmetricPair:
        return self

    def masses_below(self, edges: Sequence[Fraction], bits: int) -> list[int]:
        with precision(bits + GUARD_BITS):
            rest = 1 - self.profile.infinite(self.lattice)
            sizes = sorted({abs(edge) for edge in edges})
            known = dict(zip(sizes, self.profile.passed(sizes, self.lattice), strict=True))
            tails = [known[edge][0] if edge >= 0 else rest - known[-edge][1] for edge in edges]
            return _differences([floor_scaled(tail, bits) for tail in tails])

    def infinite_below(self, bits: int) -> int:
        with precision(bits + GUARD_BITS):
            return max(0, floor_scaled(self.profile.infinite(self.lattice), bits))


@dataclass(frozen=True, slots=True)
class LevelsPair:
    """Noise with levels, P at the smaller answer: Q is that of X + `shift`, or of X - shift where it is negative.

    Its cells begin at edges of the lattice, so that rounding changes no loss.
    """

    law: Piecewise
    shift: Fraction
    rule: str = "pair/largest-shift-of-levels"

    def turned(self) -> LevelsPair:
        return replace(self, shift=-self.shift)

    def masses_below(self, edges: Sequence[Fraction], bits: int) -> list[int]:
        with precision(bits + GUARD_BITS):
            atoms = atoms_of(self.law, -self.shift)
            losses = sorted(((self.law.rate * apart, mass_of(self.law, atoms[apart])) for apart in atoms), reverse=True)
            tails, total, passed = [], ball(0), 0
            for edge in reversed(edges):
                while passed < len(losses) and losses[passed][0] >= edge:
                    total, passed = total + losses[passed][1], passed + 1
                tails.append(floor_scaled(total, bits))
            return _differences(tails[::-1])

    def infinite_below(self, bits: int) -> int:
        return 0


def _differences(tails: Sequence[int]) -> list[int]:
    """Masses whose sums from each place on are at most the given ones, and as large as can be."""
    masses, beyond = [], 0
    for tail in reversed(tails):
        masses.append(max(0, tail - beyond))
        beyond = max(beyond, tail)
    return masses[::-1]


@dataclass(frozen=True, slots=True)
class GaussianLosses(PairLosses):
    """Losses of N(0, 1) against N(mu, 1), `squared` being mu^2: N(mu^2/2, mu^2) under the first law."""

    squared: Fraction

    def passed(self, epsilons: Sequence[Fraction], lattice: Lattice | None) -> Iterator[tuple[Ball, Ball]]:
        """P(loss >= epsilon) and Q(loss > epsilon)."""
        mu = ball(self.squared).sqrt()
        half, slope = mu / ball(8).sqrt(), 1 / (mu * ball(2).sqrt())
        for epsilon in epsilons:
            place = ball(epsilon) * slope
            yield (place - half).erfc() / 2, (place + half).erfc() / 2


@dataclass(frozen=True, slots=True)
class ResponseLosses(PairLosses):
    """Losses of randomised response: epsilon where the answer is true, -epsilon where it is not."""

    epsilon: Fraction

    def passed(self, epsilons: Sequence[Fraction], lattice: Lattice | None) -> Iterator[tuple[Ball, Ball]]:
        """P(loss >= epsilon) and Q(loss > epsilon), for epsilons >= 0."""
        grown = ball(self.epsilon).exp()
        for epsilon in epsilons:
            yield (
                ball(0) if epsilon > self.epsilon else grown / (1 + grown),
                ball(0) if epsilon >= self.epsilon else 1 / (1 + grown),
            )

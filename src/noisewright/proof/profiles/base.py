"""Privacy profiles: what one release can lose, in the form in which losses are added up.

The profile of a mechanism is delta(epsilon), the largest hockey-stick divergence over all ordered pairs of
neighbours. In e^epsilon it is convex and does not increase; delta(-epsilon) = 1 - e^(-epsilon) (1 - delta(epsilon)),
because neighbours may be exchanged, so only epsilon >= 0 is asked for.

Profiles are frozen and exact, so that what was computed about one can be kept under it.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from noisewright.laws.lattice import Lattice
from noisewright.numerics.balls import Ball, ball, ceil_scaled, precision

GUARD_BITS = 64
NOTHING = Fraction(0)
_LARGEST_HALF = Fraction(300)

Interval = tuple[Fraction, Fraction | None]
"""From a place to another one, or for ever."""


class Profile(ABC):
    """Upper bounds of the profile of one release; as it stands here, its losses have no end and share no lattice."""

    __slots__ = ()

    @property
    @abstractmethod
    def rule(self) -> str:
        """The name of the theorem by which the bounds hold."""

    @property
    @abstractmethod
    def spread(self) -> float:
        """About the standard deviation of the privacy loss: a hint for choosing grids, never evidence."""

    @property
    def largest(self) -> Fraction | None:
        """A loss that is passed with probability `lost` only; None where the losses have no end."""
        return None

    @property
    def lost(self) -> Fraction:
        """The value that the profile keeps from `largest` on (the delta of an (epsilon, delta) pair); 0 otherwise."""
        return NOTHING

    @property
    def lattice(self) -> Fraction | None:
        """A loss of which all losses are multiples, where there is one: atoms then fall on the grid."""
        return None

    @abstractmethod
    def deltas(self, epsilons: Sequence[Fraction], bits: int) -> list[int]:
        """Integers at or above 2^bits delta(epsilon), for epsilons >= 0 in rising order."""


class PairLosses(ABC):
    """The losses of noise against itself, moved by its largest shift, from below; no loss is infinite."""

    __slots__ = ()

    def infinite(self, lattice: Lattice | None) -> Ball:
        """P(loss is infinite) from below, at the working precision; of noise on a lattice for its whole cells."""
        return ball(0)

    @abstractmethod
    def passed(self, epsilons: Sequence[Fraction], lattice: Lattice | None) -> Iterator[tuple[Ball, Ball]]:
        """P(finite loss >= epsilon) from below and Q(loss > epsilon) from above, epsilon >= 0, at that precision."""


class LowerPair(Protocol):
    """The privacy loss of one pair of neighbours that all releases of a plan may share, from below.

    P is the law of the release where the answer is the smaller one, Q that where it is larger by the sensitivity (in
    every number); the loss is ln P/Q at a value drawn from P. Compose pairs of one direction with each other only.
    """

    @property
    def rule(self) -> str:
        """Which pair it is."""
        ...

    def turned(self) -> LowerPair:
        """The same two neighbours in the other order: Q against P. Symmetric noise gives itself."""
        ...

    def masses_below(self, edges: Sequence[Fraction], bits: int) -> list[int]:
        """As many whole numbers as there are edges, which rise and may be negative: masses in units of 2^-bits.

        Number j belongs to the losses from edge j up to, but not including, edge j + 1; the last one to all finite
        losses from the last edge on. Guarantees: the numbers from any place j on add up to at most 2^bits times the
        chance of a finite loss of at least edge j, so that a law with these masses at the edges, and nothing else, is
        nowhere worse than the pair; sums and compositions of such laws are not either. Each is within a few units of
        the truth where the place at which the loss passes an edge is known exactly.
        """
        ...

    def infinite_below(self, bits: int) -> int:
        """A whole number at or below 2^bits times the chance of an infinite loss, which no mass above counts."""
        ...


def units_above(value: Ball, bits: int) -> int:
    """A probability in units of 2^-bits, rounded up; it is known to lie between 0 and 1."""
    return min(max(0, ceil_scaled(value, bits)), 1 << bits)


def shrunk(start: Fraction, end: Fraction | None, lattice: Lattice | None) -> Interval | None:
    """The whole cells of a lattice inside an interval; the interval itself without one."""
    if lattice is None:
        return start, end
    first = math.ceil(start / lattice.step + lattice.edge)
    after = None if end is None else math.floor(end / lattice.step + lattice.edge)
    if after is not None and after <= first:
        return None
    return lattice.lower_edge(first), None if after is None else lattice.lower_edge(after)


def grown(start: Fraction, end: Fraction | None, lattice: Lattice | None) -> Interval:
    """The cells of a lattice that touch an interval; the interval itself without one."""
    if lattice is None:
        return start, end
    first = math.floor(start / lattice.step + lattice.edge)
    after = None if end is None else math.ceil(end / lattice.step + lattice.edge)
    return lattice.lower_edge(first), None if after is None else lattice.lower_edge(after)


@dataclass(frozen=True, slots=True)
class GaussianProfile(Profile):
    """Gaussian noise that one person shifts by mu deviations: N(0, 1) against N(mu, 1), `squared` being mu^2.

    Rule: the loss is itself Gaussian, delta = Q(epsilon/mu - mu/2) - e^epsilon Q(epsilon/mu + mu/2), which grows with
    mu: smaller shifts are covered. Rounding the release is post-processing. [BalleWang18]
    """

    squared: Fraction
    rule: str = "profile/gaussian"

    @property
    def spread(self) -> float:
        return math.sqrt(self.squared)

    @property
    def largest(self) -> Fraction | None:
        return None if self.squared else NOTHING

    def deltas(self, epsilons: Sequence[Fraction], bits: int) -> list[int]:
        if not self.squared:
            return [0] * len(epsilons)
        with precision(bits + GUARD_BITS):
            mu = ball(self.squared).sqrt()
            half, slope = mu / ball(8).sqrt(), 1 / (mu * ball(2).sqrt())
            found = []
            for epsilon in epsilons:
                place, factor = ball(epsilon) * slope, ball(epsilon).exp()
                value = ((place - half).erfc() - factor * (place + half).erfc()) / 2
                found.append(units_above(value, bits))
            return found


@dataclass(frozen=True, slots=True)
class PairProfile(Profile):
    """Everything that is known of a release is that it is (epsilon, delta)-private.

    Rule: no such release is told apart better than four points (Kairouz, Oh and Viswanath): under the first law delta
    at an infinite loss, (1 - delta) e^epsilon / (1 + e^epsilon) at epsilon and the rest at -epsilon. So the profile is
    delta + (1 - delta) (e^epsilon - e^e) / (1 + e^epsilon) at e below epsilon, and delta from there on.
    [KairouzOhViswanath15]
    """

    epsilon: Fraction
    delta: Fraction = NOTHING
    rule: str = "profile/pair"

    @property
    def spread(self) -> float:
        half = min(self.epsilon / 2, _LARGEST_HALF)
        return math.sqrt(1 - self.delta) * 2 * float(half) / math.cosh(half)

    @property
    def largest(self) -> Fraction | None:
        return self.epsilon

    @property
    def lost(self) -> Fraction:
        return self.delta

    @property
    def lattice(self) -> Fraction | None:
        return self.epsilon or None

    def deltas(self, epsilons: Sequence[Fraction], bits: int) -> list[int]:
        with precision(bits + GUARD_BITS):
            least = units_above(ball(self.delta), bits)
            top = ball(self.epsilon).exp()
            share = ball(1 - self.delta) / (1 + top)
            return [
                least if e >= self.epsilon else units_above(ball(self.delta) + share * (top - ball(e).exp()), bits)
                for e in epsilons
            ]


@dataclass(frozen=True, slots=True)
class LeastProfile(Profile):
    """Several bounds of one profile at once: at every epsilon the smallest of them holds."""

    bounds: tuple[Profile, ...]

    @property
    def rule(self) -> str:
        return " or ".join(dict.fromkeys(bound.rule for bound in self.bounds))

    @property
    def spread(self) -> float:
        return min(bound.spread for bound in self.bounds)

    @property
    def largest(self) -> Fraction | None:
        return self._end()[1]

    @property
    def lost(self) -> Fraction:
        return self._end()[0]

    def _end(self) -> tuple[Fraction, Fraction | None]:
        """The smallest delta that is kept, and from which loss on; (0, None) where one bound goes on falling."""
        ends = [(bound.lost, bound.largest) for bound in self.bounds if bound.largest is not None]
        if len(ends) < len(self.bounds) and not any(lost == 0 for lost, _ in ends):
            return NOTHING, None
        return min(ends)

    @property
    def lattice(self) -> Fraction | None:
        return self.bounds[0].lattice if len(self.bounds) == 1 else None

    def deltas(self, epsilons: Sequence[Fraction], bits: int) -> list[int]:
        found = [bound.deltas(epsilons, bits) for bound in self.bounds]
        return [min(values) for values in zip(*found, strict=True)]


@dataclass(frozen=True, slots=True)
class MostProfile(Profile):
    """Several possibilities of which one is the case, it is not known which: at every epsilon the largest holds.

    Valid for: one release by one of them, such as differences of which one person makes one.
    """

    cases: tuple[Profile, ...]

    @property
    def rule(self) -> str:
        return "the worst of " + ", ".join(dict.fromkeys(case.rule for case in self.cases))

    @property
    def spread(self) -> float:
        return max(case.spread for case in self.cases)

    @property
    def largest(self) -> Fraction | None:
        ends = [case.largest for case in self.cases]
        return None if None in ends else max(end for end in ends if end is not None)

    @property
    def lost(self) -> Fraction:
        return NOTHING if self.largest is None else max(case.lost for case in self.cases)

    @property
    def lattice(self) -> Fraction | None:
        steps = {case.lattice for case in self.cases}
        return steps.pop() if len(steps) == 1 else None

    def deltas(self, epsilons: Sequence[Fraction], bits: int) -> list[int]:
        found = [case.deltas(epsilons, bits) for case in self.cases]
        return [max(values) for values in zip(*found, strict=True)]


def least(*bounds: Profile) -> Profile:
    """The smallest of several bounds of one profile."""
    different = tuple(dict.fromkeys(bounds))
    return different[0] if len(different) == 1 else LeastProfile(different)


def most(*cases: Profile) -> Profile:
    """The largest of several possible profiles."""
    different = tuple(dict.fromkeys(cases))
    return different[0] if len(different) == 1 else MostProfile(different)

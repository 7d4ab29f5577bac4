"""How rarely an error is large: proven upper bounds of P(|error| > t) for each shape of noise."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction

from noisewright.laws.lattice import HALF
from noisewright.laws.shells import ShellRadius
from noisewright.mechanisms.additive import Additive
from noisewright.numerics.balls import Ball, ball, certainly_at_most, lower, upper, upper_gamma_share
from noisewright.numerics.bisection import first_true, gallop
from noisewright.numerics.fields import BALLS

_RELATIVE = Fraction(1, 2**13)
_PIECES = 96
_ROOMS = (3, 4, 5, 6, 8, 12)


class Tail(ABC):
    """A size of error X, in a unit of its own, by an upper bound of P(|X| > t)."""

    __slots__ = ()

    @abstractmethod
    def beyond(self, t: Fraction) -> Ball:
        """At least P(|X| > t), and falling in t."""

    def within(self, rest: Fraction) -> Fraction:
        """A t at which P(|X| > t) was checked to be at most `rest`, next to where that turns."""
        limit = ball(rest)

        def reached(t: Fraction) -> bool:
            return certainly_at_most(self.beyond(t), limit)

        return first_true(reached, *gallop(reached, Fraction(0), Fraction(1)), relative=_RELATIVE)


@dataclass(frozen=True, slots=True)
class NoTail(Tail):
    """No noise at all."""

    def beyond(self, t: Fraction) -> Ball:
        return ball(0)

    def within(self, rest: Fraction) -> Fraction:
        return Fraction(0)


@dataclass(frozen=True, slots=True)
class PartTail(Tail):
    """The error of one number with noise of its own, as its density says."""

    part: Additive

    def beyond(self, t: Fraction) -> Ball:
        return 1 - self.part.errors.chances((t,), BALLS)[0]

    def within(self, rest: Fraction) -> Fraction:
        return upper(self.part.errors.half_width(1 - rest, BALLS))


@dataclass(frozen=True, slots=True)
class ShellTail(Tail):
    """One number of a block with the largest-coordinate norm, in steps.

    Rule: on shell r its error is uniform up to r + 1/2, so P(|X| > t) is the mean of max(0, 1 - 2t / (2r + 1)).
    """

    size: int
    rate: Fraction

    def beyond(self, t: Fraction) -> Ball:
        radius, full = ShellRadius(self.size, self.rate), math.floor(t - HALF)
        partly = radius.tail(self.size - 1, full + 1) / radius.tail(self.size)
        return radius.sf(full, BALLS) - ball(2 * t) * partly


@dataclass(frozen=True, slots=True)
class RoundTail(Tail):
    """One direction of round noise on whole points, mass proportional to e^(-rate |w|), spread over unit cubes.

    Rule: the density is at most e^(rate sqrt(K)) times that proportional to e^(-rate |x|), whose radius has a
    Gamma(K) law and whose direction is uniform on the sphere. The chance that radius times |direction| exceeds t is
    a mean over the direction, which is taken piece by piece at the end where it is larger. For another l_p norm, p the
    `order`, the diagonal is K^(1/p), and the p-th power of one coordinate of a direction is Beta(1/p, (K-1)/p).
    """

    size: int
    rate: Fraction
    order: Fraction = Fraction(2)

    def beyond(self, t: Fraction) -> Ball:
        total, before = ball(0), ball(0)
        for j in range(1, _PIECES + 1):
            until = self._directed(Fraction(j, _PIECES))
            total += (until - before) * upper_gamma_share(self.size, ball(self.rate * t * _PIECES / j))
            before = until
        return total * (ball(self.rate) * BALLS.power(ball(self.size), 1 / self.order)).exp()

    def _directed(self, share: Fraction) -> Ball:
        """P(|one coordinate of a uniform direction| <= share)."""
        if share == 1 or self.size == 1:
            return ball(int(share == 1))
        power = BALLS.power(ball(share), self.order)
        return power.beta_lower(ball(1 / self.order), ball((self.size - 1) / self.order), regularized=1)


@dataclass(frozen=True, slots=True)
class NormalTail(Tail):
    """A standard normal number."""

    def beyond(self, t: Fraction) -> Ball:
        return (ball(t) / ball(2).sqrt()).erfc()


@dataclass(frozen=True, slots=True)
class GeometricTail(Tail):
    """A whole number of mass proportional to e^(-rate |n|): it exceeds m in size with chance 2 b^(m+1) / (1 + b)."""

    rate: Fraction

    def beyond(self, t: Fraction) -> Ball:
        fade = ball(-self.rate).exp()
        return 2 * ball(-self.rate * (math.floor(t) + 1)).exp() / (1 + fade)

    def within(self, rest: Fraction) -> Fraction:
        def reached(m: int) -> bool:
            return certainly_at_most(self.beyond(Fraction(m)), ball(rest))

        return Fraction(first_true(reached, *gallop(reached, -1, 1)))


@dataclass(frozen=True, slots=True)
class RoundedSumTail(Tail):
    """A weighted sum of independent rounded Gaussian numbers, in deviations; `grain` is 1 / the least variance of one.

    Rule: what rounding adds to each number has mean 0, is at most 1/2 and independent of the others, so that its sum is
    beyond a with a chance of at most 2 e^(-2 a^2 / w), w the sum of squared weights (Hoeffding), which is at most the
    grain where the sum has variance 1; the rest is Gaussian.
    """

    grain: Fraction

    def beyond(self, t: Fraction) -> Ball:
        return ball(min(Fraction(1), *(upper(self._split(t, room)) for room in _ROOMS)))

    def _split(self, t: Fraction, room: int) -> Ball:
        """Rounding is beyond half a root of the grain so many times, or the Gaussian rest is beyond what is left."""
        rest = ball(t) - room * ball(self.grain / 4).sqrt()
        beyond = (rest / ball(2).sqrt()).erfc() if bool(rest > 0) else ball(1)
        return beyond + 2 * ball(Fraction(-(room**2), 2)).exp()


@dataclass(frozen=True, slots=True)
class LaplaceSumTail(Tail):
    """A weighted sum of independent discrete Laplace numbers, in deviations; `grain` is 1 / the least variance of one.

    Rule: the least of four bounds. Chebyshev's. Fourth moments: a number of variance v has the fourth cumulant
    3 v^2 + v, so that the sum has a fourth moment of at most 6 + grain. One mode: spread over units the numbers are
    continuous, symmetric and of one mode, and so is their sum (Wintner), of variance at most 1 + grain / 12, for which
    Gauss's inequality holds; spreading moves it inwards by more than a with a chance of at most e^(-2 a^2 / grain)
    (Hoeffding), whatever the sum is. Chernoff: a number has the moment generating function 1 / (1 - v (cosh s - 1)),
    the product of such is at most 1 / (1 - the sum), and (cosh s - 1) / s^2 rises with s.
    """

    grain: Fraction

    def beyond(self, t: Fraction) -> Ball:
        if t < 1:
            return ball(1)
        moments = [1 / ball(t) ** 2, (6 + ball(self.grain)) / ball(t) ** 4]
        bounds = [*moments, self._one_mode(t), self._chernoff(t)]
        return ball(min(Fraction(1), *(upper(bound) for bound in bounds)))

    def _one_mode(self, t: Fraction) -> Ball:
        room = 3 * ball(self.grain).sqrt()
        rest = ball(t) - room
        if not bool(rest > 1):
            return ball(1)
        return ball(Fraction(4, 9)) * (1 + ball(self.grain) / 12) / rest**2 / (1 - ball(-18).exp())

    def _chernoff(self, t: Fraction) -> Ball:
        root = ball(self.grain).sqrt()
        last = (1 + ball(self.grain)).acosh() / root
        if not bool(last * ball(t) > 1):
            return ball(1)
        # Any s below the last will do; this one is near the best.
        s = ball(lower(last - 1 / ball(t)))
        room = 1 - ((s * root).cosh() - 1) / ball(self.grain)
        return 2 * (-s * ball(t)).exp() / room if bool(room > 0) else ball(1)

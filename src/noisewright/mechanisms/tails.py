"""How rarely an error is large: proven upper bounds of P(|error| > t) for each shape of noise."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction

from noisewright.laws.lattice import HALF
from noisewright.laws.shells import ShellRadius
from noisewright.mechanisms.additive import Additive
from noisewright.numerics.balls import Ball, ball, certainly_at_most, lower, pi, upper, upper_gamma_share
from noisewright.numerics.bisection import first_true, gallop
from noisewright.numerics.fields import BALLS

_RELATIVE = Fraction(1, 2**13)
_PIECES = 96
_ROOMS = (3, 4, 5, 6, 8, 12)
_RESTS = (2, 3, 4)
_HALVINGS = 30


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
    [theory#errors-of-several-numbers]
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
    [theory#noise-shaped-by-a-norm]
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
    grain where the sum has variance 1; the rest is Gaussian. [Hoeffding63]
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
    3 v^2 + v, so that the sum has a fourth moment of at most 6 + grain. Mixture: exponential times are whole ones and
    an independent rest below 1, so that a discrete Laplace number and an independent symmetric rest in (-1, 1) are a
    Laplace number of variance at most 1/6 more; `laplace_sum_beyond` holds for the sum of those, and the sum of the
    rests moves it inwards by more than k root(grain) with a chance of at most e^(-k^2 / 2) (Hoeffding), whatever the
    sum is. Chernoff: a number has the moment generating function 1 / (1 - v (cosh s - 1)), the product of such is at
    most 1 / (1 - the sum), and (cosh s - 1) / s^2 rises with s. [Hoeffding63, theory#errors-of-several-numbers]
    """

    grain: Fraction

    def beyond(self, t: Fraction) -> Ball:
        if t < 1:
            return ball(1)
        moments = [1 / ball(t) ** 2, (6 + ball(self.grain)) / ball(t) ** 4]
        bounds = [*moments, *(self._mixture(t, room) for room in _RESTS), self._chernoff(t)]
        return ball(min(Fraction(1), *(upper(bound) for bound in bounds)))

    def _mixture(self, t: Fraction, room: int) -> Ball:
        spread = ball(1 + self.grain / 6).sqrt()
        rest = lower((ball(t) - room * ball(self.grain).sqrt()) / spread)
        if rest < 1:
            return ball(1)
        return laplace_sum_beyond(rest) / (1 - ball(Fraction(-(room**2), 2)).exp())

    def _chernoff(self, t: Fraction) -> Ball:
        root = ball(self.grain).sqrt()
        last = (1 + ball(self.grain)).acosh() / root
        if not bool(last * ball(t) > 1):
            return ball(1)
        # Any s below the last will do; this one is near the best.
        s = ball(lower(last - 1 / ball(t)))
        room = 1 - ((s * root).cosh() - 1) / ball(self.grain)
        return 2 * (-s * ball(t)).exp() / room if bool(room > 0) else ball(1)


def laplace_sum_beyond(t: Fraction) -> Ball:
    """At least P(|S| > t) for every weighted sum S of independent Laplace numbers that has variance 1; t at least 1.

    Rule: a Laplace number is Gaussian with an exponential variance, so S is Gaussian with the variance V, a mean of
    independent Exp(1) times with weights that add up to 1, and P(|S| > t) = E g(V), g(v) = erfc(t / root(2 v)). For a
    convex h >= g Jensen's inequality gives E h(V) <= E h(T), T one such time. g is convex up to t^2 / 3 and concave
    after it; h is g up to where it meets a tangent of the concave part from above, and that tangent from there on.
    Between two places around the meeting the larger end of h counts. By parts, with the law of the first time at which
    a Brownian motion is at t, the integral of g e^(-v) up to s is
    (e^(-rt) erfc(u - root(s)) + e^(rt) erfc(u + root(s))) / 2 - e^(-s) g(s), r = root(2), u = t / root(2 s).
    [theory#errors-of-several-numbers]
    """
    turn = t**2 / 3
    touch = turn + Fraction(2, 5)
    height, slope = _bell(t, touch), _bell_slope(t, touch)

    def tangent(v: Fraction) -> Ball:
        return height + slope * ball(v - touch)

    low, high = Fraction(0), turn
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if bool(tangent(middle) < _bell(t, middle)):
            low = middle
        elif bool(tangent(middle) > _bell(t, middle)):
            high = middle
        else:
            break
    after = (ball(-high)).exp() * (tangent(high) + slope)
    between = ball(high - low) * tangent(high)
    return _bell_integral(t, low) + between + after


def _bell(t: Fraction, v: Fraction) -> Ball:
    """P(|Z| > t) for a Gaussian Z of variance v."""
    return (ball(t) / ball(2 * v).sqrt()).erfc() if v else ball(0)


def _bell_slope(t: Fraction, v: Fraction) -> Ball:
    """Its derivative by the variance."""
    return ball(t) * ball(-(t**2) / (2 * v)).exp() / ((2 * pi()).sqrt() * ball(v) * ball(v).sqrt())


def _bell_integral(t: Fraction, s: Fraction) -> Ball:
    """The integral of P(|Z| > t) e^(-v) over variances v up to s."""
    if not s:
        return ball(0)
    rate, root = ball(2).sqrt() * ball(t), ball(s).sqrt()
    start = ball(t) / ball(2 * s).sqrt()
    met = ((-rate).exp() * (start - root).erfc() + rate.exp() * (start + root).erfc()) / 2
    return met - ball(-s).exp() * _bell(t, s)

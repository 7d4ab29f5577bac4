"""Profiles of symmetric noise with a density that falls outward, by the places where its loss passes epsilon.

X has density f, P is its law and Q that of X - shift; the loss at x is ln f(x) - ln f(x + shift). The largest shift is
the worst and only x > -shift/2 has a positive loss (see `composed`). That half-line is cut into stretches on which the
loss rises or falls all the way, so that on each of them the loss exceeds epsilon on one side of one place.

Rule (a stretch). Let D(a) be the integral of (f(x) - a f(x + shift))+ over the stretch. It is convex in a and falls
with slope -Q(loss > ln a). At any place t of the stretch, with a(t) = f(t) / f(t + shift), the set is known and D(a(t))
is a difference of tails: exact, whatever place a float search came up with. From there D(a) <= D(a(t)) for a >= a(t),
and D(a) <= D(a(t)) + (a(t) - a) m for a < a(t), where m is the Q-mass of the whole stretch.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache, singledispatch
from itertools import pairwise
from typing import Any

from noisewright.laws.base import LogConcave, mixed
from noisewright.laws.gaussian import GaussianMixture, GeneralizedGaussian
from noisewright.laws.lattice import Lattice
from noisewright.laws.two_fold import TwoFold
from noisewright.numerics.balls import Ball, ball, certainly_at_most, precision
from noisewright.numerics.fields import BALLS, FLOATS, Field, Value
from noisewright.problem.errors import UncertifiedError
from noisewright.proof.losses import bounded_loss
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

_WIDTHS = range(-51, -10, 4)


@singledispatch
def likelihood(law: Any, x: Any, shift: Any, field: Field) -> Value:
    """f(x) / f(x + shift)."""
    return field.exp(law.drop(x, shift, field))


@likelihood.register
def _likelihood_of_two_fold(law: TwoFold, x: Any, shift: Any, field: Field) -> Value:
    return law.density(x, field) / law.density(x + shift, field)


@likelihood.register
def _likelihood_of_gaussian_mixture(law: GaussianMixture, x: Any, shift: Any, field: Field) -> Value:
    """Without the factor that all parts share."""

    def height(at: Any) -> Value:
        squared = -at * at / 2
        return mixed(law.stds, law.weights, lambda s: field.exp(field.real(squared / s**2)) / field.real(s), field)

    return height(x) / height(x + shift)


@dataclass(frozen=True, slots=True)
class SmoothProfile(Profile, PairLosses):
    """A symmetric law whose density falls outward, at its largest shift. Valid for: laws with `stretches`."""

    law: Any
    shift: Fraction
    rule: str = "profile/crossings"

    @property
    def spread(self) -> float:
        return spread_of(self.law, float(self.shift))

    @property
    def largest(self) -> Fraction | None:
        return _largest(self.law, self.shift)

    def deltas(self, epsilons: Sequence[Fraction], bits: int) -> list[int]:
        largest = self.largest
        with precision(bits + GUARD_BITS):
            curves = _curves(self.law, self.shift)
            outermost = len(curves) == 1
            found: list[int] = []
            for epsilon in epsilons:
                if largest is not None and epsilon >= largest:
                    found.append(0)
                elif found and found[-1] <= 1:
                    # A profile does not rise, and below one unit there is nothing left to be told apart.
                    found.append(found[-1])
                else:
                    # Nothing finer than 2^-bits is asked for: a tail that is small by itself needs fewer digits.
                    with precision((found[-1].bit_length() if found and outermost else bits) + GUARD_BITS):
                        found.append(units_above(_total([curve.above(epsilon) for curve in curves]), bits))
            return found

    def passed(self, epsilons: Sequence[Fraction], lattice: Lattice | None) -> Iterator[tuple[Ball, Ball]]:
        """P(loss >= epsilon) from below and Q(loss > epsilon) from above, epsilon >= 0, at the working precision.

        Rule: where the noise is rounded to the cells of a lattice, the loss of a cell lies between the smallest and
        the largest loss in it. So it is at least epsilon for cells on which every loss is, and at most epsilon for
        those on which no loss is above. [theory#privacy-loss-distributions]
        """
        curves = _curves(self.law, self.shift)
        for epsilon in epsilons:
            certain = _joined([curve.certain(epsilon) for curve in curves])
            possible = _joined([curve.possible(epsilon) for curve in curves])
            yield (
                self._mass([shrunk(*one, lattice) for one in certain], NOTHING),
                self._mass([grown(*one, lattice) for one in possible], self.shift),
            )

    def _mass(self, intervals: Sequence[Interval | None], shift: Fraction) -> Ball:
        """The probability of intervals, moved by the shift."""
        total = ball(0)
        for a, b in (one for one in intervals if one is not None):
            total = total + self.law.sf(a + shift, BALLS)
            total = total if b is None else total - self.law.sf(b + shift, BALLS)
        return total


def _joined(intervals: Sequence[Interval | None]) -> list[Interval]:
    """Intervals from left to right, those that touch made one."""
    found: list[Interval] = []
    for one in intervals:
        if one is not None:
            found = [*found[:-1], (found[-1][0], one[1])] if found and found[-1][1] == one[0] else [*found, one]
    return found


@lru_cache(maxsize=256)
def _largest(law: Any, shift: Fraction) -> Fraction | None:
    """The pure bound, where there is one."""
    return bounded_loss(law, shift)


def _curves(law: Any, shift: Fraction) -> list[_Curve | _Gap]:
    """One for each stretch, at the working precision."""
    return [
        _Gap(law, shift, stretch) if search is None else _Curve(law, shift, stretch, search)
        for stretch, search in _searches(law, shift)
    ]


@lru_cache(maxsize=256)
def _searches(law: Any, shift: Fraction) -> list[tuple[Stretch, Search | None]]:
    """What is the same at every precision."""
    return [
        (stretch, None if stretch.rising is None else Search(law, shift, stretch)) for stretch in stretches(law, shift)
    ]


class _Gap:
    """A short stretch on which the loss turns: it lies below ln f(start) / f(end + shift) there, f falling outward."""

    def __init__(self, law: Any, shift: Fraction, stretch: Stretch) -> None:
        self._part = (start, end) = stretch.start, stretch.end or stretch.start
        self._mass = law.sf(start, BALLS) - law.sf(end, BALLS)
        self._most = law.density(start, BALLS) / law.density(end + shift, BALLS)

    def above(self, epsilon: Fraction) -> Ball:
        """A ball whose upper end is at or above D(e^epsilon)."""
        share = 1 - ball(epsilon).exp() / self._most
        return ball(0) if bool(share <= 0) else self._mass * share

    def certain(self, epsilon: Fraction) -> Interval | None:
        """Nothing is."""
        return None

    def possible(self, epsilon: Fraction) -> Interval | None:
        """Everything is."""
        return self._part


class _Curve:
    """D of one stretch, asked for at rising epsilons."""

    def __init__(self, law: Any, shift: Fraction, stretch: Stretch, search: Search) -> None:
        self._law, self._shift, self._stretch, self._search = law, shift, stretch, search
        self._anchor = stretch.end if stretch.rising else stretch.start
        self._outer = self._tails(self._anchor)
        self._whole = self._beyond(stretch.start if stretch.rising else stretch.end)

    def above(self, epsilon: Fraction) -> Ball:
        """A ball whose upper end is at or above D(e^epsilon)."""
        wanted = ball(epsilon).exp()
        place, reached, certain = self._near(epsilon, -1, lambda found: certainly_at_most(found, wanted))
        if certain and place == self._anchor:
            return ball(0)
        p, q = self._beyond(place)
        # Where it is not certain, the loss is larger all over the stretch, or all but.
        return p - reached * q if certain else p - reached * q + (reached - wanted) * self._whole[1]

    def certain(self, epsilon: Fraction) -> Interval | None:
        """A part of the stretch on which the loss is at least epsilon; None where none is found."""
        wanted = ball(epsilon).exp()
        place, _, certain = self._near(epsilon, 1, lambda found: bool(found >= wanted))
        return self._part(place) if certain else None

    def possible(self, epsilon: Fraction) -> Interval | None:
        """A part of the stretch beyond which no loss is above epsilon."""
        wanted, stretch = ball(epsilon).exp(), self._stretch
        place, _, certain = self._near(epsilon, -1, lambda found: bool(found <= wanted))
        return self._part(place) if certain else (stretch.start, stretch.end)

    def _part(self, place: Fraction) -> Interval | None:
        """From a place to where the loss is largest."""
        if place == self._anchor:
            return None
        return (place, self._stretch.end) if self._stretch.rising else (self._stretch.start, place)

    def _near(self, epsilon: Fraction, inward: int, holds: Callable[[Ball], bool]) -> tuple[Fraction, Ball, bool]:
        """The nearest place to where the loss passes epsilon, inward or outward of it, the ratio there, and True.

        Where none is certain to be so, the last one that was looked at, and False.
        """
        place, (start, end) = self._search.place(float(epsilon)), (self._stretch.start, self._stretch.end)
        size = (abs(place) + self._shift) * (inward if self._stretch.rising else -inward)
        moved, ratio = place, likelihood(self._law, place, self._shift, BALLS)
        for exponent in _WIDTHS:
            if holds(ratio):
                return moved, ratio, True
            moved = max(start, place + size * Fraction(2) ** exponent)
            moved = moved if end is None else min(end, moved)
            ratio = likelihood(self._law, moved, self._shift, BALLS)
        return moved, ratio, holds(ratio)

    def _beyond(self, place: Fraction | None) -> tuple[Ball, Ball]:
        """Masses between a place and the end of the stretch where the loss is largest, under P and Q."""
        here = self._tails(place)
        if self._stretch.rising:
            return here[0] - self._outer[0], here[1] - self._outer[1]
        return self._outer[0] - here[0], self._outer[1] - here[1]

    def _tails(self, place: Fraction | None) -> tuple[Ball, Ball]:
        if place is None:
            return ball(0), ball(0)
        return self._law.sf(place, BALLS), self._law.sf(place + self._shift, BALLS)


def _total(values: list[Ball]) -> Ball:
    total = values[0]
    for value in values[1:]:
        total = total + value
    return total


# Stretches: where the loss of such a law rises and where it falls.

_BITS = 96
_FINE = Fraction(1, 1 << 34)
_MOST_CELLS = 5000


@dataclass(frozen=True, slots=True)
class Stretch:
    """An interval on which the loss does not fall (`rising`), or does not rise; without `end` it goes on for ever.

    On short ones around a turn of the loss neither may be known: `rising` is None.
    """

    start: Fraction
    end: Fraction | None
    rising: bool | None


@singledispatch
def stretches(law: Any, shift: Fraction) -> list[Stretch]:
    """One, on which it rises, for log-concave laws: that is what log-concave means."""
    if not isinstance(law, LogConcave):
        raise UncertifiedError(f"there is no rule for the losses of {type(law).__name__} noise.")
    return [Stretch(-shift / 2, None, rising=True)]


@stretches.register
def _stretches_of_two_fold(law: TwoFold, shift: Fraction) -> list[Stretch]:
    """Two: ln g is convex and falls, g being the density of |X| (see `pure`).

    Up to 0 both ln g(-x) and -ln g(x + shift) rise; from 0 on ln g(x) - ln g(x + shift) falls, ln g being convex.
    """
    return _around_zero(shift)


@stretches.register
def _stretches_of_generalized_gaussian(law: GeneralizedGaussian, shift: Fraction) -> list[Stretch]:
    """Below power 1 as for two-fold laws, since -|x|^power is convex there; from 1 on the law is log-concave."""
    return _around_zero(shift) if law.power < 1 else [Stretch(-shift / 2, None, rising=True)]


def _around_zero(shift: Fraction) -> list[Stretch]:
    zero = Fraction(0)
    return [Stretch(-shift / 2, zero, rising=True), Stretch(zero, None, rising=False)]


@stretches.register
def _stretches_of_gaussian_mixture(law: GaussianMixture, shift: Fraction) -> list[Stretch]:
    """As many as the loss has turns, which are found by halving.

    Rule: the slope of -ln f at x is u(x) = x R(x), where R is the mean of 1/std^2 given x, so that of the loss is
    u(x + s) - u(x). Wider parts are the likelier the farther x is from 0, so R and the mean S of 1/std^4 fall outward.
    Hence the loss rises up to 0, and between 0 <= a and b its slope lies between (a + s) R(b + s) - b R(a) and
    (b + s) R(a + s) - a R(b). It is positive, or negative, if u' = R - x^2 (S - R^2) is so from a to b + s.
    [theory#the-privacy-profile-of-one-number]
    """
    with precision(_BITS):
        mixture = _Mixture(law, shift)
        far = mixture.far()
        pending, found, seen = mixture.first_cells(far), [Stretch(-shift / 2, Fraction(0), rising=True)], 0
        while pending:
            a, b = pending.pop()
            seen += 1
            rising = mixture.rising(a, b)
            if rising is None and b - a > _FINE * shift and seen < _MOST_CELLS:
                pending += [((a + b) / 2, b), (a, (a + b) / 2)]
            else:
                _append(found, Stretch(a, b, rising))
        _append(found, Stretch(far, None, rising=True))
        return found


def _append(found: list[Stretch], one: Stretch) -> None:
    """Neighbours that go the same way are one stretch."""
    if found[-1].rising is one.rising:
        one = Stretch(found.pop().start, one.end, one.rising)
    found.append(one)


class _Mixture:
    """How the score of a Gaussian mixture bounds the slope of its loss."""

    def __init__(self, law: GaussianMixture, shift: Fraction) -> None:
        self._parts = [(ball(w / s), 1 / s**2) for s, w in zip(law.stds, law.weights, strict=True)]
        self._narrowest, self._widest, self._shift = min(law.stds), max(law.stds), shift
        self._means = cache(self._fresh_means)

    def _fresh_means(self, x: Fraction) -> tuple[Ball, Ball]:
        """R(x) and S(x)."""
        total, first, second = ball(0), ball(0), ball(0)
        for weight, rate in self._parts:
            height = weight * ball(-x * x * rate / 2).exp()
            total, first, second = total + height, first + height * ball(rate), second + height * ball(rate**2)
        return first / total, second / total

    def rising(self, a: Fraction, b: Fraction) -> bool | None:
        """Whether the loss rises (True) or falls (False) between two places; None where neither is certain."""
        s = self._shift
        (near, near_square), (far, far_square) = self._means(a), self._means(b + s)
        if bool(far >= ball((b + s) ** 2) * (near_square - far**2)):
            return True
        if bool(near <= ball(a**2) * (far_square - near**2)):
            return False
        low = ball(a + s) * far - ball(b) * near
        high = ball(b + s) * self._means(a + s)[0] - ball(a) * self._means(b)[0]
        if bool(low >= 0):
            return True
        return False if bool(high <= 0) else None

    def far(self) -> Fraction:
        """A place beyond which the loss rises.

        Rule: with c_i = 1/std_i^2 - 1/widest^2, R(x) exceeds 1/widest^2 by at most the sum of c_i r_i(x), r_i being
        the odds of part i against the widest given x, which fall like e^(-c_i x^2 / 2). So the slope of the loss is
        at least s/widest^2 minus the sum of c_i x r_i(x), whose terms fall from x = c_i^(-1/2) on.
        [theory#the-privacy-profile-of-one-number]
        """
        least = 1 / self._widest**2
        widest = [weight for weight, rate in self._parts if rate == least]
        narrower = [(weight / widest[0], rate - least) for weight, rate in self._parts if rate > least]
        x = self._widest
        while any(x * x * c < 1 for _, c in narrower) or not certainly_at_most(
            sum((ball(c * x) * odds * ball(-c * x * x / 2).exp() for odds, c in narrower), ball(0)),
            ball(self._shift * least),
        ):
            x *= 2
        return x

    def first_cells(self, far: Fraction) -> list[tuple[Fraction, Fraction]]:
        """From 0 to far, growing, the first one last."""
        edges, step = [Fraction(0)], self._narrowest / 8
        while edges[-1] < far:
            edges.append(min(far, edges[-1] + step))
            step = step * 5 / 4
        return list(pairwise(edges))[::-1]


# Floats near the places where a loss passes epsilon, and about how much it varies: hints, never evidence.

_PROBES = 160
_FARTHEST = 1e15


class Search:
    """Floats near the places where the loss passes epsilon; whatever they are, what is proven from them holds."""

    def __init__(self, law: Any, shift: Fraction, stretch: Stretch) -> None:
        moved = float(shift)
        self._loss = _loss(law, moved)
        self._stretch = stretch
        self._low, start = float(stretch.start), float(stretch.start)
        self._high = float(stretch.end) if stretch.end is not None else _far(law, self._loss, start, moved)
        self._probes = sorted({self._low, self._high, *_between(self._low, self._high, moved)})
        self._losses = [self._loss(x) for x in self._probes]

    def place(self, epsilon: float) -> Fraction:
        """Within the stretch."""
        sign = 1 if self._stretch.rising else -1
        # Losses times the sign rise along the probes.
        low, high = 0, len(self._probes) - 1
        if sign * (self._losses[low] - epsilon) >= 0:
            return self._inside(self._probes[low])
        if sign * (self._losses[high] - epsilon) <= 0:
            return self._inside(self._probes[high])
        while high - low > 1:
            middle = (low + high) // 2
            if sign * (self._losses[middle] - epsilon) <= 0:
                low = middle
            else:
                high = middle
        return self._inside(self._solved(low, high, epsilon, sign))

    def _inside(self, x: float) -> Fraction:
        exact, end = Fraction(x), self._stretch.end
        return max(self._stretch.start, exact if end is None else min(end, exact))

    def _solved(self, low: int, high: int, epsilon: float, sign: int) -> float:
        """False position, a stale end counting half."""
        a, b = self._probes[low], self._probes[high]
        below, above = sign * (self._losses[low] - epsilon), sign * (self._losses[high] - epsilon)
        x, stale = a, 0
        for _ in range(60):
            x = (a * above - b * below) / (above - below) if above > below else (a + b) / 2
            if not a < x < b:
                break
            value = sign * (self._loss(x) - epsilon)
            if abs(value) <= 1e-16 * epsilon:
                break
            if value <= 0:
                a, below, above, stale = x, value, above / 2 if stale < 0 else above, -1
            else:
                b, above, below, stale = x, value, below / 2 if stale > 0 else below, 1
        return min(max(x, self._probes[0]), self._probes[-1])


@singledispatch
def _loss(law: Any, shift: float) -> Callable[[float], float]:
    """The loss at a place."""
    return lambda x: float(law.drop(x, shift, FLOATS))


@_loss.register
def _loss_of_two_fold(law: TwoFold, shift: float) -> Callable[[float], float]:
    return lambda x: math.log(law.density(x, FLOATS) / law.density(x + shift, FLOATS))


@_loss.register
def _loss_of_gaussian_mixture(law: GaussianMixture, shift: float) -> Callable[[float], float]:
    """Over the density of the widest part, so that nothing underflows."""
    widest = max(law.stds)
    parts = [(float(w / s), float((1 / s**2 - 1 / widest**2) / 2)) for s, w in zip(law.stds, law.weights, strict=True)]

    def height(x: float) -> float:
        return sum(weight * math.exp(-rate * x * x) for weight, rate in parts)

    moved = shift / (2 * float(widest) ** 2)
    return lambda x: math.log(height(x) / height(x + shift)) + moved * (2 * x + shift)


def _far(law: Any, loss: Callable[[float], float], start: float, shift: float) -> float:
    """A float beyond which there is hardly any mass, or no loss to be told from its limit."""
    x = max(abs(start), shift, 1e-3)
    while x < _FARTHEST and float(law.sf(2 * x, FLOATS)) > 1e-200:
        try:
            loss(2 * x)
        except (ValueError, ZeroDivisionError, OverflowError):
            break
        x *= 2
    return x


def _between(low: float, high: float, shift: float) -> list[float]:
    """Probes that crowd near the start, where the loss turns, and grow apart outward."""
    near = min(high - low, shift)
    inner = [low + near * i / _PROBES for i in range(1, _PROBES)]
    if high - low <= near:
        return inner
    ratio = ((high - low) / near) ** (1 / _PROBES)
    return inner + [low + near * ratio**i for i in range(_PROBES)]


@lru_cache(maxsize=256)
def spread_of(law: Any, shift: float) -> float:
    """The standard deviation of the loss, roughly, in floats."""
    loss, start = _loss(law, shift), -shift / 2
    places = [start, *_between(start, _far(law, loss, start, shift), shift)]
    mean = square = 0.0
    tails = [(float(law.sf(x, FLOATS)), float(law.sf(x + shift, FLOATS))) for x in places]
    for a, b, here, there in zip(places, places[1:], tails, tails[1:], strict=False):
        x, p, q = loss((a + b) / 2), here[0] - there[0], here[1] - there[1]
        mean, square = mean + (p - q) * x, square + (p + q) * x * x
    return math.sqrt(max(square - mean**2, 0.0))

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

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, singledispatch
from typing import Any

from noisewright.laws.base import mixed
from noisewright.laws.gaussian import GaussianMixture
from noisewright.laws.lattice import Lattice
from noisewright.laws.two_fold import TwoFold
from noisewright.numerics.balls import Ball, ball, certainly_at_most, precision
from noisewright.numerics.fields import BALLS, Field, Value
from noisewright.proof.losses import bounded_loss
from noisewright.proof.profiles import GUARD_BITS, NOTHING, Interval, grown, shrunk, units_above
from noisewright.proof.profiles_places import Search, spread_of
from noisewright.proof.profiles_stretches import Stretch, stretches

_WIDTHS = range(-51, -10, 4)


@singledispatch
def likelihood(law: Any, x: Any, shift: Any, field: Field) -> Value:
    """f(x) / f(x + shift)."""
    return field.exp(law.drop(x, shift, field))


@likelihood.register
def _(law: TwoFold, x: Any, shift: Any, field: Field) -> Value:
    return law.density(x, field) / law.density(x + shift, field)


@likelihood.register
def _(law: GaussianMixture, x: Any, shift: Any, field: Field) -> Value:
    """Without the factor that all parts share."""

    def height(at: Any) -> Value:
        squared = -at * at / 2
        return mixed(law.stds, law.weights, lambda s: field.exp(field.real(squared / s**2)) / field.real(s), field)

    return height(x) / height(x + shift)


@dataclass(frozen=True, slots=True)
class SmoothProfile:
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

    @property
    def lost(self) -> Fraction:
        return NOTHING

    @property
    def lattice(self) -> Fraction | None:
        return None

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

    def infinite(self, lattice: Lattice | None) -> Ball:
        """No loss is infinite."""
        return ball(0)

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

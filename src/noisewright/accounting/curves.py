"""The curve delta(epsilon) that losses on a lattice stand for, read from above or from below.

delta(epsilon) = infinite + sum over losses x > epsilon of mass (1 - e^(epsilon - x)). With the sum A of the masses from
the first such cell on, and the sum B of mass e^(x0 - x), x0 being that one, it is infinite + A - e^(epsilon - x0) B.
B is rounded down for an upper bound and up for a lower one, the exponential is a ball, and the end of it is taken.

`pessimistic_pmf` and `optimistic_pmf` add the parts of a plan up on one grid, from above and from below.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

from noisewright.accounting.grids import Leaf, LossGrid, level_of
from noisewright.accounting.loss_pmf import PrivacyLossPMF, power, product, together
from noisewright.accounting.optimistic import OPTIMISTIC, SLACK, bins
from noisewright.accounting.pessimistic import PESSIMISTIC, connect_dots, fitting
from noisewright.accounting.releases import LowerPairs
from noisewright.numerics.balls import ball, ceil_scaled, floor_scaled, lower, precision, upper
from noisewright.numerics.bisection import first_true

_GUARD = 40
_EPSILON_BITS = 64


@dataclass(frozen=True, slots=True, init=False)
class Curve:
    """A composed profile: at or above the truth if `up`, else at or below it."""

    step: Fraction
    first: int
    up: bool
    bits: int
    infinite: int
    tails: tuple[int, ...]
    faded: tuple[int, ...]

    def __init__(self, losses: PrivacyLossPMF, grid: LossGrid, *, up: bool) -> None:
        step, bits = grid.step(losses.level), grid.mass_bits + _GUARD
        with precision(bits + _GUARD):
            fade = (floor_scaled if up else ceil_scaled)(ball(-step).exp(), bits)
        tails, faded = [0], [0]
        for mass in reversed(losses.masses):
            tails.append(tails[-1] + (mass << _GUARD))
            kept = faded[-1] * fade
            faded.append((mass << _GUARD) + (kept >> bits if up else -(-kept >> bits)))
        given = {"step": step, "first": losses.first, "up": up, "bits": bits, "infinite": losses.infinite << _GUARD}
        for name, value in (*given.items(), ("tails", tuple(tails[::-1])), ("faded", tuple(faded[::-1]))):
            object.__setattr__(self, name, value)

    def delta(self, epsilon: Fraction) -> Fraction:
        """The value at an epsilon of any sign: at most 1 from above, at least 0 from below."""
        cell = min(max(0, math.floor(epsilon / self.step) + 1 - self.first), len(self.tails) - 1)
        one = 1 << self.bits
        if not self.faded[cell]:
            return Fraction(min(one, self.infinite + self.tails[cell]), one)
        with precision(self.bits + _GUARD):
            weight = ball(epsilon - (self.first + cell) * self.step).exp()
            if self.up:
                taken = floor_scaled(weight * ball(self.faded[cell]), 0)
            else:
                taken = ceil_scaled(weight * ball(self.faded[cell]), 0)
        value = self.infinite + self.tails[cell] - taken
        return Fraction(min(one, value) if self.up else max(0, value), one)

    def epsilon(self, delta: Fraction) -> Fraction | None:
        """From above, an epsilon >= 0 at which the curve was checked to be at most delta; None if it nowhere is.

        From below, an epsilon >= 0 at which it was checked to exceed delta, or 0; None if it does everywhere.
        """
        if self.delta(Fraction(0)) <= delta:
            return Fraction(0)
        start, last = max(0, -self.first), len(self.tails) - 1
        if not self._holds(last, delta):
            return None
        cell = start if self._holds(start, delta) else first_true(lambda i: self._holds(i, delta), start, last)
        return self._inside(cell, delta)

    def _at(self, cell: int) -> Fraction:
        return (self.first + cell) * self.step

    def _holds(self, cell: int, delta: Fraction) -> bool:
        return self.delta(self._at(cell)) <= delta

    def _inside(self, cell: int, delta: Fraction) -> Fraction:
        """Where the curve passes delta in the cell that ends at it."""
        with precision(self.bits + _GUARD):
            wanted = ball(self.infinite + self.tails[cell] - delta * (1 << self.bits)) / ball(self.faded[cell])
            ratio = wanted.log()
            scale = Fraction(2) ** (math.frexp(float(self._at(cell)) or 1.0)[1] - _EPSILON_BITS)
            if self.up:
                found = math.ceil((upper(ratio) + self._at(cell)) / scale) * scale
            else:
                found = math.floor((lower(ratio) + self._at(cell)) / scale) * scale
        return max(found, Fraction(0))


_LARGEST_BELOW = 512
"""Losses beyond it take too many digits: masses as small as e^-loss are kept apart from below."""


def pessimistic_pmf(leaves: Sequence[Leaf], grid: LossGrid) -> PrivacyLossPMF:
    """Losses that are nowhere below the plan."""
    if not leaves:
        return PrivacyLossPMF(0, 0, [1 << grid.mass_bits], 0, 0.0)
    return together([_power_above(profile, times, grid) for profile, times in leaves], grid, PESSIMISTIC)


@lru_cache(maxsize=512)
def _power_above(profile: Any, times: int, grid: LossGrid) -> PrivacyLossPMF:
    one = connect_dots(profile, grid, level_of(profile, grid), 16 ** -(-(times.bit_length()) // 4))
    return power(one, times, grid, PESSIMISTIC, 1)


def with_one_more(losses: PrivacyLossPMF, leaves: Sequence[Leaf], grid: LossGrid) -> PrivacyLossPMF:
    """Losses of a plan and more releases, by one product for each kind of them."""
    for profile, times in leaves:
        losses = product(losses, _power_above(profile, times, grid), grid, PESSIMISTIC, 1)
    return losses


def optimistic_pmf(pairs: LowerPairs, grid: LossGrid) -> PrivacyLossPMF | None:
    """Losses that, each lowered by SLACK, are nowhere above the pair of neighbours; None where bounds are too rough."""
    if not pairs:
        return PrivacyLossPMF(0, 0, [1 << grid.mass_bits], 0, 0.0)
    found = []
    for pair, profile, times in pairs:
        level, reached = fitting(profile, grid, level_of(profile, grid), grid.tail_bits + times.bit_length())
        cells = max(1, reached)
        if cells * grid.step(level) > _LARGEST_BELOW:
            return None
        one = bins(pair, grid, level, cells, profile.spread**2, profile.largest)
        if one is None:
            return None
        found.append(power(one, times, grid, OPTIMISTIC, 1))
    return together(found, grid, OPTIMISTIC)


def slack(times: int) -> Fraction:
    """By how much the losses of so many releases together have to be lowered."""
    return times * SLACK

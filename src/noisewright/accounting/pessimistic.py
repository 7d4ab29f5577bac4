"""From above: a release's profile as masses on a lattice, and moves that never lower what they stand for.

*Dots.* In a = e^epsilon a profile is convex, so the chords between its values at the lattice points a_j = e^(j h) lie
above it; with upper bounds D_j in place of the values the broken line is higher still. Left of 1 the profile is
1 - a (1 - delta(1/a)), since neighbours may be exchanged; right of the last point the line stays at D_n, left of the
first one it ends in (0, 1). With slopes s_j right of a_j the line is D_n + sum of a_j (s_j - s_(j-1)) (1 - a/a_j)+:
masses p_j = a_j (s_j - s_(j-1)) at losses j h, and D_n at infinity. On equal cells, with c = 1/(e^h - 1),

    p_j = (1 + c) (D_(j-1) - D_j) - c (D_j - D_(j+1)),  p_(-j) = e^(-j h) p_j,  p_0 = 1 - D_0 - 2 c (D_0 - D_1).

A mass that comes out negative, because bounds are not quite convex, is raised to 0, and all are rounded up.

*Coarser.* The mass p at an odd cell x goes to x + h and x - h in the parts 1/(1 + e^-h) and 1/(1 + e^h), which keep
its mass under both laws: (1 - a e^-x)+ is convex in e^-x, so its mean can only grow. Both parts are rounded up.

*Tails.* Losses on the right are raised to infinity, those on the left to the first cell that is kept.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

from noisewright.accounting.grids import LossGrid
from noisewright.accounting.loss_pmf import Discretisation, PrivacyLossPMF
from noisewright.numerics.balls import ball, ceil_scaled, floor_scaled, precision
from noisewright.numerics.bisection import first_true, gallop
from noisewright.proof.profiles.base import Profile

GUARD = 32
_MOST_CELLS = 1 << 20
_MOST_DOTS = 1 << 15
_ROUNDS = 8


class PessimisticPLD(Discretisation):
    """Dominating: the moves that never lower."""

    up = True

    def divided(self, odd: list[int], even: list[int], step: Fraction, bits: int) -> Iterable[tuple[int, int]]:
        """In the parts that keep the mass under both laws."""
        raised, lowered = _shares(step, bits)
        return ((-(-mass * lowered >> bits), -(-mass * raised >> bits)) for mass in odd)

    def put_tails(self, kept: list[int], before: int, beyond: int) -> int:
        """Right tail to infinity, left tail to the first cell that is kept."""
        kept[0] += before
        return beyond


PESSIMISTIC = PessimisticPLD()


@lru_cache(maxsize=256)
def _shares(step: Fraction, bits: int) -> tuple[int, int]:
    """The parts of a mass that go one step up and one step down, each rounded up."""
    with precision(bits + GUARD):
        fade = ball(-step).exp()
        return ceil_scaled(1 / (1 + fade), bits), ceil_scaled(fade / (1 + fade), bits)


@lru_cache(maxsize=1024)
def connect_dots(profile: Profile, grid: LossGrid, level: int, copies: int) -> PrivacyLossPMF:
    """The losses of one release on cells of a level, of which so many copies are going to be multiplied.

    On wider cells where those would be too many.
    """
    level, last = fitting(profile, grid, level, grid.tail_bits + max(copies - 1, 0).bit_length())
    step = grid.step(level)
    values = profile.deltas([j * step for j in range(last + 1)], grid.mass_bits + GUARD)
    return connect_values(values, grid, level, profile.spread**2)


def fitting(profile: Profile, grid: LossGrid, level: int, tail_bits: int) -> tuple[int, int]:
    """The level, raised until so many cells as can be added up reach to the end, and how many they are.

    Wherever the cells end, what the profile keeps there counts as lost altogether; so any number of them is safe.
    """
    last = cells_to_the_end(profile, grid.step(level), tail_bits)
    for _ in range(_ROUNDS):
        if last <= _MOST_DOTS:
            break
        level += (last // _MOST_DOTS).bit_length()
        last = cells_to_the_end(profile, grid.step(level), tail_bits)
    return level, min(last, _MOST_DOTS)


def cells_to_the_end(profile: Profile, step: Fraction, tail_bits: int) -> int:
    """The first cell from which on the profile is less than 2^-tail_bits, or stays what it is."""
    bits = tail_bits + 8
    most = _MOST_CELLS if profile.largest is None else math.ceil(profile.largest / step)
    least = max(1 << (bits - tail_bits), profile.deltas([most * step], bits)[0])

    def over(cell: int) -> bool:
        return cell >= most or profile.deltas([cell * step], bits)[0] <= least

    if over(0):
        return 0
    low, high = gallop(over, 0, max(1, int(profile.spread / float(step))))
    return first_true(over, low, min(high, most))


def connect_values(values: Sequence[int], grid: LossGrid, level: int, variance: float) -> PrivacyLossPMF:
    """Masses of the broken line through upper bounds at 0, 1, … cells, in units of 2^-(mass_bits + GUARD)."""
    bits, step = grid.mass_bits + GUARD, grid.step(level)
    with precision(bits + GUARD):
        grown, fade = ball(step).exp(), ceil_scaled(ball(-step).exp(), bits)
        least = floor_scaled(1 / (grown - 1), bits)
        most = ceil_scaled(grown / (grown - 1), bits)
    bounds: list[int] = []
    for value in values:
        bounds.append(min(value, bounds[-1]) if bounds else min(value, 1 << bits))
    drops = [a - b for a, b in pairwise(bounds)]
    falls = [drop * least >> bits for drop in drops] + [0]
    right, left, weight = [], [], 1 << bits
    for rise, fall in zip(drops, falls[1:], strict=True):
        mass = max(0, -(-rise * most >> bits) - fall)
        weight = -(-weight * fade >> bits)
        right.append(-(-mass >> GUARD))
        left.append(-(-mass * weight >> (bits + GUARD)))
    middle = max(0, (1 << bits) - bounds[0] - 2 * falls[0])
    masses = [*reversed(left), -(-middle >> GUARD), *right]
    return PrivacyLossPMF(level, -len(left), masses, -(-bounds[-1] >> GUARD), variance)

"""Profiles of several independent noises that one person moves all at once.

Rule: a pair of laws that dominates the pairs of each noise at every epsilon gives a product that dominates the product
(Dong, Roth and Su 2022; Zhu, Dong and Wang 2022, theorem 10). A profile is convex in e^epsilon, so that chords between
upper bounds of it lie above it; the broken line of chords is the profile of a pair with its losses at the corners:
where the slope changes by s at e^x there is a mass of e^x s under the first law. Masses are rounded up, and only
positive parts are counted, which can only raise what is summed. An infinite loss is one of any part: 1 minus the
product of what each of them keeps. [DongRothSu22, ZhuDongWang22, theory#privacy-loss-distributions]
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from noisewright.numerics.balls import ball, ceil_scaled, floor_scaled, mass_product, precision
from noisewright.proof.profiles.base import GUARD_BITS, NOTHING, PairProfile, Profile

_CELLS_PER_SPREAD = 40
_CELLS_PER_TOTAL = 400
_MOST_CELLS = 200_000
_FINER = 4


@dataclass(frozen=True, slots=True)
class JointProfile(Profile):
    """So many releases of each of several profiles together, which may also be composed one by one (`factors`)."""

    factors: tuple[tuple[Profile, int], ...]

    @property
    def rule(self) -> str:
        return "together: " + ", ".join(f"{count} x {profile.rule}" for profile, count in self.factors)

    @property
    def spread(self) -> float:
        return math.sqrt(sum(count * profile.spread**2 for profile, count in self.factors))

    @property
    def largest(self) -> Fraction | None:
        total = NOTHING
        for profile, count in self.factors:
            if profile.largest is None:
                return None
            total += count * profile.largest
        return total

    @property
    def lost(self) -> Fraction:
        kept = Fraction(1)
        for profile, count in self.factors:
            kept *= (1 - profile.lost) ** count
        return NOTHING if self.largest is None else 1 - kept

    @property
    def lattice(self) -> Fraction | None:
        steps = {profile.lattice for profile, _ in self.factors}
        return steps.pop() if len(steps) == 1 else None

    def deltas(self, epsilons: Sequence[Fraction], bits: int) -> list[int]:
        largest, least = self.largest, math.ceil(self.lost * (1 << bits))
        sums = _summed(self, bits + GUARD_BITS)
        with precision(bits + GUARD_BITS):
            return [
                least if largest is not None and epsilon >= largest else min(sums.above(epsilon, bits), 1 << bits)
                for epsilon in epsilons
            ]


def factors_of(profile: Profile) -> tuple[tuple[Profile, int], ...]:
    """What to compose, and how often: the parts of a joint profile, or the profile itself once."""
    return profile.factors if isinstance(profile, JointProfile) else ((profile, 1),)


def joint(factors: Sequence[tuple[Profile, int]]) -> Profile:
    """Several profiles together; equal ones counted, those that lose nothing left out, and a single one as it is."""
    counts: dict[Profile, int] = {}
    for profile, count in factors:
        if profile.largest != 0 or profile.lost:
            counts[profile] = counts.get(profile, 0) + count
    if not counts:
        return PairProfile(NOTHING)
    if list(counts.values()) == [1]:
        return next(iter(counts))
    return JointProfile(tuple(counts.items()))


class _Sums:
    """Masses at multiples of a cell, in units of 2^-bits, and their sums from each on."""

    def __init__(self, masses: list[int], first: int, infinite: int, cell: Fraction, bits: int) -> None:
        self._cell, self._first, self._bits = cell, first, bits
        self._p, self._q = [infinite], [0]
        fade, weight = ball(-cell).exp(), ball(-cell * (first + len(masses) - 1)).exp()
        for mass in reversed(masses):
            self._p.append(self._p[-1] + mass)
            self._q.append(self._q[-1] + floor_scaled(weight * mass, 0))
            weight = weight / fade

    def above(self, epsilon: Fraction, bits: int) -> int:
        """2^bits times the sum of mass (1 - e^(epsilon - loss)) over losses above epsilon, rounded up."""
        place = math.floor(epsilon / self._cell) + 1 - self._first
        count = min(max(0, len(self._p) - 1 - max(0, place)), len(self._p) - 1)
        grown = floor_scaled(ball(epsilon).exp(), self._bits)
        value = (self._p[count] << self._bits) - grown * self._q[count]
        return max(0, -(-value >> (2 * self._bits - bits)))


@lru_cache(maxsize=32)
def _summed(together: JointProfile, bits: int) -> _Sums:
    cell, factors, first, kept = _cell(together), list[list[int]](), 0, 1 << bits
    with precision(2 * bits):
        for profile, count in together.factors:
            masses, half, beyond = masses_above(profile, cell, bits)
            factors.append(_power(masses, count, bits))
            first -= count * half
            for _ in range(count):
                kept = kept * ((1 << bits) - beyond) >> bits
        return _Sums(mass_product(factors, bits), first, (1 << bits) - kept, cell, bits)


def masses_above(profile: Profile, cell: Fraction, bits: int) -> tuple[list[int], int, int]:
    """Masses at the losses -n, …, n cells that dominate the profile, n itself, and the mass at an infinite loss.

    At the negative corners the values follow from exchanging neighbours: 1 - e^-x (1 - delta(x)).
    """
    half = _outermost_cell(profile, cell, bits)
    values = profile.deltas([cell * j for j in range(half + 1)], bits)
    for j in range(1, half + 1):
        values[j] = min(values[j], values[j - 1])
    unit, one = ball(1 << bits), 1 << bits
    powers = [ball(cell * j).exp() for j in range(half + 1)]
    heights = [ball(one) - (ball(one) - ball(values[j])) / powers[j] for j in range(half, 0, -1)]
    heights = [unit, *heights, *(ball(value) for value in values)]
    corners = [ball(0), *(1 / powers[j] for j in range(half, 0, -1)), *powers]
    slopes = [(heights[i + 1] - heights[i]) / (corners[i + 1] - corners[i]) for i in range(len(corners) - 1)] + [
        ball(0)
    ]
    masses = [corners[i] * (slopes[i] - slopes[i - 1]) for i in range(1, len(corners))]
    return [max(0, ceil_scaled(mass, 0)) for mass in masses], half, values[-1]


def _outermost_cell(profile: Profile, cell: Fraction, bits: int) -> int:
    """How many cells the largest loss worth telling apart is away; what is beyond counts as infinite."""
    if profile.largest is not None:
        return max(1, math.ceil(profile.largest / cell))
    ahead = max(1, math.ceil(profile.spread / float(cell)))
    while profile.deltas([ahead * cell], bits)[0] > 1 << (bits // 3) and ahead < _MOST_CELLS:
        ahead = math.ceil(ahead * 1.25) + 1
    return ahead


def _power(masses: list[int], count: int, bits: int) -> list[int]:
    """So many equal ones, by repeated squaring; masses rounded up."""
    found: list[list[int]] = []
    while count:
        if count % 2:
            found.append(masses)
        count //= 2
        if count:
            masses = mass_product([masses, masses], bits)
    return mass_product(found, bits)


def _cell(together: JointProfile) -> Fraction:
    """The width of the grid: a hint from floats, which costs accuracy or time if it is bad, never privacy."""
    finest = min(profile.spread for profile, _ in together.factors if profile.spread > 0)
    wanted = max(finest / _CELLS_PER_SPREAD, together.spread / _CELLS_PER_TOTAL)
    total = sum(c * float(p.largest if p.largest is not None else 14 * p.spread) for p, c in together.factors)
    wanted = max(wanted, 2 * total / _MOST_CELLS)
    anchors = [anchor for p, _ in together.factors if (anchor := p.lattice or p.largest)]
    if not anchors:
        return Fraction(wanted)
    # Losses that have positive probability fall on the grid, all of them if they have a common measure.
    below = math.lcm(*(anchor.denominator for anchor in anchors))
    common = Fraction(math.gcd(*(int(anchor * below) for anchor in anchors)), below)
    anchor = common if float(common) * _FINER >= wanted else max(anchors)
    return anchor / math.ceil(float(anchor) / wanted)

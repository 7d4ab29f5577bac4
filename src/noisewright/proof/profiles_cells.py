"""Profiles of noise with a density that is constant on cells: every loss is an atom, and all of them are summed.

X has density f, P is its law and Q that of X - s. Where f has levels, the loss on a cell is a rational; where it has
whole weights, it is the logarithm of a ratio of two of them.

Rule (all shifts). For one epsilon the divergence is the sum of (f_i - e^epsilon f_j)+ times the length that cell i
shares with cell j moved by s. Lengths are linear in s between the differences of break points, so the largest value
over 0 < |s| <= reach is taken at such a difference or at the reach. Shifts to the left and to the right are the two
orders of a pair.
Rule (one top). If f does not fall up to some place and does not rise from there on, f(x) > e^epsilon f(x + s) with
s > 0 needs x + s beyond the top, where f(x + s) does not rise in s: the integrand grows with s, and so does the
divergence. The same holds for its mirror image. So the reach, to the left and to the right, is the worst shift.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

from noisewright.laws.piecewise import Piecewise
from noisewright.numerics.balls import Ball, ball, ceil_scaled, floor_scaled, precision
from noisewright.numerics.fields import BALLS
from noisewright.problem.errors import UncertifiedError
from noisewright.proof.profiles import GUARD_BITS, NOTHING

_MOST_COMPARED = 400_000
_FINEST = 1 << 16


@dataclass(frozen=True, slots=True)
class PiecewiseProfile:
    """Noise with rational levels on cells and geometric tails, over all shifts up to `reach`, in both orders."""

    law: Piecewise
    reach: Fraction
    rule: str = "profile/levels"

    @property
    def spread(self) -> float:
        return _spread(self.law, self.reach)

    @property
    def largest(self) -> Fraction | None:
        return self.law.rate * max(apart for atoms in _all_atoms(self.law, self.reach) for apart in atoms)

    @property
    def lost(self) -> Fraction:
        return NOTHING

    @property
    def lattice(self) -> Fraction | None:
        common = _common(self.law, self.reach) * self.law.rate
        return common if self.largest and self.largest <= common * _FINEST else None

    def deltas(self, epsilons: Sequence[Fraction], bits: int) -> list[int]:
        with precision(bits + GUARD_BITS):
            tables = _tables(self.law, self.reach, bits + GUARD_BITS)
            found = []
            for epsilon in epsilons:
                grown = floor_scaled(ball(epsilon).exp(), GUARD_BITS + bits)
                found.append(_rounded_up(max(table.above(epsilon, grown) for table in tables), bits))
            return found


Atoms = dict[Fraction, dict[Fraction, tuple[Fraction, Fraction]]]
"""By difference of levels and by level: the length of the places that have both, and how much of it recurs for ever
outward, once in each period and one level lower each time."""


def worst_shifts(law: Piecewise, reach: Fraction) -> list[Fraction]:
    """Shifts, to both sides, among which the worst one is for every epsilon."""
    cells = law.unrolled(reach)
    levels = [level for _, _, level in cells]
    top = levels.index(min(levels))
    one_top = all(a >= b for a, b in pairwise(levels[: top + 1])) and all(a <= b for a, b in pairwise(levels[top:]))
    if one_top:
        return [reach, -reach]
    starts = [start for start, _, _ in cells]
    apart = {reach}
    for i, start in enumerate(starts):
        for later in starts[i + 1 :]:
            if later - start > reach:
                break
            apart.add(later - start)
        if len(apart) * len(cells) > _MOST_COMPARED:
            raise UncertifiedError(
                f"refused: the {len(cells)} cells of this law would have to be compared at {len(apart)} shifts or more."
            )
    return [sign * shift for shift in sorted(apart) for sign in (1, -1)]


def atoms_of(law: Piecewise, shift: Fraction) -> Atoms:
    """Where the level of x + shift is how much above that of x, and at which level of x.

    In each tail both levels grow by one in a period, so the difference recurs; between the tails there are finitely
    many places.
    """
    first, last, period = law.breaks[0], law.breaks[-1], law.period
    left = min(first, first - shift) + period
    right = max(last - period, last - period - shift, left)
    cells = law.unrolled(abs(shift) + period)
    edges = [start for start, _, _ in cells]
    cuts = {left, right, left - period, right + period}
    cuts |= {e for edge in edges for e in (edge, edge - shift) if left - period <= e <= right + period}
    found: Atoms = {}
    for a, b in pairwise(sorted(cuts)):
        level = cells[bisect_right(edges, a) - 1][2]
        apart = cells[bisect_right(edges, a + shift) - 1][2] - level
        by_level = found.setdefault(apart, {})
        whole, tail = by_level.get(level, (NOTHING, NOTHING))
        recurs = b <= left or a >= right
        by_level[level] = (whole, tail + b - a) if recurs else (whole + b - a, tail)
    return found


@lru_cache(maxsize=64)
def _all_atoms(law: Piecewise, reach: Fraction) -> list[Atoms]:
    """One for each shift that may be the worst; equal ones once."""
    kept: list[Atoms] = []
    for shift in worst_shifts(law, reach):
        atoms = atoms_of(law, shift)
        if atoms not in kept:
            kept.append(atoms)
    return kept


def mass_of(law: Piecewise, by_level: dict[Fraction, tuple[Fraction, Fraction]]) -> Ball:
    """The probability of places with these lengths at these levels."""
    for_ever = -1 / ball(-law.rate).expm1()
    total = ball(0)
    for level, (whole, tail) in by_level.items():
        total = total + law.weight(level, BALLS) * (ball(whole) + ball(tail) * for_ever)
    return total / law.mass_total(BALLS)


class _Table:
    """The losses of one shift in rising order; P from above and Q from below, summed from each loss on."""

    def __init__(self, law: Piecewise, atoms: Atoms, bits: int) -> None:
        self._bits = bits
        self._losses = sorted(law.rate * apart for apart in atoms)
        self._p, self._q = [0], [0]
        for loss in reversed(self._losses):
            mass = mass_of(law, atoms[loss / law.rate])
            self._p.append(self._p[-1] + ceil_scaled(mass, bits))
            self._q.append(self._q[-1] + floor_scaled(mass * ball(-loss).exp(), bits))

    def above(self, epsilon: Fraction, grown: int) -> tuple[int, int]:
        """The sum of (P - e^epsilon Q) over losses above epsilon, from above, and its unit in bits."""
        count = len(self._losses) - bisect_right(self._losses, epsilon)
        return (self._p[count] << self._bits) - grown * self._q[count], 2 * self._bits


def _rounded_up(value: tuple[int, int], bits: int) -> int:
    whole, unit = value
    return min(max(0, -(-whole >> (unit - bits))), 1 << bits)


@lru_cache(maxsize=64)
def _tables(law: Piecewise, reach: Fraction, bits: int) -> list[_Table]:
    return [_Table(law, atoms, bits) for atoms in _all_atoms(law, reach)]


@lru_cache(maxsize=256)
def _common(law: Piecewise, reach: Fraction) -> Fraction:
    """The largest number of which all differences are multiples."""
    apart = {apart for atoms in _all_atoms(law, reach) for apart in atoms}
    below = math.lcm(*(value.denominator for value in apart))
    return Fraction(math.gcd(*(int(value * below) for value in apart)), below)


@lru_cache(maxsize=256)
def _spread(law: Piecewise, reach: Fraction) -> float:
    """The largest standard deviation of the loss, roughly."""
    return max(_deviation(law, atoms) for atoms in _all_atoms(law, reach))


def _deviation(law: Piecewise, atoms: Atoms) -> float:
    with precision():
        masses = [(float(law.rate * apart), float(mass_of(law, levels).mid())) for apart, levels in atoms.items()]
    mean = sum(x * p for x, p in masses)
    return math.sqrt(max(0.0, sum(x * x * p for x, p in masses) - mean**2))

"""Profiles of noise with a density that is constant on cells: every loss is an atom, and all of them are summed.

X has density f, P is its law and Q that of X - s. Where f has levels, the loss on a cell is a rational; where it has
whole weights, it is the logarithm of a ratio of two of them.

Rule (all shifts). For one epsilon the divergence is the sum of (f_i - e^epsilon f_j)+ times the length that cell i
shares with cell j moved by s. Lengths are linear in s between the differences of break points, so the largest value
over 0 < |s| <= sensitivity is taken at such a difference or at the sensitivity. Shifts to the left and to the right
are the two orders of a pair.
Rule (one top). If f does not fall up to some place and does not rise from there on, f(x) > e^epsilon f(x + s) with
s > 0 needs x + s beyond the top, where f(x + s) does not rise in s: the integrand grows with s, and so does the
divergence. The same holds for its mirror image. So the sensitivity, to the left and to the right, is the worst shift.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cmp_to_key, lru_cache
from itertools import pairwise

from noisewright.laws.lattice import Lattice
from noisewright.laws.piecewise import Piecewise
from noisewright.laws.tabulated import Tabulated
from noisewright.numerics.balls import Ball, ball, ceil_scaled, floor_scaled, precision, upper, working_bits
from noisewright.numerics.fields import BALLS
from noisewright.problem.errors import UncertifiedError
from noisewright.proof.approximate import line_of, refuse_too_many
from noisewright.proof.profiles.base import GUARD_BITS, NOTHING, PairLosses, Profile

_MOST_COMPARED = 400_000
_FINEST = 1 << 16


@dataclass(frozen=True, slots=True)
class PiecewiseProfile(Profile):
    """Noise with rational levels on cells and geometric tails, over all shifts up to `sensitivity`, in both orders."""

    law: Piecewise
    sensitivity: Fraction
    rule: str = "profile/levels"

    @property
    def spread(self) -> float:
        return _spread(self.law, self.sensitivity)

    @property
    def largest(self) -> Fraction | None:
        return self.law.rate * max(apart for atoms in _all_atoms(self.law, self.sensitivity) for apart in atoms)

    @property
    def lattice(self) -> Fraction | None:
        common = _common(self.law, self.sensitivity) * self.law.rate
        return common if self.largest and self.largest <= common * _FINEST else None

    def deltas(self, epsilons: Sequence[Fraction], bits: int) -> list[int]:
        with precision(bits + GUARD_BITS):
            tables = _tables(self.law, self.sensitivity, bits + GUARD_BITS)
            found = []
            for epsilon in epsilons:
                grown = floor_scaled(ball(epsilon).exp(), GUARD_BITS + bits)
                found.append(_rounded_up(max(table.above(epsilon, grown) for table in tables), bits))
            return found


Atoms = dict[Fraction, dict[Fraction, tuple[Fraction, Fraction]]]
"""By difference of levels and by level: the length of the places that have both, and how much of it recurs for ever
outward, once in each period and one level lower each time."""


def worst_shifts(law: Piecewise, sensitivity: Fraction) -> list[Fraction]:
    """Shifts, to both sides, among which the worst one is for every epsilon."""
    cells = law.unrolled(sensitivity)
    levels = [level for _, _, level in cells]
    top = levels.index(min(levels))
    one_top = all(a >= b for a, b in pairwise(levels[: top + 1])) and all(a <= b for a, b in pairwise(levels[top:]))
    if one_top:
        return [sensitivity, -sensitivity]
    starts = [start for start, _, _ in cells]
    apart = {sensitivity}
    for i, start in enumerate(starts):
        for later in starts[i + 1 :]:
            if later - start > sensitivity:
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
def _all_atoms(law: Piecewise, sensitivity: Fraction) -> list[Atoms]:
    """One for each shift that may be the worst; equal ones once."""
    kept: list[Atoms] = []
    for shift in worst_shifts(law, sensitivity):
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
def _tables(law: Piecewise, sensitivity: Fraction, bits: int) -> list[_Table]:
    return [_Table(law, atoms, bits) for atoms in _all_atoms(law, sensitivity)]


@lru_cache(maxsize=256)
def _common(law: Piecewise, sensitivity: Fraction) -> Fraction:
    """The largest number of which all differences are multiples."""
    apart = {apart for atoms in _all_atoms(law, sensitivity) for apart in atoms}
    below = math.lcm(*(value.denominator for value in apart))
    return Fraction(math.gcd(*(int(value * below) for value in apart)), below)


@lru_cache(maxsize=256)
def _spread(law: Piecewise, sensitivity: Fraction) -> float:
    """The largest standard deviation of the loss, roughly."""
    return max(_deviation(law, atoms) for atoms in _all_atoms(law, sensitivity))


def _deviation(law: Piecewise, atoms: Atoms) -> float:
    with precision():
        masses = [(float(law.rate * apart), float(mass_of(law, levels).mid())) for apart, levels in atoms.items()]
    mean = sum(x * p for x, p in masses)
    return math.sqrt(max(0.0, sum(x * x * p for x, p in masses) - mean**2))


@dataclass(frozen=True, slots=True)
class TabulatedProfile(Profile, PairLosses):
    """Tabulated noise over all shifts of at most `cells` cell widths.

    Rule: at a shift between j and j + 1 cells the divergence is the mixture of those at j and at j + 1, so the largest
    one is at a whole shift or at the last one; the last one alone if the weights fall outward (see
    `approximate_delta`). The law is symmetric, so one order stands for both. At a whole shift the divergence is the
    sum of (weight - e^epsilon shifted weight)+, taken at a rational just below e^epsilon.
    [theory#the-privacy-profile-of-one-number]
    """

    law: Tabulated
    cells: Fraction
    rule: str = "profile/cells"

    @property
    def spread(self) -> float:
        return max(_deviation_of_table(self.law, shift) for shift in self._shifts())

    @property
    def largest(self) -> Fraction | None:
        with precision():
            return max(upper(_sums(self.law, shift).largest()) for shift in self._shifts())

    @property
    def lost(self) -> Fraction:
        return self._worst([_sums(self.law, shift).infinite() for shift in self._shifts()]) / self.law.total

    def deltas(self, epsilons: Sequence[Fraction], bits: int) -> list[int]:
        sums = [_sums(self.law, shift) for shift in self._shifts()]
        unit, found = bits + GUARD_BITS, []
        with precision(2 * unit):
            for epsilon in epsilons:
                grown = floor_scaled(ball(epsilon).exp(), unit)
                worst = self._worst([each.above(grown, unit) for each in sums]) / self.law.total
                found.append(min(math.ceil(worst * Fraction(1, 1 << unit - bits)), 1 << bits))
        return found

    def infinite(self, lattice: Lattice | None) -> Ball:
        """P(loss is infinite) at the largest whole shift."""
        return ball(Fraction(_sums(self.law, self._whole()).infinite(), self.law.total))

    def passed(self, epsilons: Sequence[Fraction], lattice: Lattice | None) -> Iterator[tuple[Ball, Ball]]:
        """P(finite loss >= epsilon) from below and Q(loss > epsilon) from above at the largest whole shift.

        Cells of the law begin at edges of the lattice, so that rounding to it changes no loss.
        """
        sums, unit, total = _sums(self.law, self._whole()), working_bits(), ball(self.law.total)
        for epsilon in epsilons:
            grown = ball(epsilon).exp()
            yield (
                ball(sums.at_least(ceil_scaled(grown, unit), unit)) / total,
                ball(sums.shifted_above(floor_scaled(grown, unit), unit)) / total,
            )

    def _whole(self) -> int:
        """The largest shift of whole cells."""
        return min(math.floor(self.cells), len(line_of(self.law)))

    def _shifts(self) -> list[int]:
        """Whole shifts that may be the worst; the last one may be beyond it and counts in a mixture only."""
        count = len(line_of(self.law))
        last = min(math.ceil(self.cells), count)
        if all(a >= b for a, b in pairwise(self.law.weights)):
            return [last] if self.cells >= last else [last - 1, last]
        refuse_too_many(last, count)
        return list(range(0 if self.cells < 1 else 1, last + 1))

    def _worst(self, values: list[int]) -> Fraction:
        """The largest of the values at whole shifts, the last one mixed with the one before where it is beyond."""
        share = self.cells - math.floor(self.cells)
        if self.cells >= len(line_of(self.law)) or not share:
            return Fraction(max(values))
        return max(Fraction(max(values[:-1])), (1 - share) * values[-2] + share * values[-1])


class _Sums:
    """Pairs of weights a cell apart by a whole shift, from the largest ratio on: exact sums of both."""

    def __init__(self, law: Tabulated, shift: int) -> None:
        line = line_of(law)
        moved = line[shift:] + [0] * shift
        pairs = [(a, b) for a, b in zip(line, moved, strict=True) if a]
        self._pairs = sorted(pairs, key=cmp_to_key(_by_ratio))
        self._first, self._second = [0], [0]
        for a, b in self._pairs:
            self._first.append(self._first[-1] + a)
            self._second.append(self._second[-1] + b)

    def above(self, grown: int, unit: int) -> int:
        """2^unit times the sum of (a - g b)+, g being grown 2^-unit."""
        count = self._count(lambda a, b: (a << unit) > grown * b)
        return (self._first[count] << unit) - grown * self._second[count]

    def _count(self, holds: Callable[[int, int], bool]) -> int:
        """How many pairs from the first on have a property that those of a large ratio have."""
        low, high = 0, len(self._pairs)
        while low < high:
            middle = (low + high) // 2
            if holds(*self._pairs[middle]):
                low = middle + 1
            else:
                high = middle
        return low

    def infinite(self) -> int:
        """The weight that the shifted law cannot have."""
        return self._first[self._count(lambda a, b: not b)]

    def largest(self) -> Ball:
        """The largest finite loss, at the working precision."""
        finite = self._count(lambda a, b: not b)
        if finite == len(self._pairs):
            return ball(0)
        a, b = self._pairs[finite]
        return abs(ball(Fraction(a, b)).log())

    def at_least(self, grown: int, unit: int) -> int:
        """The weight of finite ratios of at least grown 2^-unit."""
        count = self._count(lambda a, b: (a << unit) >= grown * b)
        return self._first[count] - self.infinite()

    def shifted_above(self, grown: int, unit: int) -> int:
        """The shifted weight of ratios above grown 2^-unit."""
        return self._second[self._count(lambda a, b: (a << unit) > grown * b)]


def _by_ratio(one: tuple[int, int], other: tuple[int, int]) -> int:
    """The exact order of a/b, infinite ones first."""
    return other[0] * one[1] - one[0] * other[1]


@lru_cache(maxsize=4096)
def _sums(law: Tabulated, shift: int) -> _Sums:
    return _Sums(law, shift)


@lru_cache(maxsize=1024)
def _deviation_of_table(law: Tabulated, shift: int) -> float:
    line, total = line_of(law), law.total
    pairs = [(a / total, math.log(a) - math.log(b)) for a, b in zip(line, line[shift:], strict=False) if a and b]
    mean = sum(p * x for p, x in pairs)
    return math.sqrt(max(0.0, sum(p * x * x for p, x in pairs) - mean**2))

"""Profiles of tabulated noise: whole weights on equal cells, summed exactly in whole numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cmp_to_key, lru_cache
from itertools import pairwise

from noisewright.laws.lattice import Lattice
from noisewright.laws.tabulated import Tabulated
from noisewright.numerics.balls import Ball, ball, ceil_scaled, floor_scaled, precision, upper, working_bits
from noisewright.proof.approximate import line_of, refuse_too_many
from noisewright.proof.profiles import GUARD_BITS


@dataclass(frozen=True, slots=True)
class TabulatedProfile:
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

    @property
    def lattice(self) -> Fraction | None:
        return None

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
        """Whole shifts that may be the worst; the last one may be beyond the reach and counts in a mixture only."""
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

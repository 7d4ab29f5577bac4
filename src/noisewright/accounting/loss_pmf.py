"""Privacy losses of one or many releases as whole numbers on a lattice, and how they are added up.

What is kept stands for the function L(a) = infinite + sum of mass (1 - a e^(-loss))+, a = e^epsilon >= 0. For a true
pair of laws, with the masses of the first, L is the profile delta(epsilon). A profile composed with another one is

    delta(a) = sum over the losses x of the first, of mass(x) delta'(a e^(-x)), plus infinite delta'(0), delta'(0) = 1.

Every coefficient is at least 0. So if L >= delta and L' >= delta' at every a >= 0, the lattice product of their masses
is at or above the composed profile: first replace delta' by L', which has the form above, then exchange the sums and
replace delta by L. Nothing else is used: masses need not add up to 1, nor belong to any pair of laws. In the same way a
product of functions below the profiles of pairs that are taken together is below the profile of the pair of products.

Two sides, each a set of moves that keep their direction: `above` (masses rounded up, losses raised or spread, tails to
infinity) and `below` (masses rounded down, losses lowered or drawn together, tails cut off).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from heapq import heapify, heappop, heappush
from typing import ClassVar

from noisewright.accounting.grids import LossGrid
from noisewright.numerics.balls import convolved

_MOST_REFINED = 4
_MOST_CELLS = 1 << 16


@dataclass(frozen=True, slots=True)
class PrivacyLossPMF:
    """masses[i] units at a loss of (first + i) cells of 2^level units; `infinite` units at an infinite loss.

    `variance` is a float that chooses widths of cells, no evidence.
    """

    level: int
    first: int
    masses: list[int]
    infinite: int
    variance: float


class Discretisation(ABC):
    """Moves that go one way: what they return is nowhere below (or nowhere above) what they were given."""

    up: ClassVar[bool]

    def coarser(self, losses: PrivacyLossPMF, grid: LossGrid) -> PrivacyLossPMF:
        """The same losses on cells of twice the width: what is between two of them is divided between both."""
        first, masses = losses.first, losses.masses
        if first % 2:
            first, masses = first - 1, [0, *masses]
        even, odd = masses[::2], masses[1::2]
        even += [0] * (len(odd) + 1 - len(even))
        for i, (lowered, raised) in enumerate(self.divided(odd, even, grid.step(losses.level), grid.mass_bits)):
            even[i] += lowered
            even[i + 1] += raised
        return PrivacyLossPMF(losses.level + 1, first // 2, even, losses.infinite, losses.variance)

    def trimmed(self, losses: PrivacyLossPMF, grid: LossGrid, copies: int) -> PrivacyLossPMF:
        """Without the tails that so many copies of it can spare."""
        spare = max(1, (1 << max(0, grid.mass_bits - grid.tail_bits)) // copies)
        masses = losses.masses
        last, beyond = len(masses) - 1, 0
        while last > 0 and beyond + masses[last] <= spare:
            beyond += masses[last]
            last -= 1
        start, before = 0, 0
        while start < last and before + masses[start] <= spare:
            before += masses[start]
            start += 1
        kept = masses[start : last + 1]
        infinite = losses.infinite + self.put_tails(kept, before, beyond)
        return PrivacyLossPMF(losses.level, losses.first + start, kept, infinite, losses.variance)

    @abstractmethod
    def divided(self, odd: list[int], even: list[int], step: Fraction, bits: int) -> Iterable[tuple[int, int]]:
        """How much of each odd cell goes down and how much up; `odd[i]` lies between the even cells i and i + 1."""

    @abstractmethod
    def put_tails(self, kept: list[int], before: int, beyond: int) -> int:
        """Put what was cut off on the left and on the right where it may go; what of it goes to infinity."""


def widened(losses: PrivacyLossPMF, grid: LossGrid, side: Discretisation, level: int) -> PrivacyLossPMF:
    """On cells of the given level, or of its own where that is higher."""
    while losses.level < level:
        losses = side.coarser(losses, grid)
    return losses


def product(
    left: PrivacyLossPMF, right: PrivacyLossPMF, grid: LossGrid, side: Discretisation, copies: int
) -> PrivacyLossPMF:
    """The losses of two independent releases together; so many copies of it are going to be multiplied."""
    one, other = (left, left) if right is left else _on_one_grid(left, right, grid, side)
    level = one.level
    bits = grid.mass_bits
    masses = convolved(one.masses, other.masses, bits, up=side.up) or [0]
    # Infinite if either is: every mass of the one with the infinite mass of the other.
    all_of_other = sum(other.masses) + other.infinite
    infinite = one.infinite * all_of_other + sum(one.masses) * other.infinite
    infinite = -(-infinite >> bits) if side.up else infinite >> bits
    found = PrivacyLossPMF(level, one.first + other.first, masses, infinite, left.variance + right.variance)
    found = side.trimmed(found, grid, copies)
    found = widened(found, grid, side, grid.level(found.variance))
    while len(found.masses) > _MOST_CELLS:
        found = side.coarser(found, grid)
    return found


def _on_one_grid(
    left: PrivacyLossPMF, right: PrivacyLossPMF, grid: LossGrid, side: Discretisation
) -> tuple[PrivacyLossPMF, PrivacyLossPMF]:
    """Both on the same cells: those of the wider one, unless a few atoms would have to be moved for that."""
    if left.level > right.level:
        right, left = _on_one_grid(right, left, grid, side)
        return left, right
    gap = right.level - left.level
    short = len(right.masses) << min(gap, _MOST_REFINED) <= 2 * _MOST_CELLS
    if 0 < gap <= _MOST_REFINED and short and 4 * sum(map(bool, left.masses)) < len(left.masses):
        return left, _refined(right, gap)
    return widened(left, grid, side, right.level), right


def _refined(losses: PrivacyLossPMF, gap: int) -> PrivacyLossPMF:
    """The same losses on cells so many times halved: exact, only longer."""
    masses = [0] * (((len(losses.masses) - 1) << gap) + 1)
    masses[:: 1 << gap] = losses.masses
    return PrivacyLossPMF(losses.level - gap, losses.first << gap, masses, losses.infinite, losses.variance)


def power(losses: PrivacyLossPMF, times: int, grid: LossGrid, side: Discretisation, copies: int) -> PrivacyLossPMF:
    """The losses of so many equal releases, by repeated squaring."""
    result, square, left = None, losses, times
    while True:
        if left % 2:
            result = square if result is None else product(result, square, grid, side, copies)
        left //= 2
        if not left:
            return square if result is None else result
        square = product(square, square, grid, side, copies * left)


def together(parts: list[PrivacyLossPMF], grid: LossGrid, side: Discretisation) -> PrivacyLossPMF:
    """The losses of different releases, those that spread least first, so that cells grow with what they hold."""
    heap = [(part.variance, number, part) for number, part in enumerate(parts)]
    heapify(heap)
    number = len(parts)
    while len(heap) > 1:
        one, other = heappop(heap)[2], heappop(heap)[2]
        made = product(one, other, grid, side, copies=1)
        heappush(heap, (made.variance, number, made))
        number += 1
    return heap[0][2]

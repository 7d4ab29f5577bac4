"""From below: one pair of neighbours as masses on a lattice, and moves that never raise what they stand for.

For every set S of outcomes P(S) - a Q(S) is at most the profile of the pair (P, Q). Take S_j = {loss >= (j - 1/2) h},
lower bounds P_j of P(S_j) and upper bounds Q_j of Q(S_j): the lines P_j - a Q_j, and all their mixtures, are below it.

*Bins.* The cells between the sets are atoms of masses p_j = P_j - P_(j+1) and q_j = Q_j - Q_(j+1), with losses near j h
but not at it; those of hardly any mass count with a neighbour. The bin at x = j h holds the atom j and perhaps parts of
its neighbours: a run of cells, of which the outer ones may be divided between two bins. If it holds p and q with p >=
e^(x - SLACK) q, then p is kept and q forgotten: q becomes e^(SLACK - x) p, which is at least as large. The bins from
one on, which hold all atoms from one on, then make a line that is nowhere above a mixture of the lines above. So with
losses lowered by SLACK, which whoever reads the result does for all releases at once, the masses are below the pair.
Noise that falls outward has atoms a little nearer to 0 than their bins: on the right each bin borrows from the next
atom until p = e^x q, on the left it takes from the one before until p = e^x q. So nothing is lowered by the order of a
cell, and what drawing together costs is of second order. An atom that cannot borrow enough falls to the bin below.

*Coarser.* An odd cell lies between two even ones. Of its mass, one part goes down (where its loss is more than is
needed) and one part up (where it is less): g up needs at least g e^h coming down to the same cell, since
g (e^h - 1) <= l (1 - e^-h). Done from both ends, in whole numbers.

*Tails.* The right one is lowered to the last cell that is kept, the left one is dropped.
"""

from __future__ import annotations

import math
from bisect import bisect
from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate

from noisewright.accounting.grids import LossGrid
from noisewright.accounting.loss_pmf import Discretisation, PrivacyLossPMF
from noisewright.numerics.balls import ball, ceil_scaled, floor_scaled, precision
from noisewright.proof.profiles.base import LowerPair

SLACK = Fraction(1, 2**64)
_GUARD = 72
_NEARLY = Fraction(1, 2**80)
_SHARE = 96
_ROUGHER = (0, 12, 24, 36)

MassPair = tuple[int, int]
"""Masses under the first law and under the second."""
Atom = tuple[int, int, int]
"""The number of a cell, and both masses."""


class OptimisticPLD(Discretisation):
    """Dominated: the moves that never raise."""

    up = False

    def divided(self, odd: list[int], even: list[int], step: Fraction, bits: int) -> Iterable[tuple[int, int]]:
        """So that no even cell receives more from below than from above."""
        rising = _divided(odd, even.index(max(even)), _fade(step, bits), bits)
        return ((mass - raised, raised) for mass, raised in zip(odd, rising, strict=True))

    def put_tails(self, kept: list[int], before: int, beyond: int) -> int:
        """The right tail lowered to the last cell that is kept, the left tail dropped."""
        kept[-1] += beyond
        return 0


OPTIMISTIC = OptimisticPLD()


@lru_cache(maxsize=256)
def _fade(step: Fraction, bits: int) -> int:
    """e^-step, rounded down."""
    with precision(bits + _GUARD):
        return floor_scaled(ball(-step).exp(), bits)


def _divided(odd: list[int], middle: int, fade: int, bits: int) -> list[int]:
    """How much of each odd cell goes up; `odd[i]` lies between the even cells i and i + 1.

    Guarantees: what goes up to an even cell is at most e^-step times what comes down to it.
    """
    count = len(odd)
    rising = [0] * count
    for i in range(count - 2, middle - 1, -1):
        rising[i] = min(odd[i], (odd[i + 1] - rising[i + 1]) * fade >> bits)
    needed = 0  # what must come down to the even cell i, for what went up to it
    for i in range(min(middle, count)):
        above = odd[i + 1] if i + 1 < count else 0
        if i + 1 == middle and i + 1 < count:
            above -= rising[i + 1]
        rising[i] = max(0, min(odd[i] - needed, above * fade >> bits))
        needed = _needed(rising[i], fade, bits)
    return rising


def _needed(risen: int, fade: int, bits: int) -> int:
    """The least whole number whose part e^-step, rounded down as above, is at least what went up."""
    return -(-(risen << bits) // fade)


@lru_cache(maxsize=1024)
def bins(
    pair: LowerPair, grid: LossGrid, level: int, cells: int, variance: float, top: Fraction | None = None
) -> PrivacyLossPMF | None:
    """The losses of one pair, drawn together on cells of a level; None where bounds are too rough.

    `top` is a loss that many outcomes may share, the largest one: it is kept apart from those below it.
    Guarantees: with every loss lowered by SLACK, nowhere above the pair.
    """
    step = grid.step(level)
    bits = grid.mass_bits + _GUARD + math.ceil(1.5 * float(cells * step))
    atoms = _atoms(pair, step, cells, bits, top)
    with precision(bits + _GUARD):
        rates = {b: ceil_scaled(ball(b * step - SLACK).exp(), bits) for b in range(-cells - 1, cells + 2)}
    # Where bounds are rough, atoms that are hardly larger than their errors count with a neighbour too.
    tried = (_filled(_merged(atoms, 1 << (bits - grid.mass_bits + more)), rates, bits) for more in _ROUGHER)
    filled = next((found for found in tried if found is not None), None)
    if filled is None:
        return None
    first, last = min(filled), max(filled)
    masses = [filled.get(b, 0) >> (bits - grid.mass_bits) for b in range(first, last + 1)]
    return PrivacyLossPMF(level, first, masses, pair.infinite_below(grid.mass_bits), variance)


def _atoms(pair: LowerPair, step: Fraction, cells: int, bits: int, top: Fraction | None) -> list[Atom]:
    """Masses of the cells from -cells to cells + 1 under both laws; the last one holds all that is beyond it."""
    numbers = [*range(-cells, cells + 2)]
    edges = [(2 * j - 1) * step / 2 + _NEARLY / 2 for j in numbers]
    lines = _lines(pair, edges, bits)
    if top is not None and edges[0] < top <= (cells + 1) * step and top not in edges:
        where = bisect(edges, top)
        lines.insert(where, _lines(pair, [top], bits)[0])
        numbers.insert(where, math.floor(top / step))
    # A smaller set has the smaller masses, so the bounds of one are bounds of the other.
    tails = list(accumulate((p for p, _ in reversed(lines)), max))[::-1]
    against = list(accumulate((q for _, q in lines), min))
    ends = [*zip(tails, against, strict=True), (0, 0)]
    return [(cell, p - p2, q - q2) for cell, (p, q), (p2, q2) in zip(numbers, ends, ends[1:], strict=False)]


def _lines(pair: LowerPair, edges: list[Fraction], bits: int) -> list[MassPair]:
    """P(finite loss >= edge) from below and Q(loss >= edge) from above."""
    masses = pair.masses_below(edges, bits)
    # Losses turned round; a little further in, so that no loss is on both sides of an edge.
    other, turned = pair.turned(), [_NEARLY - edge for edge in reversed(edges)]
    known = masses if other is pair and turned == edges else other.masses_below(turned, bits)
    outside = other.infinite_below(bits)
    against = [(1 << bits) - value - outside for value in reversed(_sums_from_the_end(known))]
    return list(zip(_sums_from_the_end(masses), against, strict=True))


def _sums_from_the_end(masses: list[int]) -> list[int]:
    return list(accumulate(reversed(masses)))[::-1]


def _merged(atoms: list[Atom], least: int) -> list[Atom]:
    """Atoms of hardly any mass with the next one that has some, or with the last one; the first ones are dropped."""
    found: list[Atom] = []
    p, q = 0, 0
    for cell, more_p, more_q in atoms:
        p, q = p + more_p, q + more_q
        if more_p >= least:
            found.append((cell, p, q) if found else (cell, more_p, more_q))
            p, q = 0, 0
    if not found:
        return []
    cell, last_p, last_q = found[-1]
    return [*found[:-1], (cell, last_p + p, last_q + q)]


def _filled(atoms: list[Atom], rates: dict[int, int], bits: int) -> dict[int, int] | None:
    """The first masses of the bins."""
    if not atoms:
        return None
    filled: Counter[int] = Counter()
    middle = next((i for i, (cell, _, _) in enumerate(atoms) if cell >= 0), len(atoms))
    parts = _lent_to_the_left(atoms[middle:], rates, bits)
    parts = _taken_from_the_left(atoms[:middle], rates, bits) + parts
    last: int | None = None
    for (cell, _, _), part in zip(atoms, parts, strict=True):
        found = next((b for b in (cell, cell - 1) if _excess(part, rates[b], bits) >= 0), None)
        # The bins from one on must be an upper set of the atoms, so none may lie below that of an atom before it.
        if found is None or (last is not None and found < last):
            return None
        filled[found] += part[0]
        last = found
    return filled


def _lent_to_the_left(atoms: list[Atom], rates: dict[int, int], bits: int) -> list[MassPair]:
    """From the middle outward, each atom with what it lacks for its bin from the next one, if that has enough."""
    found: list[MassPair] = []
    lent: MassPair = (0, 0)
    for i, (cell, p, q) in enumerate(atoms):
        held, lent = (p - lent[0], q - lent[1]), (0, 0)
        after = atoms[i + 1][1:] if i + 1 < len(atoms) else (0, 0)
        lacking, gain = -_excess(held, rates[cell], bits), _excess(after, rates[cell], bits)
        if 0 < lacking < gain:
            share = -(-(lacking << _SHARE) // gain) + 1
            lent = min(after[0], -(-after[0] * share >> _SHARE)), after[1] * share >> _SHARE
        found.append((held[0] + lent[0], held[1] + lent[1]))
    return found


def _taken_from_the_left(atoms: list[Atom], rates: dict[int, int], bits: int) -> list[MassPair]:
    """From the middle outward, each atom with as much of the one before as its own loss makes up for."""
    found: list[MassPair] = []
    taken: MassPair = (0, 0)
    for i in range(len(atoms) - 1, -1, -1):
        cell, p, q = atoms[i]
        held, taken = (p - taken[0], q - taken[1]), (0, 0)
        before = atoms[i - 1][1:] if i else (0, 0)
        room, lacking = _excess(held, rates[cell], bits), -_excess(before, rates[cell], bits)
        if 0 < room < lacking:
            share = max(0, (room << _SHARE) // lacking - 1)
            taken = before[0] * share >> _SHARE, min(before[1], -(-before[1] * share >> _SHARE))
        found.append((held[0] + taken[0], held[1] + taken[1]))
    return found[::-1]


def _excess(part: MassPair, rate: int, bits: int) -> int:
    """p - e^x q, rounded down."""
    return part[0] + (-rate * part[1] >> bits)

"""(epsilon, delta) of independent noises together: their privacy losses, composed from above.

Theorem (largest shifts are worst). Let f be symmetric and not increasing away from 0. For epsilon >= 0 and 0 <= s < s',
f(x) > e^epsilon f(x + s) needs x > -s/2, hence x + s > 0 and f(x + s') <= f(x + s): the integrand of the hockey-stick
divergence is at least as large for s'. For epsilon < 0 the divergence is 1 - e^epsilon + e^epsilon times that of the
pair turned round at -epsilon, and by symmetry a pair turned round is its own mirror image. So the pair (noise, noise
shifted by s') dominates the pair of s at every epsilon; dominance holds for products of pairs too (Dong, Roth and Su
2022; Zhu, Dong and Wang 2022, theorem 10). Hence over a box the corner is the worst difference, and where only so many
numbers move, the worst is among the choices that move each by its extent.

Each pair is replaced by a table that dominates it (see `losses`), tables are multiplied as polynomials with whole
coefficients, rounded up, and delta is read off: the mean of (1 - e^(epsilon - loss))+, infinite losses counted whole.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import combinations_with_replacement, product
from typing import Any

from noisewright.laws.base import LogConcave
from noisewright.laws.gaussian import Gaussian, GeneralizedGaussian
from noisewright.laws.registry import NoiseLaw
from noisewright.numerics.balls import ball, mass_product, precision, upper
from noisewright.numerics.special import shortened
from noisewright.problem.errors import UncertifiedError
from noisewright.proof.losses import (
    MASS_BITS,
    WHOLE,
    WORKING_BITS,
    RandomizedResponse,
    bounded_loss,
    largest_loss,
    loss_masses,
    spread,
)

Move = tuple[Any, Fraction]
"""A law of scale 1, and a shift in its scales."""

_SCALE_ERROR = 1e-4
_MOST_CELLS = 400_000
_MOST_CHOICES = 200
_MOST_COMBINED = 5_000
_DIGITS = 24


def move_of(law: NoiseLaw, shift: Fraction) -> Move:
    """The shift in units of the law; laws that differ by their scale alone become the same one.

    Noise that is known by its pure bound alone counts as randomized response with that bound.
    """
    if isinstance(law, WHOLE):
        return law, shift
    if isinstance(law, LogConcave) and not (isinstance(law, GeneralizedGaussian) and law.power < 1):
        scale = getattr(law, law.lengths[0])
        return law.scaled(1 / scale), shift / scale
    bound = bounded_loss(law, shift)
    if bound is None:
        raise UncertifiedError(f"there is no rule for the privacy losses of {type(law).__name__} noise.")
    return RandomizedResponse(Fraction(1)), bound


def squared_length(law: Any, shift: Fraction) -> Fraction | None:
    """The squared shift in standard deviations of Gaussian noise (also as a generalized one); None for other laws."""
    if isinstance(law, GeneralizedGaussian) and law.power == 2:
        return 2 * (shift / law.scale) ** 2
    return (shift / law.std) ** 2 if isinstance(law, Gaussian) else None


def worst_choices(moves: Sequence[Move], together: int) -> Iterator[tuple[Move, ...]]:
    """Every choice of so many moves that no other choice dominates: of each law the largest shifts."""
    if together >= len(moves):
        yield tuple(moves)
        return
    shifts = _by_law(moves)
    for taken in _picks(Counter({law: len(found) for law, found in shifts.items()}), together, _MOST_CHOICES):
        yield tuple((law, shift) for law, n in taken.items() for shift in shifts[law][:n])


def worst_of_groups(groups: Iterable[Sequence[tuple[Move, ...]]], at_most: int) -> list[tuple[Move, ...]]:
    """The moves of so many groups together, each group with one of its own choices; those that none dominates."""
    kinds = Counter(tuple(sorted((tuple(sorted(c, key=repr)) for c in choices), key=repr)) for choices in groups)
    found: set[tuple[Move, ...]] = set()
    for picked in _picks(kinds, at_most, _MOST_COMBINED):
        # Of equal groups it does not matter which one makes which choice.
        options = (combinations_with_replacement(kind, n) for kind, n in picked.items())
        for choice in product(*options):
            moves = (move for several in choice for one in several for move in one)
            found.add(tuple(sorted(moves, key=repr)))
            _refuse_many(len(found), _MOST_COMBINED)
    return undominated(found)


def _picks(kinds: Counter[Any], count: int, most: int) -> Iterator[Counter[Any]]:
    """Every way to take so many of these things, equal ones being alike; all of them where there are no more."""
    if count >= kinds.total():
        yield kinds
        return
    _refuse_many(math.comb(count + len(kinds) - 1, count), most)
    for picked in combinations_with_replacement(kinds, count):
        taken = Counter(picked)
        if all(n <= kinds[kind] for kind, n in taken.items()):
            yield taken


def _refuse_many(count: int, most: int) -> None:
    """Keep a set of many different differences from costing hours."""
    if count > most:
        raise UncertifiedError(f"refused: more than {most} differences would have to be looked at one by one.")


def undominated(rows: Iterable[Sequence[Move]]) -> list[tuple[Move, ...]]:
    """The rows that no other dominates: one that moves the same laws at least as far, and perhaps others too."""
    kept: list[tuple[tuple[Move, ...], dict[Any, list[Fraction]]]] = []
    shapes = [(tuple(row), _by_law(row)) for row in dict.fromkeys(tuple(sorted(r, key=repr)) for r in rows)]
    for row, shifts in sorted(shapes, key=lambda pair: -sum(float(shift) for _, shift in pair[0])):
        if row and not any(_dominates(other, shifts) for _, other in kept):
            kept.append((row, shifts))
    _refuse_many(len(kept), _MOST_CHOICES)
    return [row for row, _ in kept]


def _by_law(moves: Iterable[Move]) -> dict[Any, list[Fraction]]:
    """The shifts of each law, largest first."""
    found: dict[Any, list[Fraction]] = {}
    for law, shift in moves:
        found.setdefault(law, []).append(shift)
    return {law: sorted(shifts, reverse=True) for law, shifts in found.items()}


def _dominates(larger: dict[Any, list[Fraction]], smaller: dict[Any, list[Fraction]]) -> bool:
    return all(
        len(larger.get(law, ())) >= len(shifts) and all(a >= b for a, b in zip(larger[law], shifts, strict=False))
        for law, shifts in smaller.items()
    )


def joint_delta(moves: Iterable[Move], epsilon: Fraction) -> Fraction:
    """A rational at or above delta(epsilon) of independent noises that are shifted all at once.

    Guarantees: never below the truth; the scale at which it meets a given delta is about 1e-4 above the smallest.
    The value is rounded up to 24 binary digits, so that floats behind the choice of knots do not show.
    """
    return _joint(frozenset(Counter(moves).items()), epsilon)


@lru_cache(maxsize=64)
def _joint(each: frozenset[tuple[Move, int]], epsilon: Fraction) -> Fraction:
    """The same for so many of each move; a search has often asked before the verifier does."""
    # In one order, whatever it is, so that the same numbers come out in every process.
    counts = Counter(dict(sorted(each, key=repr)))
    cell = _cell(counts, epsilon)
    with precision(WORKING_BITS):
        tables = {move: loss_masses(*_placed(move), cell) for move in counts}
        factors = [_power(tables[move].masses, n) for move, n in counts.items()]
        first = sum(tables[move].first * n for move, n in counts.items())
        slack = sum((tables[move].slack * n for move, n in counts.items()), Fraction(0))
        # At least one infinite loss: at most the sum of the chances.
        infinite = sum(tables[move].infinite * n for move, n in counts.items())
        masses = mass_product(factors, MASS_BITS)
        total = hockey_stick(masses, first, cell, epsilon - slack, MASS_BITS) + Fraction(infinite, 1 << MASS_BITS)
        return shortened(min(Fraction(1), total), _DIGITS)


def _placed(move: Move) -> Move:
    """Randomized response carries its bound in itself."""
    law, shift = move
    return (RandomizedResponse(shift), shift) if isinstance(law, RandomizedResponse) else move


def _power(masses: list[int], count: int) -> list[int]:
    """The losses of so many equal noises, by repeated squaring; masses rounded up."""
    found: list[list[int]] = []
    while count:
        if count % 2:
            found.append(masses)
        count //= 2
        if count:
            masses = mass_product([masses, masses], MASS_BITS)
    return mass_product(found, MASS_BITS)


def hockey_stick(masses: list[int], first: int, cell: Fraction, epsilon: Fraction, bits: int) -> Fraction:
    """The mean of (1 - e^(epsilon - loss))+ over finite losses, from above; masses are multiples of 2^-bits."""
    start = max(0, math.floor(epsilon / cell) + 1 - first)
    fade, total = ball(-cell).exp(), ball(0)
    weight = ball(epsilon - (start + first) * cell).exp()
    for mass in masses[start:]:
        total = total + ball(mass) * (1 - weight)
        weight = weight * fade
    return max(Fraction(0), upper(total / ball(1 << bits)))


def _cell(counts: Counter[Move], epsilon: Fraction) -> Fraction:
    """The width of the grid: a hint from floats, which costs accuracy or time if it is bad, never privacy.

    Splitting a loss between two grid points adds at most a quarter, on average a sixth, of a squared cell to its
    variance, and moves delta by no more than an eighth of a squared cell moves epsilon.
    """
    number = counts.total()
    spreads = {move: spread(*_placed(move)) for move in counts}
    variance = sum(n * spreads[move][0] for move, n in counts.items())
    width = math.sqrt(min(12 * _SCALE_ERROR * variance, 8 * _SCALE_ERROR * float(epsilon)) / number)
    mantissa, exponent = math.frexp(width)
    cell = Fraction(math.floor(16 * mantissa), 16) * Fraction(2) ** exponent
    bounds = [b for law, shift in map(_placed, counts) if (b := largest_loss(law, shift)) is not None]
    if bounds:
        # Losses that are reached with positive probability fall on the grid.
        cell = max(bounds) / math.ceil(max(bounds) / cell)
    cells = sum(2 * n * spreads[move][1] for move, n in counts.items()) / float(cell)
    if cells > _MOST_CELLS:
        raise UncertifiedError(f"composing {number} noises needs {cells:.0f} cells; at most {_MOST_CELLS} are allowed.")
    return cell

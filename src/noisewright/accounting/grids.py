"""Which lattice a plan is added up on: chosen by floats, which decide how tight a bound is and nothing else."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import Any

from noisewright.accounting.lattice import Grid
from noisewright.proof.profiles import Profile

Leaf = tuple[Any, int]
"""A profile, which is frozen and can be hashed, and how many releases have it."""

_SPARE_BITS = 18
_CELL_BITS = 24
_FINER = 2
_FEW = 64
_MOST_LATTICE_CELLS = 1 << 13
_LEAST_UNIT = Fraction(1, 1 << 64)


@dataclass(frozen=True, slots=True)
class Depth:
    """How small a delta is read with all its digits, and how fine the cells are for that."""

    least: Fraction
    bits: int
    fineness: Fraction


DEPTHS = (
    Depth(Fraction(1, 10**6), 20, Fraction(1, 96)),
    Depth(Fraction(1, 10**15), 50, Fraction(1, 128)),
    Depth(Fraction(1, 10**30), 100, Fraction(1, 192)),
)
"""The tail matters more the smaller delta is: an error of x in a variance is one of about ln(1/delta) x in delta."""


def chosen(leaves: Sequence[Leaf], depth: Depth) -> Grid:
    """The lattice for these releases.

    Its unit is below every release's own spread by the fineness; atoms, and losses that are reached at the most, fall
    on it where one lattice holds them all. Losses of less than its least unit share a cell, which is safe. Plans of few
    releases can afford finer cells.
    """
    count = sum(times for _, times in leaves)
    fineness = depth.fineness / _FINER if count <= _FEW else depth.fineness
    tail_bits = depth.bits + _SPARE_BITS
    # The count's bits in steps, so that plans of about the same size share what was computed.
    mass_bits = tail_bits + _CELL_BITS + 8 * -(-count.bit_length() // 8)
    return Grid(_unit([profile for profile, _ in leaves], fineness), fineness, tail_bits, mass_bits)


def _unit(profiles: Sequence[Profile], fineness: Fraction) -> Fraction:
    anchors = [anchor for profile in profiles if (anchor := profile.lattice or profile.largest)]
    spreads = [profile.spread for profile in profiles if profile.spread > 0]
    if not spreads:
        return max(anchors[0], _LEAST_UNIT) if anchors else Fraction(1)
    common = reduce(_common, anchors) if anchors else None
    if common is not None and common < _LEAST_UNIT:
        common = None
    free = [profile.spread for profile in profiles if profile.lattice is None and profile.spread > 0]
    if common is not None and not free and max(_cells(profile, common) for profile in profiles) <= _MOST_LATTICE_CELLS:
        return common
    wanted = max(_short(float(fineness) * min(free or spreads)), _LEAST_UNIT)
    if common is not None:
        # By a power of two, so that atoms stay where they are while cells are widened.
        unit = common / (1 << max(0, math.ceil(math.log2(common / wanted))))
        if 4 * unit >= wanted:
            return unit
    return wanted


def _cells(profile: Profile, step: Fraction) -> Fraction:
    return (profile.largest or 16 * Fraction(profile.spread)) / step


def _common(a: Fraction, b: Fraction) -> Fraction:
    """The largest number of which both are multiples."""
    return Fraction(math.gcd(a.numerator * b.denominator, b.numerator * a.denominator), a.denominator * b.denominator)


def _short(width: float) -> Fraction:
    """A number of few binary digits at or below a float."""
    mantissa, exponent = math.frexp(width)
    return Fraction(math.floor(64 * mantissa), 64) * Fraction(2) ** exponent


def level_of(profile: Profile, grid: Grid) -> int:
    """The widest cells that are fine enough for a release and that its atoms fall on."""
    level = grid.level(profile.spread**2)
    anchor = profile.lattice or profile.largest
    if anchor is None or (anchor / grid.unit).denominator != 1:
        return level
    whole = int(anchor / grid.unit)
    return min(level, (whole & -whole).bit_length() - 1) if whole else level

"""Which lattice a plan is added up on: chosen by floats, which decide how tight a bound is and nothing else."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import Any

from noisewright.problem.errors import MechanismFileError
from noisewright.problem.fields import exact_text
from noisewright.proof.profiles.base import Profile

Leaf = tuple[Any, int]
"""A profile, which is frozen and can be hashed, and how many releases have it."""

_SPARE_BITS = 18
_CELL_BITS = 24
_FINER = 2
_FEW = 64
_MOST_LATTICE_CELLS = 1 << 13
_LEAST_UNIT = Fraction(1, 1 << 64)
_FACTOR = 16


@dataclass(frozen=True, slots=True)
class LossGrid:
    """The lattice and the precision of one calculation.

    Losses are multiples of `unit`, or of 2^level units; masses are whole numbers of 2^-mass_bits; tails of less than
    2^-tail_bits are cut. `fineness` is how wide a cell may be, in standard deviations of the loss, before it is too
    coarse. Only how tight bounds are depends on these numbers, never whether they hold.
    """

    unit: Fraction
    fineness: Fraction
    tail_bits: int
    mass_bits: int

    def step(self, level: int) -> Fraction:
        """The width of a cell."""
        return self.unit * (1 << level)

    def level(self, variance: float) -> int:
        """The widest cells that are fine enough for losses of this variance."""
        wide = float(self.fineness) * math.sqrt(max(variance, 0.0)) / float(self.unit)
        return max(0, math.frexp(wide)[1] - 1) if wide >= 1 else 0

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "unit": str(self.unit),
            "fineness": str(self.fineness),
            "tail_bits": self.tail_bits,
            "mass_bits": self.mass_bits,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> LossGrid:
        """Inverse of `to_dict`."""
        bits = [data["tail_bits"], data["mass_bits"]]
        if any(type(value) is not int for value in bits):
            raise MechanismFileError("a grid of the plan has no whole number of bits; refused.")
        return cls(exact_text(data["unit"]), exact_text(data["fineness"]), *bits)

    def near(self, other: LossGrid) -> bool:
        """Whether both are about as fine and as precise as each other."""
        return (
            self.unit > 0
            and other.unit <= _FACTOR * self.unit
            and self.unit <= _FACTOR * other.unit
            and (other.fineness <= _FACTOR * self.fineness and self.fineness <= _FACTOR * other.fineness)
            and (abs(self.tail_bits - other.tail_bits) <= 64 and abs(self.mass_bits - other.mass_bits) <= 64)
        )


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


def choose_grid(leaves: Sequence[Leaf], depth: Depth) -> LossGrid:
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
    return LossGrid(_unit([profile for profile, _ in leaves], fineness), fineness, tail_bits, mass_bits)


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


def level_of(profile: Profile, grid: LossGrid) -> int:
    """The widest cells that are fine enough for a release and that its atoms fall on."""
    level = grid.level(profile.spread**2)
    anchor = profile.lattice or profile.largest
    if anchor is None or (anchor / grid.unit).denominator != 1:
        return level
    whole = int(anchor / grid.unit)
    return min(level, (whole & -whole).bit_length() - 1) if whole else level


def require_near(grids: Sequence[LossGrid], leaves: Sequence[Leaf]) -> None:
    """Keep a forged file from costing hours: its grids are about those that are chosen here."""
    own = [choose_grid(leaves, depth) for depth in DEPTHS]
    if len(grids) != len(own) or not all(a.near(b) for a, b in zip(grids, own, strict=True)):
        raise MechanismFileError("the grids of the plan are far from those that it needs; compose it again.")

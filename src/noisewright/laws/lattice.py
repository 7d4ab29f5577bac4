"""The grid of released values, and laws on it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from noisewright.laws.base import Law
from noisewright.numerics.fields import Field, Value
from noisewright.problem.errors import InvalidMechanismError
from noisewright.problem.fields import Rational, rational
from noisewright.problem.records import Record, record

HALF = Fraction(1, 2)
_MOST_DECIMALS = 22
_MORE_DECIMALS = 2


@record(error=InvalidMechanismError)
class Lattice(Record):
    """Released values are multiples of `step`; cell k of answers and of noise is [(k - edge), (k + 1 - edge)) steps.

    For real answers edge = 0: cells lie *between* the multiples of the step, so that a jump of a
    density, or the limit of a usefulness, can fall exactly on an edge. For integers edge = 1/2:
    cell k is what rounds to k.
    """

    step: Rational = rational(above=0)
    edge: Rational = rational()

    def __post_init__(self) -> None:
        if self.edge not in (Fraction(0), HALF):
            raise InvalidMechanismError("a lattice needs an edge of 0 or 1/2.")

    @classmethod
    def integers(cls) -> Lattice:
        """The whole numbers."""
        return _INTEGERS

    @classmethod
    def cells(cls, step: Fraction) -> Lattice:
        """The lattice for real answers."""
        return cls(step, Fraction(0))

    def index(self, value: Fraction) -> int:
        """The cell a value falls into: floor, in exact rationals, never half-to-even."""
        return math.floor(value / self.step + self.edge)

    def lower_edge(self, k: int) -> Fraction:
        """Where cell k begins."""
        return (k - self.edge) * self.step

    def centre(self, k: int) -> Fraction:
        """The middle of cell k: the noise it stands for."""
        return (k + HALF - self.edge) * self.step

    def released(self, answer_index: int, noise_index: int) -> Fraction:
        """Centre of the answer's cell plus centre of the noise's cell, always a multiple of the step."""
        return (answer_index + noise_index + 1 - 2 * self.edge) * self.step


_INTEGERS = Lattice(Fraction(1), HALF)


@dataclass(frozen=True, slots=True)
class Rounded:
    """The cell that continuous noise falls into: mass of k is F(end of cell k) - F(start of cell k)."""

    law: Law
    lattice: Lattice

    def mass(self, k: int, field: Field) -> Value:
        low, high = self.lattice.lower_edge(k), self.lattice.lower_edge(k + 1)
        if low >= 0:
            return self.law.sf(low, field) - self.law.sf(high, field)
        return self.law.cdf(high, field) - self.law.cdf(low, field)

    def cdf(self, k: int, field: Field) -> Value:
        return self.law.cdf(self.lattice.lower_edge(k + 1), field)

    def sf(self, k: int, field: Field) -> Value:
        return self.law.sf(self.lattice.lower_edge(k + 1), field)


def decimals_of(step: Fraction) -> int | None:
    """How many decimals a released multiple of the step carries; None where a double holds no such power of ten.

    They are as many as make the last one worth at most a step; up to two more where the step itself is written with
    them, so that multiples of 0.25 are not shown as 0.3 and 0.8.
    """
    count = 0
    while Fraction(1, 10**count) > step:
        count += 1
        if count > _MOST_DECIMALS:
            return None
    own = next((d for d in range(count, count + _MORE_DECIMALS + 1) if (step * 10**d).denominator == 1), count)
    return own if own <= _MOST_DECIMALS else None


def slip_of(step: Fraction, spacing: Fraction) -> Fraction:
    """How far a released decimal is from its lattice point at most: half a unit, or 0 where all points are decimals."""
    decimals = decimals_of(step)
    if decimals is None or (spacing * 10**decimals).denominator == 1:
        return Fraction(0)
    return Fraction(1, 2 * 10**decimals)

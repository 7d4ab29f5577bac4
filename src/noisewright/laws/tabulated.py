"""Symmetric laws with finitely many cells and whole-number weights: every probability is rational."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import ClassVar

from noisewright.laws.base import LAWS, SmoothLaw
from noisewright.numerics.fields import Exact, Field, Point, Value
from noisewright.problem.errors import InvalidLawError
from noisewright.problem.fields import Rational, Wholes, derived, rational, wholes
from noisewright.problem.records import keep, record

HALF = Fraction(1, 2)
_MOST_CELLS = 100_000
_LONGEST_WEIGHT = 512


@record("tabulated", LAWS, error=InvalidLawError)
class Tabulated(SmoothLaw):
    """Weights of equal cells, outward from zero and the same on both sides; nothing lies beyond the last.

    With edge 0 (real answers) cell i is [i, i + 1) widths and its mirror image. With edge 1/2
    (integers, width 1) cell i stands for the whole numbers i and -i.
    """

    width: Rational = rational(above=0)
    weights: Wholes = wholes(at_least=0, at_most=2**_LONGEST_WEIGHT - 1, least=1, most=_MOST_CELLS, as_text=True)
    edge: Rational = rational()
    on_integers: ClassVar[bool | None] = None
    lengths: ClassVar[tuple[str, ...]] = ("width",)
    _beyond: tuple[int, ...] = derived()

    def __post_init__(self) -> None:
        if self.edge not in (Fraction(0), HALF):
            raise InvalidLawError("a tabulated law needs an edge of 0 or 1/2.")
        if not self.weights[-1]:
            raise InvalidLawError(
                "the last weight of a tabulated law is above 0; leave out cells that are never drawn."
            )
        keep(self, _beyond=tuple(accumulate(reversed(self.weights), initial=0))[::-1])

    @property
    def period(self) -> Fraction:
        """A length to start searches from."""
        return self.width

    @property
    def total(self) -> int:
        """The sum of the weights on both sides."""
        return 2 * self._beyond[0] - (self.weights[0] if self.edge else 0)

    def weight(self, k: int) -> int:
        """The weight of cell k of the whole line; cell -1 - k (for integers -k) mirrors cell k."""
        i = abs(k) if self.edge else (k if k >= 0 else -1 - k)
        return self.weights[i] if i < len(self.weights) else 0

    def density(self, x: Point, field: Field) -> Value:
        cell = math.floor(Fraction(x) / self.width + self.edge)
        return field.real(Fraction(self.weight(cell), self.total) / self.width)

    def sf(self, x: Point, field: Field) -> Value:
        place = Fraction(x) / self.width + self.edge
        cell = math.floor(place)
        above = self._weight_from(cell) - (place - cell) * self.weight(cell)
        return field.real(above / self.total)

    def moment(self, power: Exact, field: Field) -> Value:
        if self.edge:
            sizes = [field.power(field.real(k), power) if k else field.real(0) for k in range(len(self.weights))]
            return self._weighed(sizes, field) / field.real(self.total)
        q = Fraction(power) + 1
        edges = pairwise(field.power(field.real(i), q) for i in range(len(self.weights) + 1))
        total = self._weighed([b - a for a, b in edges], field)
        return total * field.power(field.real(self.width), power) / field.real(q * self.total)

    def _weighed(self, values: list[Value], field: Field) -> Value:
        return sum((field.real(2 * w) * v for w, v in zip(self.weights, values, strict=True)), field.real(0))

    def aligned(self, step: Fraction, edge: Fraction) -> bool:
        """Whether every jump falls on an edge of the lattice's cells."""
        ratio = self.width / step
        # With cells centred on lattice points an even number of steps would put the jumps in the middle of a cell.
        return self.edge == edge and ratio.denominator == 1 and (not edge or ratio.numerator % 2 == 1)

    def _weight_from(self, cell: int) -> int:
        """Weight of this cell and all to its right."""
        if cell >= len(self.weights):
            return 0
        if cell >= 0:
            return self._beyond[cell]
        mirrored = 1 - cell if self.edge else -cell
        return self.total - self._weight_from(mirrored)

"""Noise that keeps a number inside its range: truncated, or with the excess gathered at the ends."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from noisewright.laws.generalized_gaussian import GeneralizedGaussian
from noisewright.mechanisms.answers import stretch_of, within_range
from noisewright.mechanisms.base import MECHANISMS, Mechanism
from noisewright.numerics.fields import Field, Value
from noisewright.problem.errors import InvalidMechanismError
from noisewright.problem.fields import Rational, Text, only, rational, text
from noisewright.problem.numbers import Number
from noisewright.problem.ranged import RangedScalar
from noisewright.problem.records import record

KINDS = ("truncated", "boundary-inflated")
MOST_POINTS = 20_000
_FINEST = 2**50
HALF = Fraction(1, 2)


@dataclass(frozen=True, slots=True)
class RangedOutput:
    """The law of the released cell when the answer is one point of the grid; cells are numbered from the low end."""

    mechanism: RangedNoise
    point: Fraction

    def cdf(self, k: int, field: Field) -> Value:
        """P(cell <= k)."""
        return 1 - self.sf(k, field)

    def sf(self, k: int, field: Field) -> Value:
        """P(cell > k)."""
        m = self.mechanism
        if k < m.first_cell:
            return field.real(1)
        if k >= m.last_cell:
            return field.real(0)
        beyond = m.law.sf(m.edge(k + 1) - self.point, field)
        if m.kind == "boundary-inflated":
            return beyond
        outside = m.law.sf(m.query.high - self.point, field)
        return (beyond - outside) / m.inside(self.point, field)


@record("ranged", MECHANISMS, error=InvalidMechanismError)
class RangedNoise(Mechanism):
    """Generalized Gaussian noise of power >= 1 around the answer, kept in the range.

    Truncated: the density is cut at the ends and normalised again for each answer. Boundary-inflated:
    what would fall outside is released as the nearer end. The answer is rounded to a grid of
    `step`, which divides the sensitivity and the range; what is released is the centre of a cell of
    that width, or an end. Answers that may carry the rounding errors of floats are first drawn
    together towards the low end, so that neighbours stay within as many steps as the sensitivity has.
    """

    query: RangedScalar = only(RangedScalar)
    law: GeneralizedGaussian = only(GeneralizedGaussian)
    kind: Text = text(among=KINDS, key="shape")
    step: Rational = rational(above=0)

    def __post_init__(self) -> None:
        if self.law.power < 1:
            raise InvalidMechanismError("noise in a range needs a power of at least 1.", power=self.law.power)
        width = self.query.high - self.query.low
        if any((x / self.step).denominator != 1 for x in (width, self.query.sensitivity)):
            raise InvalidMechanismError("the step must divide both the range and the sensitivity.", step=self.step)
        if not self.query.exact and max(-self.query.low, self.query.high) > self.step * _FINEST:
            raise InvalidMechanismError("the step is finer than what floats of this size hold; use a larger step.")
        if width / self.step > MOST_POINTS:
            raise InvalidMechanismError(f"the step divides the range more than {MOST_POINTS} times.", step=self.step)

    @property
    def reach(self) -> int:
        """How many steps apart neighbouring answers can be on the grid."""
        return int(self.query.sensitivity / self.step)

    @property
    def cells(self) -> int:
        """How many cells the range has."""
        return int((self.query.high - self.query.low) / self.step)

    @property
    def first_cell(self) -> int:
        """The lowest cell; -1 stands for the low end itself."""
        return -1 if self.kind == "boundary-inflated" else 0

    @property
    def last_cell(self) -> int:
        """The highest cell; as many as there are cells stands for the high end itself."""
        return self.cells if self.kind == "boundary-inflated" else self.cells - 1

    def edge(self, k: int) -> Fraction:
        """Where cell k begins."""
        return self.query.low + k * self.step

    def inside(self, point: Fraction, field: Field) -> Value:
        """P(low <= point + noise <= high)."""
        return 1 - self.law.sf(self.query.high - point, field) - self.law.sf(point - self.query.low, field)

    def value(self, k: int) -> Fraction:
        """The released number of cell k."""
        if k < 0:
            return self.query.low
        return self.query.high if k >= self.cells else self.edge(k) + self.step / 2

    def law_given(self, answer: Number) -> RangedOutput:
        """The law of what is released when `answer` is the truth."""
        true = within_range(answer, self.query.low, self.query.high, self.query.exact)
        above = (true - self.query.low) / stretch_of(self.query.exact)
        index = math.floor(above / self.step + HALF)
        return RangedOutput(self, self.edge(index))

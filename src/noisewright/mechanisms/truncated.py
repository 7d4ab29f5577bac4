"""Laplace and generalized Gaussian noise cut off at the output bounds: inside them, and biased."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from noisewright.mechanisms.base import MECHANISMS
from noisewright.mechanisms.conditional import Conditional, Grid, uniform_grid
from noisewright.numerics.balls import lower_gamma
from noisewright.numerics.fields import BALLS, Field, Point, Value
from noisewright.problem.errors import InvalidMechanismError
from noisewright.problem.fields import Rational, Whole, only, rational, whole
from noisewright.problem.queries import Bounded
from noisewright.problem.records import record

_LARGEST_CELLS = 512
_LARGEST_POINTS = 1 << 14


@dataclass(frozen=True, slots=True)
class TruncatedRow:
    """The cut-off density around one answer, rounded at random to the output lattice."""

    mechanism: Truncated
    answer: Fraction

    def cdf(self, k: int, field: Field) -> Value:
        points = self.mechanism.points
        if k < 0:
            return field.real(0)
        if k >= points:
            return field.real(1)
        near, far = (self.mechanism.spread(self.answer, self.mechanism.value(k + e), field) for e in (0, 1))
        step = self.mechanism.value(1) - self.mechanism.value(0)
        return (far - near) / field.real(step)

    def sf(self, k: int, field: Field) -> Value:
        return 1 - self.cdf(k, field)


@record("truncated", MECHANISMS, error=InvalidMechanismError)
class Truncated(Conditional):
    """Density proportional to e^(-(|y - answer| / scale)^power) on the output bounds.

    Valid for: power >= 1 (1 is Laplace, 2 Gaussian). Biased wherever one bound is nearer than the
    other, so it is offered for comparison and for questions that allow a bias.
    """

    query: Bounded = only(Bounded)
    power: Rational = rational(at_least=1, at_most=16)
    scale: Rational = rational(above=0)
    cells: Whole = whole(at_least=1, at_most=_LARGEST_CELLS, default=48)
    points: Whole = whole(at_least=2, at_most=_LARGEST_POINTS, default=1024)

    def __post_init__(self) -> None:
        if self.query.outputs[0] > self.query.inputs[0] or self.query.outputs[1] < self.query.inputs[1]:
            raise InvalidMechanismError("truncated noise needs output bounds that contain the inputs.")

    @property
    def grid(self) -> Grid:
        """The inputs that have a law of their own."""
        return uniform_grid(*self.query.inputs, self.cells)

    @property
    def last(self) -> int:
        """The largest output index."""
        return self.points

    def value(self, k: int) -> Fraction:
        """The released number with index k."""
        low, high = self.query.outputs
        return low + (high - low) * Fraction(k, self.points)

    def row(self, i: int) -> TruncatedRow:
        """The law of the output index at the i-th grid input."""
        return TruncatedRow(self, self.grid.points[i])

    def total(self, answer: Fraction, field: Field) -> Value:
        """The normalising constant Z(answer)."""
        low, high = self.query.outputs
        return self._part(0, answer - low, field) + self._part(0, high - answer, field)

    def density(self, answer: Fraction, y: Point, field: Field) -> Value:
        """Density of the output before it is rounded."""
        distance = field.power(field.real((y - answer if y >= answer else answer - y) / self.scale), self.power)
        return field.exp(-distance) / self.total(answer, field)

    def spread(self, answer: Fraction, y: Fraction, field: Field) -> Value:
        """Second antiderivative of the density, from the lower bound."""
        left = answer - self.query.outputs[0]
        below, first = self._part(0, left, field), -self._part(1, left, field)
        distance = abs(y - answer)
        sign = 1 if y >= answer else -1
        mass = below + sign * self._part(0, distance, field)
        moment = first + self._part(1, distance, field)
        return (field.real(y - answer) * mass - moment) / self.total(answer, field)

    def moments(self, i: int, field: Field) -> tuple[Value, Value]:
        """Bias and mean squared error of the i-th row; rounding adds at most a quarter of a squared lattice step."""
        answer = self.grid.points[i]
        sides = [answer - self.query.outputs[0], self.query.outputs[1] - answer]
        total = self.total(answer, field)
        bias = (self._part(1, sides[1], field) - self._part(1, sides[0], field)) / total
        error = (self._part(2, sides[0], field) + self._part(2, sides[1], field)) / total
        if field is not BALLS:
            return bias, error
        step = self.value(1) - self.value(0)
        return bias, field.between(error, error + field.real(step**2 / 4))

    def _part(self, order: int, distance: Fraction, field: Field) -> Value:
        """Integral of t^order e^(-(t / scale)^power) from 0 to a distance."""
        shape = Fraction(order + 1) / self.power
        factor = field.real(self.scale ** (order + 1) / self.power)
        return factor * _lower_gamma(shape, field.power(field.real(distance / self.scale), self.power), field)


def _lower_gamma(shape: Fraction, x: Value, field: Field) -> Value:
    if field is BALLS:
        return field.real(0) if x.is_zero() else lower_gamma(shape, x)
    from scipy.special import gamma, gammainc

    return float(gammainc(float(shape), x) * gamma(float(shape)))

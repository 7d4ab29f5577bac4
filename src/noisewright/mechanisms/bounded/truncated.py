"""Laplace and generalized Gaussian noise kept inside the output bounds, and biased: cut off or gathered at the ends."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

import numpy as np

from noisewright.laws.gaussian import LARGEST_POWER
from noisewright.mechanisms.base import MECHANISMS
from noisewright.mechanisms.bounded.conditional import (
    Conditional,
    Grid,
    Row,
    check_values,
    rounded_row,
    rounded_square,
    uniform_grid,
)
from noisewright.mechanisms.bounded.worst_cases import Table, quotients
from noisewright.numerics.balls import Ball, ball, pi, working_bits
from noisewright.numerics.fields import BALLS, Field, Floats, Point, Value
from noisewright.problem.errors import InvalidMechanismError
from noisewright.problem.fields import Flag, Rational, Text, Whole, flag, only, rational, text, whole
from noisewright.problem.queries import Bounded
from noisewright.problem.records import record

ENDS = ("cut", "inflated")
"""What becomes of noise beyond the output bounds, by name."""

_MOST_CELLS = 20_000


@record("truncated", MECHANISMS, error=InvalidMechanismError)
class Truncated(Conditional):
    """Density proportional to e^(-(|y - answer| / scale)^power) on the output bounds.

    Valid for: power >= 1 (1 is Laplace, 2 Gaussian). With ends "cut" the density is normalised again for each
    answer; with "inflated" what would fall outside is released as the nearer bound. Biased wherever one
    bound is nearer than the other, so it is offered for comparison and for questions that allow a bias.
    `contracted` draws answers that floats computed together, by a hair, so that neighbours stay as many cells
    apart as the sensitivity has; the mean is off by as much.
    """

    query: Bounded = only(Bounded)
    power: Rational = rational(at_least=1, at_most=LARGEST_POWER)
    scale: Rational = rational(above=0)
    cells: Whole = whole(at_least=1, at_most=_MOST_CELLS, default=48)
    points: Whole = whole(at_least=2, at_most=_MOST_CELLS, default=1024)
    ends: Text = text(among=ENDS, default="cut", absent="cut")
    contracted: Flag = flag(default=False, absent=False)

    def __post_init__(self) -> None:
        if self.query.outputs[0] > self.query.inputs[0] or self.query.outputs[1] < self.query.inputs[1]:
            raise InvalidMechanismError("truncated noise needs output bounds that contain the inputs.")
        check_values(self.query, *self.query.outputs, [self.value(1)])

    @property
    def grid(self) -> Grid:
        """The inputs that have a law of their own."""
        return uniform_grid(*(self.query.covered if self.contracted else self.query.inputs), self.cells)

    @property
    def last(self) -> int:
        return self.points

    def value(self, k: int) -> Fraction:
        low, high = self.query.outputs
        return low + (high - low) * Fraction(k, self.points)

    def centre(self, i: int) -> Fraction:
        """Where the density of the i-th row has its peak: the grid input, or what it is drawn together to."""
        return self.query.inputs[0] + self.query.width * Fraction(i, self.cells)

    def row(self, i: int) -> Row:
        low, step = self.value(0), self.value(1) - self.value(0)
        return rounded_row(self._spread_around(self.centre(i)), low, step, self.points)

    def table(self) -> Table:
        """Every output and the distribution function of every row in floats, by its `spread`.

        Valid as far as scipy's incomplete gamma function is right to twelve digits; it is known for more.
        """
        from scipy.special import gamma, gammainc

        power, low, outputs = float(self.power), self.query.outputs[0], self.lattice()
        lattice = np.array([float((v - low) / self.scale) for v in outputs])
        centres = np.array([[float((self.centre(i) - low) / self.scale)] for i in range(self.cells + 1)])

        def part(order: int, distance: Floats) -> Floats:
            shape = (order + 1) / power
            # Where the density is 1 to sixteen digits the power may vanish, and its integral is that of 1.
            flat, whole = distance ** (order + 1) / (order + 1), gammainc(shape, distance**power) * gamma(shape) / power
            return np.asarray(np.where(distance**power < 1e-16, flat, whole))

        def levels(first: int, end: int) -> Floats:
            centre = centres[first:end]
            away = lattice - centre
            below = np.full_like(centre, gamma(1 / power) / power) if self.ends == "inflated" else part(0, centre)
            total = 2 * below if self.ends == "inflated" else below + part(0, lattice[-1] - centre)
            mass = below + np.sign(away) * part(0, np.abs(away))
            moment = part(1, np.abs(away)) - part(1, centre)
            return quotients((away * mass - moment) / total, lattice[-1] / self.points)

        return Table(outputs, levels, self.points * 2.0**-38)

    def total(self, centre: Fraction, field: Field) -> Value:
        """The normalising constant Z(centre)."""
        if self.ends == "inflated":
            return field.real(2 * self.scale / self.power) * field.gamma(1 / self.power)
        low, high = self.query.outputs
        return self._part(0, centre - low, field) + self._part(0, high - centre, field)

    def density(self, centre: Fraction, y: Point, field: Field) -> Value:
        """Density of the output between the bounds before it is rounded."""
        distance = field.power(field.real((y - centre if y >= centre else centre - y) / self.scale), self.power)
        return field.exp(-distance) / self.total(centre, field)

    def gathered(self, distance: Fraction, field: Field) -> Value:
        """Probability of the bound at this distance from the centre itself."""
        if self.ends == "cut":
            return field.real(0)
        return field.gamma_tail(1 / self.power, field.power(field.real(distance / self.scale), self.power)) / 2

    def spread(self, centre: Fraction, y: Fraction, field: Field) -> Value:
        """Second antiderivative of the density."""
        return self._spread_around(centre)(y, field)

    def _spread_around(self, centre: Fraction) -> Callable[[Fraction, Field], Value]:
        """`spread` of one row, which computes what is the same at all its places once for each precision."""
        left = centre - self.query.outputs[0]
        shapes = [(order + 1) / self.power for order in (0, 1)]

        def constants(field: Field, bits: int) -> tuple[Value, ...]:
            total = self.total(centre, field)
            below = total / 2 if self.ends == "inflated" else self._part(0, left, field)
            return total, below, self._part(1, left, field), *(self._factor(order, field) for order in (0, 1))

        fixed: Callable[..., tuple[Value, ...]] = lru_cache(maxsize=2)(constants)

        def spread(y: Fraction, field: Field) -> Value:
            total, below, before, *factors = fixed(field, working_bits())
            away = y - centre
            x = field.power(field.real(abs(away) / self.scale), self.power)
            mass, moment = (f * _lower_gamma(shape, x, field) for f, shape in zip(factors, shapes, strict=True))
            return (field.real(away) * (below + (mass if away >= 0 else -mass)) - moment + before) / total

        return spread

    def moments(self, i: int, field: Field) -> tuple[Value, Value]:
        centre = self.centre(i)
        sides = [centre - self.query.outputs[0], self.query.outputs[1] - centre]
        total = self.total(centre, field)
        atoms = [self.gathered(side, field) for side in sides]
        left, right = (self._part(1, x, field) / total + field.real(x) * m for x, m in zip(sides, atoms, strict=True))
        squares = (self._part(2, x, field) / total + field.real(x**2) * m for x, m in zip(sides, atoms, strict=True))
        moved = field.real(centre - self.grid.points[i])
        bias = right - left + moved
        error = sum(squares) + moved * (2 * bias - moved)
        if field is not BALLS:
            return bias, error
        return bias, rounded_square(self, i, error, (self.value(1) - self.value(0)) / 2)

    def _factor(self, order: int, field: Field) -> Value:
        return field.real(self.scale ** (order + 1) / self.power)

    def _part(self, order: int, distance: Fraction, field: Field) -> Value:
        """Integral of t^order e^(-(t / scale)^power) from 0 to a distance."""
        shape = Fraction(order + 1) / self.power
        return self._factor(order, field) * _lower_gamma(
            shape, field.power(field.real(distance / self.scale), self.power), field
        )


def _lower_gamma(shape: Fraction, x: Value, field: Field) -> Value:
    if field is BALLS:
        return field.real(0) if x.is_zero() else _lower_gamma_ball(shape, x)
    from scipy.special import gamma, gammainc

    return float(gammainc(float(shape), x) * gamma(float(shape)))


def _lower_gamma_ball(shape: Fraction, x: Ball) -> Ball:
    """Closed forms of what Laplace and Gaussian noise take, ten times as fast as the incomplete gamma function."""
    if shape == 1:
        return -(-x).expm1()
    if shape == 2:
        return -(-x).expm1() - x * (-x).exp()
    if shape == Fraction(1, 2):
        return pi().sqrt() * x.sqrt().erf()
    return x.gamma_lower(ball(shape))

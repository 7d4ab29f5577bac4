"""Gaussian noise for linear questions: rounded Gaussian noise on integer sums, mapped back to the answers.

The columns of the query matrix are seen in a frame in which the noise of every coordinate is alike, as integers far
finer than the noise. The sums are rounded to cells of so many integers, and get independent rounded noise.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

import numpy as np

from noisewright.laws.gaussian import Gaussian
from noisewright.laws.lattice import Lattice, Rounded
from noisewright.mechanisms.base import MECHANISMS
from noisewright.mechanisms.linear.errors import LinearNoise, directions, gaussian_estimate, gaussian_width
from noisewright.mechanisms.linear.noise import check_columns, sums
from noisewright.numerics.balls import Ball, ball, hull, lower, upper
from noisewright.numerics.fields import BALLS, Field, Floats, Value
from noisewright.problem import fields
from noisewright.problem.errors import InvalidMechanismError
from noisewright.problem.linear import Linear, checked_histogram
from noisewright.problem.numbers import Number
from noisewright.problem.records import record

_MOST_DIRECTIONS = 20


@record("column-gaussian", MECHANISMS, error=InvalidMechanismError)
class ColumnGaussian(LinearNoise):
    """Gaussian noise on integer columns: released is decode (cells of the sums + rounded noise of deviation std).

    A cell is `cell` whole steps of the sums; `std` counts cells. `decode` maps cells to the answers of the queries.
    """

    query: Linear = fields.only(Linear)
    columns: fields.PackedMatrix = fields.whole_matrix()
    cell: fields.Whole = fields.whole(at_least=1, hint=": how many whole steps of the sums a cell is")
    std: fields.Rational = fields.rational(at_least=1, hint=": the deviation of the noise in cells")
    decode: fields.Matrix = fields.tuple_of(fields.rationals())

    def __post_init__(self) -> None:
        size = self.query.dimension
        check_columns(self.columns, size, self.query.size)
        if [len(row) for row in self.decode] != [size] * size:
            raise InvalidMechanismError("the way back from the sums to the queries must be square.")

    @property
    def noise(self) -> Rounded:
        """The integer-valued law drawn for each coordinate."""
        return Rounded(Gaussian(self.std), Lattice.integers())

    def cells(self, histogram: Iterable[Number]) -> list[int]:
        """The cells of the exact integer sums; they are private."""
        counts = checked_histogram(histogram, self.query.size)
        return [math.floor(Fraction(v, self.cell) + Fraction(1, 2)) for v in sums(self.columns, counts)]

    def answers(self, cells: Iterable[int]) -> list[Fraction]:
        """The answers that noisy cells stand for."""
        held = list(cells)
        return [sum((a * c for a, c in zip(row, held, strict=True)), Fraction(0)) for row in self.decode]

    def variances(self, field: Field) -> list[Value]:
        unit = self._square(field)
        return [
            unit * field.real(sum((v * v for v in row), Fraction(0)))
            + field.between(field.real(0), self._moved(row, field))
            for row in self.decode
        ]

    def _moved(self, row: tuple[Fraction, ...], field: Field) -> Value:
        """The square of what rounding the sums, by at most half a cell each, can move an answer."""
        half = Fraction(0) if self.cell == 1 or field is not BALLS else Fraction(1, 2)
        return field.real((half * sum(map(abs, row), Fraction(0))) ** 2)

    def _square(self, field: Field) -> Value:
        """The mean square of rounded noise; its mean is zero.

        Rule: masses of rounded noise are values at whole numbers of the density of g + u, u uniform on a cell.
        By Poisson's formula their second moment is std^2 + 1/12 plus a sum over n != 0 of terms of size
        e^(-2 (pi std n)^2) (2 std^2 + 1 / (2 pi^2 n^2)), below 2 e^(-2 (pi std)^2) (4 std^2 + 1) in all for std >= 1.
        [theory#what-the-stated-error-means]
        """
        middle = self.std**2 + Fraction(1, 12)
        if field is not BALLS:
            return field.real(middle)
        std = ball(self.std)
        more: Ball = 2 * (-2 * (BALLS.pi() * std) ** 2).exp() * (4 * std**2 + 1)
        return hull(ball(middle) - more, ball(middle) + more)

    def absolute(self, field: Field) -> list[Value]:
        unit = self._size(field)
        return [
            unit * field.real(abs(own[0])) if len(own := [v for v in row if v]) == 1 else self._mixed(row, field)
            for row in self.decode
        ]

    def _size(self, field: Field) -> Value:
        """Mean size of rounded noise of one coordinate plus what rounding the sum adds.

        Rule: the mean size of k is 2 times the sum of P(noise > m + 1/2), a midpoint rule for the integral of a convex
        function: below it by at most an eighth of the slope at zero. Moving k by r, at most half a cell, adds
        |r| P(k = 0), since the noise is symmetric; P(k = 0) is at most the density at zero.
        [theory#what-the-stated-error-means]
        """
        std = field.real(self.std)
        density = 1 / (std * field.sqrt(2 * field.pi()))
        middle = 2 * std**2 * density
        if field is not BALLS:
            return middle
        rounding = ball(0) if self.cell == 1 else density / 2
        return hull(middle - density / 4, middle + rounding)

    def _mixed(self, row: tuple[Fraction, ...], field: Field) -> Value:
        """Mean size of a mixture of coordinates: that of Gaussian noise, up to a cell of rounding in each."""
        length = field.sqrt(field.real(sum((v * v for v in row), Fraction(0))))
        middle = field.real(self.std) * length * field.sqrt(2 / field.pi())
        if field is not BALLS:
            return middle
        sway = ball(sum(map(abs, row), Fraction(0)) * self._sway)
        return hull(middle - sway, middle + sway)

    @property
    def _sway(self) -> Fraction:
        """How far the error of a coordinate is from Gaussian noise: half a cell for the noise and half for the sum."""
        return Fraction(1, 2) if self.cell == 1 else Fraction(1)

    def largest_noise(self) -> Ball:
        """Rule: the largest of K Gaussian sizes has a mean of at most sqrt(2 log 2K) of the largest deviation.
        [theory#errors-of-several-numbers]
        """
        each, squares = self.absolute(BALLS), sum(self.variances(BALLS), ball(0))
        lengths = [ball(sum((v * v for v in row), Fraction(0))).sqrt() for row in self.decode]
        sways = [ball(sum(map(abs, row), Fraction(0)) * self._sway) for row in self.decode]
        factor = ball(self.std) * (2 * ball(2 * len(each)).log()).sqrt()
        highest = factor * ball(max(map(upper, lengths))) + ball(max(map(upper, sways)))
        top = min(upper(ball(upper(squares)).sqrt()), upper(sum(each, ball(0))), upper(highest))
        return hull(ball(max(map(lower, each))), ball(top))

    def largest_estimate(self) -> float:
        decode = np.array([[float(v) for v in row] for row in self.decode]) * float(self.std)
        size = len(decode)
        if size > _MOST_DIRECTIONS:
            return _largest_normal(np.linalg.norm(decode, axis=1))
        length = math.sqrt(2) * math.exp(math.lgamma((size + 1) / 2) - math.lgamma(size / 2))
        return float(length * np.abs(directions(size) @ decode.T).max(axis=1).mean())

    def noise_width(self, confidence: Fraction) -> Ball:
        spreads = [
            (self.std**2 * sum((v * v for v in row), Fraction(0)), self._sway * sum(map(abs, row), Fraction(0)))
            for row in self.decode
        ]
        seen = [k for row in self.decode for k, v in enumerate(row) if v]
        start = ball(max(variance for variance, _ in spreads)).sqrt()
        return gaussian_width(spreads, confidence, upper(start), apart=len(seen) == len(set(seen)))

    def width_estimate(self, confidence: Fraction) -> float:
        if len(self.decode) > _MOST_DIRECTIONS:
            return super().width_estimate(confidence)
        decode = np.array([[float(v) for v in row] for row in self.decode]) * float(self.std)
        reaches = np.abs(directions(len(decode)) @ decode.T).max(axis=1)
        return gaussian_estimate(reaches, len(decode), float(confidence))

    def biases(self) -> list[Fraction]:
        result = []
        for row, wanted, below in zip(self.decode, self.query.numerators, self.query.denominators, strict=True):
            common = math.lcm(*{v.denominator for v in row})
            weights, unit = [int(v * common) for v in row], common * self.cell
            worst = 0
            for column, v in zip(zip(*self.columns, strict=True), wanted, strict=True):
                made = sum(a * b for a, b in zip(weights, column, strict=True) if a)
                worst = max(worst, abs(made * below - v * unit))
            result.append(Fraction(worst, unit * below))
        return result


def _largest_normal(deviations: Floats) -> float:
    """The mean of the largest size of independent Gaussian numbers."""
    from scipy.special import erf

    edges = np.linspace(0.0, 12.0 * float(deviations.max()), 4001)
    inside: Floats = np.log(np.maximum(erf(edges[1:, None] / (deviations * math.sqrt(2))), 1e-300)).sum(axis=1)
    return float(-np.expm1(inside).sum() * edges[1])

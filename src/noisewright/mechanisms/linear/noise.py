"""Noise for linear questions: integer columns instead of the query's, and integer noise on their sums.

Rounding an answer could move two close elements apart by a whole step. Here the *columns* of the
query matrix are rounded once, to integers, and privacy is a statement about their differences.

Gaussian noise sees the columns in a frame in which the noise of every coordinate is alike, as integers far finer than
the noise. The sums are rounded to cells of so many integers, and get independent rounded noise.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from noisewright.laws.gaussian import Gaussian
from noisewright.laws.lattice import Lattice, Rounded
from noisewright.mechanisms.base import MECHANISMS
from noisewright.mechanisms.linear.errors import (
    LinearNoise,
    RoundBlock,
    between,
    directions,
    estimate_independent,
    gaussian_estimate,
    gaussian_width,
    independent_inside,
    largest_independent,
    round_estimate,
    round_width,
)
from noisewright.numerics.balls import Ball, ball, hull, lower, upper
from noisewright.numerics.fields import BALLS, Field, Floats, Value
from noisewright.numerics.pairs import LARGEST_COLUMN
from noisewright.problem import fields
from noisewright.problem.errors import InvalidMechanismError
from noisewright.problem.linear import Linear, checked_histogram
from noisewright.problem.matrices import WholeMatrix
from noisewright.problem.numbers import Number
from noisewright.problem.records import Record, record

MOST_TOGETHER = 20
_WIDEST = 2**63


def check_columns(columns: WholeMatrix, rows: int, size: int) -> None:
    """Refuse all but integer columns below 2^52 in size, whose differences floats hold exactly."""
    if (columns.rows, columns.columns) != (rows, size):
        raise InvalidMechanismError(f"the columns must be {rows} rows of {size} integers.")
    if any(abs(v) >= LARGEST_COLUMN for row in columns for v in row):
        raise InvalidMechanismError("the columns must stay below 2^52; use a larger step.")


def sums(columns: WholeMatrix, counts: list[int]) -> list[int]:
    """The integer sums W x: in 64-bit words where they surely fit, else in Python integers."""
    packed = columns.packed
    if packed:
        matrix = np.frombuffer(packed, dtype=np.int64).reshape(columns.rows, columns.columns)
        largest = max(int(matrix.max()), -int(matrix.min()))
        if max(largest, 1) * sum(counts) < _WIDEST:
            found: list[int] = (matrix @ np.array(counts, dtype=np.int64)).tolist()
            return found
    return [sum(w * c for w, c in zip(row, counts, strict=True) if c) for row in columns]


@record("linear-laplace", MECHANISMS, error=InvalidMechanismError)
class LinearLaplace(LinearNoise):
    """Independent noise: released is steps[k] (W_k x + discrete Laplace noise of scale scales[k] / steps[k]).

    A scale of 0 is no noise: for answers that move only where nothing is guaranteed.
    """

    query: Linear = fields.only(Linear)
    columns: fields.PackedMatrix = fields.whole_matrix()
    steps: fields.Rationals = fields.rationals(above=0, like="query")
    scales: fields.Rationals = fields.rationals(at_least=0, like="query")

    def __post_init__(self) -> None:
        check_columns(self.columns, self.query.dimension, self.query.size)

    @property
    def rates(self) -> tuple[Fraction, ...]:
        """What one integer step of each row costs: the decay of its noise; 0 stands for a row without noise."""
        return tuple(h / c if c else Fraction(0) for h, c in zip(self.steps, self.scales, strict=True))

    def sums(self, histogram: Iterable[Number]) -> list[int]:
        """The exact integer sums to which noise is added; they are private."""
        return sums(self.columns, checked_histogram(histogram, self.query.size))

    def variances(self, field: Field) -> list[Value]:
        return self._noisy(lambda step, fade, gone: step**2 * 2 * fade / gone**2, field)

    def absolute(self, field: Field) -> list[Value]:
        return self._noisy(lambda step, fade, gone: step * 2 * fade / ((1 + fade) * gone), field)

    def _noisy(self, one: Callable[[Value, Value, Value], Value], field: Field) -> list[Value]:
        """`one` of the step, e^-rate and 1 - e^-rate of each query; 0 where there is no noise."""
        found = []
        for step, rate in zip(self.steps, self.rates, strict=True):
            fall = -field.real(rate)
            found.append(one(field.real(step), field.exp(fall), -field.expm1(fall)) if rate else field.real(0))
        return found

    @property
    def _drawn(self) -> tuple[list[Fraction], list[Fraction]]:
        """Scales and steps of the queries that have noise."""
        pairs = [(c, h) for c, h in zip(self.scales, self.steps, strict=True) if c]
        return [c for c, _ in pairs], [h for _, h in pairs]

    def largest_noise(self) -> Ball:
        scales, steps = self._drawn
        return largest_independent(scales, steps) if scales else ball(0)

    def largest_estimate(self) -> float:
        scales, _ = self._drawn
        return estimate_independent(np.array([float(c) for c in scales])) if scales else 0.0

    def noise_width(self, confidence: Fraction) -> Ball:
        scales, steps = self._drawn
        fades = [ball(-h / c).exp() for c, h in zip(scales, steps, strict=True)]
        inside = partial(independent_inside, steps, fades)
        return between(inside, inside, confidence, max(scales)) if scales else ball(0)

    def width_estimate(self, confidence: Fraction) -> float:
        return float(self.noise_width(confidence).mid())

    def biases(self) -> list[Fraction]:
        rows = zip(self.columns, self.steps, self.query.numerators, self.query.denominators, strict=True)
        result = []
        for row, step, wanted, denominator in rows:
            top, bottom = step.numerator * denominator, step.denominator
            worst = max(abs(w * top - v * bottom) for w, v in zip(row, wanted, strict=True))
            result.append(Fraction(worst, bottom * denominator))
        return result


@record(error=InvalidMechanismError)
class Block(Record):
    """Some of the queries answered together: integer columns, round noise of mass e^(-rate |w|), and the way back.

    `decode` maps the noisy integers to the answers of the queries `rows`; `share` is the part of
    every budget that this block may use. A block with no share has no noise: for answers that move only where nothing
    is guaranteed.
    """

    rows: fields.Wholes = fields.wholes(at_least=0)
    columns: fields.PackedMatrix = fields.whole_matrix()
    rate: fields.Rational = fields.rational(above=0)
    decode: fields.Matrix = fields.tuple_of(fields.rationals())
    share: fields.Rational = fields.rational(at_least=0)


@record("linear-elliptical", MECHANISMS, error=InvalidMechanismError)
class LinearElliptical(LinearNoise):
    """Elliptical noise: each block of queries is seen in coordinates in which its noise is round."""

    query: Linear = fields.only(Linear)
    blocks: fields.Many[Block] = fields.tuple_of(fields.only(Block))

    def __post_init__(self) -> None:
        covered = sorted(k for block in self.blocks for k in block.rows)
        if covered != list(range(self.query.dimension)):
            raise InvalidMechanismError("every query belongs to exactly one block.")
        for block in self.blocks:
            size = len(block.rows)
            check_columns(block.columns, size, self.query.size)
            if size > MOST_TOGETHER:
                raise InvalidMechanismError(f"a block holds at most {MOST_TOGETHER} queries.")
            if [len(row) for row in block.decode] != [size] * size:
                raise InvalidMechanismError("a block needs a square way back.")
        if sum((block.share for block in self.blocks), Fraction(0)) > 1:
            raise InvalidMechanismError("the shares of the blocks exceed the budget.")

    def sums(self, histogram: Iterable[Number]) -> list[list[int]]:
        """The exact integer sums of each block; they are private."""
        counts = checked_histogram(histogram, self.query.size)
        return [sums(block.columns, counts) for block in self.blocks]

    def variances(self, field: Field) -> list[Value]:
        return self._by_block(lambda rate, size: round_variance(rate, size, field), field.real)

    def absolute(self, field: Field) -> list[Value]:
        return self._by_block(_round_size, lambda square: ball(square).sqrt())

    def _by_block(self, one: Callable[[Fraction, int], Any], length: Callable[[Fraction], Any]) -> list[Any]:
        """For each query `one(rate, size)` of its block times `length` of the squares of its row of the way back."""
        found = {}
        for block in self.blocks:
            unit = one(block.rate, len(block.rows)) if block.share else 0
            for k, row in zip(block.rows, block.decode, strict=True):
                found[k] = unit * length(sum((v * v for v in row), Fraction(0)))
        return [found[k] for k in range(self.query.dimension)]

    def largest_noise(self) -> Ball:
        each, squares = self.absolute(BALLS), sum(self.variances(BALLS), ball(0))
        top = min(upper(ball(upper(squares)).sqrt()), upper(sum(each, ball(0))))
        return hull(ball(max(lower(v) for v in each)), ball(top))

    def largest_estimate(self) -> float:
        noisy = [block for block in self.blocks if block.share]
        if len(noisy) == 1:
            block = noisy[0]
            decode = np.array([[float(v) for v in row] for row in block.decode]) / float(block.rate)
            size = len(block.rows)
            return float(size * np.abs(directions(size) @ decode.T).max(axis=1).mean())
        # Several blocks: the bound by independent noise of the same spread.
        roots = self._by_block(lambda rate, size: (size + 1) ** 0.5 / float(rate), lambda square: float(square) ** 0.5)
        return estimate_independent(np.array(roots))

    def noise_width(self, confidence: Fraction) -> Ball:
        noisy = [block for block in self.blocks if block.share]
        if not noisy:
            return ball(0)
        lengths = [[ball(sum((v * v for v in row), Fraction(0))).sqrt() for row in b.decode] for b in noisy]
        parts = [RoundBlock(b.rate, tuple(lines)) for b, lines in zip(noisy, lengths, strict=True)]
        longest = max(
            float(line.mid()) / float(b.rate) for b, lines in zip(noisy, lengths, strict=True) for line in lines
        )
        return round_width(parts, confidence, longest)

    def width_estimate(self, confidence: Fraction) -> float:
        noisy = [block for block in self.blocks if block.share]
        if len(noisy) != 1:
            return super().width_estimate(confidence)
        decode = np.array([[float(v) for v in row] for row in noisy[0].decode]) / float(noisy[0].rate)
        reaches = np.abs(directions(len(decode)) @ decode.T).max(axis=1)
        return round_estimate(reaches, len(decode), float(confidence))

    def biases(self) -> list[Fraction]:
        result = [Fraction(0)] * self.query.dimension
        for block in self.blocks:
            for k, row in zip(block.rows, block.decode, strict=True):
                denominator = max(v.denominator for v in row)
                if any(denominator % v.denominator for v in row):
                    raise InvalidMechanismError("the way back must be given in binary fractions.")
                weights, below = [int(v * denominator) for v in row], self.query.denominators[k]
                columns = zip(zip(*block.columns, strict=True), self.query.numerators[k], strict=True)
                worst = max(
                    abs(sum(a * b for a, b in zip(weights, column, strict=True)) * below - v * denominator)
                    for column, v in columns
                )
                result[k] = Fraction(worst, denominator * below)
        return result


def _round_size(rate: Fraction, dimension: int) -> Ball:
    """Mean absolute noise of a query whose row of the way back has length one.

    Rule: as for `round_variance`, sums over integers are integrals up to e^(-+rate sqrt(K)); moving within a unit
    cube changes |d . w| by at most |d| sqrt(K)/2, and |d . u| has mean |d| E r Gamma(K/2) / (sqrt(pi)
    Gamma((K+1)/2)). [theory#metric-privacy]
    """
    h, root = ball(rate), ball(dimension).sqrt()
    share = BALLS.gamma(Fraction(dimension, 2)) / (BALLS.pi().sqrt() * BALLS.gamma(Fraction(dimension + 1, 2)))
    middle, sway = ball(dimension) / h * share, (h * root).exp()
    low, high = (middle - root / 2) / sway, (middle + root / 2) * sway
    return hull(low if bool(low > 0) else ball(0), high)


def round_variance(rate: Fraction, dimension: int, field: Field) -> Value:
    """Variance of one coordinate of integer noise with mass proportional to e^(-rate |w|).

    Rule: every point of the unit cube around w is within sqrt(K)/2 of w, so sums over integers are
    between integrals times e^(-+rate sqrt(K)/2); the integrals are those of a radius with a Gamma(K)
    law, E r = K/rate and E r^2 = K(K+1)/rate^2. The coordinates are alike by symmetry. [theory#metric-privacy]
    """
    h, k = field.real(rate), field.real(dimension)
    centre = k * (k + 1) / h**2
    if field is not BALLS:
        return centre / dimension
    corner: Ball = k.sqrt() / 2
    sway = field.exp(2 * h * corner)
    low = (centre - 2 * corner * k / h) / sway
    high = (centre + 2 * corner * k / h + corner**2) * sway
    return field.between(low, high) / dimension


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

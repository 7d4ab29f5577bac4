"""What bounded mechanisms share: a grid of inputs, one finite law of outputs for each, and mixing between them.

An answer between two grid inputs is first rounded at random to one of them, up with the fractional
part, so the mean of the release is linear in between and an unbiased grid gives an unbiased release.
`Rows` are such laws as integer weights: what the linear programme finds, and the two-point mechanism.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from bisect import bisect_right
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate, pairwise
from operator import mul
from typing import Any, Protocol

import numpy as np

from noisewright.mechanisms.answers import within_range
from noisewright.mechanisms.base import MECHANISMS, Mechanism
from noisewright.mechanisms.bounded.worst_cases import (
    Ends,
    Table,
    highest,
    square_ends,
    worst_chance,
    worst_half_width,
    worst_mean,
)
from noisewright.numerics.balls import Ball, ball, hull, lower, precision, upper, working_bits
from noisewright.numerics.fields import BALLS, Field, Value
from noisewright.problem.errors import InvalidMechanismError, InvalidUtilityError
from noisewright.problem.fields import Rationals, WholeRows, only, rationals, tuple_of, wholes
from noisewright.problem.numbers import Number, show
from noisewright.problem.queries import Bounded
from noisewright.problem.records import Record, record

_BITS = 128


@dataclass(frozen=True, slots=True)
class Profile:
    """Bias and mean squared error at every grid input, each between two rationals."""

    inputs: tuple[Fraction, ...]
    bias: tuple[tuple[Fraction, Fraction], ...]
    error: tuple[tuple[Fraction, Fraction], ...]
    alone: bool = False
    """Whether no answer lies between two grid inputs."""

    @property
    def largest_bias(self) -> float:
        """The bias that is farthest from zero, with its sign; 0 where none can be told from zero."""
        middles = [float(low + high) / 2 for low, high in self.bias if low > 0 or high < 0]
        return max(middles, key=abs, default=0.0)

    def at(self, x: Fraction, side: int) -> Fraction:
        """Lower (0) or upper (1) end of the mean squared error at any answer."""
        i = max(k for k in range(len(self.inputs) - 1) if self.inputs[k] <= x)
        share = (x - self.inputs[i]) / (self.inputs[i + 1] - self.inputs[i])
        a, c, bend = self._cell(i, side)
        return (1 - share) * a + share * c + share * (1 - share) * bend

    def worst(self, side: int) -> Fraction:
        """Lower or upper end of the largest mean squared error over all answers."""
        if self.alone:
            return max(ends[side] for ends in self.error)
        return max(highest(*self._cell(i, side)) for i in range(len(self.inputs) - 1))

    def average(self, side: int) -> Fraction:
        """Lower or upper end of the mean squared error averaged evenly over the input range."""
        if self.alone:
            return sum((ends[side] for ends in self.error), Fraction(0)) / len(self.error)
        total = Fraction(0)
        for i in range(len(self.inputs) - 1):
            a, c, bend = self._cell(i, side)
            total += (self.inputs[i + 1] - self.inputs[i]) * ((a + c) / 2 + bend / 6)
        return total / (self.inputs[-1] - self.inputs[0])

    def between(self, end: Callable[[int], Fraction]) -> Ball:
        """A ball around what lies between a lower (0) and an upper (1) end."""
        with precision(_BITS):
            return hull(ball(end(0)), ball(end(1)))

    def _cell(self, i: int, side: int) -> tuple[Fraction, Fraction, Fraction]:
        """Errors at both ends of cell i and what mixing adds: share (1 - share) times the last."""
        d = self.inputs[i + 1] - self.inputs[i]
        rise = self.bias[i + 1][side] - self.bias[i][1 - side]
        return self.error[i][side], self.error[i + 1][side], d * d + 2 * d * rise


@lru_cache(maxsize=64)
def profile_of(mechanism: Any) -> Profile:
    """The error of every row, in balls; remembered for mechanisms that were asked for lately."""
    bias, error = [], []
    with precision(_BITS):
        for i in range(mechanism.grid.last + 1):
            b, e = mechanism.moments(i, BALLS)
            bias.append((lower(b), upper(b)))
            error.append((lower(e), upper(e)))
    return Profile(mechanism.grid.points, tuple(bias), tuple(error), mechanism.alone)


class FiniteLaw(Protocol):
    """A law on the indices 0 … last of the outputs."""

    def cdf(self, k: int, field: Field) -> Value:
        """P(K <= k); 0 below the first index and 1 from the last one on."""

    def sf(self, k: int, field: Field) -> Value:
        """P(K > k)."""


@dataclass(frozen=True, slots=True)
class Row:
    """A finite law by its distribution function from the first index to before the last."""

    inside: Callable[[int, Field], Value]
    last: int

    def cdf(self, k: int, field: Field) -> Value:
        return self.inside(k, field) if 0 <= k < self.last else field.real(int(k >= 0))

    def sf(self, k: int, field: Field) -> Value:
        return 1 - self.cdf(k, field)


def rounded_row(spread: Callable[[Fraction, Field], Value], low: Fraction, width: Fraction, cells: int) -> Row:
    """The density with this second antiderivative, rounded at random (up with the fractional part) to low + k width."""

    # Balls depend on the working precision; neighbouring outputs share an end.
    remembered: Callable[..., Value] = lru_cache(maxsize=2)(lambda k, field, bits: spread(low + k * width, field))

    def inside(k: int, field: Field) -> Value:
        near, far = (remembered(k + e, field, working_bits()) for e in (0, 1))
        return (far - near) / field.real(width)

    return Row(inside, cells)


class Conditional(Mechanism):
    """A mechanism given by one finite law for every grid input; its utilities are worst cases over all answers."""

    __slots__ = ()
    query: Any
    grid: Any

    @property
    @abstractmethod
    def last(self) -> int:
        """The largest output index."""

    @property
    def alone(self) -> bool:
        """Whether no answer lies between two grid inputs: whole ones, each with a row of its own.

        Worst cases are then those over the rows; else over every real answer, which are no smaller.
        """
        return bool(self.query.integer) and self.grid.every_whole

    @abstractmethod
    def value(self, k: int) -> Fraction:
        """The released number with index k, inside the output bounds."""

    @abstractmethod
    def row(self, i: int) -> FiniteLaw:
        """The law of the output index when the answer is the i-th grid input."""

    @abstractmethod
    def table(self) -> Table:
        """Every output and the distribution function of every row in floats, with what they may be off by."""

    def lattice(self) -> tuple[Fraction, ...]:
        """Every output, where they are evenly spaced."""
        first, step = self.value(0), self.value(1) - self.value(0)
        return tuple(first + k * step for k in range(self.last + 1))

    @abstractmethod
    def moments(self, i: int, field: Field) -> tuple[Value, Value]:
        """Mean of the i-th row minus its input, and mean squared distance to its input."""

    @property
    def remarks(self) -> tuple[str, ...]:
        """What else is worth saying of it, in sentences."""
        return ()

    @property
    def profile(self) -> Profile:
        """Bias and mean squared error at every grid input."""
        return profile_of(self)

    def power_means(self, power: Fraction, field: Field) -> list[Value]:
        if power == 2:
            return [self.profile.between(self.profile.worst)]
        span, ends = worst_mean(self, power)
        return [field.power(field.real(span), power) * _between(ends, field)]

    def chances(self, limits: tuple[Fraction, ...], field: Field) -> list[Value]:
        return [_between(worst_chance(self, limit), field) for limit in limits]

    def half_width(self, confidence: Fraction, field: Field) -> Value:
        return _between(worst_half_width(self, confidence), field)

    def average_square(self, prior: Any, field: Field) -> Value:
        profile = self.profile
        if prior is None:
            return profile.between(profile.average)
        if not all(profile.inputs[0] <= x <= profile.inputs[-1] for x, _ in prior):
            raise InvalidUtilityError("the prior has answers outside the inputs of the question; leave them out.")
        return profile.between(lambda side: sum((w * profile.at(x, side) for x, w in prior), Fraction(0)))

    def bias(self, field: Field) -> Value:
        return field.real(Fraction(self.profile.largest_bias))


def rounded_square(mechanism: Any, i: int, error: Ball, half_step: Fraction) -> Ball:
    """Mean squared error of a row whose density, with this one, is rounded at random to evenly spaced outputs.

    Rule: rounding adds between 0 and the square of half a step. Whole outputs are far apart, so theirs is also
    summed over the law that is drawn, between two ends that are proven. [theory#what-the-stated-error-means]
    """
    most = error + ball(half_step**2)
    if not mechanism.query.integer:
        return hull(error, most)
    low, high = square_ends(mechanism, i)
    return hull(ball(max(low, lower(error))), ball(min(high, upper(most))))


def _between(ends: Ends, field: Field) -> Value:
    return field.between(*(field.real(end) for end in ends))


@record(error=InvalidMechanismError)
class Grid(Record):
    """Increasing inputs from the lowest to the highest answer."""

    points: Rationals = rationals(key="inputs", least=2, rising=True)

    @property
    def last(self) -> int:
        """The index of the highest input."""
        return len(self.points) - 1

    @property
    def every_whole(self) -> bool:
        """Whether the inputs are all whole numbers from the lowest to the highest."""
        return self.points[0].denominator == 1 and all(b - a == 1 for a, b in pairwise(self.points))

    def locate(self, answer: Number, *, exact: bool = False) -> tuple[int, Fraction]:
        """The grid input at or below an answer, and the probability of rounding up to the next one."""
        value = within_range(answer, self.points[0], self.points[-1], exact)
        i = min(bisect_right(self.points, value), self.last) - 1
        return i, (value - self.points[i]) / (self.points[i + 1] - self.points[i])

    def reach(self, sensitivity: Fraction) -> list[int]:
        """For every row the last row that one person can turn it into, mixing included.

        Rule: with one uniform U an answer goes to row floor(t + U), t its place on the grid. Rows
        i < j are met by answers within the sensitivity, for some U, exactly if x_j - x_(i+1) or
        x_(j-1) - x_i is below it: the distance is linear in U between these two ends. [theory#answers-in-bounds]
        """
        x, result, j = self.points, [], 0
        for i in range(len(x)):
            j = max(j, i)
            while j < self.last and (x[j + 1] - x[min(i + 1, self.last)] < sensitivity or x[j] - x[i] < sensitivity):
                j += 1
            result.append(j)
        return result


@lru_cache(maxsize=64)
def uniform_grid(low: Fraction, high: Fraction, cells: int) -> Grid:
    """`cells` equal cells between two answers."""
    return Grid(tuple(low + (high - low) * Fraction(i, cells) for i in range(cells + 1)))


def check_values(query: Bounded, lowest: Fraction, highest: Fraction, others: Iterable[Fraction] = ()) -> None:
    """Refuse a mechanism whose outputs leave the bounds of its question, or are not whole where it asks for that.

    `others` are outputs that, whole like the lowest, make all of them so.
    """
    if query.integer and any(value.denominator != 1 for value in (lowest, highest, *others)):
        raise InvalidMechanismError(
            "the question asks for whole numbers, but not every output is one; give whole outputs, or a question with"
            " integer=False.",
        )
    if lowest < query.outputs[0] or highest > query.outputs[1]:
        raise InvalidMechanismError(
            f"the outputs reach from {show(lowest)} to {show(highest)}, beyond the bounds {show(query.outputs[0])} to"
            f" {show(query.outputs[1])}.",
            lowest=lowest,
            highest=highest,
        )


@dataclass(frozen=True, slots=True)
class WeightedRow:
    """Probabilities cumulative[k] / total: rational, so that every draw from them is exact."""

    cumulative: tuple[int, ...]

    def cdf(self, k: int, field: Field) -> Value:
        return field.real(self._share(k))

    def sf(self, k: int, field: Field) -> Value:
        return field.real(1 - self._share(k))

    def _share(self, k: int) -> Fraction:
        if k < 0:
            return Fraction(0)
        return Fraction(self.cumulative[min(k, len(self.cumulative) - 1)], self.cumulative[-1])


@record("rows", MECHANISMS, error=InvalidMechanismError)
class Rows(Conditional):
    """Output `values[k]` with probability `weights[i][k]` / total when the answer is the i-th grid input.

    All rows have the same total, so ratios of probabilities are ratios of integers.
    """

    query: Bounded = only(Bounded)
    grid: Grid = only(Grid, inline="inputs")
    values: Rationals = rationals(least=2, rising=True)
    weights: WholeRows = tuple_of(wholes(at_least=0, as_text=True))

    def __post_init__(self) -> None:
        if (self.grid.points[0], self.grid.points[-1]) not in (self.query.inputs, self.query.covered):
            raise InvalidMechanismError("the grid of inputs must span exactly the inputs of the question.")
        check_values(self.query, self.values[0], self.values[-1], self.values)
        if len(self.weights) != len(self.grid.points) or any(len(row) != len(self.values) for row in self.weights):
            raise InvalidMechanismError("there must be one row of weights for each input, one weight for each output.")
        if len({sum(row) for row in self.weights}) != 1:
            raise InvalidMechanismError("weights must sum to the same total in every row.")
        if not self.total:
            raise InvalidMechanismError("the weights of a row must not all be 0.")

    @property
    def total(self) -> int:
        """What the weights of each row sum to."""
        return sum(self.weights[0])

    @property
    def last(self) -> int:
        return len(self.values) - 1

    def value(self, k: int) -> Fraction:
        return self.values[k]

    def row(self, i: int) -> WeightedRow:
        return WeightedRow(tuple(accumulate(self.weights[i])))

    def table(self) -> Table:
        total = self.total
        shares = np.array([[s / total for s in accumulate(row)] for row in self.weights])
        return Table(self.values, lambda first, end: shares[first:end], 2.0**-52)

    def exact_moments(self, i: int) -> tuple[Fraction, Fraction]:
        """Bias and mean squared error of the i-th row at its own input, as rationals.

        Summed as whole multiples of one unit that divides every distance: no term is reduced on its own.
        """
        x, weights = self.grid.points[i], self.weights[i]
        parts = math.lcm(x.denominator, *(v.denominator for v in self.values))
        place = x.numerator * (parts // x.denominator)
        distances = [v.numerator * (parts // v.denominator) - place for v in self.values]
        first = sum(map(mul, weights, distances))
        second = sum(w * d * d for w, d in zip(weights, distances, strict=True))
        total = self.total * parts
        return Fraction(first, total), Fraction(second, total * parts)

    def moments(self, i: int, field: Field) -> tuple[Value, Value]:
        bias, error = self.exact_moments(i)
        return field.real(bias), field.real(error)

"""Conditional laws as integer weights: what the linear programme finds, and the two-point mechanism."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from operator import mul

import numpy as np

from noisewright.mechanisms.base import MECHANISMS
from noisewright.mechanisms.conditional import Conditional, Grid, check_values
from noisewright.mechanisms.worst_cases import Table
from noisewright.numerics.fields import Field, Value
from noisewright.problem.errors import InvalidMechanismError
from noisewright.problem.fields import Rationals, WholeRows, only, rationals, tuple_of, wholes
from noisewright.problem.queries import Bounded
from noisewright.problem.records import record


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

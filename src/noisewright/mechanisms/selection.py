"""Choosing and synthesising under metric privacy: the exponential mechanism, SmallDB and MWEM.

All three look at the data only through integer columns of linear scores, as in `linear`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import combinations, pairwise

from noisewright.mechanisms.base import MECHANISMS, Mechanism
from noisewright.mechanisms.linear import check_columns, sums
from noisewright.problem.errors import InvalidMechanismError
from noisewright.problem.fields import PackedMatrix, Rational, Whole, only, rational, whole, whole_matrix
from noisewright.problem.linear import Linear, checked_histogram
from noisewright.problem.numbers import Number
from noisewright.problem.records import record

MOST_CANDIDATES = 200_000


@record(error=InvalidMechanismError)
class _Scored(Mechanism):
    """Integer columns W of linear scores with a common step, and the scale that a budget of one buys."""

    query: Linear = only(Linear)
    columns: PackedMatrix = whole_matrix()
    step: Rational = rational(above=0)
    scale: Rational = rational(above=0)

    def __post_init__(self) -> None:
        check_columns(self.columns, self.query.dimension, self.query.size)

    @property
    def rate(self) -> Fraction:
        """What one integer step of a score costs."""
        return self.step / self.scale

    def scores(self, histogram: Iterable[Number]) -> list[int]:
        """The integer scores W x; they are private."""
        return sums(self.columns, checked_histogram(histogram, self.query.size))


@record("metric-exponential", MECHANISMS, error=InvalidMechanismError)
class MetricExponential(_Scored):
    """Chooses a row r of the query with probability proportional to e^(score_r / (2 scale))."""

    def log_weights(self, histogram: Iterable[Number]) -> list[Fraction]:
        """Logarithms of the weights of all choices, exactly, up to a common constant."""
        scores = self.scores(histogram)
        top = max(scores)
        return [self.rate * (s - top) / 2 for s in scores]


@record("metric-smalldb", MECHANISMS, error=InvalidMechanismError)
class MetricSmallDB(_Scored):
    """Chooses a small database of `rows` people whose answers, scaled to everybody, are close to the true ones.

    The weight of a small database y is e^(-largest |W x - (n / rows) W y| step / (2 scale)), where n
    is the public number of people.
    """

    rows: Whole = whole(at_least=1)

    @property
    def candidates(self) -> int:
        """How many small databases there are."""
        return math.comb(self.query.size + self.rows - 1, self.rows)

    def databases(self) -> Iterator[tuple[int, ...]]:
        """All of them, as histograms."""
        places = self.query.size + self.rows - 1
        for bars in combinations(range(places), self.query.size - 1):
            yield tuple(b - a - 1 for a, b in pairwise((-1, *bars, places)))

    def log_weight(self, scores: list[int], people: int, database: Iterable[int]) -> Fraction:
        """Logarithm of the weight of one small database, exactly."""
        small = sums(self.columns, list(database))
        far = max(abs(s * self.rows - people * t) for s, t in zip(scores, small, strict=True))
        return -self.rate * Fraction(far, 2 * self.rows)


@record("metric-mwem", MECHANISMS, error=InvalidMechanismError)
class MetricMWEM(_Scored):
    """Multiplicative weights: `rounds` times choose the worst answered query, measure it, and reweigh.

    Each choice and each measurement uses a share 1/(2 rounds) of every budget. The update compares
    like with like: exponent q_i (measured - q(y)) / (2 n) with the query q itself, divided by its
    largest entry twice, so that the result does not depend on the units of the class.
    """

    rounds: Whole = whole(at_least=1)

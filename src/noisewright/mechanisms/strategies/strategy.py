"""Noise on whole rows measured in place of the questions of a workload, which are answered by least squares."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from noisewright.laws.gaussian import RoundedNormal
from noisewright.mechanisms.base import MECHANISMS, Mechanism
from noisewright.mechanisms.strategies.filters import FilterRows
from noisewright.mechanisms.strategies.rows import (
    STRATEGIES,
    ContrastRows,
    EndlessRows,
    MarginalRows,
    ResidualRows,
    Subsets,
)
from noisewright.mechanisms.strategies.tables import Counts, read_counts
from noisewright.mechanisms.strategies.values import LARGEST_DENSE, Values, chosen, each_of, run_of, smaller, total_of
from noisewright.numerics.balls import Ball, around, ball, hull, lower, precision, upper
from noisewright.numerics.fields import BALLS, FLOATS, Field, Value
from noisewright.numerics.integer_matrices import Wholes
from noisewright.problem import fields
from noisewright.problem.errors import InvalidMechanismError, InvalidUtilityError
from noisewright.problem.numbers import show
from noisewright.problem.records import record
from noisewright.problem.utilities import SquaredError, Utility, WorstVariance
from noisewright.problem.workload import Regular, Workload

_SMALLEST = Fraction(1, 4)
_WORD = 2**62
_ROUNDING = Fraction(1, 2**52)


class Strategy(Mechanism):
    """What strategies with any noise share: released are `fineness` times the rows, plus noise, all whole numbers.

    Guarantees: answers are unbiased; stated variances are those of the noise that is drawn, rounding included.
    """

    __slots__ = ()
    query: Any
    rows: Any
    levels: Any
    fineness: Any

    @abstractmethod
    def noise(self, group: int) -> Ball:
        """The variance of a row of this group over its factor, in units of the rows: a ball."""

    def __post_init__(self) -> None:
        if self.rows.size != self.query.size:
            raise InvalidMechanismError(
                f"the strategy is for {self.rows.size} cells, the questions are about {self.query.size}."
            )
        if isinstance(self.rows, Subsets):
            self._check_marginals()
        if isinstance(self.rows, EndlessRows) and prefix_sums(self.query) is None:
            raise InvalidMechanismError("an endless stream answers prefix sums alone; ask for nw.Workload.prefixes(n).")

    def _check_marginals(self) -> None:
        sizes = self.query.attributes
        if sizes != self.rows.sizes:
            raise InvalidMechanismError("the strategy is for marginals, of a table with attributes of these sizes.")
        known = set(self.rows.subsets)
        for part in self.query.parts:
            axes = chosen(part, sizes)
            needed = [axes] if isinstance(self.rows, MarginalRows) else smaller(axes)
            if any(inner not in known for inner in needed):
                raise InvalidMechanismError("the strategy misses a set of attributes that the questions need.")

    @property
    def count(self) -> int:
        found: int = self.query.dimension
        return found

    @property
    def each_known(self) -> bool:
        """Whether questions are looked at one by one; for long lines only their total is."""
        return isinstance(self.rows, Subsets) or self.query.size <= LARGEST_DENSE

    def counts(self, table: Any) -> Counts:
        """The table of counts as it was given; private."""
        sizes = self.query.attributes or (self.query.size,)
        found = read_counts(table, sizes)
        return found.widened() if found.people * self.rows.growth * self.fineness >= _WORD else found

    def law_given(self, table: Any) -> list[Wholes]:
        """The whole numbers of each group to which noise is added; they are private."""
        counts = self.counts(table)
        return [values * self.fineness for values in self.rows.measure(counts)]

    def level(self, group: int) -> Fraction:
        """The variance or scale of a group; the levels of an endless stream follow from its first."""
        first: Fraction = self.levels[0] if isinstance(self.rows, EndlessRows) else self.levels[group]
        return first * (group + 1) * (group + 2) if isinstance(self.rows, EndlessRows) else first

    def noises(self) -> list[Ball]:
        """The variance of each group of rows."""
        count = self.query.size.bit_length() if isinstance(self.rows, EndlessRows) else self.rows.groups
        return [self.noise(group) for group in range(count)]

    def variances(self) -> Iterator[Values]:
        """The variance of every question, part by part, with how far each may be off, relatively."""
        with precision():
            noise = self.noises()
        slack = max(Fraction(float(v.rad())) / Fraction(float(v.mid())) for v in noise)
        for part, values, miss in each_of(self.rows, self.query, noise):
            yield part, values, miss + slack

    def run_variance(self, first: int, last: int) -> Ball:
        """The variance of the sum over the cells from `first` to `last`, both included."""
        with precision():
            return run_of(self.rows, self.query, self.noises(), first, last)

    def expected(self, utility: Utility, field: Field = BALLS) -> Value:
        """Total or largest variance, each question as often as it counts: a ball, or its middle."""
        utility.check_count(self.count)
        with precision():
            if type(utility) is SquaredError and utility.weights is None:
                value = total_of(self.rows, self.query, self.noises())
            elif type(utility) is WorstVariance:
                value = self._worst()
            elif type(utility) is SquaredError:
                value = self._weighted(utility.shares(self.count))
            else:
                self._refuse(str(utility))
            return value if field is BALLS else float(value.mid())

    def _worst(self) -> Ball:
        tops = [_around(float(values.max()), miss) * ball(part.weight) for part, values, miss in self.variances()]
        # The largest lies between the largest lower and the largest upper end.
        return hull(ball(max(lower(v) for v in tops)), ball(max(upper(v) for v in tops)))

    def _weighted(self, weights: tuple[Fraction, ...]) -> Ball:
        total, begin = ball(0), 0
        for part, values, miss in self.variances():
            shares = np.array([float(w) for w in weights[begin : begin + part.questions]])
            value = math.fsum((values * shares).tolist())
            total = total + _around(value, miss + 4 * _ROUNDING) * ball(part.weight)
            begin += part.questions
        return total

    def power_means(self, power: Fraction, field: Field) -> list[Value]:
        if power != 2:
            self._refuse(f"the mean of |error|^{show(power)}")
        if field is FLOATS:
            return [float(v) for _, values, _ in self.variances() for v in values]
        return [_around(float(v), miss) for _, values, miss in self.variances() for v in values]

    def _refuse(self, what: str) -> Any:
        raise InvalidUtilityError(f"{what} has no rule for workloads; use SquaredError() or WorstVariance().")


def prefix_sums(query: Workload) -> Regular | None:
    """The line whose prefix sums are asked for, and nothing else; None for other questions."""
    factor = query.parts[0].factors[0]
    alone = len(query.parts) == 1 and len(query.parts[0].factors) == 1
    return factor if alone and isinstance(factor, Regular) and factor.form == "prefixes" else None


def _around(value: float, miss: Fraction) -> Ball:
    return around(value, value * float(miss) * 1.01)


def _check_levels(mechanism: Any, name: str) -> None:
    if len(mechanism.levels) != mechanism.rows.groups:
        raise InvalidMechanismError(
            f"there are {len(mechanism.levels)} {name} for {mechanism.rows.groups} groups of rows; give one for each."
        )


@record("gaussian-strategy", MECHANISMS, error=InvalidMechanismError)
class GaussianStrategy(Strategy):
    """Rounded Gaussian noise: levels[g] is the variance of the rows of group g (times the factor of each row).

    Released is floor(fineness * row + noise + 1/2) with noise of fineness^2 times that variance.
    """

    shape: ClassVar[str] = "Gaussian"
    query: Workload = fields.only(Workload)
    rows: Any = fields.one_of(STRATEGIES)
    levels: fields.Rationals = fields.rationals(above=0)
    fineness: fields.Whole = fields.whole(at_least=1, at_most=2**40, default=1)

    def __post_init__(self) -> None:
        Strategy.__post_init__(self)
        _check_levels(self, "variances")
        if isinstance(self.rows, MarginalRows):
            raise InvalidMechanismError("marginals under Gaussian noise are answered from their residuals.")
        if min(self.levels) * self.fineness**2 < _SMALLEST:
            raise InvalidMechanismError("the variance of a released whole number must be at least 1/4; raise fineness.")

    def noise(self, group: int) -> Ball:
        """A ball around the variance; where rows have factors, around all of them.

        Rule: rounding adds to a variance of at least 1/4 something from 0 to 1/12. [theory#what-the-stated-error-means]
        """
        level = self.level(group)
        if self.rows.plain(group):
            return RoundedNormal(level * self.fineness**2).second_moment(BALLS) / self.fineness**2
        return hull(ball(level), ball(level + Fraction(1, 12 * self.fineness**2)))


@record("laplace-strategy", MECHANISMS, error=InvalidMechanismError)
class LaplaceStrategy(Strategy):
    """Discrete Laplace noise: levels[g] is the scale of the rows of group g.

    Released is fineness * row + k, where whole k has probability in proportion to e^(-|k| / (fineness * scale)).
    """

    shape: ClassVar[str] = "Laplace"
    query: Workload = fields.only(Workload)
    rows: Any = fields.one_of(STRATEGIES)
    levels: fields.Rationals = fields.rationals(above=0)
    fineness: fields.Whole = fields.whole(at_least=1, at_most=2**40, default=1)

    def __post_init__(self) -> None:
        Strategy.__post_init__(self)
        _check_levels(self, "scales")
        if isinstance(self.rows, FilterRows):
            raise InvalidMechanismError("the rows of a filter are measured with Gaussian noise alone.")
        if isinstance(self.rows, ResidualRows) or (isinstance(self.rows, ContrastRows) and self.rows.branching > 2):
            raise InvalidMechanismError("differences of more than two parts are measured with Gaussian noise alone.")

    def rate(self, group: int) -> Fraction:
        """What one step of a released whole number of this group costs."""
        return 1 / (self.level(group) * self.fineness)

    def noise(self, group: int) -> Ball:
        """The variance of the discrete law; Haar's differences have two parts, whose factor is 2."""
        rate = ball(-self.rate(group))
        value = 2 * rate.exp() / rate.expm1() ** 2 / self.fineness**2
        halved = isinstance(self.rows, ContrastRows) and group < self.rows.height
        return value / 2 if halved else value

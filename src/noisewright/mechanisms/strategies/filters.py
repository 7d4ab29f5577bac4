"""Filters for ranges and prefix sums along a line: rows that are never built, near the best for any length.

Measured is A diag(weights) x, where A is a filter with mirror images at the ends (`numerics.toeplitz_hankel`): whole
numbers throughout, so that the lengths of the columns are whole numbers too. The inverse is diag(1 / weights) A^-1.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from noisewright.mechanisms.strategies.estimates import estimate_of
from noisewright.mechanisms.strategies.rows import STRATEGIES, PlainRows
from noisewright.mechanisms.strategies.tables import Counts
from noisewright.mechanisms.strategies.values import LARGEST_DENSE, Values, check_dense, each_of, run_of, total_of
from noisewright.numerics.balls import Ball, ball, hull
from noisewright.numerics.fields import Floats
from noisewright.numerics.integer_matrices import Wholes
from noisewright.numerics.remembered import Remembered
from noisewright.numerics.toeplitz_hankel import (
    Mirror,
    MirroredInverse,
    Runs,
    distance_sum,
    mirrored_inverse,
    pair_sums,
    prefix_squares,
    quarter_filter,
    squared_columns,
)
from noisewright.numerics.workloads import gram, squares, unit
from noisewright.problem import fields
from noisewright.problem.errors import InvalidMechanismError
from noisewright.problem.records import record
from noisewright.problem.workload import Regular, Workload

LARGEST_FILTER = 1 << 20
"""How many cells a line has at most that is measured by a filter."""
_MOST_RUNS = 2048
_TAP_BITS = 16
_SHARE_BITS = 60
_FINE_BITS = 20
_LAST_PLACES = Fraction(1, 2**40)


@record("filter-rows", STRATEGIES, error=InvalidMechanismError)
class FilterRows(PlainRows):
    """As many rows as cells: a filter that is best for `form`, after each cell was multiplied by its weight.

    The weights are the same along runs of cells; run k begins at starts[k] and ends before the next.
    """

    form: fields.Text = fields.text(among=("ranges", "prefixes"))
    size: fields.Whole = fields.whole(at_least=2, at_most=LARGEST_FILTER)
    starts: fields.Wholes = fields.wholes(at_least=0)
    weights: fields.Wholes = fields.wholes(at_least=1, at_most=2**30)

    def __post_init__(self) -> None:
        if self.starts[:1] != (0,) or list(self.starts) != sorted(set(self.starts)) or self.starts[-1] >= self.size:
            raise InvalidMechanismError(f"runs begin with cell 0 and increase up to at most {self.size - 1}.")
        if len(self.weights) != len(self.starts):
            raise InvalidMechanismError(f"there are {len(self.weights)} weights for {len(self.starts)} runs of cells.")
        if len(self.starts) > _MOST_RUNS:
            raise InvalidMechanismError(
                f"there are {len(self.starts)} runs of cells; at most {_MOST_RUNS} are allowed."
            )

    @property
    def groups(self) -> int:
        """How many groups of rows there are."""
        return 1

    @property
    def growth(self) -> int:
        """At least the largest size of an entry of a row."""
        return int(max(self.weights)) << (_TAP_BITS + 2)

    @property
    def mirror(self) -> Mirror:
        """The line with its images."""
        return Mirror(self.size, self.form == "ranges")

    def taps(self) -> Wholes:
        """One period of the filter."""
        return quarter_filter(self.mirror, _TAP_BITS)

    def cell_weights(self) -> Wholes:
        """The weight of every cell."""
        lengths = np.diff([*self.starts, self.size])
        return np.repeat(np.array(self.weights, dtype=np.int64), lengths)

    def measure(self, counts: Counts) -> list[Wholes]:
        """The sums of each group, exactly; they are private."""
        cells = counts.cells()
        weighted = cells.astype(object) * self.cell_weights().astype(object)
        return [self.mirror.applied(self.taps(), weighted).astype(cells.dtype)]

    def squared_lengths(self) -> list[int]:
        """The largest squared length of a column in each run, exactly: the filter's, times the squared weight."""
        tops = np.maximum.reduceat(squared_columns(self.mirror, _TAP_BITS)[0], np.array(self.starts))
        return [int(w) ** 2 * int(top) for w, top in zip(self.weights, tops, strict=True)]

    def least_product(self) -> int:
        """At most the least inner product of two different columns, and at most 0: whole numbers throughout."""
        return max(self.weights) ** 2 * squared_columns(self.mirror, _TAP_BITS)[1]


@dataclass(frozen=True, slots=True)
class FilterInverse:
    """Whole numbers near C^-1 = diag(1 / weights) A^-1: shares of 2^_SHARE_BITS, and a sequence Z, of which the square.

    Guarantees: the variance of every question is within `miss` of what these numbers say over 4^bits, relatively.
    """

    shares: Runs
    squares: Wholes
    bits: int
    miss: Fraction


_FILTERS: Remembered[MirroredInverse] = Remembered()
_INVERSES: Remembered[FilterInverse] = Remembered()
_TOTALS: Remembered[Fraction] = Remembered()


def _filter_inverse(rows: FilterRows) -> MirroredInverse:
    return _FILTERS.latest(rows, "filter", lambda: mirrored_inverse(rows.mirror, rows.taps()))


def inverse_of_filter(rows: FilterRows) -> FilterInverse:
    """A proven inverse.

    Rule: Z A = 2^bits R, and all of these matrices commute, so that |A^-1 v| is |Z v| / 2^bits up to factors within
    miss of 1 (eigenvalues of R). Rounding 1 / weight by at most eta of itself moves Z E w by at most
    |Z| eta |E w| <= eta |Z| |Z^-1| |Z E w|. [theory#strategies-in-whole-numbers]
    """

    def made() -> FilterInverse:
        near = _filter_inverse(rows)
        shares = np.array([((2 << _SHARE_BITS) // w + 1) // 2 for w in map(int, rows.weights)], dtype=object)
        moved = near.condition / (2 * int(min(shares)))
        miss = ((1 + moved) / (1 - near.miss)) ** 2 - 1
        runs = Runs(np.array(rows.starts, dtype=object), shares, rows.size)
        squares = rows.mirror.product(near.sequence, near.sequence)
        return FilterInverse(runs, squares, near.bits + _SHARE_BITS, miss)

    return _INVERSES.latest(rows, "inverse", made)


@total_of.register
def _total_of_filter(rows: FilterRows, query: Workload, noise: Sequence[Ball]) -> Ball:
    near = inverse_of_filter(rows)

    def made() -> Fraction:
        value = _line_total(rows, near, query)
        return _dense_total(rows, near, query) if value is None else value

    unit = _TOTALS.latest(rows, query.digest, made) / 4**near.bits
    return noise[0] * hull(ball(unit / (1 + near.miss)), ball(unit * (1 + near.miss)))


@each_of.register
def _each_of_filter(rows: FilterRows, query: Workload, noise: Sequence[Ball]) -> Iterator[Values]:
    near = inverse_of_filter(rows)
    spread = float(noise[0].mid())
    if query.size > LARGEST_DENSE:
        yield from ((part, values * spread, miss) for part, values, miss in _line_variances(rows, near, query))
        return
    for part, values in squares(query, _dense(rows, near)):
        scale = unit(part)
        below = 4**near.bits * scale.denominator
        yield part, np.array([int(v) / below for v in values]) * spread, near.miss + _LAST_PLACES


@run_of.register
def _run_of_filter(rows: FilterRows, query: Workload, noise: Sequence[Ball], first: int, last: int) -> Ball:
    """Rule: the sum of e_i e_j P_ij over the pairs of cells of the run, exactly; then as near as the inverse is.
    [theory#strategies-in-whole-numbers]
    """
    near, mirror = inverse_of_filter(rows), rows.mirror
    run = near.shares.part(first, last)
    distances = near.squares[np.abs(np.arange(1 - run.size, run.size))]
    images = near.squares[2 * first + mirror.gap : 2 * last + mirror.gap + 1]
    total = pair_sums(distances, run, run.backwards()).plain + mirror.sign * pair_sums(images, run, run).plain
    value = Fraction(total, 4**near.bits)
    return noise[0] * hull(ball(value / (1 + near.miss)), ball(value * (1 + near.miss)))


def line_forms(query: Workload) -> list[str] | None:
    """The form of each part of a workload about a line; None where one has no known form."""
    factors = [part.factors[0] for part in query.parts if len(part.factors) == 1]
    forms = [factor.form for factor in factors if isinstance(factor, Regular)]
    return forms if len(forms) == len(query.parts) else None


def _line_variances(rows: FilterRows, near: FilterInverse, query: Workload) -> Iterator[Values]:
    """The variances of prefix sums, of cells and of the total of a long line, in units of the noise."""
    forms = line_forms(query)
    if forms is None or "ranges" in forms:
        check_dense(query)
        return
    values, off = prefix_squares(rows.mirror, near.squares, near.shares)
    alone = rows.mirror.diagonal(near.squares) * near.shares.cells() ** 2
    for part, form in zip(query.parts, forms, strict=True):
        if form == "identity":
            yield part, np.array([int(v) / 4**near.bits for v in alone]), near.miss + _LAST_PLACES
        else:
            found = values if form == "prefixes" else values[-1:]
            yield part, np.ldexp(found, -2 * near.bits), near.miss + off + _LAST_PLACES


def _dense(rows: FilterRows, near: FilterInverse) -> Wholes:
    shares = near.shares.cells()
    return np.asarray(rows.mirror.matrix(near.squares) * np.multiply.outer(shares, shares))


def _dense_total(rows: FilterRows, near: FilterInverse, query: Workload) -> Fraction:
    check_dense(query)
    whole, below = gram(query)
    return Fraction(int((whole.astype(object) * _dense(rows, near)).sum()), below)


def _line_total(rows: FilterRows, near: FilterInverse, query: Workload) -> Fraction | None:
    """The sum of G_ij e_i e_j P_ij, exactly, where P_ij = p(|i - j|) + sign p(i + j + gap); None for other questions.

    Rule: 4 G_ij = a + b (i + j) + c |i - j| + d i j, so the sums by i + j and by i - j of e_i e_j times 1, i + j,
    |i - j| and i j say all. By i - j they are those by i + j of the line and itself read backwards.
    [theory#strategies-in-whole-numbers]
    """
    found = _quadratic(query)
    if found is None:
        return None
    (a, b, c, d, cells), last = found, rows.size - 1
    mirror, p, e = rows.mirror, near.squares, near.shares
    images, distances = p[mirror.gap : mirror.gap + 2 * last + 1], np.abs(np.arange(-last, last + 1))
    here = pair_sums(images, e, e)
    beyond = a * here.plain + b * (here.first + here.second) + c * distance_sum(images, e) + d * here.both
    back = e.backwards()
    there = pair_sums(p[distances], e, back)
    total = a * there.plain + b * (last * there.plain + there.first - there.second)
    total += c * pair_sums(p[distances] * distances.astype(object), e, back).plain
    total += d * (last * there.first - there.both) + mirror.sign * beyond
    total += cells * int((mirror.diagonal(p) * e.cells() ** 2).sum())
    return total / 4


def _quadratic(query: Workload) -> tuple[Fraction, ...] | None:
    """The numbers a, b, c, d of 4 G_ij = a + b (i + j) + c |i - j| + d i j, and what the diagonal has besides."""
    n = query.size
    known = {
        "identity": (0, 0, 0, 0, 4),
        "total": (4, 0, 0, 0, 0),
        "prefixes": (4 * n, -2, -2, 0, 0),
        "ranges": (4 * n, 2 * (n - 1), -2 * (n + 1), -4, 0),
    }
    forms = line_forms(query)
    if forms is None:
        return None
    found = [[part.weight * v for v in known[form]] for part, form in zip(query.parts, forms, strict=True)]
    return tuple(sum(v, Fraction(0)) for v in zip(*found, strict=True))


@estimate_of.register
def _estimate_of_filter(rows: FilterRows, noise: Sequence[Ball], measured: Sequence[Wholes], fineness: int) -> Floats:
    mirror, near = rows.mirror, _filter_inverse(rows)
    back = np.ldexp(near.sequence.astype(np.float64), _FINE_BITS - near.bits)
    first = np.array([int(v) for v in np.rint(mirror.filtered(back, measured[0].astype(np.float64)))], dtype=object)
    # What is left over is exact, so that the second step adds as many digits as floats had lost in the first.
    rest = (measured[0].astype(object) << _FINE_BITS) - mirror.applied(rows.taps(), first)
    second = np.ldexp(mirror.filtered(back, rest.astype(np.float64)), -_FINE_BITS)
    below = np.ldexp(rows.cell_weights().astype(np.float64) * fineness, _FINE_BITS)
    return np.asarray((first.astype(np.float64) + second) / below)

"""Privacy of strategies: how far one person moves the measured rows, exactly, in units of their noise.

Gaussian noise: mu^2 is the largest sum of squares (row entry)^2 / variance over the entries that one person changes;
rounding integer + Gaussian is integer + rounded Gaussian, a post-processing of the continuous mechanism. So mu^2 / 2
bounds zCDP, the Gaussian curve bounds delta, and probabilistic privacy, which rounding can harm, is refused.
Laplace noise: the sum of |row entry| / scale bounds epsilon; answers are post-processing.

A person is counted in at most g cells. They come or leave: a set of at most g cells gains or loses one each. With
`replace` they move: one such set, not empty, gains one in each cell, another loses one in each. Where nothing better is
known, lengths add up: the length of the longest column, once for each cell that changes.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import singledispatch
from itertools import product
from typing import Any

from noisewright.mechanisms.strategies.filters import FilterRows
from noisewright.mechanisms.strategies.rows import (
    BlockRows,
    ContrastRows,
    DenseRows,
    EndlessRows,
    MarginalRows,
    ResidualRows,
)
from noisewright.mechanisms.strategies.strategy import GaussianStrategy, LaplaceStrategy
from noisewright.numerics.integer_matrices import farthest_columns, inner_products
from noisewright.problem.errors import UncertifiedError
from noisewright.problem.privacy import ApproxDP, PureDP, RenyiDP, ZeroConcentratedDP
from noisewright.problem.workload import Workload
from noisewright.proof.provers import proves
from noisewright.proof.vector_gaussian import gaussian_delta
from noisewright.proof.vectors import root_above

Proven = tuple[Fraction, str]


@proves(ZeroConcentratedDP, GaussianStrategy)
def concentrated_strategy(mechanism: GaussianStrategy, requirement: ZeroConcentratedDP) -> Proven:
    """Half the squared sensitivity: the Renyi divergence of order a of Gaussians is a mu^2 / 2."""
    return strategy_squared_sensitivity(mechanism) / 2, "concentrated/gaussian-strategy"


@proves(RenyiDP, GaussianStrategy)
def renyi_strategy(mechanism: GaussianStrategy, requirement: RenyiDP) -> Proven:
    """The divergence of order a of Gaussians is a mu^2 / 2."""
    return requirement.alpha * strategy_squared_sensitivity(mechanism) / 2, "renyi/gaussian-strategy"


@proves(ApproxDP, GaussianStrategy)
def approximate_strategy(mechanism: GaussianStrategy, requirement: ApproxDP) -> Proven:
    """The delta of a Gaussian of this sensitivity."""
    return gaussian_delta(requirement.epsilon, strategy_squared_sensitivity(mechanism)), "approximate/gaussian-strategy"


@proves(PureDP, LaplaceStrategy)
def pure_strategy(mechanism: LaplaceStrategy, requirement: PureDP) -> Proven:
    """The mass of discrete Laplace noise falls by at most e^(shift / scale); rows compose."""
    return strategy_l1_sensitivity(mechanism), "pure/laplace-strategy"


@proves(ApproxDP, LaplaceStrategy)
def approximate_laplace_strategy(mechanism: LaplaceStrategy, requirement: ApproxDP) -> Proven:
    """Pure privacy with an epsilon no larger than the claimed one is approximate privacy with delta 0."""
    bound = strategy_l1_sensitivity(mechanism)
    if bound > requirement.epsilon:
        raise UncertifiedError(
            f"refused: the strategy is purely private with epsilon {float(bound):.6g}, more than was claimed.",
            bound=bound,
        )
    return Fraction(0), "approximate/laplace-strategy"


def strategy_squared_sensitivity(mechanism: GaussianStrategy) -> Fraction:
    """At least mu^2 for every change that one person can make.

    Rule: a change by several rows is the sum of the changes by each, whose lengths add up at most; the rows may be
    alike, so that nothing smaller will do. Who is replaced has a row at least, and so has who comes: a row or more
    moves, and what is left over comes or goes. [theory#many-questions-about-one-table]
    """
    change, more = CellChange.of(mechanism.query), mechanism.query.rows_per_person - 1
    square = _row_squared_sensitivity(mechanism, change)
    alike = (more + 1) ** 2 * square
    if not change.replace or not more:
        return alike
    other = _row_squared_sensitivity(mechanism, change.coming)
    return max(alike, square + more**2 * other + 2 * more * root_above(square * other))


def _row_squared_sensitivity(mechanism: GaussianStrategy, change: CellChange) -> Fraction:
    """The same for one row of a person."""
    rows = mechanism.rows
    if isinstance(rows, DenseRows):
        return Fraction(_squared_dense_change(rows, change)) / mechanism.levels[0]
    column = squared_column(rows, mechanism.levels)
    if change.times == 1:
        return column
    return min(change.times**2 * column, squared_move(rows, mechanism.levels, change, column))


def strategy_l1_sensitivity(mechanism: LaplaceStrategy) -> Fraction:
    """At least the sum of |shift| / scale for every change that one person can make; those of several rows add up."""
    change, more = CellChange.of(mechanism.query), mechanism.query.rows_per_person - 1
    one, other = _row_l1(mechanism, change), _row_l1(mechanism, change.coming)
    return one + more * max(one, other)


def _row_l1(mechanism: LaplaceStrategy, change: CellChange) -> Fraction:
    """The same for one row of a person."""
    column = l1_column(mechanism.rows, mechanism.levels)
    return column if change.times == 1 else l1_move(mechanism.rows, mechanism.levels, change, column)


@singledispatch
def squared_column(rows: Any, variances: Sequence[Fraction]) -> Fraction:
    """The largest sum of squares over variances in the column of a cell."""
    raise UncertifiedError(f"there is no rule for the columns of {type(rows).__name__} under Gaussian noise.")


@singledispatch
def l1_column(rows: Any, scales: Sequence[Fraction]) -> Fraction:
    """The largest sum of sizes over scales in the column of a cell."""
    raise UncertifiedError(f"there is no rule for the columns of {type(rows).__name__} under Laplace noise.")


@squared_column.register
def _squared_column_of_block_rows(rows: BlockRows, variances: Sequence[Fraction]) -> Fraction:
    """Each cell is in one block of each level."""
    return sum((1 / v for v in variances), Fraction(0))


@l1_column.register
def _l1_column_of_block_rows(rows: BlockRows, scales: Sequence[Fraction]) -> Fraction:
    """Each cell is in one block of each level."""
    return sum((1 / b for b in scales), Fraction(0))


@squared_column.register
def _squared_column_of_contrast_rows(rows: ContrastRows, variances: Sequence[Fraction]) -> Fraction:
    """Helmert's differences over their lengths, and the mean, are orthonormal: squares at a cell sum to 1 - 1/b."""
    share = 1 - Fraction(1, rows.branching)
    return share * sum((1 / v for v in variances[:-1]), Fraction(0)) + 1 / variances[-1]


@l1_column.register
def _l1_column_of_contrast_rows(rows: ContrastRows, scales: Sequence[Fraction]) -> Fraction:
    """Between b parts the sizes at a cell sum to b - 1: k once, and 1 for each later difference."""
    return (rows.branching - 1) * sum((1 / b for b in scales[:-1]), Fraction(0)) + 1 / scales[-1]


@squared_column.register
def _squared_column_of_residual_rows(rows: ResidualRows, variances: Sequence[Fraction]) -> Fraction:
    """Products of orthonormal rows: the squares of set A at a cell sum to prod (1 - 1/n_i) over A."""
    shares = [math.prod((1 - Fraction(1, rows.sizes[i]) for i in subset), start=Fraction(1)) for subset in rows.subsets]
    return sum((share / v for share, v in zip(shares, variances, strict=True)), Fraction(0))


@squared_column.register
@l1_column.register
def _squared_column_of_endless_rows(rows: EndlessRows, levels: Sequence[Fraction]) -> Fraction:
    """Each count is in one block of each level; 1 / ((l + 1)(l + 2)) sums to 1 over all levels."""
    return 1 / levels[0]


@l1_column.register
def _l1_column_of_marginal_rows(rows: MarginalRows, scales: Sequence[Fraction]) -> Fraction:
    """Each cell is in one cell of each marginal."""
    return sum((1 / b for b in scales), Fraction(0))


@l1_column.register
def _l1_column_of_dense_rows(rows: DenseRows, scales: Sequence[Fraction]) -> Fraction:
    """The largest column sum of sizes."""
    return max(Fraction(sum(map(abs, column))) for column in zip(*rows.matrix, strict=True)) / scales[0]


@squared_column.register
def _squared_column_of_filter_rows(rows: FilterRows, variances: Sequence[Fraction]) -> Fraction:
    """The longest column, in whole numbers: every column is looked at."""
    return Fraction(max(rows.squared_lengths())) / variances[0]


def _squared_dense_change(rows: DenseRows, change: CellChange) -> int:
    """The largest squared length of a change, in whole numbers, from the columns and X = C^T C.

    Rule: one cell: the largest X_jj. At most g cells: the sum over pairs of the changed cells is at most g times the
    sum of the g largest |X_jk| of one row, k counted once for each cell of its column. Replacing one cell by another:
    X_ii + X_jj - 2 X_ij, or X_ii alone where the other has no column; more cells count as 2 g changed ones.
    [theory#many-questions-about-one-table]
    """
    lengths: list[int] = [sum(v * v for v in column) for column in zip(*rows.matrix, strict=True)]
    if change.times == 1:
        return max(lengths)
    inner = inner_products(rows.matrix)
    if change.cells == 1:
        pairs = ((i, j) for i in range(len(inner)) for j in range(i))
        apart = max((lengths[i] + lengths[j] - 2 * inner[i][j] for i, j in pairs), default=0)
        return max(apart, max(lengths) if 0 in rows.places else 0)
    changed = change.times
    cells = Counter(rows.places)
    together = max(_largest(row, cells, changed) for row in inner)
    return int(min(changed * together, changed**2 * max(lengths)))


def _largest(row: Sequence[int], cells: Mapping[int, int], changed: int) -> int:
    """The sum of the `changed` largest |X_jk|, each k as often as there are cells of its column."""
    left, total = changed, 0
    for size, k in sorted(((abs(v), k) for k, v in enumerate(row)), reverse=True):
        taken = min(left, cells[k + 1])
        left, total = left - taken, total + taken * size
    return total


_MOST_PATTERNS = 20_000


@dataclass(frozen=True, slots=True)
class CellChange:
    """What one person may change: up to `cells` cells, which gain or lose; with `replace` some gain and some lose."""

    cells: int
    replace: bool

    @classmethod
    def of(cls, query: Workload) -> CellChange:
        """What a question says about one person; there are no more cells than the table has."""
        return cls(min(query.cells_per_person, query.size), query.replace)

    @property
    def coming(self) -> CellChange:
        """The same for somebody who comes or leaves."""
        return CellChange(self.cells, False)

    @property
    def times(self) -> int:
        """How many cells change by one, at most."""
        return self.cells * (2 if self.replace else 1)

    def squares(self, width: int, size: int) -> int:
        """The largest sum over blocks of `width` cells, of a table of `size`, of (what the block gains)^2.

        Rule: a set of g cells has the most in few blocks where it fills them one by one. What gains and what loses
        count apart at most, since (a - b)^2 <= a^2 + b^2 for a, b >= 0; in a block of all cells they count together,
        and sets of 1 to g cells differ by at most g - 1. [theory#many-questions-about-one-table]
        """
        full, rest = divmod(self.cells, width)
        most = full * width**2 + rest**2
        if not self.replace:
            return most
        return 2 * most if width < size else (self.cells - 1) ** 2

    def sizes(self, *, everything: bool) -> int:
        """The same for sums of sizes, over single cells or other blocks; `everything` is a block of all cells."""
        return self.cells - 1 if everything and self.replace else self.times


@singledispatch
def squared_move(rows: Any, variances: Sequence[Fraction], change: CellChange, column: Fraction) -> Fraction:
    """At least the sum of (what a row gains)^2 / variance for every change; `column` is that of one cell."""
    return change.times**2 * column


@singledispatch
def l1_move(rows: Any, scales: Sequence[Fraction], change: CellChange, column: Fraction) -> Fraction:
    """At least the sum of |what a row gains| / scale for every change; `column` is that of one cell."""
    return change.times * column


@squared_move.register
def _squared_move_of_block_rows(
    rows: BlockRows, variances: Sequence[Fraction], change: CellChange, column: Fraction
) -> Fraction:
    """Level by level; neighbouring cells from the first on have the most at every level at once."""
    widths = [rows.branching**level for level in rows.levels]
    most = [change.squares(width, rows.size) for width in widths]
    return sum((one / v for one, v in zip(most, variances, strict=True)), Fraction(0))


@l1_move.register
def _l1_move_of_block_rows(
    rows: BlockRows, scales: Sequence[Fraction], change: CellChange, column: Fraction
) -> Fraction:
    """A cell is in one block of each level; the block of all cells keeps what one loses and another gains."""
    whole = [rows.branching**level >= rows.size for level in rows.levels]
    return sum((change.sizes(everything=w) / b for w, b in zip(whole, scales, strict=True)), Fraction(0))


@squared_move.register
def _squared_move_of_contrast_rows(
    rows: ContrastRows, variances: Sequence[Fraction], change: CellChange, column: Fraction
) -> Fraction:
    """With q_l = b^l / variance of level l and S_l the sum over blocks of squares over b^l it is the sum of
    (q_l - q_(l-1)) S_l; where a factor is negative the least S_l counts: squares of whole numbers sum to no less than
    the numbers, and to 0 or more where some gain and some lose.
    """
    total, before = Fraction(0), Fraction(0)
    for level, variance in enumerate(variances):
        width = rows.branching**level
        here = width / variance
        least = 0 if change.replace else 1
        most = change.squares(width, rows.size) if here > before else least
        total, before = total + (here - before) * Fraction(most, width), here
    return total


@l1_move.register
def _l1_move_of_contrast_rows(
    rows: ContrastRows, scales: Sequence[Fraction], change: CellChange, column: Fraction
) -> Fraction:
    """Differences add up; the total keeps what one cell loses and another gains."""
    differences = (rows.branching - 1) * sum((1 / b for b in scales[:-1]), Fraction(0))
    return change.times * differences + change.sizes(everything=True) / scales[-1]


@squared_move.register
def _squared_move_of_residual_rows(
    rows: ResidualRows, variances: Sequence[Fraction], change: CellChange, column: Fraction
) -> Fraction:
    """One cell for another: set A adds 2 (prod (1 - 1/n_i) - prod t_i) / variance over A, t_i = 1 - 1/n_i where the
    cells agree and -1/n_i where they differ. Few attributes are gone through, for many the least product of each set
    counts. More cells: lengths add up.
    """
    if not change.replace or change.cells > 1:
        return change.times**2 * column
    weights = dict(zip(rows.subsets, variances, strict=True))
    own = sum((_product(rows.sizes, axes, frozenset()) / v for axes, v in weights.items()), Fraction(0))
    live = [i for i, n in enumerate(rows.sizes) if n > 1 and any(i in axes for axes in weights)]
    if 2 ** len(live) * len(weights) <= _MOST_PATTERNS:
        patterns = [frozenset(i for i, on in zip(live, chosen, strict=True) if on) for chosen in _choices(live)]
        least = min(
            sum((_product(rows.sizes, axes, apart) / v for axes, v in weights.items()), Fraction(0))
            for apart in patterns
        )
        return 2 * (own - least)
    return 2 * (own - sum((_least_product(rows.sizes, axes) / v for axes, v in weights.items()), Fraction(0)))


def _choices(live: Sequence[int]) -> Any:
    return product((False, True), repeat=len(live))


def _product(sizes: Sequence[int], axes: Sequence[int], apart: frozenset[int]) -> Fraction:
    """prod over A of 1 - 1/n_i, or -1/n_i for attributes in which two cells differ."""
    return math.prod((Fraction(int(i not in apart)) - Fraction(1, sizes[i]) for i in axes), start=Fraction(1))


def _least_product(sizes: Sequence[int], axes: Sequence[int]) -> Fraction:
    """The least of these products: 1 for no attribute; else they differ in that of fewest values alone.

    Rule: changing factors from 1 - 1/n to -1/n makes the product no larger in size, since n >= 2; so the most
    negative one has one such factor, and 1 / (n - 1), by which it shrinks, is largest for the least n.
    [theory#many-questions-about-one-table]
    """
    if not axes:
        return Fraction(1)
    return _product(sizes, axes, frozenset([min(axes, key=lambda i: sizes[i])]))


@l1_move.register
def _l1_move_of_marginal_rows(
    rows: MarginalRows, scales: Sequence[Fraction], change: CellChange, column: Fraction
) -> Fraction:
    """Each cell is in one cell of each marginal; the total keeps what one loses and another gains."""
    pairs = zip(rows.subsets, scales, strict=True)
    return sum((change.sizes(everything=not axes) / b for axes, b in pairs), Fraction(0))


@l1_move.register
def _l1_move_of_dense_rows(
    rows: DenseRows, scales: Sequence[Fraction], change: CellChange, column: Fraction
) -> Fraction:
    """Cells are moved in pairs; what is left over moves by its own column."""
    if not change.replace:
        return change.cells * column
    apart = farthest_columns(rows.matrix, empty=0 in rows.places)
    if apart is None:
        return change.times * column
    pair = Fraction(apart) / scales[0]
    return pair + (change.cells - 1) * max(pair, column)


@squared_move.register
def _squared_move_of_filter_rows(
    rows: FilterRows, variances: Sequence[Fraction], change: CellChange, column: Fraction
) -> Fraction:
    """With X = C^T C and x(A) the sum over a set A of cells: |C (A - B)|^2 = |C A|^2 + |C B|^2 - 2 sum X_ij.

    Rule: g cells have at most g^2 times the longest column, and at most g^2 pairs have less than the least X_ij.
    [theory#many-questions-about-one-table]
    """
    most = change.cells**2 * column
    return 2 * (most - change.cells**2 * rows.least_product() / variances[0]) if change.replace else most

"""Privacy of strategies: how far one person moves the measured rows, exactly, in units of their noise.

Gaussian noise: mu^2 is the largest sum of squares (row entry)^2 / variance over the entries that one person changes;
rounding integer + Gaussian is integer + rounded Gaussian, a post-processing of the continuous mechanism. So mu^2 / 2
bounds zCDP, the Gaussian curve bounds delta, and probabilistic privacy, which rounding can harm, is refused.
Laplace noise: the sum of |row entry| / scale bounds epsilon; answers are post-processing.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import singledispatch
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
from noisewright.numerics.whole_matrices import inner_products
from noisewright.problem.errors import UncertifiedError
from noisewright.problem.privacy import ApproxDP, PureDP, RenyiDP, ZeroConcentratedDP
from noisewright.proof.provers import proves
from noisewright.proof.strategy_moves import Change, squared_move, taxi_move
from noisewright.proof.vector_gaussian import gaussian_delta
from noisewright.proof.vectors import root_above

Proven = tuple[Fraction, str]


@proves(ZeroConcentratedDP, GaussianStrategy)
def concentrated_strategy(mechanism: GaussianStrategy, requirement: ZeroConcentratedDP) -> Proven:
    """Half the squared reach: the Renyi divergence of order a of Gaussians is a mu^2 / 2."""
    return squared_reach(mechanism) / 2, "concentrated/gaussian-strategy"


@proves(RenyiDP, GaussianStrategy)
def renyi_strategy(mechanism: GaussianStrategy, requirement: RenyiDP) -> Proven:
    """The divergence of order a of Gaussians is a mu^2 / 2."""
    return requirement.alpha * squared_reach(mechanism) / 2, "renyi/gaussian-strategy"


@proves(ApproxDP, GaussianStrategy)
def approximate_strategy(mechanism: GaussianStrategy, requirement: ApproxDP) -> Proven:
    """The delta of a Gaussian of this reach."""
    return gaussian_delta(requirement.epsilon, squared_reach(mechanism)), "approximate/gaussian-strategy"


@proves(PureDP, LaplaceStrategy)
def pure_strategy(mechanism: LaplaceStrategy, requirement: PureDP) -> Proven:
    """The mass of discrete Laplace noise falls by at most e^(shift / scale); rows compose."""
    return taxi_reach(mechanism), "pure/laplace-strategy"


@proves(ApproxDP, LaplaceStrategy)
def approximate_laplace_strategy(mechanism: LaplaceStrategy, requirement: ApproxDP) -> Proven:
    """Pure privacy with an epsilon no larger than the claimed one is approximate privacy with delta 0."""
    bound = taxi_reach(mechanism)
    if bound > requirement.epsilon:
        raise UncertifiedError(
            f"refused: the strategy is purely private with epsilon {float(bound):.6g}, more than was claimed.",
            bound=bound,
        )
    return Fraction(0), "approximate/laplace-strategy"


def squared_reach(mechanism: GaussianStrategy) -> Fraction:
    """At least mu^2 for every change that one person can make.

    Rule: a change by several rows is the sum of the changes by each, whose lengths add up at most; the rows may be
    alike, so that nothing smaller will do. Who is replaced has a row at least, and so has who comes: a row or more
    moves, and what is left over comes or goes. [theory#many-questions-about-one-table]
    """
    change, more = Change.of(mechanism.query), mechanism.query.rows_per_person - 1
    square = _row_reach(mechanism, change)
    alike = (more + 1) ** 2 * square
    if not change.replace or not more:
        return alike
    other = _row_reach(mechanism, change.coming)
    return max(alike, square + more**2 * other + 2 * more * root_above(square * other))


def _row_reach(mechanism: GaussianStrategy, change: Change) -> Fraction:
    """The same for one row of a person."""
    rows = mechanism.rows
    if isinstance(rows, DenseRows):
        return Fraction(_dense_reach(rows, change)) / mechanism.levels[0]
    column = squared_column(rows, mechanism.levels)
    if change.times == 1:
        return column
    return min(change.times**2 * column, squared_move(rows, mechanism.levels, change, column))


def taxi_reach(mechanism: LaplaceStrategy) -> Fraction:
    """At least the sum of |shift| / scale for every change that one person can make; those of several rows add up."""
    change, more = Change.of(mechanism.query), mechanism.query.rows_per_person - 1
    one, other = _row_taxi(mechanism, change), _row_taxi(mechanism, change.coming)
    return one + more * max(one, other)


def _row_taxi(mechanism: LaplaceStrategy, change: Change) -> Fraction:
    """The same for one row of a person."""
    column = taxi_column(mechanism.rows, mechanism.levels)
    return column if change.times == 1 else taxi_move(mechanism.rows, mechanism.levels, change, column)


@singledispatch
def squared_column(rows: Any, variances: Sequence[Fraction]) -> Fraction:
    """The largest sum of squares over variances in the column of a cell."""
    raise UncertifiedError(f"there is no rule for the columns of {type(rows).__name__} under Gaussian noise.")


@singledispatch
def taxi_column(rows: Any, scales: Sequence[Fraction]) -> Fraction:
    """The largest sum of sizes over scales in the column of a cell."""
    raise UncertifiedError(f"there is no rule for the columns of {type(rows).__name__} under Laplace noise.")


@squared_column.register
def _(rows: BlockRows, variances: Sequence[Fraction]) -> Fraction:
    """Each cell is in one block of each level."""
    return sum((1 / v for v in variances), Fraction(0))


@taxi_column.register
def _(rows: BlockRows, scales: Sequence[Fraction]) -> Fraction:
    """Each cell is in one block of each level."""
    return sum((1 / b for b in scales), Fraction(0))


@squared_column.register
def _(rows: ContrastRows, variances: Sequence[Fraction]) -> Fraction:
    """Helmert's differences over their lengths, and the mean, are orthonormal: squares at a cell sum to 1 - 1/b."""
    share = 1 - Fraction(1, rows.branching)
    return share * sum((1 / v for v in variances[:-1]), Fraction(0)) + 1 / variances[-1]


@taxi_column.register
def _(rows: ContrastRows, scales: Sequence[Fraction]) -> Fraction:
    """Between b parts the sizes at a cell sum to b - 1: k once, and 1 for each later difference."""
    return (rows.branching - 1) * sum((1 / b for b in scales[:-1]), Fraction(0)) + 1 / scales[-1]


@squared_column.register
def _(rows: ResidualRows, variances: Sequence[Fraction]) -> Fraction:
    """Products of orthonormal rows: the squares of set A at a cell sum to prod (1 - 1/n_i) over A."""
    shares = [math.prod((1 - Fraction(1, rows.sizes[i]) for i in subset), start=Fraction(1)) for subset in rows.subsets]
    return sum((share / v for share, v in zip(shares, variances, strict=True)), Fraction(0))


@squared_column.register
@taxi_column.register
def _(rows: EndlessRows, levels: Sequence[Fraction]) -> Fraction:
    """Each count is in one block of each level; 1 / ((l + 1)(l + 2)) sums to 1 over all levels."""
    return 1 / levels[0]


@taxi_column.register
def _(rows: MarginalRows, scales: Sequence[Fraction]) -> Fraction:
    """Each cell is in one cell of each marginal."""
    return sum((1 / b for b in scales), Fraction(0))


@taxi_column.register
def _(rows: DenseRows, scales: Sequence[Fraction]) -> Fraction:
    """The largest column sum of sizes."""
    return max(Fraction(sum(map(abs, column))) for column in zip(*rows.matrix, strict=True)) / scales[0]


@squared_column.register
def _(rows: FilterRows, variances: Sequence[Fraction]) -> Fraction:
    """The longest column, in whole numbers: every column is looked at."""
    return Fraction(max(rows.squared_lengths())) / variances[0]


def _dense_reach(rows: DenseRows, change: Change) -> int:
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

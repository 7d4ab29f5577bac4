"""How far one person moves the rows of a strategy that is known by its structure, over all that they may change.

A person is counted in at most g cells. They come or leave: a set of at most g cells gains or loses one each. With
`replace` they move: one such set, not empty, gains one in each cell, another loses one in each. Where nothing better is
known, lengths add up: the length of the longest column, once for each cell that changes. All of this is about one row
of a person; `strategy` adds up several.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
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
    MarginalRows,
    ResidualRows,
)
from noisewright.numerics.whole_matrices import farthest_columns
from noisewright.problem.workload import Workload

_MOST_PATTERNS = 20_000


@dataclass(frozen=True, slots=True)
class Change:
    """What one person may change: up to `cells` cells, which gain or lose; with `replace` some gain and some lose."""

    cells: int
    replace: bool

    @classmethod
    def of(cls, query: Workload) -> Change:
        """What a question says about one person; there are no more cells than the table has."""
        return cls(min(query.cells_per_person, query.size), query.replace)

    @property
    def coming(self) -> Change:
        """The same for somebody who comes or leaves."""
        return Change(self.cells, False)

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
def squared_move(rows: Any, variances: Sequence[Fraction], change: Change, column: Fraction) -> Fraction:
    """At least the sum of (what a row gains)^2 / variance for every change; `column` is that of one cell."""
    return change.times**2 * column


@singledispatch
def taxi_move(rows: Any, scales: Sequence[Fraction], change: Change, column: Fraction) -> Fraction:
    """At least the sum of |what a row gains| / scale for every change; `column` is that of one cell."""
    return change.times * column


@squared_move.register
def _(rows: BlockRows, variances: Sequence[Fraction], change: Change, column: Fraction) -> Fraction:
    """Level by level; neighbouring cells from the first on have the most at every level at once."""
    widths = [rows.branching**level for level in rows.levels]
    most = [change.squares(width, rows.size) for width in widths]
    return sum((one / v for one, v in zip(most, variances, strict=True)), Fraction(0))


@taxi_move.register
def _(rows: BlockRows, scales: Sequence[Fraction], change: Change, column: Fraction) -> Fraction:
    """A cell is in one block of each level; the block of all cells keeps what one loses and another gains."""
    whole = [rows.branching**level >= rows.size for level in rows.levels]
    return sum((change.sizes(everything=w) / b for w, b in zip(whole, scales, strict=True)), Fraction(0))


@squared_move.register
def _(rows: ContrastRows, variances: Sequence[Fraction], change: Change, column: Fraction) -> Fraction:
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


@taxi_move.register
def _(rows: ContrastRows, scales: Sequence[Fraction], change: Change, column: Fraction) -> Fraction:
    """Differences add up; the total keeps what one cell loses and another gains."""
    differences = (rows.branching - 1) * sum((1 / b for b in scales[:-1]), Fraction(0))
    return change.times * differences + change.sizes(everything=True) / scales[-1]


@squared_move.register
def _(rows: ResidualRows, variances: Sequence[Fraction], change: Change, column: Fraction) -> Fraction:
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


@taxi_move.register
def _(rows: MarginalRows, scales: Sequence[Fraction], change: Change, column: Fraction) -> Fraction:
    """Each cell is in one cell of each marginal; the total keeps what one loses and another gains."""
    pairs = zip(rows.subsets, scales, strict=True)
    return sum((change.sizes(everything=not axes) / b for axes, b in pairs), Fraction(0))


@taxi_move.register
def _(rows: DenseRows, scales: Sequence[Fraction], change: Change, column: Fraction) -> Fraction:
    """Cells are moved in pairs; what is left over moves by its own column."""
    if not change.replace:
        return change.cells * column
    apart = farthest_columns(rows.matrix, empty=0 in rows.places)
    if apart is None:
        return change.times * column
    pair = Fraction(apart) / scales[0]
    return pair + (change.cells - 1) * max(pair, column)


@squared_move.register
def _(rows: FilterRows, variances: Sequence[Fraction], change: Change, column: Fraction) -> Fraction:
    """With X = C^T C and x(A) the sum over a set A of cells: |C (A - B)|^2 = |C A|^2 + |C B|^2 - 2 sum X_ij.

    Rule: g cells have at most g^2 times the longest column, and at most g^2 pairs have less than the least X_ij.
    [theory#many-questions-about-one-table]
    """
    most = change.cells**2 * column
    return 2 * (most - change.cells**2 * rows.least_product() / variances[0]) if change.replace else most

"""The variance of the sum over one run of neighbouring cells, by what a strategy measured: for lines of any length."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import singledispatch
from typing import Any

import numpy as np

from noisewright.mechanisms.strategy_filters import FilterRows, inverse_of_filter
from noisewright.mechanisms.strategy_rows import BlockRows, ContrastRows, DenseRows
from noisewright.mechanisms.strategy_values import inverse_of, precisions
from noisewright.numerics.balls import Ball, ball, hull
from noisewright.numerics.toeplitz_hankel import pair_sums
from noisewright.problem.errors import InvalidAnswerError
from noisewright.problem.workload import Workload


@singledispatch
def run_of(rows: Any, query: Workload, noise: Sequence[Ball], first: int, last: int) -> Ball:
    """The variance of the sum over the cells from `first` to `last`, both included: a ball."""
    raise InvalidAnswerError("runs of cells are summed along a line; what was measured here are marginals of a table.")


@run_of.register
def _(rows: DenseRows, query: Workload, noise: Sequence[Ball], first: int, last: int) -> Ball:
    near = inverse_of(rows, query)
    places = np.array(rows.places)
    inside, outside = set(places[first : last + 1]), {*places[:first], *places[last + 1 :]}
    if 0 in inside or inside & outside:
        raise InvalidAnswerError("the questions do not tell these cells from others, so their sum is not known.")
    chosen = np.array(sorted(inside)) - 1
    value = Fraction(int(near.squares.astype(object)[np.ix_(chosen, chosen)].sum()))
    low, high = near.ends(value)
    return noise[0] * hull(ball(low), ball(high))


@run_of.register(BlockRows)
@run_of.register(ContrastRows)
def _(rows: BlockRows | ContrastRows, query: Workload, noise: Sequence[Ball], first: int, last: int) -> Ball:
    """Rule: with A_l the averages over blocks of b^l cells, it is the sum of w^T (A_l - A_(l+1)) w over eigenvalues.
    [theory#strategies-in-whole-numbers]

    w^T A_l w is the sum over blocks of the squared number of cells of the run in it, over the size of a block.
    """
    shares = [_squares(first, last, rows.branching**level) for level in range(rows.height + 1)] + [Fraction(0)]
    parts = zip(precisions(rows, noise), shares[:-1], shares[1:], strict=True)
    return sum((ball(here - above) / weight for weight, here, above in parts), ball(0))


def _squares(first: int, last: int, width: int) -> Fraction:
    begin, end = first // width, last // width
    if begin == end:
        return Fraction((last - first + 1) ** 2, width)
    head, tail = (begin + 1) * width - first, last + 1 - end * width
    return Fraction(head**2 + tail**2 + (end - begin - 1) * width**2, width)


@run_of.register
def _(rows: FilterRows, query: Workload, noise: Sequence[Ball], first: int, last: int) -> Ball:
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

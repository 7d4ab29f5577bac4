"""What strategies cost: the variance of every question, from the variance of the rows, enclosed.

`noise` is the variance of each group of rows (for rows with a factor: divided by it), as balls.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import singledispatch
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.mechanisms.strategies.rows import (
    BlockRows,
    ContrastRows,
    DenseRows,
    EndlessRows,
    MarginalRows,
    ResidualRows,
)
from noisewright.numerics.balls import Ball, ball, hull
from noisewright.numerics.integer_matrices import NearInverse, Wholes, near_inverse, product
from noisewright.numerics.remembered import Remembered
from noisewright.numerics.workloads import gram, squares, unit
from noisewright.problem.errors import InvalidAnswerError, InvalidMechanismError, InvalidQueryError
from noisewright.problem.workload import Listed, Part, Regular, Workload

LARGEST_DENSE = 2048
"""How many cells a table has at most whose questions are looked at one by one."""
_LAST_PLACES = Fraction(1, 2**40)
_INVERSES: Remembered[NearInverse] = Remembered()

Values = tuple[Part, NDArray[np.float64], Fraction]
"""Of one part of a workload the variance of every question, and how far each may be off, relatively."""


@singledispatch
def total_of(rows: Any, query: Workload, noise: Sequence[Ball]) -> Ball:
    """The total variance of all questions, each as often as it counts."""
    raise InvalidMechanismError(f"what {type(rows).__name__} cost is not known.")


@singledispatch
def each_of(rows: Any, query: Workload, noise: Sequence[Ball]) -> Iterator[Values]:
    """The variance of every question, part by part."""
    raise InvalidMechanismError(f"what {type(rows).__name__} cost is not known.")


def check_dense(query: Workload) -> None:
    """Refuse a table too large to look at all pairs of its cells."""
    if query.size > LARGEST_DENSE:
        raise InvalidQueryError(
            f"the table has {query.size} cells; at most {LARGEST_DENSE} can be looked at pair by pair. Ask for ranges,"
            " prefixes or marginals alone, or for fewer cells.",
            size=query.size,
            largest=LARGEST_DENSE,
        )


def inverse_of(rows: DenseRows, query: Workload) -> NearInverse:
    """A proven inverse of C^T C, after a look at whether the places fit the questions."""

    def made() -> NearInverse:
        check_dense(query)
        whole = gram(query)[0]
        first = representatives(rows)
        for i, place in enumerate(rows.places):
            k = i if place == 0 else first[place - 1]
            apart = int(whole[i, i]) if place == 0 else int(whole[i, i] + whole[k, k] - 2 * whole[i, k])
            if apart:
                raise InvalidMechanismError("cells of one column must be asked about alike, those of none not at all.")
        matrix = rows.whole()
        return near_inverse(product(np.ascontiguousarray(matrix.T), matrix))

    return _INVERSES.latest(rows, query.digest, made)


def representatives(rows: DenseRows) -> list[int]:
    """The first cell of each column."""
    found: dict[int, int] = {}
    for i, place in enumerate(rows.places):
        found.setdefault(place, i)
    return [found[place] for place in range(1, rows.matrix.columns + 1)]


@total_of.register
def _total_of_dense(rows: DenseRows, query: Workload, noise: Sequence[Ball]) -> Ball:
    near = inverse_of(rows, query)
    whole, below = gram(query)
    first = representatives(rows)
    small = whole[np.ix_(first, first)].astype(object)
    value = Fraction(int((small * near.squares.astype(object)).sum()), below)
    return noise[0] * _between(*near.ends(value))


@each_of.register
def _each_of_dense(rows: DenseRows, query: Workload, noise: Sequence[Ball]) -> Iterator[Values]:
    near = inverse_of(rows, query)
    first = representatives(rows)
    matrix: Wholes = np.zeros((rows.size, rows.size), dtype=object)
    matrix[np.ix_(first, first)] = near.squares.astype(object)
    spread = float(noise[0].mid())
    miss = near.miss / (1 - near.miss) + _LAST_PLACES
    for part, values in squares(query, matrix):
        scale = unit(part)
        below = 4**near.bits * scale.denominator
        yield part, np.array([int(v) / below for v in values]) * spread, miss


@total_of.register(BlockRows)
@total_of.register(ContrastRows)
def _total_of_blocks(rows: BlockRows | ContrastRows, query: Workload, noise: Sequence[Ball]) -> Ball:
    weights, traces = precisions(rows, noise), level_traces(query, rows.branching, rows.height)
    traces = [*traces, Fraction(0)]
    return sum(
        (ball(here - above) / weight for weight, here, above in zip(weights, traces[:-1], traces[1:], strict=True)),
        ball(0),
    )


@each_of.register(BlockRows)
@each_of.register(ContrastRows)
def _each_of_blocks(rows: BlockRows | ContrastRows, query: Workload, noise: Sequence[Ball]) -> Iterator[Values]:
    check_dense(query)
    n, b = query.size, rows.branching
    exact = any(isinstance(f, Listed) for part in query.parts for f in part.factors)
    totals = [np.zeros(part.questions) for part in query.parts]
    before: list[Any] = []
    weights = [float(w.mid()) for w in precisions(rows, noise)]
    for level in range(rows.height + 1):
        block = np.arange(n) // b**level
        same = np.equal.outer(block, block).astype(object if exact else np.int64)
        here = [values for _, values in squares(query, same)]
        for i, now in enumerate(before):
            # What one level adds to the next is not negative, and a whole number over a power of b.
            totals[i] += (b * now - here[i]).astype(np.float64) / (float(b) ** level * weights[level - 1])
        before = here
    for i, now in enumerate(before):
        totals[i] += now.astype(np.float64) / (float(b) ** rows.height * weights[-1])
        yield query.parts[i], totals[i] * float(unit(query.parts[i])), _LAST_PLACES


def precisions(rows: BlockRows | ContrastRows, noise: Sequence[Ball]) -> list[Ball]:
    """The eigenvalue of C^T V^-1 C at each level, from single cells to the total.

    Rule: with A_l the averages over blocks of b^l cells, C^T V^-1 C is a sum of these times A_l - A_(l+1).
    [theory#strategies-in-whole-numbers]
    """
    b = rows.branching
    if isinstance(rows, ContrastRows):
        return [ball(b**level) / variance for level, variance in enumerate(noise)]
    found, sofar = [], ball(0)
    known = dict(zip(rows.levels, noise, strict=True))
    for level in range(rows.height + 1):
        if level in known:
            sofar = sofar + ball(b**level) / known[level]
        found.append(sofar)
    return found


def level_traces(query: Workload, branching: int, height: int) -> list[Fraction]:
    """tr(G A_l) for every level l, A_l the averages over blocks of branching^l cells: exact."""
    line = [(p.weight, p.factors[0]) for p in query.parts if len(p.factors) == 1]
    regular = [(weight, factor) for weight, factor in line if isinstance(factor, Regular)]
    if len(regular) == len(query.parts):
        widths = [branching**level for level in range(height + 1)]
        return [sum((w * _block_total(f, width) for w, f in regular), Fraction(0)) / width for width in widths]
    check_dense(query)
    whole, below = gram(query)
    found = []
    for level in range(height + 1):
        starts = np.arange(0, query.size, branching**level)
        sums = np.add.reduceat(np.add.reduceat(whole.astype(object), starts, axis=0), starts, axis=1)
        found.append(Fraction(int(np.trace(sums)), below * branching**level))
    return found


def _block_total(factor: Regular, width: int) -> int:
    """The sum over blocks B and questions w of (the sum of w over B)^2, exactly.

    Rule: for a block of k cells from a on this is a polynomial of degree at most 2 in a, so that three values give
    the sum over all full blocks; the last block may be shorter. [theory#strategies-in-whole-numbers]
    """
    n = factor.size
    full, rest = divmod(n, width)
    first, second, third = (_one_block(factor, i * width, width) for i in range(3))
    rise, bend = second - first, third - 2 * second + first
    total = full * first + math.comb(full, 2) * rise + math.comb(full, 3) * bend
    return total + (_one_block(factor, full * width, rest) if rest else 0)


def _one_block(factor: Regular, start: int, k: int) -> int:
    n = factor.size
    if factor.form == "identity":
        return k
    if factor.form == "total":
        return k * k
    cells = k * (k - 1) // 2
    highest = (k - 1) * k * (2 * k - 1) // 3 + cells  # the sum of max(i, j) over all pairs
    if factor.form == "prefixes":
        return (n - start) * k * k - highest
    lowest = 2 * k * cells - highest  # since max + min is i + j
    low, high = start + 1, n - start
    return low * high * k * k - low * highest + high * lowest - cells**2


@total_of.register
def _total_of_endless(rows: EndlessRows, query: Workload, noise: Sequence[Ball]) -> Ball:
    """A prefix sum adds up one block for each binary digit 1 of its length; digits are counted over all lengths."""
    n, total = query.size, ball(0)
    for level, variance in enumerate(noise):
        period, half = 2 ** (level + 1), 2**level
        ones = (n + 1) // period * half + max(0, (n + 1) % period - half)
        total = total + ball(ones) * variance
    return total * ball(query.parts[0].weight)


@each_of.register
def _each_of_endless(rows: EndlessRows, query: Workload, noise: Sequence[Ball]) -> Iterator[Values]:
    check_dense(query)
    lengths = np.arange(1, query.size + 1)
    digits = [((lengths >> level) & 1) * float(variance.mid()) for level, variance in enumerate(noise)]
    yield query.parts[0], np.asarray(sum(digits), dtype=np.float64), _LAST_PLACES


@total_of.register(ResidualRows)
@total_of.register(MarginalRows)
def _total_of_marginals(rows: ResidualRows | MarginalRows, query: Workload, noise: Sequence[Ball]) -> Ball:
    found = _by_marginal(rows, query, noise)
    return sum((ball(p.weight * p.questions) * v for p, v in zip(query.parts, found, strict=True)), ball(0))


@each_of.register(ResidualRows)
@each_of.register(MarginalRows)
def _each_of_marginals(rows: ResidualRows | MarginalRows, query: Workload, noise: Sequence[Ball]) -> Iterator[Values]:
    for part, value in zip(query.parts, _by_marginal(rows, query, noise), strict=True):
        slack = Fraction(float(value.rad())) / Fraction(float(value.mid())) + _LAST_PLACES
        yield part, np.full(part.questions, float(value.mid())), slack


def chosen(part: Part, sizes: Sequence[int]) -> tuple[int, ...]:
    """The attributes of a marginal that have more than one value."""
    axes = enumerate(part.factors)
    return tuple(i for i, f in axes if isinstance(f, Regular) and f.form == "identity" and sizes[i] > 1)


def smaller(axes: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """All subsets, the empty one first."""
    for count in range(len(axes) + 1):
        yield from combinations(axes, count)


def _by_marginal(rows: ResidualRows | MarginalRows, query: Workload, noise: Sequence[Ball]) -> list[Ball]:
    """The variance of a cell of each marginal.

    Rule: the residual on A, of variance s per unit row, adds s p_A / prod n_j^2 over the attributes j that are in
    the marginal and not in A, where p_A = prod (n_i - 1) / n_i over A. [XiaoEtAl23]
    """
    known = dict(zip(rows.subsets, noise, strict=True))
    sizes, found = rows.sizes, []
    for part in query.parts:
        axes = chosen(part, sizes)
        if isinstance(rows, MarginalRows):
            found.append(known[axes])
            continue
        value = ball(0)
        for inner in smaller(axes):
            share = math.prod((Fraction(sizes[i] - 1, sizes[i]) for i in inner), start=Fraction(1))
            outer = math.prod(sizes[j] ** 2 for j in axes if j not in inner)
            value = value + known[inner] * ball(share / outer)
        found.append(value)
    return found


def _between(low: Fraction, high: Fraction) -> Ball:
    return hull(ball(low), ball(high))


@singledispatch
def run_of(rows: Any, query: Workload, noise: Sequence[Ball], first: int, last: int) -> Ball:
    """The variance of the sum over the cells from `first` to `last`, both included: a ball."""
    raise InvalidAnswerError("runs of cells are summed along a line; what was measured here are marginals of a table.")


@run_of.register
def _run_of_dense(rows: DenseRows, query: Workload, noise: Sequence[Ball], first: int, last: int) -> Ball:
    near = inverse_of(rows, query)
    places = np.array(rows.places)
    inside, outside = set(places[first : last + 1]), {*places[:first], *places[last + 1 :]}
    if 0 in inside or inside & outside:
        raise InvalidAnswerError("the questions do not tell these cells from others, so their sum is not known.")
    columns = np.array(sorted(inside)) - 1
    value = Fraction(int(near.squares.astype(object)[np.ix_(columns, columns)].sum()))
    low, high = near.ends(value)
    return noise[0] * hull(ball(low), ball(high))


@run_of.register(BlockRows)
@run_of.register(ContrastRows)
def _run_of_blocks(
    rows: BlockRows | ContrastRows, query: Workload, noise: Sequence[Ball], first: int, last: int
) -> Ball:
    """Rule: with A_l the averages over blocks of b^l cells, it is the sum of w^T (A_l - A_(l+1)) w over eigenvalues.
    [theory#strategies-in-whole-numbers]

    w^T A_l w is the sum over blocks of the squared number of cells of the run in it, over the size of a block.
    """
    shares = [_run_squares(first, last, rows.branching**level) for level in range(rows.height + 1)] + [Fraction(0)]
    parts = zip(precisions(rows, noise), shares[:-1], shares[1:], strict=True)
    return sum((ball(here - above) / weight for weight, here, above in parts), ball(0))


def _run_squares(first: int, last: int, width: int) -> Fraction:
    begin, end = first // width, last // width
    if begin == end:
        return Fraction((last - first + 1) ** 2, width)
    head, tail = (begin + 1) * width - first, last + 1 - end * width
    return Fraction(head**2 + tail**2 + (end - begin - 1) * width**2, width)

"""Gaussian noise for linear questions: from a frame in floats to integer columns and the smallest certified noise."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np

from noisewright.mechanisms.column_gaussian import ColumnGaussian
from noisewright.mechanisms.linear import MOST_TOGETHER
from noisewright.numerics.arrays import Floats
from noisewright.numerics.balls import ball, precision, upper
from noisewright.problem.linear import Linear
from noisewright.problem.metrics import Hamming
from noisewright.problem.privacy import ApproxDP
from noisewright.problem.utility import Utility
from noisewright.proof.linear import squared_reach
from noisewright.search.families.linear import integer_row
from noisewright.search.families.vector_approximate import largest_length
from noisewright.search.programmes.linear import Solved, best_ellipse, best_rates
from noisewright.search.programmes.pairs import PairTable

_FINE = 12
"""A cell is about 2^-12 of the noise."""
_COLUMN_BITS = 48
_COARSEST, _FINEST = 1, 1 << 14
_ALIKE = 1e-6
_ROOM = 1 + Fraction(1, 2**40)


def independent_gaussian(
    query: Linear, privacy: ApproxDP, table: PairTable, utility: Utility
) -> tuple[ColumnGaussian, float]:
    """Independent noise with the best deviation for each query, and the duality gap of its programme.

    Rule: with inverse variances p the noise is private if the sum of p_k difference_k^2 is at most a constant for every
    pair; the error is a sum of p_k^(-power/2), which is convex.
    """
    weights = np.array([float(w) for w in utility.shares(query.dimension)])

    def programme(rows: Floats) -> Solved:
        found = best_rates(rows**2, weights, float(utility.power or 2) / 2)
        return replace(found, point=np.diag(found.point))

    found = table.solve(programme, euclidean=True)
    assert found is not None
    roots = np.sqrt(np.diag(found.point))
    if np.ptp(roots) <= _ALIKE * roots.max() and (exact := _on_own_steps(query, privacy)) is not None:
        return exact, found.gap
    return _in_frame(query, privacy, np.diag(roots)), found.gap


def correlated_gaussian(
    query: Linear, privacy: ApproxDP, table: PairTable, utility: Utility
) -> tuple[ColumnGaussian, float] | None:
    """The best covariance for the total squared error (in blocks beyond 20 queries), and its duality gap.

    None where differences do not span all queries.
    """
    count = query.dimension
    if count == 1:
        return None
    weights = np.array([float(w) for w in utility.shares(count)])
    blocks = [list(range(k, min(k + MOST_TOGETHER, count))) for k in range(0, count, MOST_TOGETHER)]
    frame, rows, gaps = np.zeros((count, count)), query.rationals(), []
    for block in blocks:
        part = table if len(blocks) == 1 else PairTable(Linear([rows[k] for k in block]), Hamming(query.size, 1))
        found = part.solve(partial(best_ellipse, weights=weights[block]), euclidean=True)
        if found is None:
            return None
        # Squared lengths of blocks add up: with share p of them a block has its error multiplied by 1/p.
        frame[np.ix_(block, block)] = np.linalg.cholesky(found.point).T * found.value**0.25
        gaps.append(found.gap)
    return _in_frame(query, privacy, frame), max(gaps)


def _on_own_steps(query: Linear, privacy: ApproxDP) -> ColumnGaussian | None:
    """The same noise for every query, on the steps that the query has itself; None where those do not suit."""
    flat = [v for row in query.rationals() for v in row]
    values, step = integer_row(flat, max(map(abs, flat)))
    if any(v != n * step for v, n in zip(flat, values, strict=True)):
        return None
    columns = tuple(values[k : k + query.size] for k in range(0, len(values), query.size))
    decode = tuple(tuple(step * int(i == k) for i in range(query.dimension)) for k in range(query.dimension))
    found = _calibrated(ColumnGaussian(query, columns, 1, Fraction(_FINEST), decode), privacy)
    return found if _COARSEST <= found.std <= _FINEST else None


def _in_frame(query: Linear, privacy: ApproxDP, frame: Floats) -> ColumnGaussian:
    """Round noise in a frame, on cells far finer than it."""
    matrix = np.array([[v / query.denominators[k] for v in query.numerators[k]] for k in range(query.dimension)])
    seen = frame @ matrix
    step = 2.0 ** (math.ceil(math.log2(np.abs(seen).max())) - _COLUMN_BITS)
    columns = tuple(tuple(int(v) for v in row) for row in np.rint(seen / step))
    apart = max(float(np.linalg.norm(seen - seen[:, :1], axis=0).max()), step)
    wide = apart / float(largest_length(privacy.epsilon, privacy.delta)) / step
    cell = 2 ** max(1, math.floor(math.log2(max(wide, 2.0))) - _FINE)
    decode = tuple(tuple(Fraction(float(v)) for v in row) for row in np.linalg.inv(frame) * step * cell)
    return _calibrated(ColumnGaussian(query, columns, cell, Fraction(_FINEST), decode), privacy)


def _calibrated(made: ColumnGaussian, privacy: ApproxDP) -> ColumnGaussian:
    """With as little noise as its longest difference allows, by the verifier's own rule; at least one cell of it."""
    with precision():
        length = upper(ball(squared_reach(made)).sqrt())
    std = length * _ROOM / largest_length(privacy.epsilon, privacy.delta)
    shown = Fraction(math.ceil(std * 2**40), 2**40)
    return ColumnGaussian(made.query, made.columns, made.cell, max(shown, Fraction(1)), made.decode)

"""Strategies for workloads: the best rows of each family, and as much noise as the verifier's own rules ask for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from noisewright.mechanisms.strategies.filters import FilterRows
from noisewright.mechanisms.strategies.rows import BlockRows, ContrastRows, DenseRows, MarginalRows
from noisewright.mechanisms.strategies.strategy import GaussianStrategy, LaplaceStrategy
from noisewright.mechanisms.strategies.values import chosen, level_traces
from noisewright.numerics.arrays import Floats
from noisewright.numerics.whole_matrices import Wholes
from noisewright.numerics.workloads import gram
from noisewright.problem.errors import UncertifiedError
from noisewright.problem.workload import Workload
from noisewright.proof.strategy import squared_reach, taxi_reach
from noisewright.proof.vector_gaussian import gaussian_delta
from noisewright.search.programmes.strategy import best_blocks

_DIGITS = 40
_ROW_BITS = 24
_FINE = 2**24
_FAINT = 1e-9
_HAIR = Fraction(1, 2**60)
_RUNS, _WEIGHT_BITS = 32, 13
_BRANCHINGS = (2, 3, 4, 6, 8, 12, 16, 24, 32, 64)


def gaussian_strategy(query: Workload, privacy: Any, rows: Any, shares: Sequence[float]) -> GaussianStrategy:
    """Gaussian noise in the proportions of `shares` (variances), as little as the requirement allows: a checked end."""
    levels, most = [_inverse(share) for share in shares], squared_budget(privacy)
    # The reach of noise at these levels tells by how much all of them are multiplied.
    trial = GaussianStrategy(query, rows, levels, _fineness(min(levels), Fraction(1, 4)))
    factor = squared_reach(trial) / most
    while True:
        scaled = [level * factor for level in levels]
        found = GaussianStrategy(query, rows, scaled, _fineness(min(scaled), Fraction(_FINE)))
        # Where the reach holds a root, its last place depends on the scale.
        if (over := squared_reach(found) / most) <= 1:
            return found
        factor *= over * (1 + _HAIR)


def laplace_strategy(query: Workload, privacy: Any, rows: Any, shares: Sequence[float]) -> LaplaceStrategy:
    """Laplace noise in the proportions of `shares` (scales), as little as the requirement allows."""
    levels = [_inverse(share) for share in shares]
    factor = taxi_reach(LaplaceStrategy(query, rows, levels)) / privacy.epsilon
    return LaplaceStrategy(query, rows, [level * factor for level in levels])


def squared_budget(privacy: Any) -> Fraction:
    """The largest mu^2 of Gaussian noise that meets a requirement, or a hair less: an end that was checked."""
    rho: Fraction | None = privacy.gaussian_rho
    if rho is not None:
        return 2 * rho
    if not privacy.approximate:
        raise UncertifiedError(f"Gaussian noise does not meet {privacy}.")
    low, high = 1.0, 2.0
    while gaussian_delta(privacy.epsilon, Fraction(low)) > privacy.delta:
        low, high = low / 2, low
    while gaussian_delta(privacy.epsilon, Fraction(high)) <= privacy.delta:
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        if gaussian_delta(privacy.epsilon, Fraction(middle)) <= privacy.delta:
            low = middle
        else:
            high = middle
    return Fraction(low)


def _inverse(value: float) -> Fraction:
    """A rational near a positive float whose inverse is a short binary fraction, so that costs add up to short ones."""
    exponent = math.frexp(1 / value)[1] - _DIGITS
    return 1 / (round(math.ldexp(1 / value, -exponent)) * Fraction(2) ** exponent)


def _fineness(smallest: Fraction, wanted: Fraction) -> int:
    """A power of 2 whose square lifts the smallest variance to what is wanted."""
    fineness = 1
    while smallest * fineness**2 < wanted:
        fineness *= 2
    return fineness


def identity_rows(query: Workload) -> BlockRows:
    """Each cell by itself."""
    return BlockRows(query.size, 2, [0])


def gaussian_levels(query: Workload, branching: int) -> tuple[ContrastRows, list[float], float]:
    """Differences at every level with the best variances, and their total error where mu = 1.

    Rule: minimise the sum of e v over the levels where the sum of c / v is 1: v is in proportion to sqrt(c / e).
    [theory#sharing-a-budget]
    """
    rows = ContrastRows(query.size, branching)
    errors = _level_errors(query, rows)
    costs = np.array([1 - 1 / branching] * rows.height + [1.0])
    return rows, list(np.sqrt(costs / errors)), float(np.sqrt(costs * errors).sum() ** 2)


def best_contrasts(query: Workload) -> tuple[ContrastRows, list[float]]:
    """The branching of the least error."""
    found = [gaussian_levels(query, b) for b in _branchings(query)]
    rows, levels, _ = min(found, key=lambda one: one[2])
    return rows, levels


def haar_laplace(query: Workload) -> tuple[ContrastRows, list[float]]:
    """Haar's differences with the best scales: minimise the sum of e b^2 where the sum of 1 / b is 1."""
    rows = ContrastRows(query.size, 2)
    errors = _level_errors(query, rows)
    errors[-1] *= 2
    return rows, list(errors ** (-1 / 3))


def best_tree(query: Workload) -> tuple[BlockRows, list[float]]:
    """Sums over blocks with the best branching and scales."""
    found = []
    for b in _branchings(query):
        height = ContrastRows(query.size, b).height
        traces = [float(t) for t in level_traces(query, b, height)]
        value, shares = best_blocks(b, np.array(traces))
        kept = [level for level, share in enumerate(shares) if share > 1e-4 or level == 0]
        found.append((value, BlockRows(query.size, b, kept), [1 / shares[level] for level in kept]))
    _, rows, scales = min(found, key=lambda one: one[0])
    return rows, scales


def _branchings(query: Workload) -> list[int]:
    return [b for b in _BRANCHINGS if b == 2 or b <= query.size]


def _level_errors(query: Workload, rows: ContrastRows) -> Floats:
    """What a unit of variance costs at every level; nothing is left out entirely."""
    traces = [float(t) for t in level_traces(query, rows.branching, rows.height)]
    errors = np.array([a - b for a, b in zip(traces, [*traces[1:], 0.0], strict=True)])
    errors /= float(rows.branching) ** np.arange(rows.height + 1)
    return np.asarray(np.maximum(errors, _FAINT * errors.max()))


def filter_rows(size: int, form: str) -> FilterRows:
    """A filter for ranges or prefix sums whose columns are nearly of one length.

    Runs of cells with one weight grow with the distance from the nearer end, since lengths grow with its logarithm.
    """
    starts, place = [], 0
    while place < (size + 1) // 2:
        starts.append(place)
        place += max(1, place // _RUNS)
    starts = sorted({*starts, *(size - place for place in starts if place)})
    lengths = np.array([float(v) for v in FilterRows(form, size, starts, [1] * len(starts)).squared_lengths()])
    weights = np.floor(np.ldexp(np.sqrt(lengths.min() / lengths), _WEIGHT_BITS))
    return FilterRows(form, size, starts, [int(w) for w in weights])


def marginal_scales(query: Workload, sizes: Sequence[int]) -> tuple[MarginalRows, list[float]]:
    """Each marginal by itself with the best scales: minimise the sum of e b^2 where the sum of 1 / b is 1."""
    errors: dict[tuple[int, ...], float] = {}
    for part in query.parts:
        axes = chosen(part, sizes)
        errors[axes] = errors.get(axes, 0.0) + float(part.weight) * part.questions
    return MarginalRows(sizes, list(errors)), [e ** (-1 / 3) for e in errors.values()]


def merged(query: Workload) -> tuple[Wholes, int, list[int]]:
    """The Gram matrix of cells that are asked about differently, its denominator, and the column of each cell.

    Cells that nobody asks about have column 0; columns of W are alike exactly if rows of W^T W are.
    """
    whole, below = gram(query)
    places: list[int] = []
    known: dict[Any, int] = {}
    first: list[int] = []
    for i in range(query.size):
        if not whole[i, i]:
            places.append(0)
            continue
        key = tuple(map(int, whole[i])) if whole.dtype == object else whole[i].tobytes()
        if key not in known:
            known[key] = len(known) + 1
            first.append(i)
        places.append(known[key])
    return whole[np.ix_(first, first)], below, places


def dense_rows(strategy: Floats, places: Sequence[int]) -> DenseRows:
    """Whole rows C with C^T C near a multiple of a positive definite matrix, row i on the cells up to i: in time."""
    jitter = 0.0
    while True:
        try:
            turned = strategy[::-1, ::-1] + jitter * np.eye(len(strategy))
            rows = np.linalg.cholesky(turned).T[::-1, ::-1]
            break
        except np.linalg.LinAlgError:
            jitter = max(1e-12, 10 * jitter)
    return DenseRows(whole_rows(rows / np.sqrt(np.diag(strategy).max())), places)


def whole_rows(matrix: Floats) -> list[list[int]]:
    """Rows in whole numbers, without those that are empty."""
    rows = np.rint(np.ldexp(matrix, _ROW_BITS)).astype(np.int64)
    return [row.tolist() for row in rows if row.any()]

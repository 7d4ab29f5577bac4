"""Strategies for workloads: the best rows of each family, with as much noise as the verifier's own rules ask for.

The best Gaussian strategy is solved once and kept; what is read back is proven again. For marginals the best variances
of residuals have a closed form, which no strategy can beat. For attributes of n_i values and marginals B, each cell
counted w_B times, with A running over all subsets of the B: p_A = prod (n_i - 1) / n_i over A, and v_A = p_A times the
sum over B that hold A of w_B prod n_i over A / prod n_j over the rest of B. The total error is the sum of v_A s_A, the
cost the sum of p_A / s_A, so that the best s_A is in proportion to sqrt(p_A / v_A) and the optimum, at cost 1, is
(sum sqrt(v_A p_A))^2. No other strategy does better: the optimum may be taken symmetric under renaming the values of
each attribute (Xiao, He, Zhang and Kifer).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from noisewright.mechanisms.strategies.filters import FilterRows
from noisewright.mechanisms.strategies.rows import BlockRows, ContrastRows, DenseRows, MarginalRows, ResidualRows
from noisewright.mechanisms.strategies.strategy import GaussianStrategy, LaplaceStrategy
from noisewright.mechanisms.strategies.values import chosen, level_traces, smaller
from noisewright.numerics.balls import ball, lower, precision
from noisewright.numerics.fields import Floats
from noisewright.numerics.integer_matrices import Wholes, bits_of, narrow
from noisewright.numerics.remembered import Remembered
from noisewright.numerics.workloads import gram, squares, unit, weighted_gram
from noisewright.problem.errors import UncertifiedError
from noisewright.problem.matrices import WholeMatrix
from noisewright.problem.records import digest
from noisewright.problem.workload import Workload
from noisewright.proof.strategies import strategy_l1_sensitivity, strategy_squared_sensitivity
from noisewright.proof.vector_gaussian import gaussian_delta
from noisewright.search.bounds.line import Witness, least_total, least_worst
from noisewright.search.cache import DAMAGED, read_kept, user_cache
from noisewright.search.programmes.strategy import (
    Solved,
    best_blocks,
    best_extra_rows,
    best_total,
    best_worst,
    extra_seconds,
    extra_total,
)

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
    factor = strategy_squared_sensitivity(trial) / most
    while True:
        scaled = [level * factor for level in levels]
        found = GaussianStrategy(query, rows, scaled, _fineness(min(scaled), Fraction(_FINE)))
        # Where the reach holds a root, its last place depends on the scale.
        if (over := strategy_squared_sensitivity(found) / most) <= 1:
            return found
        factor *= over * (1 + _HAIR)


def laplace_strategy(query: Workload, privacy: Any, rows: Any, shares: Sequence[float]) -> LaplaceStrategy:
    """Laplace noise in the proportions of `shares` (scales), as little as the requirement allows."""
    levels = [_inverse(share) for share in shares]
    factor = strategy_l1_sensitivity(LaplaceStrategy(query, rows, levels)) / privacy.epsilon
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


# The best Gaussian strategy of a workload.


_WITNESS_BITS, _LARGE_WITNESS_BITS = 44, 39
_CELL_BITS = 40
_LARGEST_KEPT = 512
_EXTRA_UNIT, _SLACK = 2**16, 1e-9
LARGEST_EXTRA = 1024
_SHORT = 10
"""How many cells a table has at most for which rows are searched one by one under pure privacy."""
_SHIPPED = Path(__file__).with_name("solved_rows.json.gz")
_BITS = 128
_ROUNDS = 2000
_ENOUGH = 1e-9
_GRAIN = 2**40
Axes = tuple[int, ...]
Residuals = tuple[ResidualRows, list[float], Fraction]
_FOUND: Remembered[Residuals] = Remembered()


@dataclass(frozen=True, slots=True)
class Optimum:
    """Whole rows, and a proven lower bound of the error of every Gaussian strategy where mu = 1."""

    rows: DenseRows
    bound: Fraction


def optimum_of(query: Workload, *, worst: bool) -> Optimum:
    """The strategy of the least total, or least largest, variance; for questions about at most 2,048 cells."""
    name = digest({"workload strategy": query.digest, "worst": worst, "version": 1})
    cache = user_cache()
    found: Optimum | None = cache.get(name, lambda content: _restored(query, content, worst))
    if found is None:
        gram, below, places = merged(query)
        solved = _solved(query, gram, below, places, worst=worst)
        rows = dense_rows(solved.strategy, places)
        kept = len(gram) <= _LARGEST_KEPT
        bits = _WITNESS_BITS if kept else _LARGE_WITNESS_BITS
        witness = Witness(whole(solved.cells, _CELL_BITS), whole(solved.left, bits), whole(solved.right, bits))
        parts = whole(solved.questions, _CELL_BITS) if solved.questions is not None else None
        found = Optimum(rows, _proven(query, gram, below, places, witness, parts))
        cache.put(name, found, (lambda: _content(rows, witness, parts)) if kept else None)
    return found


def _solved(query: Workload, gram: Wholes, below: int, places: list[int], *, worst: bool) -> Solved:
    if not worst:
        return best_total(gram.astype(np.float64) / below)
    first = [places.index(k) for k in range(1, len(gram) + 1)]
    scales = [float(part.weight * unit(part)) for part in query.parts]
    ends = np.cumsum([part.questions for part in query.parts])[:-1]

    def variances(matrix: Floats) -> Floats:
        full = np.zeros((query.size, query.size))
        full[np.ix_(first, first)] = matrix
        return np.concatenate([v * s for (_, v), s in zip(squares(query, full), scales, strict=True)])

    def weighted(parts: Floats) -> Floats:
        split = [p * s for p, s in zip(np.split(parts, ends), scales, strict=True)]
        return weighted_gram(query, split)[np.ix_(first, first)]

    return best_worst(variances, weighted, query.dimension)


def _proven(
    query: Workload, gram: Wholes, below: int, places: list[int], witness: Witness, parts: Wholes | None
) -> Fraction:
    """The lower bound that the witness proves, in whole numbers throughout."""
    if parts is None:
        return least_total(gram, below, witness)
    first = [places.index(k) for k in range(1, len(gram) + 1)]
    scales = [part.weight * unit(part) for part in query.parts]
    common = math.lcm(*(scale.denominator for scale in scales))
    ends = np.cumsum([part.questions for part in query.parts])[:-1]
    split = np.split(parts.astype(object), ends)
    weighted = [p * int(scale * common) for p, scale in zip(split, scales, strict=True)]
    summed = narrow(weighted_gram(query, weighted)[np.ix_(first, first)])
    return least_worst(summed, common, witness, Fraction(sum(map(int, parts))))


def whole(values: Floats, bits: int) -> Wholes:
    """Floats as whole numbers in a common unit, the largest with about so many bits."""
    exponent = bits - int(np.floor(np.log2(np.abs(values).max())))
    return np.rint(np.ldexp(values, exponent)).astype(np.int64)


def _content(rows: DenseRows, witness: Witness, parts: Wholes | None) -> dict[str, Any]:
    matrices = {"left": witness.left, "right": witness.right}
    return {
        "rows": rows.to_dict(),
        "cells": witness.cells.tolist(),
        **{name: WholeMatrix.of(m.tolist()).texts() for name, m in matrices.items()},
        **({} if parts is None else {"questions": parts.tolist()}),
    }


def _restored(query: Workload, content: Any, worst: bool) -> Optimum | None:
    """What a file says, if it is about these cells; its bound is proven again."""
    rows = DenseRows.from_dict(content["rows"])
    gram, below, places = merged(query)
    if list(rows.places) != places or worst is not ("questions" in content):
        return None
    left, right = (_read(content[name]) for name in ("left", "right"))
    witness = Witness(_vector(content["cells"]), left, right)
    parts = _vector(content["questions"]) if worst else None
    if len(witness.cells) != len(gram) or left.shape != right.shape or len(left) != len(gram):
        return None
    if parts is not None and (len(parts) != query.dimension or min(map(int, parts)) < 0 or not parts.any()):
        return None
    return Optimum(rows, _proven(query, gram, below, places, witness, parts))


def _read(texts: Any) -> Wholes:
    return narrow(np.array([list(row) for row in WholeMatrix.from_texts(texts)], dtype=object))


def _vector(values: Any) -> Wholes:
    found = np.array([int(v) for v in values], dtype=object)
    return narrow(found) if bits_of(found) else found


def extra_rows(query: Workload) -> DenseRows:
    """Each cell, and extra rows found by descent, with columns of equal taxi length.

    Solved once and kept; some come solved with the package. What is read back is measured again, and searched anew
    if it is worse than it says.
    """
    gram, places = _float_gram(query)
    found = _known_extra(query, gram)
    if found is None:
        extra = found = best_extra_rows(gram)
        user_cache().put(_extra_name(query), found, lambda: extra_content(extra, gram))
    rows = np.concatenate([np.eye(len(gram)), found])
    return DenseRows(whole_rows(rows / rows.sum(axis=0)), places)


def seconds_for_extra(query: Workload) -> float:
    """About how long `extra_rows` takes: nothing to speak of where they are kept, or there are too many cells."""
    if query.size > LARGEST_EXTRA or (found := extra_seconds(query.size)) < _SHORT:
        return 0.0
    return found if _known_extra(query, _float_gram(query)[0]) is None else 0.0


def _float_gram(query: Workload) -> tuple[Floats, list[int]]:
    whole_gram, below, places = merged(query)
    return whole_gram.astype(np.float64) / below, places


def _extra_name(query: Workload) -> str:
    return digest({"extra rows": query.digest, "version": 1})


def _known_extra(query: Workload, gram: Floats) -> Floats | None:
    """Extra rows that were found before, here or by us."""
    found: Floats | None = user_cache().get(_extra_name(query), lambda content: restored_extra(content, gram))
    return _shipped_extra(query, gram) if found is None else found


def _shipped_extra(query: Workload, gram: Floats) -> Floats | None:
    try:
        return restored_extra(read_kept(_SHIPPED)[query.digest], gram)
    except DAMAGED:
        return None


def extra_content(extra: Floats, gram: Floats) -> dict[str, Any]:
    """Extra rows as whole numbers, each from its first cell that counts to its last, and the total error."""
    runs, whole_extra = [], np.rint(extra * _EXTRA_UNIT).astype(np.int64)
    for row in whole_extra:
        places = np.flatnonzero(row)
        if len(places):
            runs.append([int(places[0]), row[places[0] : places[-1] + 1].tolist()])
    return {"runs": runs, "total": extra_total(whole_extra / _EXTRA_UNIT, gram)}


def restored_extra(content: Any, gram: Floats) -> Floats | None:
    """What a file says, if it fits these cells and is as good as it says."""
    found = np.zeros((len(content["runs"]), len(gram)))
    for row, (start, values) in zip(found, content["runs"], strict=True):
        row[start : start + len(values)] = [int(v) / _EXTRA_UNIT for v in values]
    sound = len(found) > 0 and bool((found >= 0).all()) and bool(np.isfinite(found).all())
    return found if sound and extra_total(found, gram) <= content["total"] * (1 + _SLACK) else None


def marginal_weights(query: Workload, sizes: Sequence[int]) -> dict[Axes, Fraction]:
    """How often each cell of each marginal counts, marginals on the same attributes taken together."""
    found: dict[Axes, Fraction] = {}
    for part in query.parts:
        axes = chosen(part, sizes)
        found[axes] = found.get(axes, Fraction(0)) + part.weight
    return found


def residual_terms(sizes: Sequence[int], weights: Mapping[Axes, Fraction]) -> dict[Axes, tuple[Fraction, Fraction]]:
    """(v_A, p_A) for every set of attributes that a marginal needs; v_A is the error of a unit of variance."""
    sums: dict[Axes, Fraction] = {}
    for axes, weight in weights.items():
        for inner in smaller(axes):
            rest = math.prod(sizes[j] for j in axes if j not in inner)
            sums[inner] = sums.get(inner, Fraction(0)) + weight / rest
    found = {}
    for inner, value in sums.items():
        share = math.prod((Fraction(sizes[i] - 1, sizes[i]) for i in inner), start=Fraction(1))
        found[inner] = (share * value * math.prod(sizes[i] for i in inner), share)
    return found


def least_residual(terms: Mapping[Axes, tuple[Fraction, Fraction]]) -> Fraction:
    """A rational at or below (sum sqrt(v p))^2, hardly below."""
    with precision(_BITS):
        return lower(sum((ball(v * p).sqrt() for v, p in terms.values()), ball(0)) ** 2)


def best_residuals(query: Workload, sizes: Sequence[int]) -> Residuals:
    """The residuals with the variances of the least total error, and a proven lower bound of the total at cost 1."""
    return _FOUND.latest(query, "total", lambda: _best(query, sizes))


def _best(query: Workload, sizes: Sequence[int]) -> Residuals:
    terms = residual_terms(sizes, marginal_weights(query, sizes))
    rows = ResidualRows(sizes, list(terms))
    return rows, [_proportion(v, p) for v, p in terms.values()], least_residual(terms)


def worst_residuals(query: Workload, sizes: Sequence[int]) -> Residuals:
    """The same for the largest variance of a cell, each as often as it counts.

    Rule: for weights q of the marginals that sum to 1 the mean of their variances is at most the largest; so the
    closed form with cells counted q times bounds it from below, and the best q is iterated.
    [XiaoEtAl23, theory#many-questions-about-one-table]
    """
    return _FOUND.latest(query, "worst", lambda: _worst(query, sizes))


def _worst(query: Workload, sizes: Sequence[int]) -> Residuals:
    counted: dict[Axes, Fraction] = {}
    for part in query.parts:
        axes = chosen(part, sizes)
        counted[axes] = max(counted.get(axes, Fraction(0)), part.weight)
    names = list(counted)
    each = np.array([float(counted[axes]) for axes in names])
    inside = [[(inner, _share(sizes, axes, inner)) for inner in smaller(axes)] for axes in names]
    parts = np.full(len(names), 1.0 / len(names))
    best: tuple[float, list[float], Floats] = (math.inf, [], parts)
    bound = 0.0
    for _ in range(_ROUNDS):
        values, total = _levels(sizes, names, parts * each)
        variances = each * [sum(values[inner] * share for inner, share in pairs) for pairs in inside]
        top = float(variances.max())
        if top < best[0]:
            best = (top, list(values.values()), best[2])
        if total > bound:
            bound, best = total, (best[0], best[1], parts)
        if best[0] <= bound * (1 + _ENOUGH):
            break
        parts = parts * (variances / total) ** 1.5
        parts /= parts.sum()
    whole = [Fraction(max(1, round(float(p) * _GRAIN))) for p in best[2]]
    weights = {axes: q * counted[axes] / sum(whole) for axes, q in zip(names, whole, strict=True)}
    exact = {axes: w / math.prod(sizes[i] for i in axes) for axes, w in weights.items()}
    terms = residual_terms(sizes, exact)
    return ResidualRows(sizes, list(terms)), best[1], least_residual(terms)


def _share(sizes: Sequence[int], axes: Axes, inner: Axes) -> float:
    """What a unit of variance of a residual adds to a cell of a marginal."""
    share = math.prod((sizes[i] - 1) / sizes[i] for i in inner)
    return share / math.prod(float(sizes[j]) ** 2 for j in axes if j not in inner)


def _levels(sizes: Sequence[int], names: list[Axes], parts: Floats) -> tuple[dict[Axes, float], float]:
    """The best variances at cost 1 for weights of marginals, and the weighted mean of variances."""
    errors: dict[Axes, float] = {}
    for axes, weight in zip(names, parts, strict=True):
        for inner in smaller(axes):
            errors[inner] = errors.get(inner, 0.0) + weight * _share(sizes, axes, inner)
    shares = {inner: math.prod((sizes[i] - 1) / sizes[i] for i in inner) for inner in errors}
    total = sum(math.sqrt(errors[inner] * shares[inner]) for inner in errors)
    return {inner: math.sqrt(shares[inner] / errors[inner]) * total for inner in errors}, total**2


def _proportion(error: Fraction, cost: Fraction) -> float:
    return math.sqrt(float(cost / error))

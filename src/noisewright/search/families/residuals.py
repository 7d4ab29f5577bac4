"""Marginals under Gaussian noise: the best variances of residuals in closed form, and what no strategy can beat.

For attributes of n_i values and marginals B, each cell counted w_B times, with A running over all subsets of the B:
p_A = prod (n_i - 1) / n_i over A, and v_A = p_A times the sum over B that hold A of w_B prod n_i over A / prod n_j over
the rest of B. The total error is the sum of v_A s_A, the cost the sum of p_A / s_A, so that the best s_A is in
proportion to sqrt(p_A / v_A) and the optimum, at cost 1, is (sum sqrt(v_A p_A))^2. No other strategy does better: the
optimum may be taken symmetric under renaming the values of each attribute (Xiao, He, Zhang and Kifer).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np

from noisewright.mechanisms.strategy_rows import ResidualRows
from noisewright.mechanisms.strategy_values import chosen, smaller
from noisewright.numerics.arrays import Floats
from noisewright.numerics.balls import ball, lower, precision
from noisewright.numerics.remembered import Remembered
from noisewright.problem.workload import Workload

_BITS = 128
_ROUNDS = 2000
_ENOUGH = 1e-9
_GRAIN = 2**40

Axes = tuple[int, ...]
Residuals = tuple[ResidualRows, list[float], Fraction]
_FOUND: Remembered[Residuals] = Remembered()


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

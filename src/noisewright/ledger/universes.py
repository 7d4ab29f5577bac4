"""Metrics over one universe: which share of a budget's distances a release takes."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from noisewright.numerics.distances import lower_squared, root_below, upper_distance
from noisewright.numerics.finite_components import infinitely_apart
from noisewright.problem.errors import InvalidInputError
from noisewright.problem.metrics import Hamming, Scaled, Sum

_MOST_ELEMENTS = 300


def largest_share(metric: Any, budget: Any) -> Fraction | None:
    """A rational at or above the largest metric(i, j) / budget(i, j); None where nothing may be told apart.

    Rule: shares of the same metric are read off its form; others are compared pair by pair, the distance of the
    release from above and that of the budget from below. Where the budget's distance is 0 the release's must be;
    where it is infinite nothing is spent, and where only the release's is, no share covers it. [theory#metric-privacy]
    """
    if metric.size != budget.size:
        raise InvalidInputError(
            f"the release is about {metric.size} elements and the ledger about {budget.size}; one universe per ledger.",
            given=metric.size,
        )
    if metric == budget:
        return Fraction(1)
    if isinstance(metric, Scaled):
        inner = largest_share(metric.metric, budget)
        return None if inner is None else metric.factor * inner
    if isinstance(metric, Sum):
        parts = [largest_share(part, budget) for part in metric.parts]
        return None if any(part is None for part in parts) else sum((p for p in parts if p is not None), Fraction(0))
    if isinstance(budget, Scaled):
        outer = largest_share(metric, budget.metric)
        return None if outer is None else outer / budget.factor
    if isinstance(metric, Hamming) and isinstance(budget, Hamming):
        return metric.epsilon / budget.epsilon
    return _pair_by_pair(metric, budget)


def _pair_by_pair(metric: Any, budget: Any) -> Fraction | None:
    if metric.size > _MOST_ELEMENTS:
        raise InvalidInputError(
            f"the release's metric is no share of the ledger's, and {metric.size} elements are too many to compare pair"
            " by pair; certify it for a share of the ledger's metric (budget.share(...)).",
            given=metric.size,
        )
    worst = Fraction(0)
    for i in range(metric.size):
        for j in range(i):
            if infinitely_apart(budget, i, j):
                continue
            if infinitely_apart(metric, i, j):
                return None
            spent = upper_distance(metric, i, j)
            allowed = root_below(lower_squared(budget, i, j))
            if spent and not allowed:
                return None
            if spent:
                worst = max(worst, spent / allowed)
    return worst

"""Linear questions under metric privacy."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from noisewright.mechanisms.linear import MOST_TOGETHER, LinearElliptical, LinearLaplace
from noisewright.mechanisms.linear_values import USUAL_PEOPLE, LinearUtility, enclosed, squared_balls
from noisewright.numerics.balls import lower, precision, upper
from noisewright.numerics.distances import check_metric
from noisewright.problem.errors import InvalidQueryError, InvalidUtilityError
from noisewright.problem.linear import Linear
from noisewright.problem.metric_privacy import MetricPrivacy
from noisewright.problem.utilities import AbsoluteError, SquaredError
from noisewright.problem.vector_utilities import (
    LargestError,
    TotalAbsoluteError,
    TotalSquaredError,
    check_counts,
    weights_of,
)
from noisewright.sample.certified import Certified
from noisewright.search.bounds.linear import two_point_bound
from noisewright.search.families.linear import elliptical_mechanism, laplace_mechanism
from noisewright.search.families.linear_single import best_single
from noisewright.search.families.strategies import equal_noise, equal_shares, parameter_selection
from noisewright.search.programmes.block_descent import LARGEST_UNIVERSE, block_descent
from noisewright.search.programmes.linear import Floats, Solved, best_ellipse, best_rates
from noisewright.search.programmes.pairs import PairTable, measured_by_ellipse, measured_by_rates
from noisewright.search.report.linear_report import LinearReport
from noisewright.search.report.progress import Advance
from noisewright.search.report.ranking import outward, ranked, relative_gap
from noisewright.search.report.report import Candidate

SIMPLER_LINEAR = ("metric Laplace", "elliptical", "equal noise", "equal shares", "parameter selection", "block descent")


def design_linear_metric(query: Linear, privacy: MetricPrivacy, utility: Any, step: Advance) -> LinearReport:
    """The convex optimum of independent noise, elliptical noise, and the d_X paper's strategies beside them."""
    wanted = linear_utility(utility)
    check_counts(wanted, query.dimension)
    check_sizes(query, privacy)
    step("checking the metric")
    check_metric(privacy.metric)
    table = PairTable(query, privacy.metric)
    weights = np.array([float(w) for w in weights_of(wanted, query.dimension)])
    step("solving the convex programmes")
    certified: dict[str, Certified] = {}
    gaps: dict[str, float] = {}
    notes: list[str] = [note] if (note := getattr(privacy.metric, "note", "")) else []
    certified["metric Laplace"], gaps["metric Laplace"] = best_laplace(query, privacy, table, weights, wanted)
    if query.dimension > 1:
        if found := best_elliptical(query, privacy, table, weights):
            certified["elliptical"], gaps["elliptical"] = found
        else:
            notes.append("Elliptical noise is not offered: the differences between elements do not span all queries.")
    step("comparing with the paper's strategies")
    if table.complete and query.dimension > 1:
        for name, strategy in STRATEGIES.items():
            certified[name] = laplace_mechanism(query, privacy, list(strategy(np.abs(table.rows))))
        if query.people is not None and query.size <= LARGEST_UNIVERSE and isinstance(wanted, TotalSquaredError):
            certified["block descent"] = descended(query, privacy, table, weights)
    step("measuring")
    bound = two_point_bound(query, privacy.metric, wanted, table)
    candidates, errors = [], {}
    for name, item in certified.items():
        candidates.append(_measured(name, item, wanted, bound))
        errors[name] = tuple(v**0.5 for v in squared_errors(item.mechanism))
    order = ranked(candidates, wanted, SIMPLER_LINEAR)
    ends = [f"{name} within {gap:.1e} of the best of its kind" for name, gap in gaps.items()]
    notes.insert(0, "Convex programmes (relative duality gap): " + "; ".join(ends) + ".")
    if bound is not None:
        notes.append(
            "The best possible value is proven for every mechanism, but crude: it looks at two histograms only."
        )
    each = tuple(errors[c.name] for c in order)
    return LinearReport(
        query,
        privacy,
        wanted,
        order,
        None if bound is None else outward(bound, larger=False),
        notes=tuple(notes),
        errors=each,
        gaps=gaps,
    )


STRATEGIES: dict[str, Callable[[Floats], Floats]] = {
    "equal shares": equal_shares,
    "equal noise": equal_noise,
    "parameter selection": parameter_selection,
}
"""The d_X paper's Strategies 1 to 3, by name."""


def linear_utility(utility: Any) -> LinearUtility:
    """Utilities for one number mean the total over all queries."""
    if isinstance(utility, TotalSquaredError | TotalAbsoluteError | LargestError):
        return utility
    if isinstance(utility, SquaredError):
        return TotalSquaredError()
    if isinstance(utility, AbsoluteError):
        return TotalAbsoluteError()
    raise InvalidUtilityError(
        f"utility is {utility!r}; for linear questions give TotalSquaredError(weights), TotalAbsoluteError(weights) or"
        " LargestError().",
        utility=utility,
    )


def check_sizes(query: Linear, privacy: MetricPrivacy) -> None:
    """Refuse a query whose width is not the size of the universe."""
    if query.size != privacy.metric.size:
        raise InvalidQueryError(
            f"the query has {query.size} columns for a universe of {privacy.metric.size} elements; give one column for"
            " each element.",
            width=query.size,
            size=privacy.metric.size,
        )


def best_laplace(
    query: Linear, privacy: MetricPrivacy, table: PairTable, weights: Floats, utility: LinearUtility
) -> tuple[Certified, float]:
    """Independent noise by the exact convex programme, with its duality gap."""
    if query.dimension == 1:
        if query.people is not None and isinstance(utility, TotalSquaredError):
            traded = best_single(table, query.people, query.rationals()[0])
            return laplace_mechanism(query, privacy, [1 / traded.scale], [traded.columns]), traded.gap
        return laplace_mechanism(query, privacy, [1.0]), 0.0
    power = 1 if isinstance(utility, TotalAbsoluteError) else 2
    found: Solved = table.solve(
        lambda rows: best_rates(np.abs(rows), weights, power), lambda s: measured_by_rates(s, table.matrix)
    )
    return laplace_mechanism(query, privacy, list(found.point)), found.gap


def best_elliptical(
    query: Linear, privacy: MetricPrivacy, table: PairTable, weights: Floats
) -> tuple[Certified, float] | None:
    """Elliptical noise by the semidefinite programme (in blocks beyond 20 queries), with its duality gap."""
    blocks = [list(range(k, min(k + MOST_TOGETHER, query.dimension))) for k in range(0, query.dimension, MOST_TOGETHER)]
    solved = []
    for block in blocks:
        rows = query.rationals()
        part = table if len(blocks) == 1 else PairTable(Linear([rows[k] for k in block]), privacy.metric)
        found = part.solve(
            lambda pairs, block=block: best_ellipse(pairs, weights[block]),  # type: ignore[misc]
            lambda s, part=part: measured_by_ellipse(s, part.matrix),  # type: ignore[misc]
        )
        if found is None:
            return None
        solved.append(found)
    # A block with share s of the budget has its error multiplied by s^-2: shares go with the cube roots.
    costs = np.cbrt([s.value * (len(b) + 1) for s, b in zip(solved, blocks, strict=True)])
    parts = [Fraction(int(v * 2**20), 2**20) for v in costs / costs.sum()] if len(blocks) > 1 else [Fraction(1)]
    ellipses = [(b, s.point * float(p) ** 2, p) for b, s, p in zip(blocks, solved, parts, strict=True)]
    return elliptical_mechanism(query, privacy, ellipses), max(s.gap for s in solved)


def descended(query: Linear, privacy: MetricPrivacy, table: PairTable, weights: Floats) -> Certified:
    """The paper's block descent for biased answers, started at the unbiased optimum."""
    start = best_rates(np.abs(table.rows), weights)
    distances = table.view.rows(0, query.size)
    columns, scales, _ = block_descent(table.matrix, distances, start.point, query.people or USUAL_PEOPLE)
    wanted = [[Fraction(float(v)) for v in row] for row in columns]
    return laplace_mechanism(query, privacy, [1 / float(c) for c in scales], wanted)


def squared_errors(mechanism: LinearLaplace | LinearElliptical) -> list[float]:
    """Mean squared error of each query: the noise, and the bias of rounded columns for the people there are."""
    with precision():
        return [float(v.mid()) for v in squared_balls(mechanism)]


def _measured(name: str, certified: Certified, utility: LinearUtility, bound: Fraction | None) -> Candidate:
    """The gap is taken from the worse end of the value's ball, so that it is an upper bound."""
    around, value = enclosed(certified.mechanism, utility)
    with precision():
        low, high = lower(around), upper(around)
    gap = relative_gap(high, bound, larger=False)
    return Candidate(name, certified, value, gap, 0.0, float(max(high - Fraction(value), Fraction(value) - low)))

"""Linear questions: under metric privacy, and under ordinary privacy, where one person is replaced."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from noisewright.mechanisms.linear.errors import USUAL_PEOPLE
from noisewright.mechanisms.linear.noise import MOST_TOGETHER
from noisewright.numerics.distances import check_metric
from noisewright.numerics.fields import Floats
from noisewright.numerics.remembered import Remembered
from noisewright.problem.errors import InvalidQueryError
from noisewright.problem.linear import Linear
from noisewright.problem.metrics import Hamming, Matrix
from noisewright.problem.privacy import ApproxDP, MetricPrivacy, PureDP
from noisewright.problem.utilities import AbsoluteError, ErrorQuantile, LargestError, SquaredError, Utility
from noisewright.sample.certified import Certified
from noisewright.search.bounds.vector import metric_bound
from noisewright.search.designer import Designer, Proposal
from noisewright.search.families.linear import (
    correlated_gaussian,
    elliptical_mechanism,
    independent_gaussian,
    laplace_mechanism,
)
from noisewright.search.programmes.linear import (
    LARGEST_UNIVERSE,
    PairTable,
    Solved,
    best_ellipse,
    best_rates,
    best_single,
    block_descent,
)
from noisewright.search.report.progress import Advance
from noisewright.search.report.report import Report

_TABLES: Remembered[PairTable] = Remembered()
_CORRELATED = "correlated Gaussian"
_JOINT = (2, 4, 8)
_MOST_READ = 2_000_000
_PROVEN = "The best possible value is proven for every mechanism that serves any number of people."
_CRUDE = (
    "The best possible value is proven for every mechanism, but crude where the number of people is given: it looks at"
    " two histograms only."
)
REPLACED = (
    "Neighbours differ in one person, who is replaced: the number of people stays. Linear.with_absent asks the same"
    " of people who come and go."
)


def propose(query: Linear, privacy: MetricPrivacy, utility: Utility, step: Advance) -> Iterator[Proposal]:
    """The convex optimum of independent noise, elliptical noise, and biased answers for few people."""
    step("checking the metric")
    check_metric(privacy.metric)
    table = _table(query, privacy)
    weights = np.array([float(w) for w in utility.shares(query.dimension)])[table.moving]
    step("solving the convex programmes")
    if not table.moving:
        yield Proposal("no noise", laplace_mechanism(query, privacy, table.spread([])).mechanism)
        return
    found, gap = best_laplace(query, privacy, table, weights, utility)
    yield _solved("metric Laplace", found, 0, gap)
    if apart := by_attribute(query, privacy, utility):
        yield Proposal("by attribute", apart.mechanism, 1, given=apart)
    if len(table.moving) == 1:
        return
    if round_noise := best_elliptical(query, privacy, table, weights):
        yield _solved("elliptical", round_noise[0], 1, round_noise[1])
    few = query.people is not None and query.size <= LARGEST_UNIVERSE and table.view.components is None
    if few and utility.power == 2:
        made = descended(query, privacy, table, weights)
        yield Proposal("block descent", made.mechanism, 2, given=made)


def propose_pure(query: Linear, privacy: Any, utility: Utility, step: Advance) -> Iterator[Proposal]:
    """What metric privacy with one distance for every pair proposes."""
    for p in propose(query, replaced(query, privacy), utility, step):
        yield replace(p, given=None)


def propose_approximate(query: Linear, privacy: ApproxDP, utility: Utility, step: Advance) -> Iterator[Proposal]:
    """The purely private ones, with delta = 0, and Gaussian noise."""
    yield from propose_pure(query, privacy, utility, step)
    table = _table(query, MetricPrivacy(Hamming(query.size, 1)))
    found, gap = independent_gaussian(query, privacy, table, utility)
    yield Proposal("Gaussian", found, 0, remark=_remark("Gaussian", gap))
    if correlated := correlated_gaussian(query, privacy, table, utility):
        yield Proposal(_CORRELATED, correlated[0], 1, remark=_remark(_CORRELATED, correlated[1]))


def replaced(query: Linear, privacy: Any) -> MetricPrivacy:
    """Ordinary privacy as a metric: whoever is replaced by whomever, the same epsilon."""
    return MetricPrivacy(Hamming(query.size, privacy.epsilon))


def bound_pure(query: Linear, privacy: PureDP, utility: Utility) -> Fraction | None:
    """That of the metric with one distance for every pair."""
    return bound(query, replaced(query, privacy), utility)


def _solved(name: str, found: Certified, simplicity: int, gap: float) -> Proposal:
    return Proposal(name, found.mechanism, simplicity, remark=_remark(name, gap), given=found)


def _remark(name: str, gap: float) -> str:
    return f"{name} within {gap:.1e} of the best of its kind"


def _table(query: Linear, privacy: MetricPrivacy) -> PairTable:
    """The pairs of elements, made once for a question."""
    return _TABLES.latest(query, privacy.metric, lambda: PairTable(query, privacy.metric))


def bound(query: Linear, privacy: MetricPrivacy, utility: Utility) -> Fraction | None:
    """What histograms that are hard to tell apart rule out."""
    return metric_bound(query, privacy.metric, utility, _table(query, privacy))


def notes(report: Report) -> Iterator[str]:
    """How the convex programmes ended, what the metric says, and what is missing."""
    ends = [c.remark for c in sorted(report.candidates, key=lambda c: c.name, reverse=True) if c.remark]
    if ends:
        yield f"Convex programmes (relative duality gap): {'; '.join(ends)}."
    metric = getattr(report.privacy, "metric", None)
    if metric is None:
        yield REPLACED
    elif note := getattr(metric, "note", ""):
        yield note
    if report.query.dimension > 1 and all(c.name not in ("elliptical", "no noise") for c in report.candidates):
        yield "Elliptical noise is not offered: the differences between elements do not span all queries."
    if report.bound is not None:
        yield _PROVEN if report.query.people is None or report.utility.confidence is not None else _CRUDE


def check(query: Linear, privacy: MetricPrivacy, utility: Utility) -> None:
    """Refuse a query whose width is not the size of the universe."""
    if query.size != privacy.metric.size:
        raise InvalidQueryError(
            f"the query has {query.size} columns for a universe of {privacy.metric.size} elements; give one column for"
            " each element.",
            width=query.size,
            size=privacy.metric.size,
        )


def best_laplace(
    query: Linear, privacy: MetricPrivacy, table: PairTable, weights: Floats, utility: Utility
) -> tuple[Certified, float]:
    """Independent noise by the exact convex programme, with its duality gap."""
    if query.dimension == 1 and query.people is not None and utility.power in (1, 2):
        traded = best_single(table, query.people, query.rationals()[0], int(utility.power))
        return laplace_mechanism(query, privacy, [1 / traded.scale], [traded.columns]), traded.gap
    if len(table.moving) == 1:
        return laplace_mechanism(query, privacy, table.spread([1.0])), 0.0
    # What concerns the worst of all answers is sought among sums of high powers.
    powers = _JOINT if utility.joint else (int(utility.power or 2),)
    made = []
    for power in powers:
        found = table.solve(partial(_rates, weights=weights, power=power), euclidean=False)
        made.append((laplace_mechanism(query, privacy, table.spread(list(found.point))), found.gap))
    return min(made, key=lambda pair: float(pair[0].mechanism.expected(utility).mid()))


def _rates(rows: Floats, *, weights: Floats, power: int) -> Solved:
    return best_rates(np.abs(rows), weights, power)


def best_elliptical(
    query: Linear, privacy: MetricPrivacy, table: PairTable, weights: Floats
) -> tuple[Certified, float] | None:
    """Elliptical noise by the semidefinite programme (in blocks beyond 20 queries), with its duality gap."""
    starts = range(0, len(table.moving), MOST_TOGETHER)
    blocks = [table.moving[k : k + MOST_TOGETHER] for k in starts]
    solved, rows = [], query.rationals()
    for start, block in zip(starts, blocks, strict=True):
        part = table if len(blocks) == 1 else PairTable(Linear([rows[k] for k in block]), privacy.metric)
        found = part.solve(partial(best_ellipse, weights=weights[start : start + len(block)]), euclidean=True)
        if found is None:
            return None
        solved.append(found)
    # A block with share s of the budget has its error multiplied by s^-2: shares go with the cube roots.
    costs = np.cbrt([s.value * (len(b) + 1) for s, b in zip(solved, blocks, strict=True)])
    parts = [Fraction(int(v * 2**20), 2**20) for v in costs / costs.sum()] if len(blocks) > 1 else [Fraction(1)]
    ellipses = [(b, s.point * float(p) ** 2, p) for b, s, p in zip(blocks, solved, parts, strict=True)]
    return elliptical_mechanism(query, privacy, ellipses), max(s.gap for s in solved)


def by_attribute(query: Linear, privacy: MetricPrivacy, utility: Utility) -> Certified | None:
    """Budgets of attributes spent by the queries that read them, attribute by attribute; None where that is not so.

    Rule: the second route of the d_X paper's Appendix C, on the universe instead of the queries. Where distances are
    sums over attributes and every query reads one attribute, costs that fit each attribute's own distances fit their
    sum. On a universe of all combinations of values the converse holds, too, so nothing is lost, and a programme over
    the pairs of elements falls apart into programmes over the pairs of values. A query that has an attribute to itself
    may trade a bias for noise there (Eq. 14). [KamalarubanEtAl20, theory#metric-privacy]
    """
    codes: Any = getattr(privacy.metric, "codes", ())
    readers = _readers(query, codes) if codes and query.dimension * query.size <= _MOST_READ else None
    if readers is None:
        return None
    rates, wanted = [math.inf] * query.dimension, list(query.rationals())
    shares = utility.shares(query.dimension)
    for attribute, reading in readers.items():
        known = sorted({code[attribute] for code in codes})
        table = privacy.metric.tables[attribute]
        values = [[wanted[k][_first(codes, attribute, v)] for v in known] for k in reading]
        part = PairTable(Linear(values), Matrix([[table[a][b] for b in known] for a in known]))
        if not part.moving:
            continue
        alone, power = len(reading) == 1, int(utility.power or 2)
        if alone and query.people is not None and utility.power in (1, 2):
            traded = best_single(part, query.people, values[0], power)
            place = dict(zip(known, traded.columns, strict=True))
            wanted[reading[0]], rates[reading[0]] = [place[code[attribute]] for code in codes], 1 / traded.scale
            continue
        weights = np.array([float(shares[reading[k]]) for k in part.moving])
        found = best_rates(np.abs(part.opening()[0]), weights, power)
        for k, rate in zip(part.moving, found.point, strict=True):
            rates[reading[k]] = float(rate)
    return laplace_mechanism(query, privacy, rates, wanted)


def _first(codes: Sequence[Sequence[int]], attribute: int, value: int) -> int:
    return next(i for i, code in enumerate(codes) if code[attribute] == value)


def _readers(query: Linear, codes: Sequence[Sequence[int]]) -> dict[int, list[int]] | None:
    """The queries that read each attribute; None if some query reads several or if all read the same one."""
    found: dict[int, list[int]] = {}
    for k, row in enumerate(query.numerators):
        fits = (
            a
            for a in range(len(codes[0]))
            if len({(code[a], v) for code, v in zip(codes, row, strict=True)}) == len({code[a] for code in codes})
        )
        attribute = next(fits, None)
        if attribute is None:
            return None
        found.setdefault(attribute, []).append(k)
    return found


def descended(query: Linear, privacy: MetricPrivacy, table: PairTable, weights: Floats) -> Certified:
    """The paper's block descent for biased answers, started at the unbiased optimum."""
    start = best_rates(np.abs(table.rows), weights)
    distances = table.view.rows(0, query.size)
    columns, scales, _ = block_descent(table.matrix, distances, start.point, query.people or USUAL_PEOPLE)
    wanted = [[Fraction(float(v)) for v in row] for row in columns]
    return laplace_mechanism(query, privacy, [1 / float(c) for c in scales], wanted)


_UTILITIES = (SquaredError, AbsoluteError, LargestError, ErrorQuantile)
LINEAR_METRIC = Designer(_UTILITIES, propose, bound, check, notes=notes)
LINEAR_PURE = Designer(_UTILITIES, propose_pure, bound_pure, notes=notes)
LINEAR_APPROXIMATE = Designer(_UTILITIES, propose_approximate, notes=notes)

"""Metric privacy of linear mechanisms: every pair of the universe is cleared or decided exactly."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from noisewright.mechanisms.linear.noise import LinearElliptical, LinearLaplace
from noisewright.mechanisms.linear.synthetic import MOST_CANDIDATES, MetricExponential, MetricMWEM, MetricSmallDB
from noisewright.mechanisms.selection import MetricChoice
from noisewright.numerics.distances import float_view
from noisewright.numerics.finite_components import finite_components
from noisewright.numerics.pairs import Cost, longer, violation
from noisewright.problem.errors import UncertifiedError
from noisewright.problem.metrics import Hamming, Scaled
from noisewright.problem.privacy import MetricPrivacy
from noisewright.proof.provers import proves

Proven = tuple[Fraction, str]
_BLOCK_ENTRIES = 1 << 21


@proves(MetricPrivacy, LinearLaplace)
def metric_laplace(mechanism: LinearLaplace, requirement: MetricPrivacy) -> Proven:
    """Sum over k of |W_ki - W_kj| step_k / scale_k <= d(i, j) for every pair.

    Rule: if one person's element changes from i to j, the integer sums move by the difference of two
    columns; the mass of discrete Laplace noise falls by at most e^(rate |shift|), and masses multiply. An answer
    without noise must not move at all. Between elements at an infinite distance nothing is guaranteed.
    [theory#metric-privacy]
    """
    noisy = [k for k, scale in enumerate(mechanism.scales) if scale]
    costs = [Cost.l1([mechanism.columns[k] for k in noisy], tuple(mechanism.rates[k] for k in noisy))] if noisy else []
    _check(mechanism, requirement.metric, costs)
    _check_still(requirement.metric, [row for k, row in enumerate(mechanism.columns) if k not in noisy])
    return Fraction(1), "metric/laplace-every-pair"


@proves(MetricPrivacy, LinearElliptical)
def metric_elliptical(mechanism: LinearElliptical, requirement: MetricPrivacy) -> Proven:
    """rate |W_i - W_j| <= share d(i, j) for every block and pair, the shares adding up to at most one.

    Rule: |w + s| <= |w| + |s| in Euclidean length, so the mass e^(-rate |w|) falls by at most
    e^(rate |s|); the way back to answers is post-processing and blocks compose. A block without a share of the budget
    has no noise: its columns must not differ within a finite distance. [HardtTalwar10, theory#metric-privacy]
    """
    _check(mechanism, requirement.metric, [])
    for block in mechanism.blocks:
        if not block.share:
            _check_still(requirement.metric, block.columns)
            continue
        metric = requirement.metric if block.share == 1 else Scaled(requirement.metric, block.share)
        _check(mechanism, metric, [Cost.l2(block.columns, block.rate)])
    return Fraction(1), "metric/elliptical-every-pair"


@proves(MetricPrivacy, MetricExponential)
def metric_exponential(mechanism: MetricExponential, requirement: MetricPrivacy) -> Proven:
    """|W_ri - W_rj| step / scale <= d(i, j) for every choice r and pair.

    Rule: each weight e^(score / (2 scale)) and the sum of all weights change by at most e^(d/2).
    [McSherryTalwar07, theory#metric-privacy]
    """
    _check(mechanism, requirement.metric, Cost.largest(mechanism.columns, mechanism.rate))
    return Fraction(1), "metric/exponential-every-pair"


@proves(MetricPrivacy, MetricChoice)
def metric_choice(mechanism: MetricChoice, requirement: MetricPrivacy) -> Proven:
    """sensitivity moves(i, j) <= scale d(i, j) for every pair.

    Rule: if one person changes from i to j every score moves by at most sensitivity moves(i, j), as was declared, so
    each weight e^(score / (2 scale)) and the sum of all weights change by at most e^(d/2) (Theorem 3 of the d_X paper).
    [KamalarubanEtAl20, theory#metric-privacy]
    """
    moves, metric = mechanism.moves, requirement.metric
    if moves.size != metric.size:
        raise UncertifiedError(
            f"refused: the metric has {metric.size} elements, the declared moves {moves.size}.",
            metric=metric.size,
            moves=moves.size,
        )
    if (pair := longer(moves, metric, mechanism.query.sensitivity / mechanism.scale)) is not None:
        raise UncertifiedError(
            f"refused: telling elements {pair[0]} and {pair[1]} apart costs more than their distance. Use a larger"
            " scale or a larger budget for this pair.",
            pair=pair,
        )
    return Fraction(1), "metric/choice-every-pair"


@proves(MetricPrivacy, MetricSmallDB)
def metric_smalldb(mechanism: MetricSmallDB, requirement: MetricPrivacy) -> Proven:
    """The largest distance to any answer moves by at most the largest move of an answer; then as the exponential.

    Refuses where the small databases cannot be enumerated: nothing else draws them exactly.
    """
    if mechanism.candidates > MOST_CANDIDATES:
        raise UncertifiedError(
            f"refused: there are {mechanism.candidates} small databases, more than {MOST_CANDIDATES} cannot be drawn"
            " exactly. Use fewer rows or a smaller universe, or nw.lab.smalldb_by_metropolis, which proves nothing.",
            candidates=mechanism.candidates,
        )
    _check(mechanism, requirement.metric, Cost.largest(mechanism.columns, mechanism.rate))
    return Fraction(1), "metric/smalldb-every-pair"


@proves(MetricPrivacy, MetricMWEM)
def metric_mwem(mechanism: MetricMWEM, requirement: MetricPrivacy) -> Proven:
    """|W_ki - W_kj| step / scale <= d(i, j) for every query and pair; each round spends d / rounds.

    Rule: the score |W_k x - s| moves by at most |W_ki - W_kj|, a choice with weights e^(score / (4 rounds scale))
    spends d / (2 rounds), and a measurement with noise of scale 2 rounds scale the same; rounds compose.
    [HardtLigettMcSherry12, theory#metric-privacy]
    """
    _check(mechanism, requirement.metric, Cost.largest(mechanism.columns, mechanism.rate))
    return Fraction(1), "metric/mwem-every-pair"


def farthest(metric: Any) -> Fraction:
    """A rational at or above the largest distance of two elements: what pure privacy under replacement costs.

    Found in floats, each of which is within a known margin of its distance; the same budget for every pair is exact.
    """
    if isinstance(metric, Hamming):
        return metric.epsilon
    if finite_components(metric) is not None:
        raise UncertifiedError(
            "refused: some elements are infinitely far apart, and replacing one by the other has no finite epsilon."
        )
    view, largest, start = float_view(metric), 0.0, 0
    while start < view.size:
        stop = min(view.size, start + max(1, _BLOCK_ENTRIES // (view.size - start)))
        largest, start = max(largest, float(view.rows(start, stop).max())), stop
    if not math.isfinite(largest):
        raise UncertifiedError("refused: some distances of the metric are larger than floats can hold.")
    return (Fraction(largest) + Fraction(view.slack)) * (1 + 2 * Fraction(view.margin))


def _check_still(metric: Any, rows: Iterable[Iterable[int]]) -> None:
    """Refuse a row without noise that differs between two elements at a finite distance, in whole numbers."""
    known = finite_components(metric) or (0,) * metric.size
    for row in rows:
        first: dict[int, tuple[int, int]] = {}
        for i, (component, value) in enumerate(zip(known, row, strict=True)):
            j, expected = first.setdefault(component, (i, value))
            if value != expected:
                raise UncertifiedError(
                    f"refused: elements {j} and {i} are at a finite distance, and an answer without noise tells them"
                    " apart.",
                    elements=(j, i),
                )


def _check(mechanism: Any, metric: Any, costs: Iterable[Cost]) -> None:
    if metric.size != mechanism.query.size:
        raise UncertifiedError(
            f"refused: the metric has {metric.size} elements, the query {mechanism.query.size} columns.",
            metric=metric.size,
            query=mechanism.query.size,
        )
    for cost in costs:
        if (pair := violation(metric, cost)) is not None:
            raise UncertifiedError(
                f"refused: telling elements {pair[0]} and {pair[1]} apart costs more than their distance. Use more"
                " noise or a larger budget for this pair.",
                pair=pair,
            )

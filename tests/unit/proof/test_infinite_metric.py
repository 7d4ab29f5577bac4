"""Where distances are infinite nothing is promised; everywhere else the verifier is as strict as ever."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

import noisewright as nw
from noisewright.ledger.rules import largest_share
from noisewright.mechanisms.linear.noise import Block, LinearElliptical, LinearLaplace
from noisewright.mechanisms.linear.synthetic import MetricExponential
from noisewright.numerics.finite_components import finite_components, infinitely_apart
from noisewright.proof.certify import certify
from noisewright.proof.metric import farthest

W = "infinite"
METRIC = nw.metrics.Matrix([[0, 1, W, W], [1, 0, W, W], [W, W, 0, 2], [W, W, 2, 0]])
PRIVACY = nw.MetricPrivacy(METRIC)


def laplace(rows: Any, scales: Any) -> LinearLaplace:
    return LinearLaplace(nw.Linear(rows), rows, [1] * len(rows), scales)


def test_only_pairs_at_a_finite_distance_bind():
    assert certify(laplace([[0, 1, 500, 502]], [1]), PRIVACY).bound == 1
    with pytest.raises(nw.errors.UncertifiedError, match="elements 0 and 1"):
        certify(laplace([[0, 2, 0, 0]], [1]), PRIVACY)
    with pytest.raises(nw.errors.UncertifiedError, match="elements 2 and 3"):
        certify(laplace([[0, 0, 0, 3]], [1]), PRIVACY)


@pytest.mark.parametrize("place", range(4))
def test_an_answer_without_noise_must_not_move_within_a_component(place):
    row = [4, 4, 9, 9]
    assert certify(laplace([row], [0]), PRIVACY).bound == 1
    row[place] += 1
    with pytest.raises(nw.errors.UncertifiedError, match="without noise"):
        certify(laplace([row], [0]), PRIVACY)
    block = Block([0], [row], 1, [[1]], 0)
    with pytest.raises(nw.errors.UncertifiedError, match="without noise"):
        certify(LinearElliptical(nw.Linear([row]), [block]), PRIVACY)


def test_without_infinities_nothing_is_released_without_noise():
    row = [4, 4, 9, 9]
    for privacy in (nw.MetricPrivacy(nw.metrics.Hamming(4, 5)), nw.PureDP(5)):
        with pytest.raises(nw.errors.UncertifiedError):
            certify(laplace([row], [0]), privacy)


def test_a_mechanism_of_another_size_is_refused_whatever_is_infinite():
    with pytest.raises(nw.errors.UncertifiedError, match="4 elements"):
        certify(laplace([[1, 1, 1, 1, 2]], [0]), PRIVACY)
    block = Block([0], [[1, 1, 1, 1, 2]], 1, [[1]], 0)
    with pytest.raises(nw.errors.UncertifiedError, match="4 elements"):
        certify(LinearElliptical(nw.Linear([[1, 1, 1, 1, 2]]), [block]), PRIVACY)


def test_an_infinite_distance_has_no_epsilon():
    with pytest.raises(nw.errors.UncertifiedError, match="infinitely far apart"):
        farthest(METRIC)


def test_a_budget_covers_infinite_distances_only_where_it_is_infinite():
    line = nw.metrics.Matrix([[0, 1, 2, 3], [1, 0, 1, 2], [2, 1, 0, 3], [3, 2, 3, 0]])
    finer = nw.metrics.Matrix([[0, "1/2", W, W], ["1/2", 0, W, W], [W, W, 0, "1/2"], [W, W, "1/2", 0]])
    assert largest_share(line, METRIC) == Fraction(3, 2)
    assert largest_share(finer, METRIC) == Fraction(1, 2)
    assert largest_share(METRIC, line) is None
    assert largest_share(PRIVACY.share("1/3").metric, METRIC) == Fraction(1, 3)


@pytest.mark.parametrize("seed", range(4))
def test_what_is_designed_keeps_every_finite_pair_and_only_those(seed):
    """Every log-ratio of the designed noise, from the columns by hand; infinite pairs cost more."""
    rng = np.random.default_rng(seed)
    universe = nw.Universe.product(a=["x", "y", "z"], b=["u", "v"], c=[0, 1])
    metric = nw.metrics.PerValue(
        universe, {"a": {"x": "1/2", "y": W, "z": W}, "b": W, "c": {0: 1, 1: W} if seed % 2 else W}
    )
    apart = 90 * (np.array(metric.codes)[:, 1] == 1)
    query = nw.Linear((rng.integers(0, 9, (3, 12)) + apart).tolist())
    report = nw.design(query, privacy=nw.MetricPrivacy(metric), utility=nw.SquaredError())
    assert finite_components(metric) is not None
    for candidate in report.candidates:
        mechanism = candidate.certified.mechanism
        for i, j in product(range(12), repeat=2):
            if infinitely_apart(metric, i, j):
                continue
            distance = sum(
                Fraction(t[a][b]) for t, a, b in zip(metric.tables, metric.codes[i], metric.codes[j], strict=True)
            )
            assert cost(mechanism, i, j) <= float(distance) * (1 + 1e-12)
        assert max(cost(mechanism, i, j) for i, j in product(range(12), repeat=2)) > 4
        assert certify(mechanism, nw.MetricPrivacy(metric)).bound == 1


def cost(mechanism: Any, i: int, j: int) -> float:
    """The largest log-ratio of any outcome if one person changes from i to j."""
    if isinstance(mechanism, LinearLaplace):
        moves = [
            (abs(row[i] - row[j]) * float(step), float(scale))
            for row, step, scale in zip(mechanism.columns, mechanism.steps, mechanism.scales, strict=True)
        ]
        return sum(m / c if c else math.inf for m, c in moves if m)
    total = 0.0
    for block in mechanism.blocks:
        length = math.sqrt(sum((row[i] - row[j]) ** 2 for row in block.columns))
        total += float(block.rate) * length if block.share else (math.inf if length else 0.0)
    return total


def test_questions_that_only_tell_components_apart_get_no_noise_beside_others_that_do():
    query = nw.Linear([[1, 1, 7, 7], [0, 1, 0, 1], [1, 0, 0, 2]])
    report = nw.design(query, privacy=PRIVACY, utility=nw.SquaredError())
    assert {c.name for c in report.candidates} == {"metric Laplace", "elliptical"}
    for candidate in report.candidates:
        assert candidate.parts[0] == 0
        assert min(candidate.parts[1:]) > 0
        released = np.array([candidate.certified.release([5, 4, 3, 2]) for _ in range(30)])
        assert set(released[:, 0]) == {44.0}
        assert len(set(released[:, 1])) > 5
        drawn = candidate.certified.draw(50)
        assert not drawn[:, 0].any()
        assert drawn[:, 1].any()
        widths = candidate.certified.half_width("0.95")
        assert widths[0] == 0 < widths[1]
        assert candidate.certified.half_width("0.95", joint=True) >= max(widths)
    alone = nw.design(nw.Linear([[1, 1, 7, 7]]), privacy=PRIVACY, utility=nw.SquaredError())
    assert alone.candidates[0].name == "no noise"
    assert alone.best.release([5, 4, 3, 2]).tolist() == [44.0]
    assert alone.bound == 0


def test_choosing_and_synthesising_ignore_infinite_pairs_only():
    scores = nw.Linear([[0, 1, 300, 302], [0, 0, 5, 5]])
    chosen = nw.mechanisms.exponential_mechanism(scores, PRIVACY).mechanism
    assert chosen.scale == 1
    with pytest.raises(nw.errors.UncertifiedError):
        certify(MetricExponential(scores, chosen.columns, chosen.step, Fraction(99, 100)), PRIVACY)
    for made in (
        nw.mechanisms.mwem_mechanism(scores, PRIVACY, rounds=2),
        nw.mechanisms.smalldb_mechanism(scores, PRIVACY, rows=2),
    ):
        assert made.mechanism.scale == 1


def test_a_large_universe_with_many_infinite_pairs_is_filtered():
    """Two million pairs, almost all infinite: none of them goes to exact arithmetic."""
    size = 2000
    universe = [(i // 80, i // 2 % 40, i % 2) for i in range(size)]
    metric = nw.metrics.PerAttribute(universe, [W, W, "1/7"])
    rows = [[7 * (i // 2) ** 2 + i % 2 for i in range(size)]]
    assert certify(laplace(rows, [7]), nw.MetricPrivacy(metric)).bound == 1
    rows[0][-1] += 1
    with pytest.raises(nw.errors.UncertifiedError, match="1998 and 1999"):
        certify(laplace(rows, [7]), nw.MetricPrivacy(metric))


def test_what_is_not_promised_is_said():
    still = nw.design(nw.Linear([[1, 1, 7, 7]]), privacy=PRIVACY, utility=nw.SquaredError()).best
    assert "infinitely far apart may be told apart for sure" in " ".join(still.explain().split())
    assert "What is released is the true answer" in " ".join(still.explain().split())
    assert "infinite between 2 components" in still.describe()
    finite = nw.design(
        nw.Linear([[0, 1]]), privacy=nw.MetricPrivacy(nw.metrics.Euclidean([[0], [1]])), utility=nw.SquaredError()
    )
    assert "infinitely" not in finite.best.explain()
    assert "not the true answer" in " ".join(finite.best.explain().split())

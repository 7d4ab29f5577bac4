"""The certificate for metric privacy: every pair, exactly."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from noisewright.mechanisms.linear.noise import Block, LinearElliptical, LinearLaplace
from noisewright.numerics import pairs
from noisewright.numerics.distances import lower_squared
from noisewright.numerics.pairs import Cost, largest_ratio, violation
from noisewright.problem.errors import InvalidMechanismError, UncertifiedError
from noisewright.problem.geometry import Euclidean
from noisewright.problem.linear import Linear
from noisewright.problem.metrics import Hamming, Matrix
from noisewright.problem.privacy import MetricPrivacy
from noisewright.proof import metric as metrics
from noisewright.proof.certify import certify
from noisewright.sample.certified import Certified, make_certified

POINTS = st.lists(st.tuples(st.integers(-50, 50), st.integers(-50, 50)), min_size=2, max_size=9, unique=True)


@given(POINTS, st.integers(1, 3), st.booleans(), st.data())
@settings(max_examples=60, deadline=None)
def test_the_streamed_check_agrees_with_brute_force(points, rows, euclidean, data):
    metric = Euclidean(points, Fraction(1, 3))
    columns = [[data.draw(st.integers(-30, 30)) for _ in points] for _ in range(rows)]
    rates = tuple(Fraction(data.draw(st.integers(1, 9)), 12) for _ in range(rows))
    cost = Cost.l2(columns, rates[0]) if euclidean else Cost.l1(columns, rates)
    wrong = {pair for pair in combinations(range(len(points)), 2) if cost.squared(*pair) > lower_squared(metric, *pair)}
    found = violation(metric, cost)
    assert (found is None) == (not wrong)
    assert found is None or found in wrong


def test_blocks_cover_every_pair(monkeypatch):
    rng = np.random.default_rng(5)
    size = 37
    points = rng.integers(0, 1000, (size, 2)).tolist()
    metric = Euclidean(points)
    calm = np.zeros((1, size), dtype=np.int64)
    monkeypatch.setattr(pairs, "_BLOCK_ENTRIES", 50)
    assert violation(metric, Cost.l1(calm, (Fraction(1),))) is None
    for place in range(size):
        columns = calm.copy()
        columns[0, place] = 2000
        found = violation(metric, Cost.l1(columns, (Fraction(1),)))
        assert found is not None
        assert place in found


@given(POINTS, st.data())
@settings(max_examples=40, deadline=None)
def test_the_largest_ratio_is_just_enough(points, data):
    metric = Euclidean(points)
    columns = [[data.draw(st.integers(-10, 10)) for _ in points]]
    ratio, pair = largest_ratio(metric, Cost.l1(columns, (Fraction(1),)))
    if not ratio:
        return
    assert violation(metric, Cost.l1(columns, (1 / ratio,))) is None
    assert violation(metric, Cost.l1(columns, (1 / ratio * (1 + Fraction(1, 2**45)),))) is not None
    assert ratio**2 >= Cost.l1(columns, (Fraction(1),)).squared(*pair) / lower_squared(metric, *pair)


def test_equality_is_accepted_and_a_hair_more_is_refused():
    query = Linear([[0, 1, 3]])
    privacy = MetricPrivacy(Matrix([[0, "0.1", "0.3"], ["0.1", 0, "0.2"], ["0.3", "0.2", 0]]))
    exact = LinearLaplace(query, ((0, 1, 3),), (Fraction(1),), (Fraction(10),))
    assert certify(exact, privacy).rule == "metric/laplace-every-pair"
    hair = LinearLaplace(query, ((0, 1, 3),), (Fraction(1),), (Fraction(10) * (1 - Fraction(1, 10**25)),))
    with pytest.raises(UncertifiedError, match="elements 0 and 1"):
        certify(hair, privacy)


def test_elliptical_noise_is_checked_in_its_own_length():
    query = Linear([[0, 3], [0, 4]])
    identity = ((Fraction(1), Fraction(0)), (Fraction(0), Fraction(1)))
    block = Block((0, 1), ((0, 3), (0, 4)), Fraction(1, 5), identity, Fraction(1))
    mechanism = LinearElliptical(query, (block,))
    assert certify(mechanism, MetricPrivacy(Hamming(2, 1))).bound == 1
    with pytest.raises(UncertifiedError):
        certify(mechanism, MetricPrivacy(Hamming(2, "0.9999999999999")))
    halves = tuple(
        Block((k,), (block.columns[k],), Fraction(1, 8), ((Fraction(1),),), Fraction(1, 2)) for k in range(2)
    )
    assert certify(LinearElliptical(query, halves), MetricPrivacy(Hamming(2, 1))).bound == 1
    with pytest.raises(InvalidMechanismError, match="shares"):
        LinearElliptical(query, tuple(Block(b.rows, b.columns, b.rate, b.decode, Fraction(2, 3)) for b in halves))


def test_blocks_after_one_without_noise_are_checked_too():
    """The first question moves for nobody and has no noise; the second costs 8/4 between the two elements."""
    query = Linear([[5, 5], [0, 8]])
    still = Block((0,), ((5, 5),), Fraction(1), ((Fraction(1),),), Fraction(0))
    noisy = Block((1,), ((0, 8),), Fraction(1, 4), ((Fraction(1),),), Fraction(1))
    for blocks in ((still, noisy), (noisy, still)):
        assert certify(LinearElliptical(query, blocks), MetricPrivacy(Hamming(2, 2))).bound == 1
        with pytest.raises(UncertifiedError, match="elements 0 and 1"):
            certify(LinearElliptical(query, blocks), MetricPrivacy(Hamming(2, "1.999")))


def test_the_farthest_pair_is_found_in_whichever_block_it_is(monkeypatch):
    monkeypatch.setattr(metrics, "_BLOCK_ENTRIES", 30)
    near = [(x, x * x % 7) for x in range(23)]
    for place in range(len(near)):
        points = [(x, y + 1000 * (i == place)) for i, (x, y) in enumerate(near)]
        truth = max(math.dist(a, b) for a, b in combinations(points, 2))
        found = metrics.farthest(Euclidean(points))
        assert Fraction(truth) * (1 - Fraction(1, 10**15)) <= found <= truth * (1 + Fraction(1, 10**9))


def test_rounding_an_answer_would_overspend_a_close_pair_and_rounding_columns_does_not():
    """Two places 7e-5 apart: answers on a grid of a thousandth may differ by a whole step."""
    privacy = MetricPrivacy(Euclidean([(0, 0), ("0.00007", 0)]))
    coarse = LinearLaplace(Linear([["0.0004", "0.0006"]]), ((0, 1),), (Fraction(1, 1000),), (Fraction(20, 7),))
    with pytest.raises(UncertifiedError, match="0 and 1"):
        certify(coarse, privacy)
    fine = LinearLaplace(Linear([["0.0004", "0.0006"]]), ((4, 6),), (Fraction(1, 10**4),), (Fraction(20, 7),))
    assert certify(fine, privacy).bound == 1


def test_columns_that_floats_cannot_hold_are_refused_at_birth():
    with pytest.raises(InvalidMechanismError, match="2\\^52"):
        LinearLaplace(Linear([[0, 1]]), ((0, 2**52),), (Fraction(1),), (Fraction(1),))


@pytest.mark.parametrize("rate", [Fraction(1, 10**250), Fraction(10**250)])
def test_what_floats_would_lose_is_refused_instead_of_filtered(rate):
    mechanism = LinearLaplace(Linear([[0, 1]]), ((0, 1),), (rate,), (Fraction(1),))
    with pytest.raises(UncertifiedError, match="floats"):
        certify(mechanism, MetricPrivacy(Hamming(2, 1)))


def test_sizes_must_fit():
    mechanism = LinearLaplace(Linear([[0, 1]]), ((0, 1),), (Fraction(1),), (Fraction(1),))
    with pytest.raises(UncertifiedError, match="3 elements"):
        certify(mechanism, MetricPrivacy(Hamming(3, 1)))


def test_an_edited_file_is_proven_again_or_refused(tmp_path):
    mechanism = LinearLaplace(Linear([[0, 1]]), ((0, 1),), (Fraction(1),), (Fraction(10),))
    certified = make_certified(mechanism, MetricPrivacy(Hamming(2, "0.1")))
    certified.save(tmp_path / "m.json")
    again = Certified.load(tmp_path / "m.json")
    assert again.mechanism == mechanism
    assert again.certificate.to_dict() == certified.certificate.to_dict()

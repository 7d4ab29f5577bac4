"""Profiles of mechanisms: which differences one person can make, and what certificates imply."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from random import Random
from typing import Any

import pytest

import noisewright as nw
from noisewright.laws.lattice import Lattice
from noisewright.mechanisms.additive import Additive
from noisewright.mechanisms.per_coordinate import IdenticalNoise, PerCoordinate
from noisewright.numerics.distances import upper_distance
from noisewright.proof.metric import farthest
from noisewright.proof.profiles.base import GaussianProfile, LeastProfile, PairProfile, Profile
from noisewright.proof.profiles.certified import PROFILES, _of_requirement
from noisewright.proof.profiles.joint import factors_of
from noisewright.proof.profiles.laws import law_profile
from tests.examples import EXAMPLES

BITS = 128
EPSILONS = [Fraction(0), Fraction(1, 5), Fraction(3, 5), Fraction(11, 10)]


def deltas(profile: Profile) -> list[Fraction]:
    return [Fraction(v, 1 << BITS) for v in profile.deltas(EPSILONS, BITS)]


def of(mechanism: Any) -> Profile:
    return PROFILES[type(mechanism)](mechanism)


def whole(scale: int | str, sensitivity: int = 1) -> Additive:
    return Additive(nw.Scalar(sensitivity, integer=True), nw.laws.DiscreteLaplace(scale), Lattice.integers())


def enumerated(moves: list[tuple[float, int]]) -> list[float]:
    """Delta of discrete Laplace noises of these scales that move all at once, over every outcome."""
    one = []
    for scale, shift in moves:
        line = [(math.exp(-abs(k) / scale), math.exp(-abs(k + shift) / scale)) for k in range(-60, 61)]
        total = math.fsum(p for p, _ in line)
        one.append([(p / total, q / total) for p, q in line])
    pairs = [(math.prod(p for p, _ in cell), math.prod(q for _, q in cell)) for cell in product(*one)]
    return [math.fsum(max(0.0, p - math.exp(e) * q) for p, q in pairs) for e in EPSILONS]


def assert_just_above(found: list[Fraction], truth: list[float], within: float = 2e-3) -> None:
    for got, true in zip(found, truth, strict=True):
        assert true * (1 - 1e-9) - 1e-9 <= got <= true * (1 + within) + 1e-9


def test_one_number_moves_by_its_sensitivity():
    made = whole("3/2", 3)
    assert of(made) == law_profile(made.law, Fraction(3))
    assert_just_above(deltas(of(made)), enumerated([(1.5, 3)]), 1e-9)


def test_of_numbers_that_move_one_at_a_time_the_worse_one_counts():
    question = nw.Vector(nw.Disjoint([1, 2]), integer=True)
    found = deltas(of(PerCoordinate(question, [whole(1), whole(3, 2)])))
    single = [enumerated([(1.0, 1)]), enumerated([(3.0, 2)])]
    assert_just_above(found, [max(v) for v in zip(*single, strict=True)], 1e-9)
    assert found[0] > min(single[0][0], single[1][0]) + 0.1


@pytest.mark.parametrize("change", [nw.Box([1, 2]), nw.Points([[1, 2], [1, -1]]), nw.Sparse(2, [1, 2])])
def test_numbers_that_move_at_once_are_added_up(change: Any):
    made = PerCoordinate(nw.Vector(change, integer=True), [whole(2), whole(3, 2)])
    assert_just_above(deltas(of(made)), enumerated([(2.0, 1), (3.0, 2)]))


def test_bins_that_change_together_are_added_up():
    made = IdenticalNoise(nw.Histogram(7, bins_per_person=2), whole(2))
    assert factors_of(of(made)) == ((law_profile(made.part.law, Fraction(1)), 2),)
    assert_just_above(deltas(of(made)), enumerated([(2.0, 1)] * 2))
    assert factors_of(of(IdenticalNoise(nw.Histogram(7, replace=True), whole(2))))[0][1] == 2


def test_gaussian_noise_is_one_gaussian_of_the_longest_difference():
    parts = [
        Additive(nw.Scalar(s, exact=True), nw.laws.Gaussian(std), Lattice.cells(Fraction(1, 4)))
        for s, std in ((3, 2), (4, 5))
    ]
    made = PerCoordinate(nw.Vector(nw.Box([3, 4]), exact=True), parts)
    assert of(made) == GaussianProfile(Fraction(9, 4) + Fraction(16, 25), "profile/gaussian-vector")


def test_in_a_ball_the_pure_bound_of_the_ball_holds_besides_that_of_its_box():
    ball = nw.Vector(nw.L1Ball(2, 2), integer=True)
    found = of(PerCoordinate(ball, [whole(2, 2), whole(2, 2)]))
    assert isinstance(found, LeastProfile)
    assert PairProfile(Fraction(1)).largest == found.largest == 1
    corner = [max(v) for v in zip(enumerated([(2.0, 2)]), enumerated([(2.0, 1)] * 2), strict=True)]
    assert all(got >= true - 1e-9 for got, true in zip(deltas(found), corner, strict=True))


def _choice_deltas(epsilons: list[float], scores: list[float], moved: list[float]) -> list[float]:
    """Delta of a choice for two lists of scores, with sensitivity 1, each epsilon as likely as the others."""
    masses = []
    for given in (scores, moved):
        rows = [[math.exp(epsilon / 2 * s) for s in given] for epsilon in epsilons]
        shares = [[w / math.fsum(row) / len(epsilons) for w in row] for row in rows]
        masses.append([math.fsum(column) for column in zip(*shares, strict=True)])
    return [math.fsum(max(0.0, p - math.exp(e) * q) for p, q in zip(*masses, strict=True)) for e in EPSILONS]


@pytest.mark.parametrize("epsilons", [[Fraction(13, 10)], [Fraction(1, 2), Fraction(2)]])
def test_no_two_lists_of_scores_are_told_apart_better_than_a_bounded_range_allows(epsilons: list[Fraction]):
    weights = [Fraction(1, len(epsilons))] * len(epsilons)
    names = [f"candidate {i}" for i in range(6)]
    profile = of(nw.mechanisms.RandomExponential(nw.Choice(names, exact=True), epsilons, weights))
    found, chance, best = deltas(profile), Random("scores"), [0.0] * len(EPSILONS)
    floats = [float(e) for e in epsilons]
    for _ in range(4000):
        scores = [chance.uniform(-6, 6) if chance.random() < 0.7 else 0.0 for _ in names]
        steps = [chance.choice([-1.0, 1.0, chance.uniform(-1, 1)]) for _ in names]
        reached = _choice_deltas(floats, scores, [s + d for s, d in zip(scores, steps, strict=True)])
        best = [max(a, b) for a, b in zip(best, reached, strict=True)]
    assert all(got >= true - 1e-12 for got, true in zip(found, best, strict=True))
    if len(epsilons) == 1:
        assert all(true >= 0.9 * got for got, true in zip(found, best, strict=True))
        # Half of randomised response with the same epsilon, at epsilon 0.
        assert float(found[0]) == pytest.approx(math.tanh(1.3 / 4))


def test_a_number_that_can_move_and_gets_no_noise_has_no_profile():
    made = PerCoordinate(nw.Vector(nw.Box([1, 2]), integer=True), [whole(2), None])
    with pytest.raises(nw.errors.UncertifiedError, match="no noise"):
        of(made)


@pytest.mark.parametrize("kind", [nw.metrics.Euclidean, nw.metrics.Matrix, nw.metrics.Hamming, nw.metrics.PerValue])
def test_what_a_metric_costs_is_its_largest_distance(kind: Any):
    metric = kind(**EXAMPLES[kind])
    distances = [upper_distance(metric, i, j) for i in range(metric.size) for j in range(i)]
    assert max(distances) <= farthest(metric) <= max(distances) * (1 + Fraction(1, 10**9))
    assert _of_requirement(nw.MetricPrivacy(metric), Fraction(1)).largest == farthest(metric)


def test_what_certificates_imply_is_above_the_gaussian_that_has_them():
    true = deltas(GaussianProfile(Fraction(1, 2)))
    for held, bound in (
        (nw.ZeroConcentratedDP(1), Fraction(1, 4)),
        (nw.RenyiDP(3, 1), Fraction(3, 4)),
        (nw.ApproxDP("1/5", "1/2"), true[1]),
        (nw.ProbabilisticDP("1/5", "1/2"), true[1]),
    ):
        assert all(a <= b for a, b in zip(true, deltas(_of_requirement(held, bound)), strict=True))
    assert deltas(_of_requirement(nw.PureDP(3), Fraction(3, 5)))[2:] == [0, 0]
    with pytest.raises(nw.errors.UncertifiedError, match="no single delta"):
        _of_requirement(object(), Fraction(1))

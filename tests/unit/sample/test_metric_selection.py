"""Choices and synthetic histograms under metric privacy."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

import noisewright as nw
from noisewright.lab.metric.claims import theorem_four
from noisewright.lab.metric.printed import weights_noise_free
from noisewright.mechanisms.linear.synthetic import MetricSmallDB
from noisewright.problem.errors import InvalidInputError, UncertifiedError
from noisewright.proof.certify import certify
from noisewright.sample.entropy import SystemEntropy
from noisewright.sample.selection import choose

LINE = nw.metrics.Matrix([[abs(i - j) for j in range(4)] for i in range(4)])
QUERY = nw.Linear([[0, 1, 0, 1], [0, 0, 1, 1], [0, 1, 2, 3]])


def test_multiplicative_weights_do_not_depend_on_the_scaling_and_converge():
    rng = np.random.default_rng(4)
    queries, histogram = rng.uniform(0, 1, (20, 30)), rng.integers(0, 40, 30).astype(float)
    results = {}
    for scaling in (0.2, 0.5, 1.0, 2.0, 5.0):
        average, errors = weights_noise_free(queries, scaling, histogram, 400, printed=False)
        results[scaling] = average
        assert errors[-1] < errors[200] < errors[50] < errors[0]
        assert errors[-1] < 0.25 * errors[0]
        assert np.abs(queries @ (average - histogram)).max() < 0.5 * errors[0]
    for average in results.values():
        assert np.allclose(average, results[1.0], rtol=0, atol=1e-9 * histogram.sum())


def test_as_printed_the_update_diverges_at_scaling_five():
    rng = np.random.default_rng(4)
    queries, histogram = rng.uniform(0, 1, (20, 30)), rng.integers(0, 40, 30).astype(float)
    printed, errors = weights_noise_free(queries, 5.0, histogram, 400, printed=True)
    right, _ = weights_noise_free(queries, 5.0, histogram, 400, printed=False)
    wrong_error = np.abs(queries @ (printed - histogram)).max()
    assert wrong_error > 5 * np.abs(queries @ (right - histogram)).max()
    assert errors[-1] > errors[0]


def test_theorem_four_holds_with_its_sign_corrected_and_not_as_printed():
    printed, corrected = theorem_four(400)
    assert corrected == 0
    assert printed > 40


def test_a_released_synthetic_histogram_has_everybody_in_it_and_tells_something():
    privacy = nw.MetricPrivacy(nw.metrics.Matrix([[50 * abs(i - j) for j in range(4)] for i in range(4)]))
    certified = nw.mechanisms.mwem_mechanism(QUERY, privacy, 30)
    histogram = [1000, 10, 10, 3000]
    synthetic = certified.release(histogram)
    assert synthetic.sum() == pytest.approx(4020)
    uniform = np.full(4, 1005.0)
    matrix = np.array([[float(v) for v in row] for row in QUERY.rationals()])
    assert np.abs(matrix @ (synthetic - histogram)).max() < 0.8 * np.abs(matrix @ (uniform - histogram)).max()
    assert (certified.release([0, 0, 0, 0]) == 0).all()


def test_small_databases_are_drawn_with_exactly_their_weights():
    certified = nw.mechanisms.smalldb_mechanism(QUERY, nw.MetricPrivacy(LINE), 2)
    mechanism = certified.mechanism
    histogram = [3, 0, 1, 2]
    databases = list(mechanism.databases())
    assert len(databases) == mechanism.candidates == math.comb(5, 2)
    scores = mechanism.scores(histogram)
    weights = np.exp([float(mechanism.log_weight(scores, 6, y)) for y in databases])
    weights /= weights.sum()
    draws = 3000
    counts = dict.fromkeys(databases, 0)
    for _ in range(draws):
        counts[tuple(int(v) for v in certified.release(histogram) / 3)] += 1
    found = np.array([counts[y] for y in databases])
    statistic = ((found - draws * weights) ** 2 / (draws * weights)).sum()
    assert statistic < 50  # chi-square with 9 degrees of freedom: 1e-7
    turned = np.roll(weights, 1)
    assert ((found - draws * turned) ** 2 / (draws * turned)).sum() > 50


def test_what_cannot_be_enumerated_is_refused_and_a_walk_only_on_request():
    wide = nw.Linear([list(range(40))])
    privacy = nw.MetricPrivacy(nw.metrics.Hamming(40, 1))
    with pytest.raises(UncertifiedError, match="small databases"):
        nw.mechanisms.smalldb_mechanism(wide, privacy, 10)
    mechanism = MetricSmallDB(wide, (tuple(range(40)),), Fraction(1), Fraction(39), 10)
    with pytest.raises(UncertifiedError):
        certify(mechanism, privacy)
    with pytest.raises(UncertifiedError, match="accept_uncertified"):
        nw.lab.smalldb_by_metropolis(mechanism, [1] * 40)
    walked = nw.lab.smalldb_by_metropolis(mechanism, [5] * 40, steps=50, accept_uncertified=True)
    assert walked.sum() == pytest.approx(200)


def test_mechanisms_that_overspend_one_choice_are_refused():
    scores = nw.Linear([[0, 0, 0, 0], [0, 1, 2, 4]])
    good = nw.mechanisms.exponential_mechanism(scores, nw.MetricPrivacy(LINE)).mechanism
    assert good.scale == 2
    bad = type(good)(scores, good.columns, good.step, good.scale * (1 - Fraction(1, 10**20)))
    with pytest.raises(UncertifiedError, match="2 and 3"):
        certify(bad, nw.MetricPrivacy(LINE))


def test_choices_survive_files_describe_themselves_and_have_no_noise():
    privacy = nw.MetricPrivacy(LINE)
    for certified in (
        nw.mechanisms.exponential_mechanism(QUERY, privacy),
        nw.mechanisms.smalldb_mechanism(QUERY, privacy, 2),
        nw.mechanisms.mwem_mechanism(QUERY, privacy, 2),
    ):
        again = nw.Certified.from_dict(certified.to_dict())
        assert again.mechanism == certified.mechanism
        assert len(again.describe().splitlines()) >= 3
        with pytest.raises(InvalidInputError, match="release"):
            certified.draw(3)


def test_a_choice_has_exactly_its_probability():
    stream = SystemEntropy().stream()
    logs = [Fraction(0), Fraction(-1), Fraction(-200), Fraction(1, 3)]
    weights = np.exp([float(v) for v in logs])
    weights /= weights.sum()
    draws = 4000
    counts = np.bincount([choose(logs, stream) for _ in range(draws)], minlength=4)
    for count, share in zip(counts, weights, strict=True):
        spread = math.sqrt(draws * share * (1 - share)) + 1e-9
        assert abs(count - draws * share) < 6.5 * spread + 1e-6
    edges = np.cumsum(weights)
    for low, high in pairwise([0.0, *edges[[0, 1, 3]]]):
        middle = int((low + high) / 2 * 2**64)

        class Fixed:
            def words(self, count, middle=middle):
                return np.full(count, middle, dtype=np.uint64)

        expected = [0, 1, 3][[0.0, *edges[[0, 1]]].index(low)]
        assert choose(logs, Fixed()) == expected

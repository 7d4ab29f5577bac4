"""What many releases cost together, as the search sees it in floats: beside closed forms, sums and a second way."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.special import gammaln
from scipy.stats import norm

import noisewright as nw
from noisewright.numerics.fields import FLOATS
from noisewright.search.families.planned import (
    Losses,
    composed,
    laplace_losses,
    largest_rate,
    of_law,
    of_table,
    pair,
    pair_rate,
    stairs,
)

F = Fraction


def of_gaussian(length: float, epsilon: float) -> float:
    return float(norm.sf(epsilon / length - length / 2) - math.exp(epsilon) * norm.sf(epsilon / length + length / 2))


def of_responses(each: float, count: int, epsilon: float) -> float:
    """So many randomised responses, by their binomial sum."""
    right = np.arange(count + 1)
    logs = gammaln(count + 1) - gammaln(right + 1) - gammaln(count - right + 1)
    logs = logs - right * math.log1p(math.exp(-each)) - (count - right) * math.log1p(math.exp(each))
    losses = (2 * right - count) * each
    above = losses > epsilon
    return float(np.sum(np.exp(logs[above]) * -np.expm1(epsilon - losses[above])))


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 8.0])
@pytest.mark.parametrize("count", [1, 10, 1000, 100_000])
@pytest.mark.parametrize("delta", [1e-3, 1e-6, 1e-14])
def test_gaussian_releases_are_one_of_a_larger_sensitivity(epsilon: float, count: int, delta: float):
    length = float(1 / nw.laws.calibrated(nw.laws.GAUSSIAN, 1, nw.ApproxDP(F(epsilon), F(delta))).std)
    std = math.sqrt(count) / length
    found = composed(of_law(nw.laws.Gaussian(F(std)), 1.0, std), count, epsilon)
    assert found == pytest.approx(of_gaussian(length, epsilon), rel=5e-3)


@pytest.mark.parametrize(("each", "count", "epsilon"), [(1, 1, 0.5), (0.5, 3, 1), (0.3, 10, 1), (0.01, 10_000, 7)])
def test_randomised_responses_cost_their_binomial_sum(each: float, count: int, epsilon: float):
    assert composed(pair(each), count, epsilon) == pytest.approx(of_responses(each, count, epsilon), rel=5e-3)


@given(st.floats(0.01, 2), st.integers(1, 30), st.floats(0, 1e-3))
def test_beyond_the_sum_of_the_epsilons_only_what_is_lost_is_left(each: float, count: int, lost: float):
    assert composed(pair(each, lost), count, count * each) == pytest.approx(1 - (1 - lost) ** count, abs=1e-12)


@pytest.mark.parametrize("split", [0.2, 0.5, 0.9])
def test_three_values_make_up_the_losses_of_a_staircase(split: float):
    law = nw.laws.staircase(epsilon=F(1), sensitivity=F(1), split=F(str(split)))
    mechanism = nw.mechanisms.Additive(nw.Scalar(1), law, nw.laws.Lattice.cells(F(1, 10)))
    line = np.array([float(mechanism.noise.mass(k, FLOATS)) for k in range(-400, 400)])
    for epsilon in (0.3, 2.5):
        second = composed(of_table(line, 10), 5, epsilon)
        assert composed(stairs(1.0, split), 5, epsilon) == pytest.approx(second, rel=1e-6)


def test_laplace_releases_cost_what_is_known_of_them():
    """Golden: a hundred Laplace releases of scale 10 are (4.69, 1e-6)-private; one is that of its closed form."""
    assert composed(laplace_losses(0.1), 100, 4.68) > 1e-6 > composed(laplace_losses(0.1), 100, 4.70)
    assert composed(laplace_losses(1.0), 1, 0.4) == pytest.approx(1 - math.exp(-0.3), rel=1e-3)


@given(st.lists(st.floats(0.01, 1), min_size=3, max_size=8), st.integers(1, 3), st.floats(0.05, 2))
def test_small_tables_are_composed_as_every_outcome_says(weights: list[float], count: int, epsilon: float):
    line = np.array(sorted(weights) + sorted(weights, reverse=True)) / (2 * sum(weights))
    here, there = np.ones(1), np.ones(1)
    for _ in range(count):
        here, there = np.outer(here, line).ravel(), np.outer(there, np.append(line[1:], 0.0)).ravel()
    truth = float(np.maximum(0, here - math.exp(epsilon) * there).sum())
    assert composed(of_table(line, 1), count, epsilon) == pytest.approx(truth, rel=0.02, abs=1e-4)


def test_the_largest_rate_is_one_that_was_tried_and_fits():
    tried: list[float] = []

    def fits(rate: float) -> bool:
        tried.append(rate)
        return rate <= math.pi

    for guess in (0.01, 1.0, 100.0):
        found = largest_rate(fits, guess, 1e-6)
        assert found in tried
        assert math.pi * (1 - 2e-6) <= found <= math.pi
    with pytest.raises(nw.errors.InvalidPrivacyError, match="fits so many releases"):
        largest_rate(lambda rate: False, 1.0, 1e-3)


@pytest.mark.parametrize("count", [1, 2, 50])
def test_any_purely_private_releases_fit_at_the_rate_of_pairs(count: int):
    each = pair_rate(1.0, 1e-6, count)
    assert each >= 1 / count
    assert of_responses(each, count, 1.0) <= 1.01e-6
    assert of_responses(each * 1.01, count, 1.0) > 1e-6


def test_nothing_to_tell_apart_costs_nothing():
    assert composed(Losses(np.zeros(0), np.zeros(0)), 5, 1.0) == 0

"""Partitions and budget splits against brute force; the majorization theorem on random profiles."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from noisewright.lab.non_identical.curves import gaussian_errors
from noisewright.search.families.vector_parts import (
    best_partition,
    curve_shares,
    exact_shares,
    grid_shares,
    measured_partition,
    power_shares,
)

sizes = st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=12)


def _set_partitions(count: int) -> Iterator[tuple[tuple[int, ...], ...]]:
    """Every partition of {0, …, count-1}, by restricted growth strings."""

    def grow(prefix: list[int], top: int) -> Iterator[list[int]]:
        if len(prefix) == count:
            yield prefix
            return
        for label in range(top + 2):
            yield from grow([*prefix, label], max(top, label))

    for labels in grow([0], 0):
        groups = range(max(labels) + 1)
        yield tuple(tuple(i for i, g in enumerate(labels) if g == group) for group in groups)


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("count", [2, 3, 5, 7, 8])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_best_runs_are_the_best_of_all_partitions(power, count, weighted):
    generator = np.random.default_rng(1000 * power + 10 * count + weighted)
    for _ in range(3 if count == 8 else 10):
        lam = np.exp(generator.normal(size=count) * generator.uniform(0, 2.5))
        weights = np.exp(generator.normal(size=count)) if weighted else np.ones(count)
        found = best_partition(lam, weights, power)
        best = min(measured_partition(lam, weights, power, p).error for p in _set_partitions(count))
        assert found.error == pytest.approx(best, rel=1e-9)


def test_blocks_are_never_worse_than_non_identical_laplace_on_a_thousand_profiles():
    generator = np.random.default_rng(7)
    better = 0
    for i in range(1000):
        count = int(generator.integers(1, 40))
        lam = np.exp(generator.normal(size=count) * generator.uniform(0, 3))
        weights = np.exp(generator.normal(size=count)) if i % 2 else np.ones(count)
        blocks = best_partition(lam, weights, 2).error
        laplace = 2 * np.sum((weights * lam**2) ** (1 / 3)) ** 3
        assert blocks <= laplace * (1 + 1e-12)
        better += blocks < laplace * 0.999
    assert better > 800


def test_sorting_by_sensitivity_alone_would_be_worse_with_weights():
    lam, weights = np.array([1.0, 2.0, 3.0, 4.0]), np.array([1000.0, 0.001, 1000.0, 0.001])
    found = best_partition(lam, weights, 2)
    runs = [
        tuple(tuple(range(a, b)) for a, b in itertools.pairwise((0, *cuts, 4)))
        for n in range(4)
        for cuts in itertools.combinations(range(1, 4), n)
    ]
    assert found.error < min(measured_partition(lam, weights, 2, p).error for p in runs) * 0.99


@given(costs=sizes, together=st.integers(1, 12), power=st.sampled_from([1, 2]))
@settings(max_examples=60)
def test_shares_fit_and_no_transfer_improves_them(costs, together, power):
    together = min(together, len(costs))
    a = np.array(costs)
    shares = power_shares(a, power, together)
    assert np.sort(shares)[::-1][:together].sum() <= 1 + 1e-9
    value = float(np.sum(a / shares**power))
    generator = np.random.default_rng(0)
    for _ in range(20):
        moved = shares * np.exp(generator.normal(size=len(a)) * 0.1)
        moved /= max(1e-300, np.sort(moved)[::-1][:together].sum())
        assert float(np.sum(a / moved**power)) >= value * (1 - 1e-7)


@given(costs=sizes, power=st.sampled_from([1, 2]))
@settings(max_examples=40)
def test_a_curve_that_is_a_power_gets_the_shares_of_the_closed_form(costs, power):
    a = np.array(costs)
    grid = np.geomspace(1e-8, 1, 1500)
    shares = curve_shares(a, grid, grid ** (-float(power)), len(a))
    assert shares == pytest.approx(power_shares(a, power, len(a)), rel=1e-4)


@given(costs=sizes, together=st.integers(1, 12), power=st.sampled_from([1, 2]))
@settings(max_examples=60)
def test_exact_shares_fit_exactly(costs, together, power):
    from fractions import Fraction

    together = min(together, len(costs))
    shares = power_shares(np.array(costs), 2, together)
    if power == 2:
        shares = np.sqrt(shares)
    budget = Fraction(7, 3)
    exact = exact_shares(shares, budget, together, power=power)
    assert sum(v**power for v in sorted(exact, reverse=True)[:together]) <= budget**power
    assert [float(v / budget) for v in exact] == pytest.approx(list(shares), rel=1e-6, abs=1e-9)


def test_grid_shares_find_what_a_greedy_split_would_miss():
    # Useless below 0.4, useful above: two numbers cannot both be served from a budget of 0.6.
    grid = np.concatenate([[0.0], np.linspace(0.05, 0.6, 12)])
    gains = np.tile(np.where(grid >= 0.399, 1.0, 0.0), (2, 1))
    shares = grid_shares(gains, grid, 0.6, 2)
    assert shares.max() >= 0.399
    assert shares.sum() == pytest.approx(0.6)


@given(squares=st.lists(st.floats(1e-3, 1.0), min_size=2, max_size=10), data=st.data())
@settings(max_examples=80)
def test_majorized_profiles_have_the_larger_error(squares, data):
    """Theorem 7: Robin Hood transfers of squared sensitivity generate majorization."""
    values = np.array(squares)
    rich, poor = int(values.argmax()), int(values.argmin())
    gap = values[rich] - values[poor]
    if gap < 1e-6:
        return
    amount = data.draw(st.floats(0.05, 0.45)) * gap
    moved = values.copy()
    moved[rich] -= amount
    moved[poor] += amount
    assert gaussian_errors(np.sqrt(moved), 1.0)[1] > gaussian_errors(np.sqrt(values), 1.0)[1]

"""No mechanism beats the bound: random competitors, each scaled to spend exactly epsilon."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings, strategies as st

from noisewright.laws.laplace import DiscreteLaplace, Laplace
from noisewright.laws.lattice import HALF, Lattice
from noisewright.laws.piecewise import Piecewise, skewed_staircase
from noisewright.mechanisms.additive import Additive
from noisewright.numerics.fields import FLOATS
from noisewright.problem.privacy import PureDP
from noisewright.problem.queries import Scalar
from noisewright.problem.utilities import Expected, Huber, SquaredError
from noisewright.proof.certify import certify
from noisewright.search.bounds.pure import best_possible
from tests import strategies
from tests.brute import privacy_loss

EVERY_UTILITY = pytest.mark.parametrize("kind", list(strategies.UTILITIES), ids=lambda kind: kind.__name__)
COMPETITORS = 50


def competitors(rng: random.Random, query: Scalar, epsilon: Fraction) -> list[Additive]:
    """Laplace noise, staircases with any top step, and laws of any shape at all."""
    lattice = Lattice.integers() if query.integer else Lattice.cells(query.sensitivity / 12)
    usual = DiscreteLaplace if query.integer else Laplace
    found = [Additive(query, usual(query.sensitivity / epsilon), lattice)]
    while len(found) < COMPETITORS:
        law = _staircase(rng, query, epsilon, lattice) if rng.random() < 0.5 else _any_law(rng, query, epsilon, lattice)
        found.append(Additive(query, law, lattice))
    return found


def _staircase(rng: random.Random, query: Scalar, epsilon: Fraction, lattice: Lattice) -> Piecewise:
    steps = int(query.sensitivity / lattice.step)
    left, right = (lattice.lower_edge(k) for k in sorted(rng.sample(range(-2 * steps, 2 * steps + 2), 2)))
    return skewed_staircase(epsilon=epsilon, sensitivity=query.sensitivity, left=left, right=right)


def _any_law(rng: random.Random, query: Scalar, epsilon: Fraction, lattice: Lattice) -> Piecewise:
    """Random levels on random cells, flattened until the worst pair within the sensitivity differs by epsilon."""
    steps = int(query.sensitivity / lattice.step)
    period = rng.randrange(1, 2 * steps + 1)
    total = period + rng.randrange(0, 3 * steps)
    cuts = sorted({0, period, total - period, total, *(rng.randrange(total) for _ in range(4))})
    start = -rng.randrange(total)
    law = Piecewise(
        rate=Fraction(1),
        period=period * lattice.step,
        breaks=tuple((start + cut - lattice.edge) * lattice.step for cut in cuts),
        levels=tuple(Fraction(rng.randrange(0, 5), 2) for _ in cuts[1:]),
        left_cells=cuts.index(period),
        right_cells=len(cuts) - 1 - cuts.index(total - period),
    )
    return replace(law, rate=epsilon / privacy_loss(law, query.sensitivity))


@EVERY_UTILITY
@given(data=st.data(), seed=st.integers(0, 2**32))
@settings(max_examples=6)
def test_the_bound_beats_fifty_certified_competitors(kind, data, seed):
    _beats_competitors(kind, data, seed, whole=(Expected, Huber))


@pytest.mark.soak
@EVERY_UTILITY
@given(data=st.data(), seed=st.integers(0, 2**32))
@settings(max_examples=12)
def test_the_bound_beats_competitors_on_more_questions(kind, data, seed):
    _beats_competitors(kind, data, seed, whole=(Expected,))


def _beats_competitors(kind, data, seed, whole):
    # These losses are integrated numerically, so the question is kept small there: whole numbers.
    query = data.draw(strategies.scalars().filter(lambda one: one.integer or kind not in whole))
    epsilon = data.draw(strategies.decimals(0.1, 6, 3))
    utility = strategies.fitted(data.draw(strategies.UTILITIES[kind]), query)
    bound = float(best_possible(query, epsilon, utility))
    values = []
    for mechanism in competitors(random.Random(seed), query, epsilon):
        assert certify(mechanism, PureDP(epsilon)).bound == epsilon
        values.append(mechanism.expected(utility, FLOATS))
    best = max(values) if utility.larger_is_better else min(values)
    slack = 1e-9 * abs(bound) + 1e-12
    assert best <= bound + slack if utility.larger_is_better else best >= bound - slack


def test_a_law_that_claims_less_than_it_spends_would_beat_the_bound():
    """The test above can fail: at two per cent more epsilon the staircase passes the bound."""
    query, epsilon = Scalar(3, integer=True), Fraction(1)
    more = epsilon * Fraction(51, 50)
    cheat = skewed_staircase(epsilon=more, sensitivity=Fraction(3), left=-3 * HALF, right=3 * HALF)
    utility = SquaredError()
    value = Additive(query, cheat, Lattice.integers()).expected(utility, FLOATS)
    assert value < float(best_possible(query, epsilon, utility))

"""The linear programme: its constraints, and the repair that makes them exact."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest

from noisewright.laws.piecewise import Piecewise
from noisewright.numerics.lp import Solution
from noisewright.problem.privacy import PureDP
from noisewright.problem.queries import Scalar
from noisewright.problem.utilities import AbsoluteError, SquaredError, Usefulness
from noisewright.proof.certify import certify
from noisewright.search.families.scalar_pure import (
    Programme,
    neighbours,
    read_levels,
    repaired_levels,
    tailored,
    tuned_staircase,
)
from tests.brute import privacy_loss

ONE = Fraction(1)
UNEVEN = Programme(
    tuple(turn + part for turn in range(-2, 2) for part in map(Fraction, ("0", "1/10", "2/3"))) + (Fraction(2),),
    per_period=3,
    period=ONE,
    epsilon=Fraction(3, 2),
)


def as_law(programme: Programme, levels: list[Fraction]) -> Piecewise:
    per = programme.per_period
    return Piecewise(programme.epsilon, programme.period, programme.edges, tuple(levels), per, per)


def test_turns_count_whole_periods_from_the_middle():
    assert [UNEVEN.turn(i) for i in range(UNEVEN.cells)] == [1, 1, 1, 0, 0, 0, 0, 0, 0, 1, 1, 1]


@pytest.mark.parametrize("seed", range(30))
def test_repaired_levels_keep_the_promise_and_break_it_before(seed):
    """Levels from nowhere: after the repair no pair of cells within the sensitivity differs by more than one."""
    rng = random.Random(seed)
    levels = [Fraction(rng.randrange(-8, 30), 7) for _ in range(UNEVEN.cells)]
    fixed = repaired_levels(UNEVEN, levels)
    assert privacy_loss(as_law(UNEVEN, levels), ONE) > UNEVEN.epsilon, "an example that needs no repair shows nothing"
    assert privacy_loss(as_law(UNEVEN, fixed), ONE) <= UNEVEN.epsilon
    assert all(after <= before for before, after in zip(levels, fixed, strict=True))


@pytest.mark.parametrize("seed", range(30))
def test_the_constraints_are_those_of_the_law_no_fewer_and_no_more(seed):
    rng = random.Random(seed)
    levels = [Fraction(rng.randrange(0, 5), 4) + UNEVEN.turn(i) for i in range(UNEVEN.cells)]
    worst = max(levels[j] + shift - levels[i] for i, j, shift in neighbours(UNEVEN))
    assert worst * UNEVEN.epsilon == privacy_loss(as_law(UNEVEN, levels), ONE)


def test_levels_are_read_as_whole_numbers_where_the_solver_is_close():
    epsilon = float(UNEVEN.epsilon)
    truth = [2.0, 1.0, 1.00001, 1.0, 0.5, 0.0, 0.0, 0.5, 1.0, 1.0, 2.0, 2.0]
    q = np.array([np.exp(-epsilon * (level - UNEVEN.turn(i))) for i, level in enumerate(truth)])
    levels = read_levels(UNEVEN, Solution(q, 0.0, np.zeros(1)))
    assert levels == [2, 1, 1, 1, Fraction(1, 2), 0, 0, Fraction(1, 2), 1, 1, 2, 2]


def test_a_height_of_zero_is_read_as_very_low():
    q = np.array([1.0] * (UNEVEN.cells - 1) + [0.0])
    assert read_levels(UNEVEN, Solution(q, 0.0, np.zeros(1)))[-1] > 100


@pytest.mark.parametrize("utility", [AbsoluteError(), SquaredError(), Usefulness("0.3")], ids=str)
@pytest.mark.parametrize("query", [Scalar("5/2"), Scalar(4, integer=True)], ids=str)
@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(2), Fraction(8)])
def test_the_law_of_the_programme_is_certified_at_its_epsilon(query, utility, epsilon):
    start = tuned_staircase(query, epsilon, utility)
    found = tailored(query, epsilon, utility, start)
    assert found is not None
    assert certify(found, PureDP(epsilon)).bound <= epsilon
    assert found.lattice == start.lattice


def test_where_the_programme_would_be_too_large_there_is_none():
    for query, epsilon in ((Scalar(25, integer=True), ONE), (Scalar(1), Fraction(1, 501))):
        assert tailored(query, epsilon, AbsoluteError(), tuned_staircase(query, epsilon, AbsoluteError())) is None

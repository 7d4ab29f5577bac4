"""With eight bits instead of sixty-four and tables cut short, balls decide every draw.

The words are replayed, so these tests give the same answer every time. With fresh words each would reject the true
law with probability 2e-4, and miss a scale two per cent off with a probability of about 2e-3.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from noisewright.laws.lattice import Rounded
from noisewright.sample.inversion import CdfTable, segments_of
from noisewright.sample.sampler import NoiseSampler, Turns
from tests.replay import Replay
from tests.statistical.noises import NAMES, SLOW_NAMES, noises
from tests.statistical.tests_of_fit import (
    bin_counts,
    bin_ends,
    bin_probabilities,
    chi_square,
    lower_index,
    lower_tail,
    sf,
    upper_index,
)

pytestmark = pytest.mark.statistical

DRAWS = 200_000
SEED = 20_170_711
THRESHOLD = 1e-4
# Of the slow ones these; the others take the same path.
CUT_SHORT = [name for name in NAMES if name not in SLOW_NAMES]
CUT_SHORT += ["Laplace, epsilon 0.0001", "integer staircase, epsilon 0.0001", "uneven tails, slow"]


def rings(law: Rounded) -> list[tuple[int, int]]:
    """Ever rarer distances from the middle, each as the last index on the left and the last before it on the right.

    What a wrong scale changes is how far draws lie, so few bins of distance show it best.
    """
    return list(dict.fromkeys((lower_index(law, 0.5**j), upper_index(law, 0.5**j)) for j in range(2, 8)))


def ring_shares(law: Rounded, edges: list[tuple[int, int]]) -> NDArray[np.float64]:
    beyond = [lower_tail(law, low) + sf(law, high) for low, high in edges]
    return -np.diff([1.0, *beyond, 0.0])


@pytest.mark.parametrize("name", CUT_SHORT)
def test_draws_by_refinement_have_the_exact_law_and_not_that_of_a_scale_two_per_cent_off(name: str):
    noise = noises()[name]
    # Slow tails have tables of digits, which eight bits cut short by themselves.
    sampler = NoiseSampler(noise.law, bits=8, reach=None if name in SLOW_NAMES else 0)
    draws = sampler.many(DRAWS, Replay(seed=SEED))
    ends = bin_ends(noise.law, 50)
    assert chi_square(bin_counts(draws, ends), bin_probabilities(noise.law, ends)) > THRESHOLD
    edges = rings(noise.law)
    beyond = [np.count_nonzero((draws <= low) | (draws > high)) for low, high in edges]
    counts = -np.diff([DRAWS, *beyond, 0])
    assert chi_square(counts, ring_shares(noise.law, edges)) > THRESHOLD
    for factor in (Fraction(98, 100), Fraction(102, 100)):
        assert chi_square(counts, ring_shares(noise.make(factor), edges)) < THRESHOLD


@pytest.mark.parametrize("name", NAMES)
def test_a_table_of_one_entry_settles_nothing(name: str):
    table = CdfTable(segments_of(noises()[name].law), 0, 0, bits=8)
    assert np.all(table.places(np.arange(256, dtype=np.uint64)) == table.size)


@pytest.mark.parametrize("name", SLOW_NAMES)
def test_eight_bits_settle_next_to_no_digit(name: str):
    segments = segments_of(noises()[name].law)
    assert segments is not None
    (_, table), *_ = Turns(segments.law.rate, bits=8)._digits
    assert np.mean(table.places(np.arange(256, dtype=np.uint64)) < table.size) < 0.05

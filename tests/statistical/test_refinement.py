"""With eight bits instead of sixty-four and a table of one entry, balls decide every draw.

The words are replayed, so these tests give the same answer every time. With fresh words they would reject the true
law with probability 1e-6, and miss a scale two per cent off with a probability of about one per cent.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from noisewright.sample.sampler import NoiseSampler
from tests.replay import Replay
from tests.statistical.noises import NAMES, noises
from tests.statistical.tests_of_fit import bin_counts, bin_ends, bin_probabilities, chi_square

pytestmark = pytest.mark.statistical

DRAWS = 200_000
SEED = 20_170_711
THRESHOLD = 1e-6
# Few bins: what a wrong scale changes is spread over all of them, and each costs a degree of freedom.
BINS = 8


# The smallest epsilons take a search of thirty balls for each draw; what they add is tested with ten million draws.
@pytest.mark.parametrize("name", [name for name in NAMES if "0.0001" not in name])
def test_draws_by_refinement_have_the_exact_law_and_not_that_of_a_scale_two_per_cent_off(name: str):
    noise = noises()[name]
    sampler = NoiseSampler(noise.law, bits=8, reach=0)
    draws = sampler.many(DRAWS, Replay(seed=SEED))
    ends = bin_ends(noise.law, BINS)
    counts = bin_counts(draws, ends)
    assert chi_square(counts, bin_probabilities(noise.law, ends)) > THRESHOLD
    for factor in (Fraction(98, 100), Fraction(102, 100)):
        assert chi_square(counts, bin_probabilities(noise.make(factor), ends)) < THRESHOLD


@pytest.mark.parametrize("name", NAMES)
def test_a_table_of_one_entry_settles_nothing(name: str):
    sampler = NoiseSampler(noises()[name].law, bits=8, reach=0)
    table, _ = sampler._make_table()
    assert np.all(table.places(np.arange(256, dtype=np.uint64)) == table.size)

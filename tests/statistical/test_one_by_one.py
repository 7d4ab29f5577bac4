"""Single draws, which use no table: the path of every `release`.

False alarms: 2e-9 for each law.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from noisewright.sample.entropy import SystemEntropy
from noisewright.sample.sampler import NoiseSampler
from tests.statistical.noises import NAMES, noises
from tests.statistical.tests_of_fit import FALSE_ALARM, bin_counts, bin_ends, bin_probabilities, chi_square

pytestmark = pytest.mark.statistical

DRAWS = 20_000
BINS = 20
# The two widest laws take a search of eighty balls for each draw; narrower ones take the same path.
QUICK = [name for name in NAMES if not name.endswith(("1e12", "0.00001"))]


@pytest.mark.parametrize("name", QUICK)
def test_single_draws_have_the_exact_law_and_not_that_of_a_scale_a_sixth_off(name: str):
    noise = noises()[name]
    sampler, stream = NoiseSampler(noise.law), SystemEntropy().stream()
    draws = np.array([sampler.one(stream) for _ in range(DRAWS)])
    ends = bin_ends(noise.law, BINS)
    counts = bin_counts(draws, ends)
    p = chi_square(counts, bin_probabilities(noise.law, ends))
    assert FALSE_ALARM < p < 1 - FALSE_ALARM
    for factor in (Fraction(5, 6), Fraction(7, 6)):
        assert chi_square(counts, bin_probabilities(noise.make(factor), ends)) < FALSE_ALARM

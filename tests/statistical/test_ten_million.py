"""Ten million ordinary draws of every law, against the exact law and against its neighbours of the wrong size.

Every test here rejects a right sampler with probability 1e-9 or less (twice that where it looks at both ends), which
makes less than one false alarm in a million runs of the whole file.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import norm

from tests.statistical.noises import NAMES, noises
from tests.statistical.summary import DRAWS, RESIDUES, lag_score, part_ends, summary
from tests.statistical.tests_of_fit import (
    FALSE_ALARM,
    bin_probabilities,
    chi_square,
    lower_tail,
    sf,
    two_sided,
)

pytestmark = pytest.mark.statistical

WITH_CELLS = [name for name in NAMES if noises()[name].top is not None]


@pytest.mark.parametrize("name", NAMES)
def test_draws_have_the_exact_law_and_not_that_of_a_scale_two_per_cent_off(name: str):
    """False alarms: 2e-9 (too far from the law, or suspiciously near)."""
    found, noise = summary(name), noises()[name]
    p = chi_square(found.counts, bin_probabilities(noise.law, found.ends))
    assert FALSE_ALARM < p < 1 - FALSE_ALARM
    for factor in (Fraction(98, 100), Fraction(102, 100)):
        assert chi_square(found.counts, bin_probabilities(noise.make(factor), found.ends)) < FALSE_ALARM


@pytest.mark.parametrize("name", NAMES)
def test_both_tails_are_as_heavy_as_they_should_be(name: str):
    """False alarms: 1e-9 for each of six counts. A scale ten per cent off shows in every tail."""
    found, noise = summary(name), noises()[name]
    wrong = [noise.make(Fraction(f, 10)) for f in (9, 11)]
    for k, count in found.upper.items():
        assert two_sided(count, DRAWS, sf(noise.law, k)) > FALSE_ALARM
    for k, count in found.lower.items():
        assert two_sided(count, DRAWS, lower_tail(noise.law, k)) > FALSE_ALARM
    for law in wrong:
        assert min(two_sided(n, DRAWS, sf(law, k)) for k, n in found.upper.items()) < FALSE_ALARM
        assert min(two_sided(n, DRAWS, lower_tail(law, k)) for k, n in found.lower.items()) < FALSE_ALARM


@pytest.mark.parametrize("name", NAMES)
def test_signs_are_as_frequent_as_they_should_be(name: str):
    """False alarms: 1e-9. One per cent too many positive draws would show."""
    found, law = summary(name), noises()[name].law
    share = sf(law, -1)
    assert two_sided(found.not_negative, DRAWS, share) > FALSE_ALARM
    for wrong in (0.99 * share, 1.01 * share):
        assert two_sided(found.not_negative, DRAWS, wrong) < FALSE_ALARM


@pytest.mark.parametrize("name", ["Laplace", "Laplace, epsilon 0.0001", "staircase", "staircase, long cells"])
def test_symmetric_noise_has_either_sign_with_probability_one_half(name: str):
    """Cells k and -1 - k mirror each other. False alarms: 1e-9."""
    assert two_sided(summary(name).not_negative, DRAWS, 0.5) > FALSE_ALARM


@pytest.mark.parametrize("name", NAMES)
def test_a_draw_says_nothing_about_the_next(name: str):
    """Correlation of the ranks of neighbours. False alarms: 1e-9."""
    scores = summary(name).lag_scores
    assert 2 * norm.sf(abs(sum(scores)) / len(scores) ** 0.5) > FALSE_ALARM


def test_one_repeated_draw_in_a_hundred_would_show():
    ranks = np.random.Generator(np.random.PCG64(1)).integers(1000, size=1_000_000)
    ranks[1::100] = ranks[::100]
    assert 2 * norm.sf(abs(lag_score(ranks))) < FALSE_ALARM


@pytest.mark.parametrize("name", WITH_CELLS)
def test_points_of_one_cell_are_equally_probable(name: str):
    """In up to fifty parts. False alarms: 2e-9. A tilt from two per cent too few to two too many would show."""
    length, counts = cell_length(name), summary(name).parts
    widths = np.diff([-1, *part_ends(length), length - 1])
    counts, shares = counts[widths > 0], widths[widths > 0] / length
    assert FALSE_ALARM < chi_square(counts, shares) < 1 - FALSE_ALARM
    for tilt in (-0.02, 0.02):
        skewed = shares * np.linspace(1 - tilt, 1 + tilt, len(shares))
        assert chi_square(counts, skewed / skewed.sum()) < FALSE_ALARM


@pytest.mark.parametrize("name", WITH_CELLS)
def test_the_last_bits_within_a_cell_are_uniform_too(name: str):
    """Remainders by 64. False alarms: 2e-9. One remainder that comes ten per cent too often would show."""
    length, counts = cell_length(name), summary(name).residues
    points = np.array([len(range(r, length, RESIDUES)) for r in range(RESIDUES)])
    counts, shares = counts[points > 0], points[points > 0] / length
    assert FALSE_ALARM < chi_square(counts, shares) < 1 - FALSE_ALARM
    shares[0] *= 1.1
    assert chi_square(counts, shares / shares.sum()) < FALSE_ALARM


def cell_length(name: str) -> int:
    top = noises()[name].top
    assert top is not None
    return top[1] - top[0]

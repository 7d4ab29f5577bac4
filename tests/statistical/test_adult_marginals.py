"""All marginals of up to three attributes of the Adult table: 21 million cells, released at once."""

from __future__ import annotations

import math
import resource
import subprocess
import sys
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

import noisewright as nw
from benchmarks.adult_table import read_adult

SIZES = (85, 9, 100, 16, 7, 15, 6, 5, 2, 100, 100, 99, 42, 2)
RHO = Fraction(1, 2)
MEMORY = 4 * 2**30
DEVIATIONS = 6.0
"""No sum of squares may be farther from its mean: 2e-9 on both sides together."""
ROOT = Path(__file__).parents[2]


def _released(ways: range) -> tuple[nw.Certified, dict[tuple[int, ...], int], nw.mechanisms.WorkloadAnswer]:
    table = read_adult()
    if table is None:
        pytest.skip("the Adult table is not at hand")
    marginals = [chosen for count in ways for chosen in combinations(range(len(SIZES)), count)]
    query = nw.Workload.marginals(SIZES, marginals)
    best = nw.design(query, privacy=nw.ZeroConcentratedDP(RHO), utility=nw.SquaredError()).best
    return best, table, best.release(table)


def _check_noise(best: nw.Certified, table: dict[tuple[int, ...], int], released: nw.mechanisms.WorkloadAnswer) -> None:
    """Every measured row is off by its own Gaussian: sums of squares are neither too small nor too large."""
    strategy, squares, count = best.mechanism, 0.0, 0
    for group, (noisy, true) in enumerate(zip(released.measured, strategy.law_given(table), strict=True)):
        factors = strategy.rows.factors(group)
        std = math.sqrt(strategy.levels[group]) * strategy.fineness
        scaled = (noisy - true) / (std if factors is None else std * np.sqrt(factors))
        squares, count = squares + float(scaled @ scaled), count + len(scaled)
    sway = DEVIATIONS * math.sqrt(2 / count)
    assert 1 - sway < squares / count < 1 + sway
    for wrong in (0.98, 1.02) if count > 10**6 else ():
        assert not 1 - sway < squares / count * wrong**2 < 1 + sway


@pytest.mark.statistical
def test_marginals_of_single_attributes_are_those_of_the_table():
    best, table, released = _released(range(2))
    assert best.certificate.bound == RHO
    assert sum(table.values()) == 48_842
    _check_noise(best, table, released)
    by_age = np.zeros(SIZES[0])
    for cell, count in table.items():
        by_age[cell[0]] += count
    assert np.abs(released.answers[1 : 1 + SIZES[0]] - by_age).max() < 60
    assert abs(released.answers[0] - 48_842) < 60


@pytest.mark.soak
@pytest.mark.statistical
def test_all_marginals_of_up_to_three_attributes_are_released():
    best, table, released = _released(range(4))
    assert best.certificate.bound == RHO
    assert len(released.answers) == 21_043_262
    assert sum(map(len, released.measured)) == 19_303_551
    _check_noise(best, table, released)


@pytest.mark.soak
def test_a_release_of_all_of_them_fits_into_memory():
    if read_adult() is None:
        pytest.skip("the Adult table is not at hand")
    task = '{"sizes": [85, 9, 100, 16, 7, 15, 6, 5, 2, 100, 100, 99, 42, 2], "ways": [0, 1, 2, 3], "release": true}'
    done = subprocess.run(
        [sys.executable, str(ROOT / "benchmarks" / "workload_ours.py"), "noisewright", task],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY)),
    )
    assert done.returncode == 0, done.stderr
    assert "470 marginals, 21043262 cells" in done.stdout

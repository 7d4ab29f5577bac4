"""Wide ranges, epsilon 1, sensitivity 1: at most 1.05 times the variance of the best noise without bounds."""

from __future__ import annotations

from fractions import Fraction

import pytest

import noisewright as nw
from noisewright.problem.queries import Bounded
from noisewright.sample.certified import make_certified
from noisewright.search.families.shapes import clamped_noise

BEST = 1.918103531
"""The staircase of Geng and Viswanath, and the bound that no noise without bounds can beat."""


@pytest.mark.parametrize("room", ["1/2", "1"])
@pytest.mark.parametrize("width", [100, 300, 1000, 10_000, 10**6])
def test_half_a_range_beyond_the_inputs_leaves_the_best_variance(width: int, room: str):
    beyond = width * Fraction(room)
    asked = Bounded(sensitivity=1, inputs=(0, width), outputs=(-beyond, width + beyond), bias=0)
    mechanism = clamped_noise(asked, Fraction(1), nw.WorstVariance())
    assert mechanism is not None
    certified = make_certified(mechanism, nw.PureDP(1))
    worst = float(mechanism.expected(nw.WorstVariance()).upper())
    assert BEST <= worst <= 1.0003 * BEST
    assert certified.certificate.bound <= 1
    assert -beyond <= certified.release(width / 3) <= width + beyond


@pytest.mark.parametrize(("width", "programme"), [(10, 1.9199), (20, 1.9703), (40, 2.1059)])
def test_narrow_ranges_are_within_a_hundredth_of_the_programme_on_its_grid(width: int, programme: float):
    """Values of the linear programme on its default grid, half a range beyond, from `benchmarks/wide_bounds.py`."""
    asked = Bounded(sensitivity=1, inputs=(0, width), outputs=(-Fraction(width, 2), Fraction(3 * width, 2)), bias=0)
    mechanism = clamped_noise(asked, Fraction(1), nw.WorstVariance())
    assert mechanism is not None
    assert float(mechanism.expected(nw.WorstVariance()).upper()) <= 1.01 * programme

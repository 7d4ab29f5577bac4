"""Many draws of clamped noise against the stated mean and variance; each test can fail on both sides."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from noisewright.problem.privacy import PureDP
from noisewright.problem.queries import Bounded
from noisewright.problem.utilities import SquaredError
from noisewright.sample.certified import make_certified
from noisewright.search.families.shapes import clamped_noise

MANY = 1_000_000
SIGMAS = 6.5  # false alarms: one in 12 thousand million for each comparison


@pytest.mark.statistical
@pytest.mark.parametrize(("width", "room", "answer"), [(8, 3, 0.25), (8, 3, 7.99), (10**6, 5 * 10**5, 123456.789)])
def test_a_million_draws_have_the_mean_and_the_variance(width: int, room: int, answer: float):
    asked = Bounded(sensitivity=1, inputs=(0, width), outputs=(-room, width + room), bias=0)
    mechanism = clamped_noise(asked, Fraction(1), SquaredError())
    assert mechanism is not None
    certified = make_certified(mechanism, PureDP(1))
    error = certified.release_many(np.full(MANY, answer)) - answer
    stated = float(mechanism.variance_at(mechanism.read(answer)))
    tolerance = SIGMAS * np.sqrt(stated / MANY)
    assert abs(error.mean()) < tolerance
    # The other side: what clamping alone would push inward at 0.25 is seen, and so is a hundredth of the deviation.
    assert tolerance < 0.01 * np.sqrt(stated)
    fourth = float(np.mean((error - error.mean()) ** 4))
    spread = SIGMAS * np.sqrt((fourth - stated**2) / MANY)
    assert abs(error.var() - stated) < spread
    assert spread < 0.03 * stated

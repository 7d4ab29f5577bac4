"""Something new is tested by being registered: whatever has no strategy yet turns this file red."""

from __future__ import annotations

import noisewright.laws.registry  # noqa: F401  # loads every law, which registers it
from noisewright.laws.base import LAWS
from noisewright.problem.utilities import UTILITIES, Expected
from tests import strategies


def test_every_registered_law_is_drawn_in_these_tests():
    drawn = set(strategies.LAWS) | set(strategies.SMOOTH_LAWS) | strategies.TESTED_BY_HAND
    assert drawn == set(LAWS.kinds)
    assert set(strategies.CLAIMS) == set(strategies.LAWS)


def test_every_utility_is_drawn_in_these_tests():
    registered = {*UTILITIES.kinds.values(), Expected}
    assert set(strategies.UTILITIES) | strategies.UTILITIES_TESTED_BY_HAND == registered

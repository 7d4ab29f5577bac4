"""Something new is tested by being registered: whatever has no strategy yet turns this file red."""

from __future__ import annotations

from noisewright.laws.registry import KNOWN
from noisewright.problem.utilities import Expected
from noisewright.problem.utility import UTILITIES
from tests import strategies


def test_every_registered_law_is_drawn_in_these_tests():
    drawn = set(strategies.LAWS) | set(strategies.SMOOTH_LAWS) | strategies.TESTED_BY_HAND
    assert drawn == {law.CARD.kind for law in KNOWN}
    assert set(strategies.CLAIMS) == set(strategies.LAWS)


def test_every_utility_is_drawn_in_these_tests():
    registered = {*UTILITIES.kinds.values(), Expected}
    assert set(strategies.UTILITIES) | strategies.UTILITIES_TESTED_BY_HAND == registered

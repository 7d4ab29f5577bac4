"""What a law is."""

from __future__ import annotations

from fractions import Fraction

import pytest

from noisewright.laws.base import Law
from noisewright.laws.gaussian import GeneralizedGaussian
from noisewright.laws.laplace import Laplace
from noisewright.laws.piecewise import staircase

LAWS: list[Law] = [
    Laplace(Fraction(2)),
    Laplace(Fraction(1, 10**6)),
    staircase(epsilon=Fraction(1), sensitivity=Fraction(3), split=Fraction(1, 4)),
]


def test_laws_answer_to_the_protocol():
    assert all(isinstance(law, Law) for law in LAWS)
    assert not isinstance(object(), Law)


@pytest.mark.parametrize("place", [1, 2, 4, 8])
def test_where_a_loss_passes_epsilon_is_found_also_at_a_doubled_shift(place: int):
    law, shift = GeneralizedGaussian(3, 10), Fraction(1)
    epsilon = Fraction((place + 1) ** 3 - place**3, 1000)
    low, high = law.crossing(epsilon, shift) or (0, 0)
    assert low <= place <= high <= low * (1 + Fraction(1, 10**9))

"""What a law is."""

from __future__ import annotations

from fractions import Fraction

from noisewright.laws.base import Law
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

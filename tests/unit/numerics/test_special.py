"""Numbers rounded up to a few digits."""

from __future__ import annotations

from fractions import Fraction

import pytest

from noisewright.numerics.special import shortened


@pytest.mark.parametrize("value", ["1/3", "1e-9", "0.999999999", "1", "7e-300", "12345.678901"])
def test_a_shortened_number_is_not_below(value):
    exact = Fraction(value)
    found = shortened(exact, 24)
    assert exact <= found <= exact * (1 + Fraction(1, 2**23))
    assert found.numerator.bit_length() <= 26 or found.denominator == 1
    assert shortened(found, 24) == found


def test_nothing_stays_nothing():
    assert shortened(Fraction(0), 24) == 0

"""Sums with geometric weights, against the terms themselves."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from noisewright.numerics import special as series
from noisewright.numerics.balls import lower, precision, upper
from noisewright.numerics.fields import BALLS, FLOATS
from noisewright.numerics.special import geometric_power_sum, power_sum_polynomial

CASES = [
    (Fraction(decay), Fraction(start), Fraction(stride), Fraction(power))
    for decay in ("1/20", "1", "7/2")
    for start, stride in (("0", "1"), ("1/3", "1"), ("5", "2/7"))
    for power in ("0", "1", "4", "1/2", "13/5", "33/2")
]


def added_up(decay: Fraction, start: Fraction, stride: Fraction, power: Fraction) -> float:
    count = math.ceil((60 + 12 * float(power)) / float(decay))
    terms = (math.exp(-float(decay) * n) * float(start + n * stride) ** float(power) for n in range(count))
    return math.fsum(terms)


@pytest.mark.parametrize("case", CASES, ids=lambda case: ",".join(map(str, case)))
def test_floats_balls_and_the_terms_agree(case):
    with precision(128):
        exact = geometric_power_sum(BALLS, *case)
        low, high = lower(exact), upper(exact)
    direct = added_up(*case)
    assert high - low <= low / 2**45
    assert float(low) == pytest.approx(direct, rel=1e-12)
    assert geometric_power_sum(FLOATS, *case) == pytest.approx(direct, rel=1e-11)


@pytest.mark.parametrize("case", [c for c in CASES if c[3].denominator > 1], ids=lambda case: ",".join(map(str, case)))
@pytest.mark.parametrize("head", [20, 60, 200])
def test_the_smooth_rest_encloses_the_sum(case, head, monkeypatch):
    with precision(128):
        direct = geometric_power_sum(BALLS, *case)
        monkeypatch.setattr(series, "_DIRECT_TERMS", 0)
        monkeypatch.setattr(series, "_HEAD_TERMS", head)
        smooth = geometric_power_sum(BALLS, *case)
        assert smooth.overlaps(direct)
        assert lower(smooth) <= upper(direct)
        assert upper(smooth) >= lower(direct)
        if case[0] < Fraction(1, 10):
            width = (upper(smooth) - lower(smooth)) / upper(direct)
            assert width > (upper(direct) - lower(direct)) / upper(direct), "the other branch was taken"
            assert width < Fraction(1, 100)


def test_small_decays_take_the_smooth_branch_in_both_systems():
    case = Fraction(1, 10_000), Fraction(3, 10), Fraction(1), Fraction(5, 2)
    direct = added_up(*case)
    with precision(128):
        exact = geometric_power_sum(BALLS, *case)
        assert lower(exact) <= Fraction(direct) * (1 + Fraction(1, 10**12))
        assert upper(exact) >= Fraction(direct) * (1 - Fraction(1, 10**12))
        assert upper(exact) - lower(exact) < upper(exact) / 10**9
    assert geometric_power_sum(FLOATS, *case) == pytest.approx(direct, rel=1e-11)


def test_a_sum_cut_before_its_terms_decrease_is_an_error(monkeypatch):
    monkeypatch.setattr(series, "_terms", lambda decay, power, bits: 2)
    with precision(128), pytest.raises(ArithmeticError, match="cut"):
        geometric_power_sum(BALLS, Fraction(1, 100), Fraction(1), Fraction(1), Fraction(5, 2))


@pytest.mark.parametrize("power", range(9))
def test_faulhaber(power):
    coefficients = power_sum_polynomial(power)
    for n in (0, 1, 2, 3, 10, 57):
        polynomial = sum(c * n**i for i, c in enumerate(coefficients))
        assert polynomial == sum(k**power for k in range(1, n + 1))

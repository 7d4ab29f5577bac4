"""Every way of computing a quantity of a law agrees with every other."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from noisewright.laws.piecewise import Piecewise
from noisewright.laws.registry import law_from_dict
from noisewright.numerics.balls import lower, precision, upper
from noisewright.numerics.fields import BALLS, FLOATS
from noisewright.proof.pure import pure_bound
from tests import brute, strategies

EVERY_LAW = pytest.mark.parametrize("kind", sorted(strategies.LAWS))
places = st.fractions(min_value=-20, max_value=20, max_denominator=12)
NODES, WEIGHTS = np.polynomial.legendre.leggauss(24)


def agrees(ball, number: float, *, rel: float = 1e-11, absolute: float = 1e-15) -> bool:
    """The float lies in the ball, but for its own rounding."""
    slack = rel * abs(number) + absolute
    return float(lower(ball)) - slack <= number <= float(upper(ball)) + slack


def integral(law, low: Fraction, high: Fraction) -> float:
    """Quadrature of the density between its jumps."""
    if isinstance(law, Piecewise):
        edges = [low, *brute.jumps(law, low, high), high]
    else:
        edges = sorted({low, high, *(x for x in (Fraction(k, 4) for k in range(-80, 81)) if low < x < high)})
    total = 0.0
    for a, b in pairwise(edges):
        middle, half = float(a + b) / 2, float(b - a) / 2
        heights = [law.density(middle + half * x, FLOATS) for x in NODES]
        total += half * float(np.dot(WEIGHTS, heights))
    return total


@EVERY_LAW
@given(data=st.data())
@settings(max_examples=40)
def test_the_two_tails_make_one_and_floats_lie_in_the_balls(kind, data):
    law = brute.density_of(data.draw(strategies.LAWS[kind]))
    x = data.draw(places)
    assert law.cdf(x, FLOATS) + law.sf(x, FLOATS) == pytest.approx(1, abs=1e-12)
    with precision(128):
        below, above, density = law.cdf(x, BALLS), law.sf(x, BALLS), law.density(x, BALLS)
        assert (below + above).contains(1)
        assert upper(below) - lower(below) <= Fraction(1, 2**90)
        assert agrees(below, law.cdf(x, FLOATS))
        assert agrees(above, law.sf(x, FLOATS))
        assert agrees(density, law.density(x, FLOATS))


@EVERY_LAW
@given(data=st.data())
@settings(max_examples=20)
def test_the_density_integrates_to_differences_of_the_distribution_function(kind, data):
    law = brute.density_of(data.draw(strategies.LAWS[kind]))
    low, high = sorted((data.draw(places), data.draw(places)))
    area = integral(law, low, high)
    assert area == pytest.approx(law.cdf(high, FLOATS) - law.cdf(low, FLOATS), abs=1e-9)
    assert law.cdf(low, FLOATS) + area + law.sf(high, FLOATS) == pytest.approx(1, abs=1e-9)


@EVERY_LAW
@given(data=st.data())
@settings(max_examples=30)
def test_tails_are_accurate_far_out(kind, data):
    """Relative accuracy where 1 - cdf would have none: one more step out fades as the law says."""
    law = brute.density_of(data.draw(strategies.LAWS[kind]))
    far = Fraction(data.draw(st.integers(50, 300)))
    step, rate = (law.period, law.rate) if isinstance(law, Piecewise) else (law.scale, 1)
    fade = math.exp(-float(rate))
    assert law.sf(far * step + step, FLOATS) == pytest.approx(law.sf(far * step, FLOATS) * fade, rel=1e-9)
    assert law.cdf(-far * step - step, FLOATS) == pytest.approx(law.cdf(-far * step, FLOATS) * fade, rel=1e-9)


@EVERY_LAW
@given(data=st.data(), power=st.sampled_from(["0", "1/2", "1", "3/2", "2", "3", "19/4"]))
@settings(max_examples=30)
def test_moments_and_the_mean_are_the_sums_over_the_cells(kind, data, power):
    law = brute.density_of(data.draw(strategies.LAWS[kind]))
    exponent = Fraction(power)
    if isinstance(law, Piecewise):
        moment, mean = brute.power_mean(law, float(exponent)), brute.power_mean(law, 1.0, signed=True)
    else:
        moment, mean = math.gamma(float(exponent) + 1) * float(law.scale) ** float(exponent), 0.0
    size = max(moment, law.moment(1, FLOATS))
    assert law.moment(exponent, FLOATS) == pytest.approx(moment, rel=1e-8)
    assert law.mean(FLOATS) == pytest.approx(mean, abs=1e-8 * size)
    with precision(128):
        assert agrees(law.moment(exponent, BALLS), moment, rel=1e-8)
        assert agrees(law.mean(BALLS), mean, absolute=1e-8 * size)


@given(law=strategies.piecewise_laws(), x=places)
def test_the_level_is_that_of_the_unrolled_law(law, x):
    assert law.level_at(x) == brute.level(law, x)
    reach = abs(x) + 2 * law.period
    start, end, level = next(cell for cell in law.unrolled(reach) if cell[0] <= x < cell[1])
    assert level == brute.level(law, x)
    assert start < end


@EVERY_LAW
@given(data=st.data(), shift=strategies.rational_shifts)
@settings(max_examples=40)
def test_no_single_shift_is_worse_than_the_bound_over_all_of_them(kind, data, shift):
    law = data.draw(strategies.LAWS[kind])
    single = brute.shift_loss(law, shift) if isinstance(law, Piecewise) else abs(shift) / law.scale
    assert single <= pure_bound(law, abs(shift) + Fraction(1, 1000))[0]


@EVERY_LAW
@given(data=st.data())
@settings(max_examples=30)
def test_laws_come_back_from_plain_data(kind, data):
    law = data.draw(strategies.LAWS[kind])
    said = law.to_dict()
    assert said["kind"] == kind
    assert law_from_dict(said) == law

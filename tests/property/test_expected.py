"""The value of a mechanism is that of the error it makes, computed from the masses it draws."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import assume, given, settings, strategies as st

from noisewright.numerics.balls import lower, precision, upper
from noisewright.numerics.fields import BALLS, FLOATS
from noisewright.problem.utilities import AbsoluteError, ErrorQuantile, Expected, PowerError, Usefulness
from tests import strategies

EVERY_LAW = pytest.mark.parametrize("kind", sorted(strategies.LAWS))
EVERY_UTILITY = pytest.mark.parametrize("utility_kind", list(strategies.UTILITIES), ids=lambda kind: kind.__name__)


@EVERY_LAW
@given(data=st.data(), k=st.integers(-40, 40))
@settings(max_examples=40)
def test_the_error_has_the_masses_that_are_drawn_spread_over_their_cells(kind, data, k):
    """Released minus true answer is (k + 1 - u) spacings for real answers, u uniform; exactly k for integers."""
    mechanism = data.draw(strategies.CLAIMS[kind]).mechanism
    density = mechanism.error_density
    start, end = (mechanism.lattice.lower_edge(edge) * mechanism.stretch for edge in (k, k + 1))
    with precision(128):
        assert (density.cdf(end, BALLS) - density.cdf(start, BALLS)).overlaps(mechanism.noise.mass(k, BALLS))
        assert density.cdf((start + end) / 2, BALLS).overlaps((density.cdf(start, BALLS) + density.cdf(end, BALLS)) / 2)


@EVERY_LAW
@given(data=st.data(), answer=st.fractions(min_value=-30, max_value=30), noise=st.integers(-50, 50))
@settings(max_examples=40)
def test_the_released_value_is_off_by_at_most_the_noise_and_one_step(kind, data, answer, noise):
    mechanism = data.draw(strategies.CLAIMS[kind]).mechanism
    truth = Fraction(round(answer)) if mechanism.query.integer else answer
    error = mechanism.law_given(truth).value(noise) - truth
    if mechanism.query.integer:
        assert error == noise
    else:
        assert noise * mechanism.spacing < error <= (noise + 1) * mechanism.spacing


@EVERY_UTILITY
@EVERY_LAW
@given(data=st.data())
@settings(max_examples=8)
def test_floats_lie_in_the_balls(kind, utility_kind, data):
    mechanism = data.draw(strategies.CLAIMS[kind]).mechanism
    utility = strategies.fitted(data.draw(strategies.UTILITIES[utility_kind]), mechanism.query)
    if isinstance(utility, Expected):
        assume(mechanism.query.sensitivity > Fraction(1, 100) and mechanism.query.sensitivity < 100)
    value = mechanism.expected(utility, FLOATS)
    with precision(128):
        enclosure = mechanism.expected(utility, BALLS)
        low, high = float(lower(enclosure)), float(upper(enclosure))
    slack = 1e-7 * abs(value) + 1e-12
    assert low - slack <= value <= high + slack
    if not utility.tabulated:
        assert high - low <= 1e-3 * high + 1e-12


@EVERY_LAW
@given(data=st.data(), power=st.sampled_from(["1", "2", "1/2", "3"]))
@settings(max_examples=15)
def test_moments_of_the_error_are_sums_over_the_drawn_masses(kind, data, power):
    mechanism = data.draw(strategies.CLAIMS[kind]).mechanism
    lattice, q = mechanism.lattice, float(Fraction(power)) + 1
    density = mechanism.error_density
    reach = max(abs(density.breaks[0]), density.breaks[-1]) + 45 * (1 + 1 / density.rate) * density.period
    cells = math.ceil(reach / lattice.step)
    assume(cells < 4000)
    total = 0.0
    for k in range(-cells, cells + 1):
        if mechanism.query.integer:
            loss = abs(k) ** (q - 1)
        else:
            a, b = float(lattice.lower_edge(k)), float(lattice.lower_edge(k + 1))
            loss = (math.copysign(abs(b) ** q, b) - math.copysign(abs(a) ** q, a)) / (q * (b - a))
        total += loss * mechanism.noise.mass(k, FLOATS)
    assert mechanism.expected(PowerError(power), FLOATS) == pytest.approx(total, rel=1e-6)


@EVERY_LAW
@given(data=st.data(), confidence=st.sampled_from(["0.001", "0.5", "0.95", "0.9999"]))
@settings(max_examples=20)
def test_a_half_width_is_as_useful_as_its_confidence(kind, data, confidence):
    mechanism = data.draw(strategies.CLAIMS[kind]).mechanism
    width = mechanism.expected(ErrorQuantile(confidence), FLOATS)
    wanted = float(Fraction(confidence))
    assert mechanism.expected(Usefulness(width * (1 + 1e-9)), FLOATS) >= wanted - 1e-9
    if mechanism.query.integer:
        assert width == 0 or mechanism.expected(Usefulness(width - 1), FLOATS) < wanted
    else:
        assert mechanism.expected(Usefulness(width), FLOATS) == pytest.approx(wanted, rel=1e-6)


@EVERY_LAW
@given(data=st.data())
@settings(max_examples=20)
def test_the_bias_is_no_larger_than_the_mean_absolute_error(kind, data):
    mechanism = data.draw(strategies.CLAIMS[kind]).mechanism
    assert abs(mechanism.bias(FLOATS)) <= mechanism.expected(AbsoluteError(), FLOATS) * (1 + 1e-9)

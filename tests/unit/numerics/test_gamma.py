"""The incomplete gamma function of searches, beside balls."""

import subprocess
import sys
from fractions import Fraction

import numpy as np
from hypothesis import given, strategies as st

from noisewright.numerics.balls import ball, lower, precision, upper, upper_gamma_share
from noisewright.numerics.fields import gamma_tail, one_gamma_tail


@given(st.floats(1e-3, 3), st.floats(1e-12, 650))
def test_the_tail_agrees_with_balls_to_twelve_digits(order: float, place: float) -> None:
    with precision(200):
        tail = upper_gamma_share(Fraction(order), ball(Fraction(place)))
        low, high = float(lower(tail)), float(upper(tail))
    assert low * (1 - 5e-12) - 1e-300 <= one_gamma_tail(order, place) <= high * (1 + 5e-12) + 1e-300


def test_the_ends_and_arrays_agree_with_single_places() -> None:
    assert one_gamma_tail(0.3, 0.0) == 1
    assert one_gamma_tail(0.3, np.inf) == 0
    places = np.linspace(0, 40, 3000)
    for order in (0.2, 0.5, 1.0):
        few = gamma_tail(np.asarray(order), places[:1000])
        assert np.allclose(few, gamma_tail(np.asarray(order), places)[:1000], rtol=1e-11, atol=0)
        assert few[500] == one_gamma_tail(order, places[500])


def test_few_places_do_without_scipy() -> None:
    code = (
        "import sys, numpy as np; from noisewright.numerics.fields import gamma_tail;"
        "gamma_tail(1 / np.linspace(1, 9, 90), np.linspace(0, 9, 90)); print('scipy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"

"""Enclosures contain what they enclose: products of masses, integrals, roots, special functions, and their ends."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from noisewright.numerics.balls import (
    angle,
    around,
    ball,
    certainly_at_most,
    complex_ball,
    floor_scaled,
    hull,
    infinite,
    integral,
    lower,
    mass_product,
    positive,
    precision,
    upper,
    upper_gamma_share,
)
from noisewright.numerics.fields import BALLS, FLOATS
from noisewright.numerics.lp import reweighed
from noisewright.numerics.special import gaussian_transform, infinity, kummer, power_from_above

F = Fraction


def exact(value: Fraction) -> Any:
    return mpmath.mpf(value.numerator) / value.denominator


def assert_encloses(found: Any, truth: Any, digits: int = 25) -> None:
    low, high = exact(lower(found)), exact(upper(found))
    assert low <= truth <= high
    assert high - low <= abs(truth) * mpmath.mpf(10) ** -digits


def test_a_hull_reaches_from_the_lowest_to_the_highest_end_in_either_order():
    with precision(64):
        for low, high in ((ball(-3), ball(7)), (ball(7), ball(-3))):
            joined = hull(low, high)
            assert lower(joined) <= -3
            assert upper(joined) >= 7
            assert certainly_at_most(ball(-4), joined)
            assert certainly_at_most(joined, ball(8))


def test_ends_of_a_wide_ball_are_its_ends():
    with precision(64):
        wide = around(2.0, 0.5)
        assert lower(wide) <= F(3, 2)
        assert upper(wide) >= F(5, 2)
        assert floor_scaled(wide, 2) in (5, 6)


@settings(max_examples=40)
@given(
    st.lists(st.lists(st.integers(0, 2**20), min_size=1, max_size=4), min_size=1, max_size=4),
    st.integers(1, 20),
)
def test_products_of_masses_are_never_below_and_at_most_a_unit_above_for_each_rounding(factors, bits):
    found = mass_product(factors, bits)
    exact_product = [F(1)]
    for factor in factors:
        product = [F(0)] * (len(exact_product) + len(factor) - 1)
        for (i, a), (j, b) in itertools.product(enumerate(exact_product), enumerate(factor)):
            product[i + j] += a * F(b, 2**bits)
        exact_product = product
    scaled = [value * 2**bits for value in exact_product]
    padded = found + [0] * (len(scaled) - len(found))
    assert all(got >= want for got, want in zip(padded, scaled, strict=True))
    if len(factors) == 2:
        assert all(got < want + 1 for got, want in zip(padded, scaled, strict=True))


def test_an_integral_encloses_its_value():
    with precision(128), mpmath.workdps(50):
        found = integral(lambda z, analytic: (-(z * z)).exp() * complex_ball(2), F(-1), F(3, 2))
        truth = mpmath.sqrt(mpmath.pi) * (mpmath.erf(1) + mpmath.erf(mpmath.mpf(3) / 2))
        assert_encloses(found, truth, 15)


@pytest.mark.parametrize(
    ("found", "truth"),
    [
        (
            lambda: upper_gamma_share(F(5, 2), ball(F(1, 3))),
            lambda: mpmath.gammainc(mpmath.mpf(5) / 2, mpmath.mpf(1) / 3, regularized=True),
        ),
        (lambda: angle(ball(3), ball(-4)), lambda: mpmath.atan2(3, -4)),
        (lambda: BALLS.gamma_tail(F(1, 3), ball(2)), lambda: mpmath.gammainc(mpmath.mpf(1) / 3, 2, regularized=True)),
        (lambda: BALLS.sin_pi(ball(F(1, 7))), lambda: mpmath.sin(mpmath.pi / 7)),
        (lambda: BALLS.erfc(ball(F(7, 3))), lambda: mpmath.erfc(mpmath.mpf(7) / 3)),
        (lambda: BALLS.power(ball(F(7, 3)), F(-5, 2)), lambda: (mpmath.mpf(7) / 3) ** (mpmath.mpf(-5) / 2)),
    ],
)
def test_functions_enclose_their_values_to_many_digits(found, truth):
    with precision(128), mpmath.workdps(60):
        assert_encloses(found(), truth())


@pytest.mark.parametrize("name", ["gamma_tail", "sin_pi", "erfc", "sqrt", "pi"])
def test_floats_have_the_functions_of_balls(name):
    arguments = {
        "gamma_tail": lambda f: f.gamma_tail(F(5, 2), f.real(F(1, 3))),
        "sin_pi": lambda f: f.sin_pi(f.real(F(1, 7))),
        "erfc": lambda f: f.erfc(f.real(F(7, 3))),
        "sqrt": lambda f: f.sqrt(f.real(F(7, 3))),
        "pi": lambda f: f.pi(),
    }[name]
    with precision(128):
        assert float(arguments(BALLS).mid()) == pytest.approx(arguments(FLOATS), rel=1e-14)


@pytest.mark.parametrize(
    ("base", "exponent", "root"),
    [("9/4", "1/2", "3/2"), ("8/27", "2/3", "4/9"), ("8/27", "-0", "1"), ("4", "5/2", "32"), ("0", "1/2", "0")],
)
def test_rational_powers_are_exact(base, exponent, root):
    assert power_from_above(F(base), F(exponent)) == F(root)


@pytest.mark.parametrize(
    ("base", "exponent"),
    [("2", "1/2"), ("4/3", "1/2"), ("3/4", "1/2"), ("7/3", "9/10"), ("1/1000", "1/3"), ("5", "101/100")],
)
def test_other_powers_are_just_above(base, exponent):
    found = power_from_above(F(base), F(exponent))
    with mpmath.workdps(120):
        truth = exact(F(base)) ** exact(F(exponent))
        assert truth <= exact(found) <= truth * (1 + mpmath.mpf(10) ** -60)


@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize("z", ["0", "-3", "1/3", "19", "21", "39", "41", "100"])
def test_gaussian_transforms_are_their_integral(order, z):
    with mpmath.workdps(40):
        x = exact(F(z))
        truth = mpmath.quad(
            lambda t: t**order * mpmath.exp(-t * t / 2 - x * t), [0, 1 / (1 + abs(x)), 4 / (1 + abs(x)), 1, 5, 40]
        )
    assert gaussian_transform(order, float(F(z)), FLOATS) == pytest.approx(float(truth), rel=1e-9)
    with precision(192):
        found = gaussian_transform(order, ball(F(z)), BALLS)
        assert float(found.mid()) == pytest.approx(float(truth), rel=1e-14)
        assert upper(found) - lower(found) < abs(upper(found)) / 10**15


@pytest.mark.parametrize(
    ("a", "b", "x"), [("1/2", "3/2", "0"), ("1/2", "3/2", "10"), ("2", "2", "400"), ("1/9", "5", "1")]
)
def test_kummer_is_enclosed(a, b, x):
    with precision(192), mpmath.workdps(60):
        truth = mpmath.hyp1f1(exact(F(a)), exact(F(b)), exact(F(x)))
        found = kummer(F(a), F(b), F(x), BALLS)
        assert_encloses(found, truth, 30) if F(x) else assert_encloses(found, mpmath.mpf(1), 30)
        assert kummer(F(a), F(b), F(x), FLOATS) == pytest.approx(float(truth), rel=1e-12)


def test_what_is_not_finite_says_so():
    assert infinity(FLOATS) == float("inf")
    assert not infinity(BALLS).is_finite()
    assert not infinite().is_finite()


def test_weights_move_towards_a_measurement_by_half_its_distance_for_each_person():
    weights, row = np.array([1.0, 2.0, 5.0]), np.array([0.0, 3.0, -6.0])
    moved = reweighed(weights, row, 9.0, 8.0)
    # row . weights = -24; (9 + 24) / 6 / 16 for each sixth of a row entry.
    shares = weights * np.exp(row / 6 * (33 / 6 / 16))
    assert moved == pytest.approx(8 * shares / shares.sum(), rel=1e-12)
    assert moved.sum() == pytest.approx(8)
    # In other units of the query nothing changes; a row of zeros and nobody move nothing.
    assert reweighed(weights, row * 1000, 9000.0, 8.0) == pytest.approx(moved, rel=1e-12)
    assert reweighed(weights, row * 0, 9.0, 8.0) is weights
    assert reweighed(weights, row, 9.0, 0.0) is weights


@pytest.mark.parametrize(
    ("rows", "proven"),
    [
        ([[2, 1], [1, 2]], True),
        ([[2, 2], [2, 2]], False),
        ([[1, 2], [2, 1]], False),
        ([[0, 0], [0, 1]], False),
        ([[4, 1, 0], [1, 3, 1], [0, 1, 2]], True),
        ([[4, 1, 0], [1, 3, 5], [0, 5, 2]], False),
    ],
)
def test_a_matrix_is_positive_only_where_that_is_proven(rows, proven):
    with precision():
        assert positive([[ball(v) for v in row] for row in rows]) is proven

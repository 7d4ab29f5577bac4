"""Several numbers with generalized Gaussian noise: scales against independent integrals, certified on both sides.

The integrals share nothing with the verifier: one number by the closed form, two by quadrature over the first one's
noise, ten by a Fourier transform of the loss of cells of equal width, each loss shared between two grid points so that
its mean is kept. Their own error is below 1e-5 of the scale, against 1e-3 that is promised.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache, partial
from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.special import gamma, gammaincc, gammainccinv

import noisewright as nw
from noisewright.numerics.fields import Floats

EPSILON, DELTA = 1.0, 1e-6
PRIVACY = nw.ApproxDP(1, "1e-6")
PROMISED = 1e-3


def beyond(x: float, power: float) -> float:
    """P(X > x) at scale 1."""
    half = float(gammaincc(1 / power, abs(x) ** power)) / 2
    return half if x >= 0 else 1 - half


def loss(x: float, shift: float, power: float) -> float:
    return float(abs(x + shift) ** power - abs(x) ** power)


def one(epsilon: float, shift: float, power: float) -> float:
    """Delta of one number at any real epsilon: a half-line is the worst set."""
    far = 40.0 if power > 1 else 60.0
    if power == 1 and abs(epsilon) >= shift:
        return 0.0 if epsilon > 0 else -math.expm1(epsilon)
    if loss(far, shift, power) <= epsilon:
        return 0.0
    if loss(-far - shift, shift, power) >= epsilon:
        return -math.expm1(epsilon)
    place = brentq(lambda x: loss(x, shift, power) - epsilon, -far - shift, far, xtol=1e-14)
    return beyond(place, power) - math.exp(epsilon) * beyond(place + shift, power)


def two(epsilon: float, shift: float, power: float) -> float:
    """The mean, over the noise of the first number, of delta of the second at what is left of epsilon."""
    far = float(gammainccinv(1 / power, 1e-16)) ** (1 / power)

    def integrand(x: float) -> float:
        height = math.exp(-(abs(x) ** power)) * power / (2 * gamma(1 / power))
        return float(height * one(epsilon - loss(x, shift, power), shift, power))

    # Where the kinks of the noise and of what is left of epsilon can be.
    kinks = sorted({-shift, 0.0, (epsilon - 2 * shift) / 2, -shift / 2})
    ends = [-far, *(k for k in kinks if -far < k < far), far]
    return sum(quad(integrand, a, b, epsabs=1e-13, epsrel=1e-9, limit=400)[0] for a, b in pairwise(ends))


def many(count: int, epsilon: float, shift: float, power: float) -> float:
    """Cells of equal width in x; the loss of each, shared between two points of a fine grid."""
    far = float(gammainccinv(1 / power, 1e-17)) ** (1 / power)
    x = np.linspace(-far - shift, far, 100_001)
    half = gammaincc(1 / power, np.abs(x) ** power) / 2
    below = np.where(x <= 0, half, 1 - half)
    masses = np.diff(below, prepend=0.0)[1:]
    masses[0] += below[0]
    masses[-1] += 1 - below[-1]
    middle = (x[1:] + x[:-1]) / 2
    losses = np.abs(middle + shift) ** power - np.abs(middle) ** power
    grid = float(np.max(np.abs(losses))) / 3000
    places = losses / grid
    low = np.floor(places).astype(int)
    offset = -int(low.min())
    size = int(low.max()) + offset + 2
    table: Floats = np.bincount(low + offset, masses * (low + 1 - places), size).astype(np.float64)
    table += np.bincount(low + offset + 1, masses * (places - low), size)
    length = 1 << (count * size).bit_length()
    total = np.fft.irfft(np.fft.rfft(table, length) ** count, length)[: count * size]
    sums = (np.arange(len(total)) - count * offset) * grid
    return float(np.sum(np.maximum(total, 0) * np.maximum(-np.expm1(epsilon - sums), 0)))


@cache
def smallest(power: float, count: int) -> float:
    """The smallest scale for shifts of 1, by bisection on its logarithm."""
    delta = {1: one, 2: two}.get(count) or partial(many, count)

    def excess(log_scale: float) -> float:
        return math.log(max(delta(EPSILON, math.exp(-log_scale), power), 1e-300) / DELTA)

    # Laplace noise of scale count / epsilon is purely private; all of these need more than 0.9 of it.
    low = math.log(0.9 * count) if power == 1 else 0.0
    high = math.log(count) if power == 1 else math.log(100)
    return math.exp(brentq(excess, low, high, xtol=1e-7))


def mechanism(power: str, count: int, scale: Fraction) -> nw.mechanisms.PerCoordinate:
    law = nw.laws.GeneralizedGaussian(Fraction(power), scale)
    part = nw.mechanisms.Additive(nw.Scalar(1), law, nw.laws.Lattice.cells(Fraction(1, 100)))
    return nw.mechanisms.PerCoordinate(nw.Vector(nw.Box([1] * count)), (part,) * count)


@pytest.mark.parametrize("count", [1, 2, 10])
@pytest.mark.parametrize("power", ["1", "1.5", "2", "3"])
def test_the_scale_is_within_a_thousandth_of_the_smallest_and_certified_on_both_sides(power, count):
    family = nw.laws.generalized_gaussians(power)
    laws = nw.laws.calibrated_together(family, [1] * count, PRIVACY)
    assert len({law.scale for law in laws}) == 1
    scale, least = laws[0].scale, smallest(float(power), count)
    assert least * (1 - 1e-5) <= float(scale) <= least * (1 + PROMISED)
    assert nw.certify(mechanism(power, count, scale), PRIVACY).bound <= PRIVACY.delta
    with pytest.raises(nw.errors.UncertifiedError, match="delta reaches"):
        nw.certify(mechanism(power, count, scale * (1 - Fraction(str(PROMISED)))), PRIVACY)


@pytest.mark.parametrize("power", ["1.5", "3"])
def test_the_integrals_agree_with_each_other(power):
    """So that the independent numbers stand on more than one leg."""
    shift = 1 / smallest(float(power), 2)
    assert many(2, EPSILON, shift, float(power)) == pytest.approx(DELTA, rel=1e-4)
    assert many(1, 0.3, 0.4, float(power)) == pytest.approx(one(0.3, 0.4, float(power)), rel=1e-5)

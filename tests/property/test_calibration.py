"""Calibrations never overshoot, are tight, and hold on the lattice that is drawn."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import mpmath
import numpy as np
import pytest

import noisewright as nw
from noisewright.search.families.approximate import on_lattice
from noisewright.search.families.planned import tail_array

DIGITS = 60
SETTINGS = 1000
LATTICES = 1000


def _requirement(source: random.Random):
    kind = source.choice([nw.ApproxDP, nw.ProbabilisticDP])
    epsilon = Fraction(10 ** source.uniform(-2, 1)).limit_denominator(10**6)
    delta = Fraction(10 ** source.uniform(-9, -0.7)).limit_denominator(10**12)
    return kind(epsilon, delta)


def _tail(law, x):
    """P(X > x) in 60 digits, by formulas of its own."""
    if isinstance(law, nw.laws.Gaussian):
        return mpmath.erfc(x / (_real(law.std) * mpmath.sqrt(2))) / 2
    if isinstance(law, nw.laws.Logistic):
        return 1 / (1 + mpmath.exp(x / _real(law.scale)))
    p, b = _real(law.power), _real(law.scale)
    half = mpmath.gammainc(1 / p, (abs(x) / b) ** p, mpmath.inf, regularized=True) / 2
    return half if x >= 0 else 1 - half


def _log_density(law, x):
    if isinstance(law, nw.laws.Gaussian):
        return -(x**2) / (2 * _real(law.std) ** 2)
    if isinstance(law, nw.laws.Logistic):
        z = abs(x) / _real(law.scale)
        return -z - 2 * mpmath.log(1 + mpmath.exp(-z))
    return -((abs(x) / _real(law.scale)) ** _real(law.power))


def _real(value: Fraction):
    return mpmath.mpf(value.numerator) / value.denominator


def _delta(law, privacy, reach):
    """The exact delta of a log-concave law, from the place where the log-ratio passes epsilon."""
    d, epsilon = _real(reach), _real(privacy.epsilon)

    def excess(x):
        return _log_density(law, x) - _log_density(law, x + d) - epsilon

    low, high = -d / 2, d
    while excess(high) <= 0:
        low, high = high, 2 * high
        if high > mpmath.mpf(10) ** 30:
            return mpmath.mpf(0)
    # Bracketed by both ends throughout; forty digits, as 130 halvings give.
    low = mpmath.findroot(excess, (low, high), solver="anderson", tol=mpmath.mpf(10) ** -40, maxsteps=100)
    if isinstance(privacy, nw.ApproxDP):
        return _tail(law, low) - mpmath.exp(epsilon) * _tail(law, low + d)
    return _tail(law, low) + _tail(law, low + d)


FAMILIES = [
    nw.laws.GAUSSIAN,
    nw.laws.LOGISTIC,
    *(nw.laws.generalized_gaussians(power) for power in ("1.2", "1.5", "2", "3", "5")),
]


def test_a_thousand_scales_never_overshoot_and_are_tight():
    source = random.Random(4)
    reach = Fraction(3, 7)
    with mpmath.workdps(DIGITS):
        for family in FAMILIES:
            wanted = [_requirement(source) for _ in range(SETTINGS // len(FAMILIES) + 1)]
            for privacy, scale in zip(wanted, nw.laws.calibrated_many(family, reach, wanted), strict=True):
                target = _real(privacy.delta)
                assert _delta(family.make(scale), privacy, reach) <= target
                assert _delta(family.make(scale * Fraction(999, 1000)), privacy, reach) > target


def _brute_probabilistic(mechanism, epsilon: float) -> float:
    """Every shift and every cell, in floats: cells that are, or whose neighbour is, too likely."""
    law, step = mechanism.law, float(mechanism.lattice.step)
    steps = int(mechanism.query.sensitivity / mechanism.lattice.step)
    reach = 64
    while float(tail_array(law, np.array([reach * step]))[0]) > 1e-15:
        reach *= 2
    tails = tail_array(law, np.arange(reach + steps + 2, dtype=np.float64) * step)
    side = tails[:-1] - tails[1:]
    line = np.concatenate([side[::-1], side])
    worst = 0.0
    factor = math.exp(epsilon) * (1 + 1e-9)
    for shift in range(1, steps + 1):
        a, b = line[:-shift], line[shift:]
        seen = (a > 1e-18) & (b > 1e-18)
        worst = max(worst, float(np.sum(a[seen & ((a > factor * b) | (b > factor * a))])))
    return worst


def test_a_thousand_lattices_keep_the_probabilistic_delta_of_what_is_drawn():
    source = random.Random(7)
    query = nw.Scalar(1)
    raised = 0
    for i in range(LATTICES):
        privacy = nw.ProbabilisticDP(
            Fraction(10 ** source.uniform(-1, 0.7)).limit_denominator(1000),
            Fraction(10 ** source.uniform(-6, -1)).limit_denominator(10**9),
        )
        family = (nw.laws.GAUSSIAN, nw.laws.generalized_gaussians(3))[i % 2]
        scale = nw.laws.calibrated_many(family, 1, [privacy])[0]
        lattice = nw.laws.Lattice.cells(Fraction(1, source.randint(1, 12)))
        mechanism = nw.mechanisms.Additive(query, family.make(scale), lattice)
        try:
            nw.certify(mechanism, privacy)
        except nw.errors.UncertifiedError:
            # Rounding raised delta: this much more noise is enough for every lattice tried.
            raised += 1
            while True:
                scale *= Fraction(103, 100)
                mechanism = nw.mechanisms.Additive(query, family.make(scale), lattice)
                try:
                    nw.certify(mechanism, privacy)
                    break
                except nw.errors.UncertifiedError:
                    continue
        assert _brute_probabilistic(mechanism, float(privacy.epsilon)) <= float(privacy.delta) * (1 + 1e-7)
    assert raised > LATTICES // 10  # the effect is there, so the test is about something


def test_the_designed_lattice_scale_is_the_smallest_to_a_thousandth():
    query, privacy = nw.Scalar(1), nw.ProbabilisticDP(1, "0.01")
    scale = nw.laws.calibrated(nw.laws.GAUSSIAN, 1, privacy).std
    mechanism = on_lattice(query, privacy, nw.SquaredError(), nw.laws.Gaussian, scale)
    assert nw.certify(mechanism, privacy).bound <= privacy.delta
    assert isinstance(mechanism.law, nw.laws.Gaussian)
    smaller = nw.mechanisms.Additive(
        query, nw.laws.Gaussian(mechanism.law.std * Fraction(999, 1000)), mechanism.lattice
    )
    with pytest.raises(nw.errors.UncertifiedError):
        nw.certify(smaller, privacy)


def test_rounding_raises_the_probabilistic_delta_as_theory_says():
    # Three steps per sensitivity: 0.010417 where the continuous law has 0.01 (summed over cells in floats as well).
    scale = nw.laws.calibrated(nw.laws.GAUSSIAN, 1, nw.ProbabilisticDP(1, "0.01"))
    coarse = nw.mechanisms.Additive(nw.Scalar(1), scale, nw.laws.Lattice.cells(Fraction(1, 3)))
    bound = float(nw.certify(coarse, nw.ProbabilisticDP(1, "0.02")).bound)
    assert bound == pytest.approx(_brute_probabilistic(coarse, 1.0), rel=1e-9)
    assert bound == pytest.approx(0.010417, abs=1e-6)
    with pytest.raises(nw.errors.UncertifiedError):
        nw.certify(coarse, nw.ProbabilisticDP(1, "0.01"))
    nw.certify(coarse, nw.ApproxDP(1, "0.01"))

"""Half-widths of strategies: never less than errors are, and for Gaussian noise hardly more."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import noisewright as nw
from noisewright.mechanisms.tails import LaplaceSumTail, RoundedSumTail, laplace_sum_beyond
from noisewright.numerics.balls import precision, upper
from noisewright.sample.certified import make_certified
from tests.workloads import STRATEGIES, M

DRAWN = 1_000
SWAY = 6.0 * math.sqrt(DRAWN * 0.09)
"""A count of errors beyond its mean by more is a false alarm of 1e-9 on each side."""


def _certified(strategy: Any) -> nw.Certified:
    claim = nw.ZeroConcentratedDP(16) if isinstance(strategy, M.GaussianStrategy) else nw.PureDP(16)
    return make_certified(strategy, claim)


@pytest.mark.statistical
@pytest.mark.parametrize("name", ["three branches", "dense", "residuals", "Laplace blocks", "Laplace dense"])
def test_errors_stay_within_as_often_as_said(name: str):
    certified = _certified(STRATEGIES[name])
    errors = np.abs(certified.draw(DRAWN))
    each, every = np.array(certified.half_width("0.9")), certified.half_width("0.9", joint=True)
    assert ((errors > each).sum(axis=0) <= DRAWN * 0.1 + SWAY).all()
    assert (errors.max(axis=1) > every).sum() <= DRAWN * 0.1 + SWAY
    if isinstance(certified.mechanism, M.GaussianStrategy):
        assert ((errors > 0.7 * each).sum(axis=0) > DRAWN * 0.1 + SWAY).all()
    assert (certified.release({}).half_widths_at(0.9) <= each * 1.0001).all()


@pytest.mark.parametrize("rate", ["1/1000", "1/4", 1, 3])
def test_a_single_number_is_beyond_no_more_often_than_its_tail_says(rate: Any):
    fade = math.exp(-float(Fraction(rate)))
    variance = 2 * fade / (1 - fade) ** 2
    tail = LaplaceSumTail(Fraction(1 / variance) + Fraction(1, 10**12))
    with precision():
        for t in (Fraction(k, 4) for k in range(2, 100)):
            true = 2 * fade ** (math.floor(float(t) * variance**0.5) + 1) / (1 + fade)
            said = float(upper(tail.beyond(t)))
            assert true <= said <= 1
            assert said <= 1.000001 / float(t) ** 2


def test_sums_of_many_numbers_are_beyond_no_more_often_than_their_tail_says():
    law = np.exp(-np.abs(np.arange(-40, 41)) / 1.3)
    law /= law.sum()
    variance, total = float(law @ np.arange(-40, 41) ** 2), law
    for count in (2, 3, 4):
        total = np.convolve(total, law)
        reach = (len(total) - 1) // 2
        places = np.abs(np.arange(-reach, reach + 1)) / math.sqrt(count * variance)
        tail = LaplaceSumTail(Fraction(1 / variance) + Fraction(1, 10**9))
        with precision():
            for t in (1.5, 2.0, 3.0, 4.5, 6.0):
                assert total[places > t].sum() <= float(upper(tail.beyond(Fraction(t))))


def test_no_sum_of_laplace_numbers_is_beyond_more_often_than_their_bound():
    def exact(t: float, weights: list[float]) -> float:
        """By partial fractions: a sum of Laplace numbers of different variances is a mixture of them."""
        scales = [math.sqrt(w / 2) for w in weights]
        shares = [math.prod(1 / (1 - (c / b) ** 2) for c in scales if c != b) for b in scales]
        return sum(share * math.exp(-t / b) for share, b in zip(shares, scales, strict=True))

    with precision():
        for t in (1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 6.0, 9.0):
            said = float(upper(laplace_sum_beyond(Fraction(t))))
            for weights in ([1.0], [0.9, 0.1], [0.7, 0.3], [0.5, 0.3, 0.2], [0.4, 0.3, 0.2, 0.1]):
                assert exact(t, weights) <= said
            assert math.erfc(t / 2**0.5) <= said
            assert said <= 1.36 * math.exp(-(2**0.5) * t), "hardly more than one number by itself"
        assert float(LaplaceSumTail(Fraction(1, 2**40)).within(Fraction(1, 20))) == pytest.approx(2.156, abs=2e-3)


def test_rounding_is_counted_beside_gaussian_noise():
    with precision():
        for t in (1, 2, 3):
            fine = float(upper(RoundedSumTail(Fraction(1, 2**40)).beyond(Fraction(t))))
            assert fine == pytest.approx(math.erfc(t / 2**0.5), rel=1e-4)
            assert fine > math.erfc(t / 2**0.5)
            assert float(upper(RoundedSumTail(Fraction(1, 2**10)).beyond(Fraction(t)))) > 1.05 * fine
        assert upper(RoundedSumTail(Fraction(4)).beyond(Fraction(2))) == 1


def test_too_many_questions_have_their_half_widths_in_the_release():
    query = nw.Workload.ranges(400)
    strategy = M.GaussianStrategy(query, M.BlockRows(400, 2, [0]), [2**30])
    with pytest.raises(nw.errors.InvalidUtilityError, match="those of a release"):
        _certified(strategy).half_width("0.95")

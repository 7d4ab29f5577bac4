"""Every second fold is drawn with exactly its law: the right scale passes, one a tenth off fails, on both sides.

False alarms: each p-value is below 1e-9 once in a billion runs.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import noisewright as nw
from noisewright.laws.lattice import Lattice, Rounded
from noisewright.laws.two_fold import GammaFold, TwoFold
from noisewright.proof.pure import pure_bound
from noisewright.sample.certified import make_certified
from noisewright.sample.entropy import SystemEntropy
from noisewright.sample.sampler import NoiseSampler
from tests.replay import Replay
from tests.statistical.tests_of_fit import FALSE_ALARM, bin_counts, bin_ends, bin_probabilities, chi_square
from tests.twofold import FOLDS

_DRAWS = 150_000
_STEP = Fraction(1, 50)


@pytest.mark.statistical
@pytest.mark.parametrize("fold", FOLDS.values(), ids=FOLDS)
def test_the_draw_has_the_law_and_no_other(fold):
    noise = Rounded(TwoFold(fold), Lattice.cells(_STEP))
    draws = NoiseSampler(noise).many(_DRAWS, SystemEntropy().stream())
    for factor, fits in ((Fraction(1), True), (Fraction(9, 10), False), (Fraction(11, 10), False)):
        law = Rounded(TwoFold(fold.scaled(factor)), Lattice.cells(_STEP))
        ends = bin_ends(law, 40)
        counts = bin_counts(np.clip(draws, -(2**62), 2**62).astype(np.int64), ends)
        p_value = chi_square(counts, bin_probabilities(law, ends))
        assert (p_value > FALSE_ALARM) is fits


@pytest.mark.statistical
def test_heavy_tails_are_drawn_to_any_distance():
    """Gamma with shape 1/100: values beyond the largest float occur, and none is lost."""
    fold = GammaFold(Fraction(1, 100), Fraction(1))
    certified = make_certified(
        nw.mechanisms.Additive(nw.Scalar(1), TwoFold(fold), nw.laws.Lattice.cells(Fraction(1, 10))),
        nw.PureDP(pure_bound(TwoFold(fold), Fraction(1))[0] + Fraction(1, 10**6)),
    )
    draws = certified.draw(500)
    far = sum(abs(Fraction(x)) > 10**100 for x in draws)
    # P(|X| > 10^100) = (1 + 10^100)^(-1/100) = 0.1; seven standard deviations are 47.
    assert abs(far - 50) < 47
    extreme = certified.release(5, entropy=Replay([2**64 - 2**10], seed=1))
    assert isinstance(extreme, Fraction)
    assert extreme > Fraction(2) ** 5000
    noise = certified.draw(2, entropy=Replay([2**64 - 2**10, 2**63], seed=1))
    assert noise.dtype == object
    assert noise[0] > Fraction(2) ** 5000


@pytest.mark.statistical
def test_the_random_exponential_mechanism_chooses_with_its_probabilities():
    mechanism = nw.mechanisms.RandomExponential(
        nw.Choice(["a", "b", "c"]), (Fraction(1, 2), Fraction(2)), (Fraction(1, 4), Fraction(3, 4))
    )
    certified = make_certified(mechanism, nw.PureDP(2))
    scores = {"a": 0, "b": 1, "c": 3}
    counts = np.array([0, 0, 0])
    for _ in range(4000):
        counts["abc".index(certified.release(scores))] += 1
    heights = {e: np.exp(e * np.array([0, 1, 3]) / 2) for e in (0.5, 2.0)}
    right = 0.25 * heights[0.5] / heights[0.5].sum() + 0.75 * heights[2.0] / heights[2.0].sum()
    assert chi_square(counts, right) > FALSE_ALARM
    assert chi_square(counts, heights[2.0] / heights[2.0].sum()) < FALSE_ALARM
    assert chi_square(counts, heights[0.5] / heights[0.5].sum()) < FALSE_ALARM

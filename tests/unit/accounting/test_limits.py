"""Plans and losses of any size end, with a bound that holds or a refusal in words."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

import noisewright as nw
from noisewright.problem.errors import InvalidInputError
from noisewright.proof.profiles.renyi import ConcentratedProfile, RenyiProfile


def test_plans_are_bounded_in_size_and_depth():
    million = nw.compose("gaussian(sigma=1e9) x 1000000")
    assert nw.compose([(million, 100)]).delta(1) >= 0
    with pytest.raises(InvalidInputError, match="101000000 releases"):
        nw.compose([(million, 101)])
    with pytest.raises(InvalidInputError, match="releases"):
        nw.compose([million], groups=101)
    plan = nw.compose("gaussian(sigma=9)")
    for _ in range(8):
        plan = nw.compose([plan, plan])
    with pytest.raises(InvalidInputError, match="9 deep"):
        nw.compose([plan])


def test_an_epsilon_beyond_every_loss_is_answered():
    plan = nw.compose("gaussian(sigma=1)")
    assert plan.delta("1e400") == plan.delta(1e308) == plan.delta(10**9) > 0
    assert plan.bracket(epsilon="1e400").lower == 0


@pytest.mark.parametrize(
    ("words", "least", "most"),
    [
        (["laplace(epsilon=5000)"], 4990, 5000),
        (["discrete_laplace(scale=1, sensitivity=1000000)"], 999_980, 10**6),
        (["gaussian(sigma=1e6)", "randomized_response(epsilon=64)"], 63, 65),
        (["randomized_response(epsilon=1/1000003) x 100", "pair(epsilon=20, delta=0) x 100"], 1999, 2001),
        (["laplace(epsilon=1e-300)"], 0, 0),
        (["pair(epsilon=1e-399, delta=0)", "gaussian(sigma=1e399)", "pair(epsilon=1, delta=0)"], "0.9", "1.1"),
    ],
)
def test_losses_of_very_different_sizes_end_on_wider_cells_and_stay_above_the_truth(words, least, most):
    plan = nw.compose(words)
    assert Fraction(least) <= plan.epsilon("1e-6") <= Fraction(most)


def test_wider_cells_are_above_the_truth_at_every_epsilon():
    plan = nw.compose(["laplace(epsilon=5000)"])
    for epsilon in (1, 1000, 4900, 4990, 4999):
        # Laplace noise is known in closed form.
        truth = 1 - math.exp((epsilon - 5000) / 2)
        assert truth * (1 - 1e-12) <= plan.delta(epsilon) <= min(1, truth + 0.01)


def test_nothing_is_lost_where_a_certificate_says_so():
    for profile in (ConcentratedProfile(Fraction(0)), RenyiProfile(Fraction(2), Fraction(0))):
        assert profile.deltas([Fraction(0), Fraction(1)], 64) == [0, 0]
        assert profile.largest == 0
        assert profile.lost == profile.spread == 0

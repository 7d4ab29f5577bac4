"""Candidates are drawn by permute-and-flip with exactly its probabilities."""

from __future__ import annotations

import math

import numpy as np
import pytest

import noisewright.sample.certified  # noqa: F401  # makes every sampler known
from noisewright.mechanisms.selection import PermuteAndFlip
from noisewright.numerics.fields import FLOATS
from noisewright.problem.errors import InvalidAnswerError
from noisewright.problem.privacy import PureDP
from noisewright.problem.queries import Choice
from noisewright.sample.certified import make_certified
from noisewright.sample.drawers import drawer_for
from tests.mechanisms_by_hand import FAILS, FITS, fit
from tests.replay import Replay
from tests.statistical.tests_of_fit import FALSE_ALARM, chi_square

SCORES = {"a": 0, "b": 3, "c": 1, "d": 3}
TOP = 2**64 - 1


def flips(epsilon=2, sensitivity=2) -> PermuteAndFlip:
    return PermuteAndFlip(Choice(list(SCORES), sensitivity), epsilon)


def shares(epsilon=2) -> dict[str, float]:
    return dict(zip(SCORES, flips(epsilon).law_given(SCORES).masses(FLOATS), strict=True))


def test_a_candidate_is_chosen_with_its_probability():
    drawer, replay = drawer_for(flips()), Replay(seed=3)
    drawn = [drawer.release(SCORES, replay) for _ in range(10_000)]
    assert fit(drawn, shares()) > FITS
    assert fit(drawn, shares(4)) < FAILS
    assert fit(drawn, shares(1)) < FAILS
    heights = {name: math.exp(score / 2) for name, score in SCORES.items()}
    exponential = {name: height / sum(heights.values()) for name, height in heights.items()}
    assert fit(drawn, exponential) < FAILS


@pytest.mark.statistical
def test_fresh_words_choose_with_the_same_probabilities():
    """Either too little noise or too much fails; a right law fails with probability 1e-9."""
    certified = make_certified(flips(), PureDP(2))
    counts = np.zeros(4, dtype=np.int64)
    for _ in range(4000):
        counts[list(SCORES).index(certified.release(SCORES))] += 1
    assert chi_square(counts, np.array(list(shares().values()))) > FALSE_ALARM
    assert chi_square(counts, np.array(list(shares(4).values()))) < FALSE_ALARM
    assert chi_square(counts, np.array(list(shares(1).values()))) < FALSE_ALARM


def test_words_decide_the_order_and_the_coins():
    """Of four the first is met with the two highest bits; its coin accepts if a word is below e^-x."""
    drawer = drawer_for(flips())
    below = int(2**64 * math.exp(-1.5 / (1 + 2**-24)))
    slack = 2**16
    assert drawer.release(SCORES, Replay([0, below - slack])) == "a"
    assert drawer.release(SCORES, Replay([1 << 62])) == "b"
    assert drawer.release(SCORES, Replay([TOP])) == "d"
    # Once "a" is refused the last candidate has its place: the next order number 0 means "d".
    assert drawer.release(SCORES, Replay([0, below + slack, 0])) == "d"
    assert drawer.release(SCORES, Replay([2 << 62, TOP, 2 << 62])) == "d"
    assert drawer.release(SCORES, Replay([2 << 62, TOP, 0, TOP, 1 << 63])) == "b"


def test_one_candidate_needs_no_words():
    replay = Replay([])
    assert drawer_for(PermuteAndFlip(Choice(["only"]), 1)).release({"only": 7}, replay) == "only"
    assert replay.consumed == 0


def test_a_far_better_candidate_is_found_among_many():
    names = [str(i) for i in range(3000)]
    certified = make_certified(PermuteAndFlip(Choice(names), 1), PureDP(1))
    assert certified.release({name: 10**6 if name == "1234" else 0 for name in names}) == "1234"


def test_what_is_said_and_what_is_refused():
    certified = make_certified(flips(), PureDP(2))
    described = certified.describe()
    assert "4 candidates, higher scores more often, by permute-and-flip (epsilon 2)" in described
    assert "95 % confidence at most 6.756798 below" in described
    with pytest.raises(InvalidAnswerError, match="depends on the answer"):
        certified.draw(1)

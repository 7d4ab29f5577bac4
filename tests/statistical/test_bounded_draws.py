"""Draws of bounded mechanisms against their exact laws; each test can fail on both sides."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import noisewright as nw
from noisewright.laws.bumps import Plateau
from noisewright.mechanisms.bounded.conditional import profile_of
from noisewright.numerics.fields import FLOATS
from noisewright.sample.certified import make_certified
from noisewright.search.families.shapes import central, composite, hybrid, truncated, two_point
from tests.bounded import question

MANY = 10_000_000
SIGMAS = 6.5  # false alarms: one in 12 thousand million for each comparison


def _programme(query):
    report = nw.mechanisms.design_bounded(
        query, privacy=nw.PureDP(1), utility=nw.WorstVariance(), inputs=10, outputs=60
    )
    return next(c.certified for c in report.candidates if c.name == "linear programme")


def _kinds() -> dict:
    query, narrow = question(margin="4"), question("1/4", "4")
    one = nw.PureDP(1)
    return {
        "composite": make_certified(composite(query, Fraction(1), Plateau(Fraction(3, 10))), one),
        "two-point": make_certified(two_point(query, Fraction(1)), one),
        "hybrid": make_certified(hybrid(query, Fraction(1), "worst"), one),
        "central": make_certified(central(narrow, Fraction(1), Fraction(1, 10)), one),
        "programme": _programme(query),
    }


@pytest.fixture(scope="module")
def kinds() -> dict:
    return _kinds()


@pytest.mark.statistical
@pytest.mark.parametrize("name", ["composite", "two-point", "hybrid", "central", "programme"])
def test_ten_million_draws_have_the_mean_and_the_variance(kinds: dict, name: str):
    """An answer off every lattice; the mean may not differ from the truth, nor the variance from what is stated."""
    certified, answer = kinds[name], 0.3141592653589793
    count = MANY
    drawn = certified.release_many(np.full(count, answer))
    low, high = (float(b) for b in certified.mechanism.query.outputs)
    assert low <= drawn.min()
    assert drawn.max() <= high
    stated = float(profile_of(certified.mechanism).at(Fraction(answer), 1))
    error = drawn - answer
    mean_tolerance = SIGMAS * np.sqrt(stated / count)
    assert abs(error.mean()) < mean_tolerance
    # The other side: a mean that is off by a two-hundredth of a standard deviation would be seen.
    assert abs((error + np.sqrt(stated) / 200).mean()) > mean_tolerance
    square = (error**2).mean()
    spread = SIGMAS * (error**2).std() / np.sqrt(count)
    assert abs(square - stated) < spread + 1e-4 * stated
    assert abs(square * 1.02 - stated) > spread + 1e-4 * stated


@pytest.mark.statistical
@pytest.mark.parametrize(
    "turns", [1, pytest.param(10, marks=pytest.mark.soak)], ids=["ten million", "a hundred million"]
)
def test_tens_of_millions_of_draws_stay_inside_the_bounds(kinds: dict, turns: int):
    certified = kinds["programme"]
    low, high = (float(b) for b in certified.mechanism.query.outputs)
    answers = np.full(MANY, 0.987654321)
    lowest, highest = np.inf, -np.inf
    for _ in range(turns):
        drawn = certified.release_many(answers)
        lowest, highest = min(lowest, drawn.min()), max(highest, drawn.max())
    assert low <= lowest
    assert highest <= high


@pytest.mark.statistical
def test_one_by_one_and_many_at_once_have_the_same_law(kinds: dict):
    """2,000 single releases against the exact distribution function (Kolmogorov; alarm rate below 1e-9)."""
    certified = kinds["composite"]
    mechanism = certified.mechanism
    answer = mechanism.grid.points[100]
    singles = np.sort([certified.release(answer) for _ in range(2000)])
    law = mechanism.row(100)
    index = np.rint((singles - float(mechanism.value(0))) / float(mechanism.value(1) - mechanism.value(0)))
    exact = np.array([law.cdf(int(k), FLOATS) for k in index])
    empirical = np.arange(1, 2001) / 2000
    assert np.abs(exact - empirical).max() < 3.3 / np.sqrt(2000)
    shifted = np.array([law.cdf(int(k) + 700, FLOATS) for k in index])
    assert np.abs(shifted - empirical).max() > 3.3 / np.sqrt(2000)


@pytest.mark.statistical
def test_truncated_noise_shows_the_bias_that_is_stated():
    mechanism = truncated(question(margin="1"), Fraction(1), Fraction(1))
    drawn = make_certified(mechanism, nw.PureDP(1)).release_many(np.zeros(1_000_000))
    bias = mechanism.moments(0, FLOATS)[0]
    assert bias > 0.1
    assert abs(drawn.mean() - bias) < SIGMAS * drawn.std() / 1000
    assert abs(drawn.mean()) > SIGMAS * drawn.std() / 1000


@pytest.mark.statistical
def test_the_local_mean_finds_the_mean_of_the_people_within_its_standard_error(kinds: dict):
    people = np.linspace(0, 1, 101).repeat(2000)
    certified = kinds["two-point"]
    found = nw.mechanisms.local_mean(certified, certified.release_many(people))
    assert found.count == len(people)
    assert abs(found.mean - people.mean()) < SIGMAS * found.standard_error
    assert found.standard_error == pytest.approx(
        float(profile_of(certified.mechanism).worst(1)) ** 0.5 / len(people) ** 0.5, rel=0.1
    )
    low, high = found.interval()
    assert low < found.mean < high

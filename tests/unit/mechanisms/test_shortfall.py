"""The worst shortfall of a choice: formulas by hand, and scores at random, which never do worse."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.special import lambertw

from noisewright.mechanisms.answers import STRETCH
from noisewright.mechanisms.selection import PermuteAndFlip, RandomExponential
from noisewright.numerics.balls import lower, precision, upper
from noisewright.numerics.fields import FLOATS
from noisewright.problem.errors import InvalidUtilityError
from noisewright.problem.queries import Choice
from noisewright.problem.utilities import AbsoluteError, ErrorQuantile, PowerError, SquaredError, Usefulness

SIZES = [2, 3, 5, 40]
KINDS = ["exponential", "permute-and-flip"]


def chooser(kind: str, size: int, epsilon=1, sensitivity=1, *, exact: bool = True):
    query = Choice([f"c{i}" for i in range(size)], sensitivity, exact=exact)
    return PermuteAndFlip(query, epsilon) if kind == "permute-and-flip" else RandomExponential(query, [epsilon], [1])


def worst(mechanism, utility) -> float:
    with precision():
        value = mechanism.expected(utility)
        assert upper(value) - lower(value) <= Fraction(1, 10**12) * max(Fraction(1), upper(value))
        return float(value.mid())


def chance(kind: str, others: int, x: float) -> float:
    """What is missed when all others lie x below the best, in units of 2 sensitivity / epsilon."""
    a = math.exp(-x)
    if kind == "exponential":
        return others * a / (1 + others * a)
    return float(np.mean(1 - (1 - (np.arange(200_000) + 0.5) / 200_000 * a) ** others))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("x", [0.0, 0.5, 3.0, 12.0])
def test_the_missed_chance_is_that_of_all_others_at_one_gap(kind: str, size: int, x: float):
    """Epsilon 3 and sensitivity 2, so that a unit is 4/3; once more from the law itself."""
    mechanism, gap = chooser(kind, size, 3, 2), Fraction(x) * 4 / 3
    with precision():
        found = float(mechanism.missed(gap).mid())
    assert found == pytest.approx(chance(kind, size - 1, x), rel=1e-8)
    scores = {name: -gap if i else 0 for i, name in enumerate(mechanism.query.candidates)}
    assert found == pytest.approx(1 - mechanism.law_given(scores).masses(FLOATS)[0], rel=1e-8)


@pytest.mark.parametrize("size", [2, 3, 1000])
def test_a_tiny_missed_chance_is_enclosed_too(size: int):
    """Just before and behind where the first terms take over, and far out."""
    mechanism = chooser("permute-and-flip", size, 2)
    for gap in (25, 26, 27, 28, 29, 30, 35, 80):
        with precision(1024):
            a = chooser("exponential", size, 2).missed(Fraction(gap))
            coin = a / (1 - a) / (size - 1)
            exact = 1 - (1 - (1 - coin) ** size) / (size * coin)
        with precision():
            found = mechanism.missed(Fraction(gap))
            assert lower(found) <= upper(exact)
            assert lower(exact) <= upper(found)
            assert float(found.rad()) <= 1e-9 * float(found.mid())
    with precision():
        assert 0 <= float(mechanism.missed(Fraction(10**9)).mid()) < 1e-300


@pytest.mark.parametrize("size", SIZES)
def test_the_mean_shortfall_of_the_exponential_mechanism_is_a_lambert_function(size: int):
    """v with (n - 1) e^-(v + 1) = v, in units of 2 sensitivity / epsilon."""
    wanted = float(lambertw((size - 1) / math.e).real)
    assert worst(chooser("exponential", size, 5, 2), AbsoluteError()) == pytest.approx(wanted * 4 / 5, rel=1e-12)


def test_two_candidates_and_permute_and_flip_have_a_closed_form():
    """Half of t^p e^-t, largest at t = p."""
    for power in (1, Fraction(3, 2), 2, 16):
        wanted = (float(power) / math.e) ** float(power) / 2
        assert worst(chooser("permute-and-flip", 2, 2), PowerError(power)) == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", SIZES)
def test_computed_scores_cost_the_stretch(kind: str, size: int):
    for utility, power in ((AbsoluteError(), 1), (SquaredError(), 2), (ErrorQuantile("0.99"), 1)):
        plain, wide = (worst(chooser(kind, size, exact=exact), utility) for exact in (True, False))
        assert wide / plain == pytest.approx(float(STRETCH) ** power, rel=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("confidence", ["0.6", "0.95", "0.999999"])
def test_the_quantile_is_where_the_rest_is_missed(kind: str, size: int, confidence: str):
    mechanism = chooser(kind, size, Fraction(1, 2), 3)
    far = Fraction(worst(mechanism, ErrorQuantile(confidence)))
    with precision():
        assert float(mechanism.missed(far).mid()) == pytest.approx(1 - float(confidence), rel=1e-9)
    assert worst(mechanism, Usefulness(far)) == pytest.approx(float(confidence), rel=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_a_confidence_that_luck_alone_reaches_costs_nothing(kind: str):
    assert worst(chooser(kind, 4), ErrorQuantile("0.25")) == 0
    assert worst(chooser(kind, 4), ErrorQuantile("0.2501")) > 0
    assert worst(chooser(kind, 4), Usefulness(0)) == 0.25


@pytest.mark.parametrize("kind", KINDS)
def test_a_single_candidate_is_chosen_without_a_shortfall(kind: str):
    only = chooser(kind, 1)
    assert [worst(only, u) for u in (AbsoluteError(), SquaredError(), ErrorQuantile("0.9"), Usefulness(0))] == [
        0,
        0,
        0,
        1,
    ]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [2, 3, 4, 7])
def test_no_scores_at_random_do_worse_and_a_common_gap_does_as_badly(kind: str, size: int):
    """Two thousand vectors: even and clustered, near and far; the gap at the worst place comes within a thousandth."""
    mechanism, random = chooser(kind, size, 2), np.random.default_rng(size)
    stated = {power: worst(mechanism, PowerError(power)) for power in (1, Fraction(5, 4), 2, 5)}
    useful = {within: worst(mechanism, Usefulness(within)) for within in (0, 1, 3)}
    largest = dict.fromkeys(stated, 0.0)
    for turn in range(2000):
        below = random.exponential(random.choice([0.3, 1, 3, 8]), size)
        if turn % 2:
            below = np.full(size, 12 * turn / 2000) * random.choice([1, 1, 1, 0.7], size)
        if turn % 4 == 3:
            below = np.full(size, 12 * turn / 2000)
        below[0] = 0
        law = mechanism.law_given({f"c{i}": -float(b) for i, b in enumerate(below)})
        chances = np.array(law.masses(FLOATS))
        for power in stated:
            largest[power] = max(largest[power], float(chances @ below ** float(power)))
        for within, least in useful.items():
            assert chances[below <= within].sum() >= least - 1e-12
    for power, value in stated.items():
        assert value * 0.999 < largest[power] <= value * (1 + 1e-12)


@pytest.mark.parametrize(
    ("mechanism", "utility"),
    [
        (chooser("permute-and-flip", 3), PowerError(Fraction(1, 2))),
        (chooser("exponential", 3), PowerError(Fraction(99, 100))),
        (RandomExponential(Choice(["a", "b"]), [1, 2], [Fraction(1, 2)] * 2), AbsoluteError()),
    ],
)
def test_a_mean_whose_worst_case_is_not_known_is_refused(mechanism, utility):
    with pytest.raises(InvalidUtilityError, match="has no rule"):
        mechanism.expected(utility)


def test_a_random_epsilon_misses_with_the_mean_of_its_chances():
    mixed = RandomExponential(Choice(["a", "b", "c"], exact=True), [1, 4], [Fraction(1, 4), Fraction(3, 4)])
    wanted = 0.25 * chance("exponential", 2, 1.0) + 0.75 * chance("exponential", 2, 4.0)
    assert worst(mixed, Usefulness(2)) == pytest.approx(1 - wanted, rel=1e-12)

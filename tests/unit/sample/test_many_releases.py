"""Many answers at once are released as one after another, number for number, on the same words."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import noisewright.sample.certified  # noqa: F401  # makes every sampler known
from noisewright.explain.errors import describe_error
from noisewright.laws.gaussian import Gaussian
from noisewright.laws.laplace import DiscreteLaplace, Laplace
from noisewright.laws.lattice import Lattice, decimals_of
from noisewright.laws.piecewise import staircase
from noisewright.mechanisms.additive import Additive
from noisewright.problem.errors import InvalidAnswerError
from noisewright.problem.queries import Scalar
from noisewright.sample.drawers import drawer_for
from noisewright.sample.points import Points
from noisewright.sample.sampler import NoiseSampler
from tests.mechanisms_by_hand import FAILS, FITS, GEOMETRIC, fit, geometric_masses
from tests.replay import Replay

ONE, THOUSANDTH, QUARTER = Fraction(1), Fraction(1, 1000), Fraction(1, 4)
STRETCH = 1 + Fraction(1, 2**24)


def real(law: Any, step: Fraction, *, sensitivity: Any = 1, exact: bool = False) -> Additive:
    return Additive(Scalar(sensitivity, exact=exact), law, Lattice.cells(step))


def adversarial(count: int, largest: float, seed: int) -> np.ndarray:
    """Ties of every kind, two decimals, whole floats, both zeros, subnormal, tiny and large floats, and their sides."""
    rng = np.random.default_rng(seed)
    each = count // 8
    k = rng.integers(-(2**20), 2**20, each)
    large = rng.uniform(-largest, largest, each)
    values = np.concatenate(
        [
            np.round(rng.normal(0, 1000, each), 2),
            k / 1000,
            (2 * k + 1) / 2000,
            k * float(THOUSANDTH * STRETCH),
            np.rint(large),
            large,
            rng.choice([0.0, -0.0, 5e-324, -5e-324, 1e-310, 2.0**-1022, -(2.0**-60), 1e-17], each),
        ]
    )
    return rng.permutation(np.concatenate([values, np.nextafter(values[: 2 * each], np.inf)]))[:count]


def one_by_one(mechanism: Additive, answers: Any, words: Replay) -> list[Any]:
    drawer = drawer_for(mechanism)
    return [drawer.release(answer, words) for answer in answers]


def same(found: np.ndarray, wanted: list[Any]) -> bool:
    """Equal bit for bit, the sign of zero and the type included."""
    listed = found.tolist()
    return list(map(repr, listed)) == list(map(repr, wanted)) and set(map(type, listed)) == set(map(type, wanted))


# Laws whose table looks at each word as a single draw does.
REPLAYED = {
    "computed": (real(Laplace(ONE), THOUSANDTH), 2.0**26),
    "exact": (real(Laplace(ONE), THOUSANDTH, exact=True), 1e9),
    "coarse": (real(Gaussian(Fraction(7, 2)), QUARTER), 2.0**26),
    "uneven": (real(Laplace(Fraction(1, 5)), Fraction(1, 3), exact=True), 2.0**40),
}


@pytest.mark.parametrize(
    ("name", "count"),
    [pytest.param("computed", 100_000, marks=pytest.mark.soak), *((name, 10_000) for name in REPLAYED)],
)
def test_many_hard_answers_are_released_as_one_by_one(name: str, count: int):
    mechanism, largest = REPLAYED[name]
    answers = adversarial(count, largest, seed=5)
    found = drawer_for(mechanism).release_many(answers, Replay(seed=9))
    assert found.dtype == np.float64
    assert same(found, one_by_one(mechanism, answers, Replay(seed=9)))


def test_whole_numbers_up_to_two_to_the_60_are_released_as_one_by_one():
    rng = np.random.default_rng(3)
    coarse = real(Laplace(Fraction(2**30)), Fraction(2**20), sensitivity=2**30)
    for mechanism, top in ((GEOMETRIC, 2**53), (coarse, 2**60)):
        ends = [sign * (2**e + d) for e in range(20, top.bit_length() - 1) for d in (-1, 0, 1) for sign in (1, -1)]
        answers = np.concatenate([np.array(ends), rng.integers(-top // 2, top // 2, 4000)])
        found = drawer_for(mechanism).release_many(answers, Replay(seed=4))
        assert same(found, one_by_one(mechanism, answers, Replay(seed=4)))
    assert drawer_for(GEOMETRIC).release_many(np.arange(5), Replay(seed=4)).dtype == np.int64


@pytest.mark.parametrize("count", [7, 30])
def test_few_answers_take_the_words_of_as_many_single_ones(count: int):
    """Without a table every law is drawn as one by one; a staircase takes several words for each draw."""
    mechanism = real(staircase(epsilon=ONE, sensitivity=ONE, split=QUARTER), Fraction(1, 40))
    for seed in range(50):
        answers = adversarial(count * 8, 1e5, seed)[:count]
        found = drawer_for(mechanism).release_many(answers, Replay(seed=seed))
        assert same(found, one_by_one(mechanism, answers, Replay(seed=seed)))


def test_a_hundred_thousand_hard_answers_get_staircase_noise_as_one_by_one():
    """Its table takes other bits of a word than a single draw, so the noise is replayed and all the rest compared."""
    mechanism = real(staircase(epsilon=ONE, sensitivity=ONE, split=QUARTER), Fraction(1, 40))
    answers = adversarial(100_000, 2.0**26, seed=7)
    found = drawer_for(mechanism).release_many(answers, Replay(seed=8))
    noise = NoiseSampler(mechanism.noise).many(len(answers), Replay(seed=8).stream())
    points, pairs = Points(mechanism.lattice.step, mechanism.spacing), zip(answers, noise, strict=True)
    exact = (mechanism.law_given(answer).value(int(k)) / mechanism.spacing for answer, k in pairs)
    assert same(found, [points.one(int(n)) for n in exact])


@pytest.mark.parametrize(
    "form", [list, tuple, np.array, lambda x: (v for v in x)], ids=["list", "tuple", "array", "any"]
)
def test_answers_may_come_in_any_form(form):
    mechanism = REPLAYED["computed"][0]
    for answers in ([1.5, 2.25, -3.0], [1, 2, 3]):
        assert same(
            drawer_for(mechanism).release_many(form(answers), Replay(seed=1)),
            one_by_one(mechanism, answers, Replay(seed=1)),
        )


def test_a_wrong_answer_takes_no_randomness():
    for mechanism in (GEOMETRIC, REPLAYED["computed"][0]):
        words = Replay(seed=1)
        for wrong in ([1.0] * 1000 + [math.nan], [True] * 3, [1, "x"], np.zeros((2, 2)), [1e300]):
            with pytest.raises(InvalidAnswerError):
                drawer_for(mechanism).release_many(wrong, words)
        assert words.consumed == 0


@pytest.mark.parametrize("shift", [0, 1])
def test_noise_of_many_real_answers_has_its_law(shift: int):
    """Cells of a quarter of a Laplace law of scale one half: e^(-k/2), on either side; one cell off is noticed."""
    side = {k: math.exp(-k / 2) * -math.expm1(-1 / 2) / 2 for k in range(120)}
    masses = side | {-1 - k: mass for k, mass in side.items()}
    answers = np.random.default_rng(8).normal(0, 50, 60_000)
    released = drawer_for(real(Laplace(Fraction(1, 2)), QUARTER)).release_many(answers, Replay(seed=21))
    noise = np.rint(released * 4) - np.floor(answers * 4 / float(STRETCH)) - 1 + shift
    assert (fit(noise.astype(int).tolist(), masses) > FITS) is (shift == 0)
    if shift:
        assert fit(noise.astype(int).tolist(), masses) < FAILS


def test_noise_of_many_counts_has_its_law_and_is_not_shared():
    answers = np.repeat([5, 1000, -3], 20_000)
    noise = drawer_for(GEOMETRIC).release_many(answers, Replay(seed=2)) - answers
    parts = noise.reshape(3, -1)
    chance = sum(m * m for m in geometric_masses(1.0).values())
    for part in parts:
        assert fit(part.tolist(), geometric_masses(1.0)) > FITS
        assert fit((part + 1).tolist(), geometric_masses(1.0)) < FAILS
    for a, b in ((0, 1), (1, 2), (0, 2)):
        assert abs((parts[a] == parts[b]).mean() - chance) < 6 * math.sqrt(chance / 20_000)


def test_far_noise_makes_exact_numbers_of_those_that_need_it():
    """Steps of 2^-54: from a quarter on a rational comes back, among floats."""
    step = Fraction(1, 2**54)
    mechanism = real(Laplace(ONE), step)
    found = drawer_for(mechanism).release_many([0] * 300, Replay(seed=2))
    assert found.dtype == object
    kinds = {bool(abs(v) >= QUARTER): {type(v)} for v in found.tolist()}
    assert kinds == {True: {Fraction}, False: {float}}
    few = drawer_for(mechanism).release_many([0] * 30, Replay(seed=2))
    assert same(few, one_by_one(mechanism, [0] * 30, Replay(seed=2)))
    huge = Additive(Scalar(10**12, integer=True), DiscreteLaplace(Fraction(2**70)), Lattice.integers())
    counts = drawer_for(huge).release_many(np.full(30, 2**52), Replay(seed=1))
    assert max(abs(int(c)) for c in counts) > 2**63
    assert same(counts, one_by_one(huge, [2**52] * 30, Replay(seed=1)))


@pytest.mark.parametrize(
    ("step", "decimals"),
    [
        ("1/1000", 3), ("1/1024", 4), ("1/4", 2), ("1/8", 3), ("1/3", 1), ("1/64", 2), ("1", 0), ("5", 0), ("5/2", 1),
        ("1/400", 4), ("9/1000", 3), ("1/10000000000000000000000", 22), ("1/100000000000000000000000", None),
    ],
)  # fmt: skip
def test_a_step_says_how_many_decimals_mean_something(step: str, decimals: int | None):
    assert decimals_of(Fraction(step)) == decimals


STEPS = [THOUSANDTH, QUARTER, Fraction(1, 3), Fraction(1, 400), Fraction(5), Fraction(7, 3), Fraction(1, 10**14)]


@pytest.mark.parametrize("stretch", [ONE, STRETCH], ids=["exact", "stretched"])
@pytest.mark.parametrize("step", [*STEPS, Fraction(1, 10**25), Fraction(10**9, 7)], ids=str)
def test_no_two_lattice_points_share_a_release_and_many_are_as_one(step: Fraction, stretch: Fraction):
    """Near zero, where decimals end, and where floats would be shared: in order, all different, near their point."""
    points = Points(step, step * stretch)
    unit = Fraction(1, 10 ** (decimals_of(step) or 0))
    last = int(10**15 * unit / (step * stretch))
    places = [0, 1000, 2**24, 2**38 + 1, last, 2**50, 2**52]
    n = np.unique([sign * (place + d) for place in places for d in range(-150, 150) for sign in (1, -1)])
    n = n[np.abs(n) < 2**52 + 200]
    released = [points.one(int(k)) for k in n]
    assert all(a < b for a, b in pairwise(released))
    for k, value in zip(n.tolist(), released, strict=True):
        if abs(k) >= 2**52:
            assert value == k * step * stretch
        elif abs(k * step * stretch) < 10**15 * unit:
            assert abs(Fraction(repr(value)) - k * step * stretch) <= unit / 2 or decimals_of(step) is None
    assert same(points.many(n), released)
    near = n[np.abs(n) < 2**50]
    assert same(points.many(near), [points.one(int(k)) for k in near])


def test_what_is_released_shows_the_digits_of_its_step():
    drawer = drawer_for(REPLAYED["computed"][0])
    for value in drawer.release_many(np.linspace(0, 1e5, 2000), Replay(seed=1)).tolist():
        assert len(repr(value).partition(".")[2]) <= 3
    assert len(repr(drawer.release(100, Replay(seed=3))).partition(".")[2]) <= 3
    assert any(line.endswith("to 3 decimals.") for line in describe_error(REPLAYED["computed"][0]))
    assert any(line.endswith("of 1.") for line in describe_error(GEOMETRIC))

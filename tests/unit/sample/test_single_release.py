"""Single releases of one number, of a choice and of a number in its range, and what may be said about them."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

import noisewright.sample.certified  # noqa: F401  # makes every sampler known
from noisewright.explain.errors import describe_error
from noisewright.laws.laplace import DiscreteLaplace, Laplace
from noisewright.laws.lattice import Lattice
from noisewright.laws.piecewise import skewed_staircase
from noisewright.mechanisms.additive import Additive
from noisewright.mechanisms.bounded.truncated import Truncated
from noisewright.mechanisms.selection import MinkowskiExponential, RandomExponential
from noisewright.problem.errors import InvalidAnswerError
from noisewright.problem.privacy import PureDP
from noisewright.problem.queries import Bounded, Choice, Scalar
from noisewright.sample.certified import make_certified
from noisewright.sample.drawers import drawer_for
from tests.mechanisms_by_hand import FAILS, FITS, GEOMETRIC, ONE_EPSILON, fit, geometric_masses
from tests.replay import Replay, SameEntropy

ONE, HALF, QUARTER = Fraction(1), Fraction(1, 2), Fraction(1, 4)
TOP = 2**64 - 1


@pytest.mark.parametrize("answer", [-7, 0, 12])
def test_a_count_is_released_with_geometric_noise_around_it(answer: int):
    drawer, replay = drawer_for(GEOMETRIC), Replay(seed=1)
    noise = [drawer.release(answer, replay) - answer for _ in range(3000)]
    assert fit(noise, geometric_masses(1.0)) > FITS
    assert fit([z + 1 for z in noise], geometric_masses(1.0)) < FAILS


def test_a_real_answer_is_released_with_skewed_noise_that_points_the_right_way():
    """Top step [-1/4, 3/4): the cells of a quarter from -1 to 2 are the likeliest, one step down every four."""
    law = skewed_staircase(epsilon=ONE, sensitivity=ONE, left=-QUARTER, right=3 * QUARTER)
    drawer, replay = drawer_for(Additive(Scalar(1), law, Lattice.cells(QUARTER))), Replay(seed=2)
    weights = {k: math.exp(-((k - 2 + 3) // 4)) if k > 2 else math.exp(-((-1 - k + 3) // 4)) for k in range(-80, 80)}
    weights |= dict.fromkeys(range(-1, 3), 1.0)
    masses = {k: weight / sum(weights.values()) for k, weight in weights.items()}
    for answer, cell in ((Fraction(1, 100), 0), (Fraction(-1, 100), -1), (Fraction(7, 10), 2)):
        noise = [round(drawer.release(answer, replay) * 4) - cell - 1 for _ in range(2000)]
        assert fit(noise, masses) > FITS
        assert fit([-1 - z for z in noise], masses) < FAILS
        assert fit([z + 1 for z in noise], masses) < FAILS


def test_from_two_to_the_52_steps_on_the_exact_number_is_released():
    """Steps of 2^-54: from a quarter on two lattice points would share a float, so a rational comes back."""
    step = Fraction(1, 2**54)
    certified = make_certified(Additive(Scalar(1), Laplace(ONE), Lattice.cells(step)), ONE_EPSILON)
    released = [certified.release(0, entropy=SameEntropy(seed)) for seed in range(300)]
    for value in released:
        assert isinstance(value, Fraction if abs(value) >= QUARTER else float)
    exact = [value for value in released if isinstance(value, Fraction)]
    assert 150 < len(exact) < 290
    # Lattice points that no float holds are among them: half of the indices beyond 2^53 are odd.
    assert any(Fraction(float(value)) != value for value in exact)


@pytest.mark.parametrize("answer", [2**200, -(2**200), 2.0**60, -(2.0**60)], ids=repr)
@pytest.mark.parametrize("kind", ["integer", "real"])
def test_answers_beyond_the_lattice_are_refused_on_both_sides(answer, kind: str):
    real = Additive(Scalar(1, exact=True), Laplace(ONE), Lattice.cells(QUARTER))
    drawer = drawer_for(GEOMETRIC if kind == "integer" else real)
    with pytest.raises(InvalidAnswerError, match=r"too large|skip whole numbers"):
        drawer.release(answer, SameEntropy())
    assert drawer.release(answer / 2**12 if isinstance(answer, float) else answer // 2**152, SameEntropy()) is not None


def test_many_answers_of_one_mechanism_are_released_each_by_itself():
    certified = make_certified(GEOMETRIC, ONE_EPSILON)
    answers = [5, 1000, -3] * 700
    noise = certified.release_many(answers) - np.array(answers)
    assert len(noise) == 2100
    for start in range(3):
        # Fresh words each run: false alarms below 1e-9.
        assert fit(noise[start::3].tolist(), geometric_masses(1.0)) > FAILS
    assert len({tuple(part) for part in noise.reshape(700, 3).tolist()}) > 50


SCORES = {"a": 0, "b": 3, "c": 1}
CHOICE = RandomExponential(Choice(["a", "b", "c"], Fraction(2)), (ONE, Fraction(4)), (QUARTER, 3 * QUARTER))


def choice_shares(double: float = 1.0) -> dict[str, float]:
    """Scores over twice the sensitivity 2, with epsilon 1 in a quarter of the cases and 4 in the others."""
    result = dict.fromkeys(SCORES, 0.0)
    for epsilon, weight in ((1, 0.25), (4, 0.75)):
        heights = {name: math.exp(double * epsilon * score / 4) for name, score in SCORES.items()}
        for name, height in heights.items():
            result[name] += weight * height / sum(heights.values())
    return result


def test_a_candidate_is_chosen_with_its_probability():
    drawer, replay = drawer_for(CHOICE), Replay(seed=3)
    drawn = [drawer.release(SCORES, replay) for _ in range(3000)]
    assert fit(drawn, choice_shares()) > FITS
    assert fit(drawn, choice_shares(2.0)) < FAILS


def test_the_first_and_the_last_candidate_can_be_chosen():
    drawer = drawer_for(CHOICE)
    assert drawer.release(SCORES, Replay([0])) == "a"
    assert drawer.release(SCORES, Replay([TOP - 1])) == "c"


CANDIDATES = ((Fraction(0), ONE), (ONE, ONE), (Fraction(3), Fraction(0)))
POINTS = MinkowskiExponential(
    ((Fraction(0), Fraction(0)), (ONE, ONE)), CANDIDATES, Fraction(2), Fraction(1, 3), Fraction(2)
)


def test_a_point_is_released_with_weight_by_its_distance():
    """Squared distances 1, 2 and 9 from the origin, at rate 1/3."""
    weights = [math.exp(-d / 3) for d in (1, 2, 9)]
    masses = {tuple(map(float, c)): w / sum(weights) for c, w in zip(CANDIDATES, weights, strict=True)}
    drawer, replay = drawer_for(POINTS), Replay(seed=4)
    assert fit([drawer.release((0, 0), replay) for _ in range(2000)], masses) > FITS
    many = make_certified(POINTS, PureDP(6)).release_many([(0, 0)] * 9)
    assert many.shape == (9, 2)
    assert {tuple(row) for row in many.tolist()} <= set(masses)


def test_a_scalar_candidate_is_released_as_a_number():
    scalar = MinkowskiExponential(((ONE,),), ((Fraction(2),), (Fraction(5),)), ONE, ONE, ONE)
    assert drawer_for(scalar).release(1, Replay([0])) == 2.0
    assert drawer_for(scalar).release(1, Replay([TOP - 1])) == 5.0


def kept(ends: str) -> Truncated:
    """Laplace noise of scale 1 on a grid and a lattice of halves, between -1 and 2."""
    return Truncated(Bounded(1, (-1, 2), (-1, 2), None, True), 1, 1, 6, 6, ends=ends)


def kept_masses(ends: str, point: float) -> dict[float, float]:
    """The mean over each step of the distribution function says how much is rounded down to below its end."""

    def cdf(x: float) -> float:
        return math.exp(x) / 2 if x < 0 else 1 - math.exp(-x) / 2

    def area(x: float) -> float:
        return math.exp(x) / 2 if x < 0 else x + math.exp(-x) / 2

    below, inside = (0.0, 1.0) if ends == "inflated" else (cdf(-1 - point), cdf(2 - point) - cdf(-1 - point))
    places = [-1 + k / 2 - point for k in range(7)]
    up_to = [(2 * (area(y) - area(x)) - below) / inside for x, y in pairwise(places)]
    return {-1 + k / 2: mass for k, mass in enumerate(np.diff([0.0, *up_to, 1.0]).tolist())}


@pytest.mark.parametrize("ends", ["cut", "inflated"])
@pytest.mark.parametrize(("answer", "points"), [(-1, {-1.0: 1}), ("0.3", {0.0: 0.4, 0.5: 0.6}), (2, {2.0: 1})])
def test_a_number_in_its_range_is_released_around_a_point_beside_it(ends: str, answer, points: dict[float, float]):
    drawer, replay = drawer_for(kept(ends)), Replay(seed=6)
    drawn = [drawer.release(answer, replay) for _ in range(2000)]
    parts = [(share, kept_masses(ends, point)) for point, share in points.items()]
    masses = {x: sum(share * part[x] for share, part in parts) for x in parts[0][1]}
    assert fit(drawn, masses) > FITS
    assert set(drawn) <= set(masses)
    other = kept_masses("cut" if ends == "inflated" else "inflated", next(iter(points)))
    assert fit(drawn, other) < FAILS


def test_the_described_error_of_discrete_noise_is_that_of_its_masses():
    masses = geometric_masses(0.4)
    text = " ".join(
        describe_error(Additive(Scalar(1, integer=True), DiscreteLaplace(Fraction(5, 2)), Lattice.integers()))
    )
    assert f"mean absolute {sum(m * abs(k) for k, m in masses.items()):.6g}" in text
    assert f"root mean square {math.sqrt(sum(m * k * k for k, m in masses.items())):.6g}" in text
    width = next(w for w in range(100) if sum(m for k, m in masses.items() if abs(k) <= w) >= 0.95)
    assert f"95 % of answers within {width}." in text


def test_released_values_depend_on_the_words_alone():
    """A replayed source gives the same release again, and another one gives another."""
    certified = make_certified(GEOMETRIC, ONE_EPSILON)
    for call in (
        lambda seed: certified.release(3, entropy=SameEntropy(seed)),
        lambda seed: certified.draw(9, entropy=SameEntropy(seed)).tolist(),
    ):
        assert [call(seed) for seed in range(40)] == [call(seed) for seed in range(40)]
        assert len({str(call(seed)) for seed in range(40)}) > 3

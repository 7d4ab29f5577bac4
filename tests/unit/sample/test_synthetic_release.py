"""Choices and synthetic histograms spend what they may: what was chosen and measured follows the formulas by hand."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest

import noisewright.sample.certified  # noqa: F401  # makes every sampler known
from noisewright.lab.metric.metropolis import smalldb_by_metropolis
from noisewright.mechanisms.linear.synthetic import MetricExponential, MetricMWEM, MetricSmallDB
from noisewright.numerics.lp import reweighed as reweighed_again
from noisewright.problem.errors import InvalidAnswerError
from noisewright.problem.linear import Linear
from noisewright.sample import selection as synthetic
from noisewright.sample.drawers import drawer_for
from tests.mechanisms_by_hand import FAILS, FITS, fit, geometric_masses
from tests.replay import Replay

STEP, SCALE = Fraction(1, 4), Fraction(1, 2)
QUERY = Linear([[0, 1, 2], [1, 0, 0], [0, 3, 0]])
# Whole columns of quarters; the first query's are rounded, so that they are not the query's own.
COLUMNS = ((1, 4, 8), (4, 0, 0), (0, 12, 0))
COUNTS = [3, 1, 2]
SCORES = [3 + 4 + 16, 12, 12]


def shares(exponents: list[float]) -> dict[int, float]:
    """Softmax."""
    weights = [math.exp(v) for v in exponents]
    return {i: weight / sum(weights) for i, weight in enumerate(weights)}


class Seen:
    """Each round of multiplicative weights: the weights before it, the row that was chosen and what was measured."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.rounds: list[tuple[np.ndarray, np.ndarray, float]] = []
        real = reweighed_again

        def reweighed(weights: np.ndarray, row: np.ndarray, measured: float, people: float) -> np.ndarray:
            self.rounds.append((weights, row, measured))
            return real(weights, row, measured, people)

        monkeypatch.setattr(synthetic, "reweighed", reweighed)

    def drawn(self) -> Iterator[tuple[list[int], int, int]]:
        """For each round the synthetic answers in steps, which query was chosen, and the noise of its measurement."""
        rows = [[float(STEP * w) for w in row] for row in COLUMNS]
        for weights, row, measured in self.rounds:
            chosen = rows.index(row.tolist())
            steps = measured / float(STEP)
            assert steps == pytest.approx(round(steps))
            answers = [round(float(np.dot(r, weights)) / float(STEP)) for r in rows]
            yield answers, chosen, round(steps) - SCORES[chosen]


@pytest.fixture(scope="module", params=[1, 2, 3])
def rounds(request: pytest.FixtureRequest) -> Iterator[tuple[int, Seen]]:
    with pytest.MonkeyPatch.context() as patch:
        seen = Seen(patch)
        drawer = drawer_for(MetricMWEM(QUERY, COLUMNS, STEP, SCALE, request.param))
        replay = Replay(seed=3)
        for _ in range(2400 // request.param):
            released = drawer.release(COUNTS, replay)
            assert released.sum() == pytest.approx(6)
        yield request.param, seen


def test_multiplicative_weights_take_as_many_rounds_as_they_are_certified_for(rounds: tuple[int, Seen]):
    count, seen = rounds
    assert len(seen.rounds) == 2400 // count * count


def test_each_measurement_has_noise_of_half_a_rounds_share(rounds: tuple[int, Seen]):
    """A step costs step / scale = 1/2 with all of the budget; a measurement may spend 1 / (2 rounds) of it."""
    count, seen = rounds
    noise = [z for _, _, z in seen.drawn()]
    rate = 0.5 / (2 * count)
    assert fit(noise, geometric_masses(rate, 900)) > FITS
    for wrong in (2, 0.5):
        assert fit(noise, geometric_masses(rate * wrong, 900)) < FAILS


def test_each_choice_uses_half_a_rounds_share(rounds: tuple[int, Seen]):
    """Probability proportional to e^(rate distance / (4 rounds)), at the uniform histogram of the first round."""
    count, seen = rounds
    first = list(seen.drawn())[::count]
    answers = first[0][0]
    assert answers == [26, 8, 24]
    distances = [abs(s - v) for s, v in zip(SCORES, answers, strict=True)]

    def expected(rate: float) -> dict[int, float]:
        return shares([rate * d / (4 * count) for d in distances])

    chosen = [k for _, k, _ in first]
    assert fit(chosen, expected(0.5)) > FITS
    for wrong in {1: (0.0, 1.0), 2: (2.0,), 3: (3.0,)}[count]:
        assert fit(chosen, expected(wrong)) < FAILS


def test_later_choices_look_at_the_weights_of_their_own_round(rounds: tuple[int, Seen]):
    """How often the worst answered query is chosen, against the sum of its chances from round to round."""
    count, seen = rounds
    found, chance, spread = 0, 0.0, 0.0
    for answers, chosen, _ in seen.drawn():
        distances = [abs(s - v) for s, v in zip(SCORES, answers, strict=True)]
        worst = distances.index(max(distances))
        p = shares([0.5 * d / (4 * count) for d in distances])[worst]
        found, chance, spread = found + (chosen == worst), chance + p, spread + p * (1 - p)
    assert abs(found - chance) < 4.5 * math.sqrt(spread)


def test_nobody_makes_an_empty_synthetic_histogram():
    drawer = drawer_for(MetricMWEM(QUERY, COLUMNS, STEP, SCALE, 2))
    assert drawer.release([0, 0, 0], Replay(seed=1)).tolist() == [0, 0, 0]


SMALL = MetricSmallDB(QUERY, COLUMNS, STEP, Fraction(1), 2)


def small_weights() -> dict[tuple[int, ...], float]:
    """e^(-largest |W x - n/m W y| step / (2 scale)), over all databases of two people among three elements."""
    weights = {}
    for y in itertools.product(range(3), repeat=3):
        if sum(y) == 2:
            small = [sum(w * c for w, c in zip(row, y, strict=True)) for row in COLUMNS]
            far = max(abs(s - 3 * t) for s, t in zip(SCORES, small, strict=True))
            weights[y] = math.exp(-far * 0.25 / 2)
    return weights


def normalised(weights: dict[tuple[int, ...], float]) -> dict[tuple[int, ...], float]:
    total = sum(weights.values())
    return {y: weight / total for y, weight in weights.items()}


def test_small_databases_are_drawn_with_weights_by_hand():
    drawer, replay = drawer_for(SMALL), Replay(seed=4)
    drawn = [tuple((drawer.release(COUNTS, replay) / 3).tolist()) for _ in range(3000)]
    assert fit(drawn, normalised(small_weights())) > FITS
    assert fit(drawn, normalised({y: weight**2 for y, weight in small_weights().items()})) < FAILS


def test_a_row_is_chosen_with_half_its_score():
    """Probability proportional to e^(score step / (2 scale)): scores 23, 12 and 12 quarters at scale 3."""
    drawer, replay = drawer_for(MetricExponential(QUERY, COLUMNS, STEP, Fraction(3))), Replay(seed=5)
    drawn = [drawer.release(COUNTS, replay) for _ in range(3000)]
    exponents = [s * 0.25 / (2 * 3) for s in SCORES]
    assert fit(drawn, shares(exponents)) > FITS
    assert fit(drawn, shares([2 * v for v in exponents])) < FAILS


@pytest.mark.statistical
def test_a_walk_over_small_databases_comes_near_their_weights():
    """Not certified, but 25 steps among six databases forget where they began. False alarms: below 1e-8."""
    drawn = Counter(
        tuple((smalldb_by_metropolis(SMALL, COUNTS, 25, accept_uncertified=True) / 3).tolist()) for _ in range(300)
    )
    assert sum(drawn.values()) == 300
    for y, share in normalised(small_weights()).items():
        assert abs(drawn[y] - 300 * share) < 6.5 * math.sqrt(300 * share) + 1


@pytest.mark.parametrize(
    "answer", [[3, 1], [3, 1, 2, 0], [3, 1, "many"], [3, 1, 2.5], [3, -1, 2], "312", None], ids=repr
)
def test_what_is_no_histogram_is_refused_by_every_choice(answer):
    for mechanism in (
        MetricMWEM(QUERY, COLUMNS, STEP, SCALE, 2),
        MetricSmallDB(QUERY, COLUMNS, STEP, SCALE, 2),
        MetricExponential(QUERY, COLUMNS, STEP, SCALE),
    ):
        with pytest.raises(InvalidAnswerError):
            drawer_for(mechanism).release(answer, Replay(seed=1))

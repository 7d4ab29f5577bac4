"""Released answers of linear questions: exact sums, with noise of each query's own rate, independent of the others."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import noisewright.sample.certified  # noqa: F401  # makes every sampler known
from noisewright.mechanisms.linear.noise import Block, LinearElliptical, LinearLaplace
from noisewright.numerics.balls import ball
from noisewright.problem.linear import Linear
from noisewright.sample.drawers import drawer_for
from noisewright.sample.integer_noise import TwoSided
from noisewright.sample.linear import RoundNoise
from tests.mechanisms_by_hand import FAILS, FITS, fit, geometric_masses, shaped_masses
from tests.replay import Replay

ONE, HALF = Fraction(1), Fraction(1, 2)
QUERY = Linear([[0, 1, 2], [1, 0, 1], [3, 0, 0], [0, 0, 5]])
HISTOGRAM = [10, 20, 31]

# Rates 1/2, 2, 1/2 and 1: the first and the third query have the same noise in whole numbers.
LAPLACE = LinearLaplace(
    QUERY,
    ((0, 1, 2), (2, 0, 2), (3, 0, 0), (0, 0, 20)),
    (ONE, HALF, ONE, Fraction(1, 4)),
    (Fraction(2), Fraction(1, 4), Fraction(2), Fraction(1, 4)),
)
SUMS = [20 + 62, 20 + 62, 30, 620]
RATES = [0.5, 2.0, 0.5, 1.0]


def length(z: tuple[int, ...]) -> float:
    return math.sqrt(sum(v * v for v in z))


@pytest.fixture(scope="module")
def released() -> np.ndarray:
    drawer, replay = drawer_for(LAPLACE), Replay(seed=1)
    answers = np.array([drawer.release(HISTOGRAM, replay) for _ in range(1200)])
    return answers / [1, 0.5, 1, 0.25] - SUMS


@pytest.mark.parametrize("k", range(4))
def test_each_query_gets_noise_of_its_own_rate(released: np.ndarray, k: int):
    noise = released[:, k]
    assert (noise == np.round(noise)).all()
    assert fit(noise.astype(int).tolist(), geometric_masses(RATES[k])) > FITS
    for wrong in (0.8, 1.25):
        assert fit(noise.astype(int).tolist(), geometric_masses(RATES[k] * wrong)) < FITS
    assert fit((noise.astype(int) + 1).tolist(), geometric_masses(RATES[k])) < FAILS


def test_queries_with_the_same_noise_do_not_share_it(released: np.ndarray):
    chance = sum(mass * mass for mass in geometric_masses(0.5).values())
    assert abs((released[:, 0] == released[:, 2]).mean() - chance) < 6 * math.sqrt(chance / len(released))
    assert abs(np.corrcoef(released.T) - np.eye(4)).max() < 0.1


def test_drawn_noise_of_each_query_has_its_step_and_its_rate():
    noise = drawer_for(LAPLACE).draw(5000, Replay(seed=2)) / [1, 0.5, 1, 0.25]
    assert (noise == np.round(noise)).all()
    for k in range(4):
        assert fit(noise[:, k].astype(int).tolist(), geometric_masses(RATES[k])) > FITS
    assert abs(np.corrcoef(noise.T) - np.eye(4)).max() < 0.1


# Two blocks of the same size and rate; decoding one is neither symmetric nor diagonal.
BACK = ((HALF, Fraction(-3)), (Fraction(0), Fraction(1, 4)))
ELLIPTICAL = LinearElliptical(
    QUERY,
    (
        Block((2, 0), ((1, 2, 3), (0, 1, 7)), ONE, BACK, HALF),
        Block((1, 3), ((5, 0, 2), (1, 1, 1)), ONE, ((ONE, Fraction(0)), (Fraction(0), ONE)), HALF),
    ),
)
BLOCK_SUMS = np.array([[10 + 40 + 93, 20 + 217], [50 + 62, 61]])


def decoded(answers: np.ndarray) -> np.ndarray:
    """The noisy whole numbers of both blocks, from the answers of the queries."""
    second = answers[:, 0] * 4
    first = (answers[:, 2] + 3 * second) * 2
    return np.stack([first, second, answers[:, 1], answers[:, 3]], axis=1)


def test_blocks_are_released_with_round_noise_and_mapped_back_to_their_own_queries():
    drawer, replay = drawer_for(ELLIPTICAL), Replay(seed=3)
    noise = decoded(np.array([drawer.release(HISTOGRAM, replay) for _ in range(700)])) - BLOCK_SUMS.reshape(-1)
    assert (noise == np.round(noise)).all()
    masses = shaped_masses(2, 1.0, length, 30)
    for columns in ((0, 1), (2, 3)):
        assert fit([tuple(z) for z in noise[:, columns].astype(int).tolist()], masses) > FITS
    chance = sum(mass * mass for mass in masses.values())
    same = (noise[:, :2] == noise[:, 2:]).all(axis=1).mean()
    assert abs(same - chance) < 6 * math.sqrt(chance / len(noise))


def test_drawn_noise_of_blocks_is_mapped_back_to_their_own_queries():
    noise = decoded(drawer_for(ELLIPTICAL).draw(4000, Replay(seed=4)))
    assert (noise == np.round(noise)).all()
    masses = shaped_masses(2, 1.0, length, 30)
    for columns in ((0, 1), (2, 3)):
        assert fit([tuple(z) for z in noise[:, columns].astype(int).tolist()], masses) > FITS
    assert abs(np.corrcoef(noise.T) - np.eye(4)).max() < 0.1


@pytest.mark.parametrize("slack", [None, 2.0], ids=["floats first", "balls alone"])
@pytest.mark.parametrize(
    ("size", "rate", "reach"), [(1, Fraction(1, 2), 60), (2, Fraction(3, 2), 20), (3, Fraction(5, 2), 9)]
)
def test_round_noise_has_mass_by_its_length_alone(
    monkeypatch: pytest.MonkeyPatch, slack: float | None, size: int, rate: Fraction, reach: int
):
    if slack is not None:
        monkeypatch.setattr("noisewright.sample.linear._SLACK", slack)
    noise = RoundNoise(Block(tuple(range(size)), (), rate, (), ONE))
    drawn = [tuple(z) for z in noise.draw(3000, Replay(seed=5)).tolist()]
    assert fit(drawn, shaped_masses(size, float(rate), length, reach)) > FITS
    for wrong in (0.85, 1.18):
        assert fit(drawn, shaped_masses(size, float(rate) * wrong, length, reach)) < FITS


@pytest.mark.parametrize("rate", [Fraction(3), Fraction(2, 5), Fraction(1, 40)])
def test_two_sided_noise_is_geometric_on_both_sides(rate: Fraction):
    drawn = [int(k) for k in TwoSided(lambda: ball(rate)).draw(20_000, Replay(seed=6))]
    assert fit(drawn, geometric_masses(float(rate), 2000)) > FITS
    for wrong in (0.93, 1.07):
        assert fit(drawn, geometric_masses(float(rate) * wrong, 2000)) < FITS

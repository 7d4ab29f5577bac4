"""Released vectors: each number rounded where it should be, with noise of its own law, independent of the others."""

from __future__ import annotations

import math
from collections import defaultdict
from fractions import Fraction

import numpy as np
import pytest

import noisewright.sample.certified  # noqa: F401  # makes every sampler known
from noisewright.explain.errors import describe_error
from noisewright.laws.gaussian import Gaussian
from noisewright.laws.laplace import Laplace
from noisewright.laws.lattice import Lattice
from noisewright.laws.piecewise import Piecewise, staircase
from noisewright.mechanisms.additive import Additive
from noisewright.mechanisms.linear_gaussian import LinearGaussian
from noisewright.mechanisms.norm_shaped import NormBlock, NormShaped
from noisewright.mechanisms.per_coordinate import PerCoordinate
from noisewright.problem.queries import Scalar, Vector
from noisewright.problem.sensitivity import Box
from noisewright.sample.drawers import drawer_for
from noisewright.sample.norm_shaped import RoundBlockSampler, ShellSampler
from tests.mechanisms_by_hand import FAILS, FITS, fit, shaped_masses
from tests.replay import Replay

QUARTER, EIGHTH = Fraction(1, 4), Fraction(1, 8)


def part(law: Laplace | Gaussian | Piecewise, step: Fraction) -> Additive:
    return Additive(Scalar(1), law, Lattice.cells(step))


# Numbers 0 and 3 have the same noise in steps although not in size; number 1 stays as it is.
PARTS = PerCoordinate(
    Vector(Box([1, 0, 1, 2, 1])),
    (
        part(Laplace(Fraction(1, 2)), QUARTER),
        None,
        part(Gaussian(Fraction(1, 2)), EIGHTH),
        part(Laplace(Fraction(1)), Fraction(1, 2)),
        part(staircase(epsilon=Fraction(1), sensitivity=Fraction(1), split=QUARTER), QUARTER),
    ),
)
STEPS = [Fraction(1, 4), None, Fraction(1, 8), Fraction(1, 2), Fraction(1, 4)]


def laplace_cells(rate: float, reach: int = 200) -> dict[int, float]:
    """Masses of the cells [k, k + 1) of a Laplace law, in steps."""
    side = {k: math.exp(-rate * k) * -math.expm1(-rate) / 2 for k in range(reach)}
    return side | {-1 - k: mass for k, mass in side.items()}


def gaussian_cells(std: float, reach: int = 120) -> dict[int, float]:
    def above(x: float) -> float:
        return math.erfc(x / std / math.sqrt(2)) / 2

    return {k: above(k) - above(k + 1) for k in range(-reach, reach)}


def staircase_cells(reach: int = 60) -> dict[int, float]:
    """Cells of a quarter: one step down at one quarter, then at five quarters, …"""
    weights = {k: math.exp(-((k + 3) // 4)) for k in range(reach)}
    weights |= {-1 - k: weight for k, weight in weights.items()}
    total = sum(weights.values())
    return {k: weight / total for k, weight in weights.items()}


def whole(cells: np.ndarray) -> np.ndarray:
    """Cells as whole numbers, which they are up to what a lattice may be stretched by."""
    rounded = np.round(cells)
    assert np.abs(cells - rounded).max() < 0.01
    return rounded.astype(np.int64)


MASSES = [laplace_cells(1 / 2), None, gaussian_cells(4), laplace_cells(1 / 2), staircase_cells()]


@pytest.fixture(scope="module")
def by_parts() -> np.ndarray:
    """Noise cells of releases of one answer, a row each: released is the answer's cell plus the noise's plus one."""
    drawer = drawer_for(PARTS)
    # Number 0 is in cell 0, number 2 in cell -1, number 3 in cell 5, number 4 in cell -3: negative ones round down too.
    answer = [Fraction(1, 5), "17.25", Fraction(-1, 100), 2.75, Fraction(-51, 100)]
    replay = Replay(seed=11)
    released = np.array([drawer.release(answer, replay) for _ in range(3000)])
    assert (released[:, 1] == 17.25).all()
    released[:, 1] = 1
    cells = [0, 0, -1, 5, -3]
    steps = [1.0 if step is None else float(step) for step in STEPS]
    return whole(released / steps - cells - 1)


@pytest.mark.parametrize("i", [0, 2, 3, 4])
def test_each_number_gets_noise_of_its_own_law(by_parts: np.ndarray, i: int):
    masses = MASSES[i]
    assert masses is not None
    noise = by_parts[:, i]
    assert fit(noise.tolist(), masses) > FITS
    assert fit((noise + 1).tolist(), masses) < FAILS


def test_numbers_with_the_same_noise_do_not_share_it(by_parts: np.ndarray):
    """Numbers 0 and 3 have one law in steps; two independent draws of it agree in every eighth release or so."""
    chance = sum(mass * mass for mass in laplace_cells(1 / 2).values())
    same = float((by_parts[:, 0] == by_parts[:, 3]).mean())
    assert abs(same - chance) < 6 * math.sqrt(chance / len(by_parts))
    for i, j in ((0, 3), (0, 2), (2, 3), (3, 4)):
        assert abs(np.corrcoef(by_parts[:, i], by_parts[:, j])[0, 1]) < 0.1


def test_drawn_noise_of_parts_lies_in_the_middle_of_its_cells_with_its_law():
    noise = drawer_for(PARTS).draw(4000, Replay(seed=3))
    assert noise.shape == (4000, 5)
    assert not noise[:, 1].any()
    for i in (0, 2, 3, 4):
        masses, step = MASSES[i], STEPS[i]
        assert masses is not None
        assert step is not None
        assert fit(whole(noise[:, i] / float(step) - 0.5).tolist(), masses) > FITS
    assert abs(np.corrcoef(noise[:, 0], noise[:, 3])[0, 1]) < 0.1


def largest(z: tuple[int, ...]) -> float:
    return float(max(map(abs, z)))


def length(z: tuple[int, ...]) -> float:
    return math.sqrt(sum(v * v for v in z))


@pytest.mark.parametrize("path", ["one", "many"])
@pytest.mark.parametrize(("kind", "norm"), [(ShellSampler, largest), (RoundBlockSampler, length)])
@pytest.mark.parametrize(
    ("size", "rate", "reach"), [(1, Fraction(1, 2), 60), (2, Fraction(1), 30), (3, Fraction(5, 2), 9)]
)
def test_shaped_noise_has_mass_by_its_norm_alone(kind, norm, size, rate, reach, path):
    sampler, replay = kind(size, rate), Replay(seed=5)
    if path == "one":
        drawn = [tuple(sampler.one(replay)) for _ in range(1500)]
    else:
        drawn = [tuple(z) for z in sampler.many(20_000, replay).tolist()]
    assert fit(drawn, shaped_masses(size, float(rate), norm, reach)) > FITS
    for wrong in (0.8, 1.25):
        assert fit(drawn, shaped_masses(size, float(rate) * wrong, norm, reach)) < FAILS


def test_balls_alone_keep_round_noise_as_floats_do(monkeypatch: pytest.MonkeyPatch):
    """With a margin of one nothing is clear to the floats, and every proposal is decided in balls."""
    monkeypatch.setattr("noisewright.sample.norm_shaped._MARGIN", 1.0)
    sampler, replay = RoundBlockSampler(3, Fraction(5, 2)), Replay(seed=6)
    drawn = [tuple(sampler.one(replay)) for _ in range(1000)]
    assert fit(drawn, shaped_masses(3, 2.5, length, 9)) > FITS


# Two pairs of blocks of the same size and rate: alike in all, and alike in all but the norm.
ALIKE = NormShaped(
    Vector(Box([1, 1, 1, 0, 1, 1, 1])),
    (
        NormBlock((4, 0), (QUARTER, EIGHTH), Fraction(3, 2)),
        NormBlock((1, 2), (Fraction(2), Fraction(3, 10)), Fraction(3, 2)),
        NormBlock((6, 5), (Fraction(1), Fraction(1)), Fraction(3, 2), "l2"),
    ),
)
PLACES = [4, 0, 1, 2, 6, 5]
BLOCK_STEPS = [Fraction(1, 4), Fraction(1, 8), Fraction(2), Fraction(3, 10), Fraction(1), Fraction(1)]


def centred(released: np.ndarray, answer: list[Fraction]) -> np.ndarray:
    """Noise in steps, block by block, around the nearest multiples."""
    columns = []
    for place, step in zip(PLACES, BLOCK_STEPS, strict=True):
        index = math.floor(answer[place] / step + Fraction(1, 2))
        columns.append(released[:, place] / float(step) - index)
    return whole(np.stack(columns, axis=1))


@pytest.fixture(scope="module")
def in_blocks() -> np.ndarray:
    drawer, replay = drawer_for(ALIKE), Replay(seed=8)
    answer = [
        Fraction(11, 32),
        Fraction(-3, 2),
        Fraction(1, 7),
        Fraction(19, 7),
        Fraction(-1, 3),
        Fraction(9, 4),
        Fraction(0),
    ]
    released = np.array([drawer.release(answer, replay) for _ in range(1500)])
    assert (released[:, 3] == 19 / 7).all()
    return centred(released, answer)


def test_noise_of_a_block_is_centred_on_the_nearest_multiple(in_blocks: np.ndarray):
    for column in in_blocks.T:
        # Symmetric noise: the middle is the rounded answer. Six deviations of a mean are below a half.
        assert abs(column.mean()) < 6 * column.std() / math.sqrt(len(column)) < 0.5


@pytest.mark.parametrize(("columns", "norm"), [((0, 1), largest), ((2, 3), largest), ((4, 5), length)])
def test_each_block_has_noise_by_its_own_norm(in_blocks: np.ndarray, columns: tuple[int, int], norm):
    drawn = [tuple(z) for z in in_blocks[:, columns].tolist()]
    assert fit(drawn, shaped_masses(2, 1.5, norm, 20)) > FITS
    other = largest if norm is length else length
    assert fit(drawn, shaped_masses(2, 1.5, other, 20)) < FAILS


def test_blocks_that_are_alike_do_not_share_their_noise(in_blocks: np.ndarray):
    chance = sum(mass * mass for mass in shaped_masses(2, 1.5, largest, 20).values())
    same = float((in_blocks[:, [0, 1]] == in_blocks[:, [2, 3]]).all(axis=1).mean())
    assert abs(same - chance) < 6 * math.sqrt(chance / len(in_blocks))


@pytest.mark.parametrize("count", [300, 3000])
def test_drawn_noise_of_blocks_has_their_steps_and_their_law(count: int):
    noise = drawer_for(ALIKE).draw(count, Replay(seed=4))
    assert noise.shape == (count, 7)
    assert not noise[:, 3].any()
    drawn = centred(noise, [Fraction(0)] * 7)
    for columns, norm in (((0, 1), largest), ((2, 3), largest), ((4, 5), length)):
        masses: defaultdict[tuple[int, ...], float] = defaultdict(float)
        for z, mass in shaped_masses(2, 1.5, norm, 20).items():
            masses[tuple(sorted(map(abs, z)))] += mass
        assert fit([tuple(sorted(map(abs, z))) for z in drawn[:, columns].tolist()], masses) > FITS
    assert not (drawn[:, [0, 1]] == drawn[:, [2, 3]]).all()


# A frame whose inverse is dyadic too, neither symmetric nor diagonal: floats carry it exactly.
FRAMED = LinearGaussian(
    Vector(Box([1, 1, 1])),
    (
        (Fraction(1), Fraction(2), Fraction(0)),
        (Fraction(0), Fraction(1), Fraction(-4)),
        (Fraction(0), Fraction(0), Fraction(1, 2)),
    ),
    Fraction(3, 4),
    QUARTER,
)


def test_a_correlated_release_is_noisy_in_its_frame_and_mapped_back():
    drawer, replay = drawer_for(FRAMED), Replay(seed=12)
    answer = [Fraction(1, 3), -0.7, "2.9"]
    released = np.array([drawer.release(answer, replay) for _ in range(1500)])
    matrix = np.array([[float(v) for v in row] for row in FRAMED.matrix])
    framed = released @ matrix.T
    # The frame sees 1/3 - 1.4 = -1.0666…, -0.7 - 11.6 = -12.3 and 1.45: cells -5, -50 and 5 of a quarter.
    noise = whole(framed * 4 - np.array([-5, -50, 5]) - 1)
    masses = gaussian_cells(3)
    for column in noise.T:
        assert fit(column.tolist(), masses) > FITS
        assert fit((column + 1).tolist(), masses) < FAILS
    assert abs(np.corrcoef(noise.T) - np.eye(3)).max() < 0.12


def test_drawn_correlated_noise_has_the_covariance_of_its_frame():
    noise = drawer_for(FRAMED).draw(3000, Replay(seed=2))
    matrix = np.array([[float(v) for v in row] for row in FRAMED.matrix])
    framed = whole(noise @ matrix.T * 4 - 0.5)
    for column in framed.T:
        assert fit(column.tolist(), gaussian_cells(3)) > FITS
    assert abs(np.corrcoef(framed.T) - np.eye(3)).max() < 0.1


def test_what_is_said_of_several_numbers_names_those_without_noise():
    """Numbers 2 and 4 of the two questions, counted from one; the error of each number is that of its cells."""
    first, second = describe_error(PARTS)
    roots = []
    for masses, step in zip(MASSES, STEPS, strict=True):
        cells = masses or {}
        width = float(step or 0)
        roots.append(math.sqrt(sum(m * (k * k + k + 1 / 3) for k, m in cells.items())) * width)
    found = [float(word) for word in first.partition("each number ")[2].partition(";")[0].split(", ")]
    # What has no formula of its own is said within one or two per cent.
    assert found == pytest.approx(roots, rel=2e-2)
    assert float(first.rpartition("together ")[2].rstrip(".")) == pytest.approx(math.hypot(*roots), rel=2e-2)
    assert second == "No person can change number 2: released without noise."
    assert "number 4:" in describe_error(ALIKE)[1]
    assert len(describe_error(FRAMED)) == 2

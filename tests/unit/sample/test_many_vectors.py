"""Vectors are released at once as number by number: the cells of `law_given`, and the same words for the noise."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

import noisewright.sample.certified  # noqa: F401  # makes every sampler known
from noisewright.laws.gaussian import Gaussian
from noisewright.laws.laplace import DiscreteLaplace, Laplace
from noisewright.laws.lattice import Lattice
from noisewright.mechanisms.additive import Additive
from noisewright.mechanisms.linear_gaussian import LinearGaussian
from noisewright.mechanisms.norm_shaped import NormBlock, NormShaped
from noisewright.mechanisms.per_coordinate import PerCoordinate
from noisewright.problem.errors import InvalidAnswerError
from noisewright.problem.queries import Scalar, Vector
from noisewright.problem.sensitivity import Box, L1Ball
from noisewright.sample.drawers import drawer_for
from noisewright.sample.points import Points
from noisewright.sample.sampler import NoiseSampler
from noisewright.sample.vectors import in_steps
from tests.mechanisms_by_hand import FAILS, FITS, fit
from tests.replay import Replay

ONE, QUARTER, THOUSANDTH = Fraction(1), Fraction(1, 4), Fraction(1, 1000)


def part(law: Any, step: Fraction) -> Additive:
    return Additive(Scalar(1), law, Lattice.cells(step))


WHOLE = Additive(Scalar(1, integer=True), DiscreteLaplace(ONE), Lattice.integers())
LAPLACE, GAUSSIAN = part(Laplace(ONE), THOUSANDTH), part(Gaussian(Fraction(3)), QUARTER)


def per_coordinate(kinds: list[Additive | None], integer: Any = False) -> PerCoordinate:
    return PerCoordinate(Vector(Box([1 if k else 0 for k in kinds]), integer=integer), tuple(kinds))


MIXED = per_coordinate([LAPLACE, None, GAUSSIAN, LAPLACE, WHOLE, GAUSSIAN], [False, False, False, False, True, False])
HARD = [0.1, 1234.56, -0.0, 2.0**25 + 0.125, 7.0, -1e-310]


def number_by_number(mechanism: PerCoordinate, answer: list[Any], words: Replay) -> list[Any]:
    """What is released, law by law: those with the same noise in steps one after another, each from its own draw."""
    laws = mechanism.law_given(answer)
    out: list[Any] = [None if piece else float(law) for piece, law in zip(mechanism.parts, laws, strict=True)]
    samplers: dict[Any, NoiseSampler] = {}
    order: dict[Any, list[int]] = {}
    for i, piece in enumerate(mechanism.parts):
        if piece is not None:
            order.setdefault(in_steps(piece), []).append(i)
    for noise, places in order.items():
        sampler = samplers.setdefault(noise, NoiseSampler(noise))
        for i in places:
            piece, point = mechanism.parts[i], laws[i].point(sampler.one(words))
            assert piece is not None
            integer = piece.query.integer
            out[i] = float(point) if integer else Points(piece.lattice.step, piece.spacing).one(point)
    return out


@pytest.mark.parametrize("form", [list, tuple, np.array], ids=["list", "tuple", "array"])
def test_a_vector_is_released_as_number_by_number(form):
    drawer = drawer_for(MIXED)
    for seed in range(20):
        answer = [x * (seed + 1) / 16 if i != 4 else x for i, x in enumerate(HARD)]
        found = drawer.release(form(answer), Replay(seed=seed))
        assert found.dtype == np.float64
        assert list(map(repr, found.tolist())) == list(map(repr, number_by_number(MIXED, answer, Replay(seed=seed))))


def test_a_long_vector_is_released_as_number_by_number():
    """Long enough for a table, which looks at each word as a single draw does."""
    long = per_coordinate([LAPLACE] * 5000)
    answer = np.round(np.random.default_rng(1).normal(0, 1000, 5000), 2)
    found = drawer_for(long).release(answer, Replay(seed=3))
    assert list(map(repr, found.tolist())) == list(map(repr, number_by_number(long, answer.tolist(), Replay(seed=3))))


def test_many_vectors_of_one_law_are_released_row_by_row():
    rows = np.random.default_rng(2).normal(0, 50, (300, 4))
    mechanism = per_coordinate([LAPLACE] * 4)
    words = Replay(seed=5)
    single = [drawer_for(mechanism).release(row, words).tolist() for row in rows]
    for form in (rows, rows.tolist(), list(rows)):
        assert drawer_for(mechanism).release_many(form, Replay(seed=5)).tolist() == single
    mixed = [[1, 0.5, Fraction(1, 3), "2"], [0.1, 0.2, 0.3, 0.4]]
    words = Replay(seed=6)
    single = [drawer_for(mechanism).release(row, words).tolist() for row in mixed]
    assert drawer_for(mechanism).release_many(mixed, Replay(seed=6)).tolist() == single
    assert drawer_for(mechanism).release_many([], Replay()).shape == (0, 4)


def test_whole_numbers_are_released_as_integers():
    mechanism = per_coordinate([WHOLE] * 3, True)
    found = drawer_for(mechanism).release([3, 4.0, 2**52], Replay(seed=1))
    assert found.dtype == np.int64
    ends = [[2**53, 0, 1], [2**63 - 1, -(2**63), 2**62], [-(2**63), 2**63 - 1, 2**63 - 1], [3, 2**104 + 1, -(2**80)]]
    for seed, far in product(range(5), ends):
        noise = drawer_for(mechanism).release([0, 0, 0], Replay(seed=seed)).tolist()
        wanted = [a + z for a, z in zip(far, noise, strict=True)]
        assert drawer_for(mechanism).release(far, Replay(seed=seed)).tolist() == wanted
        assert drawer_for(mechanism).release_many([far], Replay(seed=seed)).tolist() == [wanted]
    for wrong in ([3, 4.5, 1], [3.0, 4.5, 1.0], [1, True, 3], [2**200, 1, 1]):
        with pytest.raises(InvalidAnswerError):
            drawer_for(mechanism).release(wrong, Replay())


def test_whole_numbers_far_below_zero_are_not_rounded_beside_reals():
    mechanism = PerCoordinate(Vector(Box([1, 1]), integer=(True, False)), (WHOLE, LAPLACE))
    noise = int(drawer_for(mechanism).release([0, 0.5], Replay(seed=2))[0])
    for far in (-(2**53) - 101, -(2**60) - 1, 2**60 + 1):
        found = drawer_for(mechanism).release([far, 0.5], Replay(seed=2)).tolist()
        assert (type(found[0]), found[0]) == (int, far + noise)


def test_multiples_of_a_step_far_below_zero_do_not_wrap_around():
    """A third and a fifth of such a number fit into 64 bits, it itself does not."""
    whole = NormShaped(Vector(Box([1, 1]), integer=True), (NormBlock((0, 1), (Fraction(3), Fraction(5)), ONE),))
    noise, low = drawer_for(whole).release([0, 0], Replay(seed=3)).tolist(), -45 * 2**58
    for far in ((low, 0), (0, low), (low, -low), (15, low)):
        wanted = [a + z for a, z in zip(far, noise, strict=True)]
        assert drawer_for(whole).release(list(far), Replay(seed=3)).tolist() == wanted


@pytest.mark.parametrize(
    "wrong",
    [[1.0] * 5, [1.0] * 7, "123456", 3, [[1.0] * 6], [math.nan] * 6, [1e300] * 6, [None] * 6, [True] * 6],
    ids=repr,
)
def test_a_wrong_vector_takes_no_randomness(wrong):
    with pytest.raises(InvalidAnswerError):
        drawer_for(MIXED).release(wrong, Replay())
    with pytest.raises(InvalidAnswerError):
        drawer_for(MIXED).release_many([HARD, wrong], Replay())
    with pytest.raises(InvalidAnswerError):
        drawer_for(MIXED).release_many(np.zeros((2, 5)), Replay())


def test_coarse_floats_of_a_vector_are_refused_by_its_own_moves():
    """In a ball of four numbers each may move by a quarter, whatever its part was made for: 2^24 is the limit."""
    ball = PerCoordinate(Vector(L1Ball(1, 4)), (LAPLACE,) * 4)
    for answer in ([2.0**24] * 4, [2**25] * 4):
        assert drawer_for(ball).release(answer, Replay(seed=1)).shape == (4,)
    for wrong in ([0.0, 0.0, 0.0, 2.0**24 + 1], [0.0, 0.0, -(2.0**25), 0.0]):
        with pytest.raises(InvalidAnswerError, match="too large for a float"):
            drawer_for(ball).release(wrong, Replay())


@pytest.mark.parametrize("place", [0, 1])
def test_numbers_that_share_a_part_are_each_read_by_their_own_smallest_move(place: int):
    """A float of 2^10 is fine enough for a number that moves by 1, and not for one that moves by 2^-20."""
    moves: list[Any] = [1, 1]
    moves[place] = Fraction(1, 2**20)
    drawer = drawer_for(PerCoordinate(Vector(Box(moves)), (LAPLACE, LAPLACE)))
    fine, coarse = [2.0**10] * 2, [2.0**10] * 2
    fine[place] = 2.0**6
    assert drawer.release(fine, Replay(seed=1)).shape == (2,)
    for given in (coarse, np.array(coarse)):
        with pytest.raises(InvalidAnswerError, match="too large for a float"):
            drawer.release(given, Replay())
        with pytest.raises(InvalidAnswerError, match="too large for a float"):
            drawer.release_many([given, fine], Replay())


def test_the_noise_of_a_long_vector_has_its_law_and_is_not_shared():
    """Whole noise of rate one in 20,000 numbers; one off is noticed, and so is a number that repeats its neighbour."""
    fade = math.exp(-1)
    masses = {k: (1 - fade) / (1 + fade) * fade ** abs(k) for k in range(-60, 61)}
    answer = np.arange(20_000)
    noise = drawer_for(per_coordinate([WHOLE] * 20_000, True)).release(answer, Replay(seed=7)) - answer
    assert fit(noise.tolist(), masses) > FITS
    assert fit((noise + 1).tolist(), masses) < FAILS
    chance = sum(m * m for m in masses.values())
    assert abs((noise[1:] == noise[:-1]).mean() - chance) < 6 * math.sqrt(chance / 20_000)


BLOCKS = NormShaped(
    Vector(Box([1, 1, 1, 0, 1, 1]), integer=[False, False, False, False, True, True]),
    (
        NormBlock((2, 0), (QUARTER, THOUSANDTH), Fraction(3, 2)),
        NormBlock((4, 5), (ONE, Fraction(2)), Fraction(1, 2)),
        NormBlock((1,), (Fraction(1, 400),), Fraction(1, 3), "l2"),
    ),
)


def test_blocks_are_released_on_the_points_of_their_law():
    """Nearest multiples, a half upwards; with the noise taken off, what is left is what `law_given` says."""
    drawer: Any = drawer_for(BLOCKS)
    for seed, answer in enumerate(
        [
            [0.1, 0.00125, 0.125, 17.25, 3, 3],
            [-0.0005, -0.00125, -0.125, 0.3, -3, 2.0],
            [1e5 / 3, 12.34, 1e-310, 0, 5, -7],
        ]
    ):
        found = drawer.release(np.array(answer), Replay(seed=seed))
        assert found.tolist() == drawer.release(answer, Replay(seed=seed)).tolist()
        noise = drawer._noise(1, Replay(seed=seed))[0]
        for i, (point, block) in enumerate(BLOCKS.law_given(answer)):
            if block is None:
                assert found[i] == float(point)
                continue
            step = block.steps[block.places.index(i)]
            exact = point + int(noise[i]) * step * BLOCKS.stretch(block)
            assert abs(Fraction(repr(float(found[i]))) - exact) <= (0 if i > 3 else step / 2)
            assert found[i] == float(exact) or i < 3
    whole = NormShaped(Vector(Box([1, 1]), integer=True), (NormBlock((0, 1), (ONE, Fraction(2)), ONE),))
    assert drawer_for(whole).release([3, 2**52], Replay(seed=1)).dtype == np.int64
    noise = drawer_for(whole).release([0, 0], Replay(seed=1)).tolist()
    for far in (2**62, 2**63 - 2, -(2**63), 2**104, -(2**104)):
        wanted = [3 + noise[0], far + noise[1]]
        assert drawer_for(whole).release([3, far], Replay(seed=1)).tolist() == wanted
        assert drawer_for(whole).release_many([[3, far], [1, 1]], Replay(seed=1))[0].tolist() == wanted
    for wrong in ([3.5, 1], [1, 2**257], [1.0, 2.5], [1, 2.0**54]):
        with pytest.raises(InvalidAnswerError):
            drawer_for(whole).release(wrong, Replay())


def test_a_correlated_release_is_the_float_next_to_the_exact_image():
    frame = ((Fraction(1, 3), Fraction(2, 7)), (Fraction(-1, 5), Fraction(11, 13)))
    mechanism = LinearGaussian(Vector(Box([1, 1])), frame, Fraction(3, 4), Fraction(1, 9))
    answer = [12.34, Fraction(-5, 3)]
    words = Replay(seed=4)
    sampler = NoiseSampler(mechanism.noise)
    framed = [mechanism.lattice.released(cell, sampler.one(words)) for cell in mechanism.law_given(answer)]
    exact = [float(sum((a * y for a, y in zip(row, framed, strict=True)), Fraction(0))) for row in mechanism.inverse]
    assert drawer_for(mechanism).release(answer, Replay(seed=4)).tolist() == exact


def test_a_number_that_nobody_moves_is_released_as_it_is_however_large():
    mechanism = PerCoordinate(Vector(Box([1, 0]), integer=True), (WHOLE, None))
    for far in (2**62, 2**63, -(2**104), 0):
        assert drawer_for(mechanism).release([3, far], Replay(seed=1)).tolist()[1] == far

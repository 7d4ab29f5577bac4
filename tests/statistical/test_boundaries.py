"""Each draw, word by word, is the one that inversion at 2000 bits gives: at random words, and at those on a boundary.

Nothing here is left to chance: the words are chosen.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from noisewright.laws.lattice import Lattice, Rounded
from noisewright.laws.piecewise import staircase
from noisewright.numerics.balls import ceil_scaled, floor_scaled, precision
from noisewright.numerics.fields import BALLS, FLOATS
from noisewright.sample.inversion import segments_of
from noisewright.sample.sampler import NoiseSampler
from tests.replay import Replay, extended
from tests.statistical.exact import BITS, Cdf, is_drawn, single, staircase_cdf, staircase_cell
from tests.statistical.noises import EXACT_NAMES, SLOW_NAMES, noises

pytestmark = pytest.mark.statistical

TOP = 2**64 - 1
RANDOM_WORDS = 2000
LENGTH = 24


def exact_of(name: str) -> Cdf:
    exact = noises()[name].exact
    assert exact is not None
    return exact


def with_table(name: str) -> NoiseSampler:
    sampler = NoiseSampler(noises()[name].law)
    sampler.many(1000, Replay(seed=1))
    return sampler


def boundary_words(name: str) -> list[int]:
    """Words next to 2^64 F at the ends of cells: near zero, on both flanks and in both tails."""
    law, exact = segments_of(noises()[name].law), exact_of(name)
    assert law is not None
    cells = sorted({sign * i for sign in (-1, 1) for i in (0, 1, 2, 3, 5, 9, 17, 100, 1000, 10_000, 100_000)})
    words = {0, 1, TOP - 1, TOP}
    with precision(BITS):
        for s in cells:
            at = floor_scaled(exact(law.start(s + 1) - 1), 64)
            words |= {min(max(at + d, 0), TOP) for d in (-2, -1, 0, 1, 2)}
    return sorted(words)


@pytest.mark.parametrize("name", EXACT_NAMES)
def test_the_law_written_twice_is_the_same_law(name: str):
    law, exact = noises()[name].law, exact_of(name)
    generator = np.random.Generator(np.random.PCG64(5))
    with precision(BITS):
        for k in [-3, -2, -1, 0, 1, 2, *generator.integers(-50_000, 50_000, size=100)]:
            assert (law.cdf(int(k), BALLS) - exact(int(k))).contains(0)
            assert (law.sf(int(k), BALLS) + exact(int(k)) - 1).contains(0)


@pytest.mark.parametrize("name", EXACT_NAMES)
def test_bounds_of_the_table_enclose_the_law_tightly(name: str):
    law, exact = segments_of(noises()[name].law), exact_of(name)
    assert law is not None
    reach = 25
    while reach < 100_000 and law.sf(2 * reach, FLOATS) > 1e-280:
        reach *= 2
    bounds = law.scaled_cdfs(-reach, reach, 64)
    with precision(BITS):
        for s in [*range(-20, 20), *range(-reach, reach + 1, 1 + reach // 100)]:
            value = exact(law.start(s + 1) - 1)
            low, high = bounds[s + reach]
            assert low <= floor_scaled(value, 64)
            assert ceil_scaled(value, 64) <= high <= low + 2


@pytest.mark.parametrize("name", [name for name in EXACT_NAMES if name not in SLOW_NAMES])
def test_a_draw_through_the_table_is_the_inversion_of_its_words(name: str):
    sampler, exact, cell = with_table(name), exact_of(name), noises()[name].cell
    generator = np.random.Generator(np.random.PCG64(7))
    words = [*map(int, generator.integers(2**64, size=RANDOM_WORDS, dtype=np.uint64)), *boundary_words(name)]
    for seed, word in enumerate(words):
        (k,) = sampler.many(1, Replay([word], seed=seed))
        assert is_drawn(exact, cell(int(k)), *extended([word], seed, LENGTH)), word


@pytest.mark.parametrize("name", EXACT_NAMES)
def test_a_draw_without_a_table_is_the_inversion_of_its_words(name: str):
    sampler, exact, cell = NoiseSampler(noises()[name].law), exact_of(name), noises()[name].cell
    for seed, word in enumerate(boundary_words(name)):
        k = sampler.one(Replay([word], seed=seed))
        assert is_drawn(exact, cell(k), *extended([word], seed, LENGTH)), word


@pytest.mark.parametrize("word", [0, 1, TOP - 1, TOP])
def test_words_at_the_ends_of_a_table_that_reaches_beyond_64_bits(word: int):
    """The last entries of this table differ from 1 by less than 2^-64, which only further words can tell."""
    sampler, exact = NoiseSampler(noises()["discrete Laplace"].law, reach=60), exact_of("discrete Laplace")
    sampler.many(1000, Replay(seed=1))
    for seed in range(50):
        k = int(sampler.many(1, Replay([word], seed=seed))[0])
        assert is_drawn(exact, single(k), *extended([word], seed, LENGTH))


@pytest.mark.parametrize("path", ["table", "one"])
def test_a_word_that_cannot_decide_is_extended_until_it_does(path: str):
    """The boundary itself, followed by more of its own digits, takes as many words as digits agree."""
    noise = noises()["Laplace"]
    sampler = with_table("Laplace") if path == "table" else NoiseSampler(noise.law)
    for k in (-700, 0, 1, 42, 2000):
        with precision(BITS):
            digits = floor_scaled(exact_of("Laplace")(k), 64 * 8)
        words = [digits >> 64 * (7 - i) & TOP for i in range(8)]
        for agreeing in (1, 2, 5):
            for beyond in (0, TOP):
                replay = Replay([*words[:agreeing], beyond])
                drawn = int(sampler.many(1, replay)[0]) if path == "table" else sampler.one(replay)
                assert drawn == (k if beyond == 0 else k + 1)
                assert replay.consumed == agreeing + 1


def huge_cells() -> tuple[NoiseSampler, Cdf, Callable[[int], tuple[int, int]]]:
    """A staircase with 2^58 points in each cell: forty cells out, points need more than 64 bits."""
    step, half = Fraction(1, 2**58), Fraction(1, 2)
    law = staircase(epsilon=Fraction(1), sensitivity=Fraction(1), split=half)
    places = (Fraction(1), -half, half, step, Fraction(0))
    return NoiseSampler(Rounded(law, Lattice.cells(step))), staircase_cdf(Fraction(1), *places), staircase_cell(*places)


@pytest.mark.parametrize("path", ["table", "one"])
@pytest.mark.parametrize("word", [0, TOP])
@pytest.mark.parametrize("times", [1, 2, 5, 20])
def test_tails_are_reached_at_any_distance(path: str, word: int, times: int):
    """Words of ones (or zeros) lie within 2^(-64 times) of the end; the noise is then beyond 64-bit integers."""
    sampler, exact, cell = huge_cells()
    if path == "table":
        sampler.many(1000, Replay(seed=3))
    replay = Replay([word] * times, seed=11)
    drawn = sampler.many(1, replay) if path == "table" else np.array([sampler.one(replay)], dtype=object)
    k = int(drawn[0])
    assert (k > 0) is (word == TOP)
    assert abs(k) > 2**58 * (64 * times * math.log(2) - 2)
    assert abs(k) > 2**63
    assert drawn.dtype == object
    assert is_drawn(exact, cell(k), *extended([word] * times, 11, LENGTH))


def test_one_huge_value_does_not_disturb_the_others():
    sampler, exact, cell = huge_cells()
    sampler.many(1000, Replay(seed=3))
    words = [2**63, TOP, 2**62]
    drawn = sampler.many(3, Replay(words, seed=2))
    assert drawn.dtype == object
    assert drawn[1] > 2**63
    for i in (0, 2):
        assert is_drawn(exact, cell(drawn[i]), words[i], 64)

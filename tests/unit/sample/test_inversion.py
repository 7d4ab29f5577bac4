"""Inversion with and without a table, in cells and in points, against masses that are added up by hand."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
import pytest

from noisewright.laws.lattice import Lattice, Rounded
from noisewright.laws.piecewise import Piecewise
from noisewright.mechanisms.bounded.conditional import WeightedRow
from noisewright.numerics.balls import precision
from noisewright.numerics.fields import BALLS, Field
from noisewright.sample.inversion import CdfTable, Inverter, Runs, Segments, segments_of
from noisewright.sample.sampler import Folded, NoiseSampler
from tests.mechanisms_by_hand import FAILS, FITS, fit
from tests.replay import Replay

TOP = 2**64 - 1


class Rational:
    """A lopsided law of the whole numbers -3 … 4, with sevenths and elevenths that no number of bits holds."""

    weights: tuple[int, ...] = (5, 1, 0, 17, 2, 40, 3, 9)
    first = -3
    total = sum(weights)
    below: tuple[int, ...] = (0, *accumulate(weights))

    def share(self, k: int) -> Fraction:
        """P(K <= k)."""
        return Fraction(self.below[min(max(k + 1 - self.first, 0), len(self.weights))], self.total)

    def cdf(self, k: int, field: Field) -> object:
        return field.real(self.share(k))

    def sf(self, k: int, field: Field) -> object:
        return field.real(1 - self.share(k))

    def at(self, uniform: Fraction) -> int:
        """The smallest k with U < F(k)."""
        return bisect_right(self.below, uniform * self.total) - 1 + self.first


LAW = Rational()


def boundary_words() -> list[list[int]]:
    """Words that agree with no, one or two digits of each boundary, on either side of it."""
    found = [[0], [1], [2**63], [TOP - 1]]
    for k in range(-3, 4):
        digits = [int(LAW.share(k) * 2 ** (64 * (i + 1))) % 2**64 for i in range(4)]
        for agreeing in range(3):
            for off in (-1, 1):
                if 0 <= digits[agreeing] + off < 2**64:
                    found.append([*digits[:agreeing], digits[agreeing] + off])
    return found


def expected(words: list[int]) -> int:
    whole = 0
    for word in words:
        whole = whole << 64 | word
    return LAW.at(Fraction(2 * whole + 1, 2 ** (64 * len(words) + 1)))


@pytest.mark.parametrize(
    ("above", "at_most"), [(None, None), (-4, 4), (-4, None), (None, 4), (-90, 70)], ids=["galloping", *["given"] * 4]
)
def test_inversion_finds_the_value_that_the_words_stand_for(above: int | None, at_most: int | None):
    """One inverter for all words, each also with its own digits doubled: what it keeps must not mix precisions."""
    inverter = Inverter(LAW)
    for words in boundary_words():
        for given in (words, [*words, 2**63]):
            replay = Replay(given[1:], seed=1)
            assert inverter.invert(given[0], 64, replay, above=above, at_most=at_most) == expected(words)
        assert replay.consumed <= len(words) - 1


@pytest.mark.parametrize(
    ("first", "last"), [(-4, 4), (-9, 9), (-1, 1), (0, 0), (3, 8), (-9, -3)], ids=lambda value: str(value)
)
@pytest.mark.parametrize("offset", [0, 5])
def test_a_table_of_any_extent_gives_the_value_that_the_words_stand_for(first: int, last: int, offset: int):
    table = CdfTable(LAW, first, last)
    for words in boundary_words():
        drawn = table.draw(1, Replay(words), offset=offset)
        assert drawn.tolist() == [expected(words) + offset]


class FromOne(Rational):
    """Never zero or less, in balls that cannot tell a chance of none from a tiny negative one."""

    weights = (0, 0, 0, 0, 3, 4)

    def sf(self, k: int, field: Field) -> object:
        return field.real(1 - self.share(k)) * (field.real(Fraction(1, 3)) * 3)

    total = sum(weights)
    below = (0, *accumulate(weights))


def test_a_chance_of_none_in_a_ball_that_reaches_below_it_makes_a_table():
    table = CdfTable(FromOne(), 0, 2)
    half = round(2**64 * Fraction(3, 7))
    drawn = table.draw(4, Replay([5, half - 2, half + 2, TOP - 5]))
    assert drawn.tolist() == [1, 1, 2, 2]


def test_many_draws_through_a_table_keep_their_places():
    """Settled and unsettled words are mixed; each result stands where its word stood."""
    table = CdfTable(LAW, -4, 4)
    generator = np.random.Generator(np.random.PCG64(3))
    single = [words for words in boundary_words() if len(words) == 1]
    any_words = map(int, generator.integers(2**64, size=len(single), dtype=np.uint64))
    words = [word for pair in zip(any_words, (s[0] for s in single), strict=True) for word in pair]
    drawn = table.draw(len(words), Replay(words))
    assert drawn.tolist() == [expected([word]) for word in words]


@pytest.mark.parametrize("bits", [3, 8, 16])
def test_short_words_are_refined_to_the_same_law(bits: int):
    """With few bits nearly every draw goes to refinement; the masses stay what they are."""
    table = CdfTable(LAW, -2, 2, bits=bits)
    masses = {k: Fraction(w, LAW.total) for k, w in enumerate(LAW.weights, LAW.first)}
    drawn = table.draw(20_000, Replay(seed=2)).tolist()
    assert fit(drawn, {k: float(m) for k, m in masses.items()}) > FITS
    assert set(drawn) == {k for k, m in masses.items() if m}


UNEVEN = Piecewise(
    rate=Fraction(1, 2),
    period=Fraction(1),
    breaks=tuple(Fraction(b, 10) for b in (-15, -11, -5, -2, 6, 9, 11, 16)),
    levels=tuple(Fraction(v, 4) for v in (7, 12, 3, 0, 9, 5, 8)),
    left_cells=2,
    right_cells=3,
)
LEFT_OF_ZERO = Piecewise(
    rate=Fraction(2, 3),
    period=Fraction(2),
    breaks=tuple(Fraction(b, 2) for b in (-13, -11, -9, -7, -5)),
    levels=(Fraction(1), Fraction(0), Fraction(2), Fraction(1, 3)),
    left_cells=2,
    right_cells=2,
)
LAWS = {
    "uneven": Rounded(UNEVEN, Lattice.cells(Fraction(1, 10))),
    "left of zero": Rounded(LEFT_OF_ZERO, Lattice.integers()),
}


def cells_by_hand(noise: Rounded, turns: int = 80) -> list[tuple[int, int, float]]:
    """First point, number of points and weight of each cell from far left to far right, tails unrolled one by one."""
    law, step, edge = noise.law, noise.lattice.step, noise.lattice.edge
    assert isinstance(law, Piecewise)
    body = [
        (int(a / step + edge), int(b / step + edge), float(level))
        for (a, b), level in zip(pairwise(law.breaks), law.levels, strict=True)
    ]
    stride, rate = int(law.period / step), float(law.rate)
    cells = [(a - n * stride, b - n * stride, v + n) for n in range(turns, 0, -1) for a, b, v in body[: law.left_cells]]
    cells += body
    cells += [
        (a + n * stride, b + n * stride, v + n) for n in range(1, turns + 1) for a, b, v in body[-law.right_cells :]
    ]
    return [(a, b - a, math.exp(-rate * v)) for a, b, v in cells]


def points_by_hand(noise: Rounded) -> dict[int, float]:
    cells = cells_by_hand(noise)
    total = math.fsum(length * weight for _, length, weight in cells)
    return {start + i: weight / total for start, length, weight in cells for i in range(length)}


def cut(name: str) -> Segments:
    found = segments_of(LAWS[name])
    assert found is not None
    return found


@pytest.mark.parametrize("name", LAWS)
def test_cells_begin_where_the_tails_unrolled_by_hand_begin(name: str):
    segments, cells = cut(name), cells_by_hand(LAWS[name], 9)
    body = len(segments.law.levels)
    first = segments.law.left_cells * 9
    for place, (start, _, _) in enumerate(cells):
        assert segments.start_at(place - first) == start
    zero = next(s for s in range(-body, body) if segments.start(s) == segments.start_at(0))
    assert segments.start(0) <= 0
    assert [segments.start(zero + i) for i in range(-5, 9)] == [segments.start_at(i) for i in range(-5, 9)]


@pytest.mark.parametrize("name", LAWS)
def test_walked_bounds_enclose_what_the_cells_add_up_to(name: str):
    segments, cells = cut(name), cells_by_hand(LAWS[name])
    total = math.fsum(length * weight for _, length, weight in cells)
    sums = dict(
        zip((start + length for start, length, _ in cells), accumulate(n * w / total for _, n, w in cells), strict=True)
    )
    bounds = segments.scaled_cdfs(-17, 19, 64)
    with precision():
        for s, (low, high) in zip(range(-17, 20), bounds, strict=True):
            by_hand = sums[segments.start(s + 1)]
            assert low <= high <= low + 3
            assert low / 2**64 == pytest.approx(by_hand, rel=1e-12, abs=1e-15)
            assert float(segments.cdf(s, BALLS).mid()) == pytest.approx(by_hand, rel=1e-12)
            assert float(segments.sf(s, BALLS).mid()) == pytest.approx(1 - by_hand, rel=1e-9)


def one_by_one(sampler: NoiseSampler) -> Callable[[int, Replay], list[int]]:
    return lambda count, stream: [sampler.one(stream) for _ in range(count)]


PATHS: dict[str, Callable[[Segments, Rounded], Callable[[int, Replay], Any]]] = {
    "one by one": lambda segments, noise: one_by_one(NoiseSampler(noise)),
    "table": lambda segments, noise: NoiseSampler(noise).many,
    "runs": lambda segments, noise: Runs(segments, -30, 30, bits=64).draw,
    "runs cut short": lambda segments, noise: Runs(segments, -1, 2, bits=64).draw,
    "folded": lambda segments, noise: Folded(segments, bits=64).draw,
}


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("name", LAWS)
def test_every_path_draws_every_point_with_its_mass(name: str, path: str):
    noise = LAWS[name]
    count = 3000 if path == "one by one" else 40_000
    drawn = [int(k) for k in PATHS[path](cut(name), noise)(count, Replay(seed=7))]
    masses = points_by_hand(noise)
    assert fit(drawn, masses) > FITS
    for shift in (-1, 1):
        assert fit([k + shift for k in drawn], masses) < FAILS
    assert fit([-k for k in drawn], masses) < FAILS


def test_the_point_in_a_cell_does_not_hang_on_the_bits_that_chose_the_cell():
    """Words that begin with the bits of one bucket choose the same cell; their points still cover all of it."""
    segments = segments_of(Rounded(UNEVEN, Lattice.cells(Fraction(1, 1000))))
    assert segments is not None
    runs = Runs(segments, -30, 30, bits=64)
    free = 64 - runs._table.guide_bits
    generator = np.random.Generator(np.random.PCG64(5))
    words = [(2**63 >> free << free) | int(w) for w in generator.integers(1 << free, size=4000, dtype=np.uint64)]
    drawn = runs.draw(4000, Replay(words, seed=9))
    # The middle of the law lies in the cell [-0.2, 0.6), that is in the points -200 to 599.
    assert fit(((drawn + 200) // 80).tolist(), dict.fromkeys(range(10), 0.1)) > FITS


def test_a_point_in_a_cell_that_takes_many_bits_is_uniform():
    """Cells of 2^36 points leave too few spare bits in a word, so that a second word chooses the point."""
    noise = Rounded(UNEVEN, Lattice.cells(Fraction(1, 10 * 2**36)))
    drawn = NoiseSampler(noise).many(8000, Replay(seed=4))
    top = drawn[(drawn >= -2 * 2**36) & (drawn < 6 * 2**36)] + 2 * 2**36
    assert len(top) > 1000
    assert fit((top >> 36).tolist(), dict.fromkeys(range(8), 1 / 8)) > FITS
    assert fit((top >> 33 & 7).tolist(), dict.fromkeys(range(8), 1 / 8)) > FITS


def test_weighted_rows_are_shares_of_their_total():
    row = WeightedRow((3, 3, 10, 21))
    with precision():
        shares = [float(row.cdf(k, BALLS).mid()) for k in range(-2, 6)]
        rest = [float(row.sf(k, BALLS).mid()) for k in range(-2, 6)]
    assert shares == pytest.approx([0, 0, 3 / 21, 3 / 21, 10 / 21, 1, 1, 1])
    assert rest == pytest.approx([1, 1, 18 / 21, 18 / 21, 11 / 21, 0, 0, 0])

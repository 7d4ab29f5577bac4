"""Draws of clamped noise: coins and slabs decided on replayed words, many as one, and what is hostile refused."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from noisewright.problem.errors import InvalidAnswerError
from noisewright.problem.privacy import PureDP
from noisewright.problem.queries import Bounded
from noisewright.problem.utilities import SquaredError
from noisewright.sample import bounded
from noisewright.sample.bounded import ClampedDrawer, row_above
from noisewright.sample.certified import Certified, make_certified
from noisewright.search.families.shapes import clamped_noise
from tests.clamped import SMALL, WHOLE, written_law, written_rows
from tests.replay import Replay

REAL, COUNT = make_certified(SMALL, PureDP(3)), make_certified(WHOLE, PureDP(3))
TOP = 2**64


def test_a_coin_falls_by_its_share_and_draws_more_bits_where_it_must():
    third = Fraction(1, 3)
    edge = 2 * TOP // 3
    assert row_above(third, edge - 1, Replay()) == 0
    assert row_above(third, edge + 1, Replay()) == 1
    assert row_above(third, edge, Replay([0])) == 0
    assert row_above(third, edge, Replay([TOP - 1])) == 1
    assert row_above(Fraction(0), TOP - 1, Replay()) == 0
    assert row_above(Fraction(1), 0, Replay()) == 1


@pytest.mark.parametrize("chunk", [1, 3, 4])
def test_answers_of_a_later_chunk_are_read_as_themselves(chunk: int, monkeypatch: pytest.MonkeyPatch):
    """Fractions are read exactly, each by itself; the first ones are at the other end of the range."""
    answers = [Fraction(-1, 3)] * 4 + [Fraction(31, 5)] * 3 + [Fraction(1, 7), Fraction(6)]
    words, parts = Replay(seed=5), []
    for begin in range(0, len(answers), chunk):
        parts += ClampedDrawer(SMALL).release_many(answers[begin : begin + chunk], words).tolist()
    monkeypatch.setattr(bounded, "_CLAMPED_CHUNK", chunk)
    assert ClampedDrawer(SMALL).release_many(answers, Replay(seed=5)).tolist() == parts


@pytest.mark.parametrize("inputs", [(-4, 2), (2, 8), (-4, 8), (1, 3)], ids=["low end", "high end", "wide", "inside"])
def test_no_row_that_answers_use_is_flatter_than_the_smallest_slope(inputs: tuple[int, int]):
    """How far off a place may be follows from it: a larger one would read answers at the flatter end wrongly."""
    made = replace(SMALL, query=replace(SMALL.query, inputs=inputs))
    first, last = (made.place(Fraction(end))[0] for end in inputs)
    smallest = min(made.slope(k) for k in range(first, last + 1))
    assert smallest * Fraction(999_999, 1_000_000) <= Fraction(ClampedDrawer(made)._smallest_slope) <= smallest


def test_slabs_have_their_weights_by_whole_numbers():
    """Words on both sides of every sum of the weights, and one that begins like the sum itself."""
    drawer = ClampedDrawer(SMALL)
    far = SMALL.top + 4 * SMALL.period
    sizes = [2 * (SMALL.top + i * SMALL.period) + 1 for i in range(5)] + [45 + 2 * far]
    slabs = [900 - 331, 331 - 130, 130 - 51, 51 - 20, 20 - 8, 8]
    total, passed = sum(a * b for a, b in zip(sizes, slabs, strict=True)), 0
    for i, (size, slab) in enumerate(zip(sizes[:-1], slabs[:-1], strict=True)):
        passed += size * slab
        cut = TOP * passed // total
        assert drawer._slab(cut - 1, Replay()) == i
        assert drawer._slab(cut + 1, Replay()) == i + 1
        assert drawer._slab(cut, Replay([0])) == i
        assert drawer._slab(cut, Replay([TOP - 1])) == i + 1
    assert drawer._slab(TOP - 1, Replay()) == 5
    # A sum that is a whole number of 2^-64 itself belongs to the next slab, and no further bits are drawn.
    halves = Bounded(sensitivity=1, inputs=(0, 1), outputs=(-4, 4), bias=0, exact=True)
    even = ClampedDrawer(type(SMALL)(halves, 1, 0, 1, (10, 1)))
    assert even._sums == [9, 18]
    assert even._slab(TOP // 2 - 1, Replay()) == 0
    assert even._slab(TOP // 2, Replay()) == 1


@pytest.mark.parametrize(("certified", "answers"), [(REAL, ["-1/3", "17/10", "6"]), (COUNT, ["-1", "7", "12"])])
def test_one_and_many_have_the_written_law(certified: Certified, answers: list[str]):
    """Seeded: every frequency is within six standard deviations, some of which a wrong law would leave by dozens."""
    mechanism = certified.mechanism
    rows, count = written_rows(mechanism), 20_000
    for place, text in enumerate(answers):
        x = Fraction(text)
        law = written_law(mechanism, rows, x)
        asked: Any = np.full(count, int(x)) if mechanism.query.integer else [x] * count
        many = certified.release_many(asked, entropy=Replay(seed=place))
        one = [certified.release(x, entropy=Replay(seed=1000 * place + i)) for i in range(300)]
        for drawn in (many.tolist(), one):
            seen = Counter(round(value / float(mechanism.step)) for value in drawn)
            assert set(seen) <= set(law)
            for y, chance in law.items():
                p = float(chance)
                assert abs(seen[y] - len(drawn) * p) <= 6 * (len(drawn) * p * (1 - p)) ** 0.5 + 1


def test_many_answers_get_the_rows_that_each_of_them_gets():
    """Places in floats are within their slack of the exact ones, near a bound and far from it."""
    asked = Bounded(sensitivity=1, inputs=(0, 30), outputs=(-4, 50), bias=0)
    mechanism = clamped_noise(asked, Fraction(1), SquaredError())
    assert mechanism is not None
    answers = np.concatenate([np.linspace(0.001, 29.999, 300), np.arange(0, 30) / 1, [0.0, 30.0, 1e-9]])
    places, slack = ClampedDrawer(mechanism)._places(answers)
    assert np.isfinite(slack).all()
    assert slack.max() < 1e-7
    for x, place, off in zip(answers.tolist(), places.tolist(), slack.tolist(), strict=True):
        k, share = mechanism.place(mechanism.read(x))
        assert abs(k + share - Fraction(place)) <= off


def test_types_and_lengths_come_back():
    assert type(COUNT.release(3)) is int
    assert COUNT.release_many([1, 2, 3]).dtype == np.int64
    assert type(REAL.release(3)) is float
    assert REAL.release_many([]).shape == (0,)
    assert REAL.release_many([0, 0.5, Fraction(1, 7), "1.25", -1 / 3]).dtype == np.float64


def test_releases_stay_inside_the_bounds_at_both_ends():
    low, high = (float(bound) for bound in SMALL.query.outputs)
    drawn = REAL.release_many([-1 / 3] * 2000 + [6.2] * 2000)
    assert low <= drawn.min()
    assert drawn.max() <= high


def test_the_lattice_ends_inside_the_bounds():
    asked = Bounded(sensitivity=1, inputs=(0, 2), outputs=(Fraction(-31, 7), Fraction(45, 7)), bias=0, exact=True)
    mechanism = type(SMALL)(asked, Fraction(1, 2), 1, 2, (90, 33, 12, 4))
    assert mechanism.ends == (-8, 12)
    drawn = make_certified(mechanism, PureDP(3)).release_many([0.0] * 3000 + [2.0] * 3000)
    assert (drawn.min(), drawn.max()) == (-4.0, 6.0)


@pytest.mark.parametrize("answer", [-0.5, 6.3, float("nan"), float("inf"), 1e300, "many", None, [1], True])
def test_hostile_answers_are_refused_one_by_one_and_among_many(answer: Any):
    with pytest.raises(InvalidAnswerError):
        REAL.release(answer)
    entropy = Replay()
    with pytest.raises(InvalidAnswerError):
        REAL.release_many([1, answer], entropy=entropy)
    assert entropy.consumed == 0


def test_there_is_no_noise_apart_from_an_answer():
    with pytest.raises(InvalidAnswerError, match="release"):
        REAL.draw(3)


def test_a_step_that_floats_cannot_hold_is_released_as_the_nearest_doubles():
    asked = Bounded(sensitivity=Fraction(10**17 + 3, 3 * 10**17), inputs=(0, 30), outputs=(-20, 50), bias=0)
    mechanism = clamped_noise(asked, Fraction(1), SquaredError())
    assert mechanism is not None
    certified = make_certified(mechanism, PureDP(1))
    for value in certified.release_many([3.7] * 50):
        index = round(value / float(mechanism.step))
        assert value == float(index * mechanism.step)

"""Many answers in bounds are located, rounded up and released as one after another, on the same words."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import noisewright.sample.certified  # noqa: F401  # makes every sampler known
from noisewright.laws.bumps import Plateau, Sine
from noisewright.mechanisms.answers import as_numbers
from noisewright.mechanisms.bounded.composite import Blend, Composite
from noisewright.mechanisms.bounded.conditional import Conditional, Grid, Rows, uniform_grid
from noisewright.mechanisms.bounded.positions import positions_of
from noisewright.mechanisms.bounded.truncated import Truncated
from noisewright.numerics.balls import floor_scaled, precision
from noisewright.numerics.fields import BALLS
from noisewright.problem.errors import InvalidAnswerError
from noisewright.problem.queries import Bounded
from noisewright.sample.bounded import ConditionalDrawer, float_rows
from tests.mechanisms_by_hand import FAILS, FITS, fit
from tests.replay import Replay

QUESTION = Bounded(1, (0, 1), (-10, 11), 0, False)
GRID = uniform_grid(Fraction(0), Fraction(1), 10)
COMPOSITE = Composite(QUESTION, Sine(Fraction(1, 4)), Plateau(Fraction(1)), Fraction(1, 3), (0, 1), 10, 96)
WEIGHTS = [[(3 * i + 7 * k * k) % 11 + 20 for k in range(8)] for i in range(11)]
ROWS = Rows(
    QUESTION,
    GRID,
    tuple(Fraction(k, 3) for k in range(-2, 6)),
    tuple((*row, 300 - sum(row)) for row in (weights[:-1] for weights in WEIGHTS)),
)
BLEND = Blend(COMPOSITE, ROWS, Fraction(2, 7))
TRUNCATED = Truncated(QUESTION, 1, Fraction(1, 2), 10, 40)
KINDS: dict[str, Any] = {"composite": COMPOSITE, "rows": ROWS, "blend": BLEND, "truncated": TRUNCATED}


def first_bits(law: Any, k: int) -> int:
    """The whole number below 2^64 F(k), or one beside it where that is whole itself."""
    with precision(200):
        return min(floor_scaled(law.cdf(k, BALLS), 64), 2**64 - 9)


def hard(count: int, seed: int) -> np.ndarray:
    """Grid inputs and the floats beside them, both ends, zeros, tiny numbers, two decimals and computed floats."""
    rng = np.random.default_rng(seed)
    grid = rng.integers(0, 11, count) / 10
    beside = np.clip(np.nextafter(grid, rng.choice([-np.inf, np.inf], count)), 0, 1)
    tiny = rng.choice([0.0, -0.0, 5e-324, 1e-300, 1.0, np.nextafter(1, 0)], count)
    return rng.permutation(np.concatenate([grid, beside, tiny, rng.random(count), np.round(rng.random(count), 2)]))


@pytest.mark.parametrize("name", KINDS)
def test_many_answers_are_released_as_one_by_one(name: str):
    mechanism = KINDS[name]
    answers = hard(400, seed=3)
    words, drawer = Replay(seed=8), ConditionalDrawer(mechanism)
    single = [drawer.release(answer, words) for answer in answers]
    for form in (answers, answers.tolist()):
        many = ConditionalDrawer(mechanism).release_many(form, Replay(seed=8))
        assert many.dtype == np.float64
        assert many.tolist() == single
    few = ConditionalDrawer(mechanism).release_many(answers[:50], Replay(seed=8))
    assert few.tolist() == single[:50]


THIRDS = (Fraction(0), Fraction(1, 3), Fraction(2, 3), Fraction(7, 10), Fraction(1))


@pytest.mark.parametrize("points", [GRID.points, THIRDS, (Fraction(-5), Fraction(1, 10), Fraction(2**40))], ids=str)
@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int64, object])
def test_many_answers_are_located_as_each_of_them(points: tuple[Fraction, ...], kind: Any):
    """A double next to a third is not that third; one tenth is."""
    grid = Grid(points)
    floats = [float(p) for p in points]
    beside = [np.nextafter(x, to) for x in floats for to in (-np.inf, np.inf)]
    answers = np.array([*floats, *beside, 0.3, 0.1, 0.55, 1e-310, 0.0, -0.0]).astype(kind)
    answers = answers[(answers >= floats[0]) & (answers <= floats[-1])]
    found = positions_of(answers, points, None, grid.locate)
    for j, answer in enumerate(answers):
        row, share = grid.locate(answer)
        assert (int(found.rows[j]), found.share(j), bool(found.on_grid[j])) == (row, share, not share)
        assert abs(Fraction(float(found.shares[j])) - share) <= Fraction(float(found.slack[j]))
    part = found.part(2, 5)
    assert part.rows.tolist() == found.rows[2:5].tolist()
    assert part.share(1) == found.share(3)


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -0.5, 1.5, True, "x", None], ids=repr)
@pytest.mark.parametrize("name", KINDS)
def test_a_wrong_answer_takes_no_randomness(name: str, wrong: Any):
    for form in ([0.5, wrong], as_numbers([0.5, wrong])):
        with pytest.raises(InvalidAnswerError) as error:
            ConditionalDrawer(KINDS[name]).release_many(form, Replay())
        assert "1.5" not in str(error.value)


@pytest.mark.parametrize("name", ["composite", "rows", "blend"])
def test_the_floats_of_every_row_are_as_near_as_they_say(name: str):
    mechanism: Conditional = KINDS[name]
    table = float_rows(mechanism)
    assert table is not None
    for row in (0, 3, 10):
        levels, law = table.levels(row, row + 1)[0], mechanism.row(row)
        with precision():
            exact = [float(law.cdf(k, BALLS).mid()) for k in range(mechanism.last + 1)]
        assert np.abs(levels - exact).max() <= table.slack
        assert table.slack < 1e-9
    assert [float(v) for v in table.outputs] == [float(mechanism.value(k)) for k in range(mechanism.last + 1)]


@pytest.mark.parametrize("name", ["composite", "rows", "blend"])
def test_words_beside_the_ends_of_an_output_are_inverted_in_balls(name: str):
    """The words on either side of 2^64 F(k): floats cannot tell them apart, and what is released differs."""
    mechanism, row = KINDS[name], 3
    law = mechanism.row(row)
    words: list[int] = []
    for k in range(mechanism.last):
        edge = first_bits(law, k)
        words += [max(edge - 3, 0), edge + 3]
    words = (words * 500)[:1000]
    many = ConditionalDrawer(mechanism).release_many([Fraction(3, 10)] * 1000, Replay(words))
    drawer = ConditionalDrawer(mechanism)
    single = [drawer.release(Fraction(3, 10), Replay([word])) for word in words]
    assert many.tolist() == single
    assert len(set(single)) > 5


def test_rows_without_floats_are_drawn_through_their_tables():
    """Words beside the ends of outputs, often enough for a table, settle as single ones do."""
    law = TRUNCATED.row(5)
    words: list[int] = []
    for k in range(TRUNCATED.last):
        edge = first_bits(law, k)
        words += [max(edge - 3, 0), edge + 3]
    words = (words * 20)[:800]
    many = ConditionalDrawer(TRUNCATED).release_many([0.5] * 800, Replay(words))
    drawer = ConditionalDrawer(TRUNCATED)
    assert many.tolist() == [drawer.release(0.5, Replay([word])) for word in words]


@pytest.mark.parametrize("name", KINDS)
def test_many_releases_of_an_answer_have_the_law_of_its_two_rows(name: str):
    """A quarter of the way from input 3 to input 4; the law of another place is noticed."""
    mechanism = KINDS[name]

    def masses(row: int, share: float) -> dict[float, float]:
        found: dict[float, float] = {}
        for i, weight in ((row, 1 - share), (row + 1, share)):
            with precision():
                levels = [float(mechanism.row(i).cdf(k, BALLS).mid()) for k in range(mechanism.last + 1)]
            for k, mass in enumerate(np.diff([0.0, *levels]).tolist()):
                value = float(mechanism.value(k))
                found[value] = found.get(value, 0.0) + weight * mass
        return found

    drawn = ConditionalDrawer(mechanism).release_many(np.full(40_000, 0.325), Replay(seed=4)).tolist()
    assert fit(drawn, masses(3, 0.25)) > FITS
    assert fit(drawn, masses(8, 0.25)) < FAILS

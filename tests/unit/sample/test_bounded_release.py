"""Bounded mechanisms are drawn from the row that the answer was rounded to, each answer by itself."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import noisewright.sample.certified  # noqa: F401  # makes every sampler known
from noisewright.mechanisms.bounded.conditional import Grid, Rows
from noisewright.problem.errors import InvalidAnswerError
from noisewright.sample.bounded import ConditionalDrawer
from tests.mechanisms_by_hand import FAILS, FITS, bounded_question, fit, telltale
from tests.replay import Replay

TOP = 2**64 - 1

# Inputs 0, 1, 4 and 10, uneven, and a telltale mechanism that releases the input it rounded to.
TELLTALE = telltale([0, 1, 4, 10])

# Outputs -1 … 2 with lopsided weights, the last input almost always at one end.
LOPSIDED = Rows(
    bounded_question(0, 2),
    Grid((Fraction(0), Fraction(1), Fraction(2))),
    (Fraction(0), Fraction(1, 3), Fraction(1), Fraction(2)),
    ((70, 20, 9, 1), (5, 60, 5, 30), (1, 0, 2, 97)),
)


def test_an_answer_on_the_grid_is_rounded_to_itself():
    drawer = ConditionalDrawer(TELLTALE)
    for answer in (0, 1, 4, 10):
        for word in (0, 2**63, TOP - 1):
            assert drawer.release(answer, Replay([word, word])) == answer


@pytest.mark.parametrize(
    ("answer", "low", "high", "share"),
    [("1/3", 0, 1, Fraction(1, 3)), (2, 1, 4, Fraction(1, 3)), (9, 4, 10, Fraction(5, 6))],
)
def test_an_answer_between_two_inputs_goes_up_with_its_share(answer, low: int, high: int, share: Fraction):
    """The first word decides it: those below the share of all words go up."""
    drawer = ConditionalDrawer(TELLTALE)
    edge = int(share * 2**64)
    assert drawer.release(answer, Replay([edge - 1, 5])) == high
    assert drawer.release(answer, Replay([edge + 1, 5])) == low


@pytest.mark.parametrize("count", [40, 3000])
def test_many_equal_answers_are_each_rounded_by_themselves(count: int):
    """Two thirds of the answers 2 go to 1 and a third to 4; not all of them together."""
    released = ConditionalDrawer(TELLTALE).release_many([2] * count, Replay(seed=3))
    assert set(released.tolist()) == {1.0, 4.0}
    assert abs((released == 4).mean() - 1 / 3) < 6 * (2 / 9 / count) ** 0.5


@pytest.mark.parametrize("form", [list, np.array], ids=["list", "array"])
def test_each_of_many_answers_is_released_in_its_own_place(form):
    """Unsorted answers on the grid, repeated unevenly, come back as they were; neighbours and far ones alike."""
    answers = [4, 0, 10, 1, 1, 4, 0, 10, 10, 4]
    assert ConditionalDrawer(TELLTALE).release_many(form(answers), Replay(seed=1)).tolist() == answers
    near = [1, 0, 0, 1, 1, 1, 0]
    assert ConditionalDrawer(TELLTALE).release_many(form(near), Replay(seed=1)).tolist() == near
    last = [10, 4, 4, 10]
    assert ConditionalDrawer(TELLTALE).release_many(form(last), Replay(seed=1)).tolist() == last
    assert ConditionalDrawer(TELLTALE).release_many(form([0.0, 0.0]), Replay(seed=1)).tolist() == [0, 0]


def test_no_answers_release_nothing():
    assert ConditionalDrawer(TELLTALE).release_many([], Replay()).tolist() == []
    assert ConditionalDrawer(TELLTALE).release_many(np.array([]), Replay()).tolist() == []


def test_a_mixed_list_reads_each_number_by_itself():
    """A float beside it does not turn a large whole number, a fraction or a decimal text into a float."""
    large = 2**53
    drawer = ConditionalDrawer(telltale([0, Fraction(1, 10), large, large + 1, large + 2]))
    answers: list[Any] = [large + 1, 0.0, Fraction(1, 10), "0.1", large, np.int64(large + 2), np.float64(large)]
    released = drawer.release_many(answers, Replay(seed=1))
    assert released.tolist() == [float(large + 1), 0.0, 0.1, 0.1, float(large), float(large + 2), float(large)]
    # The odd number and its neighbours share a float once released, so the row is looked at, too.
    assert drawer._mechanism.grid.locate(answers[0]) == (3, Fraction(0))


def test_a_whole_number_beside_a_float_keeps_its_last_digit():
    """Row 1 releases something else than row 0, and only the exact number is in it."""
    large = Fraction(2**53)
    grid = Grid((large, large + 1, large + 2))
    tell = Rows(bounded_question(large, large + 2), grid, (large, large + 2), ((1, 0), (0, 1), (1, 0)))
    released = ConditionalDrawer(tell).release_many([2**53 + 1, float(2**53), 2**53 + 1], Replay(seed=1))
    assert released.tolist() == [float(large + 2), float(large), float(large + 2)]


@pytest.mark.parametrize(
    "wrong", [[0.5, True], [0.5, None], ["many", 0.5], [float("nan"), 1], [1, True], [11, 0.5], [0.5, -1]], ids=repr
)
def test_one_wrong_answer_in_a_mixed_list_refuses_them_all(wrong):
    for form in (wrong, np.array(wrong, dtype=object)):
        with pytest.raises(InvalidAnswerError):
            ConditionalDrawer(TELLTALE).release_many(form, Replay(seed=1))


def test_answers_are_a_flat_list():
    with pytest.raises(InvalidAnswerError, match="flat"):
        ConditionalDrawer(TELLTALE).release_many(np.zeros((2, 2)), Replay(seed=1))


def outputs(row: int) -> dict[float, float]:
    return {float(v): w / 100 for v, w in zip(LOPSIDED.values, LOPSIDED.weights[row], strict=True)}


@pytest.mark.parametrize("row", range(3))
@pytest.mark.parametrize("path", ["one by one", "few", "table"])
def test_outputs_have_the_weights_of_their_row(row: int, path: str):
    drawer, replay = ConditionalDrawer(LOPSIDED), Replay(seed=8)
    if path == "one by one":
        drawn = [drawer.release(row, replay) for _ in range(3000)]
    elif path == "few":
        drawn = [x for _ in range(10) for x in drawer.release_many([row] * 300, replay)]
    else:
        drawn = list(drawer.release_many([row] * 20_000, replay))
    assert fit(drawn, outputs(row)) > FITS
    assert fit(drawn, outputs((row + 1) % 3)) < FAILS


def test_a_table_gives_each_word_the_output_it_stands_for():
    """Words next to the ends of the weights leave the table undecided; a seventh of 100 has no end in bits."""
    drawer = ConditionalDrawer(LOPSIDED)
    edges = [int(Fraction(share, 100) * 2**64) for share in (70, 90, 99)]
    words = [w for edge in edges for w in (edge - 1, edge + 1)] * 80
    values = [0.0, float(Fraction(1, 3))] + [float(Fraction(1, 3)), 1.0] + [1.0, 2.0]
    released = drawer.release_many([0] * len(words), Replay(words))
    assert released.tolist() == values * 80


def test_the_ends_of_a_row_are_reached():
    drawer = ConditionalDrawer(LOPSIDED)
    for row in range(3):
        # The highest answer is rounded up to the last row for sure, which takes a word.
        before = [TOP] if row == 2 else []
        assert drawer.release(row, Replay([*before, 0])) == 0
        assert drawer.release(row, Replay([*before, TOP])) == 2


def test_an_answer_between_rows_mixes_their_weights():
    share = 0.25
    mixed = {v: (1 - share) * m + share * outputs(2)[v] for v, m in outputs(1).items()}
    replay = Replay(seed=9)
    drawer = ConditionalDrawer(LOPSIDED)
    assert fit([drawer.release("1.25", replay) for _ in range(3000)], mixed) > FITS
    assert fit(list(drawer.release_many([Fraction(5, 4)] * 5000, replay)), mixed) > FITS
    assert fit(list(drawer.release_many([1.25, 0] * 4000, replay))[::2], mixed) > FITS

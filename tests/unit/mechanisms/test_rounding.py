"""Many answers are put on a lattice as one by one: by the filter, beside an edge, and where only rationals decide."""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from noisewright.laws.laplace import DiscreteLaplace, Laplace
from noisewright.laws.lattice import HALF, Lattice
from noisewright.mechanisms import answers as rounding
from noisewright.mechanisms.additive import Additive
from noisewright.mechanisms.answers import Cells, as_numbers
from noisewright.problem.errors import InvalidAnswerError
from noisewright.problem.numbers import data_value
from noisewright.problem.queries import Scalar

COUNT = Additive(Scalar(1, integer=True), DiscreteLaplace(Fraction(1)), Lattice.integers())
STEPS = [
    Fraction(1, 1000),
    Fraction(1, 1024),
    Fraction(1, 3),
    Fraction(1, 7 * 2**20),
    Fraction(1),
    Fraction(1, 4 * 10**8),
    Fraction(1, 2**55),
    Fraction(1, 10**17 + 3),
]


def additive(step: Fraction, *, exact: bool) -> Additive:
    return Additive(Scalar(1, exact=exact), Laplace(Fraction(1)), Lattice.cells(step))


def neighbours(values: Iterable[float]) -> list[float]:
    """Each value with the two floats beside it, and its negative with both of its own."""
    found = []
    for value in values:
        for x in (value, -value):
            found += [x, math.nextafter(x, math.inf), math.nextafter(x, -math.inf)]
    return found


def adversarial(step: Fraction, count: int, seed: int) -> np.ndarray:
    """Edges of cells and the floats beside them, ties, tiny, subnormal and large numbers, and ordinary ones."""
    rng = np.random.default_rng(seed)
    k = rng.integers(-(2**22), 2**22, count).tolist() + list(range(-20, 20))
    edges = [float(step * i) for i in k] + [float(step * (2 * i + 1) / 2) for i in k]
    stretched = [float(step * i * (1 + Fraction(1, 2**24))) for i in k]
    tiny = [0.0, 5e-324, 2.0**-1074 * 3, 2.2250738585072014e-308, 1e-300, 1e-17, 2.0**-60]
    large = [2.0**e + d for e in range(20, 26) for d in (0, 0.5, 1)] + [float(2**26), 2.0**26 - 1, 1e7 + 0.1]
    plain = np.concatenate([rng.normal(0, 1e4, count), np.round(rng.normal(0, 1e4, count), 2)])
    values = np.array(neighbours([*edges, *stretched, *tiny, *large]) + plain.tolist())
    return np.concatenate([values, -values[:count], [-0.0]])


def cells_or_none(mechanism: Additive, answers: np.ndarray) -> list[int | None]:
    found: list[int | None] = []
    for answer in answers:
        try:
            found.append(mechanism.law_given(answer).answer_index)
        except InvalidAnswerError:
            found.append(None)
    return found


@pytest.mark.parametrize("exact", [False, True], ids=["computed", "exact"])
@pytest.mark.parametrize("step", STEPS, ids=str)
def test_the_cells_of_many_answers_are_those_of_each(step: Fraction, exact: bool):
    mechanism = additive(step, exact=exact)
    answers = adversarial(step, 300, seed=step.denominator % 1000)
    found = cells_or_none(mechanism, answers)
    fine = np.array([cell is not None for cell in found])
    assert fine.sum() > 100
    assert mechanism.cells_given(answers[fine]).tolist() == [cell for cell in found if cell is not None]
    for refused in answers[~fine][:5]:
        with pytest.raises(InvalidAnswerError):
            mechanism.cells_given(np.array([0.25, refused]))


@pytest.mark.parametrize("edge", [Fraction(0), HALF], ids=["floor", "nearest"])
@pytest.mark.parametrize("step", STEPS, ids=str)
def test_both_kinds_of_cells_have_their_edges_where_rationals_have_them(step: Fraction, edge: Fraction):
    def one(x: float) -> int:
        return math.floor(data_value(x) / step + edge)

    answers = adversarial(step, 300, seed=7)
    answers = answers[np.abs(answers) < float(step) * 2**49]
    cells = Cells(step, edge, None, one)
    assert cells.indices(answers).tolist() == [one(x) for x in answers]


@given(st.lists(st.floats(-1e6, 1e6), min_size=1), st.fractions(Fraction(1, 10**9), 10, max_denominator=10**9))
def test_any_floats_on_any_lattice(answers: list[float], step: Fraction):
    def one(x: float) -> int:
        return math.floor(data_value(x) / step)

    assert Cells(step, Fraction(0), None, one).indices(np.array(answers)).tolist() == [one(x) for x in answers]


@pytest.mark.parametrize("exact", [False, True], ids=["computed", "exact"])
@pytest.mark.parametrize("digits", [None, 2, 0], ids=["computed", "two decimals", "whole"])
@pytest.mark.parametrize("step", [Fraction(1, 1000), Fraction(1, 1024), Fraction(1, 3)], ids=str)
def test_hardly_an_answer_is_left_to_rationals(monkeypatch: pytest.MonkeyPatch, step: Fraction, digits, exact: bool):
    """A margin alone would leave every answer with two decimals undecided on exact lattices."""
    asked: list[Any] = []

    def each(answers: np.ndarray, one: Any) -> np.ndarray:
        asked.extend(answers)
        return np.zeros(len(answers), dtype=np.int64)

    monkeypatch.setattr(rounding, "_each", each)
    answers = np.random.default_rng(1).normal(0, 1000, 20_000)
    additive(step, exact=exact).cells_given(answers if digits is None else np.round(answers, digits))
    assert len(asked) <= 2


def test_without_a_margin_cells_would_be_wrong(monkeypatch: pytest.MonkeyPatch):
    """The test data hold what the margin is for."""
    monkeypatch.setattr(rounding, "_MARGIN", -1.0)
    wrong = 0
    for step in STEPS[:3]:
        answers = adversarial(step, 300, seed=1)
        answers = answers[np.abs(answers) < 2**20]
        mechanism = additive(step, exact=True)
        wrong += sum(
            a != b for a, b in zip(mechanism.cells_given(answers), cells_or_none(mechanism, answers), strict=True)
        )
    assert wrong > 10


@pytest.mark.parametrize("kind", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"])
@pytest.mark.parametrize("mechanism", [COUNT, *(additive(s, exact=e) for s in STEPS[:3] for e in (False, True))])
def test_every_type_of_whole_number_is_read_as_itself(mechanism: Additive, kind: str):
    ends = np.iinfo(kind)
    answers = np.array([ends.max, ends.max // 3, 0, 1, 2, 100, ends.min, ends.min // 7, 2**20 % ends.max], dtype=kind)
    found = cells_or_none(mechanism, answers)
    fine = np.array([cell is not None for cell in found])
    assert mechanism.cells_given(answers[fine]).tolist() == [cell for cell in found if cell is not None]
    if not fine.all():
        with pytest.raises(InvalidAnswerError, match="too large"):
            mechanism.cells_given(answers)


def test_whole_numbers_from_two_to_the_52_on_keep_their_last_digit():
    near = [sign * (2**e + d) for e in range(52, 61) for d in (-1, 0, 1) for sign in (1, -1)]
    exact = Additive(Scalar(2**20, exact=True), Laplace(Fraction(2**20)), Lattice.cells(Fraction(2**20)))
    answers = np.array(near, dtype=np.int64)
    assert exact.cells_given(answers).tolist() == [n >> 20 for n in near]
    ends = [2**63 - 1, -(2**63), 1 - 2**63, 2**53, 0]
    assert COUNT.cells_given(np.array([*near, *ends])).tolist() == [*near, *ends]
    beyond = [2**63, -(2**63) - 1, 2**104 + 1, 1 - 2**200, 3]
    assert COUNT.cells_given(as_numbers(beyond)).tolist() == beyond
    unsigned = np.array([2**64 - 1, 2**63, 2**53 + 1, 0], np.uint64)
    assert COUNT.cells_given(unsigned).tolist() == unsigned.tolist()
    assert COUNT.cells_given(np.array([2.0**53, -(2.0**53), 7.0])).tolist() == [2**53, -(2**53), 7]
    for form in (np.array([3.0, 2.0**60]), np.array([2.0**53 + 2]), [2**200, 3], [3, -(2**200)]):
        with pytest.raises(InvalidAnswerError, match=r"too large|skip whole"):
            COUNT.cells_given(as_numbers(form))


@pytest.mark.parametrize("kind", [np.float32, np.float16])
@pytest.mark.parametrize("step", STEPS[:3], ids=str)
def test_narrow_floats_are_read_as_their_own_decimals(kind: type, step: Fraction):
    answers = np.concatenate([np.array([0.1, 0.3, 0.7, -0.1, 2.5, 0.0, -0.0, 0.001]), np.linspace(-0.1, 0.1, 77)])
    for exact in (False, True):
        mechanism = additive(step, exact=exact)
        found = cells_or_none(mechanism, answers.astype(kind))
        fine = np.array([cell is not None for cell in found])
        assert mechanism.cells_given(answers.astype(kind)[fine]).tolist() == [c for c in found if c is not None]
        for refused in answers.astype(kind)[~fine][:3]:
            with pytest.raises(InvalidAnswerError, match="compute it in double precision"):
                mechanism.cells_given(np.array([0.5, refused], dtype=kind))


WRONG: list[Any] = [np.nan, np.inf, -np.inf, 1e300]


@pytest.mark.parametrize("wrong", WRONG, ids=repr)
@pytest.mark.parametrize("mechanism", [COUNT, additive(STEPS[0], exact=False), additive(STEPS[0], exact=True)])
def test_one_wrong_answer_is_refused_as_if_it_were_alone(mechanism: Additive, wrong: float):
    answers = np.zeros(70_000)
    answers[69_000] = wrong
    with pytest.raises(InvalidAnswerError) as alone:
        mechanism.law_given(wrong)
    with pytest.raises(InvalidAnswerError) as among:
        mechanism.cells_given(answers)
    assert str(among.value) == str(alone.value)
    assert "1e+300" not in str(among.value)


def test_floats_that_are_too_coarse_are_refused_from_the_same_number_on():
    mechanism = additive(Fraction(1, 1000), exact=False)
    limit = 2.0**26
    assert mechanism.cells_given(np.array([limit, -limit])).tolist() == [
        mechanism.law_given(x).answer_index for x in (limit, -limit)
    ]
    for beyond in (math.nextafter(limit, math.inf), -limit - 0.25):
        with pytest.raises(InvalidAnswerError, match="too large for a float"):
            mechanism.cells_given(np.array([beyond]))


def test_truth_values_and_broken_numbers_are_refused():
    for mechanism in (COUNT, additive(STEPS[0], exact=False)):
        for wrong in (np.array([True, False]), [1, True], [None], np.array([1j]), np.array(["x"])):
            with pytest.raises(InvalidAnswerError):
                mechanism.cells_given(as_numbers(wrong))
    with pytest.raises(InvalidAnswerError, match="not a whole number"):
        COUNT.cells_given(np.array([1.0, 2.5]))


def test_lists_of_mixed_numbers_are_read_each_by_itself():
    mechanism = additive(Fraction(1, 1000), exact=True)
    answers = [1, 0.1, Fraction(1, 3), Decimal("0.0015"), "2.5", 2**50 // 1000]
    assert mechanism.cells_given(as_numbers(answers)).tolist() == [mechanism.law_given(a).answer_index for a in answers]
    assert as_numbers([1, 2]).dtype == np.int64
    assert as_numbers([1.0, np.float64(2)]).dtype == np.float64
    assert as_numbers([1, 2.0]).dtype == object
    assert as_numbers([2**63]).dtype == object
    assert as_numbers(x for x in (1, 2)).tolist() == [1, 2]
    for wrong in ("12", 3, np.zeros((2, 2)), np.array(3.0)):
        with pytest.raises(InvalidAnswerError, match="list"):
            as_numbers(wrong)


def test_no_answers_have_no_cells():
    for mechanism in (COUNT, additive(STEPS[0], exact=False)):
        for empty in (as_numbers([]), np.array([]), np.array([], dtype=np.int64)):
            assert mechanism.cells_given(empty).tolist() == []

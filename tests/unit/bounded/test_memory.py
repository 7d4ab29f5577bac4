"""Two different questions never share an entry in a memory, in whatever order they are asked."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from typing import Any

import pytest

import noisewright as nw
from noisewright.problem.queries import Bounded
from noisewright.search.cache import Cache
from noisewright.search.families import approximate
from noisewright.search.families.bounded_optimum import problem_digest, solved
from noisewright.search.programmes.layout import Size
from tests.bounded import few_forms

UNIT = (Fraction(0), Fraction(1))
WIDE = (Fraction(-2), Fraction(3))
ASKED: dict[str, Any] = {
    "query": Bounded(Fraction(1), UNIT, WIDE, Fraction(0)),
    "epsilon": Fraction(1),
    "utility": nw.WorstVariance(),
    "size": Size(4, 20),
}
OTHERS: dict[str, dict[str, Any]] = {
    "sensitivity": {"query": Bounded(Fraction(1, 2), UNIT, WIDE, Fraction(0))},
    "inputs": {"query": Bounded(Fraction(1), (Fraction(0), Fraction(2)), WIDE, Fraction(0))},
    "outputs": {"query": Bounded(Fraction(1), UNIT, (Fraction(-3), Fraction(3)), Fraction(0))},
    "bias": {"query": Bounded(Fraction(1), UNIT, WIDE, Fraction(1, 10))},
    "no promise": {"query": Bounded(Fraction(1), UNIT, WIDE, None)},
    "epsilon": {"epsilon": Fraction(5, 4)},
    "average": {"utility": nw.AverageVariance()},
    "prior": {"utility": nw.AverageVariance(prior=[("1/4", 1)])},
    "another prior": {"utility": nw.AverageVariance(prior=[("3/4", 1)])},
    "input cells": {"size": Size(6, 20)},
    "output cells": {"size": Size(4, 24)},
}


def _solve(cache: Cache, question: dict[str, Any]):
    return solved(**question, step=lambda _: None, cache=cache)


@pytest.mark.parametrize("change", OTHERS.values(), ids=OTHERS.keys())
@pytest.mark.parametrize("order", [1, -1], ids=["first", "second"])
def test_a_question_that_differs_in_one_thing_is_solved_by_itself(change, order):
    shared = Cache(None)
    for question in [ASKED, {**ASKED, **change}][::order]:
        assert _solve(shared, question) == _solve(Cache(None), question)


def test_no_two_bounded_questions_have_the_same_name():
    questions = [ASKED, *({**ASKED, **change} for change in OTHERS.values())]
    for one, other in combinations(questions, 2):
        assert problem_digest(**one) != problem_digest(**other)


def test_no_two_approximate_questions_have_the_same_name():
    privacy, utility = nw.ApproxDP(1, "0.01"), nw.SquaredError()
    questions: list[tuple[Any, Any, Any]] = [
        (nw.Scalar(1), privacy, utility),
        (nw.Scalar(1, integer=True), privacy, utility),
        (nw.Scalar(2), privacy, utility),
        (nw.Scalar(1), nw.ApproxDP(2, "0.01"), utility),
        (nw.Scalar(1), nw.ApproxDP(1, "0.02"), utility),
        (nw.Scalar(1), privacy, nw.AbsoluteError()),
        (nw.Scalar(1), privacy, nw.PowerError(3)),
        (nw.Scalar(1), privacy, nw.PowerError("3.5")),
        (nw.Scalar(1), privacy, nw.Usefulness(1)),
        (nw.Scalar(1), privacy, nw.Usefulness(2)),
    ]
    for one, other in combinations(questions, 2):
        assert approximate.problem_digest(*one) != approximate.problem_digest(*other)
    answers = [approximate.solve_approximate(*question) for question in questions]
    for question, answer in zip(reversed(questions), reversed(answers), strict=True):
        assert approximate.solve_approximate(*question) is answer


def test_reports_are_remembered_by_the_question_they_answer(monkeypatch: pytest.MonkeyPatch):
    few_forms(monkeypatch, "two-point", "A1B1")
    ask: dict[str, Any] = {"inputs": 4, "outputs": 20}
    first, second = (
        nw.mechanisms.design_bounded(ASKED["query"], privacy=nw.PureDP(epsilon), utility=nw.WorstVariance(), **ask)
        for epsilon in (1, 2)
    )
    assert (first.privacy, second.privacy) == (nw.PureDP(1), nw.PureDP(2))
    assert second.candidates[0].value < first.candidates[0].value
    average = nw.mechanisms.design_bounded(ASKED["query"], privacy=nw.PureDP(1), utility=nw.AverageVariance(), **ask)
    assert average.utility == nw.AverageVariance()

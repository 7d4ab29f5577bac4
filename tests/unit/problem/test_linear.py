"""Linear questions: built from tables, exact, refused where they make no sense."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from noisewright.problem.errors import InvalidAnswerError, InvalidInputError, InvalidNumberError, InvalidQueryError
from noisewright.problem.linear import Linear, Universe

TABLE: dict[str, list[Any]] = {"town": ["x", "y", "x", "z"], "age": [20, 30, 20, 40]}


def _universe() -> Universe:
    return Universe.product(town=["x", "y", "z"], age=[20, 30, 40])


def test_a_table_becomes_a_histogram_and_questions_give_its_answers():
    universe = _universe()
    histogram = universe.histogram(TABLE)
    assert sum(histogram) == 4
    assert Universe.of_table(TABLE, ["town"]).histogram(TABLE) == [2, 1, 1]
    ranges = Linear.ranges(universe, "age", [(20, 30), (35, 50)])
    assert ranges.answers(histogram) == [3, 1]
    marginals = Linear.marginals(universe, ["town"])
    assert dict(zip(marginals.names, marginals.answers(histogram), strict=True))["town = x"] == 2
    heights: dict[str, Any] = {"x": "10.5", "y": 100, "z": 1000}
    weighted = Linear.weighted(universe, elevation=lambda row: heights[row["town"]])
    assert weighted.answers(histogram) == [Fraction(1121)]
    grown = Linear.predicates(universe, {"grown in x": lambda row: row["town"] == "x" and row["age"] > 18})
    assert grown.answers(histogram) == [2]
    average = Linear.statistical([[1, 0, 3]], people=4)
    assert average.answers([2, 1, 1]) == [Fraction(5, 4)]
    absent = grown.with_absent(count=True)
    assert absent.answers([*histogram, 0]) == [2, 4]


def test_a_question_survives_a_file():
    query = Linear([[0.1, "1/3"], [2, 3]], names=["a", "b"], people=7)
    assert Linear.from_dict(query.to_dict()) == query
    assert query.rationals()[0] == [Fraction(1, 10), Fraction(1, 3)]


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: Linear([]), InvalidQueryError, "empty"),
        (lambda: Linear([[]]), InvalidQueryError, "empty"),
        (lambda: Linear([[1, 2], [1]]), InvalidQueryError, "query 1 has 1"),
        (lambda: Linear([[1, float("nan")]]), InvalidNumberError, "finite"),
        (lambda: Linear("ab"), InvalidQueryError, "row"),
        (lambda: Linear([[1, 2]], universe=_universe()), InvalidQueryError, "universe of 9"),
        (lambda: Linear([[1, 2]], names=["a", "b"]), InvalidQueryError, "names"),
        (lambda: Linear([[1, 2]], people=0), InvalidQueryError, "people"),
        (lambda: Universe(["a"], []), InvalidQueryError, "elements has 0 items"),
        (lambda: Universe(["a"], [(1,), (1,)]), InvalidQueryError, "twice"),
        (lambda: _universe().column("income"), InvalidQueryError, "income"),
        (lambda: Linear([[1, 2]]).answers([1]), InvalidAnswerError, "1 counts"),
        (lambda: Linear([[1, 2]]).answers([1, "0.5"]), InvalidAnswerError, "whole"),
        (lambda: Linear([[1, 2]]).answers([1, -1]), InvalidAnswerError, "whole"),
        (lambda: _universe().histogram({"town": ["q"], "age": [20]}), InvalidAnswerError, "not in the universe"),
    ],
)
def test_bad_questions_are_refused_in_words(make, error, words):
    with pytest.raises(error, match=words) as caught:
        make()
    assert isinstance(caught.value, InvalidInputError)

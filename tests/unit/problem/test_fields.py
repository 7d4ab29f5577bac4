"""What a declaration refuses, it refuses in words: each rule at its edge, on both sides."""

from __future__ import annotations

from fractions import Fraction

import pytest

from noisewright.laws.two_fold import Atoms
from noisewright.problem.errors import InvalidInputError, InvalidLawError, InvalidQueryError
from noisewright.problem.fields import exact_text, flag, one_or_many, pair, rational, rationals, text, tuple_of, wholes
from noisewright.problem.queries import Vector
from noisewright.problem.sensitivity import Box


@pytest.mark.parametrize(
    ("field", "good", "bad", "why"),
    [
        (rationals(least=2), [1, 2], [1], "field has 1 items; give at least 2."),
        (rationals(most=2), [1, 2], [1, 2, 3], "field has more than 2 items"),
        (wholes(rising=True), [1, 2, 5], [1, 2, 2], "field must increase"),
        (wholes(rising=True), [], [2, 1], "field must increase"),
        (tuple_of(text(), distinct=True), ["a", "b"], ["a", "b", "a"], "field names 'a' twice; name each once"),
        (rationals(total=1), ["1/3", "2/3"], [0.3, 0.6], "field must add up to exactly 1"),
        (rational(above=0, other_than=1), 2, 1, "it must be positive and other than 1"),
        (rational(at_least=2, or_zero=True), 0, 1, "it must be 0, or at least 2"),
        (rational(above="1/2"), "2/3", "1/2", "it must be above 0.5"),
        (one_or_many(flag()), [True, False], [], "field has 0 items; give at least 1"),
        (one_or_many(flag()), True, [True, 1], "field: 2 is 1; give True or False"),
        (pair(), (0, 1), (1, 1), r"field is 1 to 1; give \(lowest, highest\)"),
        (pair(at_most=5), (0, 5), (0, 6), "highest of field is 6; it must be at most 5"),
    ],
)
def test_a_declared_rule_refuses_what_breaks_it_and_nothing_else(field, good, bad, why):
    field.read(good, "field", InvalidInputError)
    with pytest.raises(InvalidInputError, match=why):
        field.read(bad, "field", InvalidInputError)


def test_a_field_has_as_many_items_as_the_one_that_it_is_like():
    assert Atoms([1, 2], ["1/4", "3/4"]).weights == (Fraction(1, 4), Fraction(3, 4))
    for weights in ([1], ["1/4", "1/4", "1/2"]):
        with pytest.raises(InvalidLawError, match=rf"weights has {len(weights)} items, rates has 2; give as many\."):
            Atoms([1, 2], weights)


def test_a_list_says_of_each_number_whether_it_is_whole_also_if_all_are_alike():
    assert Vector(Box([1, 1]), integer=[True, True]) == Vector(Box([1, 1]), integer=True)
    for wrong in ([True], [True, True, True], [False]):
        with pytest.raises(InvalidQueryError, match="entries for 2 numbers; give True, or one for each"):
            Vector(Box([1, 1]), integer=wrong)


def test_a_word_that_declares_nothing_is_no_declaration():
    with pytest.raises(TypeError, match="declared with rsing"):
        rationals(rsing=True)


@pytest.mark.parametrize("text", ["1/0", "-3/00", "0/0", "1/07"])
def test_a_denominator_of_zero_is_no_rational(text: str):
    assert exact_text("-3/70") == Fraction(-3, 70)
    with pytest.raises(ValueError, match="is not a rational"):
        exact_text(text)

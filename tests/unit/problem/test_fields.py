"""What a declaration refuses, it refuses in words: each rule at its edge, on both sides."""

from __future__ import annotations

from fractions import Fraction

import pytest

from noisewright.laws.folds import Atoms
from noisewright.problem.errors import InvalidInputError, InvalidLawError
from noisewright.problem.fields import pair, rational, rationals, text, tuple_of, wholes


@pytest.mark.parametrize(
    ("field", "good", "bad", "why"),
    [
        (rationals(least=2), [1, 2], [1], "field has 1 items; give at least 2."),
        (rationals(most=2), [1, 2], [1, 2, 3], "field has more than 2 items"),
        (wholes(rising=True), [1, 2, 5], [1, 2, 2], "field must increase"),
        (wholes(rising=True), [], [2, 1], "field must increase"),
        (tuple_of(text(), distinct=True), ["a", "b"], ["a", "b", "a"], "field names something twice"),
        (rationals(total=1), ["1/3", "2/3"], [0.3, 0.6], "field must add up to exactly 1"),
        (rational(above=0, other_than=1), 2, 1, "it must be positive and other than 1"),
        (pair(), (0, 1), (1, 1), "the lowest first"),
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


def test_a_word_that_declares_nothing_is_no_declaration():
    with pytest.raises(TypeError, match="declared with rsing"):
        rationals(rsing=True)

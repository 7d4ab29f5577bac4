"""A narrow bracket around the place where a property turns, in few looks."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import pytest

from noisewright.search.golden_section import Look, first_place, five_digits

SMALLEST, LARGEST = Fraction(1, 100_000), Fraction(32)


def _looks(turn: float, distance: Callable[[float], float]) -> tuple[Callable[[Fraction], Look], dict[Fraction, bool]]:
    """A property that holds from `turn` on, with that distance, and what was looked at."""
    seen: dict[Fraction, bool] = {}

    def look(amount: Fraction) -> Look:
        seen[amount] = amount >= Fraction(turn)
        return Look(seen[amount], distance(float(amount) / turn))

    return look, seen


DISTANCES: dict[str, Callable[[float], float]] = {
    "straight": lambda ratio: -2 * math.log(ratio),
    "bent": lambda ratio: 1 - ratio**3,
    "stairs": lambda ratio: -math.floor(3 * math.log(ratio)) + 0.5,
    "unknown": lambda ratio: math.inf,
    "wrong sign": lambda ratio: 2 * math.log(ratio),
}


@pytest.mark.parametrize("name", DISTANCES)
@pytest.mark.parametrize("turn", [2e-5, 0.003, 0.99, 1, 1.2, 4.7, 31.9])
@pytest.mark.parametrize("slope", [0.0, 2.0])
def test_both_ends_of_a_narrow_bracket_were_looked_at(name: str, turn: float, slope: float):
    look, seen = _looks(turn, DISTANCES[name])
    found = first_place(look, Fraction(1), SMALLEST, LARGEST, slope)
    assert found is not None
    fails, holds = found
    assert seen[fails] is False
    assert seen[holds] is True
    assert 0 < holds - fails <= holds / 1000


def test_a_straight_line_takes_few_looks():
    look, seen = _looks(4.7, DISTANCES["straight"])
    first_place(look, Fraction(1), SMALLEST, LARGEST, 2.0)
    assert len(seen) <= 6


def test_what_holds_nowhere_and_what_holds_everywhere():
    assert first_place(_looks(33, DISTANCES["bent"])[0], Fraction(1), SMALLEST, LARGEST, 1.0) is None
    look, _ = _looks(1e-6, DISTANCES["bent"])
    assert first_place(look, Fraction(1), SMALLEST, LARGEST, 1.0) == (SMALLEST, SMALLEST)


@pytest.mark.parametrize(("value", "shown"), [("1.23456", "1.2346"), ("99999.5", "100000"), ("3", "3")])
def test_digits_are_rounded_up(value: str, shown: str):
    assert five_digits(Fraction(value)) == Fraction(shown)

"""What clamped noise costs whole answers, by sums over every answer and every output, where those are few.

The bounds of `clamped_errors` are as wide as what clamping changes, which in a small range is all there is. Here
nothing is bounded but powers that are no whole numbers, each between two multiples of 2^-128.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import chain
from math import floor
from operator import mul
from typing import Any

from noisewright.numerics.balls import ball, ceil_scaled, floor_scaled, precision
from noisewright.numerics.bisection import first_true
from noisewright.numerics.fields import BALLS

Ends = tuple[Fraction, Fraction]

_MOST_ANSWERS = 1 << 10
_MOST_TERMS = 1 << 19
_BITS = 128


def listed(mechanism: Any) -> range | None:
    """Every answer, where answers are whole and few; else None."""
    low, high = mechanism.query.inputs
    few = mechanism.query.integer and high - low < _MOST_ANSWERS
    return range(int(low), int(high) + 1) if few else None


def summed(mechanism: Any) -> range | None:
    """The same where every output of every answer is few enough to be added up, too."""
    answers, (first, last) = listed(mechanism), mechanism.ends
    return answers if answers is not None and len(answers) * (last - first + 1) <= _MOST_TERMS else None


def worst_square(mechanism: Any, answers: range) -> Fraction:
    """The largest variance."""
    found: Fraction = max(mechanism.variance_at(Fraction(x)) for x in answers)
    return found


def average_square(mechanism: Any, answers: range) -> Fraction:
    """The variance averaged over the answers, which count alike."""
    return sum((mechanism.variance_at(Fraction(x)) for x in answers), Fraction(0)) / len(answers)


def worst_chance(mechanism: Any, answers: range, limit: Fraction) -> Fraction:
    """The least chance of an error of at most the limit."""
    return _least_chance([(x, mechanism.law_given(x)) for x in answers], floor(limit))


def worst_half_width(mechanism: Any, answers: range, confidence: Fraction) -> Fraction:
    """The smallest half-width that every error stays within with the confidence."""
    laws = [(x, mechanism.law_given(x)) for x in answers]
    first, last = mechanism.ends
    return Fraction(first_true(lambda width: _least_chance(laws, width) >= confidence, -1, last - first))


def _least_chance(laws: list[tuple[int, Any]], width: int) -> Fraction:
    found: Fraction = min(law.cdf(x + width) - law.cdf(x - width - 1) for x, law in laws)
    return found


def worst_power(mechanism: Any, answers: range, power: Fraction) -> Ends:
    """Both ends of the largest mean of |error|^power; they meet where the power is a whole number."""
    first, last = mechanism.ends
    ends = []
    for costs, unit in _powers(power, last - first):
        totals = (_total(mechanism, x, costs) for x in answers)
        ends.append(max(totals) / unit)
    return ends[0], ends[-1]


def _powers(power: Fraction, largest: int) -> Iterator[tuple[list[int], int]]:
    """Multiples of one over a unit at or below j^power for each size of an error, then those at or above."""
    if power.denominator == 1:
        yield [j ** int(power) for j in range(largest + 1)], 1
        return
    with precision(2 * _BITS):
        raised = [BALLS.power(ball(Fraction(j)), power) for j in range(1, largest + 1)]
        for end in (floor_scaled, ceil_scaled):
            yield [0, *(end(value, _BITS) for value in raised)], 1 << _BITS


def _total(mechanism: Any, x: int, costs: list[int]) -> Fraction:
    """The mean cost of the error at one answer."""
    first, last = mechanism.ends
    sizes = list(chain(costs[x - first : 0 : -1], costs[: last - x + 1]))
    k, share = mechanism.place(Fraction(x))
    means = [sum(map(mul, _weights(mechanism, row), sizes)) for row in (k, k + 1)]
    mean: Fraction = ((1 - share) * means[0] + share * means[1]) / mechanism.total
    return mean


def _weights(mechanism: Any, k: int) -> list[int]:
    """The weights of the outputs of row k, those at the ends with what is clamped to them."""
    first, last = mechanism.ends
    levels, total = mechanism.levels, mechanism.total
    inside = [levels.height(y - k) for y in range(first + 1, last)]
    lowest = int(mechanism.row_cdf(k, first) * total)
    return [lowest, *inside, total - lowest - sum(inside)]

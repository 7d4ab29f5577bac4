"""l_p sensitivities: from single statistics, from bounds, and by enumeration."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any

from noisewright.numerics.balls import ball, precision, upper
from noisewright.numerics.fields import BALLS
from noisewright.numerics.special import power_from_above
from noisewright.problem.errors import InvalidQueryError
from noisewright.problem.numbers import Number, parameter, sensitivity_value, show


def lp_sensitivity(sensitivities: Sequence[Number], power: Number, *, disjoint: bool = False) -> Fraction:
    """Upper bound of the l_p sensitivity of several statistics from that of each.

    Rule: Lemma 2, the l_p norm of the single sensitivities; where one person is in one statistic only
    (`disjoint`: a histogram under add/remove) the largest of them, exactly, whatever the power.
    [Liu19, theory#what-one-person-can-change]
    Guarantees: never below the true sensitivity; irrational roots are rounded up.
    """
    exponent = _power(power)
    values = [sensitivity_value(s, "sensitivity") for s in sensitivities]
    if not values or any(v < 0 for v in values) or not any(values):
        raise InvalidQueryError("give at least one sensitivity, none below 0 and one above it.", sensitivities=values)
    if disjoint:
        return max(values)
    if exponent == 1:
        return sum(values, Fraction(0))
    return power_from_above(sum((power_from_above(v, exponent) for v in values if v), Fraction(0)), 1 / exponent)


def lp_sensitivity_from_bounds(
    bounds: Sequence[tuple[Number, Number]], power: Number, *, disjoint: bool = False
) -> Fraction:
    """The same from the range of each statistic.

    Rule: Claim 3, one person can move a bounded statistic at most from one end to the other.
    [Liu19, theory#what-one-person-can-change]
    """
    widths = []
    for low, high in bounds:
        start, end = parameter(low, "bound"), parameter(high, "bound")
        if end <= start:
            raise InvalidQueryError(f"a statistic is bounded by {show(start)} and {show(end)}; give low < high.")
        widths.append(end - start)
    return lp_sensitivity(widths, power, disjoint=disjoint)


def exact_lp_sensitivity(
    statistic: Callable[[Any], Sequence[Number]], neighbours: Iterable[tuple[Any, Any]], power: Number
) -> Fraction:
    """The l_p sensitivity itself, by Definition 1, over all pairs of neighbouring datasets that are given.

    Guarantees: the largest l_p distance over the pairs, rounded up only where its root is irrational.
    """
    exponent = _power(power)
    largest = Fraction(0)
    for one, other in neighbours:
        first, second = statistic(one), statistic(other)
        total = Fraction(0)
        for a, b in zip(first, second, strict=True):
            change = abs(parameter(a, "statistic") - parameter(b, "statistic"))
            total += power_from_above(change, exponent) if change else Fraction(0)
        largest = max(largest, total)
    if not largest:
        raise InvalidQueryError("no pair of neighbours changes the statistic; give pairs that do.")
    return power_from_above(largest, 1 / exponent)


def filter_sensitivity(
    responses: Sequence[Sequence[Sequence[Number]]],
    events: Sequence[Number],
    power: Number = 2,
    *,
    inputs_per_person: int = 1,
) -> Fraction:
    """Upper bound of the l_p change of all outputs of a linear filter over all times, from its impulse responses.

    `responses[i][j]` is what an event of size 1 on input j adds to output i from its time on; `events[j]` is the
    largest event that one person can cause there, once. With power 2 and one input it is the H2 norm of the filter
    times the event. Rule: an event on input j moves the outputs by its size times the responses to it, wherever in
    time, of l_p norm `events[j]` (sum over i, t of |response|^p)^(1/p); events on several inputs add up (Minkowski), so
    those of the `inputs_per_person` inputs with the largest moves bound all. Exact where one person is in one input.
    [theory#what-one-person-can-change]
    """
    exponent = _power(power)
    if exponent < 1:
        raise InvalidQueryError(f"power is {show(exponent)}; the moves of several inputs add up for powers from 1 on.")
    sizes = [sensitivity_value(e, "event") for e in events]
    if (
        not sizes
        or any(size < 0 for size in sizes)
        or not responses
        or any(len(row) != len(sizes) for row in responses)
    ):
        raise InvalidQueryError("give the largest event of each input, and for each output a response to each input.")
    if not 1 <= inputs_per_person <= len(sizes):
        raise InvalidQueryError(
            f"inputs_per_person is {inputs_per_person}; give how many of the {len(sizes)} inputs one person is in."
        )
    moves = []
    for j, size in enumerate(sizes):
        taps = [abs(parameter(tap, "response")) for row in responses for tap in row[j]]
        total = sum((power_from_above(tap, exponent) for tap in taps if tap), Fraction(0))
        moves.append(size * power_from_above(total, 1 / exponent))
    if not any(moves):
        raise InvalidQueryError("no event changes any output: nothing needs protection here.")
    return sum(sorted(moves, reverse=True)[:inputs_per_person], Fraction(0))


def minkowski_utility_sensitivity(
    bounds: Sequence[tuple[Number, Number]], sensitivities: Sequence[Number], power: Number
) -> Fraction:
    """The most that one person changes -||c - s||_p^p, for candidates c and answers s in the same bounds.

    Rule: per coordinate the distance moves by at most the sensitivity below the range, so the change is at
    most range^p - (range - sensitivity)^p for p >= 1; attained. At most what Lemma 10 gives.
    [Liu19, theory#what-one-person-can-change]
    """
    exponent = _power(power)
    if exponent < 1:
        raise InvalidQueryError(f"power is {show(exponent)}; the Minkowski utility is bounded for powers from 1 on.")
    total = Fraction(0)
    for reach, (low, high) in paired(bounds, sensitivities):
        width = high - low
        short = width - reach
        if exponent.denominator == 1:
            total += width**exponent.numerator - short**exponent.numerator
        else:
            with precision():
                drop = BALLS.power(ball(width), exponent) - (BALLS.power(ball(short), exponent) if short else ball(0))
                total += upper(drop)
    return total


def paired(
    bounds: Sequence[tuple[Number, Number]], sensitivities: Sequence[Number]
) -> list[tuple[Fraction, tuple[Fraction, Fraction]]]:
    """Each sensitivity, exactly, beside its pair of bounds."""
    reach = [sensitivity_value(s, "sensitivity") for s in sensitivities]
    ends = [(parameter(low, "bound"), parameter(high, "bound")) for low, high in bounds]
    fits = len(reach) == len(ends) and all(0 < r <= high - low for r, (low, high) in zip(reach, ends, strict=False))
    if not reach or not fits:
        raise InvalidQueryError("give one sensitivity above 0, and at most its range, for each pair of bounds.")
    return list(zip(reach, ends, strict=True))


def _power(power: Number) -> Fraction:
    exponent = parameter(power, "power")
    if exponent <= 0:
        raise InvalidQueryError(f"power is {show(exponent)}; an l_p distance needs a positive power.")
    return exponent

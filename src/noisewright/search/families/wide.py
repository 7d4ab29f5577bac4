"""Clamped noise in levels for answers in bounds: near the best noise without bounds, however wide the range."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

from noisewright.mechanisms.bounded.clamped import Clamped
from noisewright.numerics.bisection import first_true, gallop
from noisewright.problem.errors import InvalidMechanismError
from noisewright.problem.queries import Bounded, Scalar
from noisewright.problem.utilities import SquaredError
from noisewright.proof.clamped import largest_move
from noisewright.search.families.staircase import best_half, best_split
from noisewright.search.tools.golden import round_number

_STEPS_PER_SCALE = 1000
_STEPS_PER_SPLIT = 20
_MOST_STEPS = 100_000
_MOST_LEVELS = 60_000
_FADED = 18.0
_FLOOR = 2**40
_ROUNDS = 60
_SHRUNK = Fraction(1, 2**44)
_UNIT = 2**40
_ROOMS = 8


def clamped_noise(query: Bounded, epsilon: Fraction, utility: Any) -> Clamped | None:
    """The clamped staircase for a question; None where the output bounds leave too little room for one.

    The noise that fits the sensitivity is tried first. Near a bound its place moves faster than the answer, so it is
    widened until it fits the largest move, too.
    """
    rate = float(epsilon)
    if query.integer:
        steps, step = int(query.sensitivity), Fraction(1)
    else:
        fine = max(100, math.ceil(_STEPS_PER_SCALE * rate), math.ceil(_STEPS_PER_SPLIT * math.exp(rate / 2)))
        steps = min(round_number(fine), _MOST_STEPS)
        step = query.sensitivity / steps
    span = float((query.outputs[1] - query.outputs[0]) / query.sensitivity)
    count = math.ceil((_FADED + 3 * math.log(max(rate * span, 1.0))) / rate) + 2
    if count > _MOST_LEVELS:
        return None
    move = query.reach / step
    for _ in range(_ROUNDS):
        period, part = _period(move, rate)
        try:
            made = Clamped(query, step, _top(query, epsilon, utility, period), period, _heights(rate, part, count))
        except InvalidMechanismError:
            return None
        needed = largest_move(made)
        if needed <= move:
            return made
        move = Fraction(math.ceil(needed * _UNIT) + 1, _UNIT)
    return None


def stretch(made: Clamped) -> Fraction:
    """How much faster than the answer the place of the noise moves, at most."""
    return largest_move(made) * made.step / made.query.reach


def least_outputs(
    query: Bounded, epsilon: Fraction, utility: Any, most: Fraction | None = None
) -> tuple[Fraction, Fraction]:
    """Output bounds about as near to the inputs as clamped noise can have for this question, alike on both sides.

    With `most` they are those in which its place is stretched by no more than that.
    Guarantees: clamped noise was made for the bounds that are returned.
    """
    low, high = query.inputs

    def outputs(rooms: int) -> tuple[Fraction, Fraction]:
        room = rooms * query.sensitivity if query.integer else rooms * query.sensitivity / epsilon / _ROOMS
        return low - room, high + room

    def fits(rooms: int) -> bool:
        made = clamped_noise(replace(query, outputs=outputs(rooms)), epsilon, utility)
        return made is not None and (most is None or stretch(made) <= most)

    return outputs(first_true(fits, *gallop(fits, 0, 1)))


def _period(move: Fraction, rate: float) -> tuple[int, float]:
    """A whole number of steps for one level, and what a move exceeds it by: rounded down or up, whichever costs less.

    A period that is longer widens the noise; one that is shorter by a part of a step costs that part of a ratio.
    """
    whole = math.floor(move)
    part = float(move - whole)
    if part * math.expm1(rate) / rate <= (1 - part) / float(move):
        return whole, part
    return whole + 1, 0.0


def _heights(rate: float, part: float, count: int) -> list[int]:
    """Heights that fall by a factor r with r (1 + part (r - 1)) at most e^rate, largest first."""
    growth = math.exp(rate)
    linear = 1 - part
    ratio = Fraction(2 * growth / (linear + math.sqrt(linear * linear + 4 * part * growth))) * (1 - _SHRUNK)
    heights = [_FLOOR]
    for _ in range(count):
        heights.append(math.floor(heights[-1] * ratio))
    return heights[::-1]


def _top(query: Bounded, epsilon: Fraction, utility: Any, period: int) -> int:
    """Half of the top level, in steps: that of the best staircase without bounds."""
    charged = SquaredError() if utility.averaged else utility
    if query.integer:
        return best_half(Scalar(period, integer=True), epsilon, charged)
    split = best_split(charged.scaled(query.sensitivity), epsilon)
    return min(max(0, round(split * period - 0.5)), period)

"""Worst cases over all true answers of what clamped noise costs, each between two ends that are proven.

Rule: the bounds contain the answer, so clamping brings no output farther from it: what unclamped noise costs is an
upper end. What one answer in the middle pays is a lower end. The noise stands around a lattice point at most `drift`
and one step from the answer; for whole answers it is the answer itself, but for a chance of at most `drift` of the
next one. [theory#answers-in-bounds]
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from heapq import heapify, heappop, heappush
from itertools import pairwise
from math import ceil, floor
from typing import Any

import numpy as np

from noisewright.mechanisms.bounded import clamped_sums
from noisewright.numerics.bisection import first_true
from noisewright.numerics.fields import Floats
from noisewright.problem.errors import InvalidUtilityError

Ends = tuple[Fraction, Fraction]

_MOST_POINTS = 20_000_000
_ROUNDING = Fraction(1, 2**36)
_PIECES = 64
_MOST_SPLITS = 400
_SHORT = 10_000
_CLOSE = Fraction(1, 2**11)


def drift(mechanism: Any) -> Fraction:
    """How far, in steps, the noise is at most centred from the answer before it is rounded to the lattice.

    Rule: the mean of a row rises by at most one step from row to row, so place minus answer rises with the answer
    and is farthest from zero at an end of the inputs. [theory#answers-in-bounds]
    """
    moved = []
    for end in (0, 1):
        k, share = mechanism.place(mechanism.query.inputs[end])
        moved.append(Fraction(abs(k + share - mechanism.in_steps(end))))
    return max(moved)


def middle(mechanism: Any) -> Fraction:
    """An answer in the middle of the inputs."""
    found: Fraction = mechanism.near(sum(mechanism.query.inputs) / 2)
    return found


@dataclass(frozen=True, slots=True)
class _Piece:
    """Answers between the means of two rows: how long the stretch is, and between what their variances lie."""

    width: Fraction
    least: Fraction
    most: Fraction


def _pieces(mechanism: Any) -> Iterator[_Piece]:
    """The input range cut into pieces, short ones near its ends.

    Rule: the variance of a row is the mean squared distance to its place less the square of mean minus place. The
    squares of clamped noise grow with the room on each side, so between rows a and b they are at least those with the
    smaller and at most those with the larger room; those of the last height are a parabola, largest at an end. Mean
    minus place falls from row to row. Rounding an answer to the two rows beside it mixes their variances and adds
    `_mixing`. [theory#answers-in-bounds]
    """
    first, last = mechanism.ends
    low = mechanism.place(mechanism.query.inputs[0])[0]
    high = mechanism.place(mechanism.query.inputs[1])[0] + 1
    edge = min(mechanism.levels.reach, (high - low) // 2)
    near = {low + edge * i // _PIECES for i in range(_PIECES + 1)}
    cuts = sorted(near | {low + high - k for k in near})
    squares, total, mixing = mechanism.levels.squares, mechanism.total, _mixing(mechanism)
    for a, b in pairwise(cuts):
        width = min(mechanism.mean(b), mechanism.in_steps(1)) - max(mechanism.mean(a), mechanism.in_steps(0))
        moved = sorted(mechanism.mean(k) - k for k in (a, b))
        smallest = Fraction(0) if moved[0] <= 0 <= moved[1] else min(m * m for m in moved)
        least = Fraction(squares(a - first) + squares(last - b), total) - max(m * m for m in moved)
        even = max(mechanism.second(k) - Fraction(squares(k - first) + squares(last - k), total) for k in (a, b))
        most = Fraction(squares(b - first) + squares(last - a), total) + even - smallest + mixing
        if mechanism.query.integer:
            width = _whole_between(mechanism, a, None if b == cuts[-1] else b)
        yield _Piece(width, max(least, Fraction(0)), most)


def _whole_between(mechanism: Any, a: int, b: int | None) -> Fraction:
    """How many whole answers there are from the mean of row a to below that of row b; without one, to the highest."""
    low, high = mechanism.query.inputs
    past = high + 1 if b is None else ceil(mechanism.mean(b))
    return Fraction(max(past - max(ceil(mechanism.mean(a)), low), 0))


def worst_square(mechanism: Any) -> Ends:
    """Both ends of the largest variance over all answers."""
    if answers := clamped_sums.listed(mechanism):
        return (clamped_sums.worst_square(mechanism, answers),) * 2
    low, high = mechanism.query.inputs
    tried = {middle(mechanism), mechanism.near(low), mechanism.near(high)}
    above = max(piece.most for piece in _pieces(mechanism))
    return max(mechanism.variance_at(x) for x in tried), above * mechanism.step**2


def _mixing(mechanism: Any) -> Fraction:
    """The most that rounding an answer at random adds to the variance, in squared steps.

    Rule: share (1 - share) times the squared slope, which is at most 1; for whole answers the share is within `drift`
    of a whole number. [theory#answers-in-bounds]
    """
    share = min(drift(mechanism), Fraction(1, 2)) if mechanism.query.integer else Fraction(1, 2)
    return share * (1 - share)


def average_square(mechanism: Any) -> Ends:
    """Both ends of the variance averaged evenly over the input range, or over the whole numbers in it."""
    if answers := clamped_sums.listed(mechanism):
        return (clamped_sums.average_square(mechanism, answers),) * 2
    pieces = list(_pieces(mechanism))
    unit = mechanism.step**2 / (mechanism.in_steps(1) - mechanism.in_steps(0) + mechanism.query.integer)
    below = sum((piece.width * piece.least for piece in pieces), Fraction(0))
    above = sum((piece.width * piece.most for piece in pieces), Fraction(0))
    return below * unit, above * unit


def _offsets(mechanism: Any) -> list[tuple[Fraction, Fraction]]:
    """Chances, and how far the noise is then at most centred from the answer, in steps."""
    moved = drift(mechanism)
    if mechanism.query.integer and moved < 1:
        return [(1 - moved, Fraction(0)), (moved, Fraction(1))]
    return [(Fraction(1), moved + 1)]


def worst_power(mechanism: Any, power: Fraction) -> Ends:
    """Both ends of the largest mean of |error|^power over all answers, in steps to the power.

    Rule: for a power of at least 1 the mean of |noise + c|^power is even and convex in c, so it grows with |c|; below 1
    it is at most that of the noise plus |c|^power. Sums of floats are right to far less than the room left for them.
    [theory#answers-in-bounds]
    """
    weights = _weights(mechanism)
    sizes, p = np.arange(len(weights), dtype=np.float64), float(power)
    total, above = Fraction(mechanism.total), Fraction(0)
    for chance, offset in _offsets(mechanism):
        c = float(offset)
        if p >= 1:
            around = (np.abs(sizes + c) ** p + np.abs(sizes - c) ** p) / 2
            found = Fraction(float(_both_sides(weights, around)))
        else:
            found = Fraction(float(_both_sides(weights, sizes**p))) + Fraction(c**p)
        above += chance * found
    spread = Fraction(float(mechanism.points) ** p) * mechanism.heights[-1] * mechanism.points / total
    x = middle(mechanism)
    k, share = mechanism.place(x)
    room = min(k - mechanism.ends[0], mechanism.ends[1] - k - 1, len(weights) - 1)
    inside, reached = weights[: room + 1], Fraction(0)
    for row, chance in ((k, 1 - share), (k + 1, share)):
        c = float(row - x / mechanism.step)
        around = (np.abs(sizes[: room + 1] + c) ** p + np.abs(sizes[: room + 1] - c) ** p) / 2
        reached += chance * Fraction(float(_both_sides(inside, around)))
    above += spread
    if not mechanism.query.integer and mechanism.ends[1] - mechanism.ends[0] < _SHORT:
        least, most = _halved(mechanism, power)
        reached, above = max(reached, least), min(above, most)
    return reached * (1 - _ROUNDING), above * (1 + _ROUNDING)


def _both_sides(weights: Floats, values: Floats) -> float:
    return float(2 * (weights @ values) - weights[0] * values[0])


def _stretches(mechanism: Any) -> list[tuple[int, int]]:
    """First and last rows of stretches of rows around the answers, alike in length."""
    bottom, top = (mechanism.place(x)[0] + side for side, x in enumerate(mechanism.query.inputs))
    cuts = sorted({bottom + (top - bottom) * i // _PIECES for i in range(_PIECES + 1)})
    return list(pairwise(cuts))


class _Rows:
    """What rows cost, in floats; places are lattice points."""

    def __init__(self, mechanism: Any, power: Fraction) -> None:
        self._mechanism, self._power, self._noise = mechanism, float(power), _weights(mechanism)
        first, last = mechanism.ends
        self._places = np.arange(first, last + 1, dtype=np.float64)

    def above(self, a: int, b: int) -> float:
        """At least what any answer between the means of rows a and b pays.

        Rule: a higher row releases more, and an answer that is lower is passed by more: the part of the error above
        the answer is at most that of row b at the lowest answer, the part below at most that of row a at the highest.
        [theory#answers-in-bounds]
        """
        low, high = (float(self._mechanism.in_steps(end)) for end in (0, 1))
        start, end = max(float(self._mechanism.mean(a)), low), min(float(self._mechanism.mean(b)), high)
        passing = self._row(b) @ np.maximum(self._places - start, 0.0) ** self._power
        return float(passing + self._row(a) @ np.maximum(end - self._places, 0.0) ** self._power)

    def at(self, k: int) -> float:
        """What the answer pays that is the mean of row k; nothing if it is none."""
        answer = self._mechanism.mean(k)
        if not self._mechanism.in_steps(0) <= answer <= self._mechanism.in_steps(1):
            return 0.0
        return float(self._row(k) @ np.abs(self._places - float(answer)) ** self._power)

    def _row(self, k: int) -> Floats:
        first, last = self._mechanism.ends
        sizes = np.abs(self._places - k).astype(np.int64)
        noise = np.where(sizes < len(self._noise), self._noise[np.minimum(sizes, len(self._noise) - 1)], 0.0)
        row = noise + float(Fraction(self._mechanism.heights[-1], self._mechanism.total))
        row[0] = float(self._mechanism.row_cdf(k, first))
        row[-1] = float(1 - self._mechanism.row_cdf(k, last - 1))
        return np.asarray(row)


def _halved(mechanism: Any, power: Fraction) -> Ends:
    """Both ends of the largest mean of |error|^power in a short range: the dearest stretch of rows is halved."""
    rows = _Rows(mechanism, power)
    pieces = [(-rows.above(a, b), a, b) for a, b in _stretches(mechanism)]
    heapify(pieces)
    reached = 0.0
    for _ in range(_MOST_SPLITS):
        above, a, b = pieces[0]
        if b - a == 1 or -above <= reached * (1 + float(_CLOSE)):
            break
        heappop(pieces)
        half = (a + b) // 2
        for part in ((a, half), (half, b)):
            heappush(pieces, (-rows.above(*part), *part))
        reached = max(reached, rows.at(half))
    return Fraction(reached), Fraction(-pieces[0][0])


def _weights(mechanism: Any) -> Floats:
    """The chances of noise 0, 1, 2 … without the last height, in floats."""
    if mechanism.levels.reach > _MOST_POINTS:
        raise InvalidUtilityError("this noise spreads over too many points for the mean of such a power; use 2.")
    total, floor_height = mechanism.total, mechanism.heights[-1]
    shares = np.array([float(Fraction(h - floor_height, total)) for h in mechanism.heights[:-1]])
    return np.asarray(np.repeat(shares, [mechanism.top + 1] + [mechanism.period] * (len(shares) - 1)))


def _surely(mechanism: Any, limit: Fraction) -> Fraction:
    """A chance to be at most so many steps off that holds for every answer, as if the noise were nowhere clamped."""
    found = Fraction(0)
    for chance, offset in _offsets(mechanism):
        inside = floor(limit - offset)
        if inside >= 0:
            weight = mechanism.levels.total - 2 * mechanism.levels.beyond(inside)
            found += chance * Fraction(weight, mechanism.total)
    return found


def _sure(mechanism: Any, a: int, b: int, limit: Fraction) -> Fraction:
    """A chance to be at most so many steps off that holds for every answer between the means of rows a and b.

    Rule: what is within the limit of both ends is within it of every answer between. Weights fall outward from the
    place of a row, so the chance of a stretch falls from some row on, and rises up to it: of rows a to b an end has
    the least. [theory#answers-in-bounds]
    """
    start = max(mechanism.mean(a), mechanism.in_steps(0))
    end = min(mechanism.mean(b), mechanism.in_steps(1))
    if mechanism.query.integer:
        start, end = Fraction(ceil(start)), Fraction(floor(end))
    lowest, highest = ceil(end - limit), floor(start + limit)
    if start > end:
        return Fraction(1)
    if lowest > highest:
        return Fraction(0)
    found: Fraction = min(mechanism.row_cdf(k, highest) - mechanism.row_cdf(k, lowest - 1) for k in (a, b))
    return found


def _least_chance(mechanism: Any, limit: Fraction, enough: Fraction = Fraction(2)) -> Ends:
    """Both ends of the least chance to be at most so many steps off, over all answers.

    The stretch of rows with the least chance is halved, until the ends are near or it is known whether it is enough.
    """
    low, high = mechanism.query.inputs
    pieces = [(_sure(mechanism, a, b, limit), a, b) for a, b in _stretches(mechanism)]
    heapify(pieces)
    reached = min(_at(mechanism, x, limit) for x in (middle(mechanism), mechanism.near(low), mechanism.near(high)))
    for _ in range(_MOST_SPLITS):
        sure, a, b = pieces[0]
        if b - a == 1 or sure >= min(enough, reached * (1 - _CLOSE)) or reached < enough <= 1:
            break
        heappop(pieces)
        half = (a + b) // 2
        for part in ((a, half), (half, b)):
            heappush(pieces, (_sure(mechanism, *part, limit), *part))
        x = mechanism.near(min(max(mechanism.mean(half) * mechanism.step, low), high))
        reached = min(reached, _at(mechanism, x, limit))
    return max(min(pieces[0][0], reached), _surely(mechanism, limit)), reached


def _at(mechanism: Any, x: Fraction, limit: Fraction) -> Fraction:
    """The chance to be at most so many steps off at one answer, exactly."""
    law, place = mechanism.law_given(x), x / mechanism.step
    found: Fraction = law.cdf(floor(place + limit)) - law.cdf(ceil(place - limit) - 1)
    return found


def worst_chance(mechanism: Any, limit: Fraction) -> Ends:
    """Both ends of the least chance, over all answers, of an error of at most the limit."""
    if answers := clamped_sums.listed(mechanism):
        return (clamped_sums.worst_chance(mechanism, answers, limit),) * 2
    return _least_chance(mechanism, limit / mechanism.step)


def worst_half_width(mechanism: Any, confidence: Fraction) -> Ends:
    """Both ends of the smallest half-width that every error stays within with the confidence, whatever the answer."""
    if answers := clamped_sums.listed(mechanism):
        return (clamped_sums.worst_half_width(mechanism, answers, confidence),) * 2
    first, last = mechanism.ends
    widest = ceil(max(last - mechanism.in_steps(0), mechanism.in_steps(1) - first))
    found = lru_cache(maxsize=None)(lambda width: _least_chance(mechanism, Fraction(width), confidence))
    low = first_true(lambda width: found(width)[1] >= confidence, -1, widest)
    high = first_true(lambda width: found(width)[0] >= confidence, low - 1, widest)
    # At some answer low - 1 steps were too few; the smallest width is above that.
    least = low if mechanism.query.integer else max(low - 1, 0)
    return least * mechanism.step, high * mechanism.step

"""How far released answers are from the truth, with a confidence: half-widths that were checked, rounded up."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import singledispatch
from typing import Any

from noisewright.laws.lattice import HALF, slip_of
from noisewright.laws.shells import ShellRadius
from noisewright.mechanisms.additive import Additive
from noisewright.mechanisms.bounded.clamped import Clamped
from noisewright.mechanisms.bounded.conditional import Conditional
from noisewright.mechanisms.linear.errors import USUAL_PEOPLE
from noisewright.mechanisms.linear.noise import ColumnGaussian, LinearElliptical, LinearLaplace
from noisewright.mechanisms.linear.synthetic import MetricMWEM, MetricSmallDB
from noisewright.mechanisms.linear_gaussian import LinearGaussian
from noisewright.mechanisms.norm_shaped import NormBlock, NormShaped
from noisewright.mechanisms.per_coordinate import IdenticalNoise, PerCoordinate
from noisewright.mechanisms.strategies.strategy import GaussianStrategy, LaplaceStrategy, Strategy
from noisewright.mechanisms.tails import (
    GeometricTail,
    LaplaceSumTail,
    NormalTail,
    NoTail,
    PartTail,
    RoundedSumTail,
    RoundTail,
    ShellTail,
    Tail,
)
from noisewright.numerics.balls import Ball, ball, certainly_at_most, precision, upper
from noisewright.numerics.bisection import first_true, gallop
from noisewright.numerics.fields import BALLS
from noisewright.problem.errors import InvalidUtilityError
from noisewright.problem.fields import flag
from noisewright.problem.numbers import Number
from noisewright.problem.queries import Choice
from noisewright.problem.utilities import ErrorQuantile

_DIGITS = 4
_RELATIVE = Fraction(1, 2**11)
_SHELLS = 100
_MOST_QUESTIONS = 1 << 16
_STD_DIGITS = 5


@dataclass(frozen=True, slots=True)
class Spread:
    """The error of one number: at most `factor` times what has this tail, and `offset` more.

    The error of a whole number is whole; spread over a unit around it, it has the tail, so that it is within a whole
    width where what is spread is within `room` more.
    """

    tail: Tail
    factor: Fraction = Fraction(1)
    offset: Fraction = Fraction(0)
    room: Fraction | None = None

    def beyond(self, width: Fraction) -> Ball:
        """At least the chance that the error exceeds a width."""
        reach = width if self.room is None else math.floor(width) + self.room
        inside = (reach - self.offset) / self.factor
        return self.tail.beyond(inside) if inside >= 0 else ball(1)

    def width(self, size: Fraction) -> Fraction:
        """How far the error goes where what has the tail goes as far as a size."""
        reach = self.factor * size + self.offset
        return reach if self.room is None else Fraction(max(0, math.ceil(reach - self.room)))


@dataclass(frozen=True, slots=True)
class Group:
    """Numbers whose errors depend on one another; the errors of different groups are independent."""

    spreads: tuple[Spread, ...]
    block: NormBlock | None = None

    def inside(self, width: Fraction) -> Ball:
        """At most the chance that all errors of the group stay within a width: what is left of all chances to leave.

        For a block with the largest-coordinate norm it is the chance itself, up to merging neighbouring shells.
        """
        if self.block is not None and self.block.norm == "max":
            first = self.spreads[0]
            reach = width if first.room is None else math.floor(width) + first.room
            return _block_inside(self.block, reach * self.block.steps[0] / first.factor)
        left = sum((times * spread.beyond(width) for spread, times in Counter(self.spreads).items()), ball(0))
        return 1 - left if bool(left < 1) else ball(0)


def half_width(mechanism: Any, confidence: Number, *, joint: bool) -> Any:
    """How far from the truth the answer is with a confidence: one number, or one for each of several.

    With `joint`, one number that all errors stay within at once.
    Guarantees: the chance to stay within was checked in balls to reach the confidence, over the noise that is drawn
    and over where in its cell of the lattice the true answer lies, and the rounding of what is released to decimals
    was added; for answers in bounds it holds for every answer.
    Rounded up to four digits; whole numbers are exact. For linear questions the bias of rounded columns is counted
    for the question's people, or for a million where it does not say how many there are.
    """
    wanted, together = ErrorQuantile(confidence), flag().read(joint, "joint", InvalidUtilityError)
    with precision():
        if isinstance(mechanism, MetricSmallDB | MetricMWEM):
            far = rounded_up(upper(mechanism.expected(wanted)))
            return far if together else (far,) * mechanism.query.dimension
        if isinstance(mechanism, Additive | Conditional | Clamped):
            slip = _slip(mechanism) if isinstance(mechanism, Additive) else Fraction(0)
            return _shown(upper(mechanism.expected(wanted)) + slip, mechanism.query.integer)
        groups, slips = groups_of(mechanism), _slips(mechanism)
        query = mechanism.query
        widths, whole = _each(groups, query.dimension, wanted.confidence), getattr(query, "integer", False)
        if together:
            every = _joint([*groups.values()], widths, wanted.confidence)
            return _shown(every + max(slips.values(), default=Fraction(0)), whole is True)
        each = [whole] * len(widths) if isinstance(whole, bool) else whole
        reaches = (width + slips.get(i, 0) for i, width in enumerate(widths))
        return tuple(_shown(reach, one) for reach, one in zip(reaches, each, strict=True))


def _slip(part: Additive) -> Fraction:
    """How far what is released may be from its lattice point, which the error is counted for."""
    return Fraction(0) if part.query.integer else slip_of(part.lattice.step, part.spacing)


def _slips(mechanism: Any) -> dict[int, Fraction]:
    """The same for each of several numbers that are released as decimals."""
    if isinstance(mechanism, PerCoordinate):
        known = {id(part): _slip(part) for part in {id(part): part for part in mechanism.parts if part}.values()}
        return {i: known[id(part)] for i, part in enumerate(mechanism.parts) if part}
    blocks = mechanism.blocks if isinstance(mechanism, NormShaped) else ()
    return {
        place: slip_of(step, step * mechanism.stretch(block))
        for block in blocks
        if not mechanism.whole(block)
        for place, step in zip(block.places, block.steps, strict=True)
    }


def _each(groups: Mapping[tuple[int, ...], Group], count: int, confidence: Fraction) -> list[Fraction]:
    """The width of each number by itself, 0 where it is released as it is."""
    found: dict[Tail, Fraction] = {}
    by_group: dict[int, list[Fraction]] = {}  # there may be a million numbers of one group
    widths = [Fraction(0)] * count
    for places, group in groups.items():
        if id(group) not in by_group:
            for spread in group.spreads:
                if spread.tail not in found:
                    found[spread.tail] = spread.tail.within(1 - confidence)
            by_group[id(group)] = [s.width(found[s.tail]) for s in group.spreads]
        for place, width in zip(places, by_group[id(group)], strict=True):
            widths[place] = width
    return widths


def _joint(groups: Sequence[Group], widths: Sequence[Fraction], confidence: Fraction) -> Fraction:
    """A width that all errors were checked to stay within: groups are independent, so their chances multiply."""
    alike, wanted = {id(group): group for group in groups}, ball(confidence)
    counts = Counter(map(id, groups))

    def reached(width: Fraction) -> bool:
        chance = ball(1)
        for place, times in counts.items():
            chance *= alike[place].inside(width) ** times
        return certainly_at_most(wanted, chance)

    # No number alone stays within less, so the search begins there; where each stays at 0, not all of them need to.
    least = max(widths)
    if reached(least):
        return least
    return first_true(reached, *gallop(reached, least, least / 16 or Fraction(1)), relative=_RELATIVE)


def _shown(width: Fraction, whole: bool) -> float | int:
    """The width rounded up to few digits, as a float not below it; for whole errors the whole number they reach."""
    return math.floor(width) if whole else rounded_up(width)


def rounded_up(value: Fraction, digits: int = _DIGITS) -> float:
    """The smallest decimal of so many digits that is not below a value of 0 or more, as a float not below it."""
    if not value:
        return 0.0
    places = digits - 1 - math.floor(math.log10(value))
    unit = Fraction(10) ** -places
    shown = float(-(-value // unit) * unit)
    return shown if Fraction(shown) >= value else math.nextafter(shown, math.inf)


@singledispatch
def groups_of(mechanism: Any) -> dict[tuple[int, ...], Group]:
    """The errors of several numbers, by their places; numbers in no group are released as they are."""
    if isinstance(mechanism.query, Choice):
        raise InvalidUtilityError(
            "a choice is no number and has no half-width; describe() says how far below the best score the chosen one"
            " may lie."
        )
    raise InvalidUtilityError(
        f"there is no rule for the half-width of {type(mechanism).__name__}; describe() says what is known of"
        " its errors."
    )


@groups_of.register
def _groups_of_per_coordinate(mechanism: PerCoordinate) -> dict[tuple[int, ...], Group]:
    alike: dict[Additive, Group] = {}
    made: dict[int, Group] = {}  # by object first: there may be a million numbers, and comparing parts takes time
    for part in mechanism.parts:
        if part is not None and id(part) not in made:
            made[id(part)] = alike.setdefault(part, Group((Spread(PartTail(part)),)))
    return {(i,): made[id(part)] for i, part in enumerate(mechanism.parts) if part is not None}


@groups_of.register
def _groups_of_norm_shaped(mechanism: NormShaped) -> dict[tuple[int, ...], Group]:
    found = {}
    for block in mechanism.blocks:
        order = block.order
        tail = ShellTail(block.size, block.rate) if order is None else RoundTail(block.size, block.rate, order)
        stretch, rooms = mechanism.stretch(block), [_room(block, step, mechanism.whole(block)) for step in block.steps]
        spreads = tuple(Spread(tail, step * stretch, room=room) for step, room in zip(block.steps, rooms, strict=True))
        found[tuple(block.places)] = Group(spreads, block)
    return found


def _room(block: NormBlock, step: Fraction, whole: bool) -> Fraction | None:
    """How much farther than a whole width what is spread may be.

    Rule: a half where each whole error owns the unit around it: for odd steps, and on shells, where all whole errors
    are as likely. Round noise on even steps owns the unit below, whose far end is the whole error itself.
    [theory#what-the-stated-error-means]
    """
    if not whole:
        return None
    return HALF if block.norm == "max" or step.numerator % 2 else Fraction(0)


@groups_of.register
def _groups_of_identical_noise(mechanism: IdenticalNoise) -> dict[tuple[int, ...], Group]:
    group = Group((Spread(PartTail(mechanism.part)),))
    return {(i,): group for i in range(mechanism.query.bins)}


@groups_of.register
def _groups_of_linear_gaussian(mechanism: LinearGaussian) -> dict[tuple[int, ...], Group]:
    """Rule: in the frame an error is Gaussian up to a step, half of it from rounding the answer, half the noise.
    [theory#errors-of-several-numbers]
    """
    std, step = mechanism.std, mechanism.step
    spreads = tuple(Spread(NormalTail(), std * _length(row), step * sum(map(abs, row))) for row in mechanism.inverse)
    return {tuple(range(len(spreads))): Group(spreads)}


@groups_of.register
def _groups_of_linear_laplace(mechanism: LinearLaplace) -> dict[tuple[int, ...], Group]:
    rows = zip(mechanism.rates, mechanism.steps, _biases(mechanism), strict=True)
    tails = ((GeometricTail(rate) if rate else NoTail(), step, bias) for rate, step, bias in rows)
    return {(k,): Group((Spread(tail, step, bias),)) for k, (tail, step, bias) in enumerate(tails)}


@groups_of.register
def _groups_of_linear_elliptical(mechanism: LinearElliptical) -> dict[tuple[int, ...], Group]:
    """Rule: a whole point is within sqrt(K)/2 of every point of its unit cube, so a query moves by as much.
    [theory#errors-of-several-numbers]
    """
    found, biases = {}, _biases(mechanism)
    for block in mechanism.blocks:
        size = len(block.rows)
        lengths = [_length(row) for row in block.decode]
        half_diagonal = _length((HALF,) * size) if block.share else Fraction(0)
        tail = RoundTail(size, block.rate) if block.share else NoTail()
        found[tuple(block.rows)] = Group(
            tuple(Spread(tail, f, f * half_diagonal + biases[k]) for k, f in zip(block.rows, lengths, strict=True))
        )
    return found


@groups_of.register
def _groups_of_column_gaussian(mechanism: ColumnGaussian) -> dict[tuple[int, ...], Group]:
    """Rule: a coordinate is Gaussian up to a cell, half of it from rounding the sum, half the noise.
    [theory#errors-of-several-numbers]
    """
    rows = zip(mechanism.decode, _biases(mechanism), strict=True)
    spreads = tuple(
        Spread(NormalTail(), mechanism.std * _length(row), sum(map(abs, row), Fraction(0)) + bias) for row, bias in rows
    )
    return {tuple(range(len(spreads))): Group(spreads)}


@groups_of.register(GaussianStrategy)
@groups_of.register(LaplaceStrategy)
def _groups_of_strategy(mechanism: Strategy) -> dict[tuple[int, ...], Group]:
    """Answers by least squares are weighted sums of independent noise, of proven variances."""
    if mechanism.count > _MOST_QUESTIONS or not mechanism.each_known:
        raise InvalidUtilityError(
            f"half-widths are stated for at most {_MOST_QUESTIONS} questions, looked at one by one; those of a"
            " release are in its `half_widths`."
        )
    tail, known, spreads = strategy_tail(mechanism), dict[float, Spread](), []
    for _, values, miss in mechanism.variances():
        for value in values.tolist():
            if value not in known:
                std = ball(Fraction(value) * (1 + miss)).sqrt()
                known[value] = Spread(tail, Fraction(rounded_up(upper(std), _STD_DIGITS)))
            spreads.append(known[value])
    return {tuple(range(len(spreads))): Group(tuple(spreads))}


def strategy_tail(mechanism: Strategy) -> Tail:
    """How rarely an answer of a strategy is so many of its deviations off."""
    least, fineness = min(mechanism.levels), mechanism.fineness
    if isinstance(mechanism, GaussianStrategy):
        return RoundedSumTail(1 / (least * fineness**2))
    rate = ball(-1 / (least * fineness))
    return LaplaceSumTail(upper(rate.expm1() ** 2 / (2 * rate.exp())))


def deviations(mechanism: Strategy, confidence: Fraction) -> float:
    """How many of its deviations every answer of a strategy is within, with a confidence.

    Rule: sums of rounded Gaussian noise are taken for Gaussian, of the variance that counts the rounding; what rounding
    can do at most besides is in `half_width`. Sums of Laplace noise have a tail that was proven.
    [theory#errors-of-several-numbers]
    """
    if isinstance(mechanism, GaussianStrategy):
        from scipy.special import ndtri

        return float(ndtri(float(1 + confidence) / 2))
    with precision():
        return rounded_up(strategy_tail(mechanism).within(1 - confidence), _STD_DIGITS)


def _biases(mechanism: LinearLaplace | LinearElliptical | ColumnGaussian) -> list[Fraction]:
    people = mechanism.query.people or USUAL_PEOPLE
    return [people * bias for bias in mechanism.biases()]


def _length(row: Sequence[Fraction]) -> Fraction:
    """A rational at or above the Euclidean length of a row."""
    return upper(ball(sum((v * v for v in row), Fraction(0))).sqrt())


def _block_inside(block: NormBlock, width: Fraction) -> Ball:
    """At most the chance that all errors of a block with the largest-coordinate norm stay within a width.

    Rule: on shell r they are independent and uniform up to step (r + 1/2). Shells are merged into runs, each counted
    at its last shell, where the chance is the smallest of the run; what lies beyond the last run counts as outside.
    [theory#errors-of-several-numbers]
    """
    radius, steps = ShellRadius(block.size, block.rate), Counter(block.steps)
    first = max(0, math.floor(width / max(steps) + HALF))  # every shell below it is wholly inside
    run = max(1, math.ceil(Fraction(block.size) / block.rate / _SHELLS))
    total, before = ball(0), ball(1)
    for start in range(first, first + run * 20 * _SHELLS, run):
        after = radius.sf(start - 1, BALLS)
        chance = ball(1)
        for step, times in steps.items():
            reach = width / (step * (start - HALF))
            chance *= ball(min(Fraction(1), reach)) ** times if start else 1
        total += (before - after) * chance
        before = after
        if bool(after < ball(Fraction(1, 10**15))):
            break
    return total

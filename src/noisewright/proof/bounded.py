"""Bounded mechanisms: every pair of rows that one person can turn into one another, and the mean that is guaranteed.

A release is a mixture over one uniform number of the rows that the answer is rounded to; for each
value of it, answers within the sensitivity reach rows that `Grid.reach` names. So a bound for those
pairs of rows is a bound for the release, answers between grid inputs and the ends included.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import singledispatch
from typing import Any

from noisewright.laws.bumps import FLAT, Steps
from noisewright.mechanisms.bounded.clamped import Clamped, Levels
from noisewright.mechanisms.bounded.composite import Blend, Composite
from noisewright.mechanisms.bounded.conditional import Conditional, Rows
from noisewright.mechanisms.bounded.truncated import Truncated
from noisewright.numerics.balls import Ball, ball, certainly_at_most, lower, precision, upper
from noisewright.numerics.fields import BALLS
from noisewright.problem.errors import UncertifiedError
from noisewright.problem.numbers import show
from noisewright.problem.privacy import PureDP
from noisewright.proof.provers import proves
from noisewright.proof.pure import extremes

_BITS = 192
_TRILLIONTH = Fraction(1, 10**12)
_SHOWN = 2**80
_MOST_STEPS = 1000


@proves(PureDP, Rows, Composite, Blend, Truncated)
def pure_bounded(mechanism: Any, requirement: PureDP) -> tuple[Fraction, str]:
    """Bound of the likelihood ratio over all pairs, refused if the allowed bias is exceeded."""
    bound, rule = bounded_ratio(mechanism, requirement.epsilon)
    allowed = mechanism.query.bias
    if allowed is not None and bound <= requirement.epsilon:
        bias = largest_bias(mechanism)
        if bias > allowed + _TRILLIONTH * mechanism.query.width:
            raise UncertifiedError(
                f"refused: the mean of the release is off by up to {show(bias)}, but the question allows"
                f" {show(allowed)}.",
                bias=bias,
                allowed=allowed,
            )
        rule += ", mean"
    return bound, rule


def largest_bias(mechanism: Conditional) -> Fraction:
    """An upper bound of |mean of the release - answer| over every answer in the input range.

    Rule: the mean is linear between grid inputs, so the largest bias stands at one of them. The
    mean of a row is read off the law that is drawn: value(last) minus the sum of the distribution
    function over the outputs below, each times the step to the next. [theory#answers-in-bounds]
    """
    with precision(_BITS):
        return max(_biases(mechanism))


@singledispatch
def _biases(mechanism: Any) -> Iterator[Fraction]:
    """Upper bounds of |mean - input|, one for each row."""
    raise UncertifiedError(f"there is no rule for the mean of {type(mechanism).__name__} mechanisms.")


@_biases.register
def _biases_of_rows(mechanism: Rows) -> Iterator[Fraction]:
    for i in range(mechanism.grid.last + 1):
        yield abs(mechanism.exact_moments(i)[0])


@_biases.register
def _biases_of_composite(mechanism: Composite) -> Iterator[Fraction]:
    # The distribution function is a difference quotient of `spread`, so its sum telescopes to the ends.
    top, scale = ball(mechanism.value(mechanism.last)), ball(mechanism.scale)
    for answer in mechanism.grid.points:
        shift = mechanism.shift(answer)
        area = mechanism.spread(shift, Fraction(1), BALLS) - mechanism.spread(shift, Fraction(-1), BALLS)
        yield upper(abs(top - scale * area - ball(answer)))


@_biases.register
def _biases_of_truncated(mechanism: Truncated) -> Iterator[Fraction]:
    low, high = mechanism.query.outputs
    for i, answer in enumerate(mechanism.grid.points):
        centre = mechanism.centre(i)
        area = mechanism.spread(centre, high, BALLS) - mechanism.spread(centre, low, BALLS)
        yield upper(abs(ball(high - answer) - area))


@_biases.register
def _biases_of_blend(mechanism: Blend) -> Iterator[Fraction]:
    for part in mechanism.parts:
        yield from _biases(part)


@singledispatch
def bounded_ratio(mechanism: Any, epsilon: Fraction) -> tuple[Fraction, str]:
    """Least proven bound on the log-ratio over all pairs of rows, and the rule that shows it."""
    raise UncertifiedError(f"there is no rule for mechanisms of type {type(mechanism).__name__}.")


@bounded_ratio.register
def _bounded_ratio_of_rows(mechanism: Rows, epsilon: Fraction) -> tuple[Fraction, str]:
    """Ratios of integers in every column, over the window of rows that each row can be turned into."""
    ends = mechanism.grid.reach(mechanism.query.reach)
    worst = max(_window_ratio(column, ends) for column in zip(*mechanism.weights, strict=True))
    return _log_of(worst, epsilon), "pure/rows-within-sensitivity"


def _window_ratio(column: tuple[int, ...], ends: list[int]) -> Fraction:
    """Largest ratio between two entries i <= j <= ends[i]."""
    top, bottom = 1, 1
    for high, low in extremes(column, column, ends):
        if not low and high:
            raise UncertifiedError("refused: an output is possible for one answer and impossible for its neighbour.")
        if low and high * bottom > top * low:
            top, bottom = high, low
    return Fraction(top, bottom)


@bounded_ratio.register
def _bounded_ratio_of_composite(mechanism: Composite, epsilon: Fraction) -> tuple[Fraction, str]:
    """Supremum over infimum of the densities; nested steps by how far one person moves them."""
    if mechanism.window not in (mechanism.query.inputs, mechanism.query.covered):
        raise UncertifiedError(
            "refused: the window of a composite mechanism must be the whole input range. A window as wide as the"
            " sensitivity that is placed near the data leaves outputs that only some data can produce, so its place"
            " reveals the data. Give window=inputs, or use the central piecewise form for a smaller sensitivity.",
            window=mechanism.window,
        )
    query = mechanism.query
    if isinstance(mechanism.activation, Steps) and mechanism.base == FLAT and query.reach < query.width:
        return _nested_ratio(mechanism, mechanism.activation, epsilon)
    with precision(_BITS):
        share = ball(mechanism.share)
        floor, top = mechanism.base.extremes(BALLS)
        peak = mechanism.activation.extremes(BALLS)[1]
        low, high = lower((1 - share) * floor), upper((1 - share) * top + share * peak)
    if low <= 0:
        raise UncertifiedError("refused: the base of a composite mechanism must be positive everywhere.")
    return _log_of(high / low, epsilon), "pure/supremum-over-infimum"


def _nested_ratio(mechanism: Composite, steps: Steps, epsilon: Fraction) -> tuple[Fraction, str]:
    """Largest ratio of heights whose steps lie less than the largest move of the activation apart."""
    if len(steps.heights) > _MOST_STEPS:
        raise UncertifiedError(f"refused: the rule for nested steps compares at most {_MOST_STEPS} of them.")
    grid = mechanism.grid
    x, ends = grid.points, grid.reach(mechanism.query.reach)
    move = max(mechanism.shift(x[j]) - mechanism.shift(x[i]) for i, j in enumerate(ends))
    floor = (1 - mechanism.share) / 2
    heights = [floor, *(floor + mechanism.share * h / steps.total for h in steps.heights), floor]
    worst = Fraction(1)
    for a in range(len(heights)):
        for b in range(a + 1, len(heights)):
            if steps.edges[b - 1] - steps.edges[a] >= move:
                break
            worst = max(worst, heights[a] / heights[b], heights[b] / heights[a])
    return _log_of(worst, epsilon), "pure/nested-steps"


@bounded_ratio.register
def _bounded_ratio_of_truncated(mechanism: Truncated, epsilon: Fraction) -> tuple[Fraction, str]:
    """The ratio of two rows is largest at an end of the outputs, for every pair of rows.

    Rule: for power >= 1 the ratio of two densities rises or falls throughout. Where noise is gathered at an end,
    the ratio of both masses there is a mean of the densities' ratios beyond it, so it is no less than any inside.
    [Liu19, theory#the-privacy-profile-of-one-number]
    """
    ends = mechanism.grid.reach(mechanism.query.reach)
    worst = Fraction(0)
    with precision(_BITS):
        for end in mechanism.query.outputs:
            logs = [_log_at_end(mechanism, mechanism.centre(i), end) for i in range(mechanism.grid.last + 1)]
            windows = extremes([upper(v) for v in logs], [lower(v) for v in logs], ends)
            worst = max(worst, *(high - low for high, low in windows))
    rule = "pure/truncated-at-ends" if mechanism.ends == "cut" else "pure/inflated-at-ends"
    bound = _rounded_up(worst)
    return min(bound, epsilon) if worst <= epsilon else bound, rule


def _log_at_end(mechanism: Truncated, centre: Fraction, end: Fraction) -> Ball:
    """Logarithm of the mass gathered at an end of the outputs, or of the density there."""
    if mechanism.ends == "inflated":
        return mechanism.gathered(abs(end - centre), BALLS).log()
    fall = BALLS.power(ball(abs(end - centre) / mechanism.scale), mechanism.power)
    return -fall - mechanism.total(centre, BALLS).log()


@bounded_ratio.register
def _bounded_ratio_of_blend(mechanism: Blend, epsilon: Fraction) -> tuple[Fraction, str]:
    """The coin does not depend on the data, so the larger of the two bounds holds for the blend."""
    bounds = [bounded_ratio(part, epsilon)[0] for part in mechanism.parts]
    return max(bounds), "pure/blend"


def _log_of(ratio: Fraction, epsilon: Fraction) -> Fraction:
    """A rational at or above ln(ratio), no larger than epsilon where the ball shows that it may be."""
    with precision(_BITS):
        value = ball(ratio).log()
        bound = _rounded_up(upper(value))
        return min(bound, epsilon) if certainly_at_most(value, ball(epsilon)) else bound


def _rounded_up(bound: Fraction) -> Fraction:
    """The bound with at most 80 binary places, for files."""
    return Fraction(-(-bound.numerator * _SHOWN // bound.denominator), _SHOWN)


@proves(PureDP, Clamped)
def pure_clamped(mechanism: Clamped, requirement: PureDP) -> tuple[Fraction, str]:
    """Bound of the likelihood ratio of any two answers within reach; the mean is right by the choice of the place.

    Rule: before clamping, which is post-processing, row k has weight w(y - k) at every lattice point y of one and the
    same set, with w even and falling outward, and one total for all rows. An answer x gets the mixture of rows floor(t)
    and floor(t) + 1 with share t - floor(t), where t is the place at which the line through the rows' means meets x. So
    its weight at y is g(y - t), with g the line through the values of w. The places of two answers are at most
    `largest_move` apart, and the weights at y have a ratio of at most `largest_ratio` of that.
    The mean of the mixture is that of the line, which is x. [theory#answers-in-bounds]
    """
    worst = largest_ratio(mechanism.levels, largest_move(mechanism))
    return _log_of(worst, requirement.epsilon), "pure/clamped-levels, mean"


def largest_move(mechanism: Clamped) -> Fraction:
    """How far apart, in steps, the places of two answers within reach of each other are at most.

    Rule: the line through the means rises by `slope` from row to row, so places are at most reach / step / (smallest
    slope) apart. What clamping takes off a slope, `beyond` at either end, is convex in the row; so the slope is
    smallest at the first or the last row that an answer uses. [theory#answers-in-bounds]
    """
    rows = (mechanism.place(end)[0] for end in mechanism.query.inputs)
    return mechanism.query.reach / mechanism.step / min(mechanism.slope(k) for k in rows)


def largest_ratio(levels: Levels, move: Fraction) -> Fraction:
    """The largest ratio of heights, drawn as a line g from whole number to whole number, at most a move apart.

    Rule: g is even and falls outward, so for |u - v| <= move the ratio g(u) / g(v) is at most g(p) / g(p + move) with
    p = min(|u|, |v|). Between places where p or p + move is whole both are linear, and the ratio of linear functions
    has no maximum inside. Of the whole p in a level the last has the smallest g(p + move); of the whole p + move in a
    level the first has the largest g(p), and where that p would be negative the ratio is at most that of p = 0.
    [theory#answers-in-bounds]
    """
    whole = move.numerator // move.denominator
    part, worst = move - whole, Fraction(1)
    for end in levels.ends:
        low = (1 - part) * levels.height(end + whole) + part * levels.height(end + whole + 1)
        worst = max(worst, levels.height(end) / low)
        after = end + 1
        if after >= move:
            high = (1 - part) * levels.height(after - whole) + part * levels.height(after - whole - 1)
            worst = max(worst, high / levels.height(after))
    return worst

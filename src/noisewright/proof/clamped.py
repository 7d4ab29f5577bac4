"""Clamped noise in levels: how far one person moves its place, and the largest ratio of heights within that."""

from __future__ import annotations

from fractions import Fraction

from noisewright.mechanisms.bounded.clamped import Clamped, Levels
from noisewright.numerics.balls import ball, certainly_at_most, precision, upper
from noisewright.problem.privacy import PureDP
from noisewright.proof.provers import proves

_BITS = 192
_SHOWN = 2**80


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
    with precision(_BITS):
        value = ball(worst).log()
        above = upper(value)
        bound = Fraction(-(-above.numerator * _SHOWN // above.denominator), _SHOWN)
        if certainly_at_most(value, ball(requirement.epsilon)):
            bound = min(bound, requirement.epsilon)
    return bound, "pure/clamped-levels, mean"


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

"""What no mechanism can beat, proven in balls.

Each bound holds for every epsilon-DP noise law on the same kind of answers, and for an unbounded
range in the worst case for every mechanism. For whole-number answers it is over mechanisms that release whole
numbers; half-integers can do better (`search.designers.halves`).
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from noisewright.numerics.balls import Ball, ball, lower, precision, upper
from noisewright.numerics.fields import BALLS
from noisewright.numerics.series import geometric_power_sum
from noisewright.problem.errors import SolverError
from noisewright.problem.queries import Scalar
from noisewright.problem.utilities import PowerError, Usefulness
from noisewright.problem.utility import Utility
from noisewright.search.bounds.chain import loss_grid
from noisewright.search.families.staircase import best_half, best_split, integer_staircase, smallest_integer_width

_SMALL = Fraction(1, 100)
_SHRINKS = [Fraction(1, 10**digits) for digits in (10, 9, 8, 7, 6, 5, 4)]


def best_possible(query: Scalar, epsilon: Fraction, utility: Utility) -> Fraction:
    """The bound in the utility's own units: a lower bound of a cost, an upper bound of a usefulness."""
    if utility.tabulated:
        return loss_grid(query, epsilon, utility).lower_bound()
    with precision():
        if query.integer:
            return _integer_bound(query, epsilon, utility)
        scaled = utility.scaled(query.sensitivity)
        factor = BALLS.power(ball(query.sensitivity), utility.degree)
        if scaled.edges:
            return min(Fraction(1), upper(usefulness_optimum(scaled.edges[0], epsilon)))
        if scaled.confidence is not None:
            return max(Fraction(0), lower(quantile_optimum(scaled.confidence, epsilon) * factor))
        return lower(power_bound(scaled.power, epsilon) * factor)


def usefulness_optimum(within: Fraction, epsilon: Fraction) -> Ball:
    """Largest P(|X| <= k + s) = 1 - b^(k+1) / (b + s (1 - b)), for real answers and sensitivity 1."""
    whole = math.floor(within)
    b = (-ball(epsilon)).exp()
    return 1 - b ** (whole + 1) / (b + ball(within - whole) * (1 - b))


def quantile_optimum(confidence: Fraction, epsilon: Fraction) -> Ball:
    """Smallest half-width k + s with s = (b^(k+1)/(1-c) - b) / (1 - b), for real answers and sensitivity 1."""
    outside = ball(1 - confidence)
    whole = math.floor(lower(-outside.log() / ball(epsilon)))
    b = (-ball(epsilon)).exp()
    return whole + (b ** (whole + 1) / outside - b) / (1 - b)


def power_bound(power: Fraction, epsilon: Fraction) -> Ball:
    """A ball whose lower end bounds E|X|^power from below, for real answers and sensitivity 1.

    Rule: the loss of the staircase with split g is (1-b) (b A(1) + (1-b) A(g)) / (g + b(1-g)) with A
    convex, so a tangent of A bounds it by a ratio of linear functions, smallest at g = 0 or 1.
    """
    if epsilon < _SMALL and power.denominator != 1:
        return _tail_bound(power, epsilon)
    b = (-ball(epsilon)).exp()
    touch = Fraction(best_split(PowerError(power), epsilon)).limit_denominator(2**60)

    def series(start: Fraction, exponent: Fraction) -> Ball:
        return geometric_power_sum(BALLS, epsilon, start, Fraction(1), exponent)

    origin = series(Fraction(0), power + 1)
    area = (series(touch, power + 1) - origin) / ball(power + 1)
    whole = (series(Fraction(1), power + 1) - origin) / ball(power + 1)
    slope = series(touch, power)
    at_zero = (1 - b) * (b * whole + (1 - b) * (area - slope * ball(touch))) / b
    at_one = (1 - b) * (b * whole + (1 - b) * (area + slope * ball(1 - touch)))
    return at_zero.min(at_one)


def _tail_bound(power: Fraction, epsilon: Fraction) -> Ball:
    """The same from tails: P(|X| > k + s) >= b^(k+1) / (b + s(1-b)), which is at least kappa e^(-epsilon (k+s)).

    kappa = min over s of b^(1-s) / (b + s(1-b)); the minimum is where the derivative vanishes.
    """
    e = ball(epsilon)
    b = (-e).exp()
    # With t = b + s(1-b) the logarithm of the ratio is e (s - 1) - ln t; zero slope at t = (1-b)/e.
    t = (1 - b) / e
    s = (t - b) / (1 - b)
    kappa = (e * (s - 1)).exp() / t
    return kappa * BALLS.gamma(power + 1) / BALLS.power(e, power)


def _integer_bound(query: Scalar, epsilon: Fraction, utility: Utility) -> Fraction:
    if utility.confidence is not None:
        return _integer_quantile(query, epsilon, utility.confidence)
    half = best_half(query, epsilon, utility)
    sign = -1 if utility.larger_is_better else 1
    window = range(max(0, half - 3), half + 4)
    weights, values = zip(*(_weight_and_value(query, epsilon, utility, h) for h in window), strict=True)
    bound = min(lower(sign * v) for v in values)
    if _turns_within(window, [w * (sign * v - ball(bound)) for w, v in zip(weights, values, strict=True)]):
        return sign * bound
    return Fraction(1) if utility.larger_is_better else _wide_bound(query, epsilon, utility, half)


def _weight_and_value(query: Scalar, epsilon: Fraction, utility: Utility, half: int) -> tuple[Ball, Ball]:
    mechanism = integer_staircase(query, epsilon, half)
    density: Any = mechanism.error_density
    return density.mass_total(BALLS), mechanism.expected(utility, BALLS)


def _turns_within(window: range, excess: list[Ball]) -> bool:
    """Whether the excess weight * (value - bound), convex in the half-size, falls before the window and rises after."""
    return bool(excess[-1] >= excess[-2]) and (window[0] == 0 or bool(excess[0] >= excess[1]))


def _wide_bound(query: Scalar, epsilon: Fraction, utility: Utility, half: int) -> Fraction:
    """A slightly lower bound where neighbouring half-sizes cannot be told apart: from three that are far apart.

    Rule: a convex excess that is larger at half-sizes a and c than at m = (a + c) / 2 is nowhere
    below 2 E(m) - max(E(a), E(c)).
    """
    reach = 4
    farthest = 4 * query.sensitivity / min(epsilon, Fraction(1))
    while reach <= farthest:
        first = max(0, half - reach)
        points = [_weight_and_value(query, epsilon, utility, first + i * reach) for i in range(3)]
        for shrink in _SHRINKS:
            bound = lower(points[1][1]) * (1 - shrink)
            left, middle, right = (w * (v - ball(bound)) for w, v in points)
            turns = bool(right >= middle) and (first == 0 or bool(left >= middle))
            if turns and bool(2 * middle >= left) and bool(2 * middle >= right):
                return bound
        reach *= 4
    raise SolverError("the bound for integer answers could not be proven; report this problem.")


def _integer_quantile(query: Scalar, epsilon: Fraction, confidence: Fraction) -> Fraction:
    """Smallest whole w whose best usefulness is not certainly below the confidence."""
    width = smallest_integer_width(query, epsilon, confidence)
    while width > 0 and _integer_bound(query, epsilon, Usefulness(width - 1)) >= confidence:
        width -= 1
    return Fraction(width)

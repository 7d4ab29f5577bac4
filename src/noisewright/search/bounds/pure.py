"""What no mechanism can beat, proven in interval arithmetic.

Each bound holds for every epsilon-DP noise law on the same kind of answers, and for an unbounded
range in the worst case for every mechanism. For whole-number answers it is over mechanisms that release whole
numbers; half-integers can do better (`search.designers.halves`).

For a choice, let candidate i lead all others by h sensitivities: its score is h/2 sensitivities above and all others as
much below a common value. One person turns a lead of h into one of h + 2. Write q_h for the chance to choose the
leader, averaged over which of the n candidates leads. Epsilon-DP says q_(h+2) <= e^epsilon q_h and
1 - q_h <= e^epsilon (1 - q_(h+2)). So for every i from 0 to j

    1 - q_(h+2j)  >=  (1 - q_h e^(i epsilon)) e^(-(j - i) epsilon),

and some case is missed at least so often. A start is h = 0, where nobody leads, the n cases are one, and q_0 = 1/n.
Another is h = 1: one person makes any other candidate the leader, so (n - 1) q_1 <= e^epsilon (1 - q_1).
The right side is largest where q_h e^(i epsilon) is near 1/2; its logarithm is concave in j. Floats choose i and j,
which are valid whatever they are.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from noisewright.mechanisms.base import Errors
from noisewright.numerics.balls import Ball, ball, lower, precision, upper
from noisewright.numerics.bisection import gallop, turn
from noisewright.numerics.fields import BALLS, Field
from noisewright.numerics.special import geometric_power_sum
from noisewright.problem.errors import SolverError
from noisewright.problem.privacy import PureDP
from noisewright.problem.queries import Choice, Scalar
from noisewright.problem.utilities import PowerError, Usefulness, Utility
from noisewright.search.bounds.chain import loss_grid
from noisewright.search.families.scalar_pure import best_half, best_split, integer_staircase, smallest_integer_width

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
    [GengViswanath16, theory#the-optimum]
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
    weights, values = [], []
    for near in window:
        weight, value = _weight_and_value(query, epsilon, utility, near)
        weights.append(weight)
        values.append(value)
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
    below 2 E(m) - max(E(a), E(c)). [GengViswanath16, theory#the-optimum]
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


def best_choice(query: Choice, privacy: PureDP, utility: Utility) -> Fraction:
    """A bound on the utility of the shortfall, at the worst scores, of every epsilon-DP choice."""
    with precision():
        value = utility.under(Leads(len(query.candidates), query.sensitivity, privacy.epsilon), BALLS)
        return min(Fraction(1), upper(value)) if utility.larger_is_better else max(Fraction(0), lower(value))


class Leads(Errors):
    """The shortfall that no private choice among `size` candidates can avoid, at the leads above."""

    __slots__ = ("epsilon", "size", "unit")

    def __init__(self, size: int, unit: Fraction, epsilon: Fraction) -> None:
        self.size, self.unit, self.epsilon = size, unit, epsilon

    def power_means(self, power: Fraction, field: Field) -> list[Ball]:
        leads = [_peak(self.size, self.epsilon, power, start) for start in (0, 1)]
        costs = [ball(self.unit * lead) ** ball(power) * _miss_chance(self.size, self.epsilon, lead) for lead in leads]
        return [costs[0].max(costs[1])]

    def chances(self, limits: tuple[Fraction, ...], field: Field) -> list[Ball]:
        return [1 - _miss_chance(self.size, self.epsilon, limit // self.unit + 1) for limit in limits]

    def half_width(self, confidence: Fraction, field: Field) -> Ball:
        return ball(self.unit * _farthest(self.size, self.epsilon, 1 - confidence))


def _miss_chance(size: int, epsilon: Fraction, lead: int) -> Ball:
    """Every private choice misses some leader by `lead` sensitivities with at least this chance."""
    steps, e = lead // 2, ball(epsilon)
    start = 1 / ball(size) if lead % 2 == 0 else 1 / (1 + (size - 1) * (-e).exp())
    best = max(0.0, -math.log(2 * float(start.mid())) / float(epsilon))
    turns = {min(steps, math.floor(best)), min(steps, math.ceil(best))}
    chances = [(1 - start * (i * e).exp()) * (-(steps - i) * e).exp() for i in turns]
    return chances[0].max(chances[-1])


def _farthest(size: int, epsilon: Fraction, rest: Fraction) -> int:
    """The largest lead found that is missed with more than the remaining probability."""

    def near(lead: int) -> bool:
        return not bool(_miss_chance(size, epsilon, lead) > ball(rest))

    return turn(near, *gallop(near, 0, 1))[0]


def _peak(size: int, epsilon: Fraction, power: Fraction, start: int) -> int:
    """The lead, with the parity of the start, that has nearly the largest lead^power times its missed chance."""

    def height(step: int) -> float:
        chance = _miss_chance(size, epsilon, start + 2 * step)
        known = start + step > 0 and bool(chance > 0)
        return float(power) * math.log(start + 2 * step) + float(chance.log().mid()) if known else -math.inf

    def falls(step: int) -> bool:
        return height(step + 1) <= height(step)

    return start + 2 * max(turn(falls, *gallop(falls, 0, 1)), key=height)

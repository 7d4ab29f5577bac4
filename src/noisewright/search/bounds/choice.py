"""What no private choice can beat.

Let candidate i lead all others by h sensitivities: its score is h/2 sensitivities above and all others as much below a
common value. One person turns a lead of h into one of h + 2. Write q_h for the chance to choose the leader, averaged
over which of the n candidates leads. Epsilon-DP says q_(h+2) <= e^epsilon q_h and 1 - q_h <= e^epsilon (1 - q_(h+2)).
So for every i from 0 to j

    1 - q_(h+2j)  >=  (1 - q_h e^(i epsilon)) e^(-(j - i) epsilon),

and some case is missed at least so often. A start is h = 0, where nobody leads, the n cases are one, and q_0 = 1/n.
Another is h = 1: one person makes any other candidate the leader, so (n - 1) q_1 <= e^epsilon (1 - q_1).
The right side is largest where q_h e^(i epsilon) is near 1/2; its logarithm is concave in j. Floats choose i and j,
which are valid whatever they are.
"""

from __future__ import annotations

import math
from fractions import Fraction

from noisewright.mechanisms.base import Errors
from noisewright.numerics.balls import Ball, ball, lower, precision, upper
from noisewright.numerics.bisection import gallop, turn
from noisewright.numerics.fields import BALLS, Field
from noisewright.problem.privacy import PureDP
from noisewright.problem.queries import Choice
from noisewright.problem.utility import Utility


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
        costs = [ball(self.unit * lead) ** ball(power) * _missed(self.size, self.epsilon, lead) for lead in leads]
        return [costs[0].max(costs[1])]

    def chances(self, limits: tuple[Fraction, ...], field: Field) -> list[Ball]:
        return [1 - _missed(self.size, self.epsilon, limit // self.unit + 1) for limit in limits]

    def half_width(self, confidence: Fraction, field: Field) -> Ball:
        return ball(self.unit * _farthest(self.size, self.epsilon, 1 - confidence))


def _missed(size: int, epsilon: Fraction, lead: int) -> Ball:
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
        return not bool(_missed(size, epsilon, lead) > ball(rest))

    return turn(near, *gallop(near, 0, 1))[0]


def _peak(size: int, epsilon: Fraction, power: Fraction, start: int) -> int:
    """The lead, with the parity of the start, that has nearly the largest lead^power times its missed chance."""

    def height(step: int) -> float:
        chance = _missed(size, epsilon, start + 2 * step)
        known = start + step > 0 and bool(chance > 0)
        return float(power) * math.log(start + 2 * step) + float(chance.log().mid()) if known else -math.inf

    def falls(step: int) -> bool:
        return height(step + 1) <= height(step)

    return start + 2 * max(turn(falls, *gallop(falls, 0, 1)), key=height)

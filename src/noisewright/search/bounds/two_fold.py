"""The proof that no second fold does better: the dual inequality, checked in balls for every rate."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

from noisewright.numerics.balls import Ball, ball, hull, precision
from noisewright.numerics.fields import BALLS
from noisewright.problem.errors import SolverError
from noisewright.problem.utilities import Utility
from noisewright.search.families.two_fold import TwoFoldOptimum

_SLACK = Fraction(1, 10**9)
_MOST_BOXES = 50_000
_MOST_DOUBLINGS = 400


def proven_cost(optimum: TwoFoldOptimum) -> Fraction:
    """A rational v, a billionth below the optimum's cost, that no epsilon-DP second fold undercuts.

    Rule: weak duality. If phi(u) + m h(u) >= v for every u > 0 with m >= 0, then E phi(u) >= v for
    every law of u with E h(u) <= 0, which is what privacy says (theory of two-fold noise).
    [theory#when-a-second-fold-cannot-help]
    Guarantees: the inequality was shown in balls on boxes that cover all u > 0.
    Raises SolverError where it could not be shown.
    """
    multiplier = Fraction(optimum.multiplier)
    claim = Fraction(optimum.cost) * (1 - _SLACK)
    check_inequality(optimum.utility, optimum.epsilon, multiplier, claim)
    return claim


def check_inequality(utility: Utility, epsilon: Fraction, multiplier: Fraction, claim: Fraction) -> int:
    """Show phi(u) + multiplier h(u) >= claim for every u > 0; returns how many boxes it took, or raises."""
    if multiplier < 0:
        raise SolverError("the multiplier of a dual certificate must not be negative.")
    with precision():
        dual = _Dual(utility, epsilon, multiplier, claim)
        low, high = dual.lowest(), dual.highest()
        boxes, pending = 0, _geometric(low, high)
        while pending:
            a, b = pending.pop()
            boxes += 1
            if boxes > _MOST_BOXES:
                raise SolverError("the optimality of two-fold noise could not be proven within the allowed work.")
            if not dual.holds(a, b):
                middle = (a + b) / 2
                if b - a < a / 2**60 or dual.fails_at(middle):
                    raise SolverError("the dual certificate of two-fold noise does not hold.", at=float(middle))
                pending += [(a, middle), (middle, b)]
    return boxes


class _Dual:
    """phi(u) + m h(u) and its derivative, in balls."""

    def __init__(self, utility: Utility, epsilon: Fraction, multiplier: Fraction, claim: Fraction) -> None:
        self._utility, self._start = utility, epsilon
        self._epsilon, self._multiplier, self._claim = ball(epsilon), ball(multiplier), ball(claim)

    def holds(self, a: Fraction, b: Fraction) -> bool:
        """Whether the inequality certainly holds on [a, b], by the mean value form."""
        box, middle = hull(ball(a), ball(b)), ball((a + b) / 2)
        value = self._value(middle) + self._derivative(box) * (box - middle)
        return bool(value >= self._claim)

    def fails_at(self, u: Fraction) -> bool:
        """Whether the inequality certainly fails at a point."""
        return bool(self._value(ball(u)) < self._claim)

    def lowest(self) -> Fraction:
        """A rate below which it holds, because phi decreases and h(u) >= -u e^epsilon."""
        for u in (self._start / (1 << i) for i in range(_MOST_DOUBLINGS)):
            point = ball(u)
            if bool(self._cost(point) - self._multiplier * point * self._epsilon.exp() >= self._claim):
                return u
        raise SolverError("the dual certificate of two-fold noise has no lower end.")

    def highest(self) -> Fraction:
        """A rate above which it holds, because phi >= 0 and h increases beyond epsilon."""
        for u in (self._start * (2 << i) for i in range(_MOST_DOUBLINGS)):
            if bool(self._multiplier * self._excess(ball(u)) >= self._claim):
                return u
        raise SolverError("the dual certificate of two-fold noise has no upper end.")

    def _value(self, u: Ball) -> Ball:
        return self._cost(u) + self._multiplier * self._excess(u)

    def _derivative(self, u: Ball) -> Ball:
        decay = (self._epsilon - u).exp()
        return self._cost_slope(u) + self._multiplier * (1 - decay + u * decay)

    def _excess(self, u: Ball) -> Ball:
        return u * (1 - (self._epsilon - u).exp())

    def _cost(self, u: Ball) -> Ball:
        if self._utility.edges:
            return (-u * ball(self._utility.edges[0])).exp()
        return BALLS.gamma(self._utility.power + 1) / BALLS.power(u, self._utility.power)

    def _cost_slope(self, u: Ball) -> Ball:
        if self._utility.edges:
            return -ball(self._utility.edges[0]) * self._cost(u)
        return -ball(self._utility.power) * self._cost(u) / u


def _geometric(low: Fraction, high: Fraction) -> list[tuple[Fraction, Fraction]]:
    edges = [low]
    while edges[-1] < high:
        edges.append(min(edges[-1] * Fraction(5, 4), high))
    return list(pairwise(edges))

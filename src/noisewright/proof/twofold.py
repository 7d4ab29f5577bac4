"""Renyi divergences of two-fold noise: by rigorous sums."""

from __future__ import annotations

import heapq
import math
from fractions import Fraction
from functools import cache
from itertools import count
from typing import Any

from noisewright.laws.two_fold import Fold, TwoFold
from noisewright.numerics.balls import Ball, ball, hull, precision, upper
from noisewright.numerics.fields import BALLS
from noisewright.problem.errors import InvalidPrivacyError

_BITS = 128
_MOST_CELLS = 6000
_TOLERANCE = 2e-5
_FIRST_CELLS = 24
_GRID = 2**40


def renyi_ball(law: TwoFold, shift: Fraction, alpha: Fraction) -> Ball:
    """An enclosure of the divergence of order alpha between the law and its shift, alpha > 0.

    Rule: with g the density to the right of zero, the ratio f(x)/f(x - s) is monotone on each of x < 0,
    0 < x < s and x > s, because ln g is convex. So on a cell the integral of f r^(alpha-1) lies between
    its probability times the two end values; cells are split where that leaves the most open.
    [theory#the-privacy-profile-of-one-number]
    """
    if alpha <= 0:
        raise InvalidPrivacyError(f"the order is {float(alpha):.6g}; a Renyi divergence needs a positive order.")
    with precision(_BITS):
        moment = _Moment(law.fold, shift, alpha).enclosed()
        if alpha == 1:
            return moment
        return moment.log() / ball(alpha - 1)


def two_fold_renyi(law: TwoFold, alpha: Fraction, reach: Fraction) -> tuple[Fraction, str]:
    """Upper bound of the divergence over all shifts up to `reach`.

    The largest shift is the worst: for t >= 0 the best set {f(x) > e^t f(x - s)} is an interval (-a, b)
    around zero, and the derivative of its advantage in s is e^t (g(s - b) - g(s + a)) >= 0, since g does not
    increase; the divergence is a positive mixture of such advantages.
    """
    bound = upper(renyi_ball(law, reach, alpha))
    return Fraction(math.ceil(bound * _GRID), _GRID), "renyi/two-fold"


class _Moment:
    """The integral of f(x) h(f(x)/f(x - s)) with h(r) = r^(alpha - 1), or ln r at order 1."""

    def __init__(self, fold: Fold, shift: Fraction, alpha: Fraction) -> None:
        self._fold, self._shift, self._alpha = fold, shift, alpha
        self._numbers = count()
        # Neighbouring cells share their ends.
        self._tail = cache(lambda x: fold.transform(ball(x), BALLS))
        self._height = cache(self._fresh_height)

    def enclosed(self) -> Ball:
        heap: list[tuple[float, int, Any]] = []
        for cell in [self._cell(region, a, b) for region in "lmr" for a, b in self._first_cells(region)]:
            self._push(heap, cell)
        used = len(heap)
        open_part = sum(-item[0] for item in heap)
        while open_part > _TOLERANCE and used < _MOST_CELLS:
            width, _, (region, a, b, _, _) = heapq.heappop(heap)
            open_part += width
            middle = (a + b) / 2 if b is not None else 2 * a + self._shift
            for cell in (self._cell(region, a, middle), self._cell(region, middle, b)):
                open_part -= self._push(heap, cell)
            used += 1
        total = ball(0)
        for _, _, (_, _, _, low, high) in heap:
            total = total + hull(low, high)
        return total

    def _push(self, heap: list[tuple[float, int, Any]], cell: Any) -> float:
        width = -abs(float((cell[4] - cell[3]).mid()))
        # The running number keeps the order, and with it the proven bound, the same every time.
        heapq.heappush(heap, (width, next(self._numbers), cell))
        return width

    def _first_cells(self, region: str) -> list[tuple[Fraction, Fraction | None]]:
        step = self._shift / _FIRST_CELLS
        inner: list[tuple[Fraction, Fraction | None]] = [(i * step, (i + 1) * step) for i in range(_FIRST_CELLS)]
        return inner if region == "m" else [*inner, (self._shift, None)]

    def _cell(self, region: str, a: Fraction, b: Fraction | None) -> Any:
        start = self._shift if region == "r" else Fraction(0)
        mass = (self._tail(a + start) - (ball(0) if b is None else self._tail(b + start))) / 2
        # Far out the ratio lies between its value at the start of the cell and 1.
        limit = ball(0) if self._alpha == 1 else ball(1)
        return region, a, b, mass * self._height(region, a), mass * (limit if b is None else self._height(region, b))

    def _fresh_height(self, region: str, y: Fraction) -> Ball:
        """h of the ratio at one end of a cell."""
        here, other = {"l": (y, y + self._shift), "m": (y, self._shift - y), "r": (y + self._shift, y)}[region]
        ratio = self._fold.slope(ball(here), BALLS) / self._fold.slope(ball(other), BALLS)
        return ratio.log() if self._alpha == 1 else BALLS.power(ratio, self._alpha - 1)

"""Privacy losses of one noise under one shift, as masses on a grid that are at least as bad as the truth.

X has density f, P is its law and Q that of X - shift. A table is a pair of laws on the grid that *dominates* (P, Q):
its hockey-stick divergence is at least theirs at every real epsilon.

Rule: if on a set the loss ln P/Q lies between a and b, replace the part of (P, Q) on it by two points of losses a
and b with the same P and Q masses. What a convex function of the ratio Q/P is worth on average can only grow, and the
hockey-stick divergence E_P (1 - e^epsilon Q/P)+ is one (conditionally on the set, Jensen's inequality read backwards:
a chord lies above its curve). Raising a loss, adding mass or rounding masses up makes a pair no better either.
The error of a cell is of second order in its width. [DoroshenkoEtAl22, theory#privacy-loss-distributions]

By symmetry the loss at -x - shift is minus that at x, so only x >= -shift/2 is looked at: two points (a, p) and (b, q)
there stand for (-a, p e^-a) and (-b, q e^-b) on the other side.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import singledispatch
from itertools import pairwise
from typing import Any

from noisewright.laws.gaussian import DiscreteGaussian
from noisewright.laws.laplace import DiscreteLaplace, Laplace, TruncatedLaplace
from noisewright.laws.tabulated import Tabulated
from noisewright.numerics.balls import Ball, ball, ceil_scaled, lower, upper
from noisewright.numerics.bisection import first_true
from noisewright.numerics.fields import BALLS, FLOATS
from noisewright.problem.errors import UncertifiedError
from noisewright.proof.approximate import cells_within, integer_sensitivity
from noisewright.proof.pure import pure_bound

MASS_BITS = 96
WORKING_BITS = 160
NEGLIGIBLE = 2.0**-76
_PROBES = 100
NO_LOSS = Fraction(0)


@dataclass(frozen=True, slots=True)
class RandomizedResponse:
    """Losses of +bound and -bound: no noise with this pure bound is told apart better (Kairouz, Oh and Viswanath)."""

    bound: Fraction


@dataclass(frozen=True, slots=True)
class LossTable:
    """masses[i] 2^-96 at a loss of (first + i) cells and `slack` more; `infinite` 2^-96 where Q has no mass."""

    masses: list[int]
    first: int
    infinite: int = 0
    slack: Fraction = NO_LOSS


class LossTableBuilder:
    """Masses that are being collected, at both signs of the loss."""

    def __init__(self, cell: Fraction, slack: Fraction = NO_LOSS) -> None:
        self._cell, self._slack = cell, slack
        self._masses: Counter[int] = Counter()
        self._infinite = 0

    def add(self, p: Ball, q: Ball, low: int, high: int | None, *, mirrored: bool = True) -> None:
        """A set of these masses whose loss is between grid points, up to the slack; no `high`: it may be infinite.

        A mirrored set stands for its mirror image too.
        """
        if low == high and not self._slack:
            self._put(low, p, self._cell * low, mirrored=mirrored)
            return
        least = self._cell * low - self._slack
        if high is None:
            near = ball(least).exp() * q
            self._infinite += _units(p - near)
            # The mirror image of an infinite loss has no mass.
            self._put(low, near, least, mirrored=mirrored)
            return
        most = self._cell * high + self._slack
        far = (p - ball(least).exp() * q) / -ball(least - most).expm1()
        self._put(high, far, most, mirrored=mirrored)
        self._put(low, p - far, least, mirrored=mirrored)

    def _put(self, place: int, mass: Ball, loss: Fraction, *, mirrored: bool) -> None:
        self._masses[place] += _units(mass)
        if mirrored:
            self._masses[-place] += _units(mass * ball(-loss).exp())

    def losses(self) -> LossTable:
        first, last = min(self._masses), max(self._masses)
        masses = [self._masses[i] for i in range(first, last + 1)]
        return LossTable(masses, first, self._infinite, self._slack)


def _units(mass: Ball) -> int:
    """A mass that is known to be at least 0, rounded up."""
    return max(0, ceil_scaled(mass, MASS_BITS))


@singledispatch
def loss_masses(law: Any, shift: Fraction, cell: Fraction) -> LossTable:
    """The table of a symmetric log-concave law: its loss does not decrease in x.

    The knots are floats near the places where the loss passes the multiples of the cell; how far the loss is from
    them, in balls, is the slack. The loss between two knots is between two multiples, give or take the slack.
    Valid for: laws with `drop` and `sf`; call within `precision(WORKING_BITS)`.
    """
    end = law.bound - shift if isinstance(law, TruncatedLaplace) else None
    if end is not None and end <= -shift / 2:
        return LossTable([0], 0, 1 << MASS_BITS)
    top = largest_loss(law, shift)
    knots = _knots(law, shift, cell, end, top)
    slack = _slack(law, shift, cell, knots)
    grid = LossTableBuilder(cell, slack)
    places = [-shift / 2, *knots, *([] if end is None else [end])]
    tails = [(law.sf(t, BALLS), law.sf(t + shift, BALLS)) for t in places]
    highest = None if top is None else math.ceil(top / cell)
    if end is None:
        tails.append((ball(0), ball(0)))
    else:
        grid.add(tails[-1][0], ball(0), 0, None)
    for j in range(len(tails) - 1):
        (p, q), (beyond_p, beyond_q) = tails[j], tails[j + 1]
        last = j == len(tails) - 2
        grid.add(p - beyond_p, q - beyond_q, j, highest if last else j + 1)
    return grid.losses()


def largest_loss(law: Any, shift: Fraction) -> Fraction | None:
    """The supremum of the finite losses, None where there is none."""
    if isinstance(law, RandomizedResponse):
        return law.bound
    return shift / law.scale if isinstance(law, TruncatedLaplace) else bounded_loss(law, shift)


def bounded_loss(law: Any, shift: Fraction) -> Fraction | None:
    """The pure bound of a law, None where it has none."""
    try:
        return pure_bound(law, shift)[0]
    except UncertifiedError:
        return None


def _knots(law: Any, shift: Fraction, cell: Fraction, end: Fraction | None, top: Fraction | None) -> list[Fraction]:
    """Floats near the places where the loss passes 1, 2, … cells, as far as there is mass worth telling apart."""
    moved, width = float(shift), float(cell)
    far = outermost(law) if end is None else float(end)

    def loss(x: float) -> float:
        return float(law.drop(x, moved, FLOATS))

    probes = _probes(moved, far)
    losses = [loss(x) for x in probes]
    count = math.floor(losses[-1] / width)
    if top is not None:
        count = min(count, math.ceil(top / cell) - 1)
    found = []
    for j in range(1, count + 1):
        after = min(max(bisect_left(losses, j * width), 1), len(probes) - 1)
        found.append(Fraction(_solved(loss, probes[after - 1], probes[after], j * width)))
    return sorted(min(max(t, -shift / 2), t if end is None else end) for t in found)


def _probes(shift: float, far: float) -> list[float]:
    """Places from the middle outward, half of them within one shift."""
    start, near = -shift / 2, min(far, shift)
    inner = [start + (near - start) * i / _PROBES for i in range(_PROBES + 1)]
    outer = [near + (far - near) * i / _PROBES for i in range(1, _PROBES + 1)]
    return sorted({*inner, *outer, min(0.0, far)})


def outermost(law: Any) -> float:
    """A float beyond which a law of scale 1 has hardly any mass."""
    return first_true(lambda x: float(law.sf(x, FLOATS)) < NEGLIGIBLE, 0.0, 1e9, relative=1e-3)


def _solved(loss: Callable[[float], float], low: float, high: float, target: float) -> float:
    """False position, a stale end counting half; whatever it returns, the slack says how good it is."""
    below, above, place, stale = loss(low) - target, loss(high) - target, high, 0
    for _ in range(20):
        if not below < above:
            break
        place = (low * above - high * below) / (above - below)
        value = loss(place) - target
        if abs(value) <= 1e-13 * target or not low < place < high:
            break
        if value <= 0:
            low, below, above, stale = place, value, above / 2 if stale < 0 else above, -1
        else:
            high, above, below, stale = place, value, below / 2 if stale > 0 else below, 1
    return place


def _slack(law: Any, shift: Fraction, cell: Fraction, knots: list[Fraction]) -> Fraction:
    """A power of two at or above the distance of the loss at every knot from its multiple of the cell."""
    worst = Fraction(1, 1 << WORKING_BITS // 2)
    for j, t in enumerate(knots, 1):
        worst = max(worst, upper(abs(law.drop(t, shift, BALLS) - ball(j * cell))))
    return Fraction(2) ** math.ceil(math.log2(worst) + 1e-9)


@loss_masses.register
def _loss_masses_of_randomized_response(law: RandomizedResponse, shift: Fraction, cell: Fraction) -> LossTable:
    """The bound with probability e^bound / (1 + e^bound), minus it else; both with the shares exchanged under Q."""
    grid, grown = LossTableBuilder(cell), ball(law.bound).exp()
    grid.add(grown / (1 + grown), 1 / (1 + grown), math.floor(law.bound / cell), math.ceil(law.bound / cell))
    return grid.losses()


@singledispatch
def spread(law: Any, shift: Fraction) -> tuple[float, float]:
    """The variance of the loss, and the largest finite loss worth telling apart: hints from floats."""
    moved = float(shift)
    far = float(law.bound) - moved if isinstance(law, TruncatedLaplace) else outermost(law)
    probes = _probes(moved, max(far, -moved / 2))
    tails = [(float(law.sf(x, FLOATS)), float(law.sf(x + moved, FLOATS))) for x in probes]
    mean = square = 0.0
    for (a, b), (before, after) in zip(pairwise(probes), pairwise(tails), strict=True):
        loss, p, q = float(law.drop((a + b) / 2, moved, FLOATS)), before[0] - after[0], before[1] - after[1]
        mean += (p - q) * loss
        square += (p + q) * loss**2
    return max(square - mean**2, 0.0), float(law.drop(probes[-1], moved, FLOATS))


@spread.register
def _spread_of_randomized_response(law: RandomizedResponse, shift: Fraction) -> tuple[float, float]:
    return float(law.bound) ** 2 / math.cosh(float(law.bound) / 2) ** 2, float(law.bound)


# Noise on the integers and tabulated noise: losses are summed cell by cell.

WHOLE = (DiscreteLaplace, DiscreteGaussian, Tabulated)
"""Laws whose losses are summed cell by cell."""


@loss_masses.register
def _loss_masses_of_discrete_gaussian(law: DiscreteGaussian, shift: Fraction, cell: Fraction) -> LossTable:
    """Loss (2k + shift) shift / (2 std^2) of the whole number k."""
    far = first_true(lambda k: float(law.tail(k, FLOATS)) < NEGLIGIBLE, 0, 1 << 40)
    return _whole(lambda k: law.tail(k, BALLS), integer_sensitivity(shift), cell, shift / (2 * law.std**2), far, None)


@loss_masses.register
def _loss_masses_of_discrete_laplace(law: DiscreteLaplace, shift: Fraction, cell: Fraction) -> LossTable:
    """Loss (2k + shift) / scale up to 0, and shift / scale from there on."""
    fade = ball(-1 / law.scale).exp()

    def tail(k: int) -> Ball:
        return fade**k / (1 + fade) if k > 0 else 1 - fade ** (1 - k) / (1 + fade)

    return _whole(tail, integer_sensitivity(shift), cell, 1 / law.scale, 0, shift / law.scale)


def _whole(
    tail: Callable[[int], Ball], shift: int, cell: Fraction, slope: Fraction, last: int, top: Fraction | None
) -> LossTable:
    """Whole numbers k with losses slope (2k + shift); those from `last` on are one set, of losses up to `top`."""
    grid = LossTableBuilder(cell)

    def add(k: int, after: int | None, low: Fraction, high: Fraction | None, *, mirrored: bool = True) -> None:
        beyond = (ball(0), ball(0)) if after is None else (tail(after), tail(after + shift))
        places = math.floor(low / cell), None if high is None else math.ceil(high / cell)
        grid.add(tail(k) - beyond[0], tail(k + shift) - beyond[1], *places, mirrored=mirrored)

    start = 1 - (shift + 1) // 2
    if shift % 2 == 0:
        add(start - 1, start, NO_LOSS, NO_LOSS, mirrored=False)
    last = max(start, last)
    highest = slope * (2 * last + shift)
    edges = {math.ceil((j * cell / slope - shift) / 2) for j in range(1, math.floor(highest / cell) + 1)}
    for k, after in pairwise(sorted({start, last, *(k for k in edges if start < k < last)})):
        add(k, after, slope * (2 * k + shift), slope * (2 * after - 2 + shift))
    add(last, None, highest if top is None else top, top)
    return grid.losses()


@loss_masses.register
def _loss_masses_of_tabulated(law: Tabulated, shift: Fraction, cell: Fraction) -> LossTable:
    """Cell by cell, with the shift rounded up to whole cells.

    Valid for: weights that fall outward, for which a larger shift dominates a smaller one.
    """
    if any(a < b for a, b in pairwise(law.weights)):
        raise UncertifiedError("refused: losses of a tabulated law are composed where its weights fall outward.")
    moved, total, grid = cells_within(law, shift), law.total, LossTableBuilder(cell)
    odd, count = 0 if law.edge else 1, len(law.weights)
    middle, rest = divmod(-moved - odd, 2)
    for i in range(middle + rest, count):
        p, q = law.weight(i), law.weight(i + moved)
        if p and not q:
            grid.add(ball(Fraction(p, total)), ball(0), 0, None)
        elif p:
            loss = ball(Fraction(p, q)).log()
            low, high = math.floor(lower(loss) / cell), math.ceil(upper(loss) / cell)
            # At the middle, which is its own mirror image, both weights are the same.
            pair = (ball(Fraction(p, total)), ball(Fraction(q, total)))
            grid.add(*pair, *((0, 0) if p == q else (low, high)), mirrored=bool(rest) or i > middle)
    return grid.losses()


@spread.register
def _spread_of_discrete_gaussian(law: DiscreteGaussian, shift: Fraction) -> tuple[float, float]:
    ratio = float(shift / law.std)
    return ratio**2, ratio * (11 + ratio)


@spread.register
def _spread_of_discrete_laplace(law: DiscreteLaplace, shift: Fraction) -> tuple[float, float]:
    return spread(Laplace(Fraction(1)), shift / law.scale)


@spread.register
def _spread_of_tabulated(law: Tabulated, shift: Fraction) -> tuple[float, float]:
    moved, total, count = cells_within(law, shift), float(law.total), len(law.weights)
    pairs = [(law.weight(i) / total, law.weight(i + moved) / total) for i in range(-(moved // 2), count)]
    losses = [(math.log(p / q), p, q) for p, q in pairs if p > 0 and q > 0]
    mean, square = sum((p - q) * x for x, p, q in losses), sum((p + q) * x * x for x, p, q in losses)
    return max(square - mean**2, 0.0), max((x for x, _, _ in losses), default=0.0)

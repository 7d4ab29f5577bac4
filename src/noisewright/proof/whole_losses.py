"""Privacy losses of noise on the integers and of tabulated noise, as tables on a grid (see `losses`)."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise

from noisewright.laws.gaussian import DiscreteGaussian
from noisewright.laws.laplace import DiscreteLaplace, Laplace
from noisewright.laws.tabulated import Tabulated
from noisewright.numerics.balls import Ball, ball, lower, upper
from noisewright.numerics.bisection import first_true
from noisewright.numerics.fields import BALLS, FLOATS
from noisewright.problem.errors import UncertifiedError
from noisewright.proof.approximate import cells_within, whole_reach
from noisewright.proof.losses import NEGLIGIBLE, NO_LOSS, Grid, Losses, loss_masses, spread

WHOLE = (DiscreteLaplace, DiscreteGaussian, Tabulated)
"""Laws whose losses are summed cell by cell."""


@loss_masses.register
def _(law: DiscreteGaussian, shift: Fraction, cell: Fraction) -> Losses:
    """Loss (2k + shift) shift / (2 std^2) of the whole number k."""
    far = first_true(lambda k: float(law.tail(k, FLOATS)) < NEGLIGIBLE, 0, 1 << 40)
    return _whole(lambda k: law.tail(k, BALLS), whole_reach(shift), cell, shift / (2 * law.std**2), far, None)


@loss_masses.register
def _(law: DiscreteLaplace, shift: Fraction, cell: Fraction) -> Losses:
    """Loss (2k + shift) / scale up to 0, and shift / scale from there on."""
    fade = ball(-1 / law.scale).exp()

    def tail(k: int) -> Ball:
        return fade**k / (1 + fade) if k > 0 else 1 - fade ** (1 - k) / (1 + fade)

    return _whole(tail, whole_reach(shift), cell, 1 / law.scale, 0, shift / law.scale)


def _whole(
    tail: Callable[[int], Ball], shift: int, cell: Fraction, slope: Fraction, last: int, top: Fraction | None
) -> Losses:
    """Whole numbers k with losses slope (2k + shift); those from `last` on are one set, of losses up to `top`."""
    grid = Grid(cell)

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
def _(law: Tabulated, shift: Fraction, cell: Fraction) -> Losses:
    """Cell by cell, with the shift rounded up to whole cells.

    Valid for: weights that fall outward, for which a larger shift dominates a smaller one.
    """
    if any(a < b for a, b in pairwise(law.weights)):
        raise UncertifiedError("refused: losses of a tabulated law are composed where its weights fall outward.")
    moved, total, grid = cells_within(law, shift), law.total, Grid(cell)
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
def _(law: DiscreteGaussian, shift: Fraction) -> tuple[float, float]:
    ratio = float(shift / law.std)
    return ratio**2, ratio * (11 + ratio)


@spread.register
def _(law: DiscreteLaplace, shift: Fraction) -> tuple[float, float]:
    return spread(Laplace(Fraction(1)), shift / law.scale)


@spread.register
def _(law: Tabulated, shift: Fraction) -> tuple[float, float]:
    moved, total, count = cells_within(law, shift), float(law.total), len(law.weights)
    pairs = [(law.weight(i) / total, law.weight(i + moved) / total) for i in range(-(moved // 2), count)]
    losses = [(math.log(p / q), p, q) for p, q in pairs if p > 0 and q > 0]
    mean, square = sum((p - q) * x for x, p, q in losses), sum((p + q) * x * x for x, p, q in losses)
    return max(square - mean**2, 0.0), max((x for x, _, _ in losses), default=0.0)

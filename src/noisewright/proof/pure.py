"""Pure bounds of laws, in exact rationals.

`pure_bound(law, reach)` returns a rational B such that f(x) <= e^B f(x + s) for almost every x
and every shift |s| <= reach, and the name of the rule that shows it.
"""

from __future__ import annotations

from collections import deque
from fractions import Fraction
from functools import singledispatch

from noisewright.laws.laplace import DiscreteLaplace, Laplace
from noisewright.laws.piecewise import Piecewise
from noisewright.laws.registry import NoiseLaw
from noisewright.problem.errors import UncertifiedError

_MOST_UNROLLED = 10**6


@singledispatch
def pure_bound(law: NoiseLaw, reach: Fraction) -> tuple[Fraction, str]:
    """Least proven bound on the log-ratio over all shifts up to `reach`, and its rule."""
    raise UncertifiedError(f"there is no rule for laws of type {type(law).__name__}.")


@pure_bound.register
def _(law: Laplace, reach: Fraction) -> tuple[Fraction, str]:
    """|x + s| - |x| <= |s|, so the log-ratio is at most reach / scale."""
    return reach / law.scale, "pure/laplace"


@pure_bound.register
def _(law: DiscreteLaplace, reach: Fraction) -> tuple[Fraction, str]:
    """The same inequality on the integers."""
    return reach / law.scale, "pure/discrete-laplace"


@pure_bound.register
def _(law: Piecewise, reach: Fraction) -> tuple[Fraction, str]:
    """Largest level difference between cells less than `reach` apart, times the rate.

    Two open cells contain points within reach of each other, beyond a null set, exactly if the gap
    between them is below reach. A pair in a tail has the differences of the same pair moved inward
    by whole periods, so the unrolled cells show every difference there is.
    """
    if reach / law.period * len(law.levels) > _MOST_UNROLLED:
        raise UncertifiedError("refused: the period of this law is too short for the sensitivity to be checked.")
    cells = law.unrolled(reach)
    worst = Fraction(0)
    lowest: deque[int] = deque()
    highest: deque[int] = deque()
    first = 0
    for j, (start, _, level) in enumerate(cells):
        while lowest and cells[lowest[-1]][2] >= level:
            lowest.pop()
        lowest.append(j)
        while highest and cells[highest[-1]][2] <= level:
            highest.pop()
        highest.append(j)
        while cells[first][1] <= start - reach:
            first += 1
        while lowest[0] < first:
            lowest.popleft()
        while highest[0] < first:
            highest.popleft()
        worst = max(worst, level - cells[lowest[0]][2], cells[highest[0]][2] - level)
    return worst * law.rate, "pure/levels-within-reach"

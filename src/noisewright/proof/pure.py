"""Pure bounds of laws, in exact rationals (where a bound is irrational, just above it).

`pure_bound(law, sensitivity)` returns a rational B such that f(x) <= e^B f(x + s) for almost every x
and every shift |s| <= sensitivity, and the name of the rule that shows it.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import deque
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import singledispatch
from typing import Any

from noisewright.laws.base import SmoothLaw
from noisewright.laws.gaussian import GeneralizedGaussian
from noisewright.laws.laplace import DiscreteLaplace, Laplace
from noisewright.laws.piecewise import Piecewise
from noisewright.laws.registry import NoiseLaw
from noisewright.laws.two_fold import Atoms, TwoFold
from noisewright.numerics.balls import precision, upper
from noisewright.numerics.fields import BALLS
from noisewright.numerics.special import power_from_above
from noisewright.problem.errors import UncertifiedError

_BITS = 256
_LARGEST_EXPONENT = 64
_GRID = 2**60
_MOST_UNROLLED = 10**6


@singledispatch
def pure_bound(law: NoiseLaw, sensitivity: Fraction) -> tuple[Fraction, str]:
    """Least proven bound on the log-ratio over all shifts up to `sensitivity`, and its rule."""
    raise UncertifiedError(f"there is no rule for laws of type {type(law).__name__}.")


@pure_bound.register
def _pure_bound_of_laplace(law: Laplace, sensitivity: Fraction) -> tuple[Fraction, str]:
    """|x + s| - |x| <= |s|, so the log-ratio is at most sensitivity / scale."""
    return sensitivity / law.scale, "pure/laplace"


@pure_bound.register
def _pure_bound_of_discrete_laplace(law: DiscreteLaplace, sensitivity: Fraction) -> tuple[Fraction, str]:
    """The same inequality on the integers."""
    return sensitivity / law.scale, "pure/discrete-laplace"


@pure_bound.register
def _pure_bound_of_two_fold(law: TwoFold, sensitivity: Fraction) -> tuple[Fraction, str]:
    """ln L'(0) - ln L'(D), D being the sensitivity, rounded up to a multiple of 2^-60.

    The density is g(|x|) with g = -L'/2 = E[u e^(-ux)]/2. By Hoelder's inequality ln g is convex, and
    it decreases, so for y >= 0 and 0 <= s the drop ln g(y) - ln g(y + s) is largest at y = 0. For any x
    and |s| <= D, |x + s| <= |x| + D, so ln f(x) - ln f(x + s) <= ln g(|x|) - ln g(|x| + D)
    <= ln g(0) - ln g(D), which is attained. A single rate is Laplace noise, where the drop is
    exactly rate * D.
    """
    fold = law.fold
    if isinstance(fold, Atoms) and len(fold.rates) == 1:
        return fold.rates[0] * sensitivity, "pure/two-fold"
    with precision(_BITS):
        at_zero = fold.slope(BALLS.real(0), BALLS)
        at_sensitivity = fold.slope(BALLS.real(sensitivity), BALLS)
        if not (at_zero.is_finite() and bool(at_sensitivity > 0)):
            raise UncertifiedError("the density of this two-fold law could not be enclosed; nothing is proven.")
        bound = upper((at_zero / at_sensitivity).log())
    # Rounded to a coarse grid, so that a later version of the ball arithmetic proves the very same number.
    return Fraction(math.ceil(bound * _GRID), _GRID), "pure/two-fold"


@pure_bound.register
def _pure_bound_of_piecewise(law: Piecewise, sensitivity: Fraction) -> tuple[Fraction, str]:
    """Largest level difference between cells less than `sensitivity` apart, times the rate.

    Two open cells contain points at most the sensitivity apart, beyond a null set, exactly if the gap
    between them is below it. A pair in a tail has the differences of the same pair moved inward
    by whole periods, so the unrolled cells show every difference there is.
    """
    if sensitivity / law.period * len(law.levels) > _MOST_UNROLLED:
        raise UncertifiedError("refused: the period of this law is too short for the sensitivity to be checked.")
    cells = law.unrolled(sensitivity)
    starts, ends, levels = zip(*cells, strict=True)
    # The cells of a window are less than the sensitivity apart: each starts less than it behind the first end.
    windows = extremes(levels, levels, [bisect_left(starts, end + sensitivity) - 1 for end in ends])
    worst = max(high - low for high, low in windows)
    return worst * law.rate, "pure/levels-within-sensitivity"


def extremes(highs: Sequence[Any], lows: Sequence[Any], ends: Sequence[int]) -> Iterator[tuple[Any, Any]]:
    """The largest of `highs` and the smallest of `lows` in each window from i to ends[i], by sliding it along."""
    highest: deque[int] = deque()
    lowest: deque[int] = deque()
    added = 0
    for i, last in enumerate(ends):
        while added <= last:
            while highest and highs[highest[-1]] <= highs[added]:
                highest.pop()
            highest.append(added)
            while lowest and lows[lowest[-1]] >= lows[added]:
                lowest.pop()
            lowest.append(added)
            added += 1
        while highest[0] < i:
            highest.popleft()
        while lowest[0] < i:
            lowest.popleft()
        yield highs[highest[0]], lows[lowest[0]]


@pure_bound.register
def _pure_bound_of_smooth_law(law: SmoothLaw, sensitivity: Fraction) -> tuple[Fraction, str]:
    """|d/dx ln f| is at most the slope everywhere, so ln f changes by at most slope times the shift."""
    if law.slope is None:
        raise UncertifiedError(f"there is no rule for laws of type {type(law).__name__}.")
    return sensitivity * law.slope, f"pure/{law.CARD.kind}"


@pure_bound.register
def _pure_bound_of_generalized_gaussian(law: GeneralizedGaussian, sensitivity: Fraction) -> tuple[Fraction, str]:
    """For power <= 1, |x + s|^p - |x|^p <= |s|^p, so the log-ratio is at most (sensitivity / scale)^power."""
    if law.power > 1:
        raise UncertifiedError(
            "refused: above power 1 the likelihood ratio of a generalized Gaussian is not bounded; ask for approximate"
            " or probabilistic privacy."
        )
    return power_from_above(sensitivity / law.scale, law.power), "pure/subadditive-power"

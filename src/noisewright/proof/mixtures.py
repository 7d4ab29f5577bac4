"""Exact (epsilon, delta) of mixtures: Gaussian noise with a random deviation, Laplace noise with a random rate.

Both densities are symmetric and fall outward, so the largest shift s is the worst (see `composed`), and
f(x) > e^epsilon f(x + s) needs x > -s/2. What is left is to integrate f(x) - e^epsilon f(x + s) over where it is
positive.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise

from noisewright.laws.folds import Fold
from noisewright.laws.gaussian import GaussianMixture
from noisewright.laws.twofold import TwoFold
from noisewright.numerics.balls import Ball, ball, precision, upper
from noisewright.numerics.bisection import turn
from noisewright.numerics.fields import BALLS

_BITS = 128
_SMALLEST = Fraction(1, 1 << 72)
_MOST_CELLS = 4_000
_FAR = 12
_FINE = Fraction(1, 1 << 64)
_MOST_DOUBLINGS = 100

Cell = tuple[Fraction, Fraction]


def mixture_delta(law: GaussianMixture, epsilon: Fraction, reach: Fraction) -> Fraction:
    """A rational at or above the delta of a Gaussian mixture, and within a millionth of it or so.

    Rule: with parts of weight w_i and deviation s_i, f(x) - e^epsilon f(x + reach) is the sum of w_i f_i(x) r_i(x),
    where r_i(x) = 1 - e^(epsilon - (2 x reach + reach^2) / (2 s_i^2)) rises with x, and the ratio of f_i to the
    widest part falls as |x| rises. That encloses its sign on a cell. Cells where it is positive count with their
    masses, where it is negative with nothing; what stays undecided counts with its largest height times its width,
    all beyond 12 of the largest deviations with its mass.
    """
    with precision(_BITS):
        profile = _Profile(law, epsilon, reach)
        far = _FAR * max(law.stds) + reach
        total = law.sf(far, BALLS)
        pending, seen = profile.first_cells(far), 0
        while pending:
            a, b = pending.pop()
            seen += 1
            lowest, highest = profile.heights(a, b)
            if bool(lowest >= 0):
                total = total + profile.mass(a, b)
            elif not bool(highest <= 0):
                rest = max(Fraction(0), upper(highest)) * (b - a)
                if rest <= _SMALLEST or seen > _MOST_CELLS:
                    total = total + ball(rest)
                else:
                    pending += [(a, (a + b) / 2), ((a + b) / 2, b)]
        return min(Fraction(1), max(Fraction(0), upper(total)))


class _Profile:
    """f(x) - e^epsilon f(x + reach) of a Gaussian mixture, on cells that do not contain 0 inside."""

    def __init__(self, law: GaussianMixture, epsilon: Fraction, reach: Fraction) -> None:
        self._law, self._epsilon, self._reach, self._grown = law, epsilon, reach, ball(epsilon).exp()
        self._parts = [(ball(w / s), s) for s, w in zip(law.stds, law.weights, strict=True)]
        self._widest = max(law.stds)
        self._unit = 1 / (2 * BALLS.pi()).sqrt()

    def first_cells(self, far: Fraction) -> list[Cell]:
        edges, step = [Fraction(0)], min(self._law.stds)
        while edges[-1] < far:
            edges.append(min(far, edges[-1] + step))
            step *= 2
        return [(-self._reach / 2, Fraction(0)), *pairwise(edges)]

    def heights(self, a: Fraction, b: Fraction) -> tuple[Ball, Ball]:
        """Something of the sign of a lower bound, and an upper bound, of the difference on [a, b]."""
        near, far = sorted((abs(a), abs(b)))
        lowest = highest = ball(0)
        for weight, std in self._parts:
            least, most = self._rise(a, std), self._rise(b, std)
            nearest, farthest = self._share(near, std), self._share(far, std)
            lowest = lowest + weight * least * (farthest if bool(least >= 0) else nearest)
            highest = highest + weight * most * (nearest if bool(most >= 0) else farthest)
        # The widest part was divided out; at its highest it makes an upper bound of a positive difference.
        top = self._unit * ball(-(near**2) / (2 * self._widest**2)).exp()
        return lowest, highest * top

    def _rise(self, x: Fraction, std: Fraction) -> Ball:
        return -ball(self._epsilon - (2 * x + self._reach) * self._reach / (2 * std**2)).expm1()

    def _share(self, size: Fraction, std: Fraction) -> Ball:
        """e^(-size^2 / (2 std^2)) over the same of the widest part; it does not rise with the size."""
        return ball(size**2 / 2 * (1 / self._widest**2 - 1 / std**2)).exp()

    def mass(self, a: Fraction, b: Fraction) -> Ball:
        sf = self._law.sf
        shifted = sf(a + self._reach, BALLS) - sf(b + self._reach, BALLS)
        return sf(a, BALLS) - sf(b, BALLS) - self._grown * shifted


def two_fold_delta(law: TwoFold, epsilon: Fraction, reach: Fraction) -> Fraction:
    """A rational just above the delta of two-fold noise.

    Rule: ln g is convex and falls, g being the density of |X| (see `pure`). So the loss ln f(x) - ln f(x + reach)
    rises from 0 at -reach/2 to its largest value at 0 and does not rise from there on: it exceeds epsilon between
    two places around 0, of which the second may be infinite. Masses are taken between enclosures of the two.
    """
    with precision(_BITS):
        grown = ball(epsilon).exp()
        fold = law.fold

        def above(x: Fraction) -> bool:
            return bool(_height(fold, abs(x)) > grown * _height(fold, x + reach))

        def below(x: Fraction) -> bool:
            return bool(_height(fold, abs(x)) < grown * _height(fold, x + reach))

        if not above(Fraction(0)):
            # Not certainly above anywhere: the exact bound, where it is one, is the pure rule's affair.
            return Fraction(0) if below(Fraction(0)) else Fraction(1)
        fine = _FINE * reach
        first = turn(lambda x: not below(x), -reach / 2, Fraction(0), within=fine)[0]
        surely = turn(above, first, Fraction(0), within=fine)[1]
        p, q = law.sf(first, BALLS), law.sf(surely + reach, BALLS)
        # A rate is never below the lowest, nor is the loss on the right of 0 below that rate times the shift.
        if fold.lowest * reach < epsilon:
            before, after = _end(above, below, reach)
            q = q - law.sf(before + reach, BALLS)
            p = p if after is None else p - law.sf(after, BALLS)
        return min(Fraction(1), max(Fraction(0), upper(p - grown * q)))


def _end(
    above: Callable[[Fraction], bool], below: Callable[[Fraction], bool], reach: Fraction
) -> tuple[Fraction, Fraction | None]:
    """A place before the one where the loss falls to epsilon, and one behind it, if one is found."""
    last = Fraction(0)
    for i in range(_MOST_DOUBLINGS):
        if below(reach * 2**i):
            fails, passes = turn(below, last, reach * Fraction(2**i), within=_FINE * reach * 2**i)
            return turn(lambda x: not above(x), last, fails, within=_FINE * reach * 2**i)[0], passes
        if above(reach * 2**i):
            last = reach * 2**i
    return last, None


def _height(fold: Fold, x: Fraction) -> Ball:
    return fold.slope(BALLS.real(x), BALLS)

"""Exact (epsilon, delta) of mixtures: Gaussian noise with a random deviation, Laplace noise with a random rate.

Both densities are symmetric and fall outward, so the largest shift s is the worst (see `composed`), and
f(x) > e^epsilon f(x + s) needs x > -s/2. What is left is to integrate f(x) - e^epsilon f(x + s) over where it is
positive.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise

from noisewright.laws.gaussian import GaussianMixture
from noisewright.laws.two_fold import Fold, TwoFold
from noisewright.numerics.balls import Ball, ball, hull, precision, upper
from noisewright.numerics.bisection import turn
from noisewright.numerics.fields import BALLS
from noisewright.numerics.special import shortened

_BITS = 128
_DIGITS = 40
_FINENESS = (36, 56, 76)
_SMALL_BITS = 28
_MOST_CELLS = 20_000
_FAR = 12
_FINE = Fraction(1, 1 << 64)
_MOST_DOUBLINGS = 100

Cell = tuple[Fraction, Fraction]


def mixture_delta(law: GaussianMixture, epsilon: Fraction, reach: Fraction) -> Fraction:
    """A rational at or above the delta of a Gaussian mixture, and within a millionth of it or so.

    Rule: with parts of weight w_i and deviation s_i, f(x) - e^epsilon f(x + reach) is the sum of w_i f_i(x) r_i(x),
    where r_i(x) = 1 - e^(epsilon - (2 x reach + reach^2) / (2 s_i^2)). Divided by the density of the widest part it is
    enclosed on a cell by the mean value theorem. Cells where it is positive count with their masses, where it is
    negative with nothing; what stays undecided counts with its largest height times its width, and all beyond 12 of
    the largest deviations with its mass. [theory#the-privacy-profile-of-one-number]
    """
    with precision(_BITS):
        profile = _Profile(law, epsilon, reach)
        for bits in _FINENESS:
            found = profile.integral(Fraction(1, 1 << bits))
            # Thousands of undecided cells then weigh less than a millionth of what was found.
            if found >= Fraction(1, 1 << bits - _SMALL_BITS):
                break
        return min(Fraction(1), shortened(found, _DIGITS))


class _Profile:
    """f(x) - e^epsilon f(x + reach) of a Gaussian mixture, cell by cell."""

    def __init__(self, law: GaussianMixture, epsilon: Fraction, reach: Fraction) -> None:
        self._law, self._reach, self._grown = law, reach, ball(epsilon).exp()
        widest = max(law.stds)
        # Of each part: weight / std, the exponent of its rise at 0 and its slope, and that of its share.
        self._parts = [
            (
                ball(w / s),
                ball(epsilon - reach**2 / (2 * s**2)),
                ball(reach / s**2),
                ball((1 / widest**2 - 1 / s**2) / 2),
            )
            for s, w in zip(law.stds, law.weights, strict=True)
        ]
        self._far, self._fall = _FAR * widest + reach, ball(-1 / (2 * widest**2))
        self._unit = 1 / (2 * BALLS.pi()).sqrt()

    def integral(self, smallest: Fraction) -> Fraction:
        """The positive part from above; cells are cut in two until what is undecided is at most `smallest` each."""
        total, pending, seen = self._law.sf(self._far, BALLS), self._first_cells(), 0
        run: Cell | None = None
        while pending:
            a, b = pending.pop()
            seen += 1
            height = self._height(a, b)
            if bool(height >= 0):
                # Neighbours join, so that tails are taken at the ends of a run alone.
                total = total if run is None or run[1] == a else total + self._mass(*run)
                run = (run[0], b) if run is not None and run[1] == a else (a, b)
            elif not bool(height <= 0):
                top = self._unit * (self._fall * ball(max(a, -b, Fraction(0)) ** 2)).exp()
                rest = max(Fraction(0), upper(height * top)) * (b - a)
                if rest <= smallest or seen > _MOST_CELLS:
                    total = total + ball(rest)
                else:
                    pending += [((a + b) / 2, b), (a, (a + b) / 2)]
        return max(Fraction(0), upper(total if run is None else total + self._mass(*run)))

    def _first_cells(self) -> list[Cell]:
        """From left to right, the first one last."""
        edges, step = [-self._reach / 2], min(self._law.stds)
        while edges[-1] < self._far:
            edges.append(min(self._far, edges[-1] + step))
            step *= 2
        return list(pairwise(edges))[::-1]

    def _height(self, a: Fraction, b: Fraction) -> Ball:
        """The difference over the density of the widest part, on [a, b]: value in the middle, slope on the whole."""
        x, middle = hull(ball(a), ball(b)), ball((a + b) / 2)
        value = slope = ball(0)
        for weight, level, rate, share in self._parts:
            fade, here = (level - rate * x).exp(), (share * x * x).exp()
            slope = slope + weight * here * (2 * share * x * (1 - fade) + rate * fade)
            value = value - weight * (share * middle * middle).exp() * (level - rate * middle).expm1()
        return value + slope * (x - middle)

    def _mass(self, a: Fraction, b: Fraction) -> Ball:
        sf = self._law.sf
        shifted = sf(a + self._reach, BALLS) - sf(b + self._reach, BALLS)
        return sf(a, BALLS) - sf(b, BALLS) - self._grown * shifted


def two_fold_delta(law: TwoFold, epsilon: Fraction, reach: Fraction) -> Fraction:
    """A rational just above the delta of two-fold noise.

    Rule: ln g is convex and falls, g being the density of |X| (see `pure`). So the loss ln f(x) - ln f(x + reach)
    rises from 0 at -reach/2 to its largest value at 0 and does not rise from there on: it exceeds epsilon between
    two places around 0, of which the second may be infinite. Masses are taken between enclosures of the two.
    [theory#the-privacy-profile-of-one-number]
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
        return min(Fraction(1), shortened(max(Fraction(0), upper(p - grown * q)), _DIGITS))


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

"""Exact (epsilon, delta) of mixtures: Gaussian noise with a random deviation, Laplace noise with a random rate.

Both densities are symmetric and fall outward, so the largest shift s is the worst (see `composed`), and
f(x) > e^epsilon f(x + s) needs x > -s/2. What is left is to integrate f(x) - e^epsilon f(x + s) over where it is
positive.

Renyi divergences of two-fold noise come from rigorous sums.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import count, pairwise
from typing import Any

from noisewright.laws.formula import FormulaFold
from noisewright.laws.gaussian import GaussianMixture
from noisewright.laws.two_fold import Atoms, Ensemble, Fold, GammaFold, NoncentralChiSquaredFold, TwoFold
from noisewright.numerics.balls import Ball, ball, hull, lower, precision, upper
from noisewright.numerics.bisection import turn
from noisewright.numerics.fields import BALLS
from noisewright.numerics.special import shortened
from noisewright.problem.errors import InvalidLawError, InvalidPrivacyError, InvalidQueryError, UncertifiedError
from noisewright.problem.numbers import Number, parameter, show

_BITS = 128
_DIGITS = 40
_FINENESS = (36, 56, 76)
_SMALL_BITS = 28
_MOST_CELLS = 20_000
_FAR = 12
_FINE = Fraction(1, 1 << 64)
_MOST_DOUBLINGS = 100

Cell = tuple[Fraction, Fraction]


def mixture_delta(law: GaussianMixture, epsilon: Fraction, sensitivity: Fraction) -> Fraction:
    """A rational at or above the delta of a Gaussian mixture, and within a millionth of it or so.

    Rule: with D the sensitivity and parts of weight w_i and deviation s_i, f(x) - e^epsilon f(x + D) is the sum of
    w_i f_i(x) r_i(x), where r_i(x) = 1 - e^(epsilon - (2 x D + D^2) / (2 s_i^2)). Divided by the density of the widest
    part it is enclosed on a cell by the mean value theorem. Cells where it is positive count with their masses, where
    it is negative with nothing; what stays undecided counts with its largest height times its width, and all beyond
    12 of the largest deviations with its mass. [theory#the-privacy-profile-of-one-number]
    """
    with precision(_BITS):
        profile = _Profile(law, epsilon, sensitivity)
        for bits in _FINENESS:
            found = profile.integral(Fraction(1, 1 << bits))
            # Thousands of undecided cells then weigh less than a millionth of what was found.
            if found >= Fraction(1, 1 << bits - _SMALL_BITS):
                break
        return min(Fraction(1), shortened(found, _DIGITS))


class _Profile:
    """f(x) - e^epsilon f(x + sensitivity) of a Gaussian mixture, cell by cell."""

    def __init__(self, law: GaussianMixture, epsilon: Fraction, sensitivity: Fraction) -> None:
        self._law, self._sensitivity, self._grown = law, sensitivity, ball(epsilon).exp()
        widest = max(law.stds)
        # Of each part: weight / std, the exponent of its rise at 0 and its slope, and that of its share.
        self._parts = [
            (
                ball(w / s),
                ball(epsilon - sensitivity**2 / (2 * s**2)),
                ball(sensitivity / s**2),
                ball((1 / widest**2 - 1 / s**2) / 2),
            )
            for s, w in zip(law.stds, law.weights, strict=True)
        ]
        self._far, self._fall = _FAR * widest + sensitivity, ball(-1 / (2 * widest**2))
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
        edges, step = [-self._sensitivity / 2], min(self._law.stds)
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
        shifted = sf(a + self._sensitivity, BALLS) - sf(b + self._sensitivity, BALLS)
        return sf(a, BALLS) - sf(b, BALLS) - self._grown * shifted


def two_fold_delta(law: TwoFold, epsilon: Fraction, sensitivity: Fraction) -> Fraction:
    """A rational just above the delta of two-fold noise.

    Rule: ln g is convex and falls, g being the density of |X| (see `pure`). So the loss ln f(x) - ln f(x + sensitivity)
    rises from 0 at -sensitivity/2 to its largest value at 0 and does not rise from there on: it exceeds epsilon between
    two places around 0, of which the second may be infinite. Masses are taken between enclosures of the two.
    [theory#the-privacy-profile-of-one-number]
    """
    with precision(_BITS):
        grown = ball(epsilon).exp()
        fold = law.fold

        def above(x: Fraction) -> bool:
            return bool(_height(fold, abs(x)) > grown * _height(fold, x + sensitivity))

        def below(x: Fraction) -> bool:
            return bool(_height(fold, abs(x)) < grown * _height(fold, x + sensitivity))

        if not above(Fraction(0)):
            # Not certainly above anywhere: the exact bound, where it is one, is the pure rule's affair.
            return Fraction(0) if below(Fraction(0)) else Fraction(1)
        fine = _FINE * sensitivity
        first = turn(lambda x: not below(x), -sensitivity / 2, Fraction(0), within=fine)[0]
        surely = turn(above, first, Fraction(0), within=fine)[1]
        p, q = law.sf(first, BALLS), law.sf(surely + sensitivity, BALLS)
        # A rate is never below the lowest, nor is the loss on the right of 0 below that rate times the shift.
        if fold.lowest * sensitivity < epsilon:
            before, after = _end(above, below, sensitivity)
            q = q - law.sf(before + sensitivity, BALLS)
            p = p if after is None else p - law.sf(after, BALLS)
        return min(Fraction(1), shortened(max(Fraction(0), upper(p - grown * q)), _DIGITS))


def _end(
    above: Callable[[Fraction], bool], below: Callable[[Fraction], bool], sensitivity: Fraction
) -> tuple[Fraction, Fraction | None]:
    """A place before the one where the loss falls to epsilon, and one behind it, if one is found."""
    last = Fraction(0)
    for i in range(_MOST_DOUBLINGS):
        if below(sensitivity * 2**i):
            fails, passes = turn(below, last, sensitivity * Fraction(2**i), within=_FINE * sensitivity * 2**i)
            return turn(lambda x: not above(x), last, fails, within=_FINE * sensitivity * 2**i)[0], passes
        if above(sensitivity * 2**i):
            last = sensitivity * 2**i
    return last, None


def _height(fold: Fold, x: Fraction) -> Ball:
    return fold.slope(BALLS.real(x), BALLS)


_RENYI_BITS = 128
_MOST_RENYI_CELLS = 6000
_TOLERANCE = 2e-5
_FIRST_RENYI_CELLS = 24
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
    with precision(_RENYI_BITS):
        moment = _Moment(law.fold, shift, alpha).enclosed()
        if alpha == 1:
            return moment
        return moment.log() / ball(alpha - 1)


def two_fold_renyi(law: TwoFold, alpha: Fraction, sensitivity: Fraction) -> tuple[Fraction, str]:
    """Upper bound of the divergence over all shifts up to `sensitivity`.

    The largest shift is the worst: for t >= 0 the best set {f(x) > e^t f(x - s)} is an interval (-a, b)
    around zero, and the derivative of its advantage in s is e^t (g(s - b) - g(s + a)) >= 0, since g does not
    increase; the divergence is a positive mixture of such advantages.
    """
    bound = upper(renyi_ball(law, sensitivity, alpha))
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
        while open_part > _TOLERANCE and used < _MOST_RENYI_CELLS:
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
        step = self._shift / _FIRST_RENYI_CELLS
        inner: list[tuple[Fraction, Fraction | None]] = [(i * step, (i + 1) * step) for i in range(_FIRST_RENYI_CELLS)]
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


# What transforms of second folds say by themselves (theorem 4.5 and section G.2 of the R2DP paper).

_FOLD_BITS = 128


@dataclass(frozen=True, slots=True)
class LaplaceCondition:
    """What Equation 8 of the R2DP paper compares, for one fold and one sensitivity s.

    `epsilon` encloses ln(E u / E u e^(-us)), the exact epsilon of the two-fold noise, `averaged` encloses ln E e^(us),
    the logarithm of the average leakage; each as a pair of rationals, None where the average is infinite or was not
    shown to be finite.
    """

    epsilon: tuple[Fraction, Fraction]
    averaged: tuple[Fraction, Fraction] | None

    @property
    def may_help(self) -> bool:
        """Whether two-fold noise of this fold may beat Laplace noise of the same epsilon for some loss.

        Guarantees: where it is False, epsilon >= ln E e^(us) was proven, and then for every error size the chance to
        exceed it is at least that of Laplace noise at the same epsilon, so that no loss that does not fall outward is
        smaller. Rule: Laplace noise exceeds x with chance e^(-epsilon x / s) <= (E e^(us))^(-x/s), which is at most
        E e^(-ux), because y^(-x/s) is convex in y (Jensen). True is a necessary condition and guarantees nothing.
        [theory#when-a-second-fold-cannot-help]
        """
        return self.averaged is None or self.epsilon[0] < self.averaged[1]


def laplace_condition(fold: Fold, sensitivity: Number = 1) -> LaplaceCondition:
    """The necessary condition for a second fold to beat Laplace noise, evaluated in interval arithmetic."""
    shift = _checked(fold, sensitivity)
    if isinstance(fold, Atoms) and len(fold.rates) == 1:
        # Laplace noise itself: both sides are the same number.
        cost = fold.rates[0] * shift
        return LaplaceCondition((cost, cost), (cost, cost))
    radius = convergence_radius(fold)
    with precision(_FOLD_BITS):
        at_zero, at_shift = fold.slope(ball(0), BALLS), fold.slope(ball(shift), BALLS)
        if not (at_zero.is_finite() and bool(at_shift > 0)):
            raise UncertifiedError("the density of this two-fold law could not be enclosed; nothing is proven.")
        epsilon = (at_zero / at_shift).log()
        spent = lower(epsilon), upper(epsilon)
        if radius is not None and shift >= radius:
            return LaplaceCondition(spent, None)
        averaged = fold.transform(ball(-shift), BALLS)
        if not (averaged.is_finite() and bool(averaged > 0)):
            return LaplaceCondition(spent, None)
        return LaplaceCondition(spent, (lower(averaged.log()), upper(averaged.log())))


@dataclass(frozen=True, slots=True)
class LocalResponse:
    """A bit that got two-fold noise and was rounded back to the nearer of its two values: randomised response.

    `truth` encloses the probability that the true value is released, 1 - L(s/2) / 2 for values s apart, and `epsilon`
    the logarithm of the odds, the exact epsilon of what is released; pairs of rationals.
    """

    truth: tuple[Fraction, Fraction]
    epsilon: tuple[Fraction, Fraction]


def local_response(fold: Fold, apart: Number = 1) -> LocalResponse:
    """What is left of a bit, two values `apart`, behind two-fold noise when only the nearer value is released.

    Rule: it is wrong where the noise goes more than half-way towards the other value, with probability L(apart/2) / 2,
    whichever value is true. With rates that go to infinity with weight w and to 0 otherwise that tends to (1 - w) / 2:
    randomised response that tells the truth with probability (1 + w) / 2, though the noise itself loses all privacy.
    [theory#when-a-second-fold-cannot-help]
    """
    shift = _checked(fold, apart)
    with precision(_FOLD_BITS):
        wrong = fold.transform(ball(shift / 2), BALLS) / 2
        if not (wrong.is_finite() and bool(wrong > 0)):
            raise UncertifiedError("the tail of this two-fold law could not be enclosed; nothing is proven.")
        odds = (1 / wrong - 1).log()
        return LocalResponse((lower(1 - wrong), upper(1 - wrong)), (lower(odds), upper(odds)))


def _checked(fold: Fold, length: Number) -> Fraction:
    if not isinstance(fold, Fold):
        raise InvalidLawError(f"fold is {fold!r}; give a second fold such as nw.folds.GammaFold(shape, scale).")
    shift = parameter(length, "sensitivity")
    if shift <= 0:
        raise InvalidQueryError(f"sensitivity is {show(shift)}; it must be above 0.", sensitivity=shift)
    return shift


def convergence_radius(fold: Fold) -> Fraction | None:
    """E e^(su) is shown to be finite for every s below this; None where it is for every s."""
    match fold:
        case GammaFold():
            return 1 / fold.scale
        case NoncentralChiSquaredFold():
            return 1 / (2 * fold.scale)
        case FormulaFold():
            return Fraction(0)
        case Ensemble():
            parts = [(a, convergence_radius(part)) for a, part in zip(fold.coefficients, fold.parts, strict=True)]
            return min((radius / a for a, radius in parts if radius is not None), default=None)
    return None

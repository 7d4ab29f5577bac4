"""What transforms of second folds say by themselves: which cannot beat Laplace noise, and what is left of one bit.

Theorem 4.5 and section G.2 of the R2DP paper.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from noisewright.laws.formula import FormulaFold
from noisewright.laws.two_fold import Atoms, Ensemble, Fold, GammaFold, NoncentralChiSquaredFold
from noisewright.numerics.balls import ball, lower, precision, upper
from noisewright.numerics.fields import BALLS
from noisewright.problem.errors import InvalidLawError, InvalidQueryError, UncertifiedError
from noisewright.problem.numbers import Number, parameter, show

_BITS = 128


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
        E e^(-ux), because y^(-x/s) is convex in y (Jensen). True is a necessary condition and promises nothing.
        [theory#when-a-second-fold-cannot-help]
        """
        return self.averaged is None or self.epsilon[0] < self.averaged[1]


def laplace_condition(fold: Fold, sensitivity: Number = 1) -> LaplaceCondition:
    """The necessary condition for a second fold to beat Laplace noise, evaluated in balls."""
    shift = _checked(fold, sensitivity)
    if isinstance(fold, Atoms) and len(fold.rates) == 1:
        # Laplace noise itself: both sides are the same number.
        cost = fold.rates[0] * shift
        return LaplaceCondition((cost, cost), (cost, cost))
    reach = exponential_reach(fold)
    with precision(_BITS):
        at_zero, at_shift = fold.slope(ball(0), BALLS), fold.slope(ball(shift), BALLS)
        if not (at_zero.is_finite() and bool(at_shift > 0)):
            raise UncertifiedError("the density of this two-fold law could not be enclosed; nothing is proven.")
        epsilon = (at_zero / at_shift).log()
        spent = lower(epsilon), upper(epsilon)
        if reach is not None and shift >= reach:
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
    with precision(_BITS):
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


def exponential_reach(fold: Fold) -> Fraction | None:
    """E e^(su) is shown to be finite for every s below this; None where it is for every s."""
    match fold:
        case GammaFold():
            return 1 / fold.scale
        case NoncentralChiSquaredFold():
            return 1 / (2 * fold.scale)
        case FormulaFold():
            return Fraction(0)
        case Ensemble():
            parts = [(a, exponential_reach(part)) for a, part in zip(fold.coefficients, fold.parts, strict=True)]
            return min((reach / a for a, reach in parts if reach is not None), default=None)
    return None

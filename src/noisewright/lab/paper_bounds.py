"""Bounds of papers under their own names, from above in balls: sufficient, not tight."""

from __future__ import annotations

from fractions import Fraction

from noisewright.laws.gaussian import GeneralizedGaussian
from noisewright.laws.two_fold import Fold
from noisewright.numerics.balls import Ball, ball, precision, upper
from noisewright.numerics.fields import BALLS
from noisewright.problem.errors import InvalidPrivacyError, UncertifiedError
from noisewright.problem.numbers import Number, parameter
from noisewright.proof.approximate import BITS
from noisewright.proof.mixtures import exponential_reach

_BITS = 128


def corollary_nine_delta(law: GeneralizedGaussian, epsilon: Number, sensitivity: Number) -> Fraction:
    """Delta of disjoint queries by Corollary 9 with the lost exponent restored, from above.

    Rule: P(sum over j of C(p, j) |e|^(p-j) d^j > b^p epsilon) = P((|e| + d)^p - |e|^p > b^p epsilon), which is
    2 SF(t) with t where the log-ratio passes epsilon. At least the exact delta SF(t) + SF(t + d).
    [Liu19, theory#the-privacy-profile-of-one-number]
    Valid for: whole powers from 2 on; raises UncertifiedError otherwise.
    """
    if law.power < 2 or law.power.denominator != 1:
        raise UncertifiedError("Corollary 9 is for whole powers from 2 on.")
    around = law.crossing(parameter(epsilon, "epsilon"), parameter(sensitivity, "sensitivity"))
    if around is None or around[0] < 0:
        return Fraction(1)
    with precision(BITS):
        return min(Fraction(1), upper(2 * law.sf(around[0], BALLS)))


def paper_bound(fold: Fold, alpha: Fraction, sensitivity: Fraction = Fraction(1)) -> Ball | None:
    """Theorem F.4 of the R2DP paper: an upper bound of the divergence, None where it is infinite.

    It averages the moment of plain Laplace noise over the rate: (alpha M(alpha - 1) + (alpha - 1) M(-alpha)) /
    (2 alpha - 1) with M(t) = E e^(ut); at order 1, E u + M(-1) - 1.
    """
    if alpha < 1:
        raise InvalidPrivacyError("the bound of the paper is for orders of at least 1.")
    with precision(_BITS):
        s = ball(sensitivity)
        if alpha == 1:
            return fold.slope(ball(0), BALLS) * s + fold.transform(s, BALLS) - 1
        reach = exponential_reach(fold)
        if reach is not None and (alpha - 1) * sensitivity >= reach:
            return None
        rise = fold.transform(ball(-(alpha - 1) * sensitivity), BALLS)
        fall = fold.transform(ball(alpha * sensitivity), BALLS)
        moment = (ball(alpha) * rise + ball(alpha - 1) * fall) / ball(2 * alpha - 1)
        return moment.log() / ball(alpha - 1)

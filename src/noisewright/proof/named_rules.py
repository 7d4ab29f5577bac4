"""Rules of the generalized-Gaussian paper under their own names: sufficient, not tight."""

from __future__ import annotations

from fractions import Fraction

from noisewright.laws.generalized_gaussian import GeneralizedGaussian
from noisewright.numerics.balls import precision, upper
from noisewright.numerics.fields import BALLS
from noisewright.problem.errors import UncertifiedError
from noisewright.problem.numbers import Number, parameter
from noisewright.proof.approximate import BITS


def corollary_nine_delta(law: GeneralizedGaussian, epsilon: Number, sensitivity: Number) -> Fraction:
    """Delta of disjoint queries by Corollary 9 with the lost exponent restored, from above.

    Rule: P(sum over j of C(p, j) |e|^(p-j) d^j > b^p epsilon) = P((|e| + d)^p - |e|^p > b^p epsilon), which is
    2 SF(t) with t where the log-ratio passes epsilon. At least the exact delta SF(t) + SF(t + d).
    Valid for: whole powers from 2 on; raises UncertifiedError otherwise.
    """
    if law.power < 2 or law.power.denominator != 1:
        raise UncertifiedError("Corollary 9 is for whole powers from 2 on.")
    around = law.crossing(parameter(epsilon, "epsilon"), parameter(sensitivity, "sensitivity"))
    if around is None or around[0] < 0:
        return Fraction(1)
    with precision(BITS):
        return min(Fraction(1), upper(2 * law.sf(around[0], BALLS)))

"""What no unbiased method and no additive noise can beat in squared error, from the chi-squared divergence.

The variance of an answer whose mean moves by d between neighbours is at least d^2 over the chi-squared divergence
between the two releases (Hammersley, Chapman and Robbins); what counts is the largest that a requirement allows.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import singledispatch

from noisewright.numerics.balls import Ball, ball, lower, precision, upper
from noisewright.numerics.bisection import first_true
from noisewright.problem.privacy import PureDP, RenyiDP, ZeroConcentratedDP

_BITS = 128
_MARGIN = 2.0**-40
_MOST_MARGINS = 30


def least_unbiased(optimum: Fraction, privacy: object) -> Fraction | None:
    """What every unbiased method costs at every table, where the best strategy of sensitivity 1 and noise 1 costs this.

    Rule: the variance of an unbiased answer is at least its squared difference over the chi-squared divergence
    (Hammersley, Chapman and Robbins). With the covariance in place of the variance this is a strategy, and costs its
    optimum. Noise that does not depend on the data moves its mean with the answer, whatever its bias, so that for
    additive noise the same holds of every one. [Hammersley50, ChapmanRobbins51, theory#many-questions-about-one-table]
    Valid for: squared errors; None where the requirement leaves that divergence unbounded.
    """
    largest = largest_chi_squared(privacy)
    if largest is None:
        return None
    with precision(_BITS):
        return lower(ball(optimum) / ball(largest))


@singledispatch
def largest_chi_squared(privacy: object) -> Fraction | None:
    """At least the largest chi-squared divergence between neighbours that the requirement allows, or None.

    Under (epsilon, delta), and under Renyi privacy of an order below 2, it may be infinite.
    """
    return None


@largest_chi_squared.register
def _of_pure(privacy: PureDP) -> Fraction | None:
    """(e^epsilon - 1)^2 / e^epsilon: likelihood ratios of mean 1 in [e^-epsilon, e^epsilon] spread most at the ends."""
    with precision(_BITS):
        return upper(_of_two_answers(privacy.epsilon))


@largest_chi_squared.register
def _of_zcdp(privacy: ZeroConcentratedDP) -> Fraction | None:
    """e^(2 rho) - 1, from the divergence of order 2."""
    with precision(_BITS):
        return upper(ball(2 * privacy.rho).expm1())


@largest_chi_squared.register
def _of_renyi(privacy: RenyiDP) -> Fraction | None:
    """The largest under E L^alpha <= c, E L^(1-alpha) <= c and E L = 1, where c = e^((alpha - 1) epsilon).

    Rule: it is that of two answers given with odds e^t and e^-t, 4 sinh(t/2)^2, with both limits reached:
    C(t) = cosh((alpha - 1/2) t) / cosh(t/2) = c. Proof by the dual, for alpha > 2: let
    g(L) = l0 + l1 L + l2 L^alpha + l3 L^(1-alpha) - L^2 touch zero at e^t and at e^-t. By the rule of signs for real
    exponents those four zeros need as many changes of sign among the coefficients in order of their exponents, so
    these are +, -, +, -, +, there is no other zero, and g >= 0 with l2, l3 >= 0. Hence every law that meets the limits
    has E L^2 <= l0 + l1 + c (l2 + l3), which grows with c, and the two answers, whose mean of g is zero, reach it for
    c = C(t). At alpha = 2 it is e^epsilon - 1; that is never exceeded, since divergences grow with their order.
    [theory#many-questions-about-one-table]
    Guarantees: C(t) >= c was checked for the t that is used.
    """
    if privacy.alpha < 2:
        return None
    with precision(_BITS):
        plain = upper(ball(privacy.epsilon).expm1())
        goal = (ball(privacy.alpha - 1) * ball(privacy.epsilon)).exp()
        guess = _both_reached(float(privacy.alpha), float(privacy.epsilon))
        for doublings in range(_MOST_MARGINS):
            t = Fraction(guess * (1 + _MARGIN * 2**doublings))
            if bool(ball((privacy.alpha - Fraction(1, 2)) * t).cosh() >= goal * ball(t / 2).cosh()):
                return min(plain, upper(_of_two_answers(t)))
        return plain


def _of_two_answers(t: Fraction) -> Ball:
    """The chi-squared divergence between two answers given with odds e^t and e^-t."""
    return 4 * ball(t / 2).sinh() ** 2


def _both_reached(alpha: float, epsilon: float) -> float:
    """The t at which the divergence of this order between two answers is epsilon, in floats."""

    def enough(t: float) -> bool:
        return _log_cosh((alpha - 0.5) * t) - _log_cosh(t / 2) >= (alpha - 1) * epsilon

    return first_true(enough, 0.0, epsilon + math.log(2) / (alpha - 1), relative=1e-13)


def _log_cosh(x: float) -> float:
    return math.log1p(2 * math.sinh(x / 2) ** 2) if x < 1 else x + math.log1p(math.exp(-2 * x)) - math.log(2)

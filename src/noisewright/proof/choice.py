"""Choices among finitely many candidates."""

from __future__ import annotations

import math
from fractions import Fraction

from noisewright.mechanisms.response import RandomisedResponse
from noisewright.mechanisms.selection import MinkowskiExponential, PermuteAndFlip, RandomExponential
from noisewright.numerics.balls import ball, precision, upper
from noisewright.numerics.fields import BALLS
from noisewright.problem.errors import UncertifiedError
from noisewright.problem.privacy import PureDP
from noisewright.proof.provers import proves

_BITS = 128
_GRID = 2**60


@proves(PureDP, RandomExponential)
def pure_choice(mechanism: RandomExponential, requirement: PureDP) -> tuple[Fraction, str]:
    """The largest epsilon that may be drawn.

    Rule: for each epsilon the exponential mechanism is epsilon-DP, and a mixture over a choice that does not
    depend on the data is as private as its worst part. Nothing better is proven for a random epsilon.
    [McSherryTalwar07, theory#choosing-one-of-several]
    """
    return max(mechanism.epsilons), "pure/exponential-largest-epsilon"


@proves(PureDP, PermuteAndFlip)
def pure_permute_and_flip(mechanism: PermuteAndFlip, requirement: PureDP) -> tuple[Fraction, str]:
    """The mechanism's own epsilon.

    Rule: let c = epsilon / (2 sensitivity), M the best score and p_j = e^(-c (M - s_j)). A candidate's place in the
    order is a uniform u in [0, 1], and each other one is before it and accepted with probability u p_j. So r is chosen
    with probability p_r times the integral over u of the product of 1 - u p_j over j != r. With u = e^(-c (w - M))
    that is the integral over w >= M of the density of s_r + Z_r times the product of P(s_j + Z_j <= w), where the Z
    are independent with P(Z > z) = e^(-c z) for z >= 0; nothing lies below M, where the best has no mass. So r is
    chosen as if s_r + Z_r were the largest of all. Given the other Z, that is Z_r > T for T = max(s_j + Z_j) - s_r.
    One person changes T by at most 2 sensitivities, and P(Z > T + 2 sensitivity) >= e^-epsilon P(Z > T) for every T.
    Scores read from floats may be apart by the stretch besides, by which `rate_of` lessens c.
    [McKennaSheldon20, theory#choosing-one-of-several]
    """
    return mechanism.epsilon, "pure/permute-and-flip"


@proves(PureDP, MinkowskiExponential)
def pure_exponential(mechanism: MinkowskiExponential, requirement: PureDP) -> tuple[Fraction, str]:
    """The largest log-ratio of any candidate over all neighbouring answers, normalising constants included."""
    if next(mechanism.neighbours(), None) is None:
        raise UncertifiedError("refused: no two answers are within the reach, so nobody would be protected.")
    return exponential_bound(mechanism), "pure/enumerated-exponential"


def exponential_bound(mechanism: MinkowskiExponential) -> Fraction:
    """The true epsilon from above."""
    worst = Fraction(0)
    with precision(_BITS):
        rate = ball(mechanism.rate)
        logs = {s: [-rate * mechanism.distance(c, s, BALLS) for c in mechanism.candidates] for s in mechanism.answers}
        totals = {s: sum((v.exp() for v in values), ball(0)).log() for s, values in logs.items()}
        for a, b in mechanism.neighbours():
            offset = totals[b] - totals[a]
            worst = max(worst, *(upper(x - y + offset) for x, y in zip(logs[a], logs[b], strict=True)))
    return worst


def utility_sensitivity(mechanism: MinkowskiExponential) -> Fraction:
    """The largest change of the utility over all candidates and neighbouring answers, from above."""
    pairs = [(c, a, b) for a, b in mechanism.neighbours() for c in mechanism.candidates]
    with precision(_BITS):
        changes = [upper(mechanism.distance(c, a, BALLS) - mechanism.distance(c, b, BALLS)) for c, a, b in pairs]
    return max([Fraction(0), *changes])


@proves(PureDP, RandomisedResponse)
def pure_response(mechanism: RandomisedResponse, requirement: PureDP) -> tuple[Fraction, str]:
    """The logarithm of how much likelier the true value is than another one.

    Rule: two values of a person give the same law but for two places, where it is `truth` and `other` the one way and
    the other; `truth` is not the smaller of them. Rounded up to a grid, so that any version proves the same number.
    [theory#the-local-model]
    """
    ratio = mechanism.truth / mechanism.other
    if ratio == 1:
        return Fraction(0), "pure/randomised-response"
    with precision(_BITS):
        bound = upper(ball(ratio).log())
    return Fraction(math.ceil(bound * _GRID), _GRID), "pure/randomised-response"

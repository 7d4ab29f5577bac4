"""Choices among finitely many candidates."""

from __future__ import annotations

from fractions import Fraction

from noisewright.mechanisms.choice import PermuteAndFlip, RandomExponential
from noisewright.problem.privacy import PureDP


def pure_choice(mechanism: RandomExponential, requirement: PureDP) -> tuple[Fraction, str]:
    """The largest epsilon that may be drawn.

    Rule: for each epsilon the exponential mechanism is epsilon-DP, and a mixture over a choice that does not
    depend on the data is as private as its worst part. Nothing better is proven for a random epsilon.
    """
    return max(mechanism.epsilons), "pure/exponential-largest-epsilon"


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
    """
    return mechanism.epsilon, "pure/permute-and-flip"

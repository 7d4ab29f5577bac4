"""The exponential mechanism with a random epsilon."""

from __future__ import annotations

from fractions import Fraction

from noisewright.mechanisms.choice import RandomExponential
from noisewright.problem.privacy import PureDP


def pure_choice(mechanism: RandomExponential, requirement: PureDP) -> tuple[Fraction, str]:
    """The largest epsilon that may be drawn.

    Rule: for each epsilon the exponential mechanism is epsilon-DP, and a mixture over a choice that does not
    depend on the data is as private as its worst part. Nothing better is proven for a random epsilon.
    """
    return max(mechanism.epsilons), "pure/exponential-largest-epsilon"

"""Compound Gaussian noise for one number under approximate privacy."""

from __future__ import annotations

from fractions import Fraction

from noisewright.laws.gaussian_mixture import GaussianMixture
from noisewright.problem.privacy import ApproxDP
from noisewright.proof.approximate import approximate_delta

_RELATIVE = Fraction(1, 10**9)


def calibrated_mixture(shape: GaussianMixture, privacy: ApproxDP, sensitivity: Fraction) -> GaussianMixture:
    """The shape scaled to the smallest noise that is proven private, to a relative 1e-9.

    Guarantees: the delta of the returned law was checked in balls to be at most the required one.
    """

    def private(factor: Fraction) -> bool:
        return approximate_delta(shape.scaled(factor), privacy.epsilon, sensitivity)[0] <= privacy.delta

    low, high = Fraction(0), sensitivity
    while not private(high):
        low, high = high, 2 * high
    while high - low > _RELATIVE * high:
        middle = (low + high) / 2
        if private(middle):
            high = middle
        else:
            low = middle
    return shape.scaled(high)

"""What Rényi and concentrated privacy ask of Gaussian and of purely private noise."""

from __future__ import annotations

import math
from fractions import Fraction

from noisewright.problem.privacy import LARGEST_EPSILON, SMALLEST_EPSILON, RenyiDP, ZeroConcentratedDP
from noisewright.proof.renyi import pure_to_renyi
from noisewright.search.families.calibration import smallest_scale

Concentrated = RenyiDP | ZeroConcentratedDP
_SCALE_TOLERANCE = 1e-6


def gaussian_rho(privacy: Concentrated) -> Fraction:
    """The concentration of Gaussian noise that meets the requirement."""
    return privacy.rho if isinstance(privacy, ZeroConcentratedDP) else privacy.epsilon / privacy.alpha


def pure_epsilon(privacy: Concentrated) -> Fraction | None:
    """The largest pure epsilon that implies the requirement, None beyond what pure privacy allows.

    Guarantees: the returned epsilon is one at which the implication was checked.
    """

    def holds(inverse: Fraction) -> bool:
        epsilon = 1 / inverse
        if isinstance(privacy, ZeroConcentratedDP):
            return epsilon**2 / 2 <= privacy.rho
        return pure_to_renyi(epsilon, privacy.alpha) <= privacy.epsilon

    found = 1 / smallest_scale(holds, 1 / math.sqrt(2 * float(gaussian_rho(privacy))), _SCALE_TOLERANCE)
    shortened = Fraction(math.floor(found * 10**9), 10**9)
    return min(shortened, LARGEST_EPSILON) if shortened >= SMALLEST_EPSILON else None

"""Several numbers under Rényi, concentrated or probabilistic privacy."""

from __future__ import annotations

import math
from fractions import Fraction

from noisewright.problem.queries import Vector
from noisewright.problem.utility import Utility
from noisewright.search.families.concentrated import Concentrated, gaussian_rho, pure_epsilon
from noisewright.search.families.vector_approximate import gaussian_noise
from noisewright.search.families.vector_pure import Mechanisms, pure_mechanisms

_UNIT = 2**40


def concentrated_mechanisms(query: Vector, privacy: Concentrated, utility: Utility) -> Mechanisms:
    """Gaussian noise of every shape, and purely private noise at the epsilon that implies the requirement."""
    # Gaussian noise costs half its squared length.
    length = Fraction(math.isqrt(math.floor(2 * gaussian_rho(privacy) * _UNIT**2)), _UNIT)
    found = gaussian_noise(query, length, utility)
    epsilon = pure_epsilon(privacy)
    return found if epsilon is None else found | pure_mechanisms(query, epsilon, utility)

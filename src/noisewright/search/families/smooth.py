"""Smooth noise on a fine lattice, calibrated for a requirement and a utility."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from noisewright.laws.gaussian import Gaussian
from noisewright.laws.generalized_gaussian import GeneralizedGaussian
from noisewright.laws.laplace import Laplace, TruncatedLaplace
from noisewright.laws.logistic import Logistic
from noisewright.mechanisms.additive import Additive
from noisewright.mechanisms.expected import ErrorLaw
from noisewright.numerics.fields import FLOATS
from noisewright.problem.errors import UncertifiedError
from noisewright.problem.privacy import ApproxDP, ProbabilisticDP
from noisewright.problem.queries import Scalar
from noisewright.problem.utility import Utility
from noisewright.proof.approximate import approximate_delta
from noisewright.proof.certify import certify
from noisewright.search.families.calibration import (
    GAUSSIAN,
    LOGISTIC,
    calibrated,
    float_scales,
    generalized_gaussians,
    pure_power_scale,
    smallest_scale,
)
from noisewright.search.tools.lattices import on_cells

Target = ApproxDP | ProbabilisticDP

_LATTICE_TOLERANCE = 1e-5
_BOUND_TOLERANCE = 1e-11
_POWERS_ABOVE = np.round(np.concatenate([np.arange(1.0, 2.0, 0.02), np.arange(2.0, 6.0, 0.1)]), 2)
_POWERS_BELOW = np.round(np.arange(0.3, 1.0, 0.05), 2)


def on_lattice(
    query: Scalar, privacy: Target, utility: Utility, make: Callable[[Fraction], Any], scale: Fraction
) -> Additive:
    """The law of this scale on its lattice; for probabilistic privacy with as much more as rounding asks for.

    Guarantees: the scale is one at which the verifier's rule for the lattice noise held.
    """
    first = on_cells(query, make(scale), scale, utility)
    if isinstance(privacy, ApproxDP):
        return first

    holds = certifies(lambda candidate: Additive(query, make(candidate), first.lattice), privacy)
    if holds(scale):
        return first
    enlarged = smallest_scale(holds, float(scale), _LATTICE_TOLERANCE)
    return Additive(query, make(enlarged), first.lattice)


def certifies(make: Callable[[Fraction], Additive], privacy: Any) -> Callable[[Fraction], bool]:
    """Whether the mechanism of a scale is certified."""

    def holds(scale: Fraction) -> bool:
        try:
            certify(make(scale), privacy)
        except UncertifiedError:
            return False
        return True

    return holds


def gaussian(query: Scalar, privacy: Target, utility: Utility) -> Additive:
    """Gaussian noise with the exact standard deviation."""
    return on_lattice(query, privacy, utility, Gaussian, calibrated(GAUSSIAN, query.sensitivity, privacy).std)


def logistic(query: Scalar, privacy: Target, utility: Utility) -> Additive:
    """Logistic noise with the exact scale."""
    return on_lattice(query, privacy, utility, Logistic, calibrated(LOGISTIC, query.sensitivity, privacy).scale)


def laplace(query: Scalar, privacy: Target, utility: Utility) -> Additive:
    """Laplace noise with the exact scale; for probabilistic privacy that is the pure one."""
    scale = query.sensitivity / privacy.epsilon
    if isinstance(privacy, ApproxDP):
        scale = calibrated(generalized_gaussians(1), query.sensitivity, privacy).scale
    return on_cells(query, Laplace(scale), scale, utility)


def best_generalized_gaussian(query: Scalar, privacy: Target, utility: Utility) -> Additive:
    """The generalized Gaussian whose power is best for the utility, to two digits."""
    power = best_power(query, privacy, utility)
    if power < 1:
        scale = pure_power_scale(power, privacy.epsilon, query.sensitivity)
        return on_cells(query, GeneralizedGaussian(power, scale), scale, utility)
    if power == 1 and isinstance(privacy, ProbabilisticDP):
        scale = query.sensitivity / privacy.epsilon
    else:
        scale = calibrated(generalized_gaussians(power), query.sensitivity, privacy).scale
    return on_lattice(query, privacy, utility, lambda b: GeneralizedGaussian(power, b), scale)


def best_power(query: Scalar, privacy: Target, utility: Utility) -> Fraction:
    """The best power on a grid from 0.3 to 6, in floats."""
    epsilon, delta = float(privacy.epsilon), float(privacy.delta)
    both = isinstance(privacy, ProbabilisticDP)
    above = float_scales(_POWERS_ABOVE, np.array(epsilon), np.array(delta), np.array(both))
    if both:
        above[0] = 1 / epsilon
    below = (1 / epsilon) ** (1 / _POWERS_BELOW)
    sign = -1 if utility.larger_is_better else 1
    choices = []
    for powers, scales in ((_POWERS_ABOVE, above), (_POWERS_BELOW, below)):
        for power, scale in zip(powers, scales, strict=True):
            law = GeneralizedGaussian(Fraction(str(power)), Fraction(float(scale)) * query.sensitivity)
            choices.append((sign * float_value(law, utility), law.power))
    return min(choices)[1]


def float_value(law: Any, utility: Utility) -> float:
    """The utility of continuous noise, in floats."""
    return float(utility.under(ErrorLaw(law, integer=False), FLOATS))


def truncated_laplace(query: Scalar, privacy: Target, utility: Utility) -> Additive:
    """Laplace noise of the pure scale, cut where the last sensitivity weighs delta."""
    reach, epsilon = query.sensitivity, privacy.epsilon
    scale = reach / epsilon
    end = float(scale) * math.log1p(math.expm1(float(epsilon)) / (2 * float(privacy.delta)))

    def holds(bound: Fraction) -> bool:
        return approximate_delta(TruncatedLaplace(scale, bound), epsilon, reach)[0] <= privacy.delta

    bound = smallest_scale(holds, end * (1 + 1e-12), _BOUND_TOLERANCE)
    found = on_cells(query, TruncatedLaplace(scale, bound), scale, utility)
    if isinstance(privacy, ApproxDP):
        return found
    # Cells that reach beyond the end would be counted whole.
    step = found.lattice.step
    return Additive(query, TruncatedLaplace(scale, -(-bound // step) * step), found.lattice)

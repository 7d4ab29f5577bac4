"""Smooth noise on a fine lattice, calibrated for a requirement and a utility."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from noisewright.laws.gaussian import GeneralizedGaussian
from noisewright.laws.laplace import Laplace, TruncatedLaplace
from noisewright.mechanisms.additive import Additive
from noisewright.mechanisms.expected import ErrorLaw
from noisewright.numerics.fields import FLOATS
from noisewright.numerics.special import power_from_above
from noisewright.problem.errors import UncertifiedError
from noisewright.problem.queries import Scalar
from noisewright.problem.utility import Utility
from noisewright.proof.approximate import approximate_delta
from noisewright.proof.certify import certify
from noisewright.search.families.calibration import (
    Family,
    Target,
    calibrated_many,
    float_scales,
    generalized_gaussians,
    smallest_scale,
)
from noisewright.search.tools.golden import on_cells

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
    if not privacy.pointwise:
        return first
    holds = certifies(lambda candidate: Additive(query, make(candidate), first.lattice), privacy)
    if holds(scale):
        return first
    return Additive(query, make(smallest_scale(holds, float(scale), _LATTICE_TOLERANCE)), first.lattice)


def certifies(make: Callable[[Fraction], Additive], privacy: Any) -> Callable[[Fraction], bool]:
    """Whether the mechanism of a scale is certified."""

    def holds(scale: Fraction) -> bool:
        try:
            certify(make(scale), privacy)
        except UncertifiedError:
            return False
        return True

    return holds


def smooth(query: Scalar, privacy: Target, utility: Utility, family: Family) -> Additive:
    """Noise of one family with the exact scale."""
    scale = calibrated_many(family, query.sensitivity, [privacy])[0]
    return on_lattice(query, privacy, utility, family.make, scale)


def laplace(query: Scalar, privacy: Target, utility: Utility) -> Additive:
    """Laplace noise with the exact scale; for probabilistic privacy that is the pure one."""
    scale = query.sensitivity / privacy.epsilon
    if not privacy.pointwise:
        scale = calibrated_many(generalized_gaussians(1), query.sensitivity, [privacy])[0]
    return on_cells(query, Laplace(scale), scale, utility)


def best_generalized_gaussian(query: Scalar, privacy: Target, utility: Utility) -> Additive:
    """The generalized Gaussian whose power is best for the utility, to two digits."""
    power = best_power(query, privacy, utility)
    if power > 1 or (power == 1 and not privacy.pointwise):
        return smooth(query, privacy, utility, generalized_gaussians(power))
    scale = query.sensitivity * power_from_above(1 / privacy.epsilon, 1 / power)
    return on_lattice(query, privacy, utility, partial(GeneralizedGaussian, power), scale)


def best_power(query: Scalar, privacy: Target, utility: Utility) -> Fraction:
    """The best power on a grid from 0.3 to 6, in floats."""
    epsilon, delta = float(privacy.epsilon), float(privacy.delta)
    above = float_scales(_POWERS_ABOVE, np.array(epsilon), np.array(delta), np.array(privacy.pointwise))
    if privacy.pointwise:
        above[0] = 1 / epsilon
    scales = [*above, *(1 / epsilon) ** (1 / _POWERS_BELOW)]
    sign = -1 if utility.larger_is_better else 1
    choices = []
    for power, scale in zip([*_POWERS_ABOVE, *_POWERS_BELOW], scales, strict=True):
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
    if not privacy.pointwise:
        return found
    # Cells that reach beyond the end would be counted whole.
    step = found.lattice.step
    return Additive(query, TruncatedLaplace(scale, -(-bound // step) * step), found.lattice)

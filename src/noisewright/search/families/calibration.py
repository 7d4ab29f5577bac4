"""Smallest scales that meet a requirement: found in floats, returned only after the verifier's own rule held.

The float search parametrises a law by the point t where its log-ratio passes epsilon, which gives the
scale in closed form; no equation has to be solved inside another. Rényi and concentrated privacy ask Gaussian noise
for a concentration, and purely private noise for an epsilon.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from noisewright.laws.gaussian import Gaussian, GeneralizedGaussian
from noisewright.laws.hyperbolic import Logistic
from noisewright.numerics.arrays import Floats
from noisewright.numerics.balls import precision, upper
from noisewright.numerics.bisection import first_true, geometric
from noisewright.numerics.fields import BALLS
from noisewright.numerics.gamma import gamma_tail
from noisewright.numerics.special import power_from_above
from noisewright.problem.errors import InvalidPrivacyError, SolverError
from noisewright.problem.numbers import Number, parameter
from noisewright.problem.privacy import (
    LARGEST_EPSILON,
    SMALLEST_EPSILON,
    ApproxDP,
    ProbabilisticDP,
    RenyiDP,
    ZeroConcentratedDP,
)
from noisewright.proof.approximate import BITS, approximate_delta
from noisewright.proof.pure import pure_bound
from noisewright.proof.renyi import pure_to_renyi

_ROUNDS = 52
_MARGIN = 2.0**-37
_MOST_MARGINS = 60
_DIGITS = 2**44
_LAST_DIGIT = Fraction(1, 2**240)

Target = ApproxDP | ProbabilisticDP
Concentrated = RenyiDP | ZeroConcentratedDP
_SCALE_TOLERANCE = 1e-6


@dataclass(frozen=True, slots=True)
class Family:
    """Laws that differ by their scale alone; `unit` is what one of the float search's scales is called here."""

    power: Fraction | None
    make: Callable[[Fraction], Any]
    unit: float = 1.0


GAUSSIAN = Family(Fraction(2), Gaussian, math.sqrt(0.5))
LOGISTIC = Family(None, Logistic)


def generalized_gaussians(power: Number) -> Family:
    """Generalized Gaussian laws of one power, which must be at least 1."""
    value = parameter(power, "power")
    if value < 1:
        raise InvalidPrivacyError(
            "below power 1 a generalized Gaussian is purely private: its scale is sensitivity / epsilon^(1/power)."
        )
    return Family(value, partial(GeneralizedGaussian, value))


def calibrated(family: Family, sensitivity: Number, privacy: Target) -> Any:
    """The law of the family with the smallest scale that meets the requirement, before any rounding.

    Rule: the exact profile of a log-concave law. [theory#the-privacy-profile-of-one-number]
    Guarantees: delta at the returned scale was bounded in balls and is at most the requirement's; the
    scale exceeds the smallest possible one by at most 1e-9 of it.
    """
    return family.make(calibrated_many(family, sensitivity, [privacy])[0])


def calibrated_many(family: Family, sensitivity: Number, requirements: Sequence[Target]) -> list[Fraction]:
    """The same for many requirements at once: one vectorised search, then each scale is checked by itself."""
    reach = parameter(sensitivity, "sensitivity")
    epsilon, delta = np.array([(float(r.epsilon), float(r.delta)) for r in requirements]).T
    both = np.array([r.pointwise for r in requirements])
    scales = float_scales(family.power, epsilon, delta, both) * family.unit
    return [_checked(family, reach, privacy, scale) for privacy, scale in zip(requirements, scales, strict=True)]


def float_scales(power: Any, epsilon: Floats, delta: Floats, both_sides: Any) -> Floats:
    """Scales for sensitivity 1, in floats; `power` None means logistic.

    `both_sides` marks probabilistic requirements. Powers may be an array of their own.
    """
    if power is None:
        return _logistic_scales(epsilon, delta, both_sides)
    exponent = np.asarray(power, dtype=np.float64)

    def scale_at(place: Floats) -> Floats:
        return np.asarray((_rise(place, exponent) / epsilon) ** (1 / exponent))

    def delta_at(above_middle: Floats) -> Floats:
        place = above_middle - 0.5
        scale = scale_at(place)
        return _two_tails(lambda x: power_tail(x / scale, exponent), place, epsilon, both_sides)

    found = scale_at(_solve(delta_at, delta, np.broadcast_shapes(epsilon.shape, exponent.shape)) - 0.5)
    # At power 1 the log-ratio stops rising at zero: from scale 1/epsilon on delta is 0.
    return np.asarray(np.where(exponent == 1, np.minimum(found, 1 / epsilon), found))


def _rise(place: Floats, exponent: Floats) -> Floats:
    """|x + 1|^p - |x|^p without losing digits far out."""
    with np.errstate(all="ignore"):
        far = np.abs(place) ** exponent * np.expm1(exponent * np.log1p(1 / np.where(place > 1, place, 2.0)))
        near = np.abs(place + 1) ** exponent - np.abs(place) ** exponent
    return np.asarray(np.where(place > 1, far, near))


def power_tail(x: Floats, exponent: Floats) -> Floats:
    """P(X > x) for densities proportional to e^(-|x|^exponent), in floats."""
    half = gamma_tail(1 / exponent, np.abs(x) ** exponent) / 2
    return np.asarray(np.where(x >= 0, half, 1 - half))


def _two_tails(tail: Callable[[Floats], Floats], place: Floats, epsilon: Floats, both_sides: Any) -> Floats:
    return np.asarray(tail(place) + np.where(both_sides, 1.0, -np.exp(epsilon)) * tail(place + 1))


def _logistic_scales(epsilon: Floats, delta: Floats, both_sides: Any) -> Floats:
    """Parametrised by the share w of the pure scale 1 / epsilon; the crossing is explicit."""

    def delta_at(share: Floats) -> Floats:
        scale = share / (1 + share) / epsilon
        with np.errstate(all="ignore"):
            half_excess = (epsilon - 1 / scale) / 2
            u = -np.expm1(half_excess) / (np.exp(half_excess) - np.exp(-1 / scale))
            place = -np.log(u) * scale
            tails = _two_tails(lambda x: 1 / (1 + np.exp(x / scale)), place, epsilon, both_sides)
        # Far below the pure scale every set is told apart; at it the ratio never passes epsilon.
        return np.asarray(np.where(half_excess < -300, 1.0, np.where(np.isfinite(tails), tails, 0.0)))

    share = _solve(delta_at, delta, epsilon.shape)
    return np.asarray(share / (1 + share) / epsilon)


def _solve(delta_at: Callable[[Floats], Floats], target: Floats, shape: tuple[int, ...]) -> Floats:
    """The w > 0 at which a decreasing delta meets its target, by bisection on logarithms."""
    low, width = np.full(shape, -30.0), 70.0
    for _ in range(_ROUNDS):
        width /= 2
        low = low + width * (delta_at(np.exp(low + width)) > target)
    return np.asarray(np.exp(low + width))


def delta_from_above(law: Any, privacy: Target, reach: Fraction) -> Fraction:
    """The continuous law's delta of the kind that is asked for, bounded from above."""
    if not privacy.pointwise:
        return approximate_delta(law, privacy.epsilon, reach)[0]
    around = law.crossing(privacy.epsilon, reach)
    if around is None:
        return Fraction(0)
    with precision(BITS):
        return upper(law.sf(around[0], BALLS) + law.sf(around[0] + reach, BALLS))


def _checked(family: Family, reach: Fraction, privacy: Target, guess: float) -> Fraction:
    """The guess, enlarged by margins that double until the verifier's rule holds."""
    for doublings in range(_MOST_MARGINS):
        scale = rounded_up(guess * (1 + _MARGIN * 2**doublings)) * reach
        if delta_from_above(family.make(scale), privacy, reach) <= privacy.delta:
            return scale
    raise SolverError(f"no scale near {guess:.6g} could be proven for {privacy}; report this problem.")


def gaussian_delta_at(length: float, epsilon: float) -> Fraction:
    """Hardly below the delta of Gaussian noise at an epsilon, for differences of so many deviations; in floats."""
    places = np.array([epsilon / length - length / 2, epsilon / length + length / 2]) / math.sqrt(2)
    near, far = power_tail(places, np.asarray(2.0))
    return Fraction(float(near - math.exp(epsilon) * far) * (1 - _MARGIN)).limit_denominator(10**15)


def pure_scale(power: Fraction, reach: Fraction, epsilon: Fraction) -> Fraction:
    """About the smallest scale at which generalized Gaussian noise of a power of at most 1 is purely private.

    Guarantees: the verifier's rule was evaluated at the returned scale and held. A root and its power are both rounded
    up, so the rounded root alone may miss in the last digit.
    """
    scale, margin = reach * power_from_above(1 / epsilon, 1 / power), _LAST_DIGIT
    while pure_bound(GeneralizedGaussian(power, scale), reach)[0] > epsilon:
        scale, margin = scale * (1 + margin), 2 * margin
    return scale


def rounded_up(value: float | Fraction) -> Fraction:
    """A short binary fraction at most 6e-14 above a positive number."""
    unit = Fraction(2) ** math.frexp(value)[1] / _DIGITS
    return math.ceil(Fraction(value) / unit) * unit


def smallest_scale(holds: Callable[[Fraction], bool], guess: float, tolerance: float) -> Fraction:
    """The smallest scale at which a property holds that stays true from some scale on, to a relative tolerance.

    Guarantees: the returned scale is one at which the property was evaluated and held.
    """
    reach, high = tolerance, rounded_up(guess)
    while not holds(high):
        if reach > 1e6:
            raise SolverError("no scale could be proven; report this problem.")
        high, reach = rounded_up(float(high) * (1 + reach)), 4 * reach
    reach, low = tolerance, rounded_up(float(high) / (1 + tolerance))
    while holds(low):
        reach *= 4
        low, high = rounded_up(float(low) / (1 + reach)), low
        if float(low) < guess * 1e-9:
            return high
    return first_true(
        holds, low, high, relative=tolerance, middle=lambda a, b: rounded_up(geometric(float(a), float(b)))
    )


def pure_epsilon(privacy: Concentrated) -> Fraction | None:
    """The largest pure epsilon that implies the requirement, None beyond what pure privacy allows.

    Guarantees: the returned epsilon is one at which the implication was checked.
    """

    def holds(inverse: Fraction) -> bool:
        epsilon = 1 / inverse
        if privacy.alpha is None:
            return epsilon**2 / 2 <= privacy.gaussian_rho
        return pure_to_renyi(epsilon, privacy.alpha) <= privacy.gaussian_rho * privacy.alpha

    found = 1 / smallest_scale(holds, 1 / math.sqrt(2 * float(privacy.gaussian_rho)), _SCALE_TOLERANCE)
    shortened = Fraction(math.floor(found * 10**9), 10**9)
    return min(shortened, LARGEST_EPSILON) if shortened >= SMALLEST_EPSILON else None

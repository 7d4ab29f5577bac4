"""Smallest scales that meet a requirement: found in floats, returned only after the verifier's own rule held.

The float search parametrises a law by the point t where its log-ratio passes epsilon, which gives the
scale in closed form; no equation has to be solved inside another. Rényi and concentrated privacy ask Gaussian noise
for a concentration, and purely private noise for an epsilon. For several numbers that move together the search
discretises losses as the verifier does, vectorised; where some numbers are whole, real noise is widened until its
discrete form is proven.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, partial
from typing import Any

import numpy as np

from noisewright.laws.gaussian import Gaussian, GeneralizedGaussian
from noisewright.laws.hyperbolic import Logistic
from noisewright.mechanisms.additive import Additive
from noisewright.mechanisms.per_coordinate import PerCoordinate
from noisewright.numerics.balls import precision, upper
from noisewright.numerics.bisection import first_true, gallop, geometric
from noisewright.numerics.fields import BALLS, Floats, gamma_tail
from noisewright.numerics.special import power_from_above
from noisewright.problem.errors import (
    InvalidLawError,
    InvalidPrivacyError,
    InvalidQueryError,
    SolverError,
    UncertifiedError,
)
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
from noisewright.proof.composed import joint_delta, move_of
from noisewright.proof.pure import pure_bound
from noisewright.proof.renyi import pure_to_renyi
from noisewright.proof.vector_gaussian import approximate_per_coordinate
from noisewright.proof.vectors import root_above

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
    Guarantees: delta at the returned scale was bounded in interval arithmetic and is at most the requirement's; the
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


# Several numbers that move together: the smallest scales of one family whose composed losses meet delta.


_CELLS = 30
_EPSILON_ERROR = 1e-4
_JOINT_MARGIN = 2.0**-16
_MOST_JOINT_MARGINS = 20
_TOLERANCE = 2e-5
_TAIL = 2.0**-64
_HALVINGS = 46
_SEVERAL = 256
_FINEST = Fraction(1, 2**14)
_WIDENED = 12


def calibrated_together(family: Family, sensitivities: Sequence[Number], privacy: ApproxDP) -> list[Any]:
    """Laws of one family for numbers that may all move at once, each of a scale in proportion to its sensitivity.

    Rule: the corner of the box is the worst difference (`proof.composed`); Gaussian noise by its exact rule.
    [theory#several-noises-under]
    Guarantees: delta was bounded in balls and is at most the requirement's; the scales exceed the smallest possible
    ones by at most 1e-3 of them (1e-9 for one number and for Gaussian noise).
    Valid for: approximate privacy, powers of at least 1, 1 to 256 positive sensitivities.
    """
    reaches = [parameter(value, "sensitivity") for value in sensitivities]
    if not 1 <= len(reaches) <= _SEVERAL or min(reaches) <= 0:
        raise InvalidQueryError(f"give 1 to {_SEVERAL} positive sensitivities; {len(reaches)} were given.")
    if not isinstance(privacy, ApproxDP):
        raise InvalidQueryError("noise for several numbers is calibrated for ApproxDP(epsilon, delta) alone.")
    unit = _unit_scale(family, len(reaches), privacy)
    return [family.make(unit * reach) for reach in reaches]


def _unit_scale(family: Family, count: int, privacy: ApproxDP) -> Fraction:
    """The scale for numbers that move by 1 each."""
    if count == 1:
        return calibrated_many(family, 1, [privacy])[0]
    if family.power == 2:
        # Also where the family writes Gaussian noise as a generalized one.
        return root_above(Fraction(count)) * calibrated_many(family, 1, [privacy])[0]

    def holds(scale: Fraction) -> bool:
        return joint_delta([move_of(family.make(scale), Fraction(1))] * count, privacy.epsilon) <= privacy.delta

    if family.power is None:
        return smallest_scale(holds, count / float(privacy.epsilon), _TOLERANCE)
    guess = 1 / largest_shift(family.power, np.ones(count), privacy)
    for doublings in range(_MOST_JOINT_MARGINS):
        scale = rounded_up(guess * (1 + _JOINT_MARGIN * (2**doublings - 1)))
        if holds(scale):
            return scale
    raise SolverError(f"no scale near {guess:.6g} could be proven for {privacy}; report this problem.")


def largest_shift(power: Fraction, ratios: Floats, privacy: ApproxDP, within: float = _JOINT_MARGIN / 4) -> float:
    """The largest factor at which shifts of so many scales each still meet delta, in floats, to a relative error."""
    epsilon, target = float(privacy.epsilon), math.log(float(privacy.delta))
    exponent = float(power)

    def excess(log_factor: float) -> float:
        found = float_joint_delta(exponent, ratios * math.exp(log_factor), epsilon)
        return math.log(max(found, 1e-300)) - target

    # From the length that Gaussian noise of the same Fisher information allows, outward.
    start = math.log(epsilon / math.sqrt(float(np.sum(ratios**2)) * _information(exponent) * -2 * target))
    if excess(start) > 0:
        high, low = gallop(lambda x: excess(x) <= 0, start, -0.1)
    else:
        low, high = gallop(lambda x: excess(x) > 0, start, 0.1)
    return math.exp(_falling(excess, low, high, within))


def _falling(excess: Callable[[float], float], low: float, high: float, within: float) -> float:
    """Where an excess that rises from low to high is 0, from below: false position, a stale end counting half."""
    below, above, stale = excess(low), excess(high), 0
    while high - low > within:
        place = (low * above - high * below) / (above - below)
        # A quarter of the tolerance off the root, so that both ends close in.
        place = min(max(place, low + within / 4), high - within / 4)
        value = excess(place)
        if value <= 0:
            low, below, above, stale = place, value, above / 2 if stale < 0 else above, -1
        else:
            high, above, below, stale = place, value, below / 2 if stale > 0 else below, 1
    return low


def _information(power: float) -> float:
    """The Fisher information of a generalized Gaussian of scale 1: what a small shift costs, squared."""
    return power**2 * math.gamma(2 - 1 / power) / math.gamma(1 / power)


def float_joint_delta(power: float, shifts: Floats, epsilon: float) -> float:
    """Delta of independent generalized Gaussians of scale 1, all shifted, as the verifier discretises it."""
    if power == 1 and float(np.sum(shifts)) <= epsilon:
        return 0.0
    counts = Counter(float(s) for s in shifts)
    spread = math.sqrt(float(np.mean(shifts**2)) * _information(power))
    cell = min(spread / _CELLS, math.sqrt(8 * _EPSILON_ERROR * epsilon / len(shifts)))
    if power == 1:
        cell = max(counts) / math.ceil(max(counts) / cell)
    tables = {shift: _power_losses(power, shift, cell) for shift in counts}
    length = sum(n * (len(tables[shift][0]) - 1) for shift, n in counts.items()) + 1
    size = 1 << (length - 1).bit_length()
    product = np.ones(size // 2 + 1, dtype=np.complex128)
    middle, infinite = 0, 0.0
    for shift, n in counts.items():
        masses, beyond = tables[shift]
        product *= np.fft.rfft(masses, size) ** n
        middle += n * (len(masses) // 2)
        infinite += n * beyond
    masses = np.maximum(np.fft.irfft(product, size)[:length], 0.0)
    losses = (np.arange(length) - middle) * cell
    above = losses > epsilon
    return infinite + float(np.sum(masses[above] * -np.expm1(epsilon - losses[above])))


def _power_losses(power: float, shift: float, cell: float) -> tuple[Floats, float]:
    """Masses of the losses from -n to n cells, and the mass of infinite loss."""
    from scipy.special import gammainccinv

    exponent = np.asarray(power)
    far = float(gammainccinv(1 / power, _TAIL)) ** (1 / power)
    highest = (far + shift) ** power - far**power
    count = math.ceil(shift / cell - 1e-9) - 1 if power == 1 else math.floor(highest / cell)
    levels = cell * np.arange(1, count + 1)
    low, high = np.full(count, -shift / 2), np.full(count, far)
    for _ in range(_HALVINGS):
        place = (low + high) / 2
        over = np.abs(place + shift) ** power - np.abs(place) ** power > levels
        low, high = np.where(over, low, place), np.where(over, place, high)
    knots = np.concatenate([[-shift / 2], low])
    p, q = (-np.diff(power_tail(knots + moved, exponent), append=0.0) for moved in (0.0, shift))
    grown = np.exp(cell * np.arange(count + 1))
    outer = np.maximum(p - grown * q, 0.0) / -math.expm1(-cell)
    infinite = 0.0
    if power != 1:
        infinite, outer[-1] = max(float(p[-1] - grown[-1] * q[-1]), 0.0), 0.0
    inner = p - outer
    inner[-1] -= infinite
    masses = np.zeros(2 * count + 3)
    places, middle = np.arange(count + 1), count + 1
    masses[middle + places] += inner
    masses[middle + places + 1] += outer
    masses[middle - places] += inner / grown
    masses[middle - places - 1] += outer / (grown * math.exp(cell))
    return masses, infinite


def widened(mechanism: PerCoordinate, privacy: ApproxDP) -> PerCoordinate | None:
    """The mechanism with all its scales made larger by as little as the verifier asks; None where it never agrees.

    Guarantees: the verifier's rule held for what is returned.
    """
    for doublings in range(_WIDENED):
        factor = 1 + (_FINEST * 2 ** (doublings - 1) if doublings else 0)
        try:
            tried = _scaled(mechanism, Fraction(factor))
            if approximate_per_coordinate(tried, privacy)[0] <= privacy.delta:
                return tried
        except (InvalidLawError, UncertifiedError):
            return None
    return None


def _scaled(mechanism: PerCoordinate, factor: Fraction) -> PerCoordinate:
    @cache
    def part(given: Additive) -> Additive:
        law: Any = given.law
        name = "std" if hasattr(law, "std") else "scale"
        return replace(given, law=replace(law, **{name: getattr(law, name) * factor}))

    return replace(mechanism, parts=tuple(None if p is None else part(p) for p in mechanism.parts))

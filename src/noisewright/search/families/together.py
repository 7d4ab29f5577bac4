"""Noise of one family for several numbers that move together: the smallest scales whose composed losses meet delta.

The float search discretises losses as the verifier does, vectorised; what it finds is returned only after the
verifier's own rule held. Where some numbers are whole, real noise is widened until its discrete form is proven.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from noisewright.mechanisms.additive import Additive
from noisewright.mechanisms.per_coordinate import PerCoordinate
from noisewright.numerics.bisection import gallop
from noisewright.numerics.fields import Floats
from noisewright.problem.errors import InvalidLawError, InvalidQueryError, SolverError, UncertifiedError
from noisewright.problem.numbers import Number, parameter
from noisewright.problem.privacy import ApproxDP
from noisewright.proof.composed import joint_delta, move_of
from noisewright.proof.vector_gaussian import approximate_per_coordinate
from noisewright.proof.vectors import root_above
from noisewright.search.families.calibration import Family, calibrated_many, power_tail, rounded_up, smallest_scale

_CELLS = 30
_EPSILON_ERROR = 1e-4
_MARGIN = 2.0**-16
_MOST_MARGINS = 20
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
    for doublings in range(_MOST_MARGINS):
        scale = rounded_up(guess * (1 + _MARGIN * (2**doublings - 1)))
        if holds(scale):
            return scale
    raise SolverError(f"no scale near {guess:.6g} could be proven for {privacy}; report this problem.")


def largest_shift(power: Fraction, ratios: Floats, privacy: ApproxDP, within: float = _MARGIN / 4) -> float:
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

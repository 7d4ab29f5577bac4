"""What many releases cost together: privacy-loss distributions, composed with pessimistic rounding.

The losses are those of the noise that is drawn, at a shift of one sensitivity: for symmetric noise that
falls outward every hockey-stick divergence grows with the shift, so this pair dominates all others.
Composition is done by dp-accounting, which is imported when it is first needed.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.laws.discrete_gaussian import DiscreteGaussian
from noisewright.laws.gaussian import Gaussian
from noisewright.laws.generalized_gaussian import GeneralizedGaussian
from noisewright.laws.laplace import Laplace
from noisewright.laws.logistic import Logistic
from noisewright.laws.piecewise import Piecewise
from noisewright.laws.tabulated import Tabulated
from noisewright.laws.truncated_laplace import TruncatedLaplace
from noisewright.mechanisms.additive import Additive
from noisewright.numerics.fields import FLOATS
from noisewright.problem.errors import InvalidNumberError, InvalidPrivacyError
from noisewright.problem.numbers import Number, parameter
from noisewright.proof.approximate import line_of

Floats = NDArray[np.float64]

LARGEST_COUNT = 1_000_000
_FINEST = 1e-3
_MOST_BUCKETS = 2e5
_TINY = 1e-18
_MOST_POINTS = 400_000
_FLOAT_NOISE = 1e-9


def composed_delta(mechanism: Additive, count: int, epsilon: Number) -> float:
    """Delta of `count` independent releases at this epsilon, rounded up (in floats, by dp-accounting)."""
    check_count(count)
    target = float(parameter(epsilon, "epsilon"))
    return float(_composed(mechanism, count, target).get_delta_for_epsilon(target))


def composed_epsilon(mechanism: Additive, count: int, delta: Number) -> float:
    """Epsilon of `count` independent releases at this delta, rounded up (in floats, by dp-accounting)."""
    check_count(count)
    share = float(parameter(delta, "delta"))
    if not 0 < share < 1:
        raise InvalidPrivacyError(f"delta is {share:.6g}; it must lie strictly between 0 and 1.", delta=share)
    guess = 1.0
    for _ in range(4):
        found = float(_composed(mechanism, count, guess).get_epsilon_for_delta(share))
        if not math.isfinite(found) or 0.5 * guess <= found <= 2 * guess:
            return found
        guess = max(found, 1e-6)
    return found


def check_count(count: int) -> None:
    """How many releases a plan can have."""
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= LARGEST_COUNT:
        raise InvalidNumberError(
            f"compose is {count!r}; give how many equal releases are planned, 1 to {LARGEST_COUNT:,}.", given=count
        )


def loss_distribution(mechanism: Additive, interval: float) -> Any:
    """The privacy-loss distribution of one release, every loss rounded up to a multiple of `interval`."""
    from dp_accounting.pld import pld_pmf, privacy_loss_distribution

    if isinstance(mechanism.law, Laplace):
        return privacy_loss_distribution.from_laplace_mechanism(
            float(mechanism.law.scale),
            sensitivity=float(mechanism.query.sensitivity),
            value_discretization_interval=interval,
        )
    masses, shift = lattice_masses(mechanism)
    moved = np.concatenate([masses[shift:], np.zeros(min(shift, len(masses)))])[: len(masses)]
    impossible = float(np.sum(masses[moved <= 0])) + max(0.0, 1 - float(np.sum(masses)))
    possible = (masses > 0) & (moved > 0)
    losses = np.log(masses[possible]) - np.log(moved[possible])
    # A loss that is a multiple of the interval up to float noise stays where it is.
    buckets = np.ceil(losses / interval - _FLOAT_NOISE).astype(np.int64)
    first = int(buckets.min())
    weights = np.bincount(buckets - first, weights=masses[possible])
    table = {first + int(i): float(weights[i]) for i in np.flatnonzero(weights)}
    return privacy_loss_distribution.PrivacyLossDistribution(
        pld_pmf.create_pmf(table, interval, impossible, pessimistic_estimate=True)
    )


def _composed(mechanism: Additive, count: int, epsilon: float) -> Any:
    interval = max(epsilon * _FINEST / count, epsilon / _MOST_BUCKETS)
    law = mechanism.law
    if isinstance(law, Piecewise) and all(level.denominator == 1 for level in law.levels):
        # Every loss is a multiple of the rate.
        interval = float(law.rate)
    return loss_distribution(mechanism, interval).self_compose(count)


def staircase_losses(epsilon: float, split: float) -> Any:
    """The privacy-loss distribution of a staircase with this split: it has three values only."""
    from dp_accounting.pld import pld_pmf, privacy_loss_distribution

    b = math.exp(-epsilon)
    top = (1 - b) / (2 * (split + b * (1 - split)))
    edge = min(split, 1 - split)
    up = 0.5 + edge * top
    even = abs(1 - 2 * split) * top * (b if split < 0.5 else 1.0)
    table = {1: up, 0: even, -1: max(0.0, 1 - up - even)}
    return privacy_loss_distribution.PrivacyLossDistribution(
        pld_pmf.create_pmf(table, epsilon, 0.0, pessimistic_estimate=True)
    )


def lattice_masses(mechanism: Additive) -> tuple[Floats, int]:
    """Masses of the drawn noise on consecutive lattice points, and the sensitivity in points.

    What lies beyond the points is left out; its mass counts as an infinite loss.
    """
    law, lattice = mechanism.law, mechanism.lattice
    if isinstance(law, Tabulated):
        line = np.array([w / law.total for w in line_of(law)])
        return line, int(mechanism.query.sensitivity / law.width)
    reach = _reach(mechanism.noise.law, float(lattice.step))
    edges: Floats = (np.arange(reach + 1, dtype=np.float64) + (0.5 if lattice.edge else 0.0)) * float(lattice.step)
    tails = tail_array(mechanism.noise.law, edges)
    side = tails[:-1] - tails[1:]
    if lattice.edge:
        centre = 1 - 2 * tails[0]
        line = np.concatenate([side[::-1], [centre], side])
    else:
        line = np.concatenate([side[::-1], side])
    return line, int(mechanism.query.sensitivity / lattice.step)


def _reach(law: Any, step: float) -> int:
    points = 64
    while points < _MOST_POINTS and float(law.sf(points * step, FLOATS)) > _TINY:
        points *= 2
    return points


@singledispatch
def tail_array(law: Any, x: Floats) -> Floats:
    """P(X > x) for each x >= 0, in floats."""
    return np.array([float(law.sf(Fraction(float(v)), FLOATS)) for v in x])


@tail_array.register
def _(law: Gaussian, x: Floats) -> Floats:
    from scipy.special import erfc

    return np.asarray(erfc(x / (float(law.std) * math.sqrt(2))) / 2)


@tail_array.register
def _(law: GeneralizedGaussian, x: Floats) -> Floats:
    from scipy.special import gammaincc

    return np.asarray(gammaincc(1 / float(law.power), (x / float(law.scale)) ** float(law.power)) / 2)


@tail_array.register
def _(law: Logistic, x: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(np.minimum(x / float(law.scale), 700.0))))


@tail_array.register
def _(law: TruncatedLaplace, x: Floats) -> Floats:
    end, scale = float(law.bound), float(law.scale)
    inside = np.maximum(end - x, 0.0)
    return np.asarray(math.exp(-end / scale) * np.expm1(inside / scale) / (-2 * math.expm1(-end / scale)))


@tail_array.register
def _(law: DiscreteGaussian, x: Floats) -> Floats:
    return np.array([float(law.tail(math.floor(v + 0.5), FLOATS)) for v in x])

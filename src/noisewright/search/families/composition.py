"""What many releases cost together: privacy-loss distributions, composed with pessimistic rounding.

The losses are those of the noise that is drawn, at a shift of one sensitivity: for symmetric noise that
falls outward every hockey-stick divergence grows with the shift, so this pair dominates all others. Other
noise is refused: some smaller shift, or the other direction, can cost far more.
Composition is done by dp-accounting, which is imported when it is first needed.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import singledispatch
from itertools import pairwise
from typing import Any

import numpy as np

from noisewright.laws.discrete_gaussian import DiscreteGaussian
from noisewright.laws.gaussian import Gaussian, GeneralizedGaussian
from noisewright.laws.laplace import Laplace, TruncatedLaplace
from noisewright.laws.logistic import Logistic
from noisewright.laws.piecewise import Piecewise
from noisewright.laws.tabulated import Tabulated
from noisewright.mechanisms.additive import Additive
from noisewright.numerics.arrays import Floats
from noisewright.numerics.fields import FLOATS
from noisewright.problem.errors import (
    InvalidMechanismError,
    InvalidNumberError,
    InvalidPrivacyError,
    UncertifiedError,
)
from noisewright.problem.numbers import Number, parameter, show
from noisewright.proof.approximate import line_of
from noisewright.proof.pure import pure_bound
from noisewright.search.families.calibration import power_tail

LARGEST_COUNT = 1_000_000
_FINEST = 1e-3
_MOST_BUCKETS = 2e5
_TINY = 1e-18
_MOST_POINTS = 400_000
_FLOAT_NOISE = 1e-9


def composed_delta(mechanism: Additive, count: int, epsilon: Number) -> float:
    """Delta of `count` independent releases at this epsilon, rounded up (in floats, by dp-accounting).

    Guarantees: 0 where the releases are purely private at this epsilon by the sum of their proven bounds.
    Valid for: symmetric noise that falls outward, with a sensitivity of whole cells where the noise is made of
    cells; raises UncertifiedError otherwise.
    """
    check_count(count)
    target = float(parameter(epsilon, "epsilon"))
    if not 0 < target < math.inf:
        raise InvalidPrivacyError(f"epsilon is {target:.6g}; it must be above 0.", epsilon=target)
    check_dominated(mechanism)
    if target >= _pure_sum(mechanism, count):
        return 0.0
    return float(_composed(mechanism, count, target).get_delta_for_epsilon(target))


def composed_epsilon(mechanism: Additive, count: int, delta: Number) -> float:
    """Epsilon of `count` independent releases at this delta, rounded up (in floats, by dp-accounting).

    Guarantees: at most the sum of the proven pure bounds, where the noise has one. Infinite only for noise with a
    bounded support, where no epsilon has so small a delta.
    Valid for: symmetric noise that falls outward, with a sensitivity of whole cells where the noise is made of
    cells; raises UncertifiedError otherwise, and where the noise has too many lattice points to be followed.
    """
    check_count(count)
    share = float(parameter(delta, "delta"))
    if not 0 < share < 1:
        raise InvalidPrivacyError(f"delta is {share:.6g}; it must lie strictly between 0 and 1.", delta=share)
    check_dominated(mechanism)
    found = min(_epsilon_at(mechanism, count, share), _pure_sum(mechanism, count))
    if math.isinf(found) and not isinstance(mechanism.law, Tabulated | TruncatedLaplace):
        raise UncertifiedError(
            f"refused: {type(mechanism.law).__name__} noise on a lattice of step {float(mechanism.lattice.step):.6g}"
            " has too many points of weight to be composed. Use a coarser lattice or a larger delta."
        )
    return found


def _epsilon_at(mechanism: Additive, count: int, share: float) -> float:
    guess = 1.0
    for _ in range(4):
        found = float(_composed(mechanism, count, guess).get_epsilon_for_delta(share))
        if not math.isfinite(found) or 0.5 * guess <= found <= 2 * guess:
            return found
        guess = max(found, 1e-6)
    return found


def _pure_sum(mechanism: Additive, count: int) -> float:
    """The sum of the pure bounds of the releases, a float at or above it; infinite where none is proven."""
    try:
        bound, _ = pure_bound(mechanism.law, mechanism.query.sensitivity)
    except UncertifiedError:
        return math.inf
    total = float(count * bound)
    return total if Fraction(total) >= count * bound else math.nextafter(total, math.inf)


def check_count(count: int) -> None:
    """How many releases a plan can have."""
    if type(count) is not int or not 1 <= count <= LARGEST_COUNT:
        raise InvalidNumberError(
            f"compose is {count!r}; give how many equal releases are planned, 1 to {LARGEST_COUNT:,}.", given=count
        )


def loss_distribution(mechanism: Additive, interval: float) -> Any:
    """The privacy-loss distribution of one release, every loss rounded up to a multiple of `interval`.

    Valid for: noise that `check_dominated` lets pass; raises UncertifiedError otherwise.
    """
    from dp_accounting.pld import privacy_loss_distribution

    check_dominated(mechanism)
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
    return _distribution(table, interval, impossible)


def _distribution(table: dict[int, float], interval: float, impossible: float) -> Any:
    from dp_accounting.pld import pld_pmf, privacy_loss_distribution

    masses = pld_pmf.create_pmf(table, interval, impossible, pessimistic_estimate=True)
    return privacy_loss_distribution.PrivacyLossDistribution(masses)


def _composed(mechanism: Additive, count: int, epsilon: float) -> Any:
    interval = max(epsilon * _FINEST / count, epsilon / _MOST_BUCKETS)
    law = mechanism.law
    if isinstance(law, Piecewise) and all(level.denominator == 1 for level in law.levels):
        # Every loss is a multiple of the rate.
        interval = float(law.rate)
    return loss_distribution(mechanism, interval).self_compose(count)


def check_dominated(mechanism: Additive) -> None:
    """Refuse noise for which the losses at a shift of one sensitivity do not dominate those of every pair.

    They do for symmetric noise that falls outward: where f(x) > e^epsilon f(x + s) then x > -s/2, and f(x + s) does
    not increase in s there. Smooth laws are such by their protocol; what is made of cells is looked through.
    """
    if not isinstance(mechanism, Additive):
        raise InvalidMechanismError(
            f"the mechanism is of type {type(mechanism).__name__}; only additive noise on one number is composed here."
        )
    if not _falls_outward(mechanism.noise.law, mechanism.query.sensitivity):
        raise UncertifiedError(
            "refused: this noise is not symmetric or does not fall outward everywhere, so one shift does not stand for"
            " all others and composed losses would be too small. The sum of the single epsilons holds for any noise."
        )


@singledispatch
def _falls_outward(law: Any, sensitivity: Fraction) -> bool:
    """Whether the noise is symmetric and its density never grows away from zero."""
    return True


@_falls_outward.register
def _(law: Tabulated, sensitivity: Fraction) -> bool:
    cells = sensitivity / law.width
    if cells.denominator != 1:
        raise UncertifiedError(
            f"refused: the sensitivity is {show(cells)} cells of this law, and losses are composed for whole cells"
            " only. Use cells whose width divides the sensitivity."
        )
    return all(a >= b for a, b in pairwise(law.weights))


@_falls_outward.register
def _(law: Piecewise, sensitivity: Fraction) -> bool:
    """Whether levels mirror each other and never fall away from zero; beyond one more period everything recurs."""
    reach = max(abs(law.breaks[0]), abs(law.breaks[-1])) + law.period
    cells = law.unrolled(2 * reach)
    edges = sorted({abs(edge) for a, b, _ in cells for edge in (a, b) if abs(edge) <= reach} | {Fraction(0), reach})
    middles = [(a + b) / 2 for a, b in pairwise(edges)]
    outward = [law.level_at(x) for x in middles]
    mirrored = all(law.level_at(-x) == level for x, level in zip(middles, outward, strict=True))
    return mirrored and all(a <= b for a, b in pairwise(outward))


def staircase_losses(epsilon: float, split: float) -> Any:
    """The privacy-loss distribution of a staircase with this split: it has three values only."""
    b = math.exp(-epsilon)
    top = (1 - b) / (2 * (split + b * (1 - split)))
    edge = min(split, 1 - split)
    up = 0.5 + edge * top
    even = abs(1 - 2 * split) * top * (b if split < 0.5 else 1.0)
    return _distribution({1: up, 0: even, -1: max(0.0, 1 - up - even)}, epsilon, 0.0)


def lattice_masses(mechanism: Additive) -> tuple[Floats, int]:
    """Masses of the drawn noise on consecutive lattice points, and the sensitivity in points.

    What lies beyond the points is left out; its mass counts as an infinite loss.
    Valid for: symmetric noise whose cells divide the sensitivity, see `check_dominated`.
    """
    law, lattice = mechanism.law, mechanism.lattice
    if isinstance(law, Tabulated):
        line = np.array([w / law.total for w in line_of(law)])
        return line, int(mechanism.query.sensitivity / law.width)
    reach = _reach(mechanism.noise.law, float(lattice.step))
    edges: Floats = (np.arange(reach + 1, dtype=np.float64) + (0.5 if lattice.edge else 0.0)) * float(lattice.step)
    tails = tail_array(mechanism.noise.law, edges)
    side = tails[:-1] - tails[1:]
    line = np.concatenate([side[::-1], [1 - 2 * tails[0]] if lattice.edge else [], side])
    return line, int(mechanism.query.sensitivity / lattice.step)


def _reach(law: Any, step: float) -> int:
    points = 64
    while points < _MOST_POINTS and float(law.sf(points * step, FLOATS)) > _TINY:
        points *= 2
    return points


@singledispatch
def tail_array(law: Any, x: Floats) -> Floats:
    """P(X > x) for each x >= 0, in floats."""
    return np.array([float(law.sf(float(v), FLOATS)) for v in x])


@tail_array.register
def _(law: Gaussian, x: Floats) -> Floats:
    return power_tail(x / (float(law.std) * math.sqrt(2)), np.asarray(2.0))


@tail_array.register
def _(law: GeneralizedGaussian, x: Floats) -> Floats:
    return power_tail(x / float(law.scale), np.asarray(float(law.power)))


@tail_array.register
def _(law: Logistic, x: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(np.minimum(x / float(law.scale), 700.0))))


@tail_array.register
def _(law: DiscreteGaussian, x: Floats) -> Floats:
    return np.array([float(law.tail(math.floor(v + 0.5), FLOATS)) for v in x])

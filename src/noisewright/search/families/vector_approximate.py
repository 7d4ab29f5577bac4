"""Several numbers under (epsilon, delta): Gaussian noise of every shape, and what it competes with."""

from __future__ import annotations

import math
from contextlib import suppress
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from noisewright.laws.laplace import TruncatedLaplace
from noisewright.mechanisms.linear_gaussian import LARGEST_FRAME, LinearGaussian
from noisewright.mechanisms.per_coordinate import PerCoordinate
from noisewright.numerics.bisection import first_true, gallop, turn
from noisewright.problem.errors import SolverError, UncertifiedError
from noisewright.problem.queries import Scalar
from noisewright.problem.sensitivity import Counted, L1Ball, L2Ball, Points
from noisewright.problem.utility import Utility
from noisewright.problem.vector import Vector
from noisewright.proof.losses import composed_delta
from noisewright.proof.vector_gaussian import frame_reach, gaussian_delta
from noisewright.proof.vector_sets import largest_sum, root_above
from noisewright.search.families.vector_parts import active, assembled, ball_gaussian, gaussian_part, laplace_parts
from noisewright.search.families.vector_pure import Mechanisms, pure_mechanisms, sizes
from noisewright.search.programmes.linear import best_ellipse, best_rates
from noisewright.search.tools.lattices import on_cells
from noisewright.search.tools.shares import exact_shares, power_shares

Floats = NDArray[np.float64]

_BITS = 49
_MOST_COMPOSED = 32
_NOTCH = Fraction(1001, 1000)
_FRAME_STEPS = 1024
_REGULAR = 1e-3
_STEPS_PER_SCALE = 500
_HAIR = 1 + Fraction(1, 10**8)


@lru_cache(maxsize=256)
def largest_length(epsilon: Fraction, delta: Fraction) -> Fraction:
    """The longest difference, in deviations of Gaussian noise, that is (epsilon, delta)-private.

    Guarantees: the returned end of the bracket was checked in balls; 1 + 2^-40 times it was not found private.
    """

    def private(length: Fraction) -> bool:
        return gaussian_delta(epsilon, length * length) <= delta

    high = Fraction(1)
    while private(high):
        high *= 2
    while not private(high / 2):
        high /= 2
    return first_true(private, high, high / 2, within=high / 2**_BITS)


def approximate_mechanisms(query: Vector, epsilon: Fraction, delta: Fraction, utility: Utility) -> Mechanisms:
    """Candidates by name; purely private ones compete with delta = 0."""
    length = largest_length(epsilon, delta)
    chosen = query.sensitivity
    if isinstance(chosen, L1Ball | L2Ball):
        return {"identical Gaussian": ball_gaussian(query, length), **pure_mechanisms(query, epsilon, utility)}
    if isinstance(chosen, Points):
        return _for_points(query, chosen, epsilon, length, utility)
    found = gaussian_mechanisms(query, chosen, length, utility)
    pure = pure_mechanisms(query, epsilon, utility)
    for name in ("tailored for each", "norm-shaped blocks"):
        if name in pure:
            found[name] = pure[name]
    if min(chosen.together, len(active(query))) == 1:
        found["truncated Laplace"] = _truncated(query, epsilon, delta)
    composed = _composed_laplace(query, chosen, epsilon, delta, utility)
    if composed is not None:
        found["Laplace, losses composed"] = composed
    return found


def gaussian_mechanisms(query: Vector, chosen: Counted, length: Fraction, utility: Utility) -> Mechanisms:
    """Identical and non-identical Gaussian noise whose differences are at most `length` deviations long."""
    places = active(query)
    together = min(chosen.together, len(places))
    std = root_above(largest_sum((v * v for v in chosen.each), chosen.together)) / length
    same = assembled(query, {i: gaussian_part(query.extents[i], std) for i in places})
    extents, weights = sizes(query, utility, places)
    power = _power(utility)
    # Squared lengths add up, so it is they that are shared: the error is (extent / root of the share)^power.
    squares = power_shares(weights * extents**power, power / 2, together)
    shares = exact_shares(np.sqrt(squares), length, together, power=2)
    own = {i: gaussian_part(query.extents[i], query.extents[i] / s) for i, s in zip(places, shares, strict=True)}
    return {"identical Gaussian": same, "non-identical Gaussian": assembled(query, own)}


def _truncated(query: Vector, epsilon: Fraction, delta: Fraction) -> PerCoordinate:
    """Laplace noise cut where the mass beyond, for one number that moves alone, just meets delta."""
    parts = {}
    for extent in {query.extents[i] for i in active(query)}:
        scale = extent / epsilon
        reach = math.log1p(math.expm1(float(epsilon)) / (2 * float(delta)))
        law = TruncatedLaplace(scale, scale * Fraction(reach).limit_denominator(10**9) * _HAIR)
        parts[extent] = on_cells(Scalar(extent), law, scale, None, _STEPS_PER_SCALE)
    return assembled(query, {i: parts[query.extents[i]] for i in active(query)})


def _power(utility: Utility) -> int:
    return int(utility.power or 2)


def _composed_laplace(
    query: Vector, chosen: Counted, epsilon: Fraction, delta: Fraction, utility: Utility
) -> PerCoordinate | None:
    """Laplace noise as small as its composed privacy loss allows; None where composing would take long."""
    places = active(query)
    together = min(chosen.together, len(places))
    if together > _MOST_COMPOSED or together < 2:
        return None
    extents, weights = sizes(query, utility, places)
    power = _power(utility)
    ratios = power_shares(weights * extents**power, power, together)
    worst = np.sort(ratios)[::-1][:together]
    size = _float_size(worst, float(epsilon), float(delta))
    budget = Fraction(size).limit_denominator(2**40)
    for _ in range(20):
        shares = exact_shares(ratios, budget, together)
        try:
            if composed_delta(sorted(shares, reverse=True)[:together], epsilon) <= delta:
                return laplace_parts(query, dict(zip(places, shares, strict=True)), utility)
        except UncertifiedError:
            return None
        budget /= _NOTCH
    return None


def _float_size(worst: Floats, epsilon: float, delta: float) -> float:
    """The sum of shifts (in scales) whose composed loss just meets delta, by bisection in floats."""

    def too_large(size: float) -> bool:
        return _float_delta(worst * size, epsilon) > delta

    low, high = gallop(too_large, epsilon, epsilon)
    return turn(too_large, low, high, within=(high - low) / 2**16)[0]


def _float_delta(shifts: Floats, epsilon: float) -> float:
    """The same discretisation as the verifier's, in floats."""
    cell = epsilon / (250 * len(shifts))
    total, offset = np.ones(1), 0
    for a in shifts:
        low, high = math.ceil(-a / cell), math.ceil(a / cell)
        edges = np.clip(np.arange(low, high + 1) * cell, -a, a)
        below = np.exp(-(a - edges) / 2) / 2
        masses = np.diff(below, prepend=math.exp(-a) / 2)
        masses[0] += math.exp(-a) / 2
        masses[-1] += 0.5
        total = _convolved(total, masses)
        offset += low
    losses = (np.arange(len(total)) + offset) * cell
    above = losses > epsilon
    return float(np.sum(total[above] * -np.expm1(epsilon - losses[above])))


def _convolved(a: Floats, b: Floats) -> Floats:
    from scipy.signal import fftconvolve

    return np.maximum(fftconvolve(a, b), 0.0) if min(len(a), len(b)) > 64 else np.convolve(a, b)


def _for_points(query: Vector, chosen: Points, epsilon: Fraction, length: Fraction, utility: Utility) -> Mechanisms:
    places = active(query)
    extents, weights = sizes(query, utility, places)
    scaled = np.array([[float(row[i] / query.extents[i]) for i in places] for row in chosen.rows])
    std = root_above(max(sum((v * v for v in row), Fraction(0)) for row in chosen.rows)) / length
    found: Mechanisms = {
        "identical Gaussian": _fitted(query, dict.fromkeys(places, std), length),
    }
    power = _power(utility)
    squares = best_rates(scaled**2, weights * extents**power, power / 2).point
    own = {
        i: query.extents[i] / (length * Fraction(math.sqrt(v)).limit_denominator(2**40))
        for i, v in zip(places, squares, strict=True)
    }
    found["non-identical Gaussian"] = _fitted(query, own, length)
    if utility.power == 2 and len(places) == query.dimension <= LARGEST_FRAME:
        # Without a solution the other candidates still stand.
        with suppress(SolverError, np.linalg.LinAlgError):
            found["correlated Gaussian"] = _correlated(query, chosen, scaled, weights * extents**2, length)
    return {**found, **pure_mechanisms(query, epsilon, utility)}


def _fitted(query: Vector, deviations: dict[int, Fraction], length: Fraction) -> PerCoordinate:
    """Deviations widened until the longest listed difference, rounding included, is at most `length`."""
    from noisewright.proof.vector_gaussian import gaussian_reach

    while True:
        mechanism = assembled(query, {i: gaussian_part(query.extents[i], std) for i, std in deviations.items()})
        squared = gaussian_reach(mechanism)
        if squared <= length * length:
            return mechanism
        factor = Fraction(math.ceil(math.sqrt(float(squared)) / float(length) * (1 + 1e-9) * 2**40), 2**40)
        deviations = {i: std * factor for i, std in deviations.items()}


def _correlated(query: Vector, chosen: Points, scaled: Floats, costs: Floats, length: Fraction) -> LinearGaussian:
    """The noise of least total variance, its covariance shaped by the listed differences."""
    # Directions in which nobody moves get a thousandth of the usual noise, so that a solution exists.
    shape = best_ellipse(np.vstack([scaled, _REGULAR * np.eye(len(costs))]), costs)
    if shape is None:
        raise SolverError("the convex programme for the covariance gave no usable answer.")
    matrix = tuple(
        tuple(Fraction(round(float(v) * 2**40), 2**40) / extent for v, extent in zip(row, query.extents, strict=True))
        for row in np.linalg.cholesky(shape.point).T
    )
    step = Fraction(1, _FRAME_STEPS)
    longest = root_above(Fraction(frame_reach(query, matrix, step)))
    return LinearGaussian(query, matrix, longest * step / length, step)

"""Several numbers: every mechanism that is worth trying under pure, approximate, Rényi and concentrated privacy."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from functools import cache, lru_cache, partial
from typing import Any

import numpy as np

from noisewright.laws.gaussian import Gaussian, GeneralizedGaussian
from noisewright.laws.laplace import Laplace, TruncatedLaplace
from noisewright.mechanisms.linear_gaussian import LARGEST_FRAME, LinearGaussian
from noisewright.mechanisms.per_coordinate import PerCoordinate
from noisewright.numerics.bisection import gallop, turn
from noisewright.numerics.fields import FLOATS, Floats
from noisewright.problem.errors import InvalidLawError, SolverError, UncertifiedError
from noisewright.problem.privacy import ApproxDP
from noisewright.problem.queries import Vector
from noisewright.problem.sensitivity import Box, Groups, L1Ball, L2Ball, LpBall, Points
from noisewright.problem.utilities import Utility
from noisewright.proof.composed import joint_delta, move_of
from noisewright.proof.vector_gaussian import composed_delta, frame_squared_sensitivity, vector_squared_sensitivity
from noisewright.proof.vectors import largest_sum, most_moving, per_coordinate_bound, root_above
from noisewright.search.families.calibration import (
    GAUSSIAN,
    Concentrated,
    calibrated_many,
    largest_shift,
    pure_epsilon,
    widened,
)
from noisewright.search.families.vector_parts import (
    Shares,
    active,
    ball_gaussian,
    ball_laplace,
    best_partition,
    blocks_from,
    cube_block,
    curve_shares,
    exact_shares,
    fitted,
    grid_shares,
    measured_partition,
    power_shares,
    round_blocks,
    shared_noise,
    sizes,
    tailored_parts,
)
from noisewright.search.programmes.linear import best_ellipse, best_rates

Mechanisms = dict[str, Any]

_EXPONENTS = (1.0, 2.0, 4.0, 8.0)
_POINTS = 1500
_COARSE_GRID = 256
_COARSE_MANY = 32
_MANY = 20_000


def pure_mechanisms(query: Vector, epsilon: Fraction, utility: Utility) -> Mechanisms:
    """Candidates by name for the set of the question."""
    return _FOR_SETS.get(type(query.sensitivity), _for_counted)(query, epsilon, utility)


def _for_l1_ball(query: Vector, epsilon: Fraction, utility: Utility) -> Mechanisms:
    return {"identical Laplace": ball_laplace(query, epsilon)}


def _for_l2_ball(query: Vector, epsilon: Fraction, utility: Utility) -> Mechanisms:
    found = _for_l1_ball(query, epsilon, utility)
    if utility.power in (1, 2) and query.integer is False:
        found["round noise"] = round_blocks(query, epsilon)
    elif query.dimension > 1 and not query.mixed and _measured_by_blocks(utility):
        found["norm-shaped blocks"] = cube_block(query, epsilon)
    return {name: mechanism for name, mechanism in found.items() if mechanism is not None}


def _for_lp_ball(query: Vector, epsilon: Fraction, utility: Utility) -> Mechanisms:
    found = _for_l1_ball(query, epsilon, utility)
    shaped = round_blocks(query, epsilon) if utility.power in (1, 2) and query.integer is False else None
    return found if shaped is None else {**found, "norm-shaped noise": shaped}


def _for_points(query: Vector, epsilon: Fraction, utility: Utility) -> Mechanisms:
    listed: Any = query.sensitivity
    places, given, far = active(query), listed.rows, query.extents
    extents, weights = sizes(query, utility)
    pairs = np.array([[float(abs(row[i]) / far[i]) for i in places] for row in given])
    power = float(utility.power or 2)
    shares = best_rates(pairs, weights * extents**power, power).point
    widest = max(sum(map(abs, row), Fraction(0)) for row in given)
    same = {i: far[i] * epsilon / widest for i in places}
    split = {i: Fraction(float(s)).limit_denominator(2**40) * epsilon for i, s in zip(places, shares, strict=True)}

    def fit(shares: Shares, own: Utility | None) -> PerCoordinate:
        # The shares are those of whole extents; the exact worst row, rounding included, decides their size.
        build = partial(shared_noise, query, Laplace, utility=own)
        return fitted(build, shares, lambda m: per_coordinate_bound(m)[0] / epsilon)

    return {"identical Laplace": fit(same, None), "non-identical Laplace": fit(split, utility)}


def _for_groups(query: Vector, epsilon: Fraction, utility: Utility) -> Mechanisms:
    """In each group the noise for its own set at an equal share of the budget."""
    return by_groups(query, utility, lambda part, own, most: pure_mechanisms(part, epsilon / most, own))


def by_groups(query: Vector, utility: Utility, made: Callable[[Vector, Utility, int], Mechanisms]) -> Mechanisms:
    """Candidates whose parts are those of `made` for each group; of every name that all groups have."""
    groups: Any = query.sensitivity

    @cache
    def inside(chosen: Any, whole: bool | tuple[bool, ...], own: Utility) -> Mechanisms:
        found = made(Vector(chosen, exact=query.exact, integer=whole), own, groups.at_most)
        return {name: mechanism for name, mechanism in found.items() if isinstance(mechanism, PerCoordinate)}

    members = []
    for start, chosen in groups.placed():
        end = start + len(chosen.extents)
        members.append(inside(chosen, query.whole[start:end], utility.among(start, end)))
    names = [name for name in members[0] if all(name in found for found in members)]
    return {
        name: PerCoordinate(query, tuple(part for found in members for part in found[name].parts)) for name in names
    }


def _for_counted(query: Vector, epsilon: Fraction, utility: Utility) -> Mechanisms:
    chosen: Any = query.sensitivity
    places, rate = active(query), float(epsilon)
    together = min(chosen.together, len(places))
    extents, weights = sizes(query, utility)

    def exact(shares: Floats) -> Shares:
        return dict(zip(places, exact_shares(shares, epsilon, together), strict=True))

    if utility.edges:
        reach = np.array([float(utility.alone(i).edges[0] / query.extents[i]) for i in places])
        gains = (usefulness_gains(reach, weights, rate, tailored=tailored) for tailored in (False, True))
        plain, own = (exact(grid_shares(values, grid, rate, together) / rate) for grid, values in gains)
    elif not utility.joint:
        power = float(utility.power or 2)
        costs = weights * extents**power
        plain = own = exact(power_shares(costs, power, together))
        if power in (1, 2):
            own = exact(curve_shares(costs, *power_curve(int(power), rate, len(places)), together) / rate)
    else:
        # The largest error has no closed form: the best of a few exponents.
        tried = [exact(power_shares(extents**q, q, together)) for q in _EXPONENTS]
        plain = own = min(tried, key=lambda split: mid(shared_noise(query, Laplace, split, utility), utility))
    widest = largest_sum(chosen.each, chosen.together)
    found: Mechanisms = {
        "identical Laplace": shared_noise(query, Laplace, {i: query.extents[i] * epsilon / widest for i in places}),
        "non-identical Laplace": shared_noise(query, Laplace, plain, utility),
        "tailored for each": tailored_parts(query, own, utility),
    }
    return found


def _for_box(query: Vector, epsilon: Fraction, utility: Utility) -> Mechanisms:
    found = _for_counted(query, epsilon, utility)
    if len(active(query)) > 1 and not query.mixed and _measured_by_blocks(utility):
        found["norm-shaped blocks"] = _blocks(query, epsilon, utility)
    return {name: mechanism for name, mechanism in found.items() if mechanism is not None}


def _measured_by_blocks(utility: Utility) -> bool:
    """Whether norm-shaped noise knows what the utility asks."""
    return utility.power in (1, 2) or bool(utility.edges) or utility.joint


def _blocks(query: Vector, epsilon: Fraction, utility: Utility) -> Any:
    """The best partition for totals; else the best of the two partitions for totals and one single block.

    None where it cannot be drawn.
    """
    extents, weights = sizes(query, utility)
    if utility.power is not None:
        partitions = [best_partition(extents, weights, int(utility.power))]
    else:
        single = measured_partition(extents, weights, 1, (tuple(range(len(extents))),))
        partitions = [*(best_partition(extents, weights, power) for power in (1, 2)), single]
    found = []
    for partition in partitions:
        budgets = exact_shares(np.array(partition.shares), epsilon, len(partition.shares))
        found.append(blocks_from(query, partition, budgets))
    built = [mechanism for mechanism in found if mechanism is not None]
    if len(built) <= 1:
        return built[0] if built else None
    best = max if utility.larger_is_better else min
    return best(built, key=lambda mechanism: mid(mechanism, utility))


_FOR_SETS: dict[type, Callable[[Vector, Fraction, Utility], Mechanisms]] = {
    Box: _for_box,
    L1Ball: _for_l1_ball,
    L2Ball: _for_l2_ball,
    LpBall: _for_lp_ball,
    Points: _for_points,
    Groups: _for_groups,
}


def mid(mechanism: Any, utility: Utility) -> float:
    """The value of a mechanism as a float, for comparisons."""
    return float(mechanism.expected(utility).mid())


def power_curve(power: int, epsilon: float, count: int) -> tuple[Floats, Floats]:
    """Grid of epsilons up to the whole budget, and the least mean |error|^power at each; sensitivity 1.

    Rule: the closed forms of the optimal staircase for squared and absolute error.
    [GengViswanath16, theory#the-optimum]
    """
    grid = np.geomspace(epsilon * 1e-9 / count, epsilon, _POINTS)
    b = np.exp(-grid)
    rest = -np.expm1(-grid)
    if power == 1:
        return grid, np.exp(-grid / 2) / rest
    return grid, (2 ** (-2 / 3) * b ** (2 / 3) * (1 + b) ** (2 / 3) + b) / rest**2


def usefulness_gains(reach: Floats, weights: Floats, epsilon: float, *, tailored: bool) -> tuple[Floats, Floats]:
    """Grid of epsilons, and for each number (a row) the weighted chance of an error within `reach` sensitivities.

    Rule: for the best noise 1 - b^(k+1) / (b + s(1-b)) with k + s the reach, for Laplace 1 - b^reach.
    [GengViswanath16, theory#the-optimum]
    """
    points = _COARSE_GRID if len(reach) <= _MANY else _COARSE_MANY
    grid = np.concatenate([[0.0], np.geomspace(epsilon * 1e-6, epsilon, points - 1)])
    if not tailored:
        return grid, weights[:, None] * -np.expm1(-grid[None, :] * reach[:, None])
    whole = np.floor(reach)
    part = (reach - whole)[:, None]
    b = np.exp(-grid)[None, :]
    miss = np.exp(-grid[None, :] * (whole[:, None] + 1)) / (b - part * np.expm1(-grid)[None, :])
    return grid, weights[:, None] * (1 - miss)


# Under (epsilon, delta), Rényi or concentrated privacy: Gaussian noise of every shape, and what it competes with.


_MOST_COMPOSED = 32
_NOTCH = Fraction(1001, 1000)
_FRAME_STEPS = 1024
_REGULAR = 1e-3
_STEPS_PER_SCALE = 500
_HAIR = 1 + Fraction(1, 10**8)
_POWERS = (Fraction(5, 4), Fraction(3, 2), Fraction(7, 4))
_MOST_BETWEEN = 2_000
_SMALLEST_SEARCHED = Fraction(1, 10**12)
_NEAR = 1.8
_LEAD = 0.875
_WORTH = 0.99
_COARSE = 1e-3
_UNIT = 2**40


@lru_cache(maxsize=256)
def largest_length(epsilon: Fraction, delta: Fraction) -> Fraction:
    """The longest difference, in deviations of Gaussian noise, that is (epsilon, delta)-private.

    Guarantees: checked in interval arithmetic; 1 + 1e-9 times it is not private.
    """
    return 1 / calibrated_many(GAUSSIAN, 1, [ApproxDP(epsilon, delta)])[0]


def approximate_mechanisms(query: Vector, epsilon: Fraction, delta: Fraction, utility: Utility) -> Mechanisms:
    """Candidates by name; purely private ones compete with delta = 0."""
    length = largest_length(epsilon, delta)
    pure = pure_mechanisms(query, epsilon, utility)
    if query.integer is not False:
        return pure | _whole(query, ApproxDP(epsilon, delta), utility, length)
    found = gaussian_noise(query, length, utility)
    if type(query.sensitivity) in _APPROXIMATE_FOR_SETS:
        return found | pure
    found |= {name: pure[name] for name in ("tailored for each", "norm-shaped blocks") if name in pure}
    if _together(query) == 1:
        found["truncated Laplace"] = _truncated(query, epsilon, delta)
    elif _together(query) <= _MOST_COMPOSED:
        composed = _composed_laplace(query, epsilon, delta, utility)
        if composed is not None:
            found["Laplace, losses composed"] = composed
            found |= _between(query, ApproxDP(epsilon, delta), utility, found)
    return found


def _whole(query: Vector, privacy: ApproxDP, utility: Utility, length: Fraction) -> Mechanisms:
    """Gaussian and Laplace noise where some numbers are whole: the scales of real noise, and a little more."""
    found = {} if _moving(query) == 1 else gaussian_noise(query, length, utility)
    if 1 < _moving(query) <= _MOST_COMPOSED and hasattr(query.sensitivity, "together"):
        composed = _composed_laplace(query, privacy.epsilon, privacy.delta, utility)
        found |= {} if composed is None else {"Laplace, losses composed": composed}
    proven = {name: widened(mechanism, privacy) for name, mechanism in found.items()}
    return {name: mechanism for name, mechanism in proven.items() if mechanism is not None}


def _moving(query: Vector) -> int:
    return most_moving(query.sensitivity, query.whole)


def _together(query: Vector) -> int:
    chosen: Any = query.sensitivity
    return min(int(chosen.together), len(active(query)))


def gaussian_mechanisms(query: Vector, length: Fraction, utility: Utility) -> Mechanisms:
    """Identical and non-identical Gaussian noise whose differences are at most `length` deviations long.

    Valid for: sets that say how many numbers move together.
    """
    places, together = active(query), _together(query)
    std = root_above(largest_sum((v * v for v in query.extents), together)) / length
    extents, weights = sizes(query, utility)
    power = float(utility.power or 2)
    # Squared lengths add up, so it is they that are shared: the error is (extent / root of the share)^power.
    squares = power_shares(weights * extents**power, power / 2, together)
    shares = exact_shares(np.sqrt(squares), length, together, power=2)
    return {
        "identical Gaussian": shared_noise(query, Gaussian, {i: query.extents[i] / std for i in places}),
        "non-identical Gaussian": shared_noise(query, Gaussian, dict(zip(places, shares, strict=True))),
    }


def _between(query: Vector, privacy: ApproxDP, utility: Utility, found: Mechanisms) -> Mechanisms:
    """Generalized Gaussian noise between Laplace and Gaussian, where those two are near each other and lead.

    At most it is an eighth better than both; where other noise leads by more, one of the two is far behind, or less
    than a hundredth would be gained, it is not worth its time.
    """
    places, together = active(query), _together(query)
    if utility.power is None or len(places) > _MOST_BETWEEN or privacy.delta < _SMALLEST_SEARCHED:
        return {}
    ends = [_smooth_value(found[name], utility) for name in ("Laplace, losses composed", "non-identical Gaussian")]
    if max(ends) > _NEAR * min(ends):
        return {}
    others = [found[name] for name in ("tailored for each", "norm-shaped blocks") if name in found]
    best = min(ends + [mid(mechanism, utility) for mechanism in others])
    if best < _LEAD * min(ends):
        return {}
    extents, weights = sizes(query, utility)
    order = float(utility.power)
    # As for Gaussian noise: where many small losses add up, it is their squares that are shared.
    ratios = np.sqrt(power_shares(weights * extents**order, order / 2, together))
    worst = np.sort(ratios)[::-1][:together]
    shifts = {power: largest_shift(power, worst, privacy, _COARSE) for power in _POWERS}
    errors = {
        power: float(GeneralizedGaussian(power, 1).moment(utility.power, FLOATS)) / shift**order
        for power, shift in shifts.items()
    }
    power = min(errors, key=errors.__getitem__)
    length = float(largest_length(privacy.epsilon, privacy.delta))
    normal = float(Gaussian(1).moment(utility.power, FLOATS)) / length**order
    if ends[1] * errors[power] / normal > _WORTH * best:
        return {}
    law = partial(GeneralizedGaussian, power)
    size = Fraction(largest_shift(power, worst, privacy)).limit_denominator(2**40)
    for _ in range(20):
        shares = [Fraction(float(ratio)).limit_denominator(2**20) * size for ratio in ratios]
        moves = [move_of(law(Fraction(1)), share) for share in sorted(shares, reverse=True)[:together]]
        if joint_delta(moves, privacy.epsilon) <= privacy.delta:
            made = shared_noise(query, law, dict(zip(places, shares, strict=True)), utility)
            return {f"generalized Gaussian, power {float(power):g}": made}
        size /= _NOTCH
    return {}


def _smooth_value(mechanism: Any, utility: Utility) -> float:
    """The total error of continuous noise, in floats: what the lattice adds is left out."""
    counts: dict[Any, float] = {}
    for part, weight in zip(mechanism.parts, utility.shares(mechanism.query.dimension), strict=True):
        law = None if part is None else part.law
        counts[law] = counts.get(law, 0.0) + float(weight)
    return sum(w * float(law.moment(utility.power, FLOATS)) for law, w in counts.items() if law is not None)


def _truncated(query: Vector, epsilon: Fraction, delta: Fraction) -> PerCoordinate:
    """Laplace noise cut where the mass beyond, for one number that moves alone, just meets delta."""
    reach = math.log1p(math.expm1(float(epsilon)) / (2 * float(delta)))
    scales = Fraction(reach).limit_denominator(10**9) * _HAIR
    shares = dict.fromkeys(active(query), epsilon)
    return shared_noise(query, lambda b: TruncatedLaplace(b, b * scales), shares, steps=_STEPS_PER_SCALE)


def _composed_laplace(query: Vector, epsilon: Fraction, delta: Fraction, utility: Utility) -> PerCoordinate | None:
    """Laplace noise as small as its composed privacy loss allows; None where that cannot be shown."""
    together = _together(query)
    extents, weights = sizes(query, utility)
    power = float(utility.power or 2)
    ratios = power_shares(weights * extents**power, power, together)
    worst = np.sort(ratios)[::-1][:together]

    def too_large(size: float) -> bool:
        return _float_delta(worst * size, float(epsilon)) > delta

    low, high = gallop(too_large, float(epsilon), float(epsilon))
    size = turn(too_large, low, high, within=(high - low) / 2**16)[0]
    budget = Fraction(size).limit_denominator(2**40)
    for _ in range(20):
        shares = exact_shares(ratios, budget, together)
        try:
            if composed_delta(sorted(shares, reverse=True)[:together], epsilon) <= delta:
                return shared_noise(query, Laplace, dict(zip(active(query), shares, strict=True)), utility)
        except UncertifiedError:
            return None
        budget /= _NOTCH
    return None


def _float_delta(shifts: Floats, epsilon: float) -> float:
    """The same discretisation as the verifier's, in floats."""
    from scipy.signal import fftconvolve

    cell = epsilon / (250 * len(shifts))
    total, offset = np.ones(1), 0
    for a in shifts:
        low, high = math.ceil(-a / cell), math.ceil(a / cell)
        edges = np.clip(np.arange(low, high + 1) * cell, -a, a)
        below = np.exp(-(a - edges) / 2) / 2
        masses = np.diff(below, prepend=math.exp(-a) / 2)
        masses[0] += math.exp(-a) / 2
        masses[-1] += 0.5
        short = min(len(total), len(masses)) <= 64
        total = np.convolve(total, masses) if short else np.maximum(fftconvolve(total, masses), 0.0)
        offset += low
    losses = (np.arange(len(total)) + offset) * cell
    above = losses > epsilon
    return float(np.sum(total[above] * -np.expm1(epsilon - losses[above])))


def _for_ball(query: Vector, length: Fraction, utility: Utility) -> Mechanisms:
    return {"identical Gaussian": ball_gaussian(query, length)}


def _approximate_for_points(query: Vector, length: Fraction, utility: Utility) -> Mechanisms:
    listed: Any = query.sensitivity
    places, given = active(query), listed.rows
    extents, weights = sizes(query, utility)
    scaled = np.array([[float(row[i] / query.extents[i]) for i in places] for row in given])
    std = root_above(max(sum((v * v for v in row), Fraction(0)) for row in given)) / length
    power = float(utility.power or 2)
    squares = best_rates(scaled**2, weights * extents**power, power / 2).point
    roots = [length * Fraction(math.sqrt(v)).limit_denominator(2**40) for v in squares]
    found: Mechanisms = {
        "identical Gaussian": _fitted(query, {i: query.extents[i] / std for i in places}, length),
        "non-identical Gaussian": _fitted(query, dict(zip(places, roots, strict=True)), length),
    }
    if utility.power == 2 and len(places) == query.dimension <= LARGEST_FRAME and query.integer is False:
        # Without a solution the other candidates still stand.
        with suppress(SolverError, np.linalg.LinAlgError):
            found["correlated Gaussian"] = _correlated(query, scaled, weights * extents**2, length)
    return found


def _fitted(query: Vector, shares: Shares, length: Fraction) -> PerCoordinate:
    """Deviations widened until the longest listed difference, rounding included, is at most `length`."""
    return fitted(
        partial(shared_noise, query, Gaussian), shares, lambda m: vector_squared_sensitivity(m) / length**2, power=2
    )


def _correlated(query: Vector, scaled: Floats, costs: Floats, length: Fraction) -> LinearGaussian:
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
    longest = root_above(Fraction(frame_squared_sensitivity(query, matrix, step)))
    return LinearGaussian(query, matrix, longest * step / length, step)


def gaussian_noise(query: Vector, length: Fraction, utility: Utility) -> Mechanisms:
    """Gaussian noise of every shape whose differences are at most `length` deviations long; none beyond its range."""
    try:
        return _APPROXIMATE_FOR_SETS.get(type(query.sensitivity), gaussian_mechanisms)(query, length, utility)
    except InvalidLawError:
        return {}


def _approximate_for_groups(query: Vector, length: Fraction, utility: Utility) -> Mechanisms:
    """In each group the noise for its own set: squared lengths add up."""
    return by_groups(
        query, utility, lambda part, own, most: gaussian_noise(part, length / root_above(Fraction(most)) / _HAIR, own)
    )


_APPROXIMATE_FOR_SETS: dict[type, Callable[[Vector, Fraction, Utility], Mechanisms]] = {
    L1Ball: _for_ball,
    L2Ball: _for_ball,
    LpBall: _for_ball,
    Points: _approximate_for_points,
    Groups: _approximate_for_groups,
}


def concentrated_mechanisms(query: Vector, privacy: Concentrated, utility: Utility) -> Mechanisms:
    """Gaussian noise of every shape, and purely private noise at the epsilon that implies the requirement."""
    # Gaussian noise costs half its squared length.
    length = Fraction(math.isqrt(math.floor(2 * privacy.gaussian_rho * _UNIT**2)), _UNIT)
    found = gaussian_noise(query, length, utility)
    epsilon = pure_epsilon(privacy)
    return found if epsilon is None else found | pure_mechanisms(query, epsilon, utility)

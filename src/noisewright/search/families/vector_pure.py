"""Several numbers under pure differential privacy: every mechanism that is worth trying."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.mechanisms.per_coordinate import PerCoordinate
from noisewright.problem.sensitivity import Box, Counted, L1Ball, L2Ball, Points
from noisewright.problem.utility import Utility
from noisewright.problem.vector import Vector
from noisewright.proof.vector_sets import largest_sum
from noisewright.search.families.curves import power_curve, usefulness_gains
from noisewright.search.families.vector_parts import (
    active,
    ball_laplace,
    blocks_from,
    cube_block,
    cube_block_fits,
    identical_laplace,
    laplace_parts,
    round_blocks,
    round_blocks_fit,
    tailored_parts,
)
from noisewright.search.programmes.linear import best_rates
from noisewright.search.tools.partition import best_partition, measured_partition
from noisewright.search.tools.shares import curve_shares, exact_shares, grid_shares, power_shares

Floats = NDArray[np.float64]
Mechanisms = dict[str, Any]

_EXPONENTS = (1.0, 2.0, 4.0, 8.0)


def pure_mechanisms(query: Vector, epsilon: Fraction, utility: Utility) -> Mechanisms:
    """Candidates by name for the set of the question."""
    chosen = query.sensitivity
    if isinstance(chosen, L1Ball | L2Ball):
        found: Mechanisms = {"identical Laplace": ball_laplace(query, epsilon)}
        measurable = utility.power is not None
        if isinstance(chosen, L2Ball) and measurable and round_blocks_fit(query, epsilon):
            found["round noise"] = round_blocks(query, epsilon)
        if isinstance(chosen, L2Ball) and not measurable and query.dimension > 1 and cube_block_fits(query, epsilon):
            found["norm-shaped blocks"] = cube_block(query, epsilon)
        return found
    if isinstance(chosen, Points):
        return _for_points(query, chosen, epsilon, utility)
    return _for_counted(query, chosen, epsilon, utility)


def sizes(query: Vector, utility: Utility, places: list[int]) -> tuple[Floats, Floats]:
    """Extents and weights of the numbers that move, scaled to a largest one of 1, as floats."""
    weights = utility.shares(query.dimension)
    top = max(query.extents)
    heaviest = max(weights)
    extents = np.array([float(query.extents[i] / top) for i in places])
    return extents, np.array([float(weights[i] / heaviest) for i in places])


def _for_counted(query: Vector, chosen: Counted, epsilon: Fraction, utility: Utility) -> Mechanisms:
    places = active(query)
    together = min(chosen.together, len(places))
    scale = largest_sum(chosen.each, chosen.together) / epsilon
    found: Mechanisms = {"identical Laplace": identical_laplace(query, scale)}
    extents, weights = sizes(query, utility, places)

    def exact(shares: Floats) -> dict[int, Fraction]:
        return dict(zip(places, exact_shares(shares, epsilon, together), strict=True))

    if utility.edges:
        reach = np.array([float(utility.alone(i).edges[0] / query.extents[i]) for i in places])
        for name, tailored in (("non-identical Laplace", False), ("tailored for each", True)):
            grid, gains = usefulness_gains(reach, weights, float(epsilon), tailored=tailored)
            parts = exact(grid_shares(gains, grid, float(epsilon), together) / float(epsilon))
            build = tailored_parts if tailored else laplace_parts
            found[name] = build(query, parts, utility)
    else:
        split = _laplace_shares(query, extents, weights, together, utility, exact)
        found["non-identical Laplace"] = laplace_parts(query, split, utility)
        if utility.power is not None:
            grid, values = power_curve(int(utility.power), float(epsilon), len(places))
            shares = curve_shares(weights * extents ** int(utility.power), grid, values, together) / float(epsilon)
            found["tailored for each"] = tailored_parts(query, exact(shares), utility)
        else:
            found["tailored for each"] = tailored_parts(query, split, utility)
    if isinstance(chosen, Box) and len(places) > 1:
        found["norm-shaped blocks"] = _blocks(query, epsilon, utility, places, extents, weights)
    return found


def _laplace_shares(
    query: Vector, extents: Floats, weights: Floats, together: int, utility: Utility, exact: Any
) -> dict[int, Fraction]:
    """The closed form for totals; for the largest error the best of a few exponents."""
    if utility.power is not None:
        power = int(utility.power)
        shares: dict[int, Fraction] = exact(power_shares(weights * extents**power, power, together))
        return shares
    tried = [exact(power_shares(extents**q, q, together)) for q in _EXPONENTS]
    return min(tried, key=lambda split: mid(laplace_parts(query, split, utility), utility))


def _blocks(
    query: Vector, epsilon: Fraction, utility: Utility, places: list[int], extents: Floats, weights: Floats
) -> Any:
    """The best partition for totals; else the best of the two partitions for totals and one single block."""
    powers = [1, 2] if utility.power is None else [int(utility.power)]
    partitions = [best_partition(extents, weights, power) for power in powers]
    if utility.power is None:
        partitions.append(measured_partition(extents, weights, 1, (tuple(range(len(places))),)))
    built = []
    for partition in partitions:
        budgets = exact_shares(np.array(partition.shares), epsilon, len(partition.shares))
        built.append(blocks_from(query, partition, places, budgets))
    if len(built) == 1:
        return built[0]
    best = max if utility.larger_is_better else min
    return best(built, key=lambda mechanism: mid(mechanism, utility))


def _for_points(query: Vector, chosen: Points, epsilon: Fraction, utility: Utility) -> Mechanisms:
    places = active(query)
    extents, weights = sizes(query, utility, places)
    rows = np.array([[float(abs(row[i]) / query.extents[i]) for i in places] for row in chosen.rows])
    power = int(utility.power or 2)
    shares = best_rates(rows, weights * extents**power, power).point
    found: Mechanisms = {"identical Laplace": identical_laplace(query, _points_scale(chosen) / epsilon)}
    # The shares are those of whole extents; the exact worst row, rounding included, decides their size.
    split = {i: Fraction(float(s)).limit_denominator(2**40) * epsilon for i, s in zip(places, shares, strict=True)}
    found["non-identical Laplace"] = _fitted(query, split, epsilon, utility)
    return found


def _points_scale(chosen: Points) -> Fraction:
    return max(sum((abs(v) for v in row), Fraction(0)) for row in chosen.rows)


def _fitted(query: Vector, split: dict[int, Fraction], epsilon: Fraction, utility: Utility) -> PerCoordinate:
    from noisewright.proof.vectors import per_coordinate_bound

    mechanism = laplace_parts(query, split, utility)
    for _ in range(8):
        bound, _rule = per_coordinate_bound(mechanism)
        if bound <= epsilon:
            break
        factor = Fraction(int(float(epsilon / bound) * (1 - 1e-9) * 2**40), 2**40)
        split = {i: share * factor for i, share in split.items()}
        mechanism = laplace_parts(query, split, utility)
    return mechanism


def mid(mechanism: Any, utility: Utility) -> float:
    """The value of a mechanism as a float, for comparisons."""
    return float(mechanism.expected(utility).mid())

"""From shares of a budget to mechanisms for several numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from noisewright.laws.gaussian import DiscreteGaussian, Gaussian
from noisewright.laws.laplace import DiscreteLaplace, Laplace
from noisewright.laws.lattice import Lattice
from noisewright.mechanisms.additive import Additive
from noisewright.mechanisms.norm_shaped import LARGEST_ROUND_BLOCK, NormBlock, NormShaped, least_rate
from noisewright.mechanisms.per_coordinate import PerCoordinate
from noisewright.numerics.arrays import Floats
from noisewright.problem.errors import InvalidQueryError
from noisewright.problem.queries import Scalar, Vector
from noisewright.problem.utilities import AbsoluteError, PowerError, Utility
from noisewright.proof.vectors import dual_length, length_above, root_above, widening
from noisewright.search.families.staircase import best_split, tuned_staircase, with_split
from noisewright.search.tools.golden import STEPS_PER_SCALE, on_cells, round_number
from noisewright.search.tools.shares import Partition

Shares = dict[int, Fraction]

_COARSE_STEPS = 160
_MANY = 200
_MOST_SHELLS = 200_000
_ROUND_RATE = Fraction(1, 4000)
_HAIR = 1 + Fraction(1, 2**60)


def active(query: Vector) -> list[int]:
    """Places of the numbers that one person can change at all."""
    return [i for i, extent in enumerate(query.extents) if extent]


def assembled(query: Vector, parts: dict[int, Additive]) -> PerCoordinate:
    """Parts at their places, nothing elsewhere; for exact answers where the question declares them."""
    if query.exact and query.integer is not True:
        real = {part for i, part in parts.items() if not query.whole[i]}
        exact = {part: replace(part, query=Scalar(part.query.sensitivity, exact=True)) for part in real}
        parts = {i: part if query.whole[i] else exact[part] for i, part in parts.items()}
    return PerCoordinate(query, tuple(parts.get(i) for i in range(query.dimension)))


def scalars(query: Vector) -> list[Scalar | None]:
    """The question for each of the numbers by itself; none where it cannot move."""
    known: dict[tuple[Fraction, bool], Scalar | None] = {}
    for extent, whole in set(zip(query.extents, query.whole, strict=True)):
        one = Scalar(math.floor(extent), integer=True) if whole and extent else Scalar(extent) if extent else None
        known[extent, whole] = one
    return [known[pair] for pair in zip(query.extents, query.whole, strict=True)]


def scalar(query: Vector, place: int) -> Scalar:
    """The question for one of the numbers by itself."""
    found = scalars(query)[place]
    if found is None:
        raise InvalidQueryError(f"nobody can move number {place + 1}.", place=place)
    return found


def alone(
    one: Scalar, law: Any, scale: Fraction, utility: Utility | None = None, steps: int = _COARSE_STEPS
) -> Additive:
    """Noise of a law for one number: on the integers its discrete relative, else on a lattice of cells."""
    if not one.integer:
        return on_cells(one, law, scale, utility, steps)
    return Additive(one, DISCRETE[type(law)](scale), Lattice.integers())


DISCRETE: dict[type, Callable[[Fraction], Any]] = {Laplace: DiscreteLaplace, Gaussian: DiscreteGaussian}
"""The laws on the integers that have the same privacy at the same scale as laws on the line."""


def sizes(query: Vector, utility: Utility) -> tuple[Floats, Floats]:
    """Extents and weights of the numbers that move, scaled to a largest one of 1, as floats."""
    extents, weights = query.extents, utility.shares(query.dimension)
    top, heaviest, places = max(extents), max(weights), active(query)
    return np.array([float(extents[i] / top) for i in places]), np.array([float(weights[i] / heaviest) for i in places])


def shared_noise(
    query: Vector,
    law: Callable[[Fraction], Any],
    shares: Shares,
    utility: Utility | None = None,
    steps: int = _COARSE_STEPS,
) -> PerCoordinate:
    """The law of scale extent / share for each number, on lattices of so many steps to a scale."""

    @cache
    def part(one: Scalar, scale: Fraction, own: Utility | None) -> Additive:
        return alone(one, law(scale), scale, own, steps)

    parts, each, extents = {}, scalars(query), query.extents
    for i, share in shares.items():
        one = each[i]
        if one is not None:
            parts[i] = part(one, extents[i] / share, utility.alone(i) if utility else None)
    return assembled(query, parts)


def fitted(
    build: Callable[[Shares], PerCoordinate], shares: Shares, used: Callable[[Any], Fraction], power: int = 1
) -> PerCoordinate:
    """The mechanism of these shares, made smaller while `used` says that it takes more than the whole budget.

    What is used grows with this power of the shares.
    """
    while (part := used(mechanism := build(shares))) > 1:
        factor = Fraction(int(float(part) ** (-1 / power) * (1 - 1e-9) * 2**40), 2**40)
        shares = {i: share * factor for i, share in shares.items()}
    return mechanism


def ball_laplace(query: Vector, epsilon: Fraction) -> PerCoordinate:
    """One Laplace scale for a ball, with what rounding adds to it."""
    chosen: Any = query.sensitivity
    count, radius = chosen.dimension, chosen.radius
    length = dual_length([Fraction(1)] * count, chosen.order) * (1 if chosen.order == 1 else _HAIR)
    if query.integer is True and chosen.order == 2:
        length = min(length, Fraction(math.floor(radius**2)) / radius)
    step = radius / round_number(STEPS_PER_SCALE * max(count / length, epsilon))
    growth = _rounded(query) * step if count > 1 else Fraction(0)
    return _everywhere(query, Laplace, (radius * length + growth) / epsilon, step)


def ball_gaussian(query: Vector, length: Fraction) -> PerCoordinate:
    """One deviation for a ball so that its diameter, rounding included, is `length` deviations."""
    chosen: Any = query.sensitivity
    count, radius = chosen.dimension, chosen.radius * widening(chosen.dimension, Fraction(2), chosen.order)
    step = chosen.radius / round_number(STEPS_PER_SCALE * max(count**0.5, float(length)))
    growth = root_above(Fraction(_rounded(query))) * step * _HAIR if count > 1 else Fraction(0)
    return _everywhere(query, Gaussian, (radius + growth) * _HAIR / length, step)


def _rounded(query: Vector) -> int:
    """How many numbers are rounded to a lattice: whole ones are not."""
    return query.dimension - sum(query.whole)


def _everywhere(query: Vector, make: Callable[[Fraction], Any], scale: Fraction, step: Fraction) -> PerCoordinate:
    extent, law = query.extents[0], make(scale)
    made = {}
    if not all(query.whole):
        made[False] = Additive(Scalar(extent), law, Lattice.cells(step))
    if any(query.whole):
        made[True] = alone(Scalar(math.floor(extent), integer=True), law, scale)
    return assembled(query, {i: made[whole] for i, whole in enumerate(query.whole)})


def tailored_parts(query: Vector, shares: Shares, utility: Utility) -> PerCoordinate:
    """The staircase that is best for each number at its share."""
    splits = _split_table(shares, utility) if len(shares) > _MANY else None

    @cache
    def part(one: Scalar, share: Fraction, own: Utility) -> Additive:
        if splits is None or one.integer:
            return tuned_staircase(one, share, own)
        return with_split(one, share, float(np.interp(math.log(share), *splits)))

    parts, each = {}, scalars(query)
    for i, share in shares.items():
        one = each[i]
        if one is not None:
            parts[i] = part(one, share, AbsoluteError() if utility.joint else utility.alone(i))
    return assembled(query, parts)


def _split_table(shares: Shares, utility: Utility) -> tuple[Floats, Floats] | None:
    """Best splits at a few shares, to be interpolated; a split that is a little off costs next to nothing."""
    if utility.edges:
        return None
    logs = np.linspace(math.log(min(shares.values())), math.log(max(shares.values())) + 1e-9, 60)
    power = PowerError(utility.power or 1)
    return logs, np.array([best_split(power, Fraction(math.exp(v))) for v in logs])


def blocks_from(query: Vector, partition: Partition, budgets: list[Fraction]) -> NormShaped | None:
    """Norm-shaped blocks on lattices of about a thousandth of their noise; for all whole numbers or all real ones.

    None where the noise is wider, in whole steps, than can be drawn.
    """
    blocks, places = [], active(query)
    for members, budget in zip(partition.blocks, budgets, strict=True):
        chosen = tuple(places[i] for i in members)
        steps = round_number(STEPS_PER_SCALE * budget / len(members))
        if query.integer:
            # Whole steps, as many to each extent as all of them allow.
            steps = math.gcd(*(int(query.extents[i]) for i in chosen))
        if budget / steps < least_rate(len(chosen)):
            return None
        blocks.append(NormBlock(chosen, tuple(query.extents[i] / steps for i in chosen), budget / steps))
    return NormShaped(query, tuple(blocks))


def round_blocks(query: Vector, epsilon: Fraction) -> NormShaped | None:
    """Noise shaped by the norm of the question's ball: one block where it can be drawn, else several of equal size.

    None where its lattice costs much: more than a tenth of epsilon.
    """
    chosen: Any = query.sensitivity
    order = Fraction(chosen.order)
    count = math.ceil(query.dimension / LARGEST_ROUND_BLOCK)
    groups = [tuple(map(int, g)) for g in np.array_split(np.arange(query.dimension), count)]
    growth = sum((_ROUND_RATE * length_above([Fraction(1)] * len(g), order) for g in groups), Fraction(0))
    if growth > epsilon / 10:
        return None
    length = dual_length([Fraction(1)] * count, order) * _HAIR
    step = _ROUND_RATE * query.extents[0] * length / (epsilon - growth)
    return NormShaped(query, tuple(NormBlock(g, (step,) * len(g), _ROUND_RATE, f"l{order}") for g in groups))


def cube_block(query: Vector, epsilon: Fraction) -> NormShaped | None:
    """One block shaped by the largest coordinate, for an l2 ball; rounding may cross one more edge everywhere.

    None where it has too many shells to be summed up, or is wider in whole steps than can be drawn.
    """
    count, radius = query.dimension, query.extents[0]
    if query.integer:
        if epsilon / radius < least_rate(count):
            return None
        return NormShaped(query, (NormBlock(range(count), (1,) * count, epsilon / radius),))
    steps = round_number(max(Fraction(100), STEPS_PER_SCALE * epsilon / count))
    if count * (steps + 1) / epsilon > _MOST_SHELLS:
        return None
    block = NormBlock(tuple(range(count)), (radius / steps,) * count, epsilon / (steps + 1))
    return NormShaped(query, (block,))

"""From shares of a budget to mechanisms for several numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from noisewright.laws.gaussian import Gaussian
from noisewright.laws.laplace import Laplace
from noisewright.laws.lattice import Lattice
from noisewright.mechanisms.additive import Additive
from noisewright.mechanisms.norm_shaped import LARGEST_ROUND_BLOCK, NormBlock, NormShaped
from noisewright.mechanisms.per_coordinate import PerCoordinate
from noisewright.numerics.arrays import Floats
from noisewright.problem.queries import Scalar, Vector
from noisewright.problem.utilities import AbsoluteError, PowerError
from noisewright.problem.utility import Utility
from noisewright.proof.vectors import root_above
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
    if query.exact:
        made = {part: replace(part, query=Scalar(part.query.sensitivity, exact=True)) for part in set(parts.values())}
        parts = {i: made[part] for i, part in parts.items()}
    return PerCoordinate(query, tuple(parts.get(i) for i in range(query.dimension)))


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
    def part(extent: Fraction, scale: Fraction, own: Utility | None) -> Additive:
        return on_cells(Scalar(extent), law(scale), scale, own, steps)

    extents = query.extents
    parts = {i: part(extents[i], extents[i] / s, utility.alone(i) if utility else None) for i, s in shares.items()}
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
    """One Laplace scale for an l1 or l2 ball, with what rounding adds to it."""
    chosen: Any = query.sensitivity
    count, radius = chosen.dimension, chosen.radius
    length = Fraction(1) if chosen.order == 1 else root_above(Fraction(count)) * _HAIR
    step = radius / round_number(STEPS_PER_SCALE * max(count / length, epsilon))
    growth = count * step if count > 1 else Fraction(0)
    return _everywhere(query, Laplace((radius * length + growth) / epsilon), step)


def ball_gaussian(query: Vector, length: Fraction) -> PerCoordinate:
    """One deviation for an l1 or l2 ball so that its diameter, rounding included, is `length` deviations."""
    chosen: Any = query.sensitivity
    count, radius = chosen.dimension, chosen.radius
    step = radius / round_number(STEPS_PER_SCALE * max(count**0.5, float(length)))
    growth = root_above(Fraction(count)) * step * _HAIR if count > 1 else Fraction(0)
    return _everywhere(query, Gaussian((radius + growth) * _HAIR / length), step)


def _everywhere(query: Vector, law: Any, step: Fraction) -> PerCoordinate:
    part = Additive(Scalar(query.extents[0]), law, Lattice.cells(step))
    return assembled(query, dict.fromkeys(range(query.dimension), part))


def tailored_parts(query: Vector, shares: Shares, utility: Utility) -> PerCoordinate:
    """The staircase that is best for each number at its share."""
    splits = _split_table(shares, utility) if len(shares) > _MANY else None
    parts = {}
    for i, share in shares.items():
        scalar = Scalar(query.extents[i])
        if splits is None:
            parts[i] = tuned_staircase(scalar, share, AbsoluteError() if utility.joint else utility.alone(i))
        else:
            parts[i] = with_split(scalar, share, float(np.interp(math.log(share), *splits)))
    return assembled(query, parts)


def _split_table(shares: Shares, utility: Utility) -> tuple[Floats, Floats] | None:
    """Best splits at a few shares, to be interpolated; a split that is a little off costs next to nothing."""
    if utility.edges:
        return None
    logs = np.linspace(math.log(min(shares.values())), math.log(max(shares.values())) + 1e-9, 60)
    power = PowerError(utility.power or 1)
    return logs, np.array([best_split(power, Fraction(math.exp(v))) for v in logs])


def blocks_from(query: Vector, partition: Partition, budgets: list[Fraction]) -> NormShaped:
    """Norm-shaped blocks on lattices of about a thousandth of their noise."""
    blocks, places = [], active(query)
    for members, budget in zip(partition.blocks, budgets, strict=True):
        steps = round_number(STEPS_PER_SCALE * budget / len(members))
        chosen = tuple(places[i] for i in members)
        blocks.append(NormBlock(chosen, tuple(query.extents[i] / steps for i in chosen), budget / steps))
    return NormShaped(query, tuple(blocks))


def round_blocks(query: Vector, epsilon: Fraction) -> NormShaped | None:
    """Round noise for an l2 ball: one block where it can be drawn, else several of about equal size.

    None where its lattice costs much: more than a tenth of epsilon.
    """
    count = math.ceil(query.dimension / LARGEST_ROUND_BLOCK)
    if count * math.sqrt(LARGEST_ROUND_BLOCK) * float(_ROUND_RATE) > 0.1 * float(epsilon):
        return None
    groups = [tuple(map(int, g)) for g in np.array_split(np.arange(query.dimension), count)]
    growth = sum((_ROUND_RATE * root_above(Fraction(len(g))) for g in groups), Fraction(0))
    length = root_above(Fraction(count)) * _HAIR
    step = _ROUND_RATE * query.extents[0] * length / (epsilon - growth)
    return NormShaped(query, tuple(NormBlock(g, (step,) * len(g), _ROUND_RATE, "l2") for g in groups))


def cube_block(query: Vector, epsilon: Fraction) -> NormShaped | None:
    """One block shaped by the largest coordinate, for an l2 ball; rounding may cross one more edge everywhere.

    None where it has too many shells to be summed up.
    """
    count, radius = query.dimension, query.extents[0]
    steps = round_number(max(Fraction(100), STEPS_PER_SCALE * epsilon / count))
    if count * (steps + 1) / epsilon > _MOST_SHELLS:
        return None
    block = NormBlock(tuple(range(count)), (radius / steps,) * count, epsilon / (steps + 1))
    return NormShaped(query, (block,))

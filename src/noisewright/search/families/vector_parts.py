"""From shares of a budget to mechanisms for several numbers."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.laws.gaussian import Gaussian
from noisewright.laws.laplace import Laplace
from noisewright.laws.lattice import Lattice
from noisewright.mechanisms.additive import Additive
from noisewright.mechanisms.norm_shaped import LARGEST_ROUND_BLOCK, NormBlock, NormShaped
from noisewright.mechanisms.per_coordinate import PerCoordinate
from noisewright.problem.queries import Scalar
from noisewright.problem.sensitivity import L1Ball
from noisewright.problem.utilities import AbsoluteError, PowerError
from noisewright.problem.utility import Utility
from noisewright.problem.vector import Vector
from noisewright.proof.vector_sets import root_above
from noisewright.search.families.split import best_split
from noisewright.search.families.staircase import tuned_staircase, with_split
from noisewright.search.tools.lattices import STEPS_PER_SCALE, on_cells, round_number
from noisewright.search.tools.partition import Partition

Floats = NDArray[np.float64]

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


def laplace_parts(query: Vector, shares: dict[int, Fraction], utility: Utility) -> PerCoordinate:
    """Laplace noise of scale extent / share for each number."""
    parts = {}
    for i, share in shares.items():
        scale = query.extents[i] / share
        parts[i] = on_cells(Scalar(query.extents[i]), Laplace(scale), scale, utility.alone(i), _COARSE_STEPS)
    return assembled(query, parts)


def identical_laplace(query: Vector, scale: Fraction) -> PerCoordinate:
    """One scale for all numbers."""
    law = Laplace(scale)
    parts = {i: on_cells(Scalar(query.extents[i]), law, scale, None, _COARSE_STEPS) for i in active(query)}
    return assembled(query, parts)


def ball_laplace(query: Vector, epsilon: Fraction) -> PerCoordinate:
    """One Laplace scale for an l1 or l2 ball, with what rounding adds to it."""
    chosen: Any = query.sensitivity
    count, radius = chosen.dimension, chosen.radius
    length = Fraction(1) if isinstance(chosen, L1Ball) else root_above(Fraction(count)) * _HAIR
    step = radius / round_number(STEPS_PER_SCALE * max(count / length, epsilon))
    growth = count * step if count > 1 else Fraction(0)
    scale = (radius * length + growth) / epsilon
    part = Additive(Scalar(radius), Laplace(scale), Lattice.cells(step))
    return assembled(query, dict.fromkeys(range(count), part))


def tailored_parts(query: Vector, shares: dict[int, Fraction], utility: Utility) -> PerCoordinate:
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


def _split_table(shares: dict[int, Fraction], utility: Utility) -> tuple[Floats, Floats] | None:
    """Best splits at a few shares, to be interpolated; a split that is a little off costs next to nothing."""
    if utility.edges:
        return None
    logs = np.linspace(math.log(min(shares.values())), math.log(max(shares.values())) + 1e-9, 60)
    power = PowerError(utility.power or 1)
    return logs, np.array([best_split(power, Fraction(math.exp(v))) for v in logs])


def gaussian_part(extent: Fraction, std: Fraction) -> Additive:
    """Gaussian noise on a lattice whose step divides how far the number can move."""
    return on_cells(Scalar(extent), Gaussian(std), std, None, _COARSE_STEPS)


def ball_gaussian(query: Vector, length: Fraction) -> PerCoordinate:
    """One deviation for an l1 or l2 ball so that its diameter, rounding included, is `length` deviations."""
    chosen: Any = query.sensitivity
    count, radius = chosen.dimension, chosen.radius
    step = radius / round_number(STEPS_PER_SCALE * max(count**0.5, float(length)))
    growth = root_above(Fraction(count)) * step * _HAIR if count > 1 else Fraction(0)
    part = Additive(Scalar(radius), Gaussian((radius + growth) * _HAIR / length), Lattice.cells(step))
    return assembled(query, dict.fromkeys(range(count), part))


def blocks_from(query: Vector, partition: Partition, places: list[int], budgets: list[Fraction]) -> NormShaped:
    """Norm-shaped blocks on lattices of about a thousandth of their noise."""
    blocks = []
    for members, budget in zip(partition.blocks, budgets, strict=True):
        steps = round_number(STEPS_PER_SCALE * budget / len(members))
        chosen = tuple(places[i] for i in members)
        blocks.append(NormBlock(chosen, tuple(query.extents[i] / steps for i in chosen), budget / steps))
    return NormShaped(query, tuple(blocks))


def round_blocks(query: Vector, epsilon: Fraction) -> NormShaped:
    """Round noise for an l2 ball: one block where it can be drawn, else several of about equal size."""
    chosen: Any = query.sensitivity
    groups = [list(map(int, g)) for g in np.array_split(np.arange(chosen.dimension), _round_groups(chosen.dimension))]
    growth = sum((_ROUND_RATE * root_above(Fraction(len(g))) for g in groups), Fraction(0))
    length = root_above(Fraction(len(groups))) * _HAIR
    step = _ROUND_RATE * chosen.radius * length / (epsilon - growth)
    blocks = [NormBlock(tuple(g), (step,) * len(g), _ROUND_RATE, "l2") for g in groups]
    return NormShaped(query, tuple(blocks))


def cube_block(query: Vector, epsilon: Fraction) -> NormShaped:
    """One block shaped by the largest coordinate, for an l2 ball; rounding may cross one more edge everywhere."""
    count, radius = query.dimension, query.extents[0]
    steps = _cube_steps(count, epsilon)
    block = NormBlock(tuple(range(count)), (radius / steps,) * count, epsilon / (steps + 1))
    return NormShaped(query, (block,))


def cube_block_fits(query: Vector, epsilon: Fraction) -> bool:
    """Whether the shells of such a block are few enough to be summed up."""
    return query.dimension * (_cube_steps(query.dimension, epsilon) + 1) / epsilon <= _MOST_SHELLS


def _cube_steps(count: int, epsilon: Fraction) -> int:
    return round_number(max(Fraction(100), STEPS_PER_SCALE * epsilon / count))


def round_blocks_fit(query: Vector, epsilon: Fraction) -> bool:
    """Whether the lattice of round noise costs little: its growth is at most a tenth of epsilon."""
    count = query.dimension
    return _round_groups(count) * math.sqrt(LARGEST_ROUND_BLOCK) * float(_ROUND_RATE) <= 0.1 * float(epsilon)


def _round_groups(count: int) -> int:
    return math.ceil(count / LARGEST_ROUND_BLOCK)

"""The largest error among several numbers: its mean and its quantiles, integrated in floats."""

from __future__ import annotations

import math
from functools import singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.laws.piecewise import Piecewise
from noisewright.mechanisms.additive import Additive
from noisewright.mechanisms.norm_shaped import NormBlock, NormShaped
from noisewright.mechanisms.per_coordinate import PerCoordinate
from noisewright.numerics.bisection import first_true
from noisewright.numerics.fields import FLOATS
from noisewright.problem.errors import InvalidUtilityError
from noisewright.problem.vector_utilities import LargestError, LargestErrorQuantile

Floats = NDArray[np.float64]

_POINTS = 300
_PART_POINTS = 300
_FEW_PARTS = 40
_MOST_SHELLS = 2_000
_NEGLIGIBLE = 1e-12
_ROUNDING = 1e-9


def largest_error(mechanism: Any, utility: LargestError | LargestErrorQuantile) -> tuple[float, float]:
    """The mean (or quantile) of the largest error, and how far the number may be off.

    The mean is the integral of the chance to exceed x; it is taken twice, on a grid and on every
    second point of it, and four times their difference is the slack.
    """
    if isinstance(utility, LargestErrorQuantile):
        value = _quantile(mechanism, float(utility.confidence))
        return value, value * 1e-6
    top = _quantile(mechanism, 1 - _NEGLIGIBLE)
    # Points crowd near zero, where small errors of few numbers decide, and thin out in the tail.
    grid = top * np.linspace(0, 1, 2 * _POINTS + 1) ** 2
    exceeds = 1 - joint(mechanism, grid)
    fine, coarse = _trapezoid(exceeds, grid), _trapezoid(exceeds[::2], grid[::2])
    value = fine + (fine - coarse) / 3
    return value, 4 * abs(fine - coarse) + _ROUNDING * value


def _trapezoid(values: Floats, grid: Floats) -> float:
    return float(np.sum((values[1:] + values[:-1]) * np.diff(grid)) / 2)


def _quantile(mechanism: Any, confidence: float) -> float:
    def reached(x: float) -> bool:
        return bool(1 - joint(mechanism, np.array([x]))[0] <= 1 - confidence)

    high = 1.0
    while reached(high) and high > 1e-300:
        high /= 16
    while not reached(high):
        high *= 2
    return first_true(reached, 0.0, high, relative=1e-9)


@singledispatch
def joint(mechanism: Any, x: Floats) -> Floats:
    """P(every error is at most x), for each x."""
    raise InvalidUtilityError(f"the largest error has no formula for {type(mechanism).__name__} noise.")


@joint.register
def _(mechanism: PerCoordinate, x: Floats) -> Floats:
    counts: dict[Additive, int] = {}
    for part in mechanism.parts:
        if part is not None:
            counts[part] = counts.get(part, 0) + 1
    logs = np.zeros_like(x)
    direct = len(counts) <= _FEW_PARTS
    with np.errstate(divide="ignore"):
        for part, count in counts.items():
            logs += count * np.log(_inside(part, x, direct=direct))
    return np.asarray(np.exp(logs))


def _inside(part: Additive, x: Floats, *, direct: bool) -> Floats:
    """P(|error| <= x): evaluated at nodes (all jumps of a few-stepped density among them), linear between."""
    density = part.error_density
    if direct or len(x) <= _PART_POINTS:
        return np.array([_chance(density, float(v)) for v in x])
    nodes = set(np.linspace(0, 1, _PART_POINTS) ** 2 * float(x[-1]))
    if isinstance(density, Piecewise) and float(density.period) * _PART_POINTS > float(x[-1]):
        count = math.ceil(float(x[-1]) / float(density.period)) + 1
        nodes |= {abs(float(b)) + n * float(density.period) for b in density.breaks for n in range(count)}
    at = np.array(sorted(v for v in nodes if v <= float(x[-1])))
    return np.asarray(np.interp(x, at, np.array([_chance(density, float(v)) for v in at])))


def _chance(density: Any, x: float) -> float:
    return max(0.0, float(1 - density.sf(x, FLOATS) - density.cdf(-x, FLOATS)))


@joint.register
def _(mechanism: NormShaped, x: Floats) -> Floats:
    result = np.ones_like(x)
    for block in mechanism.blocks:
        if block.norm != "max":
            raise InvalidUtilityError("the largest error has no formula for round noise.")
        result *= _block_inside(block, x / float(mechanism.stretch))
    return result


def _block_inside(block: NormBlock, x: Floats) -> Floats:
    """On shell r the errors are independent and uniform up to step * (r + 1/2)."""
    masses = block.radius.masses()
    shells, masses = _grouped(masses)
    steps = np.sort(np.array([float(s) for s in block.steps]))[::-1]
    log_steps = np.concatenate([[0.0], np.cumsum(np.log(steps))])
    out = np.empty_like(x)
    for i, value in enumerate(x):
        reach = value / (shells + 0.5)
        beyond = len(steps) - np.searchsorted(steps[::-1], reach, side="right")
        with np.errstate(divide="ignore"):
            logs = np.where(beyond > 0, beyond * np.log(np.maximum(reach, 1e-320)) - log_steps[beyond], 0.0)
        out[i] = float(np.sum(masses * np.exp(logs)))
    return np.minimum(out, 1.0)


def _grouped(masses: Floats) -> tuple[Floats, Floats]:
    """Radii and masses that matter; where there are thousands, neighbours are merged at their mean."""
    shells = np.flatnonzero(masses > 1e-18)
    width = math.ceil(len(shells) / _MOST_SHELLS)
    if width == 1:
        return shells.astype(np.float64), masses[shells]
    starts = np.arange(0, len(shells), width)
    merged = np.add.reduceat(masses[shells], starts)
    return np.add.reduceat(masses[shells] * shells, starts) / merged, merged

"""What linear programmes for bounded questions charge for each output at each input, in units of the sensitivity."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from noisewright.search.programmes.bounded import Floats, Programme

BITS = 60
"""Certified charges are whole numbers of 2^-60."""

_ROUNDING = 2.0**-44


@dataclass(frozen=True, slots=True)
class Charges:
    """Whole numbers whose line from output to output stays at or below the loss at every input.

    Each cost is at most the loss minus `spare`; the least spare of a row is what its price must allow for.
    """

    costs: list[list[int]]
    spare: list[int]


def exponent(utility: Any) -> Fraction | None:
    """The power of |error| that is charged; None where missing a limit is."""
    if utility.edges:
        return None
    return Fraction(2) if utility.averaged else Fraction(utility.power)


def charges(programme: Programme, utility: Any) -> Floats:
    """What a design pays for each output: |error|^power, or one for a miss."""
    distances, power = programme.distances, exponent(utility)
    if power is not None:
        return np.asarray(distances**2 if power == 2 else np.abs(distances) ** float(power))
    limit = float(utility.edges[0] / programme.query.sensitivity)
    return np.asarray(np.abs(distances) > limit, dtype=np.float64)


def charges_below(programme: Programme, utility: Any) -> Charges:
    """What every mechanism pays for sure, wherever its outputs are: costs from below, in whole numbers.

    Rule: a release is rounded at random to the outputs of the programme, which keeps its mean and its privacy.
    That may add to the loss no more than a chord lies above it in the cells beside an output. Missing is
    charged only where the next output towards the input has missed as well.
    """
    distances, power = programme.distances, exponent(utility)
    doubt = _doubt(distances)
    if power is None:
        costs = [[int(c) << BITS for c in row] for row in missed(programme, utility).tolist()]
        return Charges(costs, [0] * len(costs))
    gaps = np.pad(_chord_gaps(distances, float(power), doubt), ((0, 0), (1, 1)))
    spare = np.maximum(gaps[:, :-1], gaps[:, 1:]) * (1 + _ROUNDING)
    paid = np.maximum(np.abs(distances) - doubt, 0.0) ** float(power) * (1 - _ROUNDING)
    costs = [[math.floor(c * 2.0**BITS) for c in row] for row in (paid - spare).tolist()]
    return Charges(costs, [math.ceil(s * 2.0**BITS) for s in spare.min(axis=1).tolist()])


def missed(programme: Programme, utility: Any) -> Floats:
    """One where an output misses the limit for sure, and those beside it as well; else zero."""
    distances = programme.distances
    limit = float(utility.edges[0] / programme.query.sensitivity) + _doubt(distances)
    sides = np.where(distances >= limit, 1.0, np.where(distances <= -limit, -1.0, 0.0))
    padded = np.pad(sides, ((0, 0), (1, 1)), mode="edge")
    return np.asarray(np.abs(np.where((padded[:, :-2] == sides) & (padded[:, 2:] == sides), sides, 0.0)))


def _doubt(distances: Floats) -> float:
    """How far a distance in floats may be from the truth, and more."""
    return _ROUNDING * (1 + float(np.abs(distances).max()))


def _chord_gaps(distances: Floats, power: float, doubt: float) -> Floats:
    """How far a chord of |distance|^power may lie above it, in every cell of outputs and at every input.

    Rule: below power 1 only where the cell holds the input. From 1 to 2 a quarter of the width times what the slope
    gains, from 2 on an eighth of the squared width times the largest second derivative.
    """
    start, end = distances[:, :-1], distances[:, 1:]
    width, holds = end - start + doubt, (start < -doubt) & (end > doubt)
    far = np.maximum(np.abs(start), np.abs(end)) + doubt
    if power >= 2:
        return np.asarray(width**2 / 8 * power * (power - 1) * far ** (power - 2))
    if power < 1:
        return np.asarray(np.where(holds, far**power, doubt**power))
    near = np.minimum(np.abs(start), np.abs(end))
    inner = np.where(holds, (near + doubt) ** (power - 1), -(np.maximum(near - doubt, 0.0) ** (power - 1)))
    return np.asarray(width / 4 * power * (far ** (power - 1) + inner) + 2 * doubt**power)

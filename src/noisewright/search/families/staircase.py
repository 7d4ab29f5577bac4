"""Candidate families: a name, and the best mechanism of that family for a problem."""

from __future__ import annotations

import math
from fractions import Fraction

from noisewright.laws.laplace import DiscreteLaplace, Laplace
from noisewright.laws.lattice import HALF, Lattice
from noisewright.laws.piecewise import skewed_staircase, staircase
from noisewright.mechanisms.additive import Additive
from noisewright.numerics.bisection import first_true, gallop
from noisewright.numerics.fields import FLOATS
from noisewright.problem.queries import Scalar
from noisewright.problem.utilities import Usefulness
from noisewright.problem.utility import Utility
from noisewright.search.bounds.chain import LossGrid, loss_grid
from noisewright.search.families.split import best_split
from noisewright.search.tools.lattices import STEPS_PER_SCALE, on_cells, round_number

_STEPS_PER_SPLIT = 200
_STEPS_PER_SHARP_SPLIT = 10_000
_FINE_STEPS = 10**6
_MOST_STEPS = 2**58


def laplace_name(query: Scalar) -> str:
    """What the usual noise is called for this kind of answer."""
    return "discrete Laplace" if query.integer else "Laplace"


def laplace(query: Scalar, epsilon: Fraction, utility: Utility) -> Additive:
    """Laplace noise of scale sensitivity / epsilon, or its two-sided geometric form for integers."""
    scale = query.sensitivity / epsilon
    if query.integer:
        return Additive(query, DiscreteLaplace(scale), Lattice.integers())
    return on_cells(query, Laplace(scale), scale, utility)


def with_split(query: Scalar, epsilon: Fraction, split: float) -> Additive:
    """The staircase with about this split, on a lattice fine enough for its top step."""
    steps = round_number(max(100, float(STEPS_PER_SCALE * epsilon), _STEPS_PER_SPLIT / split))
    top = Fraction(min(max(1, round(split * steps)), steps), steps)
    law = staircase(epsilon=epsilon, sensitivity=query.sensitivity, split=top)
    return Additive(query, law, Lattice.cells(query.sensitivity / steps))


def tuned_staircase(query: Scalar, epsilon: Fraction, utility: Utility) -> Additive:
    """The symmetric staircase whose top step is best for the utility."""
    if utility.tabulated:
        return from_grid(loss_grid(query, epsilon, utility), symmetric=True)
    if query.integer:
        return integer_staircase(query, epsilon, best_half(query, epsilon, utility))
    split, steps = aligned_split(utility.scaled(query.sensitivity), epsilon)
    law = staircase(epsilon=epsilon, sensitivity=query.sensitivity, split=split)
    return Additive(query, law, Lattice.cells(query.sensitivity / steps))


def from_grid(grid: LossGrid, *, symmetric: bool) -> Additive:
    """The staircase with the grid's best top step."""
    top = grid.best(symmetric=symmetric)
    query = grid.query
    offset = HALF if query.integer else Fraction(0)
    law = skewed_staircase(
        epsilon=grid.epsilon,
        sensitivity=query.sensitivity,
        left=(top.left - offset) * grid.width,
        right=(top.right - offset) * grid.width,
    )
    return Additive(query, law, Lattice.integers() if query.integer else Lattice.cells(grid.width))


def aligned_split(utility: Utility, epsilon: Fraction) -> tuple[Fraction, int]:
    """A rational split and a number of steps per sensitivity that it is a multiple of (errors in sensitivities)."""
    least = max(100, math.ceil(STEPS_PER_SCALE * epsilon))
    ideal = best_split(utility, epsilon)
    if utility.power is not None:
        needed = max(least, math.ceil(_STEPS_PER_SPLIT / ideal))
    else:
        needed = max(_FINE_STEPS, math.ceil(_STEPS_PER_SHARP_SPLIT / ideal))
    steps = min(round_number(needed), _MOST_STEPS)
    for edge in utility.edges:
        split = edge % 1 or Fraction(1)
        fine = max(least, math.ceil(_STEPS_PER_SPLIT / split))
        exact = split.denominator * math.ceil(Fraction(fine, split.denominator))
        # A limit of many digits is not worth a step so fine that large answers no longer fit the lattice.
        if exact <= steps:
            return split, exact
    # A top step that ends just inside a quantile leaves the last bit of confidence to the far lower next step.
    whole = math.ceil(ideal * steps) if utility.confidence else round(ideal * steps)
    return Fraction(min(max(1, whole), steps), steps), steps


def integer_staircase(query: Scalar, epsilon: Fraction, half: int) -> Additive:
    """Integer noise with top step {-half, …, half}."""
    law = skewed_staircase(epsilon=epsilon, sensitivity=query.sensitivity, left=-half - HALF, right=half + HALF)
    return Additive(query, law, Lattice.integers())


def best_half(query: Scalar, epsilon: Fraction, utility: Utility) -> int:
    """Half-size of the best top step for integers: the minimum of a function that falls, then rises."""
    per = int(query.sensitivity)
    if utility.edges:
        return math.floor(utility.edges[0]) % per
    if utility.confidence is not None:
        return smallest_integer_width(query, epsilon, utility.confidence) % per

    def value(half: int) -> float:
        return float(integer_staircase(query, epsilon, half).expected(utility, FLOATS))

    return first_true(lambda half: value(half) <= value(half + 1), -1, per - 1)


def smallest_integer_width(query: Scalar, epsilon: Fraction, confidence: Fraction) -> int:
    """Smallest whole w that some integer noise stays within, with the confidence (in floats)."""
    per = int(query.sensitivity)

    def reached(width: int) -> bool:
        mechanism = integer_staircase(query, epsilon, width % per)
        return bool(mechanism.expected(Usefulness(width), FLOATS) >= float(confidence))

    return first_true(reached, *gallop(reached, -1, per + 1))

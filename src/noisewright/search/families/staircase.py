"""Laplace noise, and the best staircase for a problem, in floats."""

from __future__ import annotations

import math
from fractions import Fraction

from noisewright.laws.laplace import DiscreteLaplace, Laplace
from noisewright.laws.lattice import HALF, Lattice
from noisewright.laws.piecewise import skewed_staircase, staircase
from noisewright.mechanisms.additive import Additive
from noisewright.numerics.bisection import first_true, gallop
from noisewright.numerics.fields import FLOATS
from noisewright.numerics.series import geometric_power_sum
from noisewright.problem.queries import Scalar
from noisewright.problem.utilities import Usefulness, Utility
from noisewright.search.bounds.chain import LossGrid, loss_grid
from noisewright.search.tools.golden import STEPS_PER_SCALE, on_cells, round_number

_SMALL = Fraction(1, 200)
_STEPS_PER_SPLIT = 200
_STEPS_PER_SHARP_SPLIT = 10_000
_FINE_STEPS = 10**6
_MOST_STEPS = 2**58
_TOLD_APART = 10**6
"""Up to so many noise scales, in whole numbers, floats tell the losses of neighbouring half-sizes apart."""


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
    return _on_steps(query, epsilon, Fraction(min(max(1, round(split * steps)), steps), steps), steps)


def _on_steps(query: Scalar, epsilon: Fraction, split: Fraction, steps: int) -> Additive:
    law = staircase(epsilon=epsilon, sensitivity=query.sensitivity, split=split)
    return Additive(query, law, Lattice.cells(query.sensitivity / steps))


def tuned_staircase(query: Scalar, epsilon: Fraction, utility: Utility) -> Additive:
    """The symmetric staircase whose top step is best for the utility."""
    if utility.tabulated:
        return from_grid(loss_grid(query, epsilon, utility), symmetric=True)
    if query.integer:
        return integer_staircase(query, epsilon, best_half(query, epsilon, utility))
    return _on_steps(query, epsilon, *aligned_split(utility.scaled(query.sensitivity), epsilon))


def from_grid(grid: LossGrid, *, symmetric: bool) -> Additive:
    """The staircase with the grid's best top step."""
    top = grid.best(symmetric=symmetric)
    query = grid.query
    left, right = (grid.width * (end - HALF if query.integer else end) for end in (top.left, top.right))
    law = skewed_staircase(epsilon=grid.epsilon, sensitivity=query.sensitivity, left=left, right=right)
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
    """Half-size of the best top step for integers: the minimum of a function that falls, then rises.

    Where whole numbers are so fine that floats cannot tell neighbours apart, the one next to the best split of reals.
    """
    per = int(query.sensitivity)
    if utility.edges:
        return math.floor(utility.edges[0]) % per
    if utility.confidence is not None:
        return smallest_integer_width(query, epsilon, utility.confidence) % per

    if per > _TOLD_APART * min(epsilon, Fraction(1)):
        return min(max(0, round(best_split(utility, epsilon) * per - 0.5)), per - 1)

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


def best_split(utility: Utility, epsilon: Fraction) -> float:
    """The split of the staircase that is best for the utility, for real answers and sensitivity 1.

    For usefulness and quantiles the closed form; for powers the zero of an increasing function. At
    very small epsilon the split hardly matters and the one for absolute error is used.
    """
    rate = float(epsilon)
    if utility.edges:
        return float(utility.edges[0] % 1) or 1.0
    if utility.confidence is not None:
        return best_quantile(utility.confidence, epsilon)[1] or 1.0
    if utility.power == 1 or epsilon < _SMALL:
        return 1 / (1 + math.exp(rate / 2))
    return _power_split(utility.power, epsilon)


def best_quantile(confidence: Fraction, epsilon: Fraction) -> tuple[int, float]:
    """Whole part and fraction of the smallest half-width at a confidence, in sensitivities."""
    rate = float(epsilon)
    outside = 1 - float(confidence)
    whole = math.floor(-math.log(outside) / rate)
    b = math.exp(-rate)
    fraction = (math.exp(-rate * (whole + 1)) / outside - b) / -math.expm1(-rate)
    return whole, min(max(fraction, 0.0), 1.0)


def _power_split(power: Fraction, epsilon: Fraction) -> float:
    """Where the derivative of the loss with respect to the split changes sign.

    With A(g) = sum_j b^j ((j+g)^(p+1) - j^(p+1)) / (p+1), the sign of the derivative is that of
    A'(g) (g + b(1-g)) - b A(1) - (1-b) A(g), which increases with g.
    """
    b = math.exp(-float(epsilon))

    def series(start: float, exponent: Fraction) -> float:
        return float(geometric_power_sum(FLOATS, epsilon, Fraction(start), Fraction(1), exponent))

    origin = series(0.0, power + 1)

    def area(split: float) -> float:
        return (series(split, power + 1) - origin) / float(power + 1)

    whole = area(1.0)

    def slope(split: float) -> float:
        return series(split, power) * (split + b * (1 - split)) - b * whole - (1 - b) * area(split)

    return math.exp(first_true(lambda log: slope(math.exp(log)) >= 0, math.log(1e-14), 0.0, within=1e-16))

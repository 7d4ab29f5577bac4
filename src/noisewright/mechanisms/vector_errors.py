"""Errors of mechanisms for several numbers: released minus true answer, rounding included.

As for one number, the error is averaged over where the true answer falls in its cell. Moments and
chances of single numbers are enclosed by balls; what concerns the largest error is integrated in floats.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import singledispatch
from typing import Any

from noisewright.laws.laplace import Laplace
from noisewright.laws.piecewise import Piecewise
from noisewright.laws.shells import shifted_sum
from noisewright.mechanisms.additive import Additive
from noisewright.mechanisms.expected import expected_under
from noisewright.mechanisms.linear_gaussian import LinearGaussian
from noisewright.mechanisms.norm_shaped import NormBlock, NormShaped
from noisewright.mechanisms.per_coordinate import PerCoordinate
from noisewright.numerics.balls import Ball, around, ball, hull, pi
from noisewright.numerics.fields import BALLS
from noisewright.problem.errors import InvalidUtilityError
from noisewright.problem.utilities import PowerError, Usefulness
from noisewright.problem.vector_utilities import (
    CoordinateUsefulness,
    LargestError,
    LargestErrorQuantile,
    TotalAbsoluteError,
    TotalSquaredError,
    VectorUtility,
    weights_of,
)


def expected_vector(mechanism: Any, utility: VectorUtility) -> Ball:
    """Expected utility of a mechanism for several numbers; call inside `precision`."""
    dimension = mechanism.query.dimension
    if isinstance(utility, LargestError | LargestErrorQuantile):
        from noisewright.mechanisms.largest import largest_error

        value, slack = largest_error(mechanism, utility)
        return around(value, slack)
    return weighted_total(coordinate_values(mechanism, utility), utility, dimension)


def weighted_total(values: list[Ball], utility: VectorUtility, dimension: int) -> Ball:
    """What `coordinate_values` add up to."""
    weights = weights_of(utility, dimension)
    total = ball(0)
    for weight, value in zip(weights, values, strict=True):
        total = total + ball(weight) * value
    return total


def coordinate_values(mechanism: Any, utility: VectorUtility) -> list[Ball]:
    """For each number its mean squared or absolute error, or the chance that it is useful."""
    if isinstance(utility, CoordinateUsefulness):
        return within(mechanism, utility.limits(mechanism.query.dimension))
    if isinstance(utility, TotalSquaredError | TotalAbsoluteError):
        return moments(mechanism, utility.power)
    return moments(mechanism, 2)


@singledispatch
def moments(mechanism: Any, power: int) -> list[Ball]:
    """Mean of |error|^power of each number, for power 1 or 2."""
    raise TypeError(f"no rule for the errors of {type(mechanism).__name__}")


@singledispatch
def within(mechanism: Any, limits: tuple[Fraction, ...]) -> list[Ball]:
    """The chance that the error of each number is at most its limit."""
    raise TypeError(f"no rule for the errors of {type(mechanism).__name__}")


@moments.register
def _(mechanism: PerCoordinate, power: int) -> list[Ball]:
    memo: dict[Additive | None, Ball] = {None: ball(0)}
    for part in mechanism.parts:
        if part is not None and part not in memo:
            memo[part] = _part_moment(part, power) * ball(part.stretch**power)
    return [memo[part] for part in mechanism.parts]


def _part_moment(part: Additive, power: int) -> Ball:
    """Mean of |error|^power on the lattice, before the release is stretched.

    Closed forms for Laplace noise and symmetric staircases, of which there may be thousands; the general rule else.

    Rounded Laplace noise is n + U steps away, n geometric and U uniform. A staircase with split g has
    E|X|^p = period^p / (p+1) * sum b^n (n+g)^(p+1) / sum b^n (n+g).
    """
    law = part.law
    if isinstance(law, Laplace):
        b = ball(-part.lattice.step / law.scale).exp()
        rest = 1 - b
        first = b / rest
        if power == 1:
            return (first + ball(Fraction(1, 2))) * ball(part.lattice.step)
        return (b * (1 + b) / rest**2 + first + ball(Fraction(1, 3))) * ball(part.lattice.step**2)
    if isinstance(law, Piecewise) and len(law.levels) == 3 and law.breaks[1] == -law.breaks[2]:
        split = law.breaks[2] / law.period
        if 0 < split <= 1 and list(law.levels) == [1, 0, 1]:
            ratio = shifted_sum(law.rate, split, power + 1) / shifted_sum(law.rate, split, 1)
            return ratio * ball(law.period**power / (power + 1))
    return expected_under(part.lattice_density, PowerError(power), BALLS, integer=part.query.integer)


@within.register
def _(mechanism: PerCoordinate, limits: tuple[Fraction, ...]) -> list[Ball]:
    memo: dict[tuple[Additive, Fraction], Ball] = {}
    found = []
    for part, limit in zip(mechanism.parts, limits, strict=True):
        if part is None:
            found.append(ball(1))
            continue
        if (part, limit) not in memo:
            memo[part, limit] = part.expected(Usefulness(limit), BALLS)
        found.append(memo[part, limit])
    return found


@moments.register
def _(mechanism: NormShaped, power: int) -> list[Ball]:
    found = [ball(0)] * mechanism.query.dimension
    for block in mechanism.blocks:
        unit = _unit_moment(block, power)
        for place, step in zip(block.places, block.steps, strict=True):
            found[place] = unit * ball((step * mechanism.stretch) ** power)
    return found


def _unit_moment(block: NormBlock, power: int) -> Ball:
    """Mean of |error|^power in steps.

    On shell r the error is uniform on [-(2r+1)/2, (2r+1)/2]. A round block's density lies within
    e^(+-rate sqrt(k)) of the density proportional to e^(-rate |x|), whose radius has a gamma law.
    """
    if block.norm == "max":
        return block.radius.moment(power) / ball(2**power * (power + 1))
    k, rate = block.size, ball(block.rate)
    if power == 2:
        value = ball(k + 1) / rate**2
    else:
        ratio = BALLS.gamma(Fraction(k, 2)) / BALLS.gamma(Fraction(k + 1, 2))
        value = ball(k) / rate * ratio / pi().sqrt()
    slack = rate * ball(k).sqrt()
    return hull(value * (-slack).exp(), value * slack.exp())


@within.register
def _(mechanism: NormShaped, limits: tuple[Fraction, ...]) -> list[Ball]:
    found = [ball(1)] * mechanism.query.dimension
    for block in mechanism.blocks:
        if block.norm != "max":
            raise InvalidUtilityError("the chance of a useful answer has no formula for round noise.")
        radius, memo = block.radius, {}
        for place, step in zip(block.places, block.steps, strict=True):
            reach = limits[place] / (step * mechanism.stretch)
            if reach not in memo:
                # P(|x| <= t) on shell r is min(1, 2t / (2r+1)).
                full = math.floor(reach - Fraction(1, 2))
                partly = radius.tail(block.size - 1, full + 1) / radius.total(block.size)
                memo[reach] = 1 - radius.sf(full, BALLS) + ball(2 * reach) * partly
            found[place] = memo[reach]
    return found


@moments.register
def _(mechanism: LinearGaussian, power: int) -> list[Ball]:
    if power != 2:
        raise InvalidUtilityError("correlated Gaussian noise is measured by squared error.")
    unit = mechanism.error_density.moment(2, BALLS)
    return [unit * ball(sum((v * v for v in row), Fraction(0))) for row in mechanism.inverse]


@within.register
def _(mechanism: LinearGaussian, limits: tuple[Fraction, ...]) -> list[Ball]:
    raise InvalidUtilityError("correlated Gaussian noise is measured by squared error.")

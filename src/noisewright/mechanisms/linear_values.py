"""What linear mechanisms cost, enclosed: the noise that is drawn, and the bias of rounded columns at its largest."""

from __future__ import annotations

from fractions import Fraction
from functools import singledispatch

from noisewright.mechanisms.linear import LinearElliptical, LinearLaplace
from noisewright.mechanisms.linear_largest import mean_largest
from noisewright.numerics.balls import Ball, ball, hull, lower, precision, upper
from noisewright.numerics.fields import BALLS
from noisewright.problem.vector_utilities import LargestError, TotalAbsoluteError, TotalSquaredError, weights_of

USUAL_PEOPLE = 1_000_000
"""How many people the bias of rounded columns is counted for where their number is not given."""

_POINTS = 400
_FEWEST_POINTS = 40
_MOST_TERMS = 100_000
_NEAR, _FAR = Fraction(1, 2**12), 64

LinearUtility = TotalSquaredError | TotalAbsoluteError | LargestError
LinearNoise = LinearLaplace | LinearElliptical


def enclosed(mechanism: LinearNoise, utility: LinearUtility) -> tuple[Ball, float]:
    """A ball around the expected utility, and the value to show: its middle, or an estimate inside it."""
    with precision():
        if isinstance(utility, LargestError):
            around = largest_ball(mechanism)
            low, high = lower(around), upper(around)
            estimate = Fraction(mean_largest(mechanism))
            return around, float(min(max(estimate, low), high))
        each = squared_balls(mechanism) if isinstance(utility, TotalSquaredError) else absolute_balls(mechanism)
        total = ball(0)
        for weight, value in zip(weights_of(utility, len(each)), each, strict=True):
            total = total + ball(weight) * value
        return total, float(total.mid())


def squared_balls(mechanism: LinearNoise) -> list[Ball]:
    """Mean squared error of each query; the upper end holds whatever part of the largest bias there is."""
    noise = mechanism.variances(BALLS)
    return [v + ball(b) ** 2 for v, b in zip(noise, _biases(mechanism), strict=True)]


def absolute_balls(mechanism: LinearNoise) -> list[Ball]:
    """Mean absolute error of each query, likewise."""
    return [v + ball(b) for v, b in zip(_absolute_noise(mechanism), _biases(mechanism), strict=True)]


def _biases(mechanism: LinearNoise) -> list[Fraction]:
    people = mechanism.query.people or USUAL_PEOPLE
    return [people * b for b in mechanism.biases()]


@singledispatch
def _absolute_noise(mechanism: LinearNoise) -> list[Ball]:
    raise TypeError(f"no rule for the errors of {type(mechanism).__name__}")


@_absolute_noise.register
def _(mechanism: LinearLaplace) -> list[Ball]:
    found: list[Ball] = mechanism.absolute(BALLS)
    return found


@_absolute_noise.register
def _(mechanism: LinearElliptical) -> list[Ball]:
    """Rule: as for `round_variance`, sums over integers are integrals up to e^(-+rate sqrt(K)); moving within a unit
    cube changes |d . w| by at most |d| sqrt(K)/2, and |d . u| has mean |d| E r Gamma(K/2) / (sqrt(pi) Gamma((K+1)/2)).
    """
    result = [ball(0)] * mechanism.query.dimension
    for block in mechanism.blocks:
        size = len(block.rows)
        rate, root = ball(block.rate), ball(size).sqrt()
        share = BALLS.gamma(Fraction(size, 2)) / (BALLS.pi().sqrt() * BALLS.gamma(Fraction(size + 1, 2)))
        middle, sway = ball(size) / rate * share, (rate * root).exp()
        low, high = (middle - root / 2) / sway, (middle + root / 2) * sway
        one = hull(low if bool(low > 0) else ball(0), high)
        for k, row in zip(block.rows, block.decode, strict=True):
            result[k] = ball(sum((v * v for v in row), Fraction(0))).sqrt() * one
    return result


def largest_ball(mechanism: LinearNoise) -> Ball:
    """A ball around the mean of the largest error."""
    largest_bias = ball(max(_biases(mechanism)))
    if isinstance(mechanism, LinearLaplace):
        low, high = _independent(mechanism)
        return hull(low, high + largest_bias)
    # The largest is at least any of them; its square is at most the sum of all squares, its size that of all sizes.
    each = _absolute_noise(mechanism)
    low = ball(max(lower(v) for v in each))
    squares, sizes = ball(0), ball(0)
    for square, size in zip(mechanism.variances(BALLS), each, strict=True):
        squares, sizes = squares + square, sizes + size
    return hull(low, ball(min(upper(ball(upper(squares)).sqrt()), upper(sizes))) + largest_bias)


def _independent(mechanism: LinearLaplace) -> tuple[Ball, Ball]:
    """Two sums around the integral of P(some |noise_k| > t), which falls in t; the rest is bounded query by query."""
    count = max(_FEWEST_POINTS, min(_POINTS, _MOST_TERMS // len(mechanism.scales)))
    top = max(mechanism.scales)
    growth = float(_FAR / _NEAR) ** (1 / count)
    edges = [Fraction(0), *(top * _NEAR * Fraction(growth**i) for i in range(count + 1))]
    fades = [ball(-rate).exp() for rate in mechanism.rates]
    low, high = ball(0), ball(0)
    before, chance = edges[0], _some_beyond(mechanism, fades, edges[0])
    for edge in edges[1:]:
        after = _some_beyond(mechanism, fades, edge)
        low, high = low + ball(edge - before) * after, high + ball(edge - before) * chance
        before, chance = edge, after
    for step, fade in zip(mechanism.steps, fades, strict=True):
        high = high + ball(step) * 2 * fade ** (int(before / step) + 1) / ((1 + fade) * (1 - fade))
    return low, high


def _some_beyond(mechanism: LinearLaplace, fades: list[Ball], t: Fraction) -> Ball:
    """P(some |noise_k| > t); a discrete Laplace number exceeds m in size with probability 2 b^(m+1) / (1 + b)."""
    inside = ball(1)
    for step, fade in zip(mechanism.steps, fades, strict=True):
        inside = inside * (1 - 2 * fade ** (int(t / step) + 1) / (1 + fade))
    return 1 - inside

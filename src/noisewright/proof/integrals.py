"""Rigorous integrals of f(x)^alpha f(x + s)^(1 - alpha)."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from noisewright.numerics.balls import Ball, ball, certainly_at_most, complex_ball, hull, integral
from noisewright.numerics.fields import BALLS
from noisewright.problem.errors import UncertifiedError

_TINY = Fraction(1, 2**100)
_FAR_NATS = 80


def power_affinity(power: Fraction, shift: Fraction, alpha: Fraction) -> Ball:
    """The integral for the density proportional to e^(-|x|^power), power >= 1, at scale 1."""
    reach = _reach(power, shift, alpha)
    norm = 2 * BALLS.gamma(1 / power) / ball(power)
    a = complex_ball(alpha)

    def raised(z: Any, analytic: bool) -> Any:
        if power.denominator == 1:
            return z ** int(power)
        return z.pow(complex_ball(power), analytic=analytic)

    def piece(sign: int, move: Fraction) -> Callable[[Any, bool], Any]:
        def integrand(z: Any, analytic: bool) -> Any:
            # Multiplied by a sign a ball would grow, and with it the bound that saved certificates hold.
            here = z if sign > 0 else -z
            return (-a * raised(here, analytic) + (a - 1) * raised(z + complex_ball(move), analytic)).exp()

        return integrand

    # Next to a zero of |x| or |x + s| a broken power is not analytic; these slivers are bounded by their size.
    gap = Fraction(0) if power.denominator == 1 else _TINY
    total = integral(piece(1, shift), gap, reach) + integral(piece(1, -shift), shift + gap, reach)
    total = total + integral(piece(-1, shift), gap - shift, -gap)
    top = BALLS.exp(ball(alpha) * BALLS.power(ball(shift + 1), power))
    slivers = hull(ball(0), ball(4 * gap) * top)
    return (total + slivers + _tails(power, shift, alpha, reach)) / norm


def _reach(power: Fraction, shift: Fraction, alpha: Fraction) -> Fraction:
    """How far to integrate: the exponent there is far below its peak (only accuracy depends on it)."""
    p, s, a = float(power), float(shift), float(alpha)
    reach = 1.0 + s
    peak = (a - 1) * s**p
    while True:
        value = -a * reach**p + (a - 1) * (reach + s) ** p
        peak = max(peak, value)
        if value < min(peak, 0) - _FAR_NATS and reach**p > _FAR_NATS:
            return Fraction(math.ceil(reach))
        reach *= 1.25


def _tails(power: Fraction, shift: Fraction, alpha: Fraction, reach: Fraction) -> Ball:
    """Beyond `reach` the exponents fall at least as fast as their slopes there."""
    r, s, a = ball(reach), ball(shift), ball(alpha)
    slope = ball(power) * BALLS.power(r, power - 1)
    bend = a - (a - 1) * BALLS.power(1 + s / r, power - 1)
    if not certainly_at_most(ball(Fraction(1, 2**20)), bend):
        raise UncertifiedError("the tail of a Renyi integral could not be bounded.")
    peak = (-a * BALLS.power(r, power) + (a - 1) * BALLS.power(r + s, power)).exp()
    other = (-BALLS.power(r, power)).exp()
    return hull(ball(0), peak / (slope * bend) + other / slope)


def logistic_affinity(shift: Fraction, alpha: Fraction) -> Ball:
    """The integral for the logistic density at scale 1."""
    reach = Fraction(math.ceil(float(alpha * shift) + _FAR_NATS))
    a, s = complex_ball(alpha), complex_ball(shift)

    def log_density(z: Any, analytic: bool) -> Any:
        return -z - 2 * ((-z).exp() + 1).log(analytic=analytic)

    def integrand(z: Any, analytic: bool) -> Any:
        return (a * log_density(z, analytic) - (a - 1) * log_density(z + s, analytic)).exp()

    # The ratio of the two densities is at most e^shift everywhere.
    tail = 2 * (-ball(reach)).exp() * (ball(alpha - 1) * ball(shift)).exp()
    return integral(integrand, -reach, reach) + hull(ball(0), tail)

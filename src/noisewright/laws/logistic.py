"""The logistic law: survival function 1 / (1 + e^(x/scale))."""

from __future__ import annotations

import math
from fractions import Fraction

from noisewright.laws.base import LAWS, Crossing, SmoothLaw, bracket_crossing
from noisewright.numerics.balls import ball
from noisewright.numerics.fields import BALLS, Exact, Field, Point, Value
from noisewright.numerics.special import alternating
from noisewright.problem.errors import InvalidLawError
from noisewright.problem.fields import Rational, rational
from noisewright.problem.records import record


@record("logistic", LAWS, error=InvalidLawError)
class Logistic(SmoothLaw):
    """Logistic noise: tails like Laplace, a round top like a Gaussian."""

    scale: Rational = rational(above=0)

    @property
    def slope(self) -> Fraction:
        return 1 / self.scale

    def density(self, x: Point, field: Field) -> Value:
        u = self._fade(max(x, -x), field)
        return u / (field.real(self.scale) * (1 + u) * (1 + u))

    def sf(self, x: Point, field: Field) -> Value:
        u = self._fade(max(x, -x), field)
        return u / (1 + u) if x >= 0 else 1 / (1 + u)

    def moment(self, power: Exact, field: Field) -> Value:
        """2 scale^p Gamma(p + 1) eta(p), where eta is the alternating zeta function."""
        return 2 * field.power(field.real(self.scale), power) * field.gamma(power + 1) * _eta(power, field)

    def drop(self, x: Point, shift: Point, field: Field) -> Value:
        """ln f(x) - ln f(x + shift)."""
        before = self._log_density(x, field)
        return before - self._log_density(x + shift, field)

    def crossing(self, epsilon: Fraction, shift: Fraction) -> Crossing | None:
        """Where the log-ratio passes epsilon; None if it never does."""
        if epsilon * self.scale >= shift:
            return None
        s = float(self.scale / shift)
        ratio = math.exp((float(epsilon) - 1 / s) / 2)
        u = -math.expm1((float(epsilon) - 1 / s) / 2) / (ratio - math.exp(-1 / s))
        return bracket_crossing(self, epsilon, shift, -math.log(u) * s * float(shift))

    def _fade(self, size: Point, field: Field) -> Value:
        return field.exp(-field.real(size) / field.real(self.scale))

    def _log_density(self, x: Point, field: Field) -> Value:
        size = max(x, -x)
        return -field.real(size) / field.real(self.scale) - 2 * field.log(1 + self._fade(size, field))


def _eta(power: Exact, field: Field) -> Value:
    """Sum of (-1)^(n-1) / n^power, for power > 0."""
    if field is not BALLS:
        return alternating(lambda k: (k + 1) ** -float(power))
    if power == 1:
        return BALLS.real(2).log()
    return (1 - BALLS.power(BALLS.real(2), 1 - Fraction(power))) * ball(power).zeta()

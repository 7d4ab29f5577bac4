"""Laws whose density is made of hyperbolic functions: the logistic law and the hyperbolic secant."""

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


@record("hyperbolic-secant", LAWS, error=InvalidLawError)
class HyperbolicSecant(SmoothLaw):
    """Hyperbolic secant noise: the tails of Laplace noise, a round top flatter than that of logistic noise.

    With u = e^(-|x|/scale) the density is 2u / (pi scale (1 + u^2)) and the tail (2/pi) arctan u. The slope of its
    logarithm is tanh(x/scale) / scale, which rises with x and stays below 1/scale: log-concave and purely private.
    """

    scale: Rational = rational(above=0)

    @property
    def slope(self) -> Fraction:
        return 1 / self.scale

    def density(self, x: Point, field: Field) -> Value:
        u = self._fade(max(x, -x), field)
        return 2 * u / (field.pi() * field.real(self.scale) * (1 + u * u))

    def sf(self, x: Point, field: Field) -> Value:
        tail = 2 * field.atan(self._fade(max(x, -x), field)) / field.pi()
        return tail if x >= 0 else 1 - tail

    def moment(self, power: Exact, field: Field) -> Value:
        """4/pi scale^p Gamma(p + 1) beta(p + 1), beta(s) being the sum of (-1)^k / (2k + 1)^s."""
        order = Fraction(power) + 1
        if field is BALLS:
            first, third = (ball(order).zeta(ball(Fraction(i, 4))) for i in (1, 3))
            beta = (first - third) / BALLS.power(ball(4), order)
        else:
            beta = alternating(lambda k: (2 * k + 1) ** -float(order))
        return 4 / field.pi() * field.power(field.real(self.scale), power) * field.gamma(order) * beta

    def drop(self, x: Point, shift: Point, field: Field) -> Value:
        """ln f(x) - ln f(x + shift)."""
        return self._log_cosh(x + shift, field) - self._log_cosh(x, field)

    def crossing(self, epsilon: Fraction, shift: Fraction) -> Crossing | None:
        """Where the ratio passes e^epsilon: e^(2x/scale) = (e^epsilon - e^-d) / (e^d - e^epsilon), d = shift/scale."""
        apart, rate = float(shift / self.scale), float(epsilon)
        if epsilon * self.scale >= shift:
            return None
        log_place = rate - apart + math.log(-math.expm1(-apart - rate)) - math.log(-math.expm1(rate - apart))
        return bracket_crossing(self, epsilon, shift, log_place / 2 * float(self.scale))

    def _fade(self, size: Point, field: Field) -> Value:
        return field.exp(-field.real(size) / field.real(self.scale))

    def _log_cosh(self, x: Point, field: Field) -> Value:
        """ln cosh(x/scale), up to a constant, without overflow."""
        size = max(x, -x)
        u = self._fade(size, field)
        return field.real(size) / field.real(self.scale) + field.log(1 + u * u)

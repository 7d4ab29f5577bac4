"""Renyi divergences of shifted laws, bounded from above.

For symmetric log-concave laws every hockey-stick divergence, and with them the Renyi divergence of
every order, does not decrease in the shift: the largest shift is the worst.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import singledispatch
from typing import Any

from noisewright.laws.gaussian import DiscreteGaussian, Gaussian, GeneralizedGaussian
from noisewright.laws.hyperbolic import Logistic
from noisewright.laws.laplace import Laplace, TruncatedLaplace
from noisewright.laws.registry import NoiseLaw
from noisewright.laws.tabulated import Tabulated
from noisewright.laws.two_fold import TwoFold
from noisewright.numerics.balls import Ball, ball, certainly_at_most, complex_ball, hull, integral, precision, upper
from noisewright.numerics.fields import BALLS
from noisewright.problem.errors import UncertifiedError
from noisewright.proof.mixtures import two_fold_renyi
from noisewright.proof.pure import pure_bound

_TINY = Fraction(1, 2**100)
_FAR_NATS = 80
_BITS = 128


def power_affinity(power: Fraction, shift: Fraction, alpha: Fraction) -> Ball:
    """The integral for the density proportional to e^(-|x|^power), power >= 1, at scale 1."""
    far = _cut_off(power, shift, alpha)
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
    rise = integral(piece(1, shift), gap, far)
    if power.denominator == 1 and bool(rise.mid() <= rise.rad()):
        rise = integral(_expanded(int(power), shift, alpha), gap, far)
    total = rise + integral(piece(1, -shift), shift + gap, far)
    total = total + integral(piece(-1, shift), gap - shift, -gap)
    top = BALLS.exp(ball(alpha) * BALLS.power(ball(shift + 1), power))
    slivers = hull(ball(0), ball(4 * gap) * top)
    return (total + slivers + _tails(power, shift, alpha, far)) / norm


def _expanded(power: int, shift: Fraction, alpha: Fraction) -> Callable[[Any, bool], Any]:
    """e^((alpha - 1)(x + shift)^power - alpha x^power) by the powers of x: the two largest parts cancel beforehand."""
    terms = [(alpha - 1) * math.comb(power, k) * shift**k for k in range(1, power + 1)]
    weights = [complex_ball(v) for v in (Fraction(-1), *terms)]

    def integrand(z: Any, analytic: bool) -> Any:
        value = weights[0]
        for weight in weights[1:]:
            value = value * z + weight
        return value.exp()

    return integrand


def _cut_off(power: Fraction, shift: Fraction, alpha: Fraction) -> Fraction:
    """How far to integrate: the exponent there is far below its peak (only accuracy depends on it)."""
    p, s, a = float(power), float(shift), float(alpha)
    far = 1.0 + s
    peak = (a - 1) * s**p
    while True:
        value = -a * far**p + (a - 1) * (far + s) ** p
        peak = max(peak, value)
        if value < min(peak, 0) - _FAR_NATS and far**p > _FAR_NATS:
            return Fraction(math.ceil(far))
        far *= 1.25


def _tails(power: Fraction, shift: Fraction, alpha: Fraction, far: Fraction) -> Ball:
    """Beyond `far` the exponents fall at least as fast as their slopes there."""
    r, s, a = ball(far), ball(shift), ball(alpha)
    slope = ball(power) * BALLS.power(r, power - 1)
    bend = a - (a - 1) * BALLS.power(1 + s / r, power - 1)
    if not certainly_at_most(ball(Fraction(1, 2**20)), bend):
        raise UncertifiedError("the tail of a Renyi integral could not be bounded.")
    peak = (-a * BALLS.power(r, power) + (a - 1) * BALLS.power(r + s, power)).exp()
    other = (-BALLS.power(r, power)).exp()
    return hull(ball(0), peak / (slope * bend) + other / slope)


def logistic_affinity(shift: Fraction, alpha: Fraction) -> Ball:
    """The integral for the logistic density at scale 1."""
    far = Fraction(math.ceil(float(alpha * shift) + _FAR_NATS))
    a, s = complex_ball(alpha), complex_ball(shift)

    def log_density(z: Any, analytic: bool) -> Any:
        return -z - 2 * ((-z).exp() + 1).log(analytic=analytic)

    def integrand(z: Any, analytic: bool) -> Any:
        return (a * log_density(z, analytic) - (a - 1) * log_density(z + s, analytic)).exp()

    # The ratio of the two densities is at most e^shift everywhere.
    tail = 2 * (-ball(far)).exp() * (ball(alpha - 1) * ball(shift)).exp()
    return integral(integrand, -far, far) + hull(ball(0), tail)


@singledispatch
def renyi_divergence(law: NoiseLaw, alpha: Fraction, sensitivity: Fraction) -> tuple[Fraction, str]:
    """Upper bound of the divergence of order alpha over all shifts up to `sensitivity`, and its rule."""
    bound, rule = pure_bound(law, sensitivity)
    return pure_to_renyi(bound, alpha), f"renyi/{rule}"


@singledispatch
def concentrated_rho(law: NoiseLaw, sensitivity: Fraction) -> tuple[Fraction, str]:
    """Upper bound of the divergence of order alpha over alpha, for every alpha > 1, and its rule."""
    bound, rule = pure_bound(law, sensitivity)
    return bound**2 / 2, f"concentrated/{rule}"


def pure_to_renyi(epsilon: Fraction, alpha: Fraction) -> Fraction:
    """The largest divergence of order alpha that pure privacy leaves open: that of randomised response.

    Rule: with likelihood ratios in [e^-epsilon, e^epsilon] the convex moment is largest on the two ends,
    (sinh(alpha epsilon) - sinh((alpha - 1) epsilon)) / sinh(epsilon). [BunSteinke16]
    """
    with precision(_BITS):
        e, a = ball(epsilon), ball(alpha)
        numerator = (a * e).sinh() - ((a - 1) * e).sinh()
        return min(epsilon, upper((numerator / e.sinh()).log() / (a - 1)))


@renyi_divergence.register(Gaussian)
@renyi_divergence.register(DiscreteGaussian)
def _renyi_of_gaussian(
    law: Gaussian | DiscreteGaussian, alpha: Fraction, sensitivity: Fraction
) -> tuple[Fraction, str]:
    """alpha shift^2 / (2 std^2); on the integers at most that.

    Completing the square turns the moment of the discrete law into that of the continuous one times a
    shifted theta sum over the unshifted one, which is largest at a whole shift (Poisson summation).
    """
    return alpha * sensitivity**2 / (2 * law.std**2), "renyi/gaussian"


@renyi_divergence.register
def _renyi_of_laplace(law: Laplace, alpha: Fraction, sensitivity: Fraction) -> tuple[Fraction, str]:
    """Closed form of the integral over the three pieces of |x| and |x + shift|."""
    with precision(_BITS):
        s, a = ball(sensitivity / law.scale), ball(alpha)
        rise, fall = ((a - 1) * s).exp(), (-a * s).exp()
        moment = a / (2 * a - 1) * rise + (a - 1) / (2 * a - 1) * fall
        return upper(moment.log() / (a - 1)), "renyi/laplace"


@renyi_divergence.register
def _renyi_of_logistic(law: Logistic, alpha: Fraction, sensitivity: Fraction) -> tuple[Fraction, str]:
    """The moment integrated rigorously."""
    with precision(_BITS):
        return _from_moment(logistic_affinity(sensitivity / law.scale, alpha), alpha), "renyi/integral"


@renyi_divergence.register
def _renyi_of_generalized_gaussian(
    law: GeneralizedGaussian, alpha: Fraction, sensitivity: Fraction
) -> tuple[Fraction, str]:
    """The moment integrated rigorously for power >= 1; through the pure bound below."""
    if law.power < 1:
        bound, rule = pure_bound(law, sensitivity)
        return pure_to_renyi(bound, alpha), f"renyi/{rule}"
    if law.power == 2:
        return alpha * sensitivity**2 / law.scale**2, "renyi/gaussian"
    with precision(_BITS):
        return _from_moment(power_affinity(law.power, sensitivity / law.scale, alpha), alpha), "renyi/integral"


renyi_divergence.register(TwoFold, two_fold_renyi)


@renyi_divergence.register(TruncatedLaplace)
@renyi_divergence.register(Tabulated)
@concentrated_rho.register(TruncatedLaplace)
@concentrated_rho.register(Tabulated)
def _refuse_infinite_renyi(law: TruncatedLaplace | Tabulated, *_: Fraction) -> tuple[Fraction, str]:
    raise UncertifiedError(
        "refused: noise with a bounded support has an infinite Renyi divergence, since some values become impossible."
        " Ask for approximate or probabilistic privacy, or use noise with unbounded support."
    )


@concentrated_rho.register(Gaussian)
@concentrated_rho.register(DiscreteGaussian)
def _rho_of_gaussian(law: Gaussian | DiscreteGaussian, sensitivity: Fraction) -> tuple[Fraction, str]:
    """The divergence of order alpha is alpha shift^2 / (2 std^2) at most."""
    return sensitivity**2 / (2 * law.std**2), "concentrated/gaussian"


@concentrated_rho.register
def _rho_of_generalized_gaussian(law: GeneralizedGaussian, sensitivity: Fraction) -> tuple[Fraction, str]:
    """Power 2 is Gaussian; up to power 1 through the pure bound."""
    if law.power == 2:
        return sensitivity**2 / law.scale**2, "concentrated/gaussian"
    bound, rule = pure_bound(law, sensitivity)
    return bound**2 / 2, f"concentrated/{rule}"


def _from_moment(moment: Ball, alpha: Fraction) -> Fraction:
    return max(Fraction(0), upper(BALLS.log(moment) / ball(alpha - 1)))

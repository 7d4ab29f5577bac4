"""Renyi divergences of shifted laws, bounded from above.

For symmetric log-concave laws every hockey-stick divergence, and with them the Renyi divergence of
every order, does not decrease in the shift: the largest shift is the worst.
"""

from __future__ import annotations

from fractions import Fraction
from functools import singledispatch

from noisewright.laws.discrete_gaussian import DiscreteGaussian
from noisewright.laws.gaussian import Gaussian
from noisewright.laws.generalized_gaussian import GeneralizedGaussian
from noisewright.laws.laplace import Laplace, TruncatedLaplace
from noisewright.laws.logistic import Logistic
from noisewright.laws.registry import NoiseLaw
from noisewright.laws.tabulated import Tabulated
from noisewright.laws.twofold import TwoFold
from noisewright.numerics.balls import Ball, ball, precision, upper
from noisewright.numerics.fields import BALLS
from noisewright.problem.errors import UncertifiedError
from noisewright.proof.integrals import logistic_affinity, power_affinity
from noisewright.proof.pure import pure_bound
from noisewright.proof.twofold import two_fold_renyi

_BITS = 128


@singledispatch
def renyi_divergence(law: NoiseLaw, alpha: Fraction, reach: Fraction) -> tuple[Fraction, str]:
    """Upper bound of the divergence of order alpha over all shifts up to `reach`, and its rule."""
    bound, rule = pure_bound(law, reach)
    return pure_to_renyi(bound, alpha), f"renyi/{rule}"


@singledispatch
def concentrated_rho(law: NoiseLaw, reach: Fraction) -> tuple[Fraction, str]:
    """Upper bound of the divergence of order alpha over alpha, for every alpha > 1, and its rule."""
    bound, rule = pure_bound(law, reach)
    return bound**2 / 2, f"concentrated/{rule}"


def pure_to_renyi(epsilon: Fraction, alpha: Fraction) -> Fraction:
    """The largest divergence of order alpha that pure privacy leaves open: that of randomised response.

    Rule: with likelihood ratios in [e^-epsilon, e^epsilon] the convex moment is largest on the two ends,
    (sinh(alpha epsilon) - sinh((alpha - 1) epsilon)) / sinh(epsilon).
    """
    with precision(_BITS):
        e, a = ball(epsilon), ball(alpha)
        numerator = (a * e).sinh() - ((a - 1) * e).sinh()
        return min(epsilon, upper((numerator / e.sinh()).log() / (a - 1)))


@renyi_divergence.register(Gaussian)
@renyi_divergence.register(DiscreteGaussian)
def _(law: Gaussian | DiscreteGaussian, alpha: Fraction, reach: Fraction) -> tuple[Fraction, str]:
    """alpha shift^2 / (2 std^2); on the integers at most that.

    Completing the square turns the moment of the discrete law into that of the continuous one times a
    shifted theta sum over the unshifted one, which is largest at a whole shift (Poisson summation).
    """
    return alpha * reach**2 / (2 * law.std**2), "renyi/gaussian"


@renyi_divergence.register
def _(law: Laplace, alpha: Fraction, reach: Fraction) -> tuple[Fraction, str]:
    """Closed form of the integral over the three pieces of |x| and |x + shift|."""
    with precision(_BITS):
        s, a = ball(reach / law.scale), ball(alpha)
        rise, fall = ((a - 1) * s).exp(), (-a * s).exp()
        moment = a / (2 * a - 1) * rise + (a - 1) / (2 * a - 1) * fall
        return upper(moment.log() / (a - 1)), "renyi/laplace"


@renyi_divergence.register
def _(law: Logistic, alpha: Fraction, reach: Fraction) -> tuple[Fraction, str]:
    """The moment integrated rigorously."""
    with precision(_BITS):
        return _from_moment(logistic_affinity(reach / law.scale, alpha), alpha), "renyi/integral"


@renyi_divergence.register
def _(law: GeneralizedGaussian, alpha: Fraction, reach: Fraction) -> tuple[Fraction, str]:
    """The moment integrated rigorously for power >= 1; through the pure bound below."""
    if law.power < 1:
        bound, rule = pure_bound(law, reach)
        return pure_to_renyi(bound, alpha), f"renyi/{rule}"
    if law.power == 2:
        return alpha * reach**2 / law.scale**2, "renyi/gaussian"
    with precision(_BITS):
        return _from_moment(power_affinity(law.power, reach / law.scale, alpha), alpha), "renyi/integral"


renyi_divergence.register(TwoFold, two_fold_renyi)


@renyi_divergence.register(TruncatedLaplace)
@renyi_divergence.register(Tabulated)
@concentrated_rho.register(TruncatedLaplace)
@concentrated_rho.register(Tabulated)
def _(law: TruncatedLaplace | Tabulated, *_: Fraction) -> tuple[Fraction, str]:
    raise UncertifiedError(
        "refused: noise with a bounded support has an infinite Renyi divergence, since some values become impossible."
        " Ask for approximate or probabilistic privacy, or use noise with unbounded support."
    )


@concentrated_rho.register(Gaussian)
@concentrated_rho.register(DiscreteGaussian)
def _(law: Gaussian | DiscreteGaussian, reach: Fraction) -> tuple[Fraction, str]:
    """The divergence of order alpha is alpha shift^2 / (2 std^2) at most."""
    return reach**2 / (2 * law.std**2), "concentrated/gaussian"


@concentrated_rho.register
def _(law: GeneralizedGaussian, reach: Fraction) -> tuple[Fraction, str]:
    """Power 2 is Gaussian; up to power 1 through the pure bound."""
    if law.power == 2:
        return reach**2 / law.scale**2, "concentrated/gaussian"
    bound, rule = pure_bound(law, reach)
    return bound**2 / 2, f"concentrated/{rule}"


def _from_moment(moment: Ball, alpha: Fraction) -> Fraction:
    return max(Fraction(0), upper(BALLS.log(moment) / ball(alpha - 1)))

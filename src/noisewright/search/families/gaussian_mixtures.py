"""The best mixture of two Gaussian noises under (epsilon, delta): shape searched in floats, scale proven in balls.

Corollary F.3 of the R2DP paper takes the mean of the parts' deltas, under which a mixture never helps where delta
is small; its exact profile is much smaller, because the wide part hides what the tails of the narrow one tell.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from noisewright.laws.gaussian import GaussianMixture
from noisewright.numerics.bisection import first_true, gallop
from noisewright.problem.errors import SolverError
from noisewright.problem.privacy import ApproxDP
from noisewright.problem.queries import Scalar
from noisewright.problem.utility import Utility
from noisewright.proof.mixtures import mixture_delta
from noisewright.search.families.calibration import rounded_up
from noisewright.search.families.smooth import float_value

_STARTS = ((1.0, -1.0), (2.0, -2.5), (0.7, 0.0), (3.0, -4.0))
_EVALUATIONS = 80
_POINTS = 1500
_WIDEST = 5.0
_DIGITS = 1000
_MARGIN = 2.0**-22
_MOST_MARGINS = 40


def best_mixture(query: Scalar, privacy: ApproxDP, utility: Utility) -> GaussianMixture:
    """The mixture of two deviations that is best for the utility, as far as the search finds it.

    Guarantees: delta at the returned deviations was bounded in balls and is at most the requirement's.
    """
    from scipy.optimize import minimize

    sign = -1 if utility.larger_is_better else 1
    epsilon, delta, reach = float(privacy.epsilon), float(privacy.delta), float(query.sensitivity)

    def cost(shape: Sequence[float]) -> float:
        ratio, weight = _shape(shape)
        narrow = Fraction(reach * _scale(float(ratio), float(weight), epsilon, delta))
        return sign * float_value(_law(narrow, ratio, weight), utility)

    start = min(_STARTS, key=cost)
    options = {"maxfev": _EVALUATIONS, "xatol": 1e-3, "fatol": 0.0}
    ratio, weight = _shape(minimize(cost, start, method="Nelder-Mead", options=options).x)
    guess = _scale(float(ratio), float(weight), epsilon, delta)
    for doublings in range(_MOST_MARGINS):
        law = _law(rounded_up(guess * (1 + _MARGIN * 2**doublings)) * query.sensitivity, ratio, weight)
        if mixture_delta(law, privacy.epsilon, query.sensitivity) <= privacy.delta:
            return law
    raise SolverError(f"no Gaussian mixture near {guess:.6g} could be proven for {privacy}; report this problem.")


def _shape(shape: Sequence[float]) -> tuple[Fraction, Fraction]:
    """The ratio of the deviations, and the weight of the wide one, from two free numbers."""
    ratio = math.exp(min(max(float(shape[0]), 0.01), _WIDEST))
    weight = 1 / (1 + math.exp(-min(max(float(shape[1]), -12.0), 12.0)))
    return Fraction(ratio).limit_denominator(_DIGITS), Fraction(weight).limit_denominator(10**6)


def _law(narrow: Fraction, ratio: Fraction, weight: Fraction) -> GaussianMixture:
    return GaussianMixture((narrow, narrow * ratio), (1 - weight, weight))


def _scale(ratio: float, weight: float, epsilon: float, delta: float) -> float:
    """The narrow deviation for sensitivity 1 at which delta is met, in floats."""

    def private(log_scale: float) -> bool:
        return _float_delta(math.exp(-log_scale), ratio, weight, epsilon) <= delta

    if private(0.0):
        passes, fails = gallop(lambda x: not private(x), 0.0, -1.0)
    else:
        fails, passes = gallop(private, 0.0, 1.0)
    return math.exp(first_true(private, fails, passes, within=1e-7))


def _float_delta(shift: float, ratio: float, weight: float, epsilon: float) -> float:
    """Delta of the mixture of deviations 1 and `ratio`, over cells where the density is certainly the larger."""
    from scipy.special import erfc

    inner = np.linspace(-shift / 2, min(9.0, 9 * ratio), _POINTS)
    x = np.concatenate([inner, np.linspace(inner[-1], 9 * ratio + shift, _POINTS)[1:]])

    def tails(y: np.ndarray) -> np.ndarray:
        root = math.sqrt(2)
        return np.asarray((1 - weight) * erfc(y / root) + weight * erfc(y / (root * ratio))) / 2

    return float(np.sum(np.maximum(-np.diff(tails(x)) + math.exp(epsilon) * np.diff(tails(x + shift)), 0.0)))

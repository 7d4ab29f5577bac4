"""One number under Renyi or zero-concentrated privacy."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from typing import Any

from noisewright.laws.gaussian import Gaussian
from noisewright.laws.generalized_gaussian import GeneralizedGaussian
from noisewright.laws.laplace import DiscreteLaplace, Laplace
from noisewright.laws.lattice import Lattice
from noisewright.laws.logistic import Logistic
from noisewright.mechanisms.additive import Additive
from noisewright.problem.errors import InvalidPrivacyError, UncertifiedError
from noisewright.problem.privacy import LARGEST_EPSILON, SMALLEST_EPSILON, RenyiDP, ZeroConcentratedDP
from noisewright.problem.queries import Scalar
from noisewright.problem.utility import Utility
from noisewright.proof.renyi import concentrated_rho, pure_to_renyi, renyi_divergence
from noisewright.search.designers.scalar_approximate import discrete_gaussian
from noisewright.search.designers.scalar_pure import SCALAR
from noisewright.search.families.calibration import rounded_up, smallest_scale
from noisewright.search.families.smooth import float_value
from noisewright.search.families.staircase import tuned_staircase
from noisewright.search.report.designer import Designer, Proposal, check_problem
from noisewright.search.report.shown import Advance
from noisewright.search.tools.golden import on_cells

Target = RenyiDP | ZeroConcentratedDP

_TOLERANCE = 1e-6
_COARSE = 1e-3
_POWERS = (Fraction(5, 4), Fraction(3, 2), Fraction(7, 4), Fraction(9, 4), Fraction(3))


def propose(query: Scalar, privacy: Target, utility: Utility, step: Advance) -> Iterator[Proposal]:
    """Gaussian, Laplace, staircase and, at one order, the smooth families; no bound is known here."""
    step("calibrating")
    found: dict[str, Additive] = {}
    std = _gaussian_std(query.sensitivity, privacy)
    pure = _pure_epsilon(privacy)
    if pure is not None:
        if query.integer:
            found["discrete Laplace"] = Additive(query, DiscreteLaplace(query.sensitivity / pure), Lattice.integers())
        found["staircase"] = tuned_staircase(query, pure, utility)
    if query.integer:
        normal = discrete_gaussian(query, privacy, float(std))
        found |= {"discrete Gaussian": normal} if normal else {}
    else:
        found["Gaussian"] = on_cells(query, Gaussian(std), std, utility)
        found |= _smooth(query, privacy, utility, float(std))
    if not found:
        raise InvalidPrivacyError(f"no noise can be made for {privacy} and {query}; choose a stronger requirement.")
    for i, (name, mechanism) in enumerate(found.items()):
        yield Proposal(name, mechanism, i)


def _rho(privacy: Target) -> Fraction:
    """The concentration of Gaussian noise that meets the requirement."""
    return privacy.rho if isinstance(privacy, ZeroConcentratedDP) else privacy.epsilon / privacy.alpha


def _gaussian_std(reach: Fraction, privacy: Target) -> Fraction:
    """The smallest standard deviation, rounded up: variance = reach^2 / (2 rho)."""
    rho = _rho(privacy)
    scale = rounded_up(math.sqrt(float(1 / (2 * rho))) * (1 + 1e-12))
    while scale**2 * 2 * rho < 1:
        scale = rounded_up(float(scale) * (1 + 1e-12))
    return scale * reach


def _pure_epsilon(privacy: Target) -> Fraction | None:
    """The largest pure epsilon that implies the requirement, None beyond what pure privacy allows.

    Guarantees: the returned epsilon is one at which the implication was checked.
    """

    def holds(inverse: Fraction) -> bool:
        epsilon = 1 / inverse
        if isinstance(privacy, ZeroConcentratedDP):
            return epsilon**2 / 2 <= privacy.rho
        return pure_to_renyi(epsilon, privacy.alpha) <= privacy.epsilon

    found = 1 / smallest_scale(holds, 1 / math.sqrt(2 * float(_rho(privacy))), _TOLERANCE)
    shortened = Fraction(math.floor(found * 10**9), 10**9)
    return min(shortened, LARGEST_EPSILON) if shortened >= SMALLEST_EPSILON else None


def _smooth(query: Scalar, privacy: Target, utility: Utility, guess: float) -> dict[str, Additive]:
    """Laplace, logistic and the best generalized Gaussian, each at its smallest proven scale."""
    reach = query.sensitivity
    found = {
        "Laplace": _scaled(reach, privacy, Laplace, guess, _TOLERANCE),
        "logistic": _scaled(reach, privacy, Logistic, guess, _TOLERANCE),
    }
    if isinstance(privacy, RenyiDP):
        better = max if utility.larger_is_better else min
        laws = [_scaled(reach, privacy, partial(GeneralizedGaussian, power), guess, _COARSE) for power in _POWERS]
        best = better((law for law in laws if law is not None), key=lambda law: float_value(law, utility))
        make = partial(GeneralizedGaussian, best.power)
        name = f"generalized Gaussian, power {float(best.power):g}"
        found[name] = _scaled(reach, privacy, make, float(best.scale), _TOLERANCE)
    return {name: on_cells(query, law, law.scale, utility) for name, law in found.items() if law is not None}


def _scaled(reach: Fraction, privacy: Target, make: Callable[[Fraction], Any], guess: float, tolerance: float) -> Any:
    """The law with the smallest scale at which the verifier's rule holds; None where there is no such rule."""

    def holds(scale: Fraction) -> bool:
        if isinstance(privacy, ZeroConcentratedDP):
            return concentrated_rho(make(scale), reach)[0] <= privacy.rho
        return renyi_divergence(make(scale), privacy.alpha, reach)[0] <= privacy.epsilon

    try:
        return make(smallest_scale(holds, guess, tolerance))
    except UncertifiedError:
        return None


SCALAR_CONCENTRATED = Designer(SCALAR, propose, check=check_problem)

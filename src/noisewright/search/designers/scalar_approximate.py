"""One number under approximate or probabilistic privacy."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from typing import Any

from noisewright.laws.gaussian import LARGEST_STD, DiscreteGaussian, Gaussian, GeneralizedGaussian
from noisewright.laws.hyperbolic import Logistic
from noisewright.laws.laplace import DiscreteLaplace, Laplace
from noisewright.laws.lattice import Lattice
from noisewright.laws.tabulated import Tabulated
from noisewright.mechanisms.additive import Additive
from noisewright.problem.errors import InvalidPrivacyError, UncertifiedError
from noisewright.problem.privacy import ApproxDP
from noisewright.problem.queries import Scalar
from noisewright.problem.utilities import Utility
from noisewright.proof.renyi import concentrated_rho, renyi_divergence
from noisewright.search.bounds.unbiased import least_unbiased
from noisewright.search.designer import Designer, Proposal, check_problem
from noisewright.search.designers.plan import gaussian_wins_from
from noisewright.search.designers.scalar_pure import SCALAR
from noisewright.search.families.approximate import (
    Solved,
    best_generalized_gaussian,
    certifies,
    float_value,
    laplace,
    smooth,
    solve_approximate,
    truncated_laplace,
    truncated_staircase,
)
from noisewright.search.families.calibration import (
    GAUSSIAN,
    LOGISTIC,
    Concentrated,
    Target,
    calibrated,
    pure_epsilon,
    rounded_up,
    smallest_scale,
)
from noisewright.search.families.scalar_pure import tuned_staircase
from noisewright.search.golden_section import STEPS_PER_SCALE, on_cells
from noisewright.search.report.progress import Advance
from noisewright.search.report.render import gain_text, limit_text
from noisewright.search.report.report import Report

_STD_TOLERANCE = 1e-7
_SCALE_TOLERANCE = 1e-6
_COARSE = 1e-3
_POWERS = (Fraction(5, 4), Fraction(3, 2), Fraction(7, 4), Fraction(9, 4), Fraction(3))


def propose(query: Scalar, privacy: Target, utility: Utility, step: Advance) -> Iterator[Proposal]:
    """Every family with its exact scale, the truncated staircase and the programme's law."""
    step("calibrating")
    closed = _whole if query.integer else _real
    found = closed(query, privacy, utility)
    cut = truncated_staircase(query, privacy, utility)
    if cut is not None:
        found["truncated staircase"] = _on_table(query, cut, privacy.epsilon)
    for i, (name, mechanism) in enumerate(found.items()):
        yield Proposal(name, mechanism, i)
    step("solving the linear programme")
    solved = _solved(query, privacy, utility)
    if solved is not None and solved.law is not None and not privacy.pointwise:
        yield Proposal("tailored", _on_table(query, solved.law, privacy.epsilon), len(found))


def bound(query: Scalar, privacy: Target, utility: Utility) -> Fraction | None:
    """Probabilistic privacy implies approximate privacy with the same numbers, so one bound holds for both."""
    solved = _solved(query, privacy, utility)
    return None if solved is None else solved.bound


def _solved(query: Scalar, privacy: Target, utility: Utility) -> Solved | None:
    """The programme's answer; none for quantiles, which are no mean of a loss."""
    if utility.confidence is not None:
        return None
    return solve_approximate(query, ApproxDP(privacy.epsilon, privacy.delta), utility)


def _real(query: Scalar, privacy: Target, utility: Utility) -> dict[str, Additive]:
    """Every closed form for real answers, by name."""
    power = best_generalized_gaussian(query, privacy, utility)
    law: Any = power.law
    return {
        "Laplace": laplace(query, privacy, utility),
        "staircase": tuned_staircase(query, privacy.epsilon, utility),
        "Gaussian": smooth(query, privacy, utility, GAUSSIAN),
        "logistic": smooth(query, privacy, utility, LOGISTIC),
        "truncated Laplace": truncated_laplace(query, privacy, utility),
        f"generalized Gaussian, power {float(law.power):g}": power,
    }


def _whole(query: Scalar, privacy: Target, utility: Utility) -> dict[str, Additive]:
    """Every closed form defined on the integers, by name."""
    scale = query.sensitivity / privacy.epsilon
    found = {
        "discrete Laplace": Additive(query, DiscreteLaplace(scale), Lattice.integers()),
        "staircase": tuned_staircase(query, privacy.epsilon, utility),
    }
    normal = discrete_gaussian(query, privacy, float(calibrated(GAUSSIAN, query.sensitivity, privacy).std))
    return found if normal is None else {**found, "discrete Gaussian": normal}


def discrete_gaussian(query: Scalar, privacy: Any, guess: float) -> Additive | None:
    """The discrete Gaussian with the smallest parameter that is certified; None beyond the law's range.

    Guarantees: the returned parameter is one at which the verifier's rule held.
    """
    if guess * 1.5 > LARGEST_STD or guess < 0.02:
        return None

    def make(std: Fraction) -> Additive:
        return Additive(query, DiscreteGaussian(std), Lattice.integers())

    return make(smallest_scale(certifies(make, privacy), guess, _STD_TOLERANCE))


def _on_table(query: Scalar, law: Tabulated, epsilon: Fraction) -> Additive:
    """A tabulated law on a lattice that divides its cells finely enough to hide them."""
    if query.integer:
        return Additive(query, law, Lattice.integers())
    parts = max(1, math.ceil(STEPS_PER_SCALE * epsilon * law.width / query.sensitivity))
    return Additive(query, law, Lattice.cells(law.width / parts))


def why(report: Report) -> str:
    """The winner against Gaussian noise, and from how many releases on that would change."""
    winner = report.candidates[0]
    parts = [f"{winner.name} wins for one number"]
    usual = next((c for c in report.candidates if c.name in ("Gaussian", "discrete Gaussian")), None)
    if usual is not None and usual is not winner:
        parts.append(f": {gain_text(winner, usual, report.utility)}")
    parts.append(f"; {limit_text(report)}.")
    if not report.privacy.pointwise and usual is not winner and not report.query.integer:
        count = gaussian_wins_from(report.query, report.privacy, report.utility)
        when = f"from {count} equal releases on, composed to" if count else "in no plan of up to 4096 equal releases of"
        when = "already in a single release of" if count == 1 else when
        parts.append(f" Gaussian noise beats Laplace and staircase noise {when} this total.")
    return "".join(parts)


SCALAR_APPROXIMATE = Designer(SCALAR, propose, bound, check_problem, why)


def propose_concentrated(query: Scalar, privacy: Concentrated, utility: Utility, step: Advance) -> Iterator[Proposal]:
    """Gaussian, Laplace, staircase and, at one order, the smooth families."""
    step("calibrating")
    found: dict[str, Additive] = {}
    std = _gaussian_std(query.sensitivity, privacy)
    pure = pure_epsilon(privacy)
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


def _gaussian_std(reach: Fraction, privacy: Concentrated) -> Fraction:
    """The smallest standard deviation, rounded up: variance = reach^2 / (2 rho)."""
    rho = privacy.gaussian_rho
    scale = rounded_up(math.sqrt(float(1 / (2 * rho))) * (1 + 1e-12))
    while scale**2 * 2 * rho < 1:
        scale = rounded_up(float(scale) * (1 + 1e-12))
    return scale * reach


def _smooth(query: Scalar, privacy: Concentrated, utility: Utility, guess: float) -> dict[str, Additive]:
    """Laplace, logistic and the best generalized Gaussian, each at its smallest proven scale."""
    reach = query.sensitivity
    found = {
        "Laplace": _scaled(reach, privacy, Laplace, guess, _SCALE_TOLERANCE),
        "logistic": _scaled(reach, privacy, Logistic, guess, _SCALE_TOLERANCE),
    }
    if privacy.alpha is not None:
        better = max if utility.larger_is_better else min
        laws = [_scaled(reach, privacy, partial(GeneralizedGaussian, power), guess, _COARSE) for power in _POWERS]
        best = better((law for law in laws if law is not None), key=lambda law: float_value(law, utility))
        make = partial(GeneralizedGaussian, best.power)
        name = f"generalized Gaussian, power {float(best.power):g}"
        found[name] = _scaled(reach, privacy, make, float(best.scale), _SCALE_TOLERANCE)
    return {name: on_cells(query, law, law.scale, utility) for name, law in found.items() if law is not None}


def _scaled(
    reach: Fraction, privacy: Concentrated, make: Callable[[Fraction], Any], guess: float, tolerance: float
) -> Any:
    """The law with the smallest scale at which the verifier's rule holds; None where there is no such rule."""

    def holds(scale: Fraction) -> bool:
        if privacy.alpha is None:
            return concentrated_rho(make(scale), reach)[0] <= privacy.gaussian_rho
        try:
            return renyi_divergence(make(scale), privacy.alpha, reach)[0] <= privacy.gaussian_rho * privacy.alpha
        except ArithmeticError:  # a divergence that balls do not enclose is not proven
            return False

    try:
        return make(smallest_scale(holds, guess, tolerance))
    except UncertifiedError:
        return None


def bound_concentrated(query: Scalar, privacy: Concentrated, utility: Utility) -> Fraction | None:
    """What squared errors of every unbiased method and of every additive noise have at least; else none is known."""
    return least_unbiased(query.sensitivity**2, privacy) if utility.power == 2 else None


SCALAR_CONCENTRATED = Designer(
    SCALAR, propose_concentrated, bound_concentrated, check_problem, over="unbiased method or additive noise"
)

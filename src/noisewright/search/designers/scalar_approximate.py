"""One number under approximate or probabilistic privacy."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from noisewright.laws.discrete_gaussian import LARGEST_STD, DiscreteGaussian
from noisewright.laws.laplace import DiscreteLaplace
from noisewright.laws.lattice import Lattice
from noisewright.laws.tabulated import Tabulated
from noisewright.mechanisms.additive import Additive
from noisewright.problem.privacy import ApproxDP
from noisewright.problem.queries import Scalar
from noisewright.problem.utility import Utility
from noisewright.search.designers.plan import gaussian_wins_from
from noisewright.search.designers.scalar_pure import SCALAR
from noisewright.search.families.calibration import GAUSSIAN, LOGISTIC, Target, calibrated, smallest_scale
from noisewright.search.families.smooth import best_generalized_gaussian, certifies, laplace, smooth, truncated_laplace
from noisewright.search.families.solved import Solved, solve_approximate
from noisewright.search.families.staircase import tuned_staircase
from noisewright.search.families.truncated_staircase import truncated_staircase
from noisewright.search.report.designer import Designer, Proposal, check_problem
from noisewright.search.report.report import Report, gain_text, limit_text
from noisewright.search.report.shown import Advance
from noisewright.search.tools.golden import STEPS_PER_SCALE

_STD_TOLERANCE = 1e-7


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
    """Every closed form born on the integers, by name."""
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
    parts.append(f"; {limit_text(winner.gap, report.query)}.")
    if not report.privacy.pointwise and usual is not winner and not report.query.integer:
        count = gaussian_wins_from(report.query, report.privacy, report.utility)
        when = f"from {count} equal releases on, composed to" if count else "in no plan of up to 4096 equal releases of"
        parts.append(f" Gaussian noise beats Laplace and staircase noise {when} this total.")
    return "".join(parts)


SCALAR_APPROXIMATE = Designer(SCALAR, propose, bound, check_problem, why)

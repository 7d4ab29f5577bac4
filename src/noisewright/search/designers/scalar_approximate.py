"""One number under approximate or probabilistic privacy."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from noisewright.laws.discrete_gaussian import LARGEST_STD, DiscreteGaussian
from noisewright.laws.laplace import DiscreteLaplace
from noisewright.laws.lattice import Lattice
from noisewright.laws.tabulated import Tabulated
from noisewright.mechanisms.additive import Additive
from noisewright.problem.errors import InvalidUtilityError
from noisewright.problem.privacy import ApproxDP, ProbabilisticDP
from noisewright.problem.queries import Scalar
from noisewright.problem.utilities import ErrorQuantile, Expected, PowerError, Usefulness, Utility
from noisewright.search.designers.plan import gaussian_wins_from
from noisewright.search.families.calibration import GAUSSIAN, calibrated, smallest_scale
from noisewright.search.families.smooth import (
    best_generalized_gaussian,
    certifies,
    gaussian,
    laplace,
    logistic,
    truncated_laplace,
)
from noisewright.search.families.solved import solve_approximate
from noisewright.search.families.staircase import tuned_staircase
from noisewright.search.families.truncated_staircase import truncated_staircase
from noisewright.search.report.progress import Advance
from noisewright.search.report.ranking import measured, outward, ranked, value_ball
from noisewright.search.report.report import Candidate, Report, limit_text
from noisewright.search.tools.lattices import STEPS_PER_SCALE
from noisewright.search.tools.scaling import check_problem

Target = ApproxDP | ProbabilisticDP

SIMPLER_FIRST = (
    "Laplace",
    "discrete Laplace",
    "staircase",
    "Gaussian",
    "discrete Gaussian",
    "logistic",
    "truncated Laplace",
    "truncated staircase",
    "tailored",
)
_STD_TOLERANCE = 1e-7


def design_scalar_approximate(query: Scalar, privacy: Target, utility: Utility, step: Advance) -> Report:
    """Every family with its exact scale, the truncated staircase and the programme's law, with its bound."""
    check_problem(query, utility)
    refuse_own_loss(utility)
    step("calibrating")
    mechanisms = integer_families(query, privacy, utility) if query.integer else real_families(query, privacy, utility)
    step("solving the linear programme")
    bound = None
    if isinstance(utility, PowerError | Usefulness):
        # Probabilistic privacy implies approximate privacy with the same numbers, so its bound holds for both.
        solved = solve_approximate(query, ApproxDP(privacy.epsilon, privacy.delta), utility)
        bound = solved.bound
        if solved.law is not None and isinstance(privacy, ApproxDP):
            mechanisms["tailored"] = on_table(query, solved.law, privacy.epsilon)
    step("certifying")
    candidates = [measured(name, m, privacy, value_ball(m, utility), bound, utility) for name, m in mechanisms.items()]
    order = ranked(candidates, utility, SIMPLER_FIRST)
    step("comparing plans of many releases")
    reason = _reason(query, privacy, utility, order)
    shown = None if bound is None else outward(bound, larger=utility.larger_is_better)
    return Report(query, privacy, utility, order, shown, reason)


def refuse_own_loss(utility: Utility) -> None:
    """Losses that a user writes are designed for under pure privacy only."""
    if isinstance(utility, Expected):
        raise InvalidUtilityError(
            "a loss of your own is supported under PureDP only; with a delta give SquaredError(), AbsoluteError(),"
            " PowerError(p), Usefulness(within) or ErrorQuantile(confidence).",
            utility=utility,
        )


def real_families(query: Scalar, privacy: Target, utility: Utility) -> dict[str, Additive]:
    """Every family for real answers, by name."""
    power = best_generalized_gaussian(query, privacy, utility)
    found = {
        "Laplace": laplace(query, privacy, utility),
        "Gaussian": gaussian(query, privacy, utility),
        "logistic": logistic(query, privacy, utility),
        f"generalized Gaussian, power {float(_power_of(power)):g}": power,
        "truncated Laplace": truncated_laplace(query, privacy, utility),
        "staircase": tuned_staircase(query, privacy.epsilon, utility),
    }
    return _with_truncated(found, query, privacy, utility)


def integer_families(query: Scalar, privacy: Target, utility: Utility) -> dict[str, Additive]:
    """Every family born on the integers, by name."""
    scale = query.sensitivity / privacy.epsilon
    found = {
        "discrete Laplace": Additive(query, DiscreteLaplace(scale), Lattice.integers()),
        "staircase": tuned_staircase(query, privacy.epsilon, utility),
    }
    normal = discrete_gaussian(query, privacy, float(calibrated(GAUSSIAN, query.sensitivity, privacy).std))
    if normal is not None:
        found["discrete Gaussian"] = normal
    return _with_truncated(found, query, privacy, utility)


def discrete_gaussian(query: Scalar, privacy: Any, guess: float) -> Additive | None:
    """The discrete Gaussian with the smallest parameter that is certified; None beyond the law's range.

    Guarantees: the returned parameter is one at which the verifier's rule held.
    """
    if guess * 1.5 > LARGEST_STD or guess < 0.02:
        return None

    def make(std: Fraction) -> Additive:
        return Additive(query, DiscreteGaussian(std), Lattice.integers())

    return make(smallest_scale(certifies(make, privacy), guess, _STD_TOLERANCE))


def on_table(query: Scalar, law: Tabulated, epsilon: Fraction) -> Additive:
    """A tabulated law on a lattice that divides its cells finely enough to hide them."""
    if query.integer:
        return Additive(query, law, Lattice.integers())
    parts = max(1, math.ceil(STEPS_PER_SCALE * epsilon * law.width / query.sensitivity))
    return Additive(query, law, Lattice.cells(law.width / parts))


def _with_truncated(
    found: dict[str, Additive], query: Scalar, privacy: Target, utility: Utility
) -> dict[str, Additive]:
    assert isinstance(utility, PowerError | Usefulness | ErrorQuantile)
    cut = truncated_staircase(query, privacy, utility)
    if cut is not None:
        found["truncated staircase"] = on_table(query, cut, privacy.epsilon)
    return found


def _power_of(mechanism: Additive) -> Fraction:
    return mechanism.law.power  # type: ignore[union-attr,no-any-return]  # only generalized Gaussians come here


def _reason(query: Scalar, privacy: Target, utility: Utility, order: tuple[Candidate, ...]) -> str:
    winner = order[0]
    parts = [f"{winner.name} wins for one number"]
    usual = next((c for c in order if c.name in ("Gaussian", "discrete Gaussian")), None)
    if usual is not None and usual is not winner:
        parts.append(f": {_gain(winner, usual, utility)}")
    parts.append(f"; {limit_text(winner.gap, query)}.")
    if isinstance(privacy, ApproxDP) and usual is not winner and not query.integer:
        parts.append(f" {wins_text(gaussian_wins_from(query, privacy, utility))}")
    return "".join(parts)


def _gain(winner: Candidate, usual: Candidate, utility: Utility) -> str:
    larger = utility.larger_is_better
    top, bottom = (winner.value, usual.value) if larger else (usual.value, winner.value)
    ratio = f"{top / bottom:.4g}" if bottom else "infinitely many"
    if larger:
        return f"its answers are useful {ratio} times as often as with {usual.name} noise"
    return f"it has {ratio} times less error ({utility}) than {usual.name} noise"


def wins_text(count: int | None) -> str:
    """From how many releases on Gaussian noise is the better choice, in words."""
    if count is None:
        return "Gaussian noise beats Laplace and staircase noise in no plan of up to 4096 equal releases of this total."
    return f"Gaussian noise beats Laplace and staircase noise from {count} equal releases on, composed to this total."

"""`design`: from a question to ranked, certified mechanisms."""

from __future__ import annotations

import math
from fractions import Fraction

from noisewright.mechanisms.additive import Additive
from noisewright.numerics.balls import lower, precision, upper
from noisewright.numerics.fields import BALLS
from noisewright.problem.errors import InvalidPrivacyError, InvalidQueryError, SolverError
from noisewright.problem.privacy import PureDP
from noisewright.problem.queries import Scalar
from noisewright.problem.utilities import Expected, Utility
from noisewright.sample.certified import make_certified
from noisewright.search.bounds import best_possible, value_ball
from noisewright.search.chain import LossGrid
from noisewright.search.families import from_grid, laplace, tuned_staircase
from noisewright.search.progress import progress_bar
from noisewright.search.report import Candidate, Report
from noisewright.search.scaling import check_problem
from noisewright.search.tailored import tailored

_TIE = Fraction(1, 10**9)
_SIMPLER_FIRST = ("Laplace", "discrete Laplace", "staircase", "tailored")


def design(query: Scalar, *, privacy: PureDP, utility: Utility, progress: bool = False) -> Report:
    """The best noise for a question, beside the usual ones, each certified, with the best possible value.

    Guarantees: `report.bound` was proven in balls; every candidate carries a certificate for the
    law that it draws. `progress=True` shows a progress bar on standard error.
    """
    check_question(query, privacy, utility)
    with progress_bar("design", 4, shown=progress) as step:
        step("evaluating the loss" if isinstance(utility, Expected) else "finding the optimum")
        grid = LossGrid(query, privacy.epsilon, utility) if isinstance(utility, Expected) else None
        mechanisms = {laplace_name(query): laplace(query, privacy.epsilon, utility)}
        mechanisms["staircase"] = tuned_staircase(query, privacy.epsilon, utility, grid)
        step("solving the linear programme")
        best = from_grid(grid, symmetric=False) if grid else mechanisms["staircase"]
        mechanisms["tailored"] = tailored_or(best, query, privacy.epsilon, utility, grid)
        step("proving the bound")
        bound = best_possible(query, privacy.epsilon, utility, grid)
        step("certifying")
        candidates = [candidate(name, m, privacy, utility, bound) for name, m in mechanisms.items()]
    return Report(query, privacy, utility, ranked(candidates, utility), outward(bound, utility))


def check_question(query: Scalar, privacy: PureDP, utility: Utility) -> None:
    """Refuse what is not a question, before any work."""
    if not isinstance(query, Scalar):
        raise InvalidQueryError(f"query is {query!r}; give nw.Scalar(sensitivity=...).", query=query)
    if not isinstance(privacy, PureDP):
        raise InvalidPrivacyError(f"privacy is {privacy!r}; give nw.PureDP(epsilon=...).", privacy=privacy)
    check_problem(query, utility)


def laplace_name(query: Scalar) -> str:
    """What the usual noise is called for this kind of answer."""
    return "discrete Laplace" if query.integer else "Laplace"


def candidate(name: str, mechanism: Additive, privacy: PureDP, utility: Utility, bound: Fraction) -> Candidate:
    """Certify a mechanism and measure it against the bound."""
    certified = make_certified(mechanism, privacy)
    with precision():
        value = value_ball(mechanism, utility)
        worst = lower(value) if utility.larger_is_better else upper(value)
        middle = float(value.mid())
        bias = mechanism.bias(BALLS)
        offset = 0.0 if bias.contains(0) else float(bias.mid())
    distance = max(Fraction(0), bound - worst if utility.larger_is_better else worst - bound)
    gap = float(distance / bound) if bound else (0.0 if not distance else float("inf"))
    return Candidate(name, certified, middle, gap, offset)


def ranked(candidates: list[Candidate], utility: Utility) -> tuple[Candidate, ...]:
    """Best first; among equals the simpler one."""
    sign = -1 if utility.larger_is_better else 1
    ordered = sorted(candidates, key=lambda c: sign * c.value)
    best = ordered[0].value
    ties = [c for c in ordered if abs(c.value - best) <= float(_TIE) * abs(best)]
    rest = [c for c in ordered if c not in ties]
    return (*sorted(ties, key=lambda c: _SIMPLER_FIRST.index(c.name)), *rest)


def outward(bound: Fraction, utility: Utility) -> float:
    """The bound as a float that still is one."""
    shown = float(bound)
    if utility.larger_is_better:
        return shown if shown >= bound else math.nextafter(shown, math.inf)
    return shown if shown <= bound else math.nextafter(shown, -math.inf)


def tailored_or(
    best: Additive, query: Scalar, epsilon: Fraction, utility: Utility, grid: LossGrid | None
) -> Additive:
    """The programme's law; where it is too large or the solver fails, the optimum it would approximate."""
    try:
        return tailored(query, epsilon, utility, best, grid) or best
    except SolverError:
        return best

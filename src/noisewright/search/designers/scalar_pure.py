"""One number under pure differential privacy."""

from __future__ import annotations

from fractions import Fraction

from noisewright.mechanisms.additive import Additive
from noisewright.problem.divergences import Numerical
from noisewright.problem.errors import SolverError
from noisewright.problem.privacy import PureDP
from noisewright.problem.queries import Scalar
from noisewright.problem.utilities import Expected, Utility
from noisewright.search.bounds.chain import LossGrid
from noisewright.search.bounds.pure import best_possible
from noisewright.search.designers.halves import what_half_integers_can_do
from noisewright.search.designers.scalar_numerical import design_numerical
from noisewright.search.designers.two_fold import NAME as TWO_FOLD, covers, optimum_for, what_two_fold_can_do
from noisewright.search.families.staircase import from_grid, laplace, tuned_staircase
from noisewright.search.families.tailored import tailored
from noisewright.search.report.progress import Advance
from noisewright.search.report.ranking import additive_candidate, outward, ranked
from noisewright.search.report.report import Report
from noisewright.search.tools.scaling import check_problem

SIMPLER_FIRST = ("Laplace", "discrete Laplace", "staircase", "tailored", TWO_FOLD)


def design_scalar_pure(query: Scalar, privacy: PureDP, utility: Utility, step: Advance) -> Report:
    """Laplace, the tuned staircase, tailored and two-fold noise, with the bound of the chain theorem."""
    check_problem(query, utility)
    if isinstance(utility, Numerical):
        return design_numerical(query, privacy, utility, step)
    step("evaluating the loss" if isinstance(utility, Expected) else "finding the optimum")
    grid = LossGrid(query, privacy.epsilon, utility) if isinstance(utility, Expected) else None
    mechanisms = {laplace_name(query): laplace(query, privacy.epsilon, utility)}
    mechanisms["staircase"] = tuned_staircase(query, privacy.epsilon, utility, grid)
    step("solving the linear programme")
    best = from_grid(grid, symmetric=False) if grid else mechanisms["staircase"]
    mechanisms["tailored"] = tailored_or(best, query, privacy.epsilon, utility, grid)
    notes: tuple[str, ...] = ()
    if covers(query, utility):
        mechanisms[TWO_FOLD], optimum = optimum_for(query, privacy.epsilon, utility)
        notes = (what_two_fold_can_do(optimum),)
    step("proving the bound")
    bound = best_possible(query, privacy.epsilon, utility, grid)
    step("certifying")
    candidates = [additive_candidate(name, m, privacy, utility, bound) for name, m in mechanisms.items()]
    order = ranked(candidates, utility, SIMPLER_FIRST)
    notes += what_half_integers_can_do(query, privacy.epsilon, utility, bound)
    return Report(query, privacy, utility, order, outward(bound, larger=utility.larger_is_better), notes=notes)


def laplace_name(query: Scalar) -> str:
    """What the usual noise is called for this kind of answer."""
    return "discrete Laplace" if query.integer else "Laplace"


def tailored_or(best: Additive, query: Scalar, epsilon: Fraction, utility: Utility, grid: LossGrid | None) -> Additive:
    """The programme's law; where it is too large or the solver fails, the optimum it would approximate."""
    try:
        return tailored(query, epsilon, utility, best, grid) or best
    except SolverError:
        return best

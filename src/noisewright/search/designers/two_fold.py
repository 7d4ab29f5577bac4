"""Two-fold noise in the report: the optimum of its space by default, every fold on request."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from noisewright.laws.folds import Fold
from noisewright.laws.twofold import TwoFold
from noisewright.mechanisms.additive import Additive
from noisewright.numerics.fields import FLOATS
from noisewright.problem.divergences import Mallows
from noisewright.problem.errors import InvalidUtilityError, SolverError
from noisewright.problem.numbers import show
from noisewright.problem.queries import Scalar
from noisewright.problem.utilities import ErrorQuantile, Expected, PowerError, Usefulness, Utility
from noisewright.search.bounds.two_fold import proven_cost
from noisewright.search.families.two_fold import NEGLIGIBLE, TwoFoldOptimum, two_fold_optimum
from noisewright.search.families.two_fold_laws import FAMILIES, Cost, Family, best_fold, cost_of, ensemble_family
from noisewright.search.report.progress import Advance
from noisewright.search.report.ranking import additive_candidate, ranked
from noisewright.search.report.report import Report
from noisewright.search.tools.lattices import on_cells
from noisewright.search.tools.scaling import in_sensitivities

NAME = "two-fold optimum"
_CORES = 5
"""How many cores of a fold, or limits of a useful error, make a scale that is cut into steps."""


def covers(query: object, utility: object) -> bool:
    """Whether two-fold noise is defined for the problem: real answers and a symmetric named loss."""
    return (
        isinstance(query, Scalar) and not query.integer and isinstance(utility, PowerError | Usefulness | ErrorQuantile)
    )


def optimum_for(query: Scalar, epsilon: Fraction, utility: Utility) -> tuple[Additive, TwoFoldOptimum]:
    """The best two-fold noise for the query's own units."""
    scaled = in_sensitivities(utility, query)
    assert isinstance(scaled, PowerError | Usefulness | ErrorQuantile)
    optimum = two_fold_optimum(scaled, epsilon)
    return two_fold_mechanism(query, optimum.fold, epsilon, utility), optimum


def two_fold_mechanism(query: Scalar, fold: Fold, epsilon: Fraction, utility: Utility) -> Additive:
    """Noise with this fold (rates per sensitivity) on a lattice fine enough for its core."""
    core = float(fold.slope(0.0, FLOATS))
    spread = query.sensitivity / Fraction(max(float(epsilon), core / _CORES))
    law = TwoFold(fold.scaled(1 / query.sensitivity))
    found = on_cells(query, law, spread, utility)
    if isinstance(utility, Usefulness) and utility.within % found.lattice.step:
        # A limit that falls inside a cell asks for small ones.
        return on_cells(query, law, min(spread, _CORES * utility.within))
    return found


def what_two_fold_can_do(optimum: TwoFoldOptimum) -> str:
    """One sentence for the report: whether any second fold beats plain Laplace noise, and how that is known."""
    if optimum.laplace < NEGLIGIBLE:
        return "Two-fold noise was not searched: Laplace noise misses with a probability below 1e-290 already."
    try:
        proven_cost(optimum)
        how = "proven by a dual certificate checked in balls"
    except SolverError:
        how = "found by search; the certificate could not be checked here"
    if not optimum.helps:
        return f"Two-fold noise cannot help here: no second fold beats plain Laplace noise ({how})."
    ratio = optimum.laplace / optimum.cost
    if isinstance(optimum.utility, Usefulness):
        gain = f"misses {ratio:.4g} times less often than Laplace noise"
    else:
        gain = f"costs {ratio:.4g} times less than Laplace noise"
    rates = ", ".join(show(r) for r in optimum.fold.rates)
    return (
        f"The best of all second folds has two rates ({rates} per sensitivity) and {gain}; no fold does better ({how})."
    )


def explore_two_fold(report: Report, step: Advance) -> Report:
    """The report with every family of second folds, each at its best parameters, ranked among the others."""
    query, epsilon, utility = report.query, report.privacy.epsilon, report.utility
    if query.integer or isinstance(utility, Expected):
        raise InvalidUtilityError(
            "two-fold noise is explored for real-valued answers and named utilities; leave out explore='two-fold',"
            " or use integer=False and another utility.",
            utility=utility,
        )
    bound = None if report.bound is None else Fraction(report.bound)
    added = []
    for name, fold in _every_fold(query, utility, epsilon, step):
        mechanism = two_fold_mechanism(query, fold, epsilon, utility)
        added.append(additive_candidate(name, mechanism, report.privacy, utility, bound))
    names = tuple(c.name for c in report.candidates)
    return replace(report, candidates=ranked([*report.candidates, *added], utility, names))


def _every_fold(query: Scalar, utility: Utility, epsilon: Fraction, step: Advance) -> list[tuple[str, Fold]]:
    cost = _cost_function(query, utility, epsilon)
    found: list[tuple[str, Fold]] = []
    for family in FAMILIES:
        step(family.name)
        found.append((family.name, best_fold(_shorter(family, utility), cost, epsilon)))
    step("ensemble of folds")
    ensemble = ensemble_family([fold for _, fold in found])
    found.append((ensemble.name, best_fold(_shorter(ensemble, utility), cost, epsilon)))
    return found


def _cost_function(query: Scalar, utility: Utility, epsilon: Fraction) -> Cost:
    scaled = in_sensitivities(utility, query)
    if isinstance(scaled, PowerError | Usefulness | ErrorQuantile):
        return lambda fold, distance: cost_of(fold, scaled, distance)
    if isinstance(scaled, Mallows):
        power = PowerError(scaled.power)
        return lambda fold, distance: cost_of(fold, power, distance)

    def numerical(fold: Fold, distance: float) -> float:
        mechanism = two_fold_mechanism(query, fold.scaled(Fraction(distance)), epsilon, utility)
        return float(mechanism.expected(utility, FLOATS))

    return numerical


def _shorter(family: Family, utility: Utility) -> Family:
    """Fewer evaluations where each takes a quadrature."""
    if isinstance(utility, PowerError | Usefulness | ErrorQuantile | Mallows):
        return family
    return replace(family, evaluations=min(family.evaluations, 25))

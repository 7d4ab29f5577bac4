"""Two-fold noise in the report: the optimum of its space by default, every fold on request."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

from noisewright.laws.folds import Fold
from noisewright.laws.lattice import Lattice
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
from noisewright.search.tools.scaling import in_sensitivities, round_number

NAME = "two-fold optimum"
_STEPS_PER_SCALE = 1000
_STEPS_PER_CORE = 200
_LARGEST_ALIGNED = 20_000


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
    steps = round_number(math.ceil(max(_STEPS_PER_SCALE * float(epsilon), _STEPS_PER_CORE * core)))
    if isinstance(utility, Usefulness):
        within = utility.within / query.sensitivity
        if within.denominator <= _LARGEST_ALIGNED:
            steps = within.denominator * math.ceil(Fraction(steps, within.denominator))
        else:
            steps = max(steps, round_number(math.ceil(_STEPS_PER_CORE / within)))
    return Additive(query, TwoFold(fold.scaled(1 / query.sensitivity)), Lattice.cells(query.sensitivity / steps))


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

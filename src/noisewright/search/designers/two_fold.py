"""Two-fold noise in the report: the optimum of its space by default, every fold on request."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

from noisewright.laws.lattice import Lattice
from noisewright.laws.two_fold import Fold, TwoFold
from noisewright.mechanisms.additive import Additive
from noisewright.numerics.fields import FLOATS
from noisewright.problem.errors import InvalidQueryError, InvalidUtilityError, SolverError
from noisewright.problem.numbers import show
from noisewright.problem.queries import Scalar, Vector
from noisewright.problem.utilities import Utility
from noisewright.proof.approximate import approximate_delta
from noisewright.search.designer import Designer, Proposal
from noisewright.search.families.calibration import smallest_scale
from noisewright.search.families.two_fold import (
    FAMILIES,
    NEGLIGIBLE,
    Cost,
    Family,
    TwoFoldOptimum,
    best_fold,
    best_mixture,
    cost_of,
    ensemble_family,
    proven_cost,
    two_fold_optimum,
)
from noisewright.search.families.vector import pure_mechanisms
from noisewright.search.families.vector_parts import assembled
from noisewright.search.golden_section import on_cells
from noisewright.search.report.progress import Advance
from noisewright.search.report.render import times

_CORES = 5
"""How many cores of a fold, or limits of a useful error, make a scale that is cut into steps."""
_LATE = 100
_SCALE_TOLERANCE = 1e-4


def covers(query: Scalar, utility: Utility) -> bool:
    """Whether two-fold noise is defined for the problem: real answers and a symmetric named loss."""
    return not query.integer and not utility.tabulated and not utility.numerical


def optimum_for(query: Scalar, epsilon: Fraction, utility: Utility) -> tuple[Additive, TwoFoldOptimum]:
    """The best two-fold noise for the query's own units."""
    optimum = two_fold_optimum(utility.scaled(query.sensitivity), epsilon)
    return two_fold_mechanism(query, optimum.fold, epsilon, utility), optimum


def two_fold_mechanism(query: Scalar, fold: Fold, epsilon: Fraction, utility: Utility) -> Additive:
    """Noise with this fold (rates per sensitivity) on a lattice fine enough for its core, or on the whole numbers."""
    if query.integer:
        return Additive(query, TwoFold(fold.scaled(1 / query.sensitivity)), Lattice.integers())
    core = float(fold.slope(0.0, FLOATS))
    spread = query.sensitivity / Fraction(max(float(epsilon), core / _CORES))
    law = TwoFold(fold.scaled(1 / query.sensitivity))
    found = on_cells(query, law, spread, utility)
    if any(edge % found.lattice.step for edge in utility.edges):
        # A limit that falls inside a cell asks for small ones.
        return on_cells(query, law, min(spread, *(_CORES * edge for edge in utility.edges)))
    return found


def what_two_fold_can_do(optimum: TwoFoldOptimum) -> str:
    """One sentence for the report: whether any second fold beats plain Laplace noise, and how that is known."""
    if optimum.laplace < NEGLIGIBLE:
        return "Two-fold noise was not searched: Laplace noise misses with a probability below 1e-290 already."
    try:
        proven_cost(optimum)
        how = "proven: dual certificate, interval arithmetic"
    except SolverError:
        how = "found by search; the certificate could not be checked here"
    if not optimum.helps:
        return f"Two-fold noise cannot help here: no second fold beats plain Laplace noise ({how})."
    verb, often = ("misses", " often") if optimum.utility.edges else ("costs", "")
    gain = f"{verb} {times(optimum.laplace / optimum.cost)} times less{often} than Laplace noise"
    rates = f"two rates ({', '.join(show(r) for r in optimum.fold.rates)} per sensitivity)"
    return f"The best of all second folds has {rates} and {gain}; no fold does better ({how})."


def exploring(designer: Designer) -> Designer:
    """The designer with every family of second folds, each at its best parameters, added to its proposals."""
    return replace(
        designer,
        propose=partial(_explored, designer.propose),
        check=partial(_check_explored, designer.check),
        steps=designer.steps + len(FAMILIES) + 1,
    )


def exploring_several(designer: Designer) -> Designer:
    """The designer for several numbers with the best two-fold noise for each added to its proposals."""
    return replace(
        designer,
        propose=partial(_explored_several, designer.propose),
        check=partial(_check_several, designer.check),
        steps=designer.steps + 1,
    )


def _check_explored(usual: Any, query: Any, privacy: Any, utility: Utility) -> None:
    usual(query, privacy, utility)
    if utility.tabulated or (hasattr(query, "dimension") and utility.power is None):
        raise InvalidUtilityError(
            "two-fold noise is explored for named utilities, and for several numbers for SquaredError and"
            f" AbsoluteError; {utility} is none of them. Leave out explore='two-fold', or use another utility.",
            utility=utility,
        )
    if getattr(query, "integer", False) and utility.numerical and utility.power is None:
        raise InvalidUtilityError(
            "two-fold noise for whole numbers is explored for errors, usefulness and quantiles; leave out"
            " explore='two-fold', or use another utility.",
            utility=utility,
        )


def _check_several(usual: Any, query: Vector, privacy: Any, utility: Utility) -> None:
    _check_explored(usual, query, privacy, utility)
    if query.sensitivity.order is not None:
        raise InvalidQueryError(
            "two-fold noise is explored for sets that say how far each number moves, not for balls; leave out"
            " explore='two-fold', or declare another set.",
            query=query,
        )


def _explored(usual: Any, query: Scalar, privacy: Any, utility: Utility, step: Advance) -> Iterator[Proposal]:
    yield from usual(query, privacy, utility, step)
    folds: list[tuple[str, Fold]]
    if query.integer:
        folds = [("two-fold optimum", two_fold_optimum(_units(query, utility), privacy.epsilon).fold)]
    else:
        folds = _every_fold(query, utility, privacy.epsilon, step)
        if privacy.approximate:
            best = best_mixture(query, privacy, utility)
            yield Proposal("Gaussian mixture", on_cells(query, best, min(best.stds), utility), _LATE)
            if covers(query, utility):
                folds.insert(0, ("two-fold optimum", two_fold_optimum(_units(query, utility), privacy.epsilon).fold))
    for i, (name, fold) in enumerate(folds, 1):
        narrowed = _narrowed(fold, privacy)
        yield Proposal(name, two_fold_mechanism(query, narrowed, privacy.epsilon, utility), _LATE + i)


def _units(query: Scalar, utility: Utility) -> Utility:
    """The utility with errors measured in sensitivities."""
    return utility.scaled(query.sensitivity)


def _narrowed(fold: Fold, privacy: Any) -> Fold:
    """A fold that is epsilon-DP at sensitivity 1, its noise made as small as delta allows.

    Guarantees: what is returned is the fold itself, or one at which the verifier's rule held.
    """
    if not privacy.approximate:
        return fold

    def holds(scale: Fraction) -> bool:
        law = TwoFold(fold.scaled(1 / scale))
        return bool(approximate_delta(law, privacy.epsilon, Fraction(1))[0] <= privacy.delta)

    scale = smallest_scale(holds, 1.0, _SCALE_TOLERANCE)
    return fold.scaled(1 / scale) if scale < 1 else fold


def _explored_several(usual: Any, query: Vector, privacy: Any, utility: Utility, step: Advance) -> Iterator[Proposal]:
    """The same budgets as for Laplace noise, each spent on the best two-fold noise: pure bounds add up."""
    yield from usual(query, privacy, utility, step)
    step("two-fold noise for each")
    laplace = pure_mechanisms(query, privacy.epsilon, utility).get("non-identical Laplace")
    if laplace is None:
        return
    parts = {i: part for i, part in enumerate(laplace.parts) if part is not None}
    found: dict[Any, Additive] = {}
    for part in set(parts.values()):
        law: Any = part.law
        alone = Scalar(part.query.sensitivity, integer=part.query.integer)
        found[part] = optimum_for(alone, part.query.sensitivity / law.scale, utility.alone(0))[0]
    made = assembled(query, {i: found[part] for i, part in parts.items()})
    yield Proposal("two-fold for each", made, _LATE)


def _every_fold(query: Scalar, utility: Utility, epsilon: Fraction, step: Advance) -> list[tuple[str, Fold]]:
    cost = _cost_function(query, utility, epsilon)

    def best(family: Family) -> tuple[str, Fold]:
        step(family.name)
        if utility.numerical and utility.power is None:
            # Each evaluation takes a quadrature.
            family = replace(family, evaluations=min(family.evaluations, 25))
        return family.name, best_fold(family, cost, epsilon)

    found = [best(family) for family in FAMILIES]
    return [*found, best(ensemble_family([fold for _, fold in found]))]


def _cost_function(query: Scalar, utility: Utility, epsilon: Fraction) -> Cost:
    scaled = utility.scaled(query.sensitivity)
    if scaled.power is not None or not scaled.numerical:
        return lambda fold, distance: cost_of(fold, scaled, distance)

    def numerical(fold: Fold, distance: float) -> float:
        mechanism = two_fold_mechanism(query, fold.scaled(Fraction(distance)), epsilon, utility)
        return float(mechanism.expected(utility, FLOATS))

    return numerical

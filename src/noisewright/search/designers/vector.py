"""Several numbers: every mechanism for the set, certified and ranked, with the error of each number."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from noisewright.mechanisms.per_coordinate import PerCoordinate
from noisewright.mechanisms.vector_errors import coordinate_values, expected_vector, weighted_total
from noisewright.numerics.balls import Ball, precision
from noisewright.problem.errors import InvalidUtilityError
from noisewright.problem.privacy import ApproxDP, PureDP
from noisewright.problem.queries import Scalar
from noisewright.problem.sensitivity import Disjoint
from noisewright.problem.utilities import AbsoluteError, ErrorQuantile, SquaredError, Usefulness
from noisewright.problem.vector import Vector
from noisewright.problem.vector_utilities import (
    CoordinateUsefulness,
    LargestError,
    LargestErrorQuantile,
    TotalAbsoluteError,
    TotalSquaredError,
    VectorUtility,
    check_counts,
    weights_of,
)
from noisewright.sample.certified import make_certified
from noisewright.search.bounds.vector import vector_bound
from noisewright.search.designers.scalar_approximate import design_scalar_approximate
from noisewright.search.designers.scalar_pure import design_scalar_pure
from noisewright.search.designers.vector_notes import notes_for
from noisewright.search.families.vector_approximate import approximate_mechanisms
from noisewright.search.families.vector_pure import Mechanisms, pure_mechanisms
from noisewright.search.report.progress import Advance
from noisewright.search.report.ranking import measured, outward, ranked
from noisewright.search.report.report import Candidate
from noisewright.search.report.vector_report import VectorReport

_MOST_KINDS = 3

SIMPLER_VECTORS = (
    "identical Laplace",
    "identical Gaussian",
    "non-identical Laplace",
    "non-identical Gaussian",
    "tailored for each",
    "norm-shaped blocks",
)


def design_vector_pure(query: Vector, privacy: PureDP, utility: Any, step: Advance) -> VectorReport:
    """Laplace (identical and not), tailored, norm-shaped and round noise, with the bound where one is proven."""
    wanted = vector_utility(utility)
    check_counts(wanted, query.dimension)
    if query.dimension == 1:
        return _one_number(query, privacy, wanted, step)
    step("splitting the budget")
    mechanisms = pure_mechanisms(query, privacy.epsilon, wanted)
    step("proving the bound")
    bound = vector_bound(query, privacy.epsilon, wanted)
    return _report(query, privacy, wanted, mechanisms, bound, step)


def design_vector_approximate(query: Vector, privacy: ApproxDP, utility: Any, step: Advance) -> VectorReport:
    """Gaussian noise of every shape beside composed Laplace and purely private noise.

    A bound is proven where only one number moves at a time; elsewhere none is known.
    """
    wanted = vector_utility(utility)
    check_counts(wanted, query.dimension)
    if query.dimension == 1:
        return _one_number(query, privacy, wanted, step)
    step("calibrating")
    mechanisms = approximate_mechanisms(query, privacy.epsilon, privacy.delta, wanted)
    bound = None
    kinds = {extent for extent in query.extents if extent}
    totals = isinstance(wanted, TotalSquaredError | TotalAbsoluteError)
    if isinstance(query.sensitivity, Disjoint) and totals and len(kinds) <= _MOST_KINDS:
        mechanisms["tailored for each"], bound = _each_alone(query, privacy, wanted, kinds)
    return _report(query, privacy, wanted, mechanisms, bound, step)


def _each_alone(
    query: Vector, privacy: ApproxDP, utility: VectorUtility, kinds: set[Fraction]
) -> tuple[PerCoordinate, Fraction | None]:
    """Only one number moves at a time, so each gets the best noise for one number, and their bounds add up."""
    scalar = SquaredError() if isinstance(utility, TotalSquaredError) else AbsoluteError()
    reports = {
        extent: design_scalar_approximate(Scalar(extent), privacy, scalar, lambda step: None) for extent in kinds
    }
    parts = tuple(reports[extent].best.mechanism if extent else None for extent in query.extents)
    weights = weights_of(utility, query.dimension)
    bound = Fraction(0)
    for weight, extent in zip(weights, query.extents, strict=True):
        if extent:
            single = reports[extent].bound
            if single is None:
                return PerCoordinate(query, parts), None
            bound += weight * Fraction(single)
    return PerCoordinate(query, parts), bound


def vector_utility(utility: Any) -> VectorUtility:
    """Utilities for one number mean the total, the share or the largest over all of them."""
    if isinstance(utility, VectorUtility):
        return utility
    if isinstance(utility, SquaredError):
        return TotalSquaredError()
    if isinstance(utility, AbsoluteError):
        return TotalAbsoluteError()
    if isinstance(utility, Usefulness) and utility.within > 0:
        return CoordinateUsefulness(utility.within)
    if isinstance(utility, ErrorQuantile):
        return LargestErrorQuantile(utility.confidence)
    raise InvalidUtilityError(
        f"utility is {utility!r}; for several numbers give one of TotalSquaredError(weights),"
        " TotalAbsoluteError(weights), LargestError(), LargestErrorQuantile(confidence),"
        " CoordinateUsefulness(within, weights).",
        utility=utility,
    )


def _report(
    query: Vector,
    privacy: PureDP | ApproxDP,
    utility: VectorUtility,
    mechanisms: Mechanisms,
    bound: Fraction | None,
    step: Advance,
) -> VectorReport:
    step("certifying")
    candidates, errors = [], {}
    for name, mechanism in mechanisms.items():
        with precision():
            values = coordinate_values(mechanism, utility)
            largest = isinstance(utility, LargestError | LargestErrorQuantile)
            value = expected_vector(mechanism, utility) if largest else weighted_total(values, utility, len(values))
            errors[name] = _shown(values, utility)
        candidates.append(measured(name, mechanism, privacy, value, bound, utility))
    order = ranked(candidates, utility, SIMPLER_VECTORS)
    shown = None if bound is None else outward(bound, larger=utility.larger_is_better)
    notes = notes_for(query, privacy, utility, {c.name: c.value for c in order})
    each = tuple(errors[c.name] for c in order)
    return VectorReport(query, privacy, utility, order, shown, errors=each, notes=notes)


def _shown(values: list[Ball], utility: VectorUtility) -> tuple[float, ...]:
    rooted = not isinstance(utility, CoordinateUsefulness | TotalAbsoluteError)
    middles = (float(v.mid()) for v in values)
    return tuple(v**0.5 if rooted else v for v in middles)


def _one_number(query: Vector, privacy: PureDP | ApproxDP, utility: VectorUtility, step: Advance) -> VectorReport:
    """A single number is designed as one: the same laws, the same values times its weight, the same bound."""
    scalar: SquaredError | AbsoluteError | Usefulness | ErrorQuantile = AbsoluteError()
    if isinstance(utility, TotalSquaredError):
        scalar = SquaredError()
    elif isinstance(utility, CoordinateUsefulness):
        scalar = Usefulness(utility.within[0])
    elif isinstance(utility, LargestErrorQuantile):
        scalar = ErrorQuantile(utility.confidence)
    weight = weights_of(utility, 1)[0]
    number = Scalar(query.extents[0])
    if isinstance(privacy, ApproxDP):
        report = design_scalar_approximate(number, privacy, scalar, step)
    else:
        report = design_scalar_pure(number, privacy, scalar, step)
    candidates, errors = [], []
    for c in report.candidates:
        mechanism = PerCoordinate(query, (c.certified.mechanism,))
        certified = make_certified(mechanism, privacy)
        candidates.append(Candidate(c.name, certified, float(Fraction(c.value) * weight), c.gap, c.bias))
        with precision():
            errors.append(_shown(coordinate_values(mechanism, utility), utility))
    bound = None if report.bound is None else Fraction(report.bound) * weight
    shown = None if bound is None else outward(bound, larger=utility.larger_is_better)
    return VectorReport(query, privacy, utility, tuple(candidates), shown, errors=tuple(errors))

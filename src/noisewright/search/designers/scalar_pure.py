"""One number under pure differential privacy."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from noisewright.mechanisms.additive import Additive
from noisewright.problem.divergences import ErrorEntropy, HistogramEntropy, KullbackLeibler, Mallows, Renyi
from noisewright.problem.errors import SolverError
from noisewright.problem.privacy import PureDP
from noisewright.problem.queries import Scalar
from noisewright.problem.utilities import AbsoluteError, ErrorQuantile, Expected, PowerError, SquaredError, Usefulness
from noisewright.problem.utility import Utility
from noisewright.search.bounds.chain import loss_grid
from noisewright.search.bounds.pure import best_possible
from noisewright.search.designers.halves import what_half_integers_can_do
from noisewright.search.designers.scalar_numerical import numerical_bound, numerical_proposals, numerical_remarks
from noisewright.search.designers.two_fold import covers, optimum_for, what_two_fold_can_do
from noisewright.search.families.staircase import from_grid, laplace, laplace_name, tuned_staircase
from noisewright.search.families.tailored import tailored
from noisewright.search.report.designer import Designer, Proposal
from noisewright.search.report.progress import Advance
from noisewright.search.report.report import Report
from noisewright.search.tools.scaling import check_problem

SCALAR = (SquaredError, AbsoluteError, PowerError, Usefulness, ErrorQuantile)
"""The utilities with closed forms for one number."""


def propose(query: Scalar, privacy: PureDP, utility: Utility, step: Advance) -> Iterator[Proposal]:
    """Laplace, the tuned staircase, tailored and two-fold noise."""
    if utility.numerical:
        yield from numerical_proposals(query, privacy, utility, step)
        return
    step("evaluating the loss" if utility.tabulated else "finding the optimum")
    yield Proposal(laplace_name(query), laplace(query, privacy.epsilon, utility), 0)
    stairs = tuned_staircase(query, privacy.epsilon, utility)
    yield Proposal("staircase", stairs, 1)
    step("solving the linear programme")
    best = from_grid(loss_grid(query, privacy.epsilon, utility), symmetric=False) if utility.tabulated else stairs
    yield Proposal("tailored", tailored_or(best, query, privacy.epsilon, utility), 2)
    if covers(query, utility):
        yield Proposal("two-fold optimum", optimum_for(query, privacy.epsilon, utility)[0], 3)


def tailored_or(best: Additive, query: Scalar, epsilon: Fraction, utility: Utility) -> Additive:
    """The programme's law; where it is too large or the solver fails, the optimum it would approximate."""
    try:
        return tailored(query, epsilon, utility, best) or best
    except SolverError:
        return best


def bound(query: Scalar, privacy: PureDP, utility: Utility) -> Fraction | None:
    """That of the chain theorem; for utilities without a closed form none is known, with one exception."""
    found = numerical_bound if utility.numerical else best_possible
    return found(query, privacy.epsilon, utility)


def notes(report: Report) -> Iterator[str]:
    """What two-fold noise and half-integers can do."""
    query, epsilon, utility = report.query, report.privacy.epsilon, report.utility
    if utility.numerical:
        yield from numerical_remarks(report)
        return
    if covers(query, utility):
        yield what_two_fold_can_do(optimum_for(query, epsilon, utility)[1])
    if report.bound is not None:
        yield from what_half_integers_can_do(query, epsilon, utility, Fraction(report.bound))


def check(query: Scalar, privacy: Any, utility: Utility) -> None:
    """Refuse what floats cannot hold."""
    check_problem(query, utility)


SCALAR_PURE = Designer(
    (*SCALAR, Expected, KullbackLeibler, Renyi, HistogramEntropy, Mallows, ErrorEntropy),
    propose, bound, check, notes=notes,
)  # fmt: skip

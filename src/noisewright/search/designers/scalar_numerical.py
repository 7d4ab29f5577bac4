"""Design for utilities that are computed numerically: each family's free parameters are searched."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

from noisewright.laws.folds import Atoms, point_fold
from noisewright.mechanisms.additive import Additive
from noisewright.numerics.fields import FLOATS
from noisewright.problem.privacy import PureDP
from noisewright.problem.queries import Scalar
from noisewright.problem.utilities import AbsoluteError, PowerError, SquaredError, Usefulness
from noisewright.problem.utility import Utility
from noisewright.search.bounds.pure import best_possible
from noisewright.search.designers.two_fold import two_fold_mechanism
from noisewright.search.families.staircase import integer_staircase, laplace, laplace_name, tuned_staircase, with_split
from noisewright.search.families.two_fold import calibrated_atoms, two_fold_optimum
from noisewright.search.report.designer import Proposal
from noisewright.search.report.progress import Advance
from noisewright.search.report.report import Report
from noisewright.search.tools.golden import golden

_ROUNDS = 18
TWO_POINT = "two-point fold"


def numerical_proposals(query: Scalar, privacy: PureDP, utility: Utility, step: Advance) -> Iterator[Proposal]:
    """Laplace, the best staircase and the best two-point fold found."""
    epsilon = privacy.epsilon
    step("finding the best staircase")
    yield Proposal(laplace_name(query), laplace(query, epsilon, SquaredError()), 0)
    yield Proposal("staircase", best_staircase(query, epsilon, utility), 1)
    step("finding the best second fold")
    if not query.integer:
        fold = best_two_point(query, epsilon, utility)
        yield Proposal(TWO_POINT, two_fold_mechanism(query, fold, epsilon, utility), 2)


def numerical_bound(query: Scalar, epsilon: Fraction, utility: Utility) -> Fraction | None:
    """For Mallows(1), which is the mean absolute error; no bound is known for the others."""
    return best_possible(query, epsilon, AbsoluteError()) if utility.power == 1 else None


def numerical_remarks(report: Report) -> Iterator[str]:
    """How values were found, and whether a second fold helps."""
    yield "Values are computed numerically; ± is their numerical error."
    found = next((c.certified.mechanism.law for c in report.candidates if c.name == TWO_POINT), None)
    if found is not None and len(found.fold.rates) == 1:
        yield "Two-fold noise does not help here, as far as the search finds: its best fold is plain Laplace noise."


def best_staircase(query: Scalar, epsilon: Fraction, utility: Utility) -> Additive:
    """The symmetric staircase whose top step is best, by golden section over its logarithm."""
    if utility.power is not None:
        return tuned_staircase(query, epsilon, PowerError(utility.power))
    if query.integer:
        halves = range(min(int(query.sensitivity), 50))
        return min((integer_staircase(query, epsilon, h) for h in halves), key=lambda m: _value(m, utility))

    def cost(log_split: float) -> float:
        return _value(with_split(query, epsilon, math.exp(log_split)), utility)

    split = golden(cost, -float(epsilon) - 1, 0.0, _ROUNDS)
    return with_split(query, epsilon, math.exp(split))


def best_two_point(query: Scalar, epsilon: Fraction, utility: Utility) -> Atoms:
    """The best two rates found, or the single rate of Laplace noise where none is better.

    The starting points are the optima for the linear utilities; from the best, two rounds of golden
    section over each rate in turn.
    """
    if utility.power is not None:
        return two_fold_optimum(PowerError(utility.power), epsilon).fold
    rate = float(epsilon)

    def cost(low: float, high: float) -> float:
        fold = calibrated_atoms(low, high, epsilon)
        return _value(two_fold_mechanism(query, fold, epsilon, utility), utility)

    def improved(low: float, high: float) -> tuple[float, float]:
        low = math.exp(golden(lambda s: cost(math.exp(s), high), math.log(rate / 30), math.log(rate * 0.999), _ROUNDS))
        return low, math.exp(
            golden(lambda s: cost(low, math.exp(s)), math.log(rate * 1.001), math.log(rate * 40), _ROUNDS)
        )

    starts = [(rate * 0.5, rate * 1.5), (rate * 0.9, rate * 1.1)]
    for linear in (AbsoluteError(), SquaredError(), Usefulness(Fraction(1, 4))):
        fold = two_fold_optimum(linear, epsilon).fold
        if len(fold.rates) == 2:
            starts.append((float(fold.rates[0]), float(fold.rates[1])))
    low, high = min(starts, key=lambda pair: cost(*pair))
    low, high = improved(*improved(low, high))
    plain = _value(two_fold_mechanism(query, point_fold(epsilon), epsilon, utility), utility)
    return calibrated_atoms(low, high, epsilon) if cost(low, high) < plain * (1 - 1e-4) else point_fold(epsilon)


def _value(mechanism: Additive, utility: Utility) -> float:
    return float(mechanism.expected(utility, FLOATS))

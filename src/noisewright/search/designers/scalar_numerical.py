"""Design for utilities that are computed numerically: each family's free parameters are searched."""

from __future__ import annotations

import math
from fractions import Fraction

from noisewright.laws.folds import Atoms, point_fold
from noisewright.mechanisms.additive import Additive
from noisewright.numerics.fields import FLOATS
from noisewright.problem.divergences import Mallows, Numerical
from noisewright.problem.privacy import PureDP
from noisewright.problem.queries import Scalar
from noisewright.problem.utilities import AbsoluteError, PowerError, SquaredError, Usefulness, Utility
from noisewright.search.bounds.pure import best_possible
from noisewright.search.designers.two_fold import two_fold_mechanism
from noisewright.search.families.staircase import integer_staircase, laplace, tuned_staircase, with_split
from noisewright.search.families.two_fold import calibrated_atoms, two_fold_optimum
from noisewright.search.report.progress import Advance
from noisewright.search.report.ranking import additive_candidate, outward, ranked
from noisewright.search.report.report import Report
from noisewright.search.tools.golden import golden

_ROUNDS = 18
TWO_POINT = "two-point fold"
ORDER = ("Laplace", "discrete Laplace", "staircase", TWO_POINT)


def design_numerical(query: Scalar, privacy: PureDP, utility: Numerical, step: Advance) -> Report:
    """Laplace, the best staircase and the best two-point fold found; no bound is known, except for Mallows(1)."""
    epsilon = privacy.epsilon
    step("finding the best staircase")
    name = "discrete Laplace" if query.integer else "Laplace"
    mechanisms = {name: laplace(query, epsilon, SquaredError())}
    mechanisms["staircase"] = best_staircase(query, epsilon, utility)
    step("finding the best second fold")
    notes: tuple[str, ...] = ("Values are computed numerically; ± is their numerical error.",)
    if not query.integer:
        fold = best_two_point(query, epsilon, utility)
        mechanisms[TWO_POINT] = two_fold_mechanism(query, fold, epsilon, utility)
        if len(fold.rates) == 1:
            notes += ("Two-fold noise does not help here, as far as the search finds: its best second fold is plain"
                      " Laplace noise.",)  # fmt: skip
    step("certifying")
    bound = None
    if isinstance(utility, Mallows) and utility.power == 1:
        bound = best_possible(query, epsilon, AbsoluteError())
    candidates = [additive_candidate(n, m, privacy, utility, bound) for n, m in mechanisms.items()]
    shown = None if bound is None else outward(bound, larger=False)
    return Report(query, privacy, utility, ranked(candidates, utility, ORDER), shown, notes=notes)


def best_staircase(query: Scalar, epsilon: Fraction, utility: Numerical) -> Additive:
    """The symmetric staircase whose top step is best, by golden section over its logarithm."""
    if isinstance(utility, Mallows):
        return tuned_staircase(query, epsilon, PowerError(utility.power))
    if query.integer:
        halves = range(min(int(query.sensitivity), 50))
        return min((integer_staircase(query, epsilon, h) for h in halves), key=lambda m: _value(m, utility))

    def cost(log_split: float) -> float:
        return _value(with_split(query, epsilon, math.exp(log_split)), utility)

    split = golden(cost, -float(epsilon) - 1, 0.0, _ROUNDS)
    return with_split(query, epsilon, math.exp(split))


def best_two_point(query: Scalar, epsilon: Fraction, utility: Numerical) -> Atoms:
    """The best two rates found, or the single rate of Laplace noise where none is better.

    The starting points are the optima for the linear utilities; from the best, two rounds of golden
    section over each rate in turn.
    """
    if isinstance(utility, Mallows):
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

"""One number under pure differential privacy; for integer answers also half-integers.

The bound for integer answers is over mechanisms that release integers. Where a step with an even number of points is
best, noise on 1/2, 3/2, … does better. It is an integer staircase around 1/2, proven and drawn as such; taking off 1/2
afterwards looks at no data.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from noisewright.laws.lattice import HALF, Lattice
from noisewright.laws.piecewise import skewed_staircase
from noisewright.laws.two_fold import Atoms, point_fold
from noisewright.mechanisms.additive import Additive
from noisewright.numerics.balls import certainly_at_most, lower, precision, upper
from noisewright.numerics.bisection import first_true, gallop
from noisewright.numerics.fields import BALLS, FLOATS, Field, Value
from noisewright.numerics.special import geometric_power_sum
from noisewright.problem.divergences import ErrorEntropy, HistogramEntropy, KullbackLeibler, Mallows, Renyi
from noisewright.problem.errors import (
    InvalidPrivacyError,
    InvalidQueryError,
    InvalidUtilityError,
    SolverError,
)
from noisewright.problem.numbers import Number
from noisewright.problem.privacy import PureDP
from noisewright.problem.queries import Scalar
from noisewright.problem.utilities import (
    AbsoluteError,
    ErrorQuantile,
    Expected,
    Huber,
    PowerError,
    SquaredError,
    Usefulness,
    Utility,
)
from noisewright.sample.certified import Certified, make_certified
from noisewright.search.bounds.chain import loss_grid
from noisewright.search.bounds.pure import best_possible
from noisewright.search.designer import Designer, Proposal, check_problem, for_one, outward
from noisewright.search.designers.two_fold import covers, optimum_for, two_fold_mechanism, what_two_fold_can_do
from noisewright.search.families.scalar_pure import (
    from_grid,
    integer_staircase,
    laplace,
    laplace_name,
    tailored,
    tuned_staircase,
    with_split,
)
from noisewright.search.families.two_fold import calibrated_atoms, two_fold_optimum
from noisewright.search.golden_section import golden
from noisewright.search.report.progress import Advance
from noisewright.search.report.render import number
from noisewright.search.report.report import Report

SCALAR = (SquaredError, AbsoluteError, PowerError, Usefulness, ErrorQuantile)
"""The utilities with closed forms for one number."""
_ROUNDS = 18
_TWO_POINT = "two-point fold"


def propose(query: Scalar, privacy: PureDP, utility: Utility, step: Advance) -> Iterator[Proposal]:
    """Laplace, the tuned staircase, tailored and two-fold noise."""
    if utility.numerical:
        yield from _numerical_proposals(query, privacy, utility, step)
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
    """That of the chain theorem; of numerical values only Mallows(1) has one, that of the mean absolute error."""
    if utility.numerical:
        return best_possible(query, privacy.epsilon, AbsoluteError()) if utility.power == 1 else None
    return best_possible(query, privacy.epsilon, utility)


def notes(report: Report) -> Iterator[str]:
    """What two-fold noise and half-integers can do."""
    query, epsilon, utility = report.query, report.privacy.epsilon, report.utility
    if utility.numerical:
        yield from _numerical_notes(report)
        return
    if covers(query, utility):
        yield what_two_fold_can_do(optimum_for(query, epsilon, utility)[1])
    if report.bound is not None:
        yield from what_half_integers_can_do(query, epsilon, utility, Fraction(report.bound))


def _numerical_proposals(query: Scalar, privacy: PureDP, utility: Utility, step: Advance) -> Iterator[Proposal]:
    """Laplace, the best staircase and the best two-point fold found."""
    epsilon = privacy.epsilon
    step("finding the best staircase")
    yield Proposal(laplace_name(query), laplace(query, epsilon, SquaredError()), 0)
    yield Proposal("staircase", _best_staircase(query, epsilon, utility), 1)
    step("finding the best second fold")
    if not query.integer:
        fold = _best_two_point(query, epsilon, utility)
        yield Proposal(_TWO_POINT, two_fold_mechanism(query, fold, epsilon, utility), 2)


def _numerical_notes(report: Report) -> Iterator[str]:
    """How values were found, and whether a second fold helps."""
    yield "Values are computed numerically; ± is their numerical error."
    found = next((c.certified.mechanism.law for c in report.candidates if c.name == _TWO_POINT), None)
    if found is not None and len(found.fold.rates) == 1:
        yield "Two-fold noise does not help here, as far as the search finds: its best fold is plain Laplace noise."


def _best_staircase(query: Scalar, epsilon: Fraction, utility: Utility) -> Additive:
    """The symmetric staircase whose top step is best, by golden section over its logarithm."""
    if utility.power is not None:
        return tuned_staircase(query, epsilon, PowerError(utility.power))
    if query.integer:
        halves = range(min(int(query.sensitivity), 50))
        return min((integer_staircase(query, epsilon, h) for h in halves), key=lambda m: _quick(m, utility))

    def cost(log_split: float) -> float:
        return _quick(with_split(query, epsilon, math.exp(log_split)), utility)

    return with_split(query, epsilon, math.exp(golden(cost, -float(epsilon) - 1, 0.0, _ROUNDS)))


def _best_two_point(query: Scalar, epsilon: Fraction, utility: Utility) -> Atoms:
    """The best two rates found, or the single rate of Laplace noise where none is better.

    The starting points are the optima for the linear utilities; from the best, two rounds of golden
    section over each rate in turn.
    """
    if utility.power is not None:
        return two_fold_optimum(PowerError(utility.power), epsilon).fold
    rate = float(epsilon)

    def cost(low: float, high: float) -> float:
        fold = calibrated_atoms(low, high, epsilon)
        return _quick(two_fold_mechanism(query, fold, epsilon, utility), utility)

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
    plain = _quick(two_fold_mechanism(query, point_fold(epsilon), epsilon, utility), utility)
    return calibrated_atoms(low, high, epsilon) if cost(low, high) < plain * (1 - 1e-4) else point_fold(epsilon)


def _quick(mechanism: Additive, utility: Utility) -> float:
    return float(mechanism.expected(utility, FLOATS))


SCALAR_PURE = Designer(
    (*SCALAR, Huber, Expected, KullbackLeibler, Renyi, HistogramEntropy, Mallows, ErrorEntropy),
    propose, bound, check_problem, notes=notes,
)  # fmt: skip


# Half-integers for integer answers.


_MOST_POINTS = 100
_LARGEST_FLOAT = 2**52


@dataclass(frozen=True, slots=True)
class HalfIntegers:
    """A certified mechanism for whole-number answers whose releases, less 1/2, are the private half-integers.

    `value` is the expected utility of what `release` returns, its worse end if it is not exact.
    """

    certified: Certified
    utility: Any
    value: float

    def release(self, answer: Number) -> float | Fraction:
        """One private answer: a half-integer; from 2^52 on as an exact rational, since floats there are whole."""
        released = Fraction(self.certified.release(answer)) - HALF
        return float(released) if abs(released) < _LARGEST_FLOAT else released

    def __str__(self) -> str:
        return (
            f"half-integers for {self.certified.mechanism.query}: {self.utility} {number(self.value)},"
            f" {self.certified.certificate.requirement}"
        )


def half_integers(query: Scalar, *, privacy: PureDP, utility: Utility) -> HalfIntegers:
    """The best noise on half-integers for a question with whole-number answers.

    Guarantees: certified for exactly the noise that is drawn; the value was enclosed in interval arithmetic.
    Valid for: Scalar(..., integer=True) without bounds, PureDP, and power errors above 1 (sensitivity up to 100),
    usefulness or error quantiles; raises an InvalidInputError otherwise. For absolute errors and powers below 1 no
    numbers do better than whole ones.
    """
    if not isinstance(query, Scalar) or not query.integer or query.bounded is not None:
        raise InvalidQueryError("half-integers are for whole-number answers: Scalar(sensitivity, integer=True).")
    if not isinstance(privacy, PureDP):
        raise InvalidPrivacyError(f"privacy is {privacy!r}; half-integers are designed for nw.PureDP(epsilon).")
    if not isinstance(utility, Utility) or not _covers(query, for_one(utility)):
        raise InvalidUtilityError(
            "half-integers are designed for Usefulness, ErrorQuantile and power errors above 1 with a sensitivity of at"
            f" most {_MOST_POINTS}; use design for whole numbers.",
            utility=utility,
        )
    check_problem(query, privacy, utility)
    mechanism, worst = _best(query, privacy.epsilon, utility)
    shown = outward(worst, larger=not utility.larger_is_better)
    return HalfIntegers(make_certified(mechanism, privacy), utility, shown)


def what_half_integers_can_do(query: Scalar, epsilon: Fraction, utility: Utility, bound: Fraction) -> tuple[str, ...]:
    """One sentence for the report where half-integers are proven to beat the bound on whole numbers; else none."""
    if not query.integer or not _covers(query, utility):
        return ()
    worst = _best(query, epsilon, utility)[1]
    if not (worst > bound if utility.larger_is_better else worst < bound):
        return ()
    return (
        f"Half-integers do better than any whole numbers here: {utility} {float(worst):.7g} against"
        f" {float(bound):.7g}. Where they may be released, half_integers(query, privacy=..., utility=...) gives them.",
    )


def _covers(query: Scalar, utility: Utility) -> bool:
    if utility.tabulated or utility.numerical or utility.averaged:
        return False
    return utility.power is None or (utility.power > 1 and query.sensitivity <= _MOST_POINTS)


def _best(query: Scalar, epsilon: Fraction, utility: Utility) -> tuple[Additive, Fraction]:
    """The best mechanism and the worse end of its expected utility."""
    if utility.power is not None:
        half = _best_half(query, epsilon, utility.power)
        mechanism = _around_half(query, epsilon, half)
        with precision():
            return mechanism, upper(_power_error(mechanism, half, utility.power, BALLS))
    if utility.edges:
        points = math.floor(utility.edges[0] + HALF)
        mechanism = _widest_top(query, epsilon, points)
        with precision():
            return mechanism, lower(_within(mechanism, points))
    points = _fewest_points(query, epsilon, utility.confidence)
    return _widest_top(query, epsilon, points), points - HALF


def _around_half(query: Scalar, epsilon: Fraction, half: int) -> Additive:
    """Integer noise with top step {1 - half, …, half}."""
    law = skewed_staircase(epsilon=epsilon, sensitivity=query.sensitivity, left=HALF - half, right=half + HALF)
    return Additive(query, law, Lattice.integers())


def _widest_top(query: Scalar, epsilon: Fraction, points: int) -> Additive:
    """The noise that stays most often among the `points` half-integers nearest to zero on each side.

    A drop of the staircase falls on the end of the range: the top step is what is left over by whole sensitivities.
    """
    per = int(query.sensitivity)
    return _around_half(query, epsilon, points % per or per)


def _within(mechanism: Additive, points: int) -> Value:
    """P(|error| < points) in balls, the error being the integer noise less 1/2."""
    density: Any = mechanism.error_density
    return 1 - density.sf(points + HALF, BALLS) - density.cdf(HALF - points, BALLS)


def _power_error(mechanism: Additive, half: int, power: Fraction, field: Field) -> Value:
    """E |noise - 1/2|^power: the points of the top step one by one, then one series for each point of a period."""
    density: Any = mechanism.error_density
    top = sum((field.power(field.real(i + HALF), power) for i in range(half)), start=field.real(0))
    below = range(half, half + int(density.period))
    series = (geometric_power_sum(field, density.rate, i + HALF, density.period, power) for i in below)
    total = top + density.weight(Fraction(1), field) * sum(series, start=field.real(0))
    return 2 * total / density.mass_total(field)


def _best_half(query: Scalar, epsilon: Fraction, power: Fraction) -> int:
    """Half the size of the best top step: the minimum of a function that falls, then rises (in floats)."""

    def value(half: int) -> float:
        return float(_power_error(_around_half(query, epsilon, half), half, power, FLOATS))

    return first_true(lambda half: value(half) <= value(half + 1), 0, int(query.sensitivity))


def _fewest_points(query: Scalar, epsilon: Fraction, confidence: Fraction) -> int:
    """The fewest half-integers on each side that hold the confidence for sure."""

    def reached(points: int) -> bool:
        with precision():
            return certainly_at_most(BALLS.real(confidence), _within(_widest_top(query, epsilon, points), points))

    return first_true(reached, *gallop(reached, 0, 1))

"""One number under pure differential privacy, and what a target costs there.

A target's cost is searched quickly in floats, then both ends are checked.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial

from noisewright.laws.laplace import Laplace
from noisewright.laws.lattice import Lattice
from noisewright.laws.two_fold import Atoms, point_fold
from noisewright.mechanisms.additive import Additive
from noisewright.numerics.balls import precision
from noisewright.numerics.bisection import first_true
from noisewright.numerics.fields import FLOATS
from noisewright.problem.divergences import ErrorEntropy, HistogramEntropy, KullbackLeibler, Mallows, Renyi
from noisewright.problem.errors import SolverError, UnreachableTargetError
from noisewright.problem.numbers import show
from noisewright.problem.privacy import LARGEST_EPSILON, SMALLEST_EPSILON, PureDP
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
from noisewright.sample.certified import make_certified
from noisewright.search.bounds.chain import LossGrid, loss_grid
from noisewright.search.bounds.pure import best_possible
from noisewright.search.designers.halves import what_half_integers_can_do
from noisewright.search.designers.two_fold import covers, optimum_for, two_fold_mechanism, what_two_fold_can_do
from noisewright.search.families.staircase import (
    from_grid,
    integer_staircase,
    laplace,
    laplace_name,
    tuned_staircase,
    with_split,
)
from noisewright.search.families.tailored import tailored
from noisewright.search.families.two_fold import calibrated_atoms, two_fold_optimum
from noisewright.search.report.budget import BudgetRow, reaches
from noisewright.search.report.designer import Designer, Proposal, check_problem
from noisewright.search.report.report import Report
from noisewright.search.report.shown import Advance
from noisewright.search.tools.golden import RELATIVE, five_digits, golden

SCALAR = (SquaredError, AbsoluteError, PowerError, Usefulness, ErrorQuantile)
"""The utilities with closed forms for one number."""
_ROUNDS = 18
_TWO_POINT = "two-point fold"
_NOTCH = Fraction(1, 10_000)
_MOST_NOTCHES = 200
_COARSE_CELLS = 150
_WITHIN = 1e-6
_BEYOND = 1.1
_MOST_LOOKS = 16
_TAILORED = "tailored"
Maker = Callable[[Scalar, Fraction, Utility], Additive]


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


def scalar_rows(
    query: Scalar, utility: Utility, target: Fraction, step: Advance
) -> tuple[list[BudgetRow], tuple[str, ...]]:
    """Laplace, staircase and tailored noise at their smallest epsilon, and the names of those that do not reach it.

    Guarantees: each epsilon is the checked end of a bracket no wider than 0.1 %. Raises UnreachableTargetError if
    there is none.
    """
    best = _optimum if utility.tabulated else tuned_staircase
    makers: dict[str, Maker] = {laplace_name(query): laplace, "staircase": tuned_staircase, _TAILORED: best}
    starts: dict[Maker, Fraction] = {}
    rows, failures = [], {}
    for name, make in makers.items():
        step(name)
        try:
            if make not in starts:
                starts[make] = _search(name, make, query, utility, target)
            rows.append(_row(name, make, query, utility, target, starts[make]))
        except UnreachableTargetError as error:
            failures[name] = error
    if not rows:
        raise failures[_TAILORED]
    return rows, tuple(failures)


def _optimum(query: Scalar, epsilon: Fraction, utility: Utility) -> Additive:
    return from_grid(loss_grid(query, epsilon, utility), symmetric=False)


def _row(name: str, make: Maker, query: Scalar, utility: Utility, target: Fraction, start: Fraction) -> BudgetRow:
    epsilon = min(LARGEST_EPSILON, five_digits(start))
    for _ in range(_MOST_NOTCHES):
        mechanism = make(query, epsilon, utility)
        if name == _TAILORED:
            mechanism = tailored_or(mechanism, query, epsilon, utility)
        value = mechanism.expected(utility)
        if reaches(value, target, utility):
            break
        epsilon = min(LARGEST_EPSILON, five_digits(epsilon * (1 + _NOTCH)))
    else:
        raise UnreachableTargetError("the search for epsilon did not settle; report this problem.", target=target)
    below = epsilon
    while below > SMALLEST_EPSILON:
        below = max(SMALLEST_EPSILON, epsilon * (1 - RELATIVE))
        smaller = make(query, below, utility)
        value_below = smaller.expected(utility)
        if not reaches(value_below, target, utility):
            break
        epsilon, mechanism, value = below, smaller, value_below
    with precision():
        shown = mechanism.shown(utility, value)
    return BudgetRow(name, epsilon, below, shown, make_certified(mechanism, PureDP(epsilon)))


def _search(name: str, make: Maker, query: Scalar, utility: Utility, target: Fraction) -> Fraction:
    """A search in floats on the logarithm of epsilon; its answer is only where checking starts."""
    values: dict[float, float] = {}

    def good(log_epsilon: float) -> bool:
        value = values[log_epsilon] = _quick_value(name, make, query, _clamped(math.exp(log_epsilon)), utility)
        return value >= target if utility.larger_is_better else value <= target

    low = high = 0.0
    floor, ceiling = math.log(float(SMALLEST_EPSILON)), math.log(float(LARGEST_EPSILON))
    while not good(high):
        if high >= ceiling:
            raise UnreachableTargetError(
                f"even {name} noise does not reach the target {show(target)} for any epsilon up to"
                f" {show(LARGEST_EPSILON)}; ask for less accuracy.",
                target=target,
            )
        low, high = high, min(high + 1, ceiling)
    while low >= high or good(low):
        if low <= floor:
            return SMALLEST_EPSILON
        low, high = max(min(low, high) - 1, floor), min(low, high)
    middle = partial(_between, values, float(target))
    return _clamped(math.exp(first_true(good, low, high, within=_WITHIN, middle=middle)))


def _between(values: dict[float, float], target: float, fails: float, passes: float) -> float:
    """Where to look next: a little beyond the turn of a straight line, so that both ends move; or half-way.

    Half-way wherever lines do not help: where the values are steps, or after so many looks.
    """
    steps = len(set(values.values())) < len(values)
    if steps or len(values) > _MOST_LOOKS or min(values[fails], values[passes], target) <= 0:
        return (fails + passes) / 2
    below, here, above = (math.log(value) for value in (values[fails], target, values[passes]))
    turn = fails + (here - below) / (above - below) * (passes - fails)
    nearer = min(fails, passes, key=lambda end: abs(turn - end))
    return nearer + max(_BEYOND * abs(turn - nearer), _WITHIN / 2) * math.copysign(1, fails + passes - 2 * nearer)


def _quick_value(name: str, make: Maker, query: Scalar, epsilon: Fraction, utility: Utility) -> float:
    if utility.tabulated and name == "Laplace":
        steps = max(1, math.ceil(_COARSE_CELLS * epsilon))
        coarse = Additive(query, Laplace(query.sensitivity / epsilon), Lattice.cells(query.sensitivity / steps))
        return float(coarse.expected(utility, FLOATS))
    if utility.tabulated and name != laplace_name(query):
        grid = LossGrid(query, epsilon, utility, cells_per_scale=_COARSE_CELLS)
        return grid.best(symmetric=name == "staircase").value
    return float(make(query, epsilon, utility).expected(utility, FLOATS))


def _clamped(epsilon: float) -> Fraction:
    return min(max(Fraction(epsilon).limit_denominator(10**12), SMALLEST_EPSILON), LARGEST_EPSILON)

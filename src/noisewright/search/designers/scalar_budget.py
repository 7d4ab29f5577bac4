"""What a target costs for one number under pure privacy: a quick search in floats, then both ends checked."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from noisewright.laws.laplace import Laplace
from noisewright.laws.lattice import Lattice
from noisewright.mechanisms.additive import Additive
from noisewright.numerics.balls import precision
from noisewright.numerics.bisection import first_true
from noisewright.numerics.fields import FLOATS
from noisewright.problem.errors import UnreachableTargetError
from noisewright.problem.numbers import show
from noisewright.problem.privacy import LARGEST_EPSILON, SMALLEST_EPSILON, PureDP
from noisewright.problem.queries import Scalar
from noisewright.problem.utility import Utility
from noisewright.sample.certified import make_certified
from noisewright.search.bounds.chain import LossGrid, loss_grid
from noisewright.search.designers.scalar_pure import tailored_or
from noisewright.search.families.staircase import from_grid, laplace, laplace_name, tuned_staircase
from noisewright.search.report.budget import BudgetRow, reaches
from noisewright.search.report.shown import Advance
from noisewright.search.tools.bracket import RELATIVE, five_digits

_NOTCH = Fraction(1, 10_000)
_MOST_NOTCHES = 200
_COARSE_CELLS = 150
_TAILORED = "tailored"

Maker = Callable[[Scalar, Fraction, Utility], Additive]


def scalar_rows(
    query: Scalar, utility: Utility, target: Fraction, step: Advance
) -> tuple[list[BudgetRow], tuple[str, ...]]:
    """Laplace, staircase and tailored noise at their smallest epsilon, and the names of those that do not reach it.

    Guarantees: each epsilon is the checked end of a bracket no wider than 0.1 %. Raises UnreachableTargetError if
    there is none.
    """
    makers: dict[str, Maker] = {laplace_name(query): laplace, "staircase": tuned_staircase, _TAILORED: _optimum}
    rows, failures = [], {}
    for name, make in makers.items():
        step(name)
        try:
            rows.append(_row(name, make, query, utility, target))
        except UnreachableTargetError as error:
            failures[name] = error
    if not rows:
        raise failures[_TAILORED]
    return rows, tuple(failures)


def _optimum(query: Scalar, epsilon: Fraction, utility: Utility) -> Additive:
    if utility.tabulated:
        return from_grid(loss_grid(query, epsilon, utility), symmetric=False)
    return tuned_staircase(query, epsilon, utility)


def _row(name: str, make: Maker, query: Scalar, utility: Utility, target: Fraction) -> BudgetRow:
    epsilon = min(LARGEST_EPSILON, five_digits(_search(name, make, query, utility, target)))
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
        shown = float(value.mid())
    return BudgetRow(name, epsilon, below, shown, make_certified(mechanism, PureDP(epsilon)))


def _search(name: str, make: Maker, query: Scalar, utility: Utility, target: Fraction) -> Fraction:
    """A float bisection on the logarithm of epsilon; its answer is only where checking starts."""

    def good(log_epsilon: float) -> bool:
        value = _quick_value(name, make, query, _clamped(math.exp(log_epsilon)), utility)
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
    return _clamped(math.exp(first_true(good, low, high, within=1e-6)))


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

"""`budget_for`: the smallest epsilon that reaches an accuracy."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from noisewright.laws.laplace import Laplace
from noisewright.laws.lattice import Lattice
from noisewright.mechanisms.additive import Additive
from noisewright.numerics.balls import Ball, lower, precision, upper
from noisewright.numerics.bisection import first_true
from noisewright.numerics.fields import FLOATS
from noisewright.problem.errors import InvalidQueryError, InvalidUtilityError, UnreachableTargetError
from noisewright.problem.numbers import Number, parameter, show
from noisewright.problem.privacy import LARGEST_EPSILON, SMALLEST_EPSILON, PureDP
from noisewright.problem.queries import Scalar
from noisewright.problem.utilities import Expected
from noisewright.problem.utility import Utility
from noisewright.sample.certified import Certified, make_certified
from noisewright.search.bounds.chain import LossGrid, loss_grid
from noisewright.search.bounds.pure import best_possible
from noisewright.search.designers.scalar_pure import SCALAR, tailored_or
from noisewright.search.families.staircase import from_grid, laplace, laplace_name, tuned_staircase
from noisewright.search.report.designer import check_problem, for_one
from noisewright.search.report.shown import html_table, number, progress_bar, text_table
from noisewright.search.report.words import over

_RELATIVE = Fraction(1, 1000)
_NOTCH = Fraction(1, 10_000)
_MOST_NOTCHES = 200
_COARSE_CELLS = 150

Maker = Callable[[Scalar, Fraction, Utility], Additive]


@dataclass(frozen=True, slots=True)
class BudgetRow:
    """One mechanism: the smallest epsilon at which it reaches the target, checked on both sides.

    Guarantees: at `epsilon` the certified mechanism reaches the target (in balls); at
    `not_below`, at most 0.1 % smaller, it does not.
    """

    name: str
    epsilon: Fraction
    not_below: Fraction
    value: float
    certified: Certified


@dataclass(frozen=True, slots=True)
class Budget:
    """What a target accuracy costs, cheapest mechanism first; `out_of_reach` names those that cannot pay."""

    query: Scalar
    utility: Utility
    target: Fraction
    rows: tuple[BudgetRow, ...]
    impossible_at: Fraction
    out_of_reach: tuple[str, ...] = ()

    @property
    def epsilon(self) -> Fraction:
        """The smallest epsilon at which some mechanism reaches the target."""
        return self.rows[0].epsilon

    @property
    def best(self) -> Certified:
        """The mechanism that reaches the target at that epsilon."""
        return self.rows[0].certified

    def __str__(self) -> str:
        return f"Question: {self.query}\nTarget:   {self._goal()}\n\n{text_table(*self._table())}\n\n{self._footer()}"

    def _repr_html_(self) -> str:
        return html_table(f"{self.query}; {self._goal()}", *self._table(), self._footer())

    def to_dict(self) -> dict[str, Any]:
        """Plain data, mechanisms included."""
        return {
            "query": self.query.to_dict(),
            "utility": self.utility.to_dict(),
            "target": str(self.target),
            "epsilon": str(self.epsilon),
            "impossible_at": str(self.impossible_at),
            "out_of_reach": list(self.out_of_reach),
            "rows": [
                {"name": r.name, "epsilon": str(r.epsilon), "value": r.value, "certified": r.certified.to_dict()}
                for r in self.rows
            ],
        }

    def _goal(self) -> str:
        return f"{self.utility} {'at least' if self.utility.larger_is_better else 'at most'} {show(self.target)}"

    def _table(self) -> tuple[list[str], list[list[str]]]:
        rows = [[r.name, number(float(r.epsilon)), number(r.value)] for r in self.rows]
        return ["mechanism", "smallest epsilon", str(self.utility)], rows

    def _footer(self) -> str:
        beyond = f" Out of reach up to epsilon = {show(LARGEST_EPSILON)}: {', '.join(self.out_of_reach)}."
        return (
            f"{self.rows[0].name} reaches the target from epsilon = {number(float(self.epsilon))} on; no"
            f" mechanism{over(self.query)} reaches it at epsilon = {number(float(self.impossible_at))}."
            f"{beyond if self.out_of_reach else ''}"
        )


def budget_for(query: Scalar, *, utility: Utility, target: Number, progress: bool | None = None) -> Budget:
    """The smallest epsilon at which some mechanism reaches the target, for every mechanism side by side.

    Guarantees: each epsilon is the checked end of a bracket no wider than 0.1 %. Raises
    UnreachableTargetError if no mechanism reaches the target. `progress` is that of `design`.
    """
    if not isinstance(query, Scalar):
        raise InvalidQueryError(f"query is {query!r}; give nw.Scalar(sensitivity=...).", query=query)
    if query.bounded is not None:
        raise InvalidQueryError("this question has bounds for its answers, which budget_for does not know; use design.")
    if type(utility) not in (*SCALAR, Expected):
        served = ", ".join(u.__name__ for u in (*SCALAR, Expected))
        raise InvalidUtilityError(f"utility is {utility!r}; budget_for serves {served}.", utility=utility)
    check_problem(query, None, for_one(utility))
    goal = parameter(target, "target")
    if goal <= 0 or (utility.larger_is_better and goal >= 1):
        allowed = "strictly between 0 and 1" if utility.larger_is_better else "positive"
        raise InvalidUtilityError(f"target is {show(goal)}; it must be {allowed}.", target=goal)
    makers: dict[str, Maker] = {laplace_name(query): laplace, "staircase": tuned_staircase, "tailored": _optimum}
    with progress_bar("budget", len(makers) + 1, shown=progress) as step:
        rows, failures = [], {}
        for name, make in makers.items():
            step(name)
            try:
                rows.append(_row(name, make, query, utility, goal))
            except UnreachableTargetError as error:
                failures[name] = error
        if not rows:
            raise failures["tailored"]
        step("proving what is impossible")
        ordered = sorted(rows, key=lambda r: r.epsilon)
        impossible = _impossible_at(query, utility, goal, ordered[0].epsilon)
    return Budget(query, utility, goal, tuple(ordered), impossible, tuple(failures))


def _optimum(query: Scalar, epsilon: Fraction, utility: Utility) -> Additive:
    if utility.tabulated:
        return from_grid(loss_grid(query, epsilon, utility), symmetric=False)
    return tuned_staircase(query, epsilon, utility)


def _row(name: str, make: Maker, query: Scalar, utility: Utility, target: Fraction) -> BudgetRow:
    epsilon = _five_digits(_search(name, make, query, utility, target))
    for _ in range(_MOST_NOTCHES):
        mechanism = make(query, epsilon, utility)
        if name == "tailored":
            mechanism = tailored_or(mechanism, query, epsilon, utility)
        value = mechanism.expected(utility)
        if reaches(value, target, utility):
            break
        epsilon = _five_digits(epsilon * (1 + _NOTCH))
    else:
        raise UnreachableTargetError("the search for epsilon did not settle; report this problem.", target=target)
    below = epsilon
    while below > SMALLEST_EPSILON:
        below = max(SMALLEST_EPSILON, epsilon * (1 - _RELATIVE))
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


def _impossible_at(query: Scalar, utility: Utility, target: Fraction, epsilon: Fraction) -> Fraction:
    """The largest epsilon tried at which the certified bound misses the target."""
    for share in (1, 2, 4, 10, 30, 100, 300):
        lower_epsilon = max(SMALLEST_EPSILON, epsilon * (1 - share * _RELATIVE))
        bound = best_possible(query, lower_epsilon, utility)
        if bound < target if utility.larger_is_better else bound > target:
            return lower_epsilon
    return Fraction(0)


def reaches(value: Ball, target: Fraction, utility: Utility) -> bool:
    """Whether a value certainly meets the target."""
    with precision():
        return lower(value) >= target if utility.larger_is_better else upper(value) <= target


def _clamped(epsilon: float) -> Fraction:
    return min(max(Fraction(epsilon).limit_denominator(10**12), SMALLEST_EPSILON), LARGEST_EPSILON)


def _five_digits(epsilon: Fraction) -> Fraction:
    """Rounded up to five significant digits."""
    digits = 4 - math.floor(math.log10(float(epsilon)))
    scale = Fraction(10) ** digits
    return min(LARGEST_EPSILON, Fraction(math.ceil(epsilon * scale)) / scale)

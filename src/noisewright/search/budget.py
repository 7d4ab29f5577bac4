"""`budget_for`: the smallest amount of privacy that reaches an accuracy."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import Any

from noisewright.numerics.balls import Ball, lower, precision, upper
from noisewright.problem.errors import (
    InfeasibleError,
    InvalidPrivacyError,
    InvalidUtilityError,
    SolverError,
    UnreachableTargetError,
)
from noisewright.problem.numbers import Number, parameter as exact, show
from noisewright.problem.privacy import ApproxDP, ProbabilisticDP, PureDP, RenyiDP, ZeroConcentratedDP
from noisewright.problem.utilities import Expected, Utility
from noisewright.search.design import designer_for, question_of, utility_for
from noisewright.search.designers.scalar_pure import SCALAR, SCALAR_PURE, scalar_rows
from noisewright.search.report.budget import Budget as Budget, BudgetRow as BudgetRow, limits, parameter, reaches
from noisewright.search.report.designer import Designer, Proposal
from noisewright.search.report.shown import Advance, progress_bar, quiet
from noisewright.search.tools.golden import RELATIVE, Look, first_place

NOTIONS: dict[str, tuple[type, tuple[str, ...]]] = {
    "pure": (PureDP, ()),
    "approximate": (ApproxDP, ("delta",)),
    "probabilistic": (ProbabilisticDP, ("delta",)),
    "renyi": (RenyiDP, ("alpha",)),
    "zero-concentrated": (ZeroConcentratedDP, ()),
}
"""The requirements that have an amount to look for, by name, with what must be given besides."""

_SHARES = (1, 2, 4, 10, 30, *range(100, 1000, 100), 990)
_ANY = ""
"""In place of a name: whichever mechanism reaches the target."""

Maker = Callable[[Fraction], Any]


def budget_for(
    query: Any,
    *,
    utility: Utility,
    target: Number,
    notion: str | None = None,
    delta: Number | None = None,
    alpha: Number | None = None,
    progress: bool | None = None,
) -> Budget:
    """The smallest epsilon (or rho) at which some mechanism reaches the target, for every mechanism side by side.

    `notion` is "pure" (unless anything else is said), "approximate" (unless said, with `delta`), "probabilistic" (with
    `delta`), "renyi" (with `alpha`) or "zero-concentrated", whose amount is rho. Questions and utilities are those of
    `design` under that requirement. For answers in bounds the cheapest mechanism alone is looked for.

    Guarantees: each amount is the checked end of a bracket no wider than 0.1 %. Raises UnreachableTargetError if no
    mechanism reaches the target. `progress` is that of `design`.

    >>> needed = nw.budget_for(nw.Scalar(1), utility=nw.AbsoluteError(), target=2)
    >>> needed.rows[0].name, round(float(needed.rows[0].amount), 3)
    ('staircase', 0.495)
    """
    kind, fixed = _notion(notion, delta=delta, alpha=alpha)
    smallest, largest = limits(kind)

    def make(amount: Fraction) -> Any:
        return kind(**fixed, **{parameter(kind): amount})

    asked = question_of(query)
    designer = designer_for(asked, make(Fraction(1)), utility)
    wanted = utility_for(asked, utility)
    goal = _goal(target, utility)
    trials = _Trials(designer, asked, wanted, goal, make)
    if designer is SCALAR_PURE and type(utility) in (*SCALAR, Expected):
        designer.check(asked, make(Fraction(1)), wanted)
        with progress_bar("budget", 4, shown=progress) as step:
            rows, missing = scalar_rows(asked, wanted, goal, step)
            step("proving what is impossible")
            return _budget(trials, utility, rows, missing, smallest)
    with progress_bar("budget", designer.steps, shown=progress) as step:
        names = trials.start(step, (smallest, largest))
    with progress_bar("budget", len(names) + 1, shown=progress) as step:
        rows, missing = _rows(trials, names, (smallest, largest), step)
        if not rows:
            raise UnreachableTargetError(
                f"no mechanism here reaches the target {show(goal)} for any {parameter(kind)} up to {show(largest)};"
                " ask for less accuracy.",
                target=goal,
            )
        step("proving what is impossible")
        return _budget(trials, utility, rows, missing, smallest)


def _notion(name: str | None, **given: Number | None) -> tuple[type, dict[str, Number]]:
    """The kind of requirement, and what of it is fixed."""
    chosen = name or ("approximate" if given["delta"] is not None else "pure")
    if chosen not in NOTIONS:
        raise InvalidPrivacyError(f"notion is {name!r}; give one of {', '.join(map(repr, NOTIONS))}.", notion=name)
    kind, wanted = NOTIONS[chosen]
    for each, value in given.items():
        if value is not None and each not in wanted:
            takes = f"takes {' and '.join(wanted)}" if wanted else "takes neither delta nor alpha"
            raise InvalidPrivacyError(f"{each} does not fit {chosen} privacy, which {takes}; leave it out.")
        if value is None and each in wanted:
            raise InvalidPrivacyError(f"{chosen} privacy needs {each}; for example {_EXAMPLES[each]}.")
    return kind, {each: value for each, value in given.items() if value is not None}


_EXAMPLES = {"delta": "delta=1e-6", "alpha": "alpha=2"}


def _goal(target: Number, utility: Utility) -> Fraction:
    goal = exact(target, "target")
    if goal <= 0 or (utility.larger_is_better and goal >= 1):
        allowed = "strictly between 0 and 1" if utility.larger_is_better else "positive"
        raise InvalidUtilityError(f"target is {show(goal)}; it must be {allowed}.", target=goal)
    return goal


@dataclass(slots=True)
class _Trials:
    """The designs at the amounts that were tried: of each mechanism what it is and what it reaches."""

    designer: Designer
    query: Any
    utility: Utility
    target: Fraction
    make: Maker
    tried: dict[Fraction, dict[str, tuple[Proposal, Ball]]] = field(default_factory=dict)

    def at(self, amount: Fraction, step: Advance = quiet) -> dict[str, tuple[Proposal, Ball]]:
        """What answers the question at this amount, by kind; nothing where no mechanism can."""
        if amount not in self.tried:
            self.tried[amount] = self._designed(self.make(amount), step)
        return self.tried[amount]

    def _designed(self, privacy: Any, step: Advance) -> dict[str, tuple[Proposal, Ball]]:
        try:
            self.designer.check(self.query, privacy, self.utility)
            proposals = list(self.designer.propose(self.query, privacy, self.utility, step))
        except (InfeasibleError, SolverError):
            return {}
        found: dict[str, tuple[Proposal, Ball]] = {}
        for p in proposals:
            # What answers another question than the one that was asked does not count.
            if p.mechanism.query == self.query:
                found[p.name.split(", power ")[0]] = (p, p.mechanism.expected(self.utility))
        if self.whole:
            found = dict([self._winner(found)]) if found else {}
        return found

    @property
    def whole(self) -> bool:
        """Whether mechanisms are not told apart: a design for answers in bounds takes seconds."""
        return self.designer.slow

    def _winner(self, found: dict[str, tuple[Proposal, Ball]]) -> tuple[str, tuple[Proposal, Ball]]:
        return min(found.items(), key=lambda item: self._distance(item[1][1]))

    def start(self, step: Advance, ends: tuple[Fraction, Fraction]) -> list[str]:
        """The kinds of mechanism that are offered, at an amount of one and, where there are none, at the largest."""
        found = self.at(Fraction(1), step) or self.at(ends[1], step)
        return [_ANY] if self.whole else list(found)

    def entry(self, name: str, amount: Fraction) -> tuple[str, Proposal, Ball] | None:
        """The mechanism of this name at an amount, or of any name."""
        found = self.at(amount)
        if name != _ANY:
            return (name, *found[name]) if name in found else None
        return next(((n, *held) for n, held in found.items()), None)

    def look(self, name: str, amount: Fraction) -> Look:
        """Whether the mechanism reaches the target at this amount, and how far from it it is."""
        entry = self.entry(name, amount)
        if entry is None:
            return Look(holds=False)
        return Look(reaches(entry[2], self.target, self.utility), self._distance(entry[2]))

    def _distance(self, value: Ball) -> float:
        """The logarithm of the value over the target, of the odds where it is a probability; positive if missed."""
        with precision():
            if not value.is_finite():
                return math.inf
            worst = lower(value) if self.utility.larger_is_better else upper(value)
        goal = self.target
        if not self.utility.larger_is_better:
            return _log(worst) - _log(goal)
        return _log(goal) - _log(1 - goal) - (_log(worst) - _log(1 - worst))

    @property
    def slope(self) -> float:
        """How fast the distance falls with the logarithm of the amount, for noise in proportion to its inverse."""
        return float(self.utility.degree) / (1 if limits(type(self.make(Fraction(1))))[1] < 100 else 2)


def _log(value: Fraction) -> float:
    return math.log(float(value)) if float(value) > 0 else -math.inf


def _rows(
    trials: _Trials, names: list[str], ends: tuple[Fraction, Fraction], step: Advance
) -> tuple[list[BudgetRow], tuple[str, ...]]:
    rows: list[BudgetRow] = []
    missing = []
    for name in names:
        step(name or "the cheapest mechanism")
        found = _bracket(trials, name, ends, rows)
        entry = None if found is None else trials.entry(name, found[1])
        if found is None or entry is None:
            missing.append(name)
            continue
        rows.append(_row(trials, entry, found))
    return rows, tuple(filter(None, missing))


def _bracket(
    trials: _Trials, name: str, ends: tuple[Fraction, Fraction], rows: list[BudgetRow]
) -> tuple[Fraction, Fraction] | None:
    """Where the mechanism begins to reach the target; equals get the same bracket as the row before them."""
    look = partial(trials.look, name)
    for row in rows:
        if look(row.amount).holds and (row.not_below == row.amount or not look(row.not_below).holds):
            return row.not_below, row.amount
    return first_place(look, rows[-1].amount if rows else Fraction(1), *ends, trials.slope)


def _row(trials: _Trials, entry: tuple[str, Proposal, Ball], bracket: tuple[Fraction, Fraction]) -> BudgetRow:
    """The certified mechanism at the end of the bracket where it reaches the target."""
    name, proposal, value = entry
    fails, holds = bracket
    certified = proposal.certified(trials.make(holds))
    with precision():
        shown = certified.mechanism.shown(trials.utility, value)
    return BudgetRow(name, holds, fails, shown, certified)


def _budget(
    trials: _Trials, utility: Utility, rows: list[BudgetRow], missing: tuple[str, ...], smallest: Fraction
) -> Budget:
    ordered = sorted(rows, key=lambda r: r.amount)
    bound = partial(_bound, trials)
    impossible = impossible_at(bound, utility, trials.target, ordered[0].amount, smallest)
    over = trials.designer.over
    return Budget(trials.query, utility, trials.target, tuple(ordered), impossible, missing, over)


def _bound(trials: _Trials, amount: Fraction) -> Fraction | None:
    """What nothing can beat at this amount; the infinite cost of what cannot be done is left to the caller."""
    privacy = trials.make(amount)
    trials.designer.check(trials.query, privacy, trials.utility)
    return trials.designer.bound(trials.query, privacy, trials.utility)


def impossible_at(
    bound: Callable[[Fraction], Fraction | None],
    utility: Utility,
    target: Fraction,
    amount: Fraction,
    smallest: Fraction,
) -> Fraction | None:
    """The largest amount tried at which the certified bound misses the target, or nothing at all is feasible."""
    for share in _SHARES:
        less: Fraction = amount * (1 - share * RELATIVE)
        if less < smallest:
            return None
        try:
            limit = bound(less)
        except InfeasibleError:
            return less
        except SolverError:
            continue
        if limit is None:
            return None
        if limit < target if utility.larger_is_better else limit > target:
            return less
    return None

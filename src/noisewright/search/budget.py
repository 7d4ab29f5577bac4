"""`budget_for`: the smallest amount of privacy at which each mechanism reaches a target, and what it returns."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import Any

from noisewright.drawing.tables import html_table, text_table
from noisewright.laws.laplace import Laplace
from noisewright.laws.lattice import Lattice
from noisewright.mechanisms.additive import Additive
from noisewright.numerics.balls import Ball, lower, precision, upper
from noisewright.numerics.bisection import first_true
from noisewright.numerics.fields import FLOATS
from noisewright.problem.errors import (
    InfeasibleError,
    InvalidPrivacyError,
    InvalidUtilityError,
    SolverError,
    UnreachableTargetError,
)
from noisewright.problem.numbers import Number, parameter as exact, show
from noisewright.problem.privacy import (
    LARGEST_DIVERGENCE,
    LARGEST_EPSILON,
    SMALLEST_DIVERGENCE,
    SMALLEST_EPSILON,
    ApproxDP,
    ProbabilisticDP,
    PureDP,
    RenyiDP,
    Requirement,
    ZeroConcentratedDP,
)
from noisewright.problem.queries import Scalar
from noisewright.problem.utilities import Expected, Utility
from noisewright.sample.certified import Certified, make_certified
from noisewright.search.bounds.chain import LossGrid, loss_grid
from noisewright.search.design import designer_for, question_of, utility_for
from noisewright.search.designer import Designer, Proposal
from noisewright.search.designers.scalar_pure import SCALAR, SCALAR_PURE, tailored_or
from noisewright.search.families.scalar_pure import from_grid, laplace, laplace_name, tuned_staircase
from noisewright.search.golden_section import RELATIVE, Look, first_place, five_digits
from noisewright.search.report.progress import Advance, progress_bar, quiet
from noisewright.search.report.render import many, number, over


@dataclass(frozen=True, slots=True)
class BudgetRow:
    """One mechanism: the smallest amount at which it reaches the target, checked on both sides.

    Guarantees: at `amount` the certified mechanism reaches the target (in interval arithmetic); at
    `not_below`, at most 0.1 % smaller, the best of its kind does not. The two are equal where the target is reached
    at the smallest amount that the requirement allows.

    >>> row = nw.budget_for(nw.Scalar(1), utility=nw.SquaredError(), target=2).rows[0]
    >>> row.not_below <= row.amount, row.value <= 2
    (True, True)
    """

    name: str
    amount: Fraction
    not_below: Fraction
    value: float
    certified: Certified

    @property
    def requirement(self) -> Requirement:
        """What the mechanism is certified for."""
        return self.certified.certificate.requirement

    @property
    def epsilon(self) -> Fraction:
        """The amount, where it is an epsilon."""
        return amount_named("epsilon", self.requirement)

    @property
    def rho(self) -> Fraction:
        """The amount, where it is a rho."""
        return amount_named("rho", self.requirement)


@dataclass(frozen=True, slots=True)
class Budget:
    """What a target accuracy costs, cheapest mechanism first; `out_of_reach` names those that cannot pay.

    `impossible_at` is an amount at which a proven bound excludes the target, None where no bound does; `over` says
    which mechanisms the bound is for, where it is not for all.

    >>> needed = nw.budget_for(nw.Scalar(1), utility=nw.SquaredError(), target=2)
    >>> [row.name for row in needed.rows][:2], float(needed.impossible_at) < needed.rows[0].amount
    (['staircase', 'tailored'], True)
    """

    query: Any
    utility: Utility
    target: Fraction
    rows: tuple[BudgetRow, ...]
    impossible_at: Fraction | None
    out_of_reach: tuple[str, ...] = ()
    over: str = ""

    @property
    def amount(self) -> Fraction:
        """The smallest amount, epsilon or rho, at which some mechanism reaches the target."""
        return self.rows[0].amount

    @property
    def requirement(self) -> Requirement:
        """The weakest cost that pays for the target: the requirement with that amount."""
        return self.rows[0].requirement

    @property
    def epsilon(self) -> Fraction:
        """The smallest epsilon at which some mechanism reaches the target; a zero-concentrated budget has `rho`."""
        return self.rows[0].epsilon

    @property
    def rho(self) -> Fraction:
        """The smallest rho at which some mechanism reaches the target, under zero-concentrated privacy."""
        return self.rows[0].rho

    @property
    def best(self) -> Certified:
        """The mechanism that reaches the target at that amount."""
        return self.rows[0].certified

    def __str__(self) -> str:
        lines = [f"Question: {self.query}", f"Target:   {self._goal()}", *self._notion()]
        return "\n".join([*lines, "", text_table(*self._table()), "", self.conclusion])

    def _repr_html_(self) -> str:
        caption = "; ".join([str(self.query), self._goal(), *(line.split(maxsplit=1)[1] for line in self._notion())])
        return html_table(caption, *self._table(), self.conclusion)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, mechanisms included; the amount has its own name, epsilon or rho."""
        name = parameter(type(self.requirement))
        return {
            "query": self.query.to_dict(),
            "utility": self.utility.to_dict(),
            "target": str(self.target),
            "privacy": self.requirement.to_dict(),
            name: str(self.amount),
            "impossible_at": None if self.impossible_at is None else str(self.impossible_at),
            "out_of_reach": list(self.out_of_reach),
            "rows": [
                {"name": r.name, name: str(r.amount), "value": r.value, "certified": r.certified.to_dict()}
                for r in self.rows
            ],
        }

    def _goal(self) -> str:
        wanted = f"{'at least' if self.utility.larger_is_better else 'at most'} {show(self.target)}"
        return f"{self._title()} {wanted}"

    def _title(self) -> str:
        return str(self.utility.several() if hasattr(self.query, "dimension") else self.utility)

    def _notion(self) -> list[str]:
        """What else is guaranteed, where it is not pure privacy."""
        fixed = {name: v for name, v in self.requirement.to_dict().items() if name in ("alpha", "delta")}
        kind = str(self.requirement).split(",")[0]
        if kind.startswith("pure"):
            return []
        return [f"Privacy:  {', '.join([kind, *(f'{name} = {show(Fraction(v))}' for name, v in fixed.items())])}"]

    def _table(self) -> tuple[list[str], list[list[str]]]:
        rows = [[r.name, number(float(r.amount)), number(r.value)] for r in self.rows]
        return ["mechanism", f"smallest {parameter(type(self.requirement))}", self._title()], rows

    @property
    def conclusion(self) -> str:
        """The cheapest mechanism, whether less could do, and what is out of reach, in a sentence."""
        name = parameter(type(self.requirement))
        smallest, largest = limits(type(self.requirement))
        beyond = f" Out of reach up to {name} = {show(largest)}: {', '.join(self.out_of_reach)}."
        if self.amount == smallest:
            below = "no less is allowed"
        elif self.impossible_at is None:
            below = "that no mechanism needs less is not proven"
        else:
            kind = self.over or f"mechanism{over(self.query)}"
            below = f"no {kind} reaches it at {name} = {number(float(self.impossible_at))}"
        verb = "reach" if many(self.rows[0].name) else "reaches"
        return (
            f"{self.rows[0].name} {verb} the target from {name} = {number(float(self.amount))} on; {below}."
            f"{beyond if self.out_of_reach else ''}"
        )


def parameter(kind: type) -> str:
    """What the amount of a requirement is called."""
    return "rho" if kind is ZeroConcentratedDP else "epsilon"


def limits(kind: type) -> tuple[Fraction, Fraction]:
    """The smallest and the largest amount that a requirement allows."""
    if kind in (RenyiDP, ZeroConcentratedDP):
        return SMALLEST_DIVERGENCE, LARGEST_DIVERGENCE
    return SMALLEST_EPSILON, LARGEST_EPSILON


def amount_named(name: str, requirement: Any) -> Fraction:
    """The amount of a requirement, by the name it has there."""
    own = parameter(type(requirement))
    if name != own:
        raise AttributeError(f"this budget is counted in {own}, not in {name}; read .{own} or .amount.")
    found: Fraction = getattr(requirement, own)
    return found


def reaches(value: Ball, target: Fraction, utility: Utility) -> bool:
    """Whether a value certainly meets the target."""
    with precision():
        if not value.is_finite():
            return False
        return lower(value) >= target if utility.larger_is_better else upper(value) <= target


# `budget_for`: the smallest amount of privacy that reaches an accuracy.


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
        if self.whole and found:
            return dict([min(found.items(), key=lambda item: self._distance(item[1][1]))])
        return found

    @property
    def whole(self) -> bool:
        """Whether mechanisms are not told apart: a design for answers in bounds takes seconds."""
        return self.designer.slow

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


# One number under pure privacy: searched quickly in floats, then both ends are checked.

_NOTCH = Fraction(1, 10_000)
_MOST_NOTCHES = 200
_COARSE_CELLS = 150
_WITHIN = 1e-6
_BEYOND = 1.1
_MOST_LOOKS = 16
_TAILORED = "tailored"
ScalarMaker = Callable[[Scalar, Fraction, Utility], Additive]


def scalar_rows(
    query: Scalar, utility: Utility, target: Fraction, step: Advance
) -> tuple[list[BudgetRow], tuple[str, ...]]:
    """Laplace, staircase and tailored noise at their smallest epsilon, and the names of those that do not reach it.

    Guarantees: each epsilon is the checked end of a bracket no wider than 0.1 %. Raises UnreachableTargetError if
    there is none.
    """

    def optimum(query: Scalar, epsilon: Fraction, utility: Utility) -> Additive:
        return from_grid(loss_grid(query, epsilon, utility), symmetric=False)

    best = optimum if utility.tabulated else tuned_staircase
    makers: dict[str, ScalarMaker] = {laplace_name(query): laplace, "staircase": tuned_staircase, _TAILORED: best}
    starts: dict[ScalarMaker, Fraction] = {}
    rows, failures = [], {}
    for name, make in makers.items():
        step(name)
        try:
            if make not in starts:
                starts[make] = _searched_epsilon(name, make, query, utility, target)
            rows.append(_scalar_row(name, make, query, utility, target, starts[make]))
        except UnreachableTargetError as error:
            failures[name] = error
    if not rows:
        raise failures[_TAILORED]
    return rows, tuple(failures)


def _scalar_row(
    name: str, make: ScalarMaker, query: Scalar, utility: Utility, target: Fraction, start: Fraction
) -> BudgetRow:
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


def _searched_epsilon(name: str, make: ScalarMaker, query: Scalar, utility: Utility, target: Fraction) -> Fraction:
    """A search in floats on the logarithm of epsilon; its answer is only where checking starts."""
    values: dict[float, float] = {}

    def good(log_epsilon: float) -> bool:
        value = values[log_epsilon] = _quick_value(name, make, query, _allowed_epsilon(math.exp(log_epsilon)), utility)
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
    return _allowed_epsilon(math.exp(first_true(good, low, high, within=_WITHIN, middle=middle)))


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


def _quick_value(name: str, make: ScalarMaker, query: Scalar, epsilon: Fraction, utility: Utility) -> float:
    if utility.tabulated and name == "Laplace":
        steps = max(1, math.ceil(_COARSE_CELLS * epsilon))
        coarse = Additive(query, Laplace(query.sensitivity / epsilon), Lattice.cells(query.sensitivity / steps))
        return float(coarse.expected(utility, FLOATS))
    if utility.tabulated and name != laplace_name(query):
        grid = LossGrid(query, epsilon, utility, cells_per_scale=_COARSE_CELLS)
        return grid.best(symmetric=name == "staircase").value
    return float(make(query, epsilon, utility).expected(utility, FLOATS))


def _allowed_epsilon(epsilon: float) -> Fraction:
    return min(max(Fraction(epsilon).limit_denominator(10**12), SMALLEST_EPSILON), LARGEST_EPSILON)

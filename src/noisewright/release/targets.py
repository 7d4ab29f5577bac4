"""Accuracy first: the smallest epsilon at which every output is as near to the truth as was asked for.

Every table is searched by itself, on designs of one group: half-widths fall about as epsilon grows, so that a few
designs lead to the right place, and bisection over decimals of few digits ends there. With a delta, all numbers as one
question are tried as well. What is returned was designed and looked at; half-widths of whole numbers jump, so that 0.98
of it was looked at too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NoReturn

from noisewright.numerics.bisection import first_true
from noisewright.problem.errors import UnreachableTargetError
from noisewright.problem.numbers import show
from noisewright.problem.privacy import LARGEST_EPSILON, SMALLEST_DELTA, SMALLEST_EPSILON, ApproxDP, PureDP
from noisewright.problem.utilities import SquaredError
from noisewright.release import design
from noisewright.release.aims import Answered, Targets
from noisewright.release.design import Block
from noisewright.release.layout import Layout, Limits, Table, layout_of
from noisewright.search.report.shown import progress_bar

_FINE, _COARSE = 5, 100
_ROUNDS = 3
_LITTLE = Fraction(1, 1000)
_CLOSER = Fraction(49, 50)


def aimed(questions: Sequence[Any], limits: Limits, targets: Targets, utility: Any) -> Answered:
    """The least epsilon that was found to meet all targets, and what each alone would cost.

    Guarantees: every half-width at the returned epsilon was looked at and is at most its target; with everything scaled
    to 0.98 of it, at least one is above.
    """
    design.require_served(PureDP(1), utility)
    with progress_bar("targets", 1 + len(questions)) as step:
        step("all together")
        searches = _Searches(targets, utility)
        shared, apart = (layout_of(questions, limits, apart=apart) for apart in (False, True))
        found = searches.least(shared, _FINE)
        if apart != shared:
            found = min(found, searches.by_table(apart), key=lambda one: one.epsilon)
        if found.epsilon > LARGEST_EPSILON:
            _refuse([question.label for question in questions])
        costs = []
        for name in targets.names if len(questions) > 1 else ():
            step(name)
            own = layout_of([question for question in questions if question.label == name], limits)
            costs.append(searches.least(own, _FINE if targets.delta is None else _COARSE).epsilon)
    privacy = PureDP(found.epsilon) if targets.delta is None else ApproxDP(found.epsilon, targets.delta)
    design.require_within(found.blocks, found.layout, privacy)
    fields = (targets.names, targets.widths, targets.confidence, targets.delta, targets.smallest_group)
    return privacy, found.layout, found.blocks, Targets(*fields, tuple(costs), found.layout != shared)


def _refuse(names: Sequence[str]) -> NoReturn:
    raise UnreachableTargetError(
        f"the targets of {', '.join(map(repr, names))} need an epsilon above {show(LARGEST_EPSILON)}, which protects"
        " nobody; make them wider."
    )


@dataclass(frozen=True, slots=True)
class _Found:
    epsilon: Fraction
    layout: Layout
    blocks: tuple[Block, ...]


class _Searches:
    """The searches of several layouts, in which the same table is looked for once."""

    def __init__(self, targets: Targets, utility: Any) -> None:
        self.targets, self.utility = targets, utility
        self._known: dict[tuple[Table, Fraction | None], tuple[_Search, Fraction | None]] = {}

    def by_table(self, layout: Layout) -> _Found:
        """The least epsilon of each table, added up; too large a one where a table cannot meet its targets."""
        relaxed = design.several_draws(layout)
        each = [self._table(table, None if relaxed else self.targets.delta) for table in layout.tables]
        if any(own is None for _, own in each):
            return _Found(2 * LARGEST_EPSILON, layout, ())
        epsilon = sum((search.touched * own for search, own in each if own), Fraction(0))
        blocks = (search.block(place, own) for place, (search, own) in enumerate(each) if own)
        return _Found(epsilon, layout, tuple(blocks))

    def least(self, layout: Layout, steps: int) -> _Found:
        """The least epsilon table by table; with a delta, all numbers as one question where that takes less."""
        found = self.by_table(layout)
        if self.targets.delta is None or not design.several_draws(layout) or not design.joinable(layout):
            return found
        weights = [self._table(table, None)[0].weights for table in layout.tables]
        joint, most = _Joint(layout, self.targets, self.utility, weights), min(found.epsilon, LARGEST_EPSILON)
        off = joint.ratio(most)
        if off > 1:
            return found
        least = least_of(joint.ratio, most, steps, float(most) * off)
        return found if least is None else _Found(least, layout, joint.blocks(least))

    def _table(self, table: Table, delta: Fraction | None) -> tuple[_Search, Fraction | None]:
        if (table, delta) not in self._known:
            search = _Search(table, self.targets, self.utility, delta)
            self._known[table, delta] = (search, search.least(_FINE))
        return self._known[table, delta]


class _Decimals:
    """Decimals of four digits, every so many of them, from 1e-5 up: places are whole numbers."""

    def __init__(self, steps: int) -> None:
        self.steps, self.decade = steps, 9000 // steps

    def value(self, place: int) -> Fraction:
        tens, rest = divmod(place, self.decade)
        return (1000 + self.steps * rest) * Fraction(10) ** (tens - 8)

    def place(self, value: float) -> int:
        """The last place that is not above a value of 1e-5 or more."""
        tens = math.floor(math.log10(value * 1.000001)) + 5
        return self.decade * tens + int((value * 10.0 ** (8 - tens) * 1.000001 - 1000) // self.steps)


def least_of(ratio: Callable[[Fraction], float], most: Fraction, steps: int, start: float = 1.0) -> Fraction | None:
    """The least decimal at which a ratio was found to be at most 1; None if it is above 1 at `most`.

    Guarantees: with fine steps the ratio at 0.98 of it was found to be above 1, or is below the least that is allowed.
    `ratio` is how many times its target the farthest output is off, about in inverse proportion to epsilon.
    """
    if most < SMALLEST_EPSILON:
        return None
    grid = _Decimals(steps)
    top = grid.place(float(most))

    def holds(place: int) -> bool:
        return place >= 0 and ratio(grid.value(place)) <= 1

    place = min(max(0, grid.place(start)), top)
    for _ in range(_ROUNDS):
        off = ratio(grid.value(place))
        value = float(grid.value(place)) * (off if math.isfinite(off) else 4.0)
        place, before = min(max(0, grid.place(max(value, float(SMALLEST_EPSILON)))), top), place
        if abs(place - before) <= 1:
            break
    fails, passes = _bracket(holds, place, top)
    if passes is None:
        return None
    found = grid.value(first_true(holds, fails, passes))
    # A half-width may jump up where another mechanism becomes the best: then less is enough.
    while steps == _FINE and found * _CLOSER >= SMALLEST_EPSILON and ratio(found * _CLOSER) <= 1:
        found *= _CLOSER
    return found


def _bracket(holds: Callable[[int], bool], place: int, top: int) -> tuple[int, int | None]:
    """Places (fails, passes) around where a property turns, outward from a guess; passes is None if `top` fails."""
    stride = 1
    if holds(place):
        while holds(place - stride):
            place, stride = place - stride, 2 * stride
        return max(-1, place - stride), place
    while place < top:
        place, before, stride = min(top, place + stride), place, 2 * stride
        if holds(place):
            return before, place
    return place, None


class _Search:
    """Designs of one group of a table by their epsilon, with weights that bring all its outputs equally near."""

    def __init__(self, table: Table, targets: Targets, utility: Any, delta: Fraction | None) -> None:
        self.table, self.targets, self.utility, self.delta = table, targets, utility, delta
        self.touched: int = table.way.touched(table)
        self.goals = _goals(table, targets)
        self.power = 2 if isinstance(utility, SquaredError) else 1
        self.weights = [_few_digits(1 / float(goal) ** self.power) for goal in self.goals]
        self._known: dict[Fraction, Any] = {}

    def proposal(self, epsilon: Fraction) -> Any:
        if epsilon not in self._known:
            privacy = PureDP(epsilon) if self.delta is None else ApproxDP(epsilon, self.delta)
            self._known[epsilon] = self.table.way.proposed(self.table, privacy, self.utility, self.weights)
        return self._known[epsilon]

    def block(self, place: int, epsilon: Fraction) -> Block:
        found = self.proposal(epsilon)
        return Block(found.certified, place, found.name, found.why)

    def ratio(self, epsilon: Fraction) -> float:
        alone = Layout((self.table,))
        return worst([self.block(0, epsilon)], alone, self.targets)

    def least(self, steps: int) -> Fraction | None:
        """The least epsilon of one draw that meets the targets of the table; None if none that is allowed does."""
        most = LARGEST_EPSILON / self.touched
        start = self._tuned(most) if len(self.goals) > 1 else 1.0
        return least_of(self.ratio, most, steps, start)

    def _tuned(self, most: Fraction) -> float:
        """Take weights under which all numbers are about equally near to their goals; the epsilon that was tried.

        Rule: with shares of epsilon an error of degree p is least where each share grows as its weight to 1/(p + 1),
        and a half-width falls as its share grows.
        """
        epsilon = float(most)
        for _ in range(2):
            off = self.ratio(_few_digits(min(max(epsilon, float(SMALLEST_EPSILON)), float(most))))
            epsilon *= off if math.isfinite(off) else 1.0
        tried = _few_digits(min(max(epsilon, float(SMALLEST_EPSILON)), float(most)))
        best, weights = self.ratio(tried), list(self.weights)
        for _ in range(_ROUNDS):
            each = self.table.way.widths(self.proposal(tried).certified, self.table, self.targets.level(1))
            far = [float(width / goal) for width, goal in zip(each, self.goals, strict=True)]
            self.weights = [
                _few_digits(float(weight) * (own / max(far)) ** (self.power + 1))
                for weight, own in zip(self.weights, far, strict=True)
            ]
            self._known.clear()
            off = self.ratio(tried)
            best, weights = (off, list(self.weights)) if off < best else (best, weights)
        self.weights = weights
        self._known.clear()
        return float(tried) * (best if math.isfinite(best) else 1.0)


class _Joint:
    """Designs of all numbers as one question by their epsilon."""

    def __init__(self, layout: Layout, targets: Targets, utility: Any, weights: Sequence[Sequence[Fraction]]) -> None:
        self.layout, self.targets, self.utility, self.weights = layout, targets, utility, weights
        self._known: dict[Fraction, tuple[Block, ...]] = {}

    def blocks(self, epsilon: Fraction) -> tuple[Block, ...]:
        if epsilon not in self._known:
            privacy = ApproxDP(epsilon, self.targets.delta or SMALLEST_DELTA)
            self._known[epsilon] = design.jointly(self.layout, privacy, self.utility, self.weights).blocks
        return self._known[epsilon]

    def ratio(self, epsilon: Fraction) -> float:
        return worst(self.blocks(epsilon), self.layout, self.targets)


def worst(blocks: Sequence[Block], layout: Layout, targets: Targets) -> float:
    """The largest half-width against its target; infinite where a group may be too small to be answered."""
    found = targets.reached(blocks, layout)
    return max(math.inf if far is None else float(far / targets.wanted(name)) for name, far in found.items())


def _goals(table: Table, targets: Targets) -> list[Fraction]:
    """How far each number may be off, if every number of a question has an equal part in its error."""
    goals: dict[int, Fraction] = {}
    for question, places in table.questions:
        for i, place in enumerate(places):
            little = [_LITTLE if j == i else Fraction(0) for j in range(len(places))]
            slope = (question.promised(little, targets.smallest_group) or Fraction(1)) / _LITTLE
            goal = targets.wanted(question.label) / (len(places) * slope)
            goals[place] = min(goal, goals.get(place, goal))
    return [goals[place] for place in range(len(table.numbers))]


def _few_digits(value: float) -> Fraction:
    return Fraction(f"{value:.3e}")

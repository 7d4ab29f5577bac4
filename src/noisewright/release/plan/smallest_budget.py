"""Accuracy first: the smallest epsilon at which every output is as near to the truth as was asked for.

Every table is searched by itself, on designs of one group: half-widths fall about as epsilon grows, so that a few
designs lead to the right place, and bisection over decimals of few digits ends there. With a delta, all numbers as one
question are tried as well. What is returned was designed and looked at; half-widths of whole numbers jump, so that 0.98
of it was looked at too.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, NoReturn

from noisewright.problem.errors import InfeasibleError, UnreachableTargetError
from noisewright.problem.numbers import show
from noisewright.problem.privacy import LARGEST_EPSILON, SMALLEST_DELTA, SMALLEST_EPSILON, ApproxDP, PureDP
from noisewright.problem.utilities import SquaredError
from noisewright.release.plan.arranging import layout_of
from noisewright.release.plan.design import require_served
from noisewright.release.plan.layout import AnswerTable, ContributionBounds, Layout, Proposal
from noisewright.release.plan.noise import Block, price_within
from noisewright.release.plan.shares import joinable, jointly, several_draws
from noisewright.release.plan.targets import Answered, Targets
from noisewright.search.report.progress import progress_bar

if TYPE_CHECKING:
    from noisewright.problem.utilities import Utility
    from noisewright.release.ask.question import Question

FINEST = 1
_ROUNDS = 3
_CLOSER = Fraction(49, 50)
_MANTISSAS = (*range(1000, 2000, 5), *range(2000, 5000, 10), *range(5000, 10_000, 25))
_COARSE = 14
_TUNINGS = 2
_LITTLE = Fraction(1, 1000)
_LEAST_WEIGHT = 1e-28
_LONG = 200


def reaching(questions: Sequence[Question], limits: ContributionBounds, targets: Targets, utility: Utility) -> Answered:
    """The least epsilon that was found to meet all targets, and what each alone would cost.

    Guarantees: every half-width at the returned epsilon was looked at and is at most its target; with everything scaled
    to 0.98 of it, at least one is above.
    """
    require_served(PureDP(1), utility)
    with progress_bar("targets", 1 + len(questions)) as step:
        step("all together")
        searches = _Searches(targets, utility)
        shared, apart = (layout_of(questions, limits, apart=apart) for apart in (False, True))
        found = searches.least(shared, FINEST)
        if apart != shared:
            found = min(found, searches.by_table(apart), key=lambda one: one.epsilon)
        if found.epsilon > LARGEST_EPSILON:
            _refuse([question.label for question in questions])
        costs = []
        for name in targets.names if len(questions) > 1 else ():
            step(name)
            own = layout_of([question for question in questions if question.label == name], limits)
            costs.append(searches.least(own, FINEST if targets.delta is None else _COARSE).epsilon)
    privacy = PureDP(found.epsilon) if targets.delta is None else ApproxDP(found.epsilon, targets.delta)
    price = price_within(found.blocks, found.layout, privacy)
    fields = (targets.names, targets.widths, targets.confidence, targets.delta, targets.smallest_group)
    aims = Targets(*fields, tuple(costs), found.layout != shared)
    return Answered(privacy, found.layout, found.blocks, price, aims)


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

    def __init__(self, targets: Targets, utility: Utility) -> None:
        self.targets, self.utility = targets, utility
        self._known: dict[tuple[AnswerTable, Fraction | None], tuple[_Search, Fraction | None]] = {}

    def by_table(self, layout: Layout) -> _Found:
        """The least epsilon of each table, added up; too large a one where a table cannot meet its targets."""
        relaxed = several_draws(layout)
        each = [self._table(table, None if relaxed else self.targets.delta) for table in layout.tables]
        if any(own is None for _, own in each):
            return _Found(2 * LARGEST_EPSILON, layout, ())
        epsilon = sum((search.touched * own for search, own in each if own), Fraction(0))
        blocks = (search.block(place, own) for place, (search, own) in enumerate(each) if own)
        return _Found(epsilon, layout, tuple(blocks))

    def least(self, layout: Layout, every: int) -> _Found:
        """The least epsilon table by table; with a delta, all numbers as one question where that takes less."""
        found = self.by_table(layout)
        if self.targets.delta is None or not several_draws(layout) or not joinable(layout):
            return found
        weights = [self._table(table, None)[0].weights for table in layout.tables]
        joint, most = _Joint(layout, self.targets, self.utility, weights), min(found.epsilon, LARGEST_EPSILON)
        off = joint.ratio(most)
        if off > 1:
            return found
        least = least_of(joint.ratio, most, every, float(most) * off)
        return found if least is None else _Found(least, layout, joint.blocks(least))

    def _table(self, table: AnswerTable, delta: Fraction | None) -> tuple[_Search, Fraction | None]:
        if (table, delta) not in self._known:
            pure = None if delta is None else self._table(table, None)
            if pure is not None and delta is not None and pure[1] is not None and _negligible(table, pure[1], delta):
                self._known[table, delta] = pure
            else:
                search = _Search(table, self.targets, self.utility, delta)
                self._known[table, delta] = (search, search.least(FINEST))
        return self._known[table, delta]


def _negligible(table: AnswerTable, epsilon: Fraction, delta: Fraction) -> bool:
    """Whether a delta is not worth a search: far below an epsilon at which laws with a delta have long tables."""
    return len(table.aggregates) == 1 and delta * 1000 <= epsilon and table.sensitivities[0] > _LONG * epsilon


class _Search:
    """Designs of one group of a table by their epsilon, with weights that bring all its outputs equally near."""

    def __init__(self, table: AnswerTable, targets: Targets, utility: Utility, delta: Fraction | None) -> None:
        self.table, self.targets, self.utility, self.delta = table, targets, utility, delta
        self.touched: int = table.strategy.touched(table)
        self.goals = _goals(table, targets)
        self.power = 2 if isinstance(utility, SquaredError) else 1
        self.weights = _weights([1 / float(goal) ** self.power for goal in self.goals])
        self._known: dict[Fraction, Proposal] = {}

    def proposal(self, epsilon: Fraction) -> Proposal:
        if epsilon not in self._known:
            privacy = PureDP(epsilon) if self.delta is None else ApproxDP(epsilon, self.delta)
            self._known[epsilon] = self.table.strategy.proposed(self.table, privacy, self.utility, self.weights)
        return self._known[epsilon]

    def block(self, place: int, epsilon: Fraction) -> Block:
        found = self.proposal(epsilon)
        return Block(found.certified, place, found.name, found.why)

    def ratio(self, epsilon: Fraction) -> float:
        """How many times too far the farthest output is; twice where the bounds of an answer cannot be kept at all."""
        try:
            found = self.block(0, epsilon)
        except InfeasibleError:
            return 2.0
        return self.targets.farthest([found], Layout((self.table,)))

    def least(self, every: int) -> Fraction | None:
        """The least epsilon of one draw that meets the targets of the table; None if none that is allowed does."""
        most = LARGEST_EPSILON / self.touched
        start = self._tuned(most) if len(self.goals) > 1 else 1.0
        return least_of(self.ratio, most, every, start)

    def _tuned(self, most: Fraction) -> float:
        """Take weights under which all numbers are about equally near to their goals; the epsilon that was tried.

        Rule: with shares of epsilon an error of degree p is least where each share grows as its weight to 1/(p + 1),
        and a half-width falls as its share grows. [theory#sharing-a-budget]
        """
        tried = most
        for _ in range(2):
            near = float(tried) * self.ratio(tried)
            tried = _few_digits(min(max(near, float(SMALLEST_EPSILON)), float(most)))
        best, weights = self.ratio(tried), list(self.weights)
        for _ in range(_TUNINGS):
            each = self.table.strategy.widths(self.proposal(tried).certified, self.table, self.targets.level(1))
            far = [float(width / goal) for width, goal in zip(each, self.goals, strict=True)]
            self.weights = _weights(
                [float(weight) * own ** (self.power + 1) for weight, own in zip(self.weights, far, strict=True)]
            )
            self._known.clear()
            off = self.ratio(tried)
            best, weights = (off, list(self.weights)) if off < best else (best, weights)
        self.weights = weights
        self._known.clear()
        return max(float(tried) * best, float(SMALLEST_EPSILON))


class _Joint:
    """Designs of all numbers as one question by their epsilon."""

    def __init__(
        self, layout: Layout, targets: Targets, utility: Utility, weights: Sequence[Sequence[Fraction]]
    ) -> None:
        self.layout, self.targets, self.utility, self.weights = layout, targets, utility, weights
        self._known: dict[Fraction, tuple[Block, ...]] = {}

    def blocks(self, epsilon: Fraction) -> tuple[Block, ...]:
        if epsilon not in self._known:
            privacy = ApproxDP(epsilon, self.targets.delta or SMALLEST_DELTA)
            self._known[epsilon] = jointly(self.layout, privacy, self.utility, self.weights).blocks
        return self._known[epsilon]

    def ratio(self, epsilon: Fraction) -> float:
        return self.targets.farthest(self.blocks(epsilon), self.layout)


def _goals(table: AnswerTable, targets: Targets) -> list[Fraction]:
    """How far each number may be off, if every number of a question has an equal part in its error."""
    goals: dict[int, Fraction] = {}
    for question, places in table.questions:
        for i, place in enumerate(places):
            little = [_LITTLE if j == i else Fraction(0) for j in range(len(places))]
            slope = (question.promised(little, targets.smallest_group) or Fraction(1)) / _LITTLE
            goal = targets.wanted(question.label) / (len(places) * slope)
            goals[place] = min(goal, goals.get(place, goal))
    return [goals[place] for place in range(len(table.aggregates))]


def _weights(values: Sequence[float]) -> list[Fraction]:
    """Weights in proportion, the largest 1; none so small that designs refuse it."""
    return [_few_digits(max(value / max(values), _LEAST_WEIGHT)) for value in values]


def _few_digits(value: float) -> Fraction:
    return Fraction(f"{value:.3e}")


class _Decimals:
    """Decimals of four digits about 0.4 % apart, every so many of them, from 1e-5 up: places are whole numbers."""

    def __init__(self, every: int) -> None:
        self.mantissas = _MANTISSAS[::every]

    def value(self, place: int) -> Fraction:
        tens, rest = divmod(place, len(self.mantissas))
        return Fraction(self.mantissas[rest] * 10**tens, 10**8)

    def place(self, value: float) -> int:
        """The last place that is not above a value; the first for all that are below it."""
        exact = max(Fraction(value), SMALLEST_EPSILON)
        tens = math.floor(math.log10(exact)) + 5
        found = len(self.mantissas) * tens + bisect_right(self.mantissas, exact * Fraction(10) ** (8 - tens)) - 1
        return found + (self.value(found + 1) <= exact) - (self.value(found) > exact)


def least_of(ratio: Callable[[Fraction], float], most: Fraction, every: int, start: float = 1.0) -> Fraction | None:
    """The least decimal at which a ratio was found to be at most 1; None if it is above 1 at `most`.

    Guarantees: with the finest decimals the ratio at 0.98 of it was found to be above 1, or it is the least that is
    allowed. `ratio` is how many times its target the farthest output is off: it falls, about as a power of epsilon.
    """
    if most < SMALLEST_EPSILON:
        return None
    places = _Places(ratio, _Decimals(every), most)
    place = places.nearest(start)
    for _ in range(_ROUNDS):
        place = places.guess(place)
    if not places.surrounded(place):
        return None
    found = places.turn()
    # A half-width may jump up where another mechanism becomes the best: then less is enough.
    while every == FINEST and found * _CLOSER >= SMALLEST_EPSILON and ratio(found * _CLOSER) <= 1:
        found *= _CLOSER
    return found


class _Places:
    """Ratios that were looked at, by their place among decimals; the place before the first counts as above 1."""

    def __init__(self, ratio: Callable[[Fraction], float], decimals: _Decimals, most: Fraction) -> None:
        self.ratio, self.decimals, self.top = ratio, decimals, decimals.place(float(most))
        self.known: dict[int, float] = {}

    def nearest(self, value: float) -> int:
        return min(max(0, self.decimals.place(value)), self.top)

    def look(self, place: int) -> float:
        if place not in self.known:
            self.known[place] = self.ratio(self.decimals.value(place)) if place >= 0 else math.inf
        return self.known[place]

    def guess(self, place: int) -> int:
        """Where the ratio would be 1, by the power law through this place and the nearest other that is known."""
        here, value = self.look(place), float(self.decimals.value(place))
        power = -1.0
        others = [other for other in self.known if other not in (-1, place)]
        if others:
            other = min(others, key=lambda one: abs(one - place))
            rise = math.log(self.known[other] / here) if here * self.known[other] > 0 else 0.0
            power = min(max(rise / math.log(float(self.decimals.value(other)) / value), -4.0), -0.5)
        return self.nearest(value * max(here, 1e-9) ** (-1 / power))

    def surrounded(self, place: int) -> bool:
        """Look outward until a place above 1 lies below one that is not; false if there is none up to the top."""
        stride = 1
        while self.look(place) > 1:
            if place == self.top:
                return False
            place, stride = min(self.top, place + stride), 2 * stride
        stride = 1
        while not self._below():
            place, stride = max(-1, place - stride), 2 * stride
            self.look(place)
        return True

    def _below(self) -> list[int]:
        """The places above 1 below the first that is not."""
        return [place for place, found in self.known.items() if found > 1 and place < self._first()]

    def _first(self) -> int:
        return min(place for place, found in self.known.items() if found <= 1)

    def turn(self) -> Fraction:
        """The first decimal that was found to be at most 1, next to one that was found to be above."""
        halve = False
        while (passes := self._first()) - (fails := max(self._below())) > 1:
            near = (passes + fails) // 2 if halve or fails < 0 else self.guess(fails)
            self.look(min(max(near, fails + 1), passes - 1))
            halve = not halve
        return self.decimals.value(self._first())

"""Post-processing of answers on request: made non-negative, integers, and with totals that add up.

It costs nothing, changes nothing that is stored, and stands beside the answers as they were drawn. Every interval
comes first: that of a number by itself, or of the linear map that makes totals add up; it is cut to what the truth can
be. The value is then chosen, and its half-width is the distance to the farther end: it covers the truth wherever the
interval does, whatever was done to the value.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

from noisewright.problem.errors import InvalidInputError, InvalidQueryError
from noisewright.problem.fields import is_list
from noisewright.release.ask.estimates import Estimate, Interval
from noisewright.release.ask.question import Question
from noisewright.release.plan.noise import widths
from noisewright.release.plan.plan import Plan
from noisewright.release.plan.strategies.by_group import ByGroup
from noisewright.release.run.totals import Family, families_of
from noisewright.release.stage.aggregates import Aggregate

CONFIDENCE = Fraction(19, 20)
NON_NEGATIVE, INTEGERS, TOTALS = STEPS = ("non-negative", "integers", "totals")


def steps_of(post: Sequence[str]) -> tuple[str, ...]:
    """What is asked for, checked, each once."""
    listed = list(post) if is_list(post) else [post]
    unknown = next((step for step in listed if step not in STEPS), None)
    if unknown is not None or not is_list(post):
        raise InvalidInputError(f"post is {post!r}; give a list of {', '.join(map(repr, STEPS))}.", post=post)
    return tuple(step for step in STEPS if step in listed)


def half_widths_of(plan: Plan) -> dict[str, list[Fraction]]:
    """By question, how far each of its numbers may be from the truth: all of them within, 95 times in 100."""
    counts = {question.at_once for question in plan.questions}
    each = {count: widths(plan.blocks, plan.layout, 1 - (1 - CONFIDENCE) / count) for count in counts}
    return {
        question.label: [each[question.at_once][place][i] for i in places]
        for place, table in enumerate(plan.layout.tables)
        for question, places in table.questions
    }


def post_processing_of(plan: Plan, post: Sequence[str]) -> PostProcessing | None:
    """What `post` will do to the answers, worked out before anything is spent; None where nothing is asked for."""
    steps = steps_of(post)
    return PostProcessing(plan, steps, half_widths_of(plan), CONFIDENCE) if steps else None


class PostProcessing:
    """What will be done to the answers of a plan, worked out before anything is spent.

    Raises InvalidQueryError for totals that nothing was asked for or whose half-widths cannot be said.
    """

    def __init__(
        self, plan: Plan, steps: Sequence[str], half_widths: Mapping[str, Sequence[Fraction]], confidence: Fraction
    ) -> None:
        self.steps = steps
        self._plan, self._half_widths = plan, half_widths
        self._families = families_of(plan, confidence) if TOTALS in self.steps else []
        if TOTALS in self.steps and not self._families:
            raise InvalidQueryError(
                "no totals are asked for in this plan; ask the same number for the parts and for all of them, such as"
                " nw.count(by=...) and nw.count(), or leave 'totals' out."
            )

    def estimates(self, numbers: Sequence[int]) -> dict[str, list[Estimate]]:
        """By question, the tidy answers of its groups; questions computed from several numbers stay as they are."""
        parts = self._plan.layout.split_released(numbers)
        done: dict[tuple[int, int], list[Estimate]] = {}
        for family in self._families:
            done |= self._family(family, parts)
        found = {}
        for place, table in enumerate(self._plan.layout.tables):
            for question, places in table.questions:
                if question.plain and isinstance(table.strategy, ByGroup):
                    own = [row[places[0]] for _, row in table.strategy.groups(table, parts[place])]
                    alone = self._alone(question, own)
                    found[question.label] = done.get((place, places[0]), alone)
        return found

    def _alone(self, question: Question, values: Sequence[int]) -> list[Estimate]:
        number, width = question.aggregates[0], self._half_widths[question.label][0]
        return [self._estimate(number, Fraction(v), width, self._possible(Fraction(v), number)) for v in values]

    def _family(self, family: Family, parts: Sequence[Sequence[int]]) -> dict[tuple[int, int], list[Estimate]]:
        tree, number = family.tree, family.number
        values = [
            value
            for place, i in family.members
            for value in parts[place][i :: len(self._plan.layout.tables[place].aggregates)]
        ]
        middle = tree.adjusted(values)
        chosen = self._chosen(family, middle)
        all_of_it = [self._estimate(number, *each) for each in zip(middle, family.widths, chosen, strict=True)]
        return {member: [all_of_it[node] for node in tree.nodes(level)] for level, member in enumerate(family.members)}

    def _chosen(self, family: Family, middle: Sequence[Fraction]) -> list[Fraction]:
        """Values that add up, from the widest groups down: each table of parts is brought to the value above it."""
        tree, number = family.tree, family.number
        found: list[Fraction] = list(middle)
        for place in tree.order:
            for node in tree.nodes(place):
                if tree.up[node] is None:
                    found[node] = self._possible(middle[node], number)
                for below in tree.parts[node].values():
                    shared = self._shared([middle[n] for n in below], found[node], number)
                    for n, value in zip(below, shared, strict=True):
                        found[n] = value
        return found

    def _shared(self, values: Sequence[Fraction], total: Fraction, number: Aggregate) -> list[Fraction]:
        """The nearest values of a sum, non-negative and whole where that is asked for."""
        moved = nearest_with_sum(values, total, non_negative=self._cut(number))
        return whole_with_sum(moved, total) if self._whole(number) else moved

    def _estimate(self, number: Aggregate, middle: Fraction, width: Fraction, value: Fraction) -> Estimate:
        low, high = middle - width, middle + width
        if self._whole(number) and math.ceil(low) <= math.floor(high):
            low, high = Fraction(math.ceil(low)), Fraction(math.floor(high))
        if self._cut(number):
            low, high = max(Fraction(0), low), max(Fraction(0), high)
        return Interval(value * number.unit, low * number.unit, high * number.unit)

    def _possible(self, value: Fraction, number: Aggregate) -> Fraction:
        """The nearest value that the truth can have, as far as that is asked for."""
        kept = max(Fraction(0), value) if self._cut(number) else value
        return Fraction(math.floor(kept + Fraction(1, 2))) if self._whole(number) else kept

    def _cut(self, number: Aggregate) -> bool:
        return NON_NEGATIVE in self.steps and number.never_negative

    def _whole(self, number: Aggregate) -> bool:
        return INTEGERS in self.steps and number.unit.denominator == 1


def nearest_with_sum(values: Sequence[Fraction], total: Fraction, *, non_negative: bool) -> list[Fraction]:
    """The nearest values (by squares) that add up to a total; `non_negative` needs a total of at least 0.

    Rule: all are moved by the same amount; those that would become negative are 0, and the others share the rest. The
    amount is found among the largest values, which are the ones that stay. [theory#tables-and-contribution-bounds]
    """
    if not non_negative:
        each = (total - sum(values, Fraction(0))) / len(values)
        return [value + each for value in values]
    kept, move = Fraction(0), Fraction(0)
    for count, value in enumerate(sorted(values, reverse=True), 1):
        kept += value
        each = (total - kept) / count
        if count > 1 and value + each <= 0:
            break
        move = each
    return [max(Fraction(0), value + move) for value in values]


def whole_with_sum(values: Sequence[Fraction], total: Fraction) -> list[Fraction]:
    """Whole numbers next to values of a whole total, with the same total: the largest rests are rounded up."""
    found = [Fraction(math.floor(value)) for value in values]
    missing = int(total - sum(found, Fraction(0)))
    rests = sorted(range(len(values)), key=lambda i: (found[i] - values[i], i))
    for place in rests[:missing]:
        found[place] += 1
    return found

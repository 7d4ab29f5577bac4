"""Targets or budgets for each output, which a plan may be asked for instead of one amount of privacy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from noisewright.problem import numbers as exact
from noisewright.problem.errors import InvalidInputError, InvalidPrivacyError, MechanismFileError
from noisewright.problem.fields import (
    Flag,
    MaybeRational,
    Rational,
    Spec,
    Texts,
    flag,
    one_of,
    optional,
    rational,
    text,
    tuple_of,
    whole,
)
from noisewright.problem.numbers import show
from noisewright.problem.privacy import REQUIREMENTS, SMALLEST_DELTA, ApproxDP, PureDP
from noisewright.problem.records import Family, Record, record
from noisewright.release.plan.arranging import layout_of
from noisewright.release.plan.design import require_served
from noisewright.release.plan.layout import ContributionBounds, Layout
from noisewright.release.plan.noise import Block, Price, price_within, widths
from noisewright.release.plan.shares import weights_of

if TYPE_CHECKING:
    from noisewright.problem.privacy import Notion
    from noisewright.problem.utilities import Utility
    from noisewright.release.ask.question import Question

AIMS: Family[Targets | Budgets] = Family("targets or budgets of a plan")
"""Every such thing by the name it has in files."""

USUAL_CONFIDENCE = 0.95

_NEEDS = (
    "its error depends on how many rows a group has, which is not public. Ask its count and its sum instead and give"
    " them targets"
)
_SMALLEST = "; for a mean, say smallest_group=n if every group is publicly known to have n rows or more"


@record("targets", AIMS, error=InvalidInputError)
class Targets(Record):
    """How near to the truth each output must be, and with which confidence; what each alone would cost."""

    names: Texts = tuple_of(text(), least=1, distinct=True)
    widths: Spec[Sequence[Any], tuple[Fraction, ...]] = tuple_of(rational(above=0), each="target")
    confidence: Rational = rational(above=0, below=1, hint=": 0.95 is usual")
    delta: MaybeRational = optional(rational(at_least=SMALLEST_DELTA, below=1), default=None)
    smallest_group: Spec[Any, int | None] = optional(
        whole(at_least=1, hint=": the rows that every group is publicly known to have"), default=None
    )
    alone: Spec[Sequence[Any], tuple[Fraction, ...]] = tuple_of(rational(above=0), default=())
    apart: Flag = flag(default=False)

    def wanted(self, name: str) -> Fraction:
        """The target of a question."""
        return self.widths[self.names.index(name)]

    def reached(self, blocks: Sequence[Block], layout: Layout) -> dict[str, Fraction | None]:
        """By question, the half-width that its answers have with the confidence; None where too few rows may be."""
        each = self._widths(blocks, layout)
        return {name: question.promised(own, self.smallest_group) for name, (question, own) in each.items()}

    def farthest(self, blocks: Sequence[Block], layout: Layout) -> float:
        """How many times its target the output is off that misses most; at most 1 where all are met."""
        found = []
        for name, (question, own) in self._widths(blocks, layout).items():
            far, short = question.promised(own, self.smallest_group), question.shortage(own, self.smallest_group)
            found.append(float(short if far is None else max(short, far / self.wanted(name))))
        return max(found)

    def _widths(self, blocks: Sequence[Block], layout: Layout) -> dict[str, tuple[Question, list[Fraction]]]:
        """By question, how far each of its numbers is off: all of them within, with the confidence."""
        counts = {question.at_once for table in layout.tables for question, _ in table.questions}
        each = {count: widths(blocks, layout, self.level(count)) for count in counts}
        return {
            question.label: (question, [each[question.at_once][place][i] for i in places])
            for place, table in enumerate(layout.tables)
            for question, places in table.questions
        }

    def require_met(self, questions: Sequence[Question], blocks: Sequence[Block], layout: Layout) -> None:
        """Refuse targets of other questions than those of a plan, and mechanisms that do not reach them."""
        if [question.label for question in questions] != list(self.names):
            raise MechanismFileError("the targets of the plan are not those of its questions; plan again.")
        found = self.reached(blocks, layout)
        far = [found[name] for name in self.names]
        if any(one is None or one > target for one, target in zip(far, self.widths, strict=True)):
            raise MechanismFileError("the mechanisms of the plan do not reach its targets; plan again.")

    def require_agreed(self, privacy: Notion) -> None:
        """Refuse a requirement of another delta than was asked for, and costs that are not one for each target."""
        if getattr(privacy, "delta", None) != self.delta or len(self.alone) not in (0, len(self.names)):
            raise MechanismFileError("the targets of the plan are not those that its requirement is for; plan again.")

    def level(self, count: int) -> Fraction:
        """The confidence of each of so many numbers, at which all of them are within their widths."""
        return 1 - (1 - self.confidence) / count

    def lines(self, blocks: Sequence[Block], layout: Layout) -> list[str]:
        """What is asked, reached and would have been paid for each alone, in words."""
        found, alone = self.reached(blocks, layout), dict(zip(self.names, self.alone, strict=False))
        said = [f"Targets, each with a confidence of {show(self.confidence)}:"]
        for name, target in zip(self.names, self.widths, strict=True):
            reached = found[name]
            at = "nothing" if reached is None else f"{float(reached):.4g}"
            cost = f"; alone it would cost epsilon = {show(alone[name])}" if name in alone else ""
            said.append(f"  {name}: at most {show(target)}, reached {at}{cost}")
        return said


def targets_of(
    questions: Sequence[Question],
    given: Mapping[str, exact.Number] | None,
    confidence: exact.Number,
    delta: exact.Number | None,
    smallest_group: int | None,
) -> Targets:
    """The targets of questions, read and checked; refuses what noise alone cannot reach."""
    if not isinstance(given, Mapping) or not given:
        raise InvalidInputError('targets is no mapping of names to half-widths; give targets={"count": 5}.')
    names = _in_order(given, questions, "targets")
    found = Targets(names, [given[name] for name in names], confidence, delta, smallest_group)
    for question in questions:
        nothing = [Fraction(0)] * len(question.aggregates)
        if question.promised(nothing, found.smallest_group) is None:
            advice = question.no_target or _NEEDS + (_SMALLEST if found.smallest_group is None else "")
            raise InvalidInputError(f"{question.label!r} cannot have a target: {advice}.", name=question.label)
        if question.label not in found.names:
            raise InvalidInputError(
                f"{question.label!r} has no target; without one it would get no budget. Give it one, or ask it in a"
                " plan of its own.",
                name=question.label,
            )
    return found


@dataclass(frozen=True, slots=True)
class Answered:
    """What targets or budgets lead to: the requirement of the whole plan, its tables, its noise and its price.

    `aims` are the targets or budgets with what was found out about them.
    """

    privacy: Notion
    layout: Layout
    blocks: tuple[Block, ...]
    price: Price
    aims: Targets | Budgets


@record("budgets", AIMS, error=InvalidInputError)
class Budgets(Record):
    """What each output may cost by itself."""

    names: Texts = tuple_of(text(), least=1, distinct=True)
    amounts: Spec[Sequence[Any], tuple[Any, ...]] = tuple_of(one_of(REQUIREMENTS), each="budget")

    apart = True
    """Each question has a table of its own, drawn by itself, also where two of them count the same rows."""

    def __post_init__(self) -> None:
        first = self.amounts[0]
        pairs = all(type(amount) in (PureDP, ApproxDP) for amount in self.amounts)
        if not pairs and any(type(amount) is not type(first) or amount.alpha != first.alpha for amount in self.amounts):
            raise InvalidPrivacyError(
                "the budgets are of several kinds, which do not add up; give all of them as PureDP or ApproxDP, all as"
                " ZeroConcentratedDP, or all as RenyiDP of one order."
            )

    @property
    def total(self) -> Any:
        """What holds for all outputs together.

        Rule: by basic composition epsilons, deltas, concentrations and divergences of one order add up.
        [DworkRoth14, theory#composition-and-filters]
        """
        first = self.amounts[0]
        sums = {name: sum(getattr(one, name, 0) for one in self.amounts) for name in ("epsilon", "delta", "rho")}
        if any(type(amount) is ApproxDP for amount in self.amounts):
            return ApproxDP(sums["epsilon"], sums["delta"])
        if first.alpha is not None:
            return type(first)(first.alpha, sums["epsilon"])
        return type(first)(*(sums[name] for name in first.amounts))

    def answered(
        self,
        questions: Sequence[Question],
        limits: ContributionBounds,
        utility: Utility,
        weights: Mapping[str, exact.Number],
    ) -> Answered:
        """The best mechanism of each question for its own budget."""
        layout = layout_of(questions, limits, apart=True)
        blocks = []
        for place, table in enumerate(layout.tables):
            amount, touched = self.amounts[place], table.strategy.touched(table)
            require_served(amount, utility)
            each = amount if touched == 1 else amount.share(Fraction(1, touched))
            found = table.strategy.proposed(table, each, utility, weights_of(table, utility, weights))
            blocks.append(Block(found.certified, place, found.name, found.why))
        self.require_met(questions, blocks, layout)
        return Answered(self.total, layout, tuple(blocks), price_within(blocks, layout, self.total), self)

    def require_met(self, questions: Sequence[Question], blocks: Sequence[Block], layout: Layout) -> None:
        """Refuse budgets of other questions than those of a plan, and mechanisms that cost more than theirs."""
        if [question.label for question in questions] != list(self.names):
            raise MechanismFileError("the budgets of the plan are not those of its questions; plan again.")
        for block, table, amount in zip(blocks, layout.tables, self.amounts, strict=True):
            price_within([replace(block, table=0)], Layout((table,)), amount)

    def require_agreed(self, privacy: Notion) -> None:
        """Refuse a requirement that is not what all budgets are together."""
        if privacy != self.total:
            raise MechanismFileError("the requirement of the plan is not the sum of its budgets; plan again.")

    def lines(self, blocks: Sequence[Block], layout: Layout) -> list[str]:
        """What each output costs, in words."""
        each = zip(self.names, self.amounts, strict=True)
        return ["Budgets:", *(f"  {name}: {amount}" for name, amount in each)]


def budgets_of(questions: Sequence[Question], given: Mapping[str, Notion] | None) -> Budgets:
    """The budgets of questions, read and checked: one for each."""
    if not isinstance(given, Mapping) or not given:
        raise InvalidInputError('budgets is no mapping of names to amounts; give budgets={"count": nw.PureDP(0.5)}.')
    names = _in_order(given, questions, "budgets")
    missing = next((question.label for question in questions if question.label not in names), None)
    if missing is not None:
        raise InvalidInputError(f"{missing!r} has no budget; give one to every question.", name=missing)
    return Budgets(names, [given[name] for name in names])


def _in_order(given: Mapping[str, object], questions: Sequence[Question], where: str) -> list[str]:
    """The names that were given, in the order of the questions; refuses those of no question."""
    known = [question.label for question in questions]
    if unknown := next((name for name in given if name not in known), None):
        raise InvalidInputError(
            f"{where} names {unknown!r}; the questions are {', '.join(map(repr, known))}.", name=unknown
        )
    return [name for name in known if name in given]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What `Dataset.plan` was given besides `privacy`, as it was given."""

    targets: Mapping[str, exact.Number] | None
    confidence: exact.Number
    delta: exact.Number | None
    smallest_group: int | None
    budgets: Mapping[str, Notion] | None

    def aims(
        self, questions: Sequence[Question], privacy: Notion | None, weights: Mapping[str, exact.Number]
    ) -> Targets | Budgets | None:
        """Targets or budgets, read and checked; None where one amount for all was given.

        Raises InvalidInputError unless exactly one of privacy, targets and budgets was given.
        """
        told = [name for name in ("targets", "budgets") if getattr(self, name) is not None]
        told = ["privacy", *told] if privacy is not None else told
        if len(told) != 1:
            said = "nothing says what may be spent" if not told else f"{' and '.join(told)} are both given"
            raise InvalidInputError(
                f"{said}; give one of privacy=nw.PureDP(1), targets={{name: half-width}} and budgets={{name:"
                " requirement}."
            )
        if self.targets is None:
            self._require_only_targets()
            return None if self.budgets is None else budgets_of(questions, self.budgets)
        if weights:
            raise InvalidInputError("weights and targets are both given; targets say how near each output must be.")
        return targets_of(questions, self.targets, self.confidence, self.delta, self.smallest_group)

    def _require_only_targets(self) -> None:
        given = {"delta": self.delta is not None, "smallest_group": self.smallest_group is not None}
        given["confidence"] = self.confidence != USUAL_CONFIDENCE
        if extra := next((name for name, is_given in given.items() if is_given), None):
            raise InvalidInputError(
                f"{extra} belongs to targets={{name: half-width}}; a delta otherwise belongs to privacy ="
                " nw.ApproxDP(epsilon, delta)."
            )

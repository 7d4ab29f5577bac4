"""From questions to the tables that answer them: which of them share one, and by which strategy each is answered."""

from __future__ import annotations

from collections.abc import Sequence

from noisewright.problem.errors import InvalidQueryError
from noisewright.release.ask.question import QUESTIONS, Question
from noisewright.release.plan.layout import AnswerStrategy, AnswerTable, ContributionBounds, Layout
from noisewright.release.plan.strategies.by_group import BY_GROUP
from noisewright.release.stage.groupings import Grouping

_MOST_NUMBERS = 1_000_000
_LARGEST_SENSITIVITY = 10**12


def strategy_of(question: Question) -> AnswerStrategy:
    """The strategy that a question names; those that few questions need are loaded for them alone."""
    name, *fields = question.strategy
    if name == "by-group":
        return BY_GROUP
    if name == "in-bounds":
        from noisewright.release.plan.strategies.in_bounds import InBounds

        return InBounds(*fields)
    if name == "over-cells":
        from noisewright.release.plan.strategies.over_cells import Answered

        return Answered(*fields)
    if name == "over-bins":
        from noisewright.release.plan.strategies.over_cells import OverBins

        return OverBins(*fields)
    if name == "by-weights":
        from noisewright.release.plan.strategies.by_weights import BY_WEIGHTS

        return BY_WEIGHTS
    raise TypeError(f"no plan answers by {name!r}")


def layout_of(questions: Sequence[Question], limits: ContributionBounds, *, apart: bool = False) -> Layout:
    """The vector of a list of questions; refuses none, what is no question, and two of one name.

    With `apart` each question has a table of its own, so that it can get an amount of its own.
    """
    if not questions:
        raise InvalidQueryError("nothing is asked; give at least one question, such as nw.count().")
    for question in questions:
        QUESTIONS.read(question, "a question")
    names = [question.label for question in questions]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise InvalidQueryError(f"two questions are called {twice!r}; give one of them another name=.", name=twice)
    asked: dict[tuple[Grouping, AnswerStrategy, str], list[Question]] = {}
    for question in questions:
        grouping, strategy, alone = question.grouping, strategy_of(question), question.label if apart else ""
        if grouping.private:
            from noisewright.release.plan.strategies.selection import SELECTING, private_strategy

            # The table that chooses the groups comes before those that are asked about them.
            asked.setdefault((Grouping(grouping.keys), SELECTING, ""), [])
            strategy = private_strategy(question, limits.rows_per_group)
            alone = "" if strategy == SELECTING else alone
        asked.setdefault((grouping, strategy, alone), []).append(question)
    found = Layout(tuple(_table(grouping, strategy, own, limits) for (grouping, strategy, _), own in asked.items()))
    if (most := max(found.dimension, found.released)) > _MOST_NUMBERS:
        raise InvalidQueryError(f"these questions need {most} numbers; at most {_MOST_NUMBERS}.", numbers=most)
    return found


def _table(
    grouping: Grouping, strategy: AnswerStrategy, questions: Sequence[Question], limits: ContributionBounds
) -> AnswerTable:
    aggregates = strategy.aggregates(questions)
    placed = tuple(zip(questions, strategy.placed(questions, aggregates), strict=True))
    rows = 1 if all(one.of_persons for one in aggregates) else limits.rows_per_group
    most = grouping.count // strategy.together(grouping)
    groups = limits.groups_per_person if grouping.private else min(limits.groups_per_person, most)
    found = AnswerTable(grouping, aggregates, placed, rows, groups, strategy)
    for aggregate, sensitivity in zip(aggregates, found.sensitivities, strict=True):
        if sensitivity > _LARGEST_SENSITIVITY:
            column = getattr(aggregate, "column", "")
            raise InvalidQueryError(
                f"one person can move the {aggregate.word} of {column} by {sensitivity} steps; give a coarser step=, so"
                f" that it is at most {_LARGEST_SENSITIVITY}, or narrower bounds.",
                column=column,
            )
    return found

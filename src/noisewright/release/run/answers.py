"""Released numbers as a tidy table: a row for each question and group, with its interval and the rows it is of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from noisewright.release.ask.estimates import Estimate
from noisewright.release.ask.question import Question
from noisewright.release.plan.layout import AnswerTable, ContributionBounds, Numbers
from noisewright.release.plan.plan import Plan
from noisewright.release.run.post_processing import PostProcessing, half_widths_of

_ENDS = ("value", "half_width", "low", "high")
_TIDY_ENDS = tuple(f"post_{name}" for name in _ENDS)
_AFTER = ("counted", "mechanism", "charge")


def columns(
    plan: Plan,
    numbers: Numbers,
    charge: int,
    half_widths: Mapping[str, Sequence[Fraction]] | None = None,
    tidy: PostProcessing | None = None,
) -> dict[str, list[Any]]:
    """Released numbers as a tidy table: one row for each question and group, in the order they were asked.

    With `tidy` the answers after post-processing stand in columns of their own. `counted` says of each answer which
    rows it is over: that is the number which its interval holds.
    """
    half_widths = half_widths_of(plan) if half_widths is None else half_widths
    tables = list(zip(plan.layout.tables, plan.layout.split_released(numbers), strict=True))
    names = {name: column_name(name) for question in plan.questions for name in question.columns}
    more = {} if tidy is None else tidy.estimates(numbers)
    ends = (*_ENDS, *(() if tidy is None else _TIDY_ENDS), *_AFTER)
    found: dict[str, list[Any]] = {name: [] for name in ("question", *names.values(), *ends)}
    counted = counted_in(plan)
    by_question = {
        question.label: (table, part, place, indices)
        for place, (table, part) in enumerate(tables)
        for question, indices in table.questions
    }
    for question in plan.questions:
        table, part, place, indices = by_question[question.label]
        block = plan.blocks[0 if plan.blocks[0].table is None else place]
        rows = list(question.answers(table, part, indices, half_widths[question.label]))
        found["question"] += [question.label] * len(rows)
        for name, shown in names.items():
            found[shown] += [named.get(name) for named, _ in rows]
        answers: Sequence[Estimate] = [answer for _, answer in rows]
        _ended(found, _ENDS, answers)
        if tidy is not None:
            _ended(found, _TIDY_ENDS, more.get(question.label, answers))
        found["counted"] += [counted[question.label]] * len(rows)
        found["mechanism"] += [block.name] * len(rows)
        found["charge"] += [charge] * len(rows)
    return found


def _ended(found: Mapping[str, list[Any]], names: Sequence[str], answers: Sequence[Estimate]) -> None:
    """Put the numbers of answers below the others, by the names of their columns."""
    for name, values in zip(names, zip(*(answer.doubles for answer in answers), strict=True), strict=False):
        found[name] += values


def column_name(column: str) -> str:
    """The name of a key column in an answer; one that an answer needs itself gets a word before it."""
    taken = ("question", *_ENDS, *_TIDY_ENDS, *_AFTER)
    return f"key {column}" if column in taken else column


def counted_in(plan: Plan) -> dict[str, str]:
    """By question, what its answers are of: intervals hold that number, which may differ from that of all rows."""
    unit = plan.about["unit"]
    return {
        question.label: f"{_rows(question, table, plan.limits, unit)}{_clamped(question)}"
        for table in plan.layout.tables
        for question, _ in table.questions
    }


def _rows(question: Question, table: AnswerTable, limits: ContributionBounds, unit: str) -> str:
    if limits.one_row_per_person:
        return f"every row, one of each {unit} as declared"
    if all(one.of_persons for one in question.aggregates):
        return f"all rows of each {unit}{_groups(table)}"
    rows = f"at most {table.rows:,} row{'s' * (table.rows > 1)} of each {unit}"
    return f"{rows}{' in a group' if _most(table) > 1 or table.grouping.private else ''}{_groups(table)}"


def _groups(table: AnswerTable) -> str:
    """How many groups a person counts in, where that is fewer than there are."""
    if not table.grouping.private and table.groups >= _most(table):
        return ""
    return f", in at most {table.groups:,} group{'s' * (table.groups > 1)}"


def _most(table: AnswerTable) -> int:
    return table.grouping.count // table.together


def _clamped(question: Question) -> str:
    return "".join(f"; {text}" for text in question.clamps)

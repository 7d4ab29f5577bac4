"""The estimand of an answer in words: which rows count in it, and what their values are clamped to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from noisewright.problem.numbers import show

if TYPE_CHECKING:
    from noisewright.release.ask.question import Question
    from noisewright.release.plan.layout import Limits, Table
    from noisewright.release.plan.plan import Plan


def counted_in(plan: Plan) -> dict[str, str]:
    """By question, what its answers are of: intervals hold that number, which may differ from that of all rows."""
    unit = plan.about["unit"]
    return {
        question.label: f"{_rows(question, table, plan.limits, unit)}{_values(question)}"
        for table in plan.layout.tables
        for question, _ in table.questions
    }


def _rows(question: Question, table: Table, limits: Limits, unit: str) -> str:
    if limits.one_row_per_person:
        return f"every row, one of each {unit} as declared"
    if all(number.of_persons for number in question.numbers):
        return f"all rows of each {unit}{_groups(table)}"
    rows = f"at most {table.rows:,} row{'s' * (table.rows > 1)} of each {unit}"
    return f"{rows}{' in a group' if _most(table) > 1 or table.grouping.private else ''}{_groups(table)}"


def _groups(table: Table) -> str:
    """How many groups a person counts in, where that is fewer than there are."""
    if not table.grouping.private and table.groups >= _most(table):
        return ""
    return f", in at most {table.groups:,} group{'s' * (table.groups > 1)}"


def _most(table: Table) -> int:
    return table.grouping.count // table.together


def _values(question: Any) -> str:
    found = []
    if (span := getattr(question, "range", None)) is not None:
        found.append(f"values clamped to {_between(span.bounds)}")
    if (ends := getattr(question, "person_bounds", None)) is not None:
        found.append(f"sums of persons clamped to {_between(ends)}")
    if (within := getattr(question, "within", None)) is not None:
        found.append(f"true answers clamped to {_between(within.inputs)}")
    return "".join(f"; {text}" for text in found)


def _between(ends: Any) -> str:
    return f"[{', '.join(map(show, ends))}]"

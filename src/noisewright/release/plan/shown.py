"""A plan in words: per output the error to expect, the mechanism and why, the cost, and plain noise beside it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from noisewright.problem.numbers import show
from noisewright.problem.utilities import SquaredError
from noisewright.release.plan import plain
from noisewright.release.plan.noise import widths
from noisewright.search.report.render import html_table, text_table

if TYPE_CHECKING:
    from noisewright.release.plan.layout import Table
    from noisewright.release.plan.plan import Plan

_CONFIDENCE = Fraction(19, 20)


def text(plan: Plan) -> str:
    """The whole plan, for a terminal."""
    return "\n".join([*_head(plan), "", text_table(*_table(plan)), "", *_foot(plan)])


def html(plan: Plan) -> str:
    """The whole plan as a fragment of a page."""
    return html_table("; ".join(_head(plan)), *_table(plan), " ".join(_foot(plan)))


def _head(plan: Plan) -> list[str]:
    about, limits = plan.about, plan.limits
    version = f", version {about['version']}" if about["version"] is not None else ""
    most = "one row (declared by the owner, not checked)" if limits.one_row_per_person else str(limits)
    return [
        f"Plan for {about['name']}{version}; nothing is spent yet",
        f"Protects: all rows with one value of {about['unit']}, of which count at most {most}",
        f"Privacy:  {plan.privacy} for all outputs together",
    ]


@dataclass(frozen=True, slots=True)
class Line:
    """What is expected of one number of an output, in the units of its question; None where noise has no guarantee."""

    output: str
    first: bool
    groups: str
    word: str
    error: float
    width: float
    laplace: float | None
    gaussian: float | None


def lines_of(plan: Plan) -> list[Line]:
    """Every number of every output: its expected error, its 95 % half-width, and the errors of plain noise."""
    rivals = [of(plan.layout, plan.privacy, plan.utility) for of in (plain.laplace_errors, plain.gaussian_errors)]
    found = []
    each = widths(plan.blocks, plan.layout, _CONFIDENCE)
    for place, table in enumerate(plan.layout.tables):
        errors = plain.expected(plan, place)
        for question, places in table.questions:
            for line, (word, unit, own) in enumerate(question.lines(table, places)):
                usual = [_overall(of[place], own, plan.utility) * float(unit) if of else None for of in rivals]
                error = _overall(errors, own, plan.utility) * float(unit)
                width = float(max(each[place][i] for i in own) * unit)
                found.append(Line(question.label, line == 0, _counted(table), word, error, width, *usual))
    return found


def _table(plan: Plan) -> tuple[list[str], list[list[str]]]:
    header = ["output", "groups", "number", "error", "95 % within", "Laplace", "Gaussian"]
    rows = []
    for line in lines_of(plan):
        numbers = (line.error, line.width, line.laplace, line.gaussian)
        told = [line.output if line.first else "", line.groups if line.first else "", line.word]
        rows.append([*told, *("none" if value is None else _number(value) for value in numbers)])
    return header, rows


def _counted(table: Table) -> str:
    """How many groups a table has; cells that are answered together are one."""
    return table.grouping.counted if table.together == 1 else str(table.grouping.count // table.together)


def _overall(errors: Sequence[float], places: Sequence[int], utility: Any) -> float:
    """The error of several numbers in one: the root of the mean square, or the mean."""
    power = 2 if isinstance(utility, SquaredError) else 1
    return float((math.fsum(errors[i] ** power for i in places) / len(places)) ** (1 / power))


def _foot(plan: Plan) -> list[str]:
    kind = "root mean squared error" if isinstance(plan.utility, SquaredError) else "mean absolute error"
    lines = [
        f"Errors are the {kind}s to expect of the noise in one group, beside those of plain Laplace and plain Gaussian"
        " noise with the budget split equally; 95 of 100 answers are within the half-width.",
        *([] if plan.aims is None else plan.aims.lines(plan.blocks, plan.layout)),
        *(f"{_answers(plan, block)}: {block.why}" for block in plan.blocks),
        *_ratios(plan),
        *_remains(plan),
        "Not in these errors: values beyond their bounds are clamped, and rows beyond the limits are left out.",
    ]
    return [line for line in lines if line]


def _answers(plan: Plan, block: Any) -> str:
    if block.table is None:
        return f"All numbers ({block.name})"
    table = plan.layout.tables[block.table]
    names = ", ".join(question.label for question, _ in table.questions) or "which groups"
    return f"{names}, {table.grouping} ({block.name})"


def _ratios(plan: Plan) -> list[str]:
    if any(len(question.numbers) > 1 for question in plan.questions):
        return [
            "A mean or variance is computed from its numbers; its interval comes with the answer, and a group of few"
            " rows is answered with nothing."
        ]
    return []


def _remains(plan: Plan) -> list[str]:
    if plan.dataset is None or plan.dataset.ledger is None:
        return ["Budget: none; nothing can be released until the dataset has one."]
    now = plan.dataset.ledger.remaining
    left = (
        show(now)
        if isinstance(now, Fraction)
        else "; ".join(f"{rule}: {show(used)} of {show(limit)} used" for rule, (used, limit) in now.items())
    )
    return [f"Cost: {plan.privacy}. Before the release there remains: {left}."]


def _number(value: float) -> str:
    return f"{value:.4g}" if math.isfinite(value) else "none"

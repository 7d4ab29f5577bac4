"""The page of a plan before anything is spent, and that of a release with its answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from noisewright.app.answer_table import LEFT_OUT, POST, counted_of, leaves_out, number, own_keys, rows_of, shown_key
from noisewright.app.reports.blocks import (
    NONE,
    Page,
    Section,
    facts,
    figure,
    paragraphs,
    points,
    short,
    subheading,
    table,
)
from noisewright.app.reports.charts import bars, intervals
from noisewright.app.reports.designs import verification
from noisewright.app.reports.ledgers import remaining_of
from noisewright.app.reports.sections import amount_card, guarantee, of_requirement
from noisewright.explain.odds import together
from noisewright.problem.numbers import above
from noisewright.problem.utilities import SquaredError

if TYPE_CHECKING:
    from noisewright.release.plan.plan import Plan

MOST_DRAWN = 40
"""How many groups of a question are drawn."""
_MOST_COMPARED = 4


def plan_page(plan: Plan, name: str) -> Page:
    """The page of a plan that will be in a file of this name."""
    saved = plan.to_dict()
    return Page(
        "Plan of a release",
        f"Private answers from {plan.about['name']}",
        "What would be asked, what it would cost and how good the answers would be. Nothing is spent yet.",
        _cards(plan),
        [
            _asked(plan),
            _guarantee(plan),
            *_expected(plan),
            _proofs(plan),
            _cost(plan),
            verification(saved, name, "the plan"),
        ],
        saved,
    )


def release_page(plan: Plan, columns: Mapping[str, Sequence[Any]], told: str, name: str) -> Page:
    """The page of a release: its answers first, then everything that a plan's page says."""
    saved = plan.to_dict()
    questions = dict.fromkeys(columns["question"])
    return Page(
        "Report of a release",
        f"Private answers from {plan.about['name']}",
        told,
        _cards(plan),
        [
            *(_answers(str(question), columns) for question in questions),
            *([] if questions else [Section("Answers", [paragraphs("No group had enough persons to be published.")])]),
            _guarantee(plan),
            _asked(plan),
            *_expected(plan),
            _proofs(plan),
            Section("What it cost", [paragraphs(told)]),
            verification(saved, name, "the plan of the release"),
        ],
        saved,
    )


def _cards(plan: Plan) -> list[tuple[str, str]]:
    count = sum(table.grouping.count * len(table.questions) for table in plan.layout.tables)
    answers = "as many groups as are published," if plan.layout.private else f"{count:,}"
    questions = "1 question" if len(plan.questions) == 1 else f"{len(plan.questions)} questions"
    return [
        amount_card(plan.privacy, "all answers together"),
        ("Answers", f"{answers} to {questions}"),
        ("Protected", f"every {plan.about['unit']}, with all rows"),
    ]


def _asked(plan: Plan) -> Section:
    limits, about = plan.limits, plan.about
    most = (
        "one row; the owner declared it, and it is not checked"
        if limits.one_row_per_person
        else f"{limits.rows_per_group} rows in a group and {limits.groups_per_person} groups of a table"
    )
    version = [] if about["version"] is None else [("Version", str(about["version"]))]
    return Section(
        "What is asked",
        [
            points([str(question) for question in plan.questions]),
            facts(
                [
                    ("Table", str(about["name"])),
                    *version,
                    ("A person is", f"all rows with one value of {about['unit']}"),
                    ("A person counts with", f"at most {most}"),
                ]
            ),
        ],
    )


def _guarantee(plan: Plan) -> Section:
    return guarantee(plan.privacy, of_requirement(plan.privacy), "all the answers", whose="that you are in the table")


def _expected(plan: Plan) -> list[Section]:
    """How far off answers will be, and what plain noise would do."""
    rows, compared = [], []
    found = plan.lines()
    outputs = [line.output for line in found]
    for line in found:
        named = line.output if outputs.count(line.output) == 1 else f"{line.output}: {line.word}"
        rows.append([named, line.groups, short(line.error), f"± {short(line.width)}"])
        rivals = {"plain Laplace noise": line.laplace, "plain Gaussian noise": line.gaussian}
        known = {"designed noise": line.error, **{name: value for name, value in rivals.items() if value is not None}}
        compared.append((named, [(name, value, short(value)) for name, value in known.items()]))
    kind = "root mean squared error" if isinstance(plan.utility, SquaredError) else "mean absolute error"
    header = ["number", "groups", kind, "95 of 100 are within"]
    pictures = [
        subheading(named) + figure(bars(f"{named}: {kind}", items, kind), f"{kind[:1].upper()}{kind[1:]} of one group.")
        for named, items in compared[:_MOST_COMPARED]
    ]
    left_out = (
        "Not in these errors: clamping bias (values beyond their bounds) and truncation bias (rows beyond the limits)."
    )
    return [
        Section(
            "How far off answers are",
            [
                table("Each number of a group, as far as the noise goes", header, rows),
                paragraphs(left_out, " ".join(plan.remarks)),
                "" if plan.aims is None else points(plan.aims.lines(plan.blocks, plan.layout)),
            ],
        ),
        Section(
            "Compared with the usual noise",
            [
                paragraphs(
                    "The same guarantee for the same table, with the budget split equally between all numbers that one"
                    " person changes:"
                ),
                *pictures,
            ],
        ),
    ]


def _proofs(plan: Plan) -> Section:
    parts = []
    for block in plan.blocks:
        certificate = block.certified.certificate
        table_of = None if block.table is None else plan.layout.tables[block.table]
        names = [] if table_of is None else [question.label for question, _ in table_of.questions]
        what = "all numbers" if table_of is None else f"{', '.join(names) or 'which groups'}, {table_of.grouping}"
        parts += [
            subheading(what),
            facts(
                [
                    ("Mechanism", block.name),
                    ("Why", block.why),
                    ("Proven", str(certificate.requirement)),
                    ("Bound", f"at most {above(certificate.bound)}, by exact arithmetic"),
                    ("Rule", certificate.rule),
                ]
            ),
        ]
    told = (
        "Each is proven for the set of all differences that one person can make to its numbers, and all of them"
        " together for the guarantee above. That set follows from the limits and the bounds of values alone: it is"
        " kept by the last stage, which clamps whole numbers, limits a person’s rows and adds whole numbers up."
    )
    return Section("The mechanisms and their proofs", [paragraphs(told), *parts])


def _cost(plan: Plan) -> Section:
    again = together(plan.privacy, of_requirement(plan.privacy))
    ledger = None if plan.dataset is None else plan.dataset.ledger
    known = (
        [paragraphs("No budget is known here: the dataset of this plan keeps none, or the plan came from a file.")]
        if ledger is None
        else remaining_of(ledger)
    )
    return Section(
        "What it costs, and what remains",
        [
            paragraphs(
                f"The release would cost {plan.privacy}, once: asked again, the stored answers come back at no cost.",
                f"Different releases add up: {again}.",
            ),
            *known,
        ],
    )


def _answers(question: str, columns: Mapping[str, Sequence[Any]]) -> Section:
    rows, counted = rows_of(columns, question), counted_of(columns, question)
    left_out = f" {LEFT_OUT}" if leaves_out(counted) else ""
    keys = own_keys(columns, rows)
    afterwards = POST[0] in columns
    ends = ("value", "half_width", "low", "high", *(POST if afterwards else ()))
    body = [
        [*(shown_key(columns[key][i]) for key in keys), *(_cell(columns[end][i], end) for end in ends)] for i in rows
    ]
    known = [i for i in rows if columns["value"][i] is not None][:MOST_DRAWN]
    drawn = [
        (", ".join(shown_key(columns[key][i]) for key in keys), *(columns[end][i] for end in ("low", "value", "high")))
        for i in known
    ]
    more = f" The first {MOST_DRAWN} groups." if len(rows) > MOST_DRAWN else ""
    picture = intervals(shown_key(question), drawn, shown_key(question)) if len(drawn) > 1 else NONE
    named = ["value", "95 % half-width", "from", "to"]
    header = [*map(shown_key, keys), *named, *(["afterwards", *named[1:]] if afterwards else [])]
    return Section(
        shown_key(question),
        [
            figure(
                picture,
                f"Private answers with 95 % intervals for the noise, of {shown_key(question)}, over {counted}."
                f"{left_out}{more}",
            ),
            table(f"{shown_key(question)}, over {counted}, with its 95 % interval", header, body, words=len(keys)),
        ],
    )


def _cell(value: Any, end: str) -> str:
    return "" if value is None and end not in ("value", POST[0]) else number(value)

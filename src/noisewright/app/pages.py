"""The report of a release: one page of HTML that needs nothing from elsewhere, with a picture for each question."""

from __future__ import annotations

from base64 import b64encode
from html import escape
from typing import TYPE_CHECKING

from noisewright.app.output import page
from noisewright.app.pictures import MOST_DRAWN, known_of, svg_of
from noisewright.app.tidy import POST, Columns, number, own_keys, rows_of, shown_key

if TYPE_CHECKING:
    from noisewright.release.plan import Plan


def release_page(plan: Plan, planned: str, columns: Columns, told: str) -> str:
    """The answers of a release with their intervals, what was promised and spent, and the plan.

    `planned` is the plan as a fragment of HTML, from before the release: it says what remained then.
    """
    questions = dict.fromkeys(columns["question"])
    parts = [
        f"<h1>Private answers from {escape(str(plan.about['name']))}</h1>",
        f"<p>Whatever one person's data are, {escape(plan.privacy.promise())}. A person is all rows with one value of"
        f" {escape(str(plan.about['unit']))}.</p>",
        f"<p>{escape(told)}</p>",
        *(_question(str(question), columns) for question in questions),
        "" if questions else "<p>No group had enough persons to be published.</p>",
        "<h2>The plan, before the release</h2>",
        planned,
    ]
    return page(f"Private answers from {plan.about['name']}", "\n".join(parts))


def _question(question: str, columns: Columns) -> str:
    rows = rows_of(columns, question)
    keys = own_keys(columns, rows)
    ends = ["value", "95 % half-width", "from", "to"]
    after = ["afterwards", *ends[1:]] if POST[0] in columns else []
    head = "".join(f"<th>{escape(name)}</th>" for name in [*keys, *ends, *after])
    body = "".join(f"<tr>{_cells(columns, keys, i)}</tr>" for i in rows)
    picture = _picture(question, columns, rows)
    return f"<h2>{escape(question)}</h2>\n{picture}<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cells(columns: Columns, keys: list[str], row: int) -> str:
    names = ("value", "half_width", "low", "high", *(POST if POST[0] in columns else ()))
    numbers = [columns[name][row] for name in names]
    shown = [number(value) if value is not None or place % 4 == 0 else "" for place, value in enumerate(numbers)]
    return "".join(f"<td>{escape(cell)}</td>" for cell in [*(shown_key(columns[key][row]) for key in keys), *shown])


def _picture(question: str, columns: Columns, rows: list[int]) -> str:
    """Nothing where there is one answer, or none that says anything."""
    known = known_of(columns, rows)
    if len(known) < 2:
        return ""
    told = escape(f"{question}: each group's private answer with its 95 % interval")
    more = f"<p>The picture shows the first {MOST_DRAWN} groups.</p>\n" if len(known) > MOST_DRAWN else ""
    data = b64encode(svg_of(question, columns, known)).decode("ascii")
    return f'<img style="max-width: 100%" alt="{told}" src="data:image/svg+xml;base64,{data}">\n{more}'

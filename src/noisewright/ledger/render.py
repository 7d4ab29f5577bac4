"""A ledger in words, tables and a picture: what the remainder buys. Labels were written by people: never believed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from noisewright.ledger.rules import NOTIONS
from noisewright.ledger.state import Account, Budget, State
from noisewright.problem.errors import InvalidInputError
from noisewright.problem.numbers import show, whole_number
from noisewright.search.report.render import html_rows, text_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure


_NORMAL_95 = 1.959963984540054
_SHOWN_ROWS = 20
_SHOWN_LABEL = 40


class Told(Protocol):
    """A ledger, or a sub-budget of it, as far as it is told here."""

    @property
    def url(self) -> str:
        """Where it is, without any password."""

    @property
    def name(self) -> str:
        """The name of the sub-budget; "" for the whole ledger."""

    def now(self) -> Account:
        """The account as it is now."""

    def rows(self) -> Iterator[dict[str, Any]]:
        """Every row as plain data, in order."""

    def buys(self) -> str:
        """What the remainder buys, in words."""


def in_words(accounts: Sequence[Account], counts: int) -> str:
    """About how far off each of so many more counts would be, with the best noise that some rule allows.

    An estimate in floats, for people: discrete Laplace noise under the rules that add epsilons, Gaussian noise under
    those that add squares. The account with the least left decides.
    """
    number = whole_number(counts, "counts")
    if number < 1:
        raise InvalidInputError(f"counts is {number}; give a whole number, at least 1.", counts=number)
    if any(account.state.closed for account in accounts):
        return "nothing more: the budget is closed"
    if accounts[0].budget.rules[0].name == "metric":
        left = min(account.remaining() for account in accounts)
        each = show(left / number)
        return f"{show(left)} of the budget's distances are left: about {number} more releases of {each} each"
    width = max(_half_width(account, number) for account in accounts)
    if math.isinf(width):
        return "nothing more: no rule leaves anything"
    return f"about {number} more counts with a 95 % half-width of {_rounded(width)}"


def _rounded(width: float) -> str:
    return f"{math.ceil(width)}" if width < 1e15 else f"{width:.3g}"


def _half_width(account: Account, counts: int) -> float:
    """The smallest half-width over the rules that still hold."""
    found = [math.inf]
    for rule in account.budget.rules:
        sums = account.state.totals[rule.name]
        if sums is None or not rule.holds(sums):
            continue
        each = float((rule.limits[rule.main] - sums[rule.main]) / counts)
        if each <= 0:
            continue
        if rule.main == "epsilon":
            found.append(_laplace(each))
        elif rule.main == "divergence":
            found.append(_NORMAL_95 * math.sqrt(float(account.budget.requirement.alpha) / (2 * each)))
        else:
            found.append(_NORMAL_95 / math.sqrt(each if rule.main == "mu_squared" else 2 * each))
    return min(found)


def _laplace(epsilon: float) -> float:
    """The smallest w with P(|noise| > w) = 2 e^(-epsilon (w + 1)) / (1 + e^-epsilon) at most 5 %."""
    return max(0.0, math.log(40 / (1 + math.exp(-epsilon))) / epsilon - 1)


def cleaned(text: str, longest: int = _SHOWN_LABEL) -> str:
    """A label on one line, without anything that could steer a terminal."""
    line = "".join(character if character.isprintable() else "?" for character in " ".join(text.split()))
    return line if len(line) <= longest else line[: longest - 1] + "…"


def summary(ledger: Told) -> list[str]:
    """What it keeps, under which rules, and what is left, in sentences."""
    account = ledger.now()
    lines = [
        f"Ledger {cleaned(ledger.url, 200)}" + (f", sub-budget {cleaned(account.name)!r}" if account.name else ""),
        f"Budget: {account.budget.requirement}" + (" (closed)" if account.state.closed else ""),
        f"Neighbours: {account.state.neighbours or 'as the first certificate that names them says'}",
    ]
    used, deltas = account.used(), account.deltas()
    for rule in account.budget.rules:
        if rule.name not in used:
            lines.append(f"Rule {rule.name}: off, since a charge brought nothing that it can add")
            continue
        sums = f"{rule.main.replace('_', ' ')} {show(used[rule.name][0])} of {show(used[rule.name][1])}"
        more = f", delta {show(deltas[rule.name][0])} of {show(deltas[rule.name][1])}" if rule.name in deltas else ""
        held = "" if rule.holds(account.state.totals[rule.name]) else " (passed)"
        lines.append(f"Rule {rule.name}: {sums}{more}{held}; {NOTIONS[rule.name].means}")
    if len(account.budget.rules) > 1:
        lines.append("A charge is granted while at least one rule holds with it.")
    lines.append(f"Left: {ledger.buys()}.")
    return lines


HEADER = ("row", "time", "what", "account", "for", "brings")


def listed(rows: Sequence[dict[str, Any]]) -> list[tuple[str, ...]]:
    """Rows as cells of a table, answers beside their charges left out."""
    shown = [row for row in rows if row["event"] not in ("answer", "failure", "drawing", "resumed")]
    return [
        (
            str(row["place"]),
            row["time"][:19].replace("T", " "),
            row["event"],
            cleaned(row["account"]),
            cleaned(row.get("label", "")),
            _brought(row),
        )
        for row in shown
    ]


def _brought(row: dict[str, Any]) -> str:
    brought = row.get("brings", {}).get(row["account"], {})
    parts = []
    for name, amounts in brought.items():
        if amounts is not None:
            main = next(key for key in sorted(amounts, key=lambda key: key == "delta"))
            parts.append(f"{name} {show(Fraction(amounts[main]))}")
    return ", ".join(sorted(parts))


def table(ledger: Told) -> str:
    """The summary and the latest rows, as text."""
    rows = listed(list(ledger.rows()))
    lines = [*summary(ledger), "", text_table(list(HEADER), [list(row) for row in rows[-_SHOWN_ROWS:]])]
    if len(rows) > _SHOWN_ROWS:
        lines.append(f"({len(rows) - _SHOWN_ROWS} earlier rows are not shown)")
    return "\n".join(lines)


def html_table(ledger: Told) -> str:
    """The same for notebooks; everything that people wrote is escaped."""
    rows = listed(list(ledger.rows()))[-_SHOWN_ROWS:]
    told = "".join(f"<p>{escape(line)}</p>" for line in summary(ledger))
    return f"{told}<table>{html_rows(HEADER, rows)}</table>"


# The burn-down: what is left of each rule's limit after each charge.


_MOST_POINTS = 2000


def burned(ledger: Told) -> dict[str, list[tuple[int, float]]]:
    """By rule, (charges so far, share of the limit that is left), from 1 down to 0 or below where a rule is passed."""
    budget: Budget | None = None
    lines: dict[str, list[tuple[int, float]]] = {}
    charges = 0
    for row in ledger.rows():
        if ledger.name not in row["accounts"]:
            continue
        if "budget" in row and row["account"] == ledger.name:
            budget = Budget.from_dict(row["place"], row["budget"])
        if budget is None or row["event"] not in ("create", "sub", "charge", "raise"):
            continue
        charges += row["event"] == "charge"
        state = State.from_dict(row["accounts"][ledger.name])
        for rule in budget.rules:
            sums = state.totals[rule.name]
            if sums is not None:
                shares = [float(sums[name] / limit) for name, limit in rule.limits.items() if limit]
                lines.setdefault(rule.name, []).append((charges, 1 - max(shares, default=0.0)))
    return lines


def plot_ledger(ledger: Told, path: str | Path | None) -> Figure:
    """Draw it, and save it if a path is given."""
    from noisewright.drawing.style import WIDTH, new_figure, save  # matplotlib takes its time

    figure = new_figure(WIDTH, 4.4)
    axes = figure.subplots()
    for name, points in burned(ledger).items():
        # The last points say where it stands; of a long history every so many are drawn.
        step = -(-len(points) // _MOST_POINTS)
        shown = [*points[:-1:step], points[-1]]
        axes.step(*zip(*shown, strict=True), where="post", label=name)
    axes.axhline(0, color="black", linewidth=0.8)
    axes.set(xlabel="charges so far", ylabel="share of the limit that is left", title="Burn-down of each rule's limit")
    low = min(0.0, axes.get_ylim()[0])
    axes.set_ylim(max(low, -0.5), 1.05)
    save(figure, path)
    return figure

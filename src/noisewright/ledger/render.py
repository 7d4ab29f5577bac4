"""A ledger in words, tables and a picture: what remains. Labels were written by people: never believed."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from noisewright.drawing.tables import html_below, text_table
from noisewright.ledger.rules import NOTIONS, Amounts, Rule
from noisewright.ledger.state import Account, Budget, State
from noisewright.problem.errors import InvalidInputError
from noisewright.problem.numbers import show, whole_number

if TYPE_CHECKING:
    from matplotlib.figure import Figure


_NORMAL_95 = 1.959963984540054
_SHOWN_ROWS = 20
_SHOWN_LABEL = 40
_KEY = re.compile(r"^(plan [0-9a-f]{8})[0-9a-f]+")
"""The key of a plan at the start of a label; its first digits are enough where a reason stands behind it."""


_AMOUNTS = {
    "epsilon": "{} of {} epsilon",
    "rho": "{} of {} rho",
    "divergence": "{} of {} divergence",
    "mu_squared": "{} of {} mu squared",
    "share": "{} of the budget's distances",
}
"""How what remains of a rule's first sum and its limit are said."""


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
        """What remains, in a sentence."""


def in_words(accounts: Sequence[Account], counts: int) -> str:
    """What remains, in a sentence, and for example about how far off each of so many more counts would be.

    `accounts` are the whole ledger and, if it is about one, the sub-budget. The example is an estimate in floats, for
    people: discrete Laplace noise under the rules that add epsilons, Gaussian noise under those that add squares, the
    best that some rule allows. The account in which the least remains decides.
    """
    number = whole_number(counts, "counts")
    if number < 1:
        raise InvalidInputError(f"counts is {number}; give a whole number, at least 1.", counts=number)
    if any(account.state.closed for account in accounts):
        return "The budget is closed."
    amounts = [_amounts(account) for account in accounts]
    if not all(amounts):
        return "The budget is spent."
    if accounts[0].budget.rules[0].name == "metric":
        each = show(min(account.remaining() for account in accounts) / number)
        example = f"{number} more release{'' if number == 1 else 's'} of {each} each"
    else:
        width = _rounded(max(_half_width(account, number) for account in accounts))
        example = f"{number} more count{'' if number == 1 else 's'} within ±{width}"
    return f"Remaining: {', and in the whole ledger '.join(reversed(amounts))} (for example {example})."


def _amounts(account: Account) -> str:
    """What remains of each rule under which something does, each enough by itself; empty if nothing does."""
    several = len(account.budget.rules) > 1
    return " or ".join(
        _AMOUNTS[rule.main].format(show(rule.limits[rule.main] - sums[rule.main]), show(rule.limits[rule.main]))
        + (f" (rule {rule.name})" if several else "")
        for rule, sums in _open(account)
    )


def _open(account: Account) -> Iterator[tuple[Rule, Amounts]]:
    """The rules that hold and under which something remains, with their sums."""
    for rule in account.budget.rules:
        sums = account.state.totals[rule.name]
        if sums is not None and rule.holds(sums) and float(rule.limits[rule.main] - sums[rule.main]) > 0:
            yield rule, sums


def _rounded(width: float) -> str:
    return f"{math.ceil(width)}" if width < 1e15 else f"{width:.3g}"


def _half_width(account: Account, counts: int) -> float:
    """The smallest half-width over the rules under which something remains."""
    found = [math.inf]
    for rule, sums in _open(account):
        each = float(rule.limits[rule.main] - sums[rule.main]) / counts
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
    """What it keeps, under which rules, and what remains, in sentences."""
    account = ledger.now()
    lines = [
        f"Ledger {cleaned(ledger.url, 200)}" + (f", sub-budget {cleaned(account.name)!r}" if account.name else ""),
        f"Budget: {account.budget.requirement}" + (" (closed)" if account.state.closed else ""),
        f"Adjacency: {account.state.neighbours or 'as the first certificate that names one says'}",
    ]
    used, deltas = account.used(), account.deltas()
    for rule in account.budget.rules:
        if rule.name not in used:
            lines.append(f"Rule {rule.name}: off, since a charge had no cost that it can add")
            continue
        sums = f"{rule.main.replace('_', ' ')} {show(used[rule.name][0])} of {show(used[rule.name][1])}"
        more = f", delta {show(deltas[rule.name][0])} of {show(deltas[rule.name][1])}" if rule.name in deltas else ""
        held = "" if rule.holds(account.state.totals[rule.name]) else " (passed)"
        lines.append(f"Rule {rule.name}: {sums}{more}{held}; {NOTIONS[rule.name].means}")
    if len(account.budget.rules) > 1:
        lines.append("A charge is granted while at least one rule holds with it.")
    lines.append(ledger.buys())
    return lines


HEADER = ("row", "time", "what", "account", "for", "cost")


def listed(rows: Sequence[dict[str, Any]], longest: int = _SHOWN_LABEL) -> list[tuple[str, ...]]:
    """Rows as cells of a table, answers beside their charges left out; what a charge is for in so many letters."""
    shown = [row for row in rows if row["event"] not in ("answer", "failure", "drawing", "resumed")]
    return [
        (
            str(row["place"]),
            row["time"][:19].replace("T", " "),
            row["event"],
            cleaned(row["account"]),
            cleaned(_KEY.sub(r"\1…", row.get("label", "")), longest),
            _cost(row),
        )
        for row in shown
    ]


def _cost(row: dict[str, Any]) -> str:
    cost = row.get("brings", {}).get(row["account"], {})
    parts = []
    for name, amounts in cost.items():
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
    return html_below(summary(ledger), HEADER, rows)


# The burn-down: what remains of each rule's limit after each charge.


_MOST_POINTS = 2000


def burned(ledger: Told) -> dict[str, list[tuple[int, float]]]:
    """By rule, (charges so far, remaining share of the limit), from 1 down to 0 or below where a rule is passed."""
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
    axes.set(xlabel="charges so far", ylabel="remaining share of the limit", title="Burn-down of each rule's limit")
    low = min(0.0, axes.get_ylim()[0])
    axes.set_ylim(max(low, -0.5), 1.05)
    save(figure, path)
    return figure

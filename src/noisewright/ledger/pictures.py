"""The burn-down: what is left of each rule's limit after each charge."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from noisewright.drawing.style import WIDTH, new_figure, save
from noisewright.ledger.state import Budget, State

if TYPE_CHECKING:
    from noisewright.ledger.ledger import Ledger

_MOST_POINTS = 2000


def burned(ledger: Ledger) -> dict[str, list[tuple[int, float]]]:
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


def plot_ledger(ledger: Ledger, path: str | Path | None) -> Any:
    """Draw it, and save it if a path is given."""
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

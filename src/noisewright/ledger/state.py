"""What rows say about accounts: the whole ledger has the name "", each sub-budget its own.

Every row holds the state of the accounts it touches, so that one more charge reads the last row and no history.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from noisewright.ledger.rules import Amounts, Rule, added
from noisewright.problem.fields import exact_text
from noisewright.problem.privacy import REQUIREMENTS

Totals = Mapping[str, Amounts | None]


@dataclass(frozen=True, slots=True)
class Budget:
    """A budget and its rules, as the row that set them holds them."""

    place: int
    requirement: Any
    rules: tuple[Rule, ...]
    neighbours: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain data, limits as exact text."""
        return {
            "requirement": self.requirement.to_dict(),
            "rules": [{"name": rule.name, "limits": written(rule.limits)} for rule in self.rules],
            "neighbours": self.neighbours,
        }

    @classmethod
    def from_dict(cls, place: int, data: Mapping[str, Any]) -> Budget:
        """Inverse of `to_dict`, for the row at a place."""
        rules = tuple(Rule(rule["name"], _ordered(rule["limits"])) for rule in data["rules"])
        return cls(place, REQUIREMENTS.from_dict(data["requirement"]), rules, data["neighbours"])

    def nothing_spent(self) -> State:
        """The state in which an account begins."""
        totals = {rule.name: dict.fromkeys(rule.limits, Fraction(0)) for rule in self.rules}
        return State(self.place, totals, False, self.neighbours)

    def holding(self, totals: Totals) -> list[str]:
        """The rules that hold with these sums."""
        return [rule.name for rule in self.rules if rule.holds(totals[rule.name])]


@dataclass(frozen=True, slots=True)
class State:
    """Where an account stands: the row of its budget, its sums, whether it is closed, whom its releases compare."""

    budget_at: int
    totals: Totals
    closed: bool
    neighbours: str | None

    def to_dict(self) -> dict[str, Any]:
        """Plain data, sums as exact text."""
        return {
            "budget_at": self.budget_at,
            "totals": {name: written(sums) for name, sums in self.totals.items()},
            "closed": self.closed,
            "neighbours": self.neighbours,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> State:
        """Inverse of `to_dict`."""
        totals = {name: read(sums) for name, sums in data["totals"].items()}
        return cls(data["budget_at"], totals, data["closed"], data["neighbours"])

    def fits(self, budget: Budget) -> bool:
        """Whether there is a sum for each limit of each rule of the budget, or none for a rule that is off."""
        limits = {rule.name: set(rule.limits) for rule in budget.rules}
        return set(self.totals) == set(limits) and all(
            sums is None or set(sums) == limits[name] for name, sums in self.totals.items()
        )

    def charged(self, brought: Totals, neighbours: str | None) -> State:
        """The state with one more charge."""
        totals = {name: added(sums, brought[name]) for name, sums in self.totals.items()}
        return replace(self, totals=totals, neighbours=self.neighbours or neighbours)


def written(amounts: Amounts | None) -> dict[str, str] | None:
    """Amounts as exact text."""
    return None if amounts is None else {name: str(value) for name, value in amounts.items()}


def read(plain: Mapping[str, str] | None) -> Amounts | None:
    """Amounts from exact text."""
    return None if plain is None else {name: exact_text(text) for name, text in plain.items()}


def _ordered(plain: Mapping[str, str]) -> Amounts:
    """Limits from exact text, what people look at first: rows are written in the order of the alphabet."""
    names = sorted(plain, key=lambda name: name == "delta")
    return {name: exact_text(plain[name]) for name in names}

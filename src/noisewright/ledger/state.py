"""What rows say about accounts: totals, budgets, remainders, the largest release that fits, the error of a refusal.

The whole ledger has the name "", each sub-budget its own. Every row holds the state of the accounts it touches, so that
one more charge reads the last row and no history.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from noisewright.ledger.rules import Amounts, Rule, added
from noisewright.numerics.bisection import first_true
from noisewright.numerics.distances import root_below
from noisewright.problem.errors import BudgetExceeded
from noisewright.problem.fields import exact_text
from noisewright.problem.numbers import show
from noisewright.problem.privacy import LARGEST_EPSILON, REQUIREMENTS, SMALLEST_EPSILON, ApproxDP
from noisewright.proof.costs import squared_of_pure
from noisewright.proof.renyi import pure_to_renyi

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

    def charged(self, cost: Totals, neighbours: str | None) -> State:
        """The state with one more charge."""
        totals = {name: added(sums, cost[name]) for name, sums in self.totals.items()}
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


# An account at one moment.


_CLOSE = Fraction(1, 10**6)
_GRID = 10**9
_SHORT_BITS = 72


@dataclass(frozen=True, slots=True)
class Account:
    """An account at one moment: its name ("" for the whole ledger), budget and state."""

    name: str
    budget: Budget
    state: State

    def used(self) -> dict[str, tuple[Fraction, Fraction]]:
        """By rule, the sum that people look at and its limit; rules that are off for good are left out."""
        found = {}
        for rule in self.budget.rules:
            sums = self.state.totals[rule.name]
            if sums is not None:
                found[rule.name] = (sums[rule.main], rule.limits[rule.main])
        return found

    def deltas(self) -> dict[str, tuple[Fraction, Fraction]]:
        """By rule, the sum of the deltas of releases and its limit, for rules that have one."""
        found = {}
        for rule in self.budget.rules:
            sums = self.state.totals[rule.name]
            if sums is not None and "delta" in sums:
                found[rule.name] = (sums["delta"], rule.limits["delta"])
        return found

    def spent(self) -> Any:
        """The one sum of the budget, or the sums by rule for `ApproxDP`."""
        return self.used() if self._several() else next(iter(self.used().values()))[0]

    def remaining(self) -> Any:
        """What remains of the one limit; for `ApproxDP` the sums by rule with their limits."""
        if self._several():
            return self.used()
        used, limit = next(iter(self.used().values()))
        return limit - used

    def largest_epsilon(self) -> Fraction:
        """The largest epsilon of a purely private release that would be granted, from below; 0 if none would be.

        For a metric budget: the largest share of its distances.
        """
        if self.state.closed:
            return Fraction(0)
        found = [self._fits(rule) for rule in self.budget.rules if rule.holds(self.state.totals[rule.name])]
        best = max(found, default=Fraction(0))
        return best if best >= SMALLEST_EPSILON or self.budget.rules[0].name == "metric" else Fraction(0)

    def _several(self) -> bool:
        return isinstance(self.budget.requirement, ApproxDP)

    def _fits(self, rule: Rule) -> Fraction:
        sums = self.state.totals[rule.name]
        left = Fraction(0) if sums is None else rule.limits[rule.main] - sums[rule.main]
        if rule.name in ("pure", "basic", "metric"):
            return _short_below(left)
        if rule.name in ("zero-concentrated", "concentrated"):
            return _short_below(root_below(2 * left))
        if rule.name == "gaussian":
            return _largest(lambda epsilon: squared_of_pure(epsilon) <= left)
        order = self.budget.requirement.alpha
        return _largest(lambda epsilon: pure_to_renyi(epsilon, order) <= left)


def _short_below(value: Fraction) -> Fraction:
    """The value, or one a hair below it with so few digits that its square is added exactly."""
    if value.denominator.bit_length() <= _SHORT_BITS:
        return value
    return Fraction(value.numerator * (1 << _SHORT_BITS) // value.denominator, 1 << _SHORT_BITS)


def _largest(fits: Callable[[Fraction], bool]) -> Fraction:
    """The largest epsilon that was checked to fit; 0 if the smallest allowed one does not."""
    if fits(LARGEST_EPSILON):
        return LARGEST_EPSILON
    if not fits(SMALLEST_EPSILON):
        return Fraction(0)

    def middle(a: Fraction, b: Fraction) -> Fraction:
        return Fraction((a + b) * _GRID // 2, _GRID)

    return first_true(fits, LARGEST_EPSILON, SMALLEST_EPSILON, relative=_CLOSE, middle=middle)


def exceeded(account: Account, cost: Mapping[str, Any], largest: Fraction) -> BudgetExceeded:
    """The refusal of a charge: what was requested, what remains, and the largest epsilon that would fit."""
    whose = f"the budget of {account.name!r}" if account.name else "the budget"
    asked = {name: amounts for name, amounts in cost.items() if amounts is not None}
    used = account.used()
    parts = [
        f"{rule.name}: {rule.main.replace('_', ' ')} {show(asked[rule.name][rule.main])} requested,"
        f" {show(max(Fraction(0), used[rule.name][1] - used[rule.name][0]))} of {show(used[rule.name][1])} remaining"
        f"{_short_of_delta(account, rule.name, asked[rule.name])}"
        for rule in account.budget.rules
        if rule.name in asked and rule.name in used
    ]
    unit = "share" if account.budget.rules[0].name == "metric" else "epsilon"
    fitting = (
        f"A release with {unit} up to {_below(largest)} would fit."
        if largest
        else "No release, however small, would fit."
    )
    single = len(account.budget.rules) == 1
    name, main = account.budget.rules[0].name, account.budget.rules[0].main
    return BudgetExceeded(
        f"the charge would pass {whose} ({'; '.join(parts)}); nothing was spent. {fitting}",
        requested=asked[name][main] if single else {n: dict(amounts) for n, amounts in asked.items()},
        remaining=account.remaining(),
        largest_epsilon=largest,
        account=account.name,
    )


def _short_of_delta(account: Account, name: str, asked: Mapping[str, Fraction]) -> str:
    """That a rule has too little delta left for a charge, if it has."""
    used, limit = account.deltas().get(name, (Fraction(0), Fraction(0)))
    if asked.get("delta", Fraction(0)) <= limit - used:
        return ""
    return f", delta {show(asked['delta'])} requested, {show(limit - used)} left"


def _below(value: Fraction) -> str:
    """A decimal of six digits that is not above the value."""
    digits = Fraction(f"{float(value):.5e}")
    shown = digits if digits <= value else digits * (1 - Fraction(1, 10**5))
    return f"{float(shown):.6g}"

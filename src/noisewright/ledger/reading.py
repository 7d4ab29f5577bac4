"""What a ledger says of itself: sums, remainders, the largest release that fits, the error of a refusal."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from noisewright.ledger.rules import Rule
from noisewright.ledger.state import Budget, State
from noisewright.numerics.bisection import first_true
from noisewright.numerics.distances import root_below
from noisewright.problem.errors import BudgetExceeded
from noisewright.problem.numbers import show
from noisewright.problem.privacy import LARGEST_EPSILON, SMALLEST_EPSILON, ApproxDP
from noisewright.proof.costs import squared_of_pure
from noisewright.proof.renyi import pure_to_renyi

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
        """By rule, the sum of the deltas that releases brought and its limit, for rules that have one."""
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
        """What is left of the one limit; for `ApproxDP` the sums by rule with their limits."""
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


def exceeded(account: Account, brought: Mapping[str, Any], largest: Fraction) -> BudgetExceeded:
    """The refusal of a charge: what was requested, what remains, and the largest epsilon that would fit."""
    whose = f"the budget of {account.name!r}" if account.name else "the budget"
    asked = {name: amounts for name, amounts in brought.items() if amounts is not None}
    used = account.used()
    parts = [
        f"{rule.name}: {rule.main.replace('_', ' ')} {show(asked[rule.name][rule.main])} requested,"
        f" {show(max(Fraction(0), used[rule.name][1] - used[rule.name][0]))} of {show(used[rule.name][1])} left"
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

"""What is written: the content of rows, and whether a charge is granted."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

from noisewright.ledger.chain import Row, column, damaged
from noisewright.ledger.charge import Charge
from noisewright.ledger.costed import DECLARED, NEIGHBOURS
from noisewright.ledger.rules import Amounts, cost_of, largest_share, require_sound, rules_for, shortened
from noisewright.ledger.state import Account, Budget, State, written
from noisewright.ledger.stores import VERSION, Reading
from noisewright.problem.errors import (
    InvalidInputError,
    InvalidPrivacyError,
    LedgerClosedError,
    LedgerDamagedError,
    LedgerError,
    UncertifiedError,
)
from noisewright.problem.numbers import Number
from noisewright.problem.privacy import ApproxDP, MetricPrivacy
from noisewright.proof.costs import Costs

_LONGEST_LABEL = 10_000
_LONGEST_NAME = 100
_TOTAL_BITS = 256
_AT_A_TIME = 1000
_DIGEST = re.compile("[0-9a-f]{64}")


class ChargeCost:
    """What one charge costs under every rule: computed once, before the lock, and written as it is."""

    def __init__(self, costs: Costs, neighbours: str) -> None:
        self._costs, self.neighbours = costs, neighbours
        self._known: dict[tuple[str, Any], Amounts | None] = {}

    def to(self, budget: Budget) -> dict[str, Amounts | None]:
        """By rule of a budget, the cost; None where there is nothing that it can add."""
        wanted = budget.requirement
        found = {}
        for rule in budget.rules:
            if (rule.name, wanted) not in self._known:
                self._known[rule.name, wanted] = cost_of(rule, wanted, self._costs)
            found[rule.name] = self._known[rule.name, wanted]
        return found

    def require(self, account: Account) -> None:
        """Refuse what no rule can ever add, a closed account, and neighbours of another kind."""
        if account.state.closed:
            raise LedgerClosedError(f"{_whose(account)} is closed; nothing was charged.")
        relation, wanted = self.neighbours, account.state.neighbours
        on_a_metric = isinstance(account.budget.requirement, MetricPrivacy)
        if on_a_metric != (relation == "metric"):
            kept = "metric privacy" if on_a_metric else "neighbouring datasets, not a metric"
            raise InvalidInputError(
                f"{_whose(account)} is about {kept}, and the certificate is not; nothing was charged."
            )
        if wanted is not None and relation not in (wanted, DECLARED):
            raise InvalidInputError(
                f"{_whose(account)} is kept under {wanted} adjacency, and the certificate is under {relation}; a ledger"
                " keeps one kind. Nothing was charged.",
                given=relation,
            )
        if all(amounts is None for amounts in self.to(account.budget).values()):
            names = ", ".join(rule.name for rule in account.budget.rules)
            raise UncertifiedError(
                f"nothing is proven of this mechanism that {_whose(account)} can add ({names}); certify it for"
                f" {type(account.budget.requirement).__name__}. Nothing was charged."
            )


def _whose(account: Account) -> str:
    return f"the sub-budget {account.name!r}" if account.name else "the ledger"


def granted(account: Account, cost: ChargeCost) -> bool:
    """Whether at least one rule of an account would hold with a charge."""
    cost.require(account)
    return bool(account.budget.holding(account.state.charged(cost.to(account.budget), None).totals))


def decide(
    accounts: Sequence[Account], cost: ChargeCost, facts: Mapping[str, Any], time: str
) -> tuple[Account | None, dict[str, Any]]:
    """The account that refuses a charge, or None, and the row to write.

    Guarantees: None only if in every account at least one rule holds with the charge.
    """
    states, rules, given = {}, {}, {}
    refusing: Account | None = None
    for account in accounts:
        cost.require(account)
        amounts = cost.to(account.budget)
        relation = None if cost.neighbours == DECLARED else cost.neighbours
        after = account.state.charged(amounts, relation)
        rules[account.name] = account.budget.holding(after.totals)
        if not rules[account.name] and refusing is None:
            refusing = account
        states[account.name] = after
        given[account.name] = {name: written(value) for name, value in amounts.items()}
    if refusing is not None:
        before = {account.name: account.state for account in accounts}
        return refusing, event("refused", before, {**facts, "brings": given, "by": refusing.name}, time)
    return None, event("charge", states, {**facts, "brings": given, "rules": rules}, time)


def event(kind: str, states: Mapping[str, State], content: Mapping[str, Any], time: str) -> dict[str, Any]:
    """A row's content: what happened, when, and the state of the accounts it touches."""
    accounts = {name: state.to_dict() for name, state in states.items()}
    return {"event": kind, "time": time, "accounts": accounts, **content}


def clock() -> str:
    """The time of the machine's clock, which rows do not rely on."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


def created(budget: Any, neighbours: str | None, rules: Mapping[str, Number] | None, time: str) -> dict[str, Any]:
    """The first row."""
    on_a_metric = isinstance(budget, MetricPrivacy)
    allowed = ("metric",) if on_a_metric else NEIGHBOURS[:2]
    if neighbours is not None and neighbours not in allowed:
        raise InvalidInputError(f"neighbours is {neighbours!r}; give {' or '.join(allowed)}.", neighbours=neighbours)
    made = Budget(0, budget, rules_for(budget, rules), "metric" if on_a_metric else neighbours)
    return event("create", {"": made.nothing_spent()}, {"version": VERSION, "budget": made.to_dict()}, time)


def sub_budget(whole: Account, name: str, budget: Any, place: int, time: str) -> dict[str, Any]:
    """The row that makes a sub-budget, with the rules of the whole."""
    require_divisible(whole, budget)
    made = Budget(place, budget, rules_for(budget, _shares(whole.budget)), whole.state.neighbours)
    states = {"": whole.state, name: made.nothing_spent()}
    return event("sub", states, {"budget": made.to_dict()}, time)


def require_divisible(whole: Account, budget: Any) -> None:
    """Refuse a sub-budget of a closed ledger, and one of another kind."""
    if whole.state.closed:
        raise LedgerClosedError("the ledger is closed; no sub-budget was made.")
    _require_alike(whole.budget.requirement, budget)


def raised(accounts: Sequence[Account], budget: Any, place: int, label: str, time: str) -> dict[str, Any]:
    """The row that raises the budget of the last account; its rules and the way delta is divided stay."""
    mine = accounts[-1]
    require_raisable(mine, budget)
    made = Budget(place, budget, rules_for(budget, _shares(mine.budget)), mine.budget.neighbours)
    states = {account.name: account.state for account in accounts}
    states[mine.name] = raised_state(mine, made)
    return event("raise", states, {"label": label, "budget": made.to_dict()}, time)


def require_raisable(account: Account, budget: Any) -> None:
    """Refuse to raise a closed account, and to anything but more of the same kind."""
    if account.state.closed:
        raise LedgerClosedError(f"{_whose(account)} is closed; it was not raised.")
    old = account.budget.requirement
    _require_alike(old, budget)
    if not _at_least(budget, old):
        raise InvalidInputError(
            f"{budget} is less than {old} somewhere; a budget can be raised or closed, not lowered."
        )


def raised_state(account: Account, made: Budget) -> State:
    """The state under the raised budget: the same sums; shares of a metric in terms of the new one, from above."""
    state = replace(account.state, budget_at=made.place)
    sums = state.totals.get("metric")
    if sums is None:
        return state
    share = largest_share(account.budget.requirement.metric, made.requirement.metric)
    if share is None:
        raise InvalidInputError("the new metric keeps apart what the old one did not; nothing was raised.")
    return replace(state, totals={"metric": {"share": shortened(sums["share"] * share, _TOTAL_BITS)}})


def closed(accounts: Sequence[Account], label: str, time: str) -> dict[str, Any]:
    """The row that closes the last account."""
    states = {account.name: account.state for account in accounts}
    states[accounts[-1].name] = replace(accounts[-1].state, closed=True)
    return event("close", states, {"label": label}, time)


def _require_alike(old: Any, new: Any) -> None:
    """A sub-budget or a raised budget is of the same kind, order and universe."""
    alike = type(old) is type(new) and getattr(old, "alpha", None) == getattr(new, "alpha", None)
    if not alike or (isinstance(old, MetricPrivacy) and old.metric.size != new.metric.size):
        raise InvalidPrivacyError(f"budget is {new!r}; give one of the same kind as the ledger's, {old}.", budget=new)


def _at_least(new: Any, old: Any) -> bool:
    if isinstance(old, MetricPrivacy):
        share = largest_share(old.metric, new.metric)
        return share is not None and share <= 1
    return all(getattr(new, name) >= getattr(old, name) for name in old.CARD.given)


def _shares(budget: Budget) -> dict[str, Fraction] | None:
    """How the delta is divided between the rules."""
    if not isinstance(budget.requirement, ApproxDP):
        return None
    whole = budget.requirement.delta
    return {rule.name: rule.limits["delta"] * (1 if rule.name == "basic" else 2) / whole for rule in budget.rules}


def state_in(data: Mapping[str, Any], name: str) -> State:
    """Where an account stands after a row."""
    try:
        return State.from_dict(data["accounts"][name])
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise damaged(data["place"], f"it does not say how the account stands ({type(error).__name__})") from None


def budget_of(row: Row) -> Budget:
    """The budget that a row set, its limits proven again."""
    place, data = row.place, row.read()
    if "budget" not in data:
        raise damaged(place, "it sets no budget")
    try:
        found = Budget.from_dict(place, data["budget"])
        require_sound(found.requirement, found.rules)
    except LedgerDamagedError:
        raise
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        raise damaged(place, f"it sets no budget that can be read ({type(error).__name__})") from None
    return found


def noted(
    rows: Reading, accounts: Sequence[Account], charge: Charge, content: Mapping[str, Any], time: str
) -> dict[str, Any]:
    """The row that says what became of a charge.

    Refuses what does not follow the row that lets its writer write, and what is beside no charge of the last account.
    Asked of the rows since the charge, under the lock: a copy of the charge in another thread or process may have
    written, or somebody may have resumed it. A ledger that was put in the place of the charge's own has another row
    there.
    """
    made = rows.at(charge.place)
    ours = made.digest == charge.digest and made.account == column(accounts[-1].name)
    facts = made.read()
    if not ours or facts["event"] != "charge":
        raise LedgerError(f"row {charge.place} of this ledger is another charge; no answer was written.")
    last = last_beside(rows, charge.place)
    if last.place != charge.turn:
        raise LedgerError(
            f"charge {charge.place} has its answer or failure already, or was resumed by somebody else; rows are never"
            " changed.",
            taken=charge.place,
        )
    kind, marked, announced = content["event"], "undrawn" in facts, last.read()["event"] == "drawing"
    if {"drawing": not marked or announced, "answer": marked and not announced}.get(kind, False):
        raise LedgerError(f"charge {charge.place}: a row `drawing` comes before its answer, once.")
    states = {account.name: account.state for account in accounts}
    return event(kind, states, {"charge": charge.place, **content}, time)


def last_beside(rows: Reading, place: int) -> Row:
    """The last row that speaks of a charge: that of the charge itself if nothing was written beside it."""
    last, start, mark = rows.at(place), place + 1, f'"charge":{place},'
    while found := rows.rows(start, _AT_A_TIME):
        last = next((row for row in reversed(found) if mark in row.body and row.read().get("charge") == place), last)
        start += len(found)
    return last


def checked_label(reason: Any) -> str:
    """What a charge is for, exactly as it was written."""
    if not isinstance(reason, str) or not reason.strip() or len(reason) > _LONGEST_LABEL:
        raise InvalidInputError(
            "reason is missing, no text or longer than 10,000 characters; say what the charge is for."
        )
    return reason


def checked_digest(undrawn: Any) -> str:
    """What will be drawn, by its digest; anything else might be a row that others cannot read."""
    if not isinstance(undrawn, str) or not _DIGEST.fullmatch(undrawn):
        raise InvalidInputError("undrawn is no digest; give the 64 hexadecimal digits of what will be drawn.")
    return undrawn


def checked_name(name: Any) -> str:
    """The name of a sub-budget."""
    if not isinstance(name, str) or not 1 <= len(name) <= _LONGEST_NAME or not name.isprintable() or not name.strip():
        raise InvalidInputError("the name of a sub-budget has 1 to 100 printable characters.", given=name)
    return name

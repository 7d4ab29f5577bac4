"""The whole chain verified: links, digests, every sum and every grant, done again from the first row."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from noisewright.ledger.chain import NOTHING, Head, Row, damaged
from noisewright.ledger.costed import DECLARED
from noisewright.ledger.deciding import raised_state, require_divisible, require_raisable
from noisewright.ledger.rules import require_sound
from noisewright.ledger.state import Account, Budget, State, read
from noisewright.ledger.stores import VERSION, Store, every_row
from noisewright.problem.errors import LedgerDamagedError, NoisewrightError
from noisewright.problem.fields import exact_text
from noisewright.problem.privacy import REQUIREMENTS, PureDP


@dataclass(frozen=True, slots=True)
class Verified:
    """What was verified: how many rows and charges, the head, and what is odd without being wrong."""

    rows: int
    charges: int
    head: Head
    remarks: tuple[str, ...]


def verified(store: Store, exported: Head | None = None) -> Verified:
    """Verify every row of a store against the one before, the head, and an exported head if there is one.

    Guarantees: returns only if nothing that was written is missing, moved or changed below the head. That rows and head
    were rolled back together shows only against an exported head.
    """
    store.integrity()
    replay = _Replay(None if exported is None else Head.from_dict(exported.to_dict()))
    for row in every_row(store):
        replay.follow(row)
    last = replay.finished()
    # The head beside the rows was compared when the rows were opened; others may have written since.
    return Verified(last.count, replay.charges, last, tuple(replay.remarks))


class _Replay:
    """The accounts as they must be after each row."""

    def __init__(self, exported: Head | None) -> None:
        self._exported = exported
        self._last: Head | None = None
        self._accounts: dict[str, Account] = {}
        self._open: dict[int, str] = {}
        self._undrawn: dict[int, str] = {}
        self._time = ""
        self.charges = 0
        self.remarks: list[str] = []

    def follow(self, row: Row) -> None:
        """Check the next row and do what it says."""
        place, previous = (0, NOTHING) if self._last is None else (self._last.count, self._last.digest)
        if row.place != place:
            raise damaged(place, "it is missing")
        data = row.read()
        try:
            if data["previous"] != previous:
                raise damaged(place, "it does not follow the row before it")
            step = _STEPS.get(data["event"])
            if step is None:
                raise damaged(place, f"it is a {data['event']!r:.40}, which is unknown")
            step(self, place, data)
            self._compare(place, data)
            if data["time"] < self._time:
                self.remarks.append(f"the clock went backwards at row {place}")
        except LedgerDamagedError:
            raise
        except (NoisewrightError, LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
            raise damaged(place, f"it cannot be followed ({type(error).__name__})") from None
        self._time, self._last = data["time"], row.head
        if self._exported is not None and self._exported.count == row.head.count:
            self._require_exported(row.head)

    def finished(self) -> Head:
        """The head; an exported one must have been met on the way."""
        if self._last is None:
            raise damaged(0, "it is missing")
        if self._exported is not None and self._exported.count > self._last.count:
            raise LedgerDamagedError(
                f"the exported head knows {self._exported.count} rows and the ledger has"
                f" {self._last.count}: it was rolled"
                " back. Restore it, and count what was released since as spent."
            )
        return self._last

    def _require_exported(self, head: Head) -> None:
        if head != self._exported:
            raise damaged(head.count - 1, "it is not the one that the exported head knows")

    def _compare(self, place: int, data: Mapping[str, Any]) -> None:
        touched = {"", data["account"]}
        if set(data["accounts"]) != touched:
            raise damaged(place, "it does not hold the state of the accounts it touches")
        for name in touched:
            if State.from_dict(data["accounts"][name]) != self._accounts[name].state:
                raise damaged(place, "its sums are not those of the rows before it")

    def _budget(self, place: int, data: Mapping[str, Any]) -> Budget:
        found = Budget.from_dict(place, data["budget"])
        require_sound(found.requirement, found.rules)
        return found

    def create(self, place: int, data: Mapping[str, Any]) -> None:
        if self._last is not None or data["account"]:
            raise damaged(place, "a ledger is created once")
        if not 1 <= data.get("version", VERSION) <= VERSION:
            raise damaged(place, "it is of a version that is not known")
        budget = self._budget(place, data)
        self._accounts[""] = Account("", budget, budget.nothing_spent())

    def sub(self, place: int, data: Mapping[str, Any]) -> None:
        if data["account"] in self._accounts:
            raise damaged(place, "the sub-budget was there already")
        budget = self._budget(place, data)
        require_divisible(self._accounts[""], budget.requirement)
        self._accounts[data["account"]] = Account(data["account"], budget, budget.nothing_spent())

    def charge(self, place: int, data: Mapping[str, Any]) -> None:
        for name in {"", data["account"]}:
            account = self._accounts[name]
            cost = {rule: read(amounts) for rule, amounts in data["brings"][name].items()}
            if any(value < 0 for amounts in cost.values() if amounts is not None for value in amounts.values()):
                raise damaged(place, "it gives something back")
            after = account.state.charged(cost, data["accounts"][name]["neighbours"])
            holding = account.budget.holding(after.totals)
            if account.state.closed or not holding or holding != data["rules"][name]:
                raise damaged(place, "no rule allowed it")
            if _compared(data["certificate"]) - {after.neighbours}:
                raise damaged(place, "its certificate is about another adjacency")
            counted = cost.get("pure") or cost.get("basic")
            if (certified := _certified_epsilon(data["certificate"])) and counted and counted["epsilon"] < certified:
                raise damaged(place, "it counts less than its certificate says")
            self._accounts[name] = replace(account, state=after)
        self._open[place] = data["account"]
        if "undrawn" in data:
            self._undrawn[place] = data["account"]
        self.charges += 1

    def refused(self, place: int, data: Mapping[str, Any]) -> None:
        """Nothing changes."""

    def noted(self, place: int, data: Mapping[str, Any]) -> None:
        if self._open.pop(data["charge"], None) != data["account"]:
            raise damaged(place, "it speaks of a charge that is not there or has its answer already")
        if data["event"] == "answer" and data["charge"] in self._undrawn:
            raise damaged(place, "it answers a charge of which nothing was drawn")

    def drawing(self, place: int, data: Mapping[str, Any]) -> None:
        held = self._open.get(data["charge"])
        if held != data["account"] or self._undrawn.pop(data["charge"], None) != held:
            raise damaged(place, "it draws from a charge that is not there, has ended or was drawn from already")

    def resumed(self, place: int, data: Mapping[str, Any]) -> None:
        if self._undrawn.get(data["charge"]) != data["account"]:
            raise damaged(place, "it resumes a charge of which something may have been drawn")
        self._open[data["charge"]] = data["account"]

    def raised(self, place: int, data: Mapping[str, Any]) -> None:
        account, budget = self._accounts[data["account"]], self._budget(place, data)
        require_raisable(account, budget.requirement)
        if budget.neighbours != account.budget.neighbours:
            raise damaged(place, "it changes whom releases compare")
        self._accounts[account.name] = replace(account, budget=budget, state=raised_state(account, budget))

    def close(self, place: int, data: Mapping[str, Any]) -> None:
        account = self._accounts[data["account"]]
        self._accounts[account.name] = replace(account, state=replace(account.state, closed=True))


def _listed(certificate: Any) -> list[Mapping[str, Any]]:
    return certificate if isinstance(certificate, list) else [certificate]


def _compared(certificate: Any) -> set[str]:
    """Whom the certificates of a charge compare, where they say so."""
    return {str(one.get("neighbours", DECLARED)) for one in _listed(certificate)} - {DECLARED}


def _certified_epsilon(certificate: Any) -> Fraction:
    """The sum of the epsilons that certificates of pure privacy say were proven.

    Raises LookupError or ValueError for a certificate about a requirement that nobody knows.
    """
    proven = Fraction(0)
    for one in _listed(certificate):
        if "requirement" in one and isinstance(held := REQUIREMENTS.from_dict(one["requirement"]), PureDP):
            bound = exact_text(one["bound"])
            if not 0 <= bound <= held.epsilon:
                raise ValueError("a certificate proves no more than it is about")
            proven += bound
    return proven


_STEPS: dict[str, Callable[[_Replay, int, Mapping[str, Any]], None]] = {
    "create": _Replay.create,
    "sub": _Replay.sub,
    "charge": _Replay.charge,
    "refused": _Replay.refused,
    "answer": _Replay.noted,
    "failure": _Replay.noted,
    "drawing": _Replay.drawing,
    "resumed": _Replay.resumed,
    "raise": _Replay.raised,
    "close": _Replay.close,
}
"""What each kind of row does to the accounts."""

"""The ledger as people use it: create or open, charge, release, sub-budgets; everything else is read off its rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from noisewright.door import Reported
from noisewright.ledger import checkpoints
from noisewright.ledger.chain import Head, Row, damaged
from noisewright.ledger.charge import Charge
from noisewright.ledger.checking import Verified, verified
from noisewright.ledger.costed import Costed, accepted, certificate_of, neighbours_of, question_of, require_readable
from noisewright.ledger.deciding import (
    ChargeCost,
    budget_of,
    checked_digest,
    checked_label,
    checked_name,
    clock,
    closed,
    created,
    decide,
    granted,
    noted,
    raised,
    state_in,
    sub_budget,
)
from noisewright.ledger.render import html_table, in_words, plot_ledger, table
from noisewright.ledger.state import Account, Budget, exceeded
from noisewright.ledger.stores import NOTHING_CHANGED, VERSION, Check, Reading, Store, every_row, newer
from noisewright.problem.errors import InvalidInputError, LedgerError
from noisewright.problem.numbers import Number
from noisewright.sample.entropy import Entropy

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Ledger(Reported):
    """A budget that is kept: exact, append-only, each row chained to the one before, safe among processes.

    Made by `Ledger.create` and found again by `Ledger.open`; `url` is the path of a SQLite file, sqlite:///path or
    postgresql://user@host/database?ledger=name. Guarantees: a charge is granted only while the rule that was fixed at
    creation holds with it, however the next question depends on the answers before; a granted charge is durable when
    `charge` returns, and nothing gives it back.

    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> ledger = nw.Ledger.create(f"{folder.name}/clinic.ledger", budget=nw.PureDP(3))
    >>> noise = nw.mechanisms.Additive(nw.Scalar(1), nw.laws.Laplace(1), nw.laws.Lattice.cells("0.01"))
    >>> certified = nw.Certified(noise, nw.certify(noise, nw.PureDP(1)))
    >>> charge = ledger.charge(certified, reason="visits")
    >>> print(ledger.spent, ledger.remaining)
    1 2
    >>> folder.cleanup()
    """

    def __init__(self, store: Store, account: str = "") -> None:
        self._store, self._account = store, account
        self._budgets: dict[str, Budget] = {}

    @classmethod
    def create(
        cls,
        url: str | Path,
        *,
        budget: Any,
        neighbours: str | None = None,
        rules: Mapping[str, Number] | None = None,
    ) -> Ledger:
        """A new ledger with a budget: PureDP, ApproxDP, ZeroConcentratedDP, RenyiDP or MetricPrivacy.

        `neighbours` ("add-remove" or "replace") is whom all its releases must compare; unless given, the first charge
        whose certificate names them decides. `rules` divides the delta of an `ApproxDP` between "basic", "gaussian" and
        "concentrated"; 1/2, 1/4 and 1/4 unless given. Refuses where there is a ledger already.
        """
        store = store_for(url)
        store.create(Row.after(None, "", created(budget, neighbours, rules, clock())))
        return cls(store)

    @classmethod
    def open(cls, url: str | Path) -> Ledger:
        """A ledger that is there. Refuses one of a newer version, and limits that allow more than the budget."""
        found = cls(store_for(url))
        version = found._store.version()
        if version > VERSION:
            raise newer(version)
        if not version:
            raise LedgerError(f"there is no ledger in {found.url}; make it with Ledger.create.")
        if version < VERSION:
            found._store.migrate()
        with found._store.look() as rows:
            found._accounts(rows)
        return found

    @property
    def url(self) -> str:
        """Where it is, without any password."""
        return self._store.shown

    @property
    def name(self) -> str:
        """The name of the sub-budget; "" for the whole ledger."""
        return self._account

    @property
    def budget(self) -> Any:
        """The requirement that all releases together meet."""
        return self.now().budget.requirement

    @property
    def spent(self) -> Any:
        """What was spent: a Fraction; for `ApproxDP` a mapping rule -> (used, limit), without rules that are off."""
        return self.now().spent()

    @property
    def remaining(self) -> Any:
        """What is left: a Fraction; for `ApproxDP` a mapping rule -> (used, limit). It is no guarantee by itself."""
        return self.now().remaining()

    @property
    def largest_epsilon(self) -> Fraction:
        """The largest epsilon of a purely private release that would be granted now."""
        return min(account.largest_epsilon() for account in self._all_now())

    @property
    def head(self) -> Head:
        """Count and digest of the rows; kept elsewhere, it shows when both files were rolled back."""
        with self._store.look() as rows:
            return rows.last().head

    def charge(self, costed: Any, *, reason: str, undrawn: str | None = None, check: Check | None = None) -> Charge:
        """Charge a certified mechanism, a list of them or a plan, durably, and return the charge, or refuse.

        Raises BudgetExceeded if no rule would hold with it; then only a row that says so is written. UncertifiedError
        for what has no cost that the ledger's rules can add, InvalidInputError for neighbours of another kind, and
        what `check` raises under the lock. Use it as `with ledger.charge(...) as charge:`; the charge stays if the body
        raises. With `undrawn`, the digest of what will be drawn, others can finish it until `Charge.drawing`, and its
        answer counts for whoever draws the same (`idempotence`).
        """
        given, label = accepted(costed), checked_label(reason)
        cost = _cost_of(given)
        facts = {"label": label, "question": question_of(given), "certificate": certificate_of(given)}
        facts |= {} if undrawn is None else {"undrawn": checked_digest(undrawn)}
        # Proofs are done before the lock is taken; what they are asked for depends on the budget alone.
        for budget in list(self._budgets.values()) or [account.budget for account in self._all_now()]:
            with suppress(InvalidInputError):  # of a budget that may be raised by now; under the lock it is said
                cost.to(budget)
        checkpoints.passed("validated")
        with self._store.change() as transaction:
            checkpoints.passed("locked")
            if check is not None:
                check(transaction)
            accounts = self._accounts(transaction)
            refused, content = decide(accounts, cost, facts, clock())
            checkpoints.passed("decided")
            row = Row.after(transaction.last().head, self._account, content)
            transaction.append(row)
            checkpoints.passed("appended")
        if refused is not None:
            raise exceeded(refused, cost.to(refused.budget), min(each.largest_epsilon() for each in accounts))
        return Charge(row.place, row.digest, label, tuple(content["rules"][self._account]), self._note)

    def require_affordable(self, costed: Any) -> None:
        """Refuse, as `charge` would now, and write nothing: for who plans. Others may charge in between.

        Raises BudgetExceeded if no rule would hold with it, UncertifiedError for what has no cost that the ledger's
        rules can add, InvalidInputError for neighbours of another kind, LedgerClosedError.
        """
        cost, accounts = _cost_of(accepted(costed)), self._all_now()
        refused = [one for one in accounts if not granted(one, cost)]
        if refused:
            raise exceeded(refused[0], cost.to(refused[0].budget), min(each.largest_epsilon() for each in accounts))

    def release(self, certified: Any, answer: Any, *, reason: str, entropy: Entropy | None = None) -> Any:
        """One private answer of a certified mechanism: charged durably, then drawn, then written beside the charge.

        An answer that cannot be released is refused before anything is charged.
        """
        require_readable(certified, answer)
        with self.charge(certified, reason=reason) as charge:
            released = certified.release(answer, entropy=entropy)
            checkpoints.passed("drawn")
            charge.answered(released)
            checkpoints.passed("answered")
        return released

    def sub(self, name: str, *, budget: Any = None) -> Ledger:
        """A sub-budget under this total, such as one for each analyst; with `budget=` it is made if it is not there.

        Everything charged to it is charged to the whole as well, and both must grant it.
        """
        if self._account:
            raise InvalidInputError("a sub-budget has no sub-budgets of its own; ask the whole ledger for one.")
        named = checked_name(name)
        found = Ledger(self._store, named)
        with self._store.look() as rows:
            there = rows.last_of(named) is not None
        if not there and budget is None:
            raise InvalidInputError(f"there is no sub-budget {named!r}; give budget= to make it.", name=named)
        if budget is not None:
            with self._store.change(NOTHING_CHANGED) as transaction:
                last, whole = transaction.last(), self._accounts(transaction)[0]
                if transaction.last_of(named) is None:
                    content = sub_budget(whole, named, budget, last.place + 1, clock())
                    transaction.append(Row.after(last.head, named, content))
            if found.budget != budget:
                raise InvalidInputError(
                    f"there is a sub-budget {named!r} with {found.budget}; open it without budget=, or raise it.",
                    name=named,
                )
        return found

    @property
    def subs(self) -> tuple[str, ...]:
        """The names of the sub-budgets, in the order they were made."""
        return tuple(row["account"] for row in self.rows() if row["event"] == "sub")

    def raise_budget(self, budget: Any, *, reason: str) -> None:
        """Allow more from now on: a chained event. What was released before is protected by the new guarantee only."""
        label = checked_label(reason)
        with self._store.change(NOTHING_CHANGED) as transaction:
            last, accounts = transaction.last(), self._accounts(transaction)
            content = raised(accounts, budget, last.place + 1, label, clock())
            transaction.append(Row.after(last.head, self._account, content))

    def close_budget(self, *, reason: str) -> None:
        """Grant nothing any more: a chained event that is not undone."""
        label = checked_label(reason)
        with self._store.change(NOTHING_CHANGED) as transaction:
            content = closed(self._accounts(transaction), label, clock())
            transaction.append(Row.after(transaction.last().head, self._account, content))

    def rows(self) -> Iterator[dict[str, Any]]:
        """Every row as plain data, in order, each checked against its digest."""
        for row in every_row(self._store):
            yield {**row.read(), "digest": row.digest}

    def verify(self, head: Head | Mapping[str, Any] | None = None) -> Verified:
        """Check the whole chain, every sum and every grant; with `head`, that an exported head is part of it.

        Raises LedgerDamagedError that names the first row at fault.
        """
        return verified(self._store, head if head is None or isinstance(head, Head) else Head.from_dict(head))

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data: head, budget and rows."""
        rows = list(self.rows())
        head = {"count": len(rows), "digest": rows[-1]["digest"]}
        return {"format": "noisewright ledger, version 1", "url": self.url, "head": head, "rows": rows}

    def buys(self, counts: int = 40) -> str:
        """What remains of the budget, in a sentence; for example so many more counts, and how far off each would be."""
        return in_words(self._all_now(), counts)

    def plot(self, path: str | Path | None = None) -> Figure:
        """The burn-down: what remains of each rule's limit after each charge."""
        return plot_ledger(self, path)

    def __str__(self) -> str:
        return table(self)

    def _repr_html_(self) -> str:
        return html_table(self)

    def __repr__(self) -> str:
        return f"<Ledger {self.url}{f', sub-budget {self._account!r}' if self._account else ''}>"

    def __copy__(self) -> Ledger:
        return self

    def __deepcopy__(self, memory: Any) -> Ledger:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return _found_again, (self._store.shown, self._account)

    def now(self) -> Account:
        """The account as it is now: its budget with the rules, and its sums."""
        return self._all_now()[-1]

    def _all_now(self) -> list[Account]:
        """The whole ledger and, for a sub-budget, that."""
        with self._store.look() as rows:
            return self._accounts(rows)

    def _accounts(self, rows: Reading) -> list[Account]:
        last = rows.last().read()
        found = [self._account_of("", last, rows)]
        if self._account:
            row = rows.last_of(self._account)
            if row is None:
                raise LedgerError(f"there is no sub-budget {self._account!r} in this ledger.")
            found.append(self._account_of(self._account, row.read(), rows))
        return found

    def _account_of(self, name: str, data: Mapping[str, Any], rows: Reading) -> Account:
        state = state_in(data, name)
        # Known by its digest: another ledger may have been put in the place of the one that was read before.
        row = rows.at(state.budget_at)
        if row.digest not in self._budgets:
            self._budgets[row.digest] = budget_of(row)
        if not state.fits(self._budgets[row.digest]):
            raise damaged(data["place"], "its sums are not those of the budget")
        return Account(name, self._budgets[row.digest], state)

    def _note(self, charge: Charge, kind: str, content: Mapping[str, Any]) -> int:
        """Append what became of a charge; where that is written."""
        with self._store.change("the charge stays spent, and nothing was written beside it") as transaction:
            facts = noted(transaction, self._accounts(transaction), charge, {"event": kind, **content}, clock())
            row = Row.after(transaction.last().head, self._account, facts)
            transaction.append(row)
        return row.place


def _cost_of(given: Costed) -> ChargeCost:
    return ChargeCost(given.costs(), neighbours_of(given))


def _found_again(url: str, account: str) -> Ledger:
    """An unpickled ledger: looked for when it is first used, and without any password."""
    return Ledger(store_for(url), account)


def store_for(url: str | Path) -> Store:
    """The store that a URL or the path of a file means."""
    if isinstance(url, Path):
        return _sqlite(url)
    if not isinstance(url, str) or not url:
        raise InvalidInputError("url is no text; give the path of a file, or postgresql://user@host/database.")
    scheme, mark, rest = url.partition("://")
    if not mark and "password=" in url:
        raise InvalidInputError("url is a list of settings with a password; give postgresql://user@host/database.")
    if not mark:
        return _sqlite(Path(url))
    if scheme == "sqlite":
        # Three slashes and a path, as elsewhere: sqlite:///relative/path, sqlite:////absolute/path.
        if not rest.startswith("/") or rest == "/":
            raise InvalidInputError(f"url is {url}; give sqlite:///clinic.ledger, or the path alone.")
        return _sqlite(Path(rest[1:]))
    if scheme in ("postgresql", "postgres"):
        from noisewright.ledger.postgres import PostgresStore

        return PostgresStore(url)
    raise InvalidInputError(
        f"url begins with {scheme}://; give a path, sqlite:///path or postgresql://user@host/database."
    )


def _sqlite(path: Path) -> Store:
    from noisewright.ledger.sqlite import SQLiteStore

    return SQLiteStore(path)

"""A table, the persons in it and their budget: what questions are asked of."""

from __future__ import annotations

import os
import shutil
import tempfile
import warnings
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from noisewright.ledger.ledger import Ledger
from noisewright.problem.errors import InvalidInputError, InvalidTableError, LedgerDamagedError, LedgerError
from noisewright.problem.numbers import Number
from noisewright.problem.privacy import MetricPrivacy
from noisewright.problem.records import digest
from noisewright.problem.untrusted import READING_SECONDS
from noisewright.problem.utilities import SquaredError
from noisewright.problem.warnings import EphemeralBudgetWarning
from noisewright.release.plan.layout import ContributionBounds, Layout
from noisewright.sample.entropy import SystemEntropy

if TYPE_CHECKING:
    import ibis.expr.types as ir

    from noisewright.problem.errors import NoisewrightError
    from noisewright.problem.privacy import Notion
    from noisewright.problem.utilities import Utility
    from noisewright.release.ask.question import Question
    from noisewright.release.plan.plan import Plan
    from noisewright.release.run.bounds import Bounds
    from noisewright.release.table.sources import Source

_NEEDS = "tables need packages that are not installed: pip install 'noisewright[tables]'. Nothing was spent."
_PRIVATE_ITSELF = (
    "this is the private table itself, by whichever path or name; join_public takes tables that anybody may see."
)


class Dataset:
    """A table about persons: `unit` is the column that says whose row it is, and all rows of a person are protected.

    `source` is a CSV or Parquet file or glob, a table of a database file ("path::table"), the address of a table of a
    server or a cluster, a frame of pandas or polars, an Arrow table, or an Ibis table; each engine that is installed
    says how its addresses are written. `budget` and the path of a `ledger` belong together: the ledger is made if it
    is not there, otherwise its budget must be the same; a budget alone is kept as long as the process lasts, with a
    warning.
    A person counts with at most `rows_per_group` rows in a group and `groups_per_person` groups; which rows those are
    is chosen at random, anew for each release. With `one_row_per_person=True` the owner declares that there is nothing
    to limit. `types` says how text is read (number, decimal comma, integer, date, time, instant), `local_views` which
    views of a database are declared person-local. Rows whose unit is NULL are left out. With `modified_is_public=True`
    everybody may know when the files were written last, and stored answers that are older say so.
    Neighbours: one person, with all rows, comes or goes.

    >>> import pyarrow as pa
    >>> visits = pa.table({"patient": [1, 1, 2], "age": [30, 31, 60]})
    >>> clinic = nw.Dataset(visits, unit="patient", rows_per_group=2)
    >>> clinic.plan(nw.count(), privacy=nw.PureDP(1)).privacy
    PureDP(epsilon=Fraction(1, 1))
    >>> nw.Dataset(visits, unit="nobody")
    Traceback (most recent call last):
        ...
    InvalidTableError: there is no column 'nobody'; there are 'patient', 'age'.
    """

    def __init__(
        self,
        source: Any,
        unit: str,
        *,
        name: str | None = None,
        version: str | int | None = None,
        budget: Notion | None = None,
        ledger: Ledger | str | Path | None = None,
        rows_per_group: int = 1,
        groups_per_person: int = 1,
        one_row_per_person: bool = False,
        types: Mapping[str, str] | None = None,
        local_views: Iterable[str] = (),
        modified_is_public: bool = False,
    ) -> None:
        from dataclasses import replace

        limits = ContributionBounds(rows_per_group, groups_per_person, one_row_per_person)
        opened = _opened(source, unit, tuple(local_views)).typed(types)
        if not isinstance(modified_is_public, bool):
            raise InvalidInputError(f"modified_is_public is {modified_is_public!r}; give True or False.")
        opened = replace(opened, modified_is_public=modified_is_public)
        if modified_is_public and opened.modified() is None:
            raise InvalidInputError(
                "modified_is_public=True is for files: when the rows of a frame or a database changed cannot be told."
                " Leave it out, and give another version= when the rows are others."
            )
        self._begin(opened, unit, limits, _name(name, opened.name), None if version is None else str(version))
        self._ledger = ledger_for(budget, ledger)

    def _begin(self, source: Source, unit: str, limits: ContributionBounds, name: str, version: str | None) -> None:
        from noisewright.release.run.checked_table import CheckedTable
        from noisewright.release.table.person_local import checked, require_unit

        table, standing = checked(source.table, source.bases, source.engine)
        if unit not in standing.units:
            raise InvalidTableError(
                f"{unit!r} is not the unit that the table carries ({', '.join(sorted(standing.units))}).", column=unit
            )
        require_unit(table[unit].type(), unit)
        if limits.one_row_per_person and not standing.straight:
            raise InvalidInputError(
                "one_row_per_person was declared for the table; after a join or union a person may have more rows."
                " Declare the dataset without it, and say rows_per_group and groups_per_person."
            )
        self.unit, self.limits, self.name, self.version = unit, limits, name, version
        self._checked = CheckedTable(source, table, unit, limits.one_row_per_person)

    def __setattr__(self, name: str, value: object) -> None:
        if hasattr(self, "_ledger"):
            raise AttributeError("a dataset was checked when it was made and does not change; declare another.")
        super().__setattr__(name, value)

    @property
    def _source(self) -> Source:
        return self._checked.source

    @property
    def _table(self) -> ir.Table:
        return self._checked.table

    @property
    def ledger(self) -> Ledger | None:
        """The ledger that its releases are charged to."""
        return self._ledger

    @property
    def columns(self) -> dict[str, str]:
        """The columns and their types."""
        return {name: str(kind) for name, kind in self._table.schema().items()}

    def filter(self, *conditions: object) -> Dataset:
        """The rows that meet all conditions, such as `lambda t: t.age >= 18`; conditions look at one row each."""
        return self._derived(made(lambda: self._source.table.filter(*conditions), self._source.engine.errors))

    def mutate(self, **columns: object) -> Dataset:
        """With more columns, such as `bmi=lambda t: t.weight / t.height ** 2`; each is made of one row.

        What could fail for some value, such as a division by zero, gives NULL instead.
        """
        return self._derived(made(lambda: self._source.table.mutate(**columns), self._source.engine.errors))

    def through(self, query: Callable[[ir.Table], ir.Table]) -> Dataset:
        """What an Ibis query makes of the table, if it is person-local: `lambda t: t.group_by("id").agg(...)`."""
        return self._derived(made(lambda: query(self._source.table), self._source.engine.errors))

    def join_public(self, table: Any, on: str | Sequence[str], *, how: str = "left") -> Dataset:
        """With the columns of a public table, a source of any kind, which everybody may see."""
        from dataclasses import replace

        from noisewright.release.table.locations import require_elsewhere
        from noisewright.release.table.sources import open_source

        other = open_source(table, "", beside=self._source.engine, public=True)
        private = self._source.locations(private=True)
        require_elsewhere(other.locations(private=False), private, _PRIVATE_ITSELF)
        if other.engine.connection is not self._source.engine.connection:
            other = other.beside(self._source.engine)
        bases = {**self._source.bases, **other.bases}
        both = joined(self._source.table, other.table, [on] if isinstance(on, str) else list(on), how)
        return self._derived(both, replace(self._source, bases=bases))

    def join(self, other: Dataset, on: str | Sequence[str] | None = None, *, how: str = "inner") -> Dataset:
        """Joined with another private table about the same persons, on the unit of both (and `on`, if given).

        Both datasets must share one ledger, because one person's rows in both are spent at once.
        """
        from dataclasses import replace

        if not isinstance(other, Dataset) or other._ledger is not self._ledger:
            raise InvalidInputError(
                "a private join needs two datasets with the same ledger object: ledger=first.ledger."
            )
        source = other._source
        self._source.require_agreeing(source)
        if source.engine.connection is not self._source.engine.connection:
            source = source.beside(self._source.engine)
        also = [on] if isinstance(on, str) else list(on or ())
        mine, theirs = self._source.table, source.table
        theirs = theirs.view() if theirs.op() == mine.op() else theirs
        known = replace(
            self._source,
            bases={**self._source.bases, **source.bases},
            views=(*self._source.views, *source.views),
            joined=(*self._source.joined, *source.joined, (other.name, other.version)),
            types={**(source.types or {}), **(self._source.types or {})},
            modified_is_public=self._source.modified_is_public and other._source.modified_is_public,
        )
        return self._derived(joined(mine, theirs, also, how, (self.unit, other.unit)), known)

    def _derived(self, table: ir.Table, source: Source | None = None) -> Dataset:
        """The same persons, limits and ledger with another table."""
        from dataclasses import replace

        found = Dataset.__new__(Dataset)
        changed = replace(source or self._source, table=table, origin=None)
        found._begin(changed, self.unit, self.limits, self.name, self.version)
        found._ledger = self._ledger
        return found

    def plan(
        self,
        *questions: Question,
        privacy: Notion | None = None,
        utility: Utility | None = None,
        weights: Mapping[str, Number] | None = None,
        targets: Mapping[str, Number] | None = None,
        confidence: Number = 0.95,
        delta: Number | None = None,
        smallest_group: int | None = None,
        budgets: Mapping[str, Notion] | None = None,
    ) -> Plan:
        """What a release of all questions together would spend, and the error to expect; nothing is spent.

        `privacy` is the requirement of all of them together; `weights` by the name of a question says which matter
        more. Instead of it, `targets` are half-widths by the name of a question: the smallest epsilon is found (with
        `delta` if it is given) at which each is reached with the `confidence`; a mean needs `smallest_group`, the rows
        that every group is publicly known to have. Or `budgets` gives each question an amount of its own.
        Raises, before anything is read of the data, for columns that are not there, types that do not fit, and what
        the ledger can never add.
        """
        from noisewright.release.plan.plan import planned
        from noisewright.release.plan.targets import Wanted
        from noisewright.release.run.idempotence import require_kind

        # Before anything is designed; what is told of mixtures with weighted counts says more.
        if self._ledger is not None and privacy is not None and not isinstance(privacy, MetricPrivacy):
            require_kind(privacy, self._ledger.budget)
        wanted = Wanted(targets, confidence, delta, smallest_group, budgets)
        chosen = SquaredError() if utility is None else utility
        found = planned(self, questions, privacy, chosen, weights or {}, wanted)
        if self._ledger is not None:
            require_kind(found.privacy, self._ledger.budget)
            self.refusal(found)
        return found

    def estimate_bounds(
        self,
        column: str,
        *,
        privacy: Notion,
        keep: Number = "0.98",
        fresh: bool = False,
        reason: str | None = None,
    ) -> Bounds:
        """Bounds for a column whose values nobody knows beforehand: a release of its own, charged like any other.

        A noisy histogram over powers of two, never the least and greatest value. `bounds=found` takes the result, which
        aims to keep the share `keep` of the values; it is empty, and says so, where there are too few. Asked again, it
        is the stored one, at no cost.
        """
        from noisewright.release.run.bounds import bounds_of, question, share

        kept, plan = share(keep), self.plan(question(column), privacy=privacy)
        return bounds_of(plan, plan.release(fresh=fresh, reason=reason, frame="pyarrow"), kept)

    def load_plan(self, path: str | Path, *, seconds: Number = READING_SECONDS) -> Plan:
        """A saved plan, proven again and ready to release; refuses one that was made for another dataset."""
        from noisewright.release.plan.plan import Plan, bound

        return bound(Plan.load(path, seconds=seconds), self)

    def require_public_keys(self, questions: Sequence[Question]) -> None:
        """Refuse questions whose keys were listed from a private table of this dataset, under whatever name."""
        self._checked.require_public_keys(questions)

    def require_answerable(self, layout: Layout) -> None:
        """Refuse, from the schema alone, questions about columns that are not there or hold something else."""
        self._checked.require_answerable(layout)

    def rehearse(self, layout: Layout, salt: int = 0) -> None:
        """Try every query of a layout without reading a row: what can fail without looking at a value fails here.

        `salt` is what the release will choose rows by, so that its very queries are tried.
        """
        self._checked.dry_run(layout, salt)

    def release(
        self,
        plan: Plan,
        *,
        fresh: bool = False,
        reason: str | None = None,
        frame: str | None = None,
        post: Sequence[str] = (),
        refuse_stale: bool = False,
    ) -> Any:
        """The private answers of a plan that was made for this dataset; `plan.release()` says what is given back."""
        from noisewright.release.run.transaction import released

        return released(
            plan,
            self._ledger,
            self._checked,
            fresh=fresh,
            reason=reason,
            frame=frame or self.frame,
            post=post,
            refuse_stale=refuse_stale,
        )

    def refusal(self, plan: Plan) -> NoisewrightError | None:
        """Why the ledger would refuse a release of a plan now; None if it would not, or if nothing would be spent.

        Raises for a plan that it can never add, whatever remains.
        """
        from noisewright.release.run.idempotence import refusal_of

        return None if self._ledger is None else refusal_of(plan, self._ledger)

    def selfcheck(self, plan: Plan, persons: int = 20) -> str:
        """Try the sensitivity of a plan on the real table; `plan.selfcheck()` says what that is."""
        return self._checked.selfcheck(plan.layout, persons)

    @property
    def frame(self) -> str:
        """In which kind of frame answers are given."""
        return self._source.frame

    @property
    def read_as(self) -> dict[str, str]:
        """What columns of text are read as, in words with an example."""
        from noisewright.release.table.sources import READ_AS

        types, there = self._source.types or {}, set(self._table.columns)
        return {name: READ_AS[kind] for name, kind in types.items() if kind in READ_AS and name in there}

    def describe(self) -> dict[str, Any]:
        """What it is, as plain data: everything about it that is public, and nothing of its content."""
        import ibis

        shape, joined = str(ibis.to_sql(self._table)), self._source.joined
        return {
            "name": self.name,
            "version": self.version,
            "unit": self.unit,
            "limits": self.limits.to_dict(),
            "query": digest({"sql": shape, **({"joined": list(map(list, joined))} if joined else {})}),
        }

    def __str__(self) -> str:
        limits, ledger = self.limits, self._ledger
        one = "one row per person (declared)"
        return "\n".join(
            [
                f"Dataset {self.name}{'' if self.version is None else f', version {self.version}'}",
                f"Persons: {self.unit} (rows without one are left out)",
                f"A person counts with at most: {one if limits.one_row_per_person else limits}",
                f"Budget: {'none; plans can be made, not released' if ledger is None else ledger.budget}",
                f"Columns: {', '.join(f'{name} ({kind})' for name, kind in self.columns.items())}",
            ]
        )

    __repr__ = __str__


def _opened(source: Any, unit: object, local_views: tuple[str, ...]) -> Source:
    if not isinstance(unit, str) or not unit:
        raise InvalidTableError(f"unit is {unit!r}; give the name of the column that says whose row it is.")
    try:
        from noisewright.release.table.names import require_column
        from noisewright.release.table.sources import open_source
    except ImportError:
        raise InvalidInputError(_NEEDS) from None
    opened = open_source(source, unit, local_views)
    require_column(opened.table, unit)
    return opened


def _name(given: str | None, found: str | None) -> str:
    """What the dataset is called in ledgers; a frame without a name gets one that nobody else has."""
    if given is not None:
        if not isinstance(given, str) or not given:
            raise InvalidTableError(f"name is {given!r}; give a text.")
        return given
    return found or f"unnamed {int(SystemEntropy().stream().words(1)[0]):016x}"


# Making a query of Ibis, where what the schema shows wrong becomes a clear error; no value is looked at.


_JOINS = ("inner", "left", "semi", "anti")


def made(build: Callable[[], ir.Table], errors: tuple[type[Exception], ...] = ()) -> Any:
    """The table that a query makes; refuses columns that are not there, types that do not fit, and what is no table.

    `errors` are those of the engine, which SQL text reaches before it can be refused; its words are not repeated.
    """
    from ibis.common.annotations import ValidationError
    from ibis.common.exceptions import IbisError

    problem = ""
    try:
        found = build()
        if hasattr(found, "columns"):
            found.op()  # a chain of joins is put together only now
    except (IbisError, ValidationError, AttributeError, TypeError) as error:
        problem = (str(error).splitlines() or [type(error).__name__])[0]
    except errors as error:
        problem = f"the engine does not take it ({type(error).__name__})"
    if problem:
        raise InvalidTableError(
            f"the query does not fit the table: {problem[:300].rstrip('.')}. See dataset.columns. Nothing was spent."
        )
    if not (hasattr(found, "op") and hasattr(found, "schema")):
        raise InvalidInputError(f"the query gives a {type(found).__name__}; it must give a table of Ibis.")
    return found


def joined(
    left: ir.Table, right: ir.Table, on: Sequence[str], how: str, units: tuple[str, str] | None = None
) -> ir.Table:
    """Two tables joined where columns of the same names are equal, and the units of both where they are given."""
    from noisewright.release.table.names import require_column

    if how not in _JOINS:
        raise InvalidInputError(f"how is {how!r}; give inner, left, semi or anti: others give rows without a person.")
    for column in on:
        require_column(left, column)
        require_column(right, column)
    pairs = [*([units] if units else []), *((column, column) for column in on)]
    for mine, theirs in pairs:
        held, other = left[mine].type(), right[theirs].type()
        if held != other and not (held.is_integer() and other.is_integer()):
            raise InvalidTableError(
                f"{mine!r} holds {held} and {theirs!r} of the other table {other}; tables are joined on columns of one"
                f' type. Say how text is read with types={{"{mine}": ...}}.',
                column=mine,
            )
    own = [left[units[0]] == right[units[1]]] if units else []
    mark = _free_mark(left.columns, right.columns)
    both = made(lambda: left.join(right, [*own, *on], how=how, rname=f"{{name}}{mark}"))
    # The other table's copy of what was compared says nothing new.
    copies = {f"{theirs}{mark}" for _, theirs in pairs} & set(both.columns)
    return both.drop(*sorted(copies)) if copies else both


def _free_mark(left: Sequence[str], right: Sequence[str]) -> str:
    """What is put behind columns of the right table whose names the left one has: the first that makes them new."""
    twice, taken = set(left) & set(right), {name.casefold() for name in (*left, *right)}
    marks = (f"_right{number or ''}" for number in count())
    return next(mark for mark in marks if not any(f"{name}{mark}".casefold() in taken for name in twice))


# The ledger of a dataset: given, opened, made, or kept for as long as the process lasts.


def ledger_for(budget: Notion | None, ledger: Ledger | str | Path | None) -> Ledger | None:
    """The ledger that was given, opened or made."""
    if isinstance(ledger, Ledger):
        return _matching(ledger, budget)
    if ledger is not None:
        try:
            return _matching(Ledger.open(ledger), budget)
        except LedgerDamagedError:
            raise
        except LedgerError:
            if budget is None:
                raise
        return Ledger.create(ledger, budget=budget, neighbours=_neighbours(budget))
    if budget is None:
        return None
    warnings.warn(
        "this budget is kept until the process ends, and the next process begins anew; give ledger=path to keep it.",
        EphemeralBudgetWarning,
        stacklevel=3,
    )
    folder = tempfile.mkdtemp(prefix="noisewright-")
    made = Ledger.create(Path(folder) / "budget.ledger", budget=budget, neighbours=_neighbours(budget))
    weakref.finalize(made, _remove, folder, os.getpid())
    return made


def _remove(folder: str, process: int) -> None:
    """Remove what was kept for a process that has no use for it any more; a fork of the process removes nothing."""
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)


def _neighbours(budget: Notion | None) -> str:
    return "metric" if isinstance(budget, MetricPrivacy) else "add-remove"


def _matching(ledger: Ledger, budget: Notion | None) -> Ledger:
    if budget is not None and ledger.budget != budget:
        raise InvalidInputError(
            f"the ledger {ledger.url} keeps {ledger.budget}, and budget= says {budget}; leave budget= out, or raise the"
            " ledger's with raise_budget.",
            budget=budget,
        )
    return ledger

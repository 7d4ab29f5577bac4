"""Sources: whatever is given as a table becomes an Ibis table of the engine that it belongs to.

Values are not looked at: text files are read as text, and the types of all other columns are those of their schema.
(Which files and columns an engine reads as what, stands in its folder.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import ibis.expr.operations as ops

from noisewright.problem.errors import InvalidInputError, InvalidTableError
from noisewright.release.engines.base import NOTHING_SPENT, Engine, guarded, loaded
from noisewright.release.engines.registry import engine_of
from noisewright.release.table.locations import NOWHERE, Locations, everywhere, of_memory
from noisewright.release.table.names import require_column
from noisewright.release.table.person_local import Base

if TYPE_CHECKING:
    import ibis.expr.types as ir

READ_AS = {
    "number": "a number (1.5)",
    "decimal point": "a number (1.5)",
    "decimal comma": "a number (1,5)",
    "integer": "an integer (15)",
    "date": "a date (2026-01-31)",
    "time": "a time (2026-01-31 10:30)",
    "instant": "an instant (2026-01-31T10:30:00+01:00)",
}
"""What a text is read as, with an example, by the name of the type."""
_TYPES = {
    "number": "float64",
    "integer": "int64",
    "date": "date",
    "time": "timestamp(6)",
    "instant": "timestamp('UTC', 6)",
    "text": "string",
    "decimal point": "float64",
    "decimal comma": "float64",
}


@dataclass(frozen=True, slots=True)
class Source:
    """A table as an engine knows it, and what the answers are given back as."""

    engine: Engine
    table: ir.Table
    bases: Mapping[ops.Relation, Base]
    name: str | None
    frame: str
    origin: tuple[object, str] | None = None
    """What was given, where it can be read again in another engine of this process; None where it cannot."""
    types: Mapping[str, str] | None = None
    views: tuple[str, ...] = ()
    """Views that are person-local: declared so by the owner, or made here of a file or a frame."""

    joined: tuple[tuple[str, str | None], ...] = ()
    """Name and version of the private datasets that were joined to it."""
    unsure_decimals: frozenset[str] = frozenset()
    """Columns whose numbers may well be written with commas: of a CSV file that separates columns by semicolons."""
    modified_is_public: bool = False
    """Whether the owner declared that everybody may know when its files were written last."""

    def modified(self) -> float | None:
        """When the newest of its private files was written, where that is public and all of them are files."""
        if not self.modified_is_public:
            return None
        times = [base.locations.modified() for base in self.bases.values() if base.private]
        known = [time for time in times if time is not None]
        return max(known) if known and len(known) == len(times) else None

    def locations(self, *, private: bool) -> Locations:
        """Where the rows of its private tables are, or those of its public ones.

        Refuses a public table of which nobody can say where its rows are: they may be those of a private one.
        """
        found = everywhere(base.locations for base in self.bases.values() if base.private == private)
        if found.unsure and not private:
            raise InvalidTableError(
                f"whose rows this public table holds cannot be found out: {found.unsure}. They may be those of a"
                " private one; copy it into a table of its own, or give a file or a frame. Nothing was spent."
            )
        return found

    def require_agreeing(self, other: Source) -> None:
        """Refuse two sources of which one says of a table whose rows it holds, or that it is public, and one not."""
        both = ((mine, theirs) for mine in self.bases.values() for theirs in other.bases.values())
        if any(mine.unit != theirs.unit and mine.locations.meets(theirs.locations) for mine, theirs in both):
            raise InvalidInputError(
                "the two datasets say different things of one table, whatever it is called: whose rows it holds, or"
                " that it is public. Nothing was spent."
            )

    def private_tables(self) -> list[ops.DatabaseTable]:
        """The tables of a database, and views that were declared, whose rows are of persons."""
        return [one for one, base in self.bases.items() if base.private and isinstance(one, ops.DatabaseTable)]

    def require_sound_tables(self) -> None:
        """Refuse tables that the database does not show as they were declared; asked before every charge."""
        for table in self.private_tables():
            if table.name not in self.views:
                _require_base_table(self.engine, table)
            if (why := self.engine.why_unsound(table)) is not None:
                raise InvalidTableError(f"{table.name!r} {why}. Nothing was spent.")
            if self.engine.has_collation(table):
                raise InvalidTableError(
                    f"{table.name!r} compares texts by a collation, by which two persons may be one; copy it without."
                )
        if replaced := self.engine.replaced_functions():
            raise InvalidTableError(
                f"this database defines {', '.join(replaced[:3])} anew, which the engine has already, so that answers"
                " may mean anything; drop it, or copy the table into another database."
            )

    def beside(self, engine: Engine) -> Source:
        """The same table in another engine; refuses tables of a database, and tables that a query was made of."""
        if self.origin is None:
            raise InvalidTableError(
                "the two tables are in different places; put them into one database, or join the tables before"
                " anything is derived from them."
            )
        source, unit = self.origin
        public = all(not base.private for base in self.bases.values())
        found = open_source(source, unit, self.views, beside=engine, public=public).typed(self.types)
        if found.engine.connection is not engine.connection:
            raise InvalidTableError(
                f"the two tables are in different places ({engine.name} and {found.engine.name}), and no rows are moved"
                " from one to the other; load one of them beside the other and name it by its address there, or give"
                " both as files. Nothing was spent."
            )
        return found

    def typed(self, types: Mapping[str, str] | None) -> Source:
        """The same table with text columns read as declared, by the names that `_TYPES` has."""
        changed: dict[str, ir.Value] = {}
        for column, kind in (types or {}).items():
            require_column(self.table, column)
            if not isinstance(kind, str) or kind not in _TYPES:
                raise InvalidTableError(
                    f"the type of {column!r} is {kind!r}; give one of {', '.join(_TYPES)}.", column=column
                )
            held = self.table[column]
            if not held.type().is_string():
                raise InvalidTableError(
                    f"{column!r} holds {held.type()}, not text; types= says how text is read, such as that of a CSV"
                    " file. Leave it out.",
                    column=column,
                )
            if kind == "number" and column in self.unsure_decimals:
                raise InvalidTableError(
                    f"{column!r} may have decimal commas: the header of the file separates columns by semicolons, as is"
                    f' done there. Say which: types={{"{column}": "decimal comma"}} reads 1,5, "decimal point" 1.5,'
                    ' "integer" 15; no value was looked at.',
                    column=column,
                )
            # A cast of text is compiled by our own grammar when the query is checked.
            plain = held.translate(",.", ".,") if kind == "decimal comma" else held
            changed[column] = plain.cast(_TYPES[kind])
        if not changed:
            return self
        # Declared types are how the table is read: the unit is what they make of its text.
        table, units = self.table.mutate(**changed), {base.unit for base in self.bases.values()}
        return replace(self, table=table, bases={**self.bases, table.op(): Base(units.pop())}, types=types)


def open_source(
    source: object, unit: str, local_views: tuple[str, ...] = (), *, beside: Engine | None = None, public: bool = False
) -> Source:
    """The source as a table of the engine that it belongs to; `beside` is the engine that it is to be joined in."""
    if isinstance(source, Path):
        source = str(source)
    found = loaded(engine_of(source)).opened(source, public=public, beside=beside)
    leaves = found.table.op().find(ops.PhysicalTable)
    if not public and not found.made:
        _require_unit(leaves, unit)
    bases = {leaf: _base(found.engine, leaf, None if public else unit) for leaf in leaves}
    views = tuple(leaf.name for leaf in leaves) if found.made else () if public else local_views
    origin = None if found.origin is None else (found.origin, unit)
    opened = Source(
        *(found.engine, found.table, bases, found.name, found.frame, origin),
        views=views,
        unsure_decimals=found.unsure_decimals,
    )
    if not public and not found.made:
        guarded(opened.engine, opened.require_sound_tables, spent=NOTHING_SPENT)
    return opened


def locations_of(source: object) -> Locations:
    """Where the rows of a source are; it is opened for that, and no value is read."""
    return open_source(source, "", public=True).locations(private=False)


def schema_of(source: str) -> dict[str, str]:
    """The columns of a file, a glob or an address, with their types; CSV files hold text.

    Guarantees: reads the header of a CSV file, and of other sources what they say about themselves; no value.
    """
    # Read as public, it needs no unit yet; whether it may be private is asked when it is planned.
    table = open_source(source, "", public=True).table
    return {name: str(kind) for name, kind in table.schema().items()}


def progress_of(engine: Engine) -> Callable[[], float | None]:
    """A function that says how many hundredths of all queries are done; None where the engine cannot tell.

    Slices of persons take about the same time. It may be called from another thread than the one that waits.
    """
    return engine.progress()


def _base(engine: Engine, leaf: ops.PhysicalTable, unit: str | None) -> Base:
    """A table that a query begins with, and where its rows are."""
    if isinstance(leaf, ops.DatabaseTable):
        return Base(unit, guarded(engine, partial(engine.locations, leaf), spent=NOTHING_SPENT))
    return Base(unit, of_memory(leaf.data.obj) if isinstance(leaf, ops.InMemoryTable) else NOWHERE)


def _require_unit(leaves: Iterable[ops.PhysicalTable], unit: str) -> None:
    """Every table below a private query is a private table with the unit among its columns."""
    for leaf in leaves:
        if unit not in leaf.schema:
            raise InvalidTableError(
                f"the table {leaf.name!r} has no column {unit!r}; every table of the query is private and must carry"
                " the unit. Bring public tables in with dataset.join_public(...).",
                column=unit,
            )


def _require_base_table(engine: Engine, leaf: ops.DatabaseTable) -> None:
    """Refuse what is something else than a plain table, whatever its name says."""
    if engine.is_view(leaf):
        raise InvalidTableError(
            f"{leaf.name!r} is a view, whose definition is not checked; give the base table, or declare with"
            f" local_views=[{leaf.name!r}] that each of its rows is made of rows of its own person alone."
        )
    if engine.is_hidden(leaf):
        raise InvalidTableError(
            f"a temporary table or view is called {leaf.name!r} like the table, and would be read instead; drop it."
        )

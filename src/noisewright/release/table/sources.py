"""Sources: a file or glob, a table of a database, a frame in memory or an Ibis table becomes an Ibis table.

Values are not looked at: CSV is read as text by a fixed dialect (only the header line says which separator), and the
types of frames, Parquet files and tables are those of their schema.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from noisewright.problem.errors import InvalidInputError, InvalidTableError
from noisewright.problem.records import digest
from noisewright.release.engines.base import NOTHING_SPENT, Engine, guarded
from noisewright.release.engines.duckdb.columns import plain_columns
from noisewright.release.engines.duckdb.files import Files, files_of, header
from noisewright.release.table.frames import READERS, content, frame_kind, is_spark, require_valid
from noisewright.release.table.locations import NOWHERE, Locations, everywhere, of_memory
from noisewright.release.table.names import require_distinct
from noisewright.release.table.person_local import Base

_TYPES = {
    "number": "float64",
    "integer": "int64",
    "date": "date",
    "time": "timestamp(6)",
    "instant": "timestamp('UTC', 6)",
    "text": "string",
}


@dataclass(frozen=True, slots=True)
class Source:
    """A table as an engine knows it, and what the answers are given back as."""

    engine: Engine
    table: Any
    bases: Mapping[Any, Base]
    name: str | None
    frame: str
    origin: Any = None
    """What was given, where it can be read again in another engine of this process; None where it cannot."""
    types: Any = None
    views: tuple[str, ...] = ()
    """Views that are person-local: declared so by the owner, or made here of a file or a frame."""

    joined: tuple[tuple[str, str | None], ...] = ()
    """Name and version of the private datasets that were joined to it."""

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

    def private_tables(self) -> list[Any]:
        """The tables of a database, and views that were declared, whose rows are of persons."""
        import ibis.expr.operations as ops

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
                "the two tables are in different places; put them into one DuckDB database, or join the tables before"
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
        """The same table with text columns read as declared: number, integer, date, time, instant or text."""
        changed: dict[str, Any] = {}
        for column, kind in (types or {}).items():
            require_column(self.table, column)
            if kind not in _TYPES:
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
            # A cast of text is compiled by our own grammar when the query is checked.
            changed[column] = held.cast(_TYPES[kind])
        if not changed:
            return self
        # Declared types are how the table is read: the unit is what they make of its text.
        table, units = self.table.mutate(**changed), {base.unit for base in self.bases.values()}
        return replace(self, table=table, bases={**self.bases, table.op(): Base(units.pop())}, types=types)


def open_source(
    source: Any, unit: str, local_views: tuple[str, ...] = (), *, beside: Engine | None = None, public: bool = False
) -> Source:
    """The source as a table; `beside` is the engine that it is to be joined in."""
    if isinstance(source, Files):
        return _files(source, unit, beside, public)
    if isinstance(source, str | Path):
        return _file(str(source), unit, local_views, beside, public)
    if (kind := frame_kind(source)) is not None:
        return _frame(source, kind, unit, beside, public)
    if is_spark(source):
        return _of_spark(_spark().of_frame(source), unit, local_views, public)
    if is_ibis(source):
        return _public_ibis(source) if public else _ibis(source, unit, local_views)
    raise InvalidTableError(
        f"the source is of type {type(source).__name__}; give the path of a CSV or Parquet file (or a glob),"
        ' "path.duckdb::table", "postgresql://user@host/database/table", "spark:table", "spark:/path/*.parquet", a'
        " DataFrame of pandas or polars, a table of Spark, an Arrow table, or an Ibis table on DuckDB, PostgreSQL or"
        " PySpark."
    )


def locations_of(source: Any) -> Locations:
    """Where the rows of a source are; it is opened for that, and no value is read."""
    return open_source(source, "", public=True).locations(private=False)


def is_ibis(source: Any) -> bool:
    """Whether it is a table of Ibis."""
    return type(source).__module__.partition(".")[0] == "ibis" and hasattr(source, "op") and hasattr(source, "columns")


def require_column(table: Any, column: str) -> None:
    """Refuse a column that is not there, and name the nearest ones."""
    from difflib import get_close_matches

    if column not in table.columns:
        near = get_close_matches(column, table.columns, 3) or list(table.columns)[:8]
        raise InvalidTableError(
            f"there is no column {column!r}; there are {', '.join(map(repr, near))}.", column=column
        )


def _file(text: str, unit: str, local_views: tuple[str, ...], beside: Engine | None, public: bool) -> Source:
    from noisewright.release.engines.duckdb.engine import DuckDB

    if text.startswith(("postgresql://", "postgres://")):
        engine, schema, name, shown = _postgres().opened(text, beside)
        table = guarded(engine, partial(engine.table, schema, name), spent=NOTHING_SPENT)
        opened = _public_ibis(table, engine) if public else _checked_leaves(engine, table, unit, local_views)
        return replace(opened, name=shown, origin=(text, unit))
    if text.startswith("spark:"):
        opened = _of_spark(_spark().of_address(text), unit, local_views, public)
        return replace(opened, name=text, origin=(text, unit))
    if "://" in text:
        # An address may hold a password, so that it is not repeated.
        raise InvalidTableError(
            f"the source is an address ({text.partition('://')[0][:20]}://...); give the path of a CSV or Parquet file,"
            ' "path.duckdb::table", "postgresql://user@host/database/table", "spark:s3a://...", a frame, or an Ibis'
            " table."
        )
    path, marker, name = text.partition("::")
    if marker:
        engine = DuckDB.opened(Path(path))
        return replace(_database_table(engine, name, unit, local_views, public), name=text)
    return _files(files_of(text), unit, beside, public)


def _files(files: Files, unit: str, beside: Engine | None, public: bool) -> Source:
    """Files that were found: in another engine they are the same, whatever folder the process is in by then."""
    from noisewright.release.engines.duckdb.engine import DuckDB

    memory = beside if isinstance(beside, DuckDB) else DuckDB.in_memory()
    kinds = {Path(one).suffix.lower() for one in files.paths}
    if kinds == {".parquet"}:
        table = memory.parquet(files)
    elif kinds <= {".csv", ".tsv", ".txt"}:
        table = memory.csv(files, *header(files.absolute))
    else:
        raise InvalidTableError(f"{files.given} is no .csv, .tsv or .parquet file, and no path.duckdb::table.")
    bases = {table.op(): _base(memory, table.op(), None if public else unit)}
    return Source(memory, table, bases, files.given, "pandas", (files, unit), views=(table.op().name,))


def _base(engine: Any, leaf: Any, unit: str | None) -> Base:
    """A table that a query begins with, and where its rows are."""
    import ibis.expr.operations as ops

    if isinstance(leaf, ops.DatabaseTable):
        return Base(unit, guarded(engine, partial(engine.locations, leaf), spent=NOTHING_SPENT))
    return Base(unit, of_memory(leaf.data.obj) if isinstance(leaf, ops.InMemoryTable) else NOWHERE)


def _database_table(engine: Any, name: str, unit: str, local_views: tuple[str, ...], public: bool) -> Source:
    if name not in engine.tables():
        raise InvalidTableError(f"there is no table {name!r} in this database; there are {', '.join(engine.tables())}.")
    table = engine.backend.table(name)
    return _public_ibis(table, engine) if public else _checked_leaves(engine, table, unit, local_views)


def _ibis(table: Any, unit: str, local_views: tuple[str, ...]) -> Source:
    engine, query = _of_ibis(table)
    return _checked_leaves(engine, query, unit, local_views)


def _of_ibis(table: Any) -> tuple[Any, Any]:
    """The engine of an Ibis table, and the table as that engine is asked for it."""
    from noisewright.release.engines.duckdb.engine import DuckDB

    backend = table.get_backend()
    if backend.name == "postgres":
        engine = _postgres().of(backend)
        return engine, guarded(engine, partial(engine.qualified, table), spent=NOTHING_SPENT)
    if backend.name == "pyspark":
        engine = _spark()(backend._session)
        return engine, engine.qualified(table)
    if backend.name != "duckdb":
        raise InvalidTableError(
            f"this Ibis table is on {backend.name}; tables on DuckDB, PostgreSQL and PySpark are supported."
        )
    _require_frames(table)
    return DuckDB(backend), table


def _require_frames(table: Any) -> None:
    """Refuse tables of Ibis in memory that are not read as their frames would be: DuckDB may fail on what they hold."""
    import ibis
    import ibis.expr.operations as ops

    for leaf in table.op().find(ops.InMemoryTable):
        kind = frame_kind(leaf.data.obj)
        if kind is None:
            raise InvalidTableError(
                f"{leaf.name!r} is no frame of pandas, polars or Arrow; give one. Nothing was spent."
            )
        data = plain_columns(READERS[kind](leaf.data.obj))
        require_valid(data)
        held = dict(zip(leaf.schema.names, ibis.Schema.from_pyarrow(data.schema).values(), strict=False))
        if wrong := [name for name, said in leaf.schema.items() if name not in held or not _is_alike(held[name], said)]:
            raise InvalidTableError(
                f"{wrong[0]!r} of the table in memory is said to hold {leaf.schema[wrong[0]]}, and is not read so; give"
                " the frame itself in place of ibis.memtable. Nothing was spent.",
                column=wrong[0],
            )


def _is_alike(one: Any, other: Any) -> bool:
    """Whether two types are the same, up to whether values may be missing."""
    return bool(one.copy(nullable=True) == other.copy(nullable=True))


def _postgres() -> Any:
    try:
        from noisewright.release.engines.postgres.engine import Postgres
    except ImportError:
        raise InvalidTableError(
            "tables of PostgreSQL need psycopg, which is not installed: pip install 'noisewright[tables,postgres]'."
        ) from None
    return Postgres


def _spark() -> Any:
    try:
        from noisewright.release.engines.spark.engine import Spark
    except ImportError:
        raise InvalidTableError(
            "tables of Spark need PySpark, which is not installed: pip install 'noisewright[tables,spark]'."
        ) from None
    return Spark


def _of_spark(found: tuple[Any, Any], unit: str, local_views: tuple[str, ...], public: bool) -> Source:
    engine, table = found
    return _public_ibis(table, engine) if public else _checked_leaves(engine, table, unit, local_views)


def _checked_leaves(engine: Any, table: Any, unit: str, local_views: tuple[str, ...]) -> Source:
    """Every table below a query is a private base table with the unit among its columns."""
    import ibis.expr.operations as ops

    bases: dict[Any, Base] = {}
    for leaf in table.op().find(ops.PhysicalTable):
        if unit not in leaf.schema:
            raise InvalidTableError(
                f"the table {leaf.name!r} has no column {unit!r}; every table of the query is private and must carry"
                " the unit. Bring public tables in with dataset.join_public(...).",
                column=unit,
            )
        bases[leaf] = _base(engine, leaf, unit)
    found = Source(engine, table, bases, None, "pandas", views=local_views)
    guarded(engine, found.require_sound_tables, spent=NOTHING_SPENT)
    return found


def _require_base_table(engine: Engine, leaf: Any) -> None:
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


def _frame(given: Any, kind: str, unit: str, beside: Engine | None, public: bool) -> Source:
    from noisewright.release.engines.duckdb.engine import DuckDB

    data = plain_columns(READERS[kind](given))
    memory = beside if isinstance(beside, DuckDB) else DuckDB.in_memory()
    require_valid(data)
    require_distinct(data.column_names)
    columns = [[name, str(held)] for name, held in zip(data.schema.names, data.schema.types, strict=True)]
    # The name is part of what a plan is known by: of a public table its content, of a private one only its columns.
    known = {"columns": columns, **({"content": content(data)} if public else {})}
    table = memory.register(data, f"frame_{digest(known)[:16]}", of_memory(given))
    bases = {table.op(): _base(memory, table.op(), None if public else unit)}
    return Source(memory, table, bases, None, kind, (given, unit), views=(table.op().name,))


def _public_ibis(table: Any, engine: Any = None) -> Source:
    import ibis.expr.operations as ops

    engine, query = _of_ibis(table) if engine is None else (engine, table)
    bases = {leaf: _base(engine, leaf, None) for leaf in query.op().find(ops.PhysicalTable)}
    return Source(engine, query, bases, None, "pandas")


def schema_of(source: str) -> dict[str, str]:
    """The columns of a file, a glob, "path.duckdb::table" or an address, with their types; CSV files hold text.

    Guarantees: reads the header of a CSV file, and of other sources what they say about themselves; no value.
    """
    # Read as public, it needs no unit yet; whether it may be private is asked when it is planned.
    table = open_source(source, "", public=True).table
    return {name: str(kind) for name, kind in table.schema().items()}

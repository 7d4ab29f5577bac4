"""DuckDB: files, frames in memory and databases.

What raises in DuckDB 1.4 and is therefore never compiled as it is: a cast of NaN, infinity or a large double to a
whole number, whole-number overflow (sums, products, abs and quotients of the least number), roots and logarithms of
what has none, casts of text. `TRY_CAST` gives NULL instead.

Tables are read behind a barrier: `TRY(column)` is the column, has no statistics, and is no column that a filter could
be handed down to a file, an index or a frame for. What plans by statistics is switched off besides.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import date
from functools import partial
from itertools import chain, count
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any

import duckdb
import ibis
import ibis.expr.operations as ops
import pyarrow as pa
import sqlglot.expressions as sge
from ibis.backends.duckdb import Backend
from ibis.formats.pyarrow import PyArrowData

from noisewright.problem.errors import InvalidTableError
from noisewright.problem.records import digest
from noisewright.release.engines.barrier import behind_barrier, column, selection
from noisewright.release.engines.base import Engine, Opened, Result
from noisewright.release.engines.duckdb import files as reading, functions, views
from noisewright.release.engines.duckdb.columns import plain_columns
from noisewright.release.engines.duckdb.files import Files, files_of, header
from noisewright.release.engines.expressions import Expressions
from noisewright.release.engines.registry import is_ibis
from noisewright.release.table.frames import READERS, content, frame_kind, listed_name, require_valid
from noisewright.release.table.locations import NOWHERE, Locations, of_files, of_memory
from noisewright.release.table.names import require_distinct

if TYPE_CHECKING:
    import ibis.expr.datatypes as dt
    import ibis.expr.types as ir

_WORD = 2**53 - 1
_CTRL_C = "Query interrupted"
"""The words of the RuntimeError that DuckDB makes of it while a query runs."""
_TEMPORARY = (
    "SELECT 1 FROM duckdb_tables() WHERE temporary AND lower(table_name) = lower($1)"
    " UNION ALL SELECT 1 FROM duckdb_views() WHERE temporary AND lower(view_name) = lower($1)"
)
_SETTINGS = {
    "disabled_optimizers": (
        "statistics_propagation,join_filter_pushdown,compressed_materialization,late_materialization,regex_range"
    ),
    "TimeZone": "UTC",
    "binary_as_string": "false",
    "ieee_floating_point_ops": "true",
    "integer_division": "false",
    "old_implicit_casting": "false",
}
"""What a connection is set to while it is asked: nothing is planned by statistics, and words have one meaning."""
_LOCATIONS = (
    "SELECT d.path, d.type, t.database_name, t.schema_name, t.name, t.sql FROM (SELECT database_name, schema_name,"
    " table_name AS name, NULL AS sql FROM duckdb_tables() UNION ALL SELECT database_name, schema_name, view_name, sql"
    " FROM duckdb_views() WHERE NOT internal) t JOIN duckdb_databases() d USING (database_name) WHERE lower(t.name) ="
    " lower($1) AND CASE WHEN $2 IS NULL THEN $4 OR t.schema_name IN (SELECT unnest(current_schemas(true)))"
    " ELSE lower(t.schema_name) = lower($2) END AND CASE WHEN $3 IS NULL"
    " THEN $4 OR t.database_name IN (current_database(), 'temp') ELSE lower(t.database_name) = lower($3) END"
)
"""Tables and views of a name; the last word says whether every database and schema is looked through, as for views."""
_WRITTEN = {str: "VARCHAR", bool: "BOOLEAN", int: "BIGINT", date: "DATE"}
_SHORT = 1000
_GIVEN = re.compile(r"\$(\d)")
_FUNCTIONS = "SELECT DISTINCT lower(function_name) FROM duckdb_functions() WHERE internal = $1"


def _literals(columns: Mapping[str, Sequence[Any]]) -> str | None:
    """Short columns of Python values in words of SQL, which spares a plan the making of arrays; None for others."""
    found = []
    for name, values in columns.items():
        kind = _WRITTEN.get(type(values[0])) if type(values) is list and 0 < len(values) <= _SHORT else None
        if kind is None or any("\0" in value for value in values if isinstance(value, str)):
            return None
        written = ", ".join(sge.convert(value).sql("duckdb") for value in values)
        found.append(f"unnest([{written}]::{kind}[]) AS {reading.identifier(name)}")
    return ", ".join(found)


class _Columns(PyArrowData):  # type: ignore[misc]
    """The types of Ibis for what comes back, as its own converter has them: that one loads pandas, which is slow."""

    @classmethod
    def convert_column(cls, column: pa.Array, dtype: dt.DataType) -> pa.Array:
        return pa.nulls(len(column)) if dtype.is_null() else super().convert_column(column, dtype)


class DuckDB(Expressions):
    """A connection to DuckDB through Ibis."""

    name = "duckdb"
    in_process = True
    errors: tuple[type[Exception], ...] = (duckdb.Error,)
    floors_all = True

    def __init__(self, backend: Backend) -> None:
        self.backend = backend
        # One for each connection, however many engines stand for it: two threads would get each other's results.
        self._lock = vars(backend).setdefault("_noisewright_lock", RLock())
        # By the name of a table of this connection, what file or frame it was made of here.
        self._made: dict[str, Locations] = vars(backend).setdefault("_noisewright_made", {})
        # By the name of such a table, how it reads its files.
        self._views: dict[str, str] = vars(backend).setdefault("_noisewright_views", {})
        # By the path that a database was attached by, the file that it is, whatever folder the process goes to.
        self._paths: dict[str, str] = vars(backend).setdefault("_noisewright_paths", {})
        with suppress(duckdb.Error):
            for (path,) in self._rows("SELECT path FROM duckdb_databases() WHERE path IS NOT NULL"):
                if Path(path).is_file():
                    self._paths.setdefault(path, str(Path(path).absolute()))
        self.steps = (0, 1)

    @property
    def connection(self) -> Backend:
        return self.backend

    @classmethod
    def in_memory(cls) -> DuckDB:
        """A new engine of this process, for files and frames."""
        return cls(ibis.duckdb.connect())

    @classmethod
    def opened(cls, source: object, *, public: bool, beside: Engine | None) -> Opened:
        """A file or glob, "path.duckdb::table", a frame, or a table of Ibis; files and frames can go to any DuckDB."""
        if is_ibis(source):
            table: ir.Table = source
            _require_frames(table)
            return Opened(cls(table.get_backend()), table)
        if isinstance(source, str):
            path, marker, name = source.partition("::")
            if marker:
                engine = cls.database(Path(path))
                return Opened(engine, engine.table(name), source)
            source = files_of(source)
        engine = beside if isinstance(beside, DuckDB) else cls.in_memory()
        if isinstance(source, Files):
            found, commas = engine.files(source), reading.unsure_decimals(source)
            return Opened(engine, found, source.given, origin=source, made=True, unsure_decimals=commas)
        kind, table = engine.frame(source, public=public)
        return Opened(engine, table, frame=kind, origin=source, made=True)

    @classmethod
    def database(cls, path: Path) -> DuckDB:
        """A database file, to be read only."""
        if not path.is_file():
            raise InvalidTableError(f"there is no file {path}; give the path of a DuckDB database, as path::table.")
        problem = ""
        try:
            return cls(ibis.duckdb.connect(path, read_only=True))
        except duckdb.Error as error:
            problem = type(error).__name__
        raise InvalidTableError(
            f"{path} cannot be opened as a DuckDB database ({problem}); it may be another kind of file, of a newer"
            " version, or open for writing elsewhere. Nothing was spent."
        )

    def table(self, name: str) -> ir.Table:
        """A table or view of the database."""
        there = sorted(self.backend.list_tables())
        if name not in there:
            raise InvalidTableError(f"there is no table {name!r} in this database; there are {', '.join(there)}.")
        return self.backend.table(name)

    def files(self, files: Files) -> ir.Table:
        """Files that were found: in another engine they are the same, whatever folder the process is in by then."""
        kinds = {Path(one).suffix.lower() for one in files.paths}
        if kinds == {".parquet"}:
            return self.parquet(files)
        if kinds <= reading.TEXTS:
            return self.csv(files, *header(files.absolute))
        raise InvalidTableError(f"{files.given} is no .csv, .tsv or .parquet file, and no path.duckdb::table.")

    def frame(self, given: object, *, public: bool) -> tuple[str, ir.Table]:
        """The kind of a frame, and a table of its values where they are.

        The name is part of what a plan is known by: of a public table its content, of a private one only its columns.
        """
        kind = str(frame_kind(given))
        data = plain_columns(READERS[kind](given))
        require_valid(data)
        require_distinct(data.column_names)
        columns = [[name, str(held)] for name, held in zip(data.schema.names, data.schema.types, strict=True)]
        known = {"columns": columns, **({"content": content(data)} if public else {})}
        return kind, self.register(data, f"frame_{digest(known)[:16]}", of_memory(given))

    def parquet(self, files: Files) -> ir.Table:
        """Parquet files as one table, with the columns that folders stand for.

        Refuses files of different columns or types, because a value of one would be cast to the type of another, and
        by the schema what may fail on a value, at whatever depth, such as times in milliseconds: one that is far away
        makes every query of the file fail, also one that does not read it.
        """
        problem, schemas, unread = "", [], None
        try:
            schemas = [self._columns(reading.parquet_scan([path])) for path in files.absolute]
            leaves = self._rows(reading.LEAVES, [reading.literal(path) for path in files.absolute])
            unread = reading.why_not_read(leaves)
        except duckdb.Error as error:
            problem = type(error).__name__
        if problem:
            raise InvalidTableError(f"{files.paths[0]} cannot be read as Parquet ({problem}). Nothing was spent.")
        for path, schema in zip(files.paths, schemas, strict=True):
            if wrong := sorted({name for name, _ in set(schema.items()) ^ set(schemas[0].items())}):
                raise InvalidTableError(
                    f"{files.paths[0]} and {path} have different columns or types ({', '.join(map(repr, wrong[:3]))});"
                    " give files of one schema.",
                    column=wrong[0],
                )
        if unread is not None:
            column, why = unread
            raise InvalidTableError(
                f"{column!r} of {files.paths[0]} {why}, or give the file as an Arrow table:"
                " pyarrow.parquet.read_table(path). Nothing was spent.",
                column=column,
            )
        return self._view(files, reading.with_folders(reading.parquet_scan, files, list(schemas[0])))

    def _columns(self, source: str) -> dict[str, str]:
        return {row[0]: row[1] for row in self._rows(f"DESCRIBE SELECT * FROM {source}")}

    def csv(self, files: Files, names: list[str], separator: str) -> ir.Table:
        """CSV files as one table of texts, by a fixed dialect, with the columns that folders stand for."""
        return self._view(files, reading.with_folders(partial(reading.csv_scan, names, separator), files, names))

    def _view(self, files: Files, query: str) -> ir.Table:
        """What files hold, under a name of this connection.

        The same path means other files in another folder: what has the name keeps it, and stays what it is.
        """
        names = chain([files.name], (f"{files.name}_{place}" for place in count(2)))
        with self._lock:
            name = next(one for one in names if self._views.setdefault(one, query) == query)
            self.backend.con.execute(f"CREATE OR REPLACE TEMP VIEW {name} AS {query}")
        self._made[name] = of_files(files.absolute)
        return self.backend.table(name)

    def register(self, data: pa.Table, name: str, locations: Locations) -> ir.Table:
        """An Arrow table by a name, with the first number behind it that is free; `locations` is where its rows are."""
        taken = set(self.backend.list_tables())
        free = next(one for one in (f"{name}_{i}" for i in count(1)) if one not in taken)
        problem = ""
        try:
            self.backend.con.register(free, data)
            self._made[free] = locations
            return self.backend.table(free)
        except duckdb.Error as error:
            problem = type(error).__name__
        raise InvalidTableError(
            f"the frame holds a type that DuckDB does not read ({problem}), of"
            f" {', '.join(sorted(map(str, data.schema.types)))}; cast that column, or leave it out."
        )

    def of_text(self, text: ir.StringValue, grammar: str, kind: str, length: int | None = None) -> ir.Value:
        plain = text.strip()
        said = plain if length is None else plain.left(length)
        return functions.fits(plain, grammar).ifelse(said, ibis.null("string")).try_cast(kind)

    def cast(self, value: ir.Value, to: str | dt.DataType) -> ir.Value:
        whole = value.type().is_floating() and ibis.dtype(to).is_signed_integer()
        return (value.try_cast("int64") if whole else value).try_cast(to)  # 127.5 in 8 bits would be -128

    def floor_of(self, number: ir.Value) -> ir.Value:
        # NULL for what is no number of 64 bits, should a case ever be worked out where its condition does not hold.
        return functions.floor(number).try_cast("int64")

    def bytes_of(self, text: ir.Value) -> ir.Value:
        return functions.encode(text)

    def digits_of(self, data: ir.Value) -> ir.Value:
        return functions.digits(data)

    def hash_of(self, text: ir.Value) -> ir.Value:
        return functions.md5(text)

    def word_of(self, data: ir.Value) -> ir.Value:
        # DuckDB takes the 16 bytes of an MD5 for one number, the lowest first; Ibis has no type for it.
        return (functions.md5_number(data) & ibis.literal(_WORD, "uint64")).cast("int64")

    def slot_of(self, data: ir.Value, slots: int) -> ir.Value:
        return functions.hashed(data) % ibis.literal(slots, "uint64")

    def sum_of(self, terms: ir.Value) -> ir.Value:
        # DuckDB adds 64-bit numbers in 128 bits; Ibis would take the result for one of 64.
        return functions.added(terms)

    def sum_text(self, terms: ir.Value, largest: int) -> ir.Value:
        return functions.added(terms).cast("string")

    def locations(self, table: ops.DatabaseTable) -> Locations:
        """What a file or frame was made of here, or the tables of that name in their database files.

        Names are compared as DuckDB does it, without case; a name without a schema is any that the connection looks for
        first. What is in memory alone is known by the connection. A view is whatever it is made of.
        """
        space = table.namespace
        return self._locations((space.catalog, space.database, table.name), anywhere=False, above=frozenset())

    def _locations(self, name: views.Name, *, anywhere: bool, above: frozenset[tuple[str, ...]]) -> Locations:
        """The locations of everything that a name may stand for; views that are `above` were looked into."""
        if (made := self._made.get(name[2])) is not None:
            return made
        catalog, schema, called = name
        found = self._rows(_LOCATIONS, called, schema, catalog, anywhere)
        if not found:
            return Locations(unsure=f"{called!r} is no table, view or file that is known here")
        everything = NOWHERE
        for path, kind, *known, definition in found:
            within = tuple(one.lower() for one in known)
            if kind != "duckdb":
                everything |= Locations(unsure=f"{called!r} is in a database of another kind ({kind})")
            if path is None:
                everything |= Locations(
                    frozenset({("duckdb", id(self.backend.con), *within)}), held=(self.backend.con,)
                )
            elif Path(file := self._paths.get(path, path)).is_absolute():
                everything |= of_files([file], *within[1:])
            else:
                everything |= Locations(unsure=f"{called!r} is in a file that was attached by a relative path")
            if definition is not None and within not in above:
                everything |= self._made_of(called, definition, above | {within})
        return everything

    def _made_of(self, called: str, definition: str, above: frozenset[tuple[str, ...]]) -> Locations:
        """The locations of what a view is made of."""
        everything = NOWHERE
        try:
            for name, files in views.parts_of(definition, self._rows):
                if name is None:
                    everything |= of_files(files)
                    continue
                found = self._locations(name, anywhere=True, above=above)
                if found.marks or found.paths or found.memory:
                    everything |= found
                elif not files:  # DuckDB takes the name of no table for that of a file
                    everything |= of_files(views.files(name[2], self._rows))
        except (views.UnsureError, duckdb.Error, RecursionError) as error:
            why = str(error) if isinstance(error, views.UnsureError) else "DuckDB does not say what it reads"
            everything |= Locations(unsure=f"{called!r} is a view, and {why}")
        return everything

    def why_unsound(self, table: ops.DatabaseTable) -> str | None:
        return None

    def is_view(self, table: ops.DatabaseTable) -> bool:
        return self._definition(table) is None

    def is_hidden(self, table: ops.DatabaseTable) -> bool:
        return bool(self._rows(_TEMPORARY, table.name))

    def replaced_functions(self) -> list[str]:
        own = {name for (name,) in self._rows(_FUNCTIONS, False)}
        return sorted(own & {name for (name,) in self._rows(_FUNCTIONS, True)}) if own else []

    def _rows(self, query: str, *given: object) -> list[tuple[Any, ...]]:
        """What a query about the database gives; `$1` and so on stand for what is given.

        That is written into it as literals: to look at a parameter DuckDB loads pandas, which takes longer than a plan.
        """
        if given:
            query = _GIVEN.sub(lambda sign: sge.convert(given[int(sign[1]) - 1]).sql("duckdb"), query)
        with self._lock:
            found: list[tuple[Any, ...]] = self.backend.con.execute(query).fetchall()
        return found

    def has_collation(self, table: ops.DatabaseTable) -> bool:
        ((everywhere,),) = self._rows("SELECT current_setting('default_collation')")
        return bool(everywhere) or " COLLATE " in (self._definition(table) or "").upper()

    def _definition(self, table: ops.DatabaseTable) -> str | None:
        """How a base table was made; None if there is no such base table."""
        space = table.namespace
        found = self._rows(
            "SELECT sql FROM duckdb_tables() WHERE table_name = $1 AND schema_name = coalesce($2, current_schema())"
            " AND database_name = coalesce($3, current_database())",
            table.name,
            space.database,
            space.catalog,
        )
        return str(found[0][0]) if found else None

    def small_table(self, columns: Mapping[str, Any]) -> ir.Table:
        # A table of DuckDB's own has statistics, by which a join on whole keys becomes a lookup in an array.
        if (short := _literals(columns)) is not None:
            name = f"listed_{digest({'columns': short})[:32]}"
            self.backend.con.execute(f"CREATE TEMP TABLE IF NOT EXISTS {name} AS SELECT {short}")
            return self.backend.table(name)
        data = pa.table(dict(columns))
        name = listed_name(data)
        self.backend.con.register(f"{name}_arrow", data)
        try:
            self.backend.con.execute(f"CREATE TEMP TABLE IF NOT EXISTS {name} AS SELECT * FROM {name}_arrow")
        finally:
            self.backend.con.unregister(f"{name}_arrow")
        return self.backend.table(name)

    def settled(self, query: ir.Table) -> ir.Table:
        return query.replace(functions.settled)

    def fetch(self, expression: ir.Expr) -> pa.Table:
        with self._lock, self._pinned():
            self.backend._run_pre_execute_hooks(expression)  # brings tables of this process in
            tree = behind_barrier(expression, self.backend, partial(selection, read=_opaque))
            data = self.backend.con.sql(tree.sql("duckdb")).to_arrow_table()
            return expression.__pyarrow_result__(data, data_mapper=_Columns)

    @contextmanager
    def _pinned(self) -> Iterator[None]:
        """With the settings that queries are asked by; those of a connection that was given come back."""
        (held,) = self._rows("SELECT " + ", ".join(f"current_setting('{name}')" for name in _SETTINGS))
        before = {name: str(value) for name, value in zip(_SETTINGS, held, strict=True)}
        changed = {name: value for name, value in _SETTINGS.items() if before[name].lower() != value.lower()}
        try:
            for name, value in changed.items():
                self.backend.con.execute(f"SET {name} = {reading.quoted(value)}")
            yield
        finally:
            for name in changed:
                with suppress(duckdb.Error):  # in a transaction of the caller's that failed
                    self.backend.con.execute(f"SET {name} = {reading.quoted(before[name])}")

    def progress(self) -> Callable[[], float | None]:
        con = self.backend.con
        # A bar is no reason for a release to fail, so that every error is let go.
        with suppress(Exception):
            # DuckDB counts only where a bar is enabled; its own is not printed.
            con.execute("SET enable_progress_bar = true")
            con.execute("SET enable_progress_bar_print = false")

        def done() -> float | None:
            with suppress(Exception):
                # A query that does not say how far it is counts as just begun; between two slices none runs.
                found, (before, all_of) = float(con.query_progress()), self.steps
                known = 0 <= found <= 100
                return (100 * before + (found if known else 0)) / all_of if known or before else None
            return None

        return done

    def run(self, work: Callable[[], Result]) -> Result:
        try:
            return work()
        except RuntimeError as error:
            if str(error) != _CTRL_C:
                raise
        raise KeyboardInterrupt

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        with self._lock, self._pinned(), self._one_view():
            yield

    @contextmanager
    def _one_view(self) -> Iterator[None]:
        if self._transaction() == self._transaction():
            # The caller has a transaction open already, which is a snapshot as well; a second one would abort it.
            yield
            return
        try:
            self.backend.con.execute("BEGIN TRANSACTION")
            yield
        except BaseException:
            with suppress(duckdb.Error):  # none was begun
                self.backend.con.execute("ROLLBACK")
            raise
        self.backend.con.execute("COMMIT")

    def _transaction(self) -> Any:
        """The number of the running transaction; without one that lasts, each query has its own."""
        return self.backend.con.execute("SELECT txid_current()").fetchone()


def _opaque(name: str, kind: dt.DataType) -> sge.Expression:
    """A column as it is, in an expression that DuckDB neither has statistics of nor takes for the column.

    A category of an ENUM is its text: by itself it is ordered by its place in a list, which may come from the values.
    """
    value = sge.cast(column(name), "text", dialect="duckdb") if kind.is_string() else column(name)
    return sge.Anonymous(this="TRY", expressions=[value])


def _require_frames(table: ir.Table) -> None:
    """Refuse tables of Ibis in memory that are not read as their frames would be: DuckDB may fail on what they hold."""
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


def _is_alike(one: dt.DataType, other: dt.DataType) -> bool:
    """Whether two types are the same, up to whether values may be missing."""
    return bool(one.copy(nullable=True) == other.copy(nullable=True))

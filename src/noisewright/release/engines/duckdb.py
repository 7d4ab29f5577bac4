"""DuckDB: files, frames in memory and databases.

What raises in DuckDB 1.4 and is therefore never compiled as it is: a cast of NaN, infinity or a large double to a
whole number, whole-number overflow (sums, products, abs and quotients of the least number), roots and logarithms of
what has none, casts of text. `TRY_CAST` gives NULL instead.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from itertools import count
from pathlib import Path
from typing import Any

import duckdb
import ibis
import pyarrow as pa

from noisewright.problem.errors import InvalidTableError
from noisewright.problem.records import digest
from noisewright.release.engines.base import DATE_GRAMMAR, GRAMMAR, INSTANT_GRAMMAR, TIME_GRAMMAR, WHOLE_GRAMMAR

_COARSE_TIMES = "SELECT name FROM parquet_schema(?) WHERE converted_type = 'TIMESTAMP_MILLIS' LIMIT 1"


@ibis.udf.scalar.builtin(name="md5", signature=(("string",), "string"))  # type: ignore[untyped-decorator]
def _md5(text: Any) -> Any: ...


@ibis.udf.scalar.builtin(name="encode", signature=(("string",), "binary"))  # type: ignore[untyped-decorator]
def _encode(text: Any) -> Any: ...


@ibis.udf.scalar.builtin(name="hex", signature=(("binary",), "string"))  # type: ignore[untyped-decorator]
def _hex(data: Any) -> Any: ...


@ibis.udf.scalar.builtin(  # type: ignore[untyped-decorator]
    name="regexp_full_match", signature=(("string", "string"), "boolean")
)
def _fits(text: Any, grammar: Any) -> Any: ...


@ibis.udf.agg.builtin(name="sum", signature=(("int64",), "decimal(38, 0)"))  # type: ignore[untyped-decorator]
def _sum(terms: Any) -> Any: ...


class DuckDB:
    """A connection to DuckDB through Ibis."""

    name = "duckdb"
    errors: tuple[type[Exception], ...] = (duckdb.Error,)

    def __init__(self, backend: Any) -> None:
        self.backend = backend
        self.steps = (0, 1)

    @property
    def connection(self) -> Any:
        return self.backend

    @classmethod
    def in_memory(cls) -> DuckDB:
        """A new engine of this process, for files and frames."""
        return cls(ibis.duckdb.connect())

    @classmethod
    def opened(cls, path: Path) -> DuckDB:
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

    def tables(self) -> list[str]:
        """The tables and views of the database."""
        return sorted(self.backend.list_tables())

    def parquet(self, paths: list[str]) -> Any:
        """Parquet files as one table.

        Refuses times in milliseconds, by the schema: one that is far away makes every query of the file fail, also one
        that does not read it.
        """
        problem = ""
        try:
            table = self.backend.read_parquet(paths, table_name=_named(paths))
            coarse = self.backend.con.execute(_COARSE_TIMES, [paths]).fetchone()
        except duckdb.Error as error:
            problem = type(error).__name__
        if problem:
            raise InvalidTableError(f"{paths[0]} cannot be read as Parquet ({problem}). Nothing was spent.")
        if coarse is not None:
            raise InvalidTableError(
                f"{coarse[0]!r} of {paths[0]} counts milliseconds, of which DuckDB fails on those far away; write the"
                " file with microseconds, or give it as an Arrow table: pyarrow.parquet.read_table(path).",
                column=coarse[0],
            )
        return table

    def csv(self, paths: list[str], names: list[str], separator: str) -> Any:
        """CSV files as one table of texts, by a fixed dialect; rows that do not fit the header are left out.

        Nothing is sniffed: a sniffer looks at values, and a wrong guess raises in the middle of a release.
        """
        columns = ", ".join(f"{_quoted(name)}: 'VARCHAR'" for name in names)
        files = ", ".join(map(_quoted, paths))
        dialect = f"delim = {_quoted(separator)}, quote = '\"', escape = '\"', header = true, auto_detect = false"
        rules = "ignore_errors = true, nullstr = '', allow_quoted_nulls = false"
        query = f"SELECT * FROM read_csv([{files}], {dialect}, columns = {{{columns}}}, {rules})"
        name = _named(paths)
        self.backend.con.execute(f"CREATE OR REPLACE TEMP VIEW {name} AS {query}")
        return self.backend.table(name)

    def register(self, data: Any, name: str) -> Any:
        """An Arrow table under a name, with the first number behind it that is free."""
        taken = set(self.backend.list_tables())
        free = next(one for one in (f"{name}_{i}" for i in count(1)) if one not in taken)
        self.backend.con.register(free, data)
        return self.backend.table(free)

    def number_of_text(self, text: Any) -> Any:
        return _fitting(text, GRAMMAR).try_cast("float64")

    def whole_of_text(self, text: Any) -> Any:
        return _fitting(text, WHOLE_GRAMMAR).try_cast("int64")

    def date_of_text(self, text: Any) -> Any:
        return _fitting(text, DATE_GRAMMAR).try_cast("date")

    def time_of_text(self, text: Any) -> Any:
        return _fitting(text, TIME_GRAMMAR).try_cast("timestamp(6)")

    def instant_of_text(self, text: Any) -> Any:
        return _fitting(text, INSTANT_GRAMMAR).try_cast("timestamp('UTC', 6)")

    def cast(self, value: Any, to: Any) -> Any:
        return value.try_cast(to)

    def bytes_of(self, text: Any) -> Any:
        return _encode(text)

    def digits_of(self, data: Any) -> Any:
        return _hex(data)

    def hash_of(self, text: Any) -> Any:
        return _md5(text)

    def sum_of(self, terms: Any) -> Any:
        # DuckDB adds 64-bit numbers in 128 bits; Ibis would take the result for one of 64.
        return _sum(terms)

    def sum_text(self, terms: Any) -> Any:
        return _sum(terms).cast("string")

    def is_view(self, table: Any) -> bool:
        return self._definition(table) is None

    def has_collation(self, table: Any) -> bool:
        (everywhere,) = self.backend.con.execute("SELECT current_setting('default_collation')").fetchone()
        return bool(everywhere) or " COLLATE " in (self._definition(table) or "").upper()

    def _definition(self, table: Any) -> str | None:
        """How a base table was made; None if there is no such base table."""
        space = table.namespace
        found = self.backend.con.execute(
            "SELECT sql FROM duckdb_tables() WHERE table_name = ? AND schema_name = coalesce(?, 'main')"
            " AND database_name = coalesce(?, current_database())",
            [table.name, space.database, space.catalog],
        ).fetchone()
        return None if found is None else str(found[0])

    def small_table(self, columns: Mapping[str, Any]) -> Any:
        # A table of DuckDB's own has statistics, by which a join on whole keys becomes a lookup in an array.
        data = pa.table(dict(columns))
        name = f"listed_{_content(data)[:32]}"
        self.backend.con.register(f"{name}_arrow", data)
        try:
            self.backend.con.execute(f"CREATE TEMP TABLE IF NOT EXISTS {name} AS SELECT * FROM {name}_arrow")
        finally:
            self.backend.con.unregister(f"{name}_arrow")
        return self.backend.table(name)

    def fetch(self, expression: Any) -> Any:
        return self.backend.to_pyarrow(expression)

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        if self._transaction() == self._transaction():
            # The caller has a transaction open already, which is a snapshot as well; a second one would abort it.
            yield
            return
        self.backend.con.execute("BEGIN TRANSACTION")
        try:
            yield
        except BaseException:
            self.backend.con.execute("ROLLBACK")
            raise
        self.backend.con.execute("COMMIT")

    def _transaction(self) -> Any:
        """The number of the running transaction; without one that lasts, each query has its own."""
        return self.backend.con.execute("SELECT txid_current()").fetchone()


def _fitting(text: Any, grammar: str) -> Any:
    """The text without spaces around it, NULL where it does not fit."""
    plain = text.strip()
    return _fits(plain, grammar).ifelse(plain, ibis.null("string"))


def _quoted(text: str) -> str:
    """A text as a literal of SQL."""
    return "'" + text.replace("'", "''") + "'"


def _named(paths: list[str]) -> str:
    """A name for files that does not change from run to run."""
    return f"files_{digest({'paths': paths})[:16]}"


def _content(data: Any) -> str:
    """A digest of a small public table."""
    found = sha256(str(data.schema).encode())
    for batch in data.combine_chunks().to_batches():
        found.update(batch.serialize())
    return found.hexdigest()

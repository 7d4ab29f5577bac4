"""The same rows as files, frames and tables of each kind, as each writer writes them.

A form takes Arrow tables and gives sources of one engine: two private ones, and a public one.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from io import StringIO
from itertools import count
from pathlib import Path
from random import Random
from typing import Any, TypeAlias

import duckdb
import ibis
import pandas as pd
import polars as pl
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
from psycopg import sql

from noisewright.release.table.sources import Source, open_source

Three: TypeAlias = tuple[pa.Table, pa.Table, pa.Table]
Opened: TypeAlias = tuple[Source, Source, Source]
Form: TypeAlias = Callable[[Three, Path, Random], Opened]
_NUMBERS = count()
TYPES = {"x": "number", "y": "number", "i": "integer", "d": "date", "ts": "time", "z": "instant"}
"""How the texts of a CSV file are read."""


@dataclass(frozen=True)
class Written:
    """Tables that were written as files, each in its own way; `write` puts one into a folder and says what to open."""

    write: Callable[[pa.Table, Path, Random], str]
    typed: bool = False

    def __call__(self, tables: Three, folder: Path, random: Random) -> Opened:
        own = folder / str(next(_NUMBERS))
        own.mkdir()
        found: list[Source] = []
        for place, data in enumerate(tables):
            inside = own / f"table {place}"
            inside.mkdir()
            path, beside = self.write(data, inside, random), found[0].engine if found else None
            opened = open_source(path, "" if place == 2 else "u", beside=beside, public=place == 2)
            found.append(opened.typed(_types(data)) if self.typed else opened)
        return found[0], found[1], found[2]


def _types(data: pa.Table) -> Mapping[str, str]:
    kinds = {name: kind for name, kind in TYPES.items() if name in data.column_names}
    whole = "u" in data.column_names and pa.types.is_integer(data.schema.field("u").type)
    return {**kinds, "u": "integer"} if whole else kinds


def _by_pyarrow(data: pa.Table, folder: Path, random: Random) -> str:
    path = folder / "rows.parquet"
    options: dict[str, Any] = {
        "use_dictionary": random.random() < 0.5,
        "write_statistics": random.random() < 0.8,
        "write_page_index": random.random() < 0.5,
        "row_group_size": random.choice([2, 100, 10**6]),
        "data_page_version": random.choice(["1.0", "2.0"]),
    }
    pq.write_table(data, path, **options)
    return str(path)


def _by_polars(data: pa.Table, folder: Path, random: Random) -> str:
    path = folder / "rows.parquet"
    frame: Any = pl.from_arrow(data)
    frame.write_parquet(path, statistics=random.choice([True, "full", False]), row_group_size=random.choice([3, None]))
    return str(path)


def _by_duckdb(data: pa.Table, folder: Path, random: Random) -> str:
    path = folder / "rows.parquet"
    size = random.choice(["", ", ROW_GROUP_SIZE 2048", ", PARQUET_VERSION V2"])
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'; SET preserve_insertion_order = true")
        # A dictionary, and with it a Bloom filter, is written of values that come again often enough.
        limit = random.choice(["", ", DICTIONARY_SIZE_LIMIT 1000000"])
        connection.register("rows", data)
        connection.execute(f"COPY rows TO '{path}' (FORMAT parquet{size}{limit})")
    return str(path)


def _in_folders(data: pa.Table, folder: Path, random: Random) -> str:
    """Parquet files in folders that stand for the values of a column."""
    if "k" not in data.column_names:
        return _by_pyarrow(data, folder, random)
    kept = data.column_names
    keys = data["k"].to_pylist()
    for key in sorted({key for key in keys if key}) or ["A"]:
        inside = folder / f"k={key.strip()}" / f"{len(key)}"
        inside.mkdir(parents=True, exist_ok=True)
        rows = data.filter(pa.array([one == key for one in keys])) if keys else data
        pq.write_table(rows.select([name for name in kept if name != "k"]), inside / "rows.parquet")
    return f"{folder}/**/*.parquet"


def as_csv(data: pa.Table) -> str:
    """A table as well-formed CSV: texts in quotation marks, missing values as nothing."""
    lines = StringIO()
    lines.write(",".join(data.column_names) + "\n")
    writer = (
        csv.writer(lines, quoting=csv.QUOTE_STRINGS, lineterminator="\n") if hasattr(csv, "QUOTE_STRINGS") else None
    )
    for row in zip(*(column.cast(_written(column.type)).to_pylist() for column in data.columns), strict=True):
        if writer is not None:
            writer.writerow(row)
        else:
            lines.write(",".join(_field(value) for value in row) + "\n")
    return lines.getvalue()


def _written(kind: pa.DataType) -> pa.DataType:
    return pa.string() if not pa.types.is_floating(kind) else kind


def _field(value: Any) -> str:
    if value is None:
        return ""
    return '"' + value.replace('"', '""') + '"' if isinstance(value, str) else repr(value)


def _by_hand(data: pa.Table, folder: Path, random: Random) -> str:
    path = folder / "rows.csv"
    path.write_text(as_csv(data), encoding="utf-8", newline="")
    return str(path)


def _frames(made: Callable[[pa.Table], Any]) -> Form:
    def form(tables: Three, folder: Path, random: Random) -> Opened:
        visits, bills, public = map(made, tables)
        first = open_source(visits, "u")
        second = open_source(bills, "u", beside=first.engine)
        return first, second, open_source(public, "", beside=first.engine, public=True)

    return form


def _as_pandas(data: pa.Table) -> Any:
    """Doubles as numpy has them, where NaN stands for what is missing too; others by their Arrow types."""
    return data.to_pandas(types_mapper=lambda kind: None if pa.types.is_floating(kind) else pd.ArrowDtype(kind))


def _in_pieces(data: pa.Table) -> pa.Table:
    """The same rows in several batches."""
    return pa.concat_tables([data.slice(start, 3) for start in range(0, min(len(data), 30), 3)] + [data.slice(30)])


def _in_database(tables: Three, folder: Path, random: Random) -> Opened:
    """Tables of a DuckDB database, with an index on each column that can have one."""
    path = folder / f"{next(_NUMBERS)}.duckdb"
    with duckdb.connect(str(path)) as connection:
        for name, data in zip(("visits", "bills", "public"), tables, strict=True):
            connection.register("rows", data)
            connection.execute(f"CREATE TABLE {name} AS SELECT * FROM rows")
            for column in data.column_names:
                if random.random() < 0.7:
                    connection.execute(f'CREATE INDEX "{name} {column}" ON {name} ("{column}")')
    backend = ibis.duckdb.connect(path, read_only=True)
    first, second = (open_source(backend.table(name), "u") for name in ("visits", "bills"))
    return first, second, open_source(backend.table("public"), "", beside=first.engine, public=True)


FORMS: dict[str, Form] = {
    "parquet by pyarrow": Written(_by_pyarrow),
    "parquet by polars": Written(_by_polars),
    "parquet by duckdb": Written(_by_duckdb),
    "parquet in folders": Written(_in_folders),
    "csv": Written(_by_hand, typed=True),
    "arrow": _frames(_in_pieces),
    "pandas": _frames(_as_pandas),
    "polars": _frames(pl.from_arrow),
    "duckdb": _in_database,
}
"""The forms that DuckDB reads, without those that need a server or a JVM."""


@contextmanager
def in_postgres(url: str) -> Iterator[Form]:
    """Tables of a PostgreSQL server, with indexes, partitions and fresh statistics."""
    backend = ibis.postgres.from_connection(psycopg.connect(url, autocommit=True))
    backend.raw_sql("SET TimeZone = 'America/St_Johns'; CREATE SCHEMA IF NOT EXISTS falsifier")

    def form(tables: Three, folder: Path, random: Random) -> Opened:
        names = [_copied(backend.con, data, random) for data in tables]
        first, second = (open_source(backend.table(name, database="falsifier"), "u") for name in names[:2])
        public = open_source(backend.table(names[2], database="falsifier"), "", beside=first.engine, public=True)
        return first, second, public

    try:
        yield form
    finally:
        backend.disconnect()


_IN_POSTGRES = {
    pa.float64(): "double precision",
    pa.int64(): "bigint",
    pa.string(): "text",
    pa.bool_(): "boolean",
    pa.date32(): "date",
    pa.timestamp("us"): "timestamp",
    pa.timestamp("us", "UTC"): "timestamptz",
}


def _copied(connection: Any, data: pa.Table, random: Random) -> str:
    name = f"rows {next(_NUMBERS)}"
    table = sql.Identifier("falsifier", name)
    kinds = [
        sql.SQL("{} {}").format(sql.Identifier(field.name), sql.SQL(_IN_POSTGRES[field.type])) for field in data.schema
    ]
    parts = "k" in data.column_names and random.random() < 0.3
    with connection.transaction(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL TimeZone = 'UTC'; SET LOCAL DateStyle = 'ISO'")
        shape = sql.SQL(", ").join(kinds)
        cursor.execute(
            sql.SQL("CREATE TABLE {} ({}) {}").format(table, shape, sql.SQL("PARTITION BY LIST (k)" if parts else ""))
        )
        if parts:
            for place, values in enumerate(("FOR VALUES IN ('A', NULL)", "FOR VALUES IN ('a')", "DEFAULT")):
                part = sql.Identifier("falsifier", f"{name} {place}")
                cursor.execute(sql.SQL("CREATE TABLE {} PARTITION OF {} {}").format(part, table, sql.SQL(values)))
        columns = [column.cast(pa.string()) if _by_text(column.type) else column for column in data.columns]
        with cursor.copy(sql.SQL("COPY {} FROM STDIN").format(table)) as copy:
            for row in zip(*(column.to_pylist() for column in columns), strict=True):
                copy.write_row(row)
        for column in data.column_names:
            if random.random() < 0.7:
                cursor.execute(sql.SQL("CREATE INDEX ON {} ({})").format(table, sql.Identifier(column)))
    connection.execute(sql.SQL("ANALYZE {}").format(table))
    return name


def _by_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_date(kind) or pa.types.is_timestamp(kind))


def in_spark(session: Any) -> Form:
    """Tables that Spark wrote and analysed, and the same files by their path."""

    def form(tables: Three, folder: Path, random: Random) -> Opened:
        named = random.random() < 0.5
        sources = []
        for data in tables:
            path = _by_spark(session, data, folder, random)
            if named:
                name = f"falsifier_{next(_NUMBERS)}"
                session.sql(f"CREATE TABLE {name} USING parquet LOCATION '{path}'")
                session.sql(f"ANALYZE TABLE {name} COMPUTE STATISTICS FOR ALL COLUMNS")
                sources.append(f"spark:{name}")
            else:
                sources.append(f"spark:{path}/*.parquet")
        first = open_source(sources[0], "u")
        second = open_source(sources[1], "u", beside=first.engine)
        return first, second, open_source(sources[2], "", beside=first.engine, public=True)

    return form


def by_spark(session: Any) -> Form:
    """Files that Spark wrote, for DuckDB."""
    return Written(lambda data, folder, random: f"{_by_spark(session, data, folder, random)}/*.parquet")


def _by_spark(session: Any, data: pa.Table, folder: Path, random: Random) -> str:
    """A folder of Parquet files with the statistics, dictionaries and Bloom filters that Spark can write."""
    own = folder / f"spark {next(_NUMBERS)}"
    own.mkdir(parents=True)
    pq.write_table(data, own / "given.parquet")
    frame = session.read.parquet(str(own / "given.parquet")).repartition(random.choice([1, 2]))
    writer = frame.write.option("parquet.bloom.filter.enabled", str(random.random() < 0.7).lower())
    writer.option("parquet.enable.dictionary", str(random.random() < 0.7).lower()).parquet(str(own / "files"))
    return str(own / "files")

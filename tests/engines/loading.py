"""Engines for the one suite: the same Python rows become a table of each.

An engine is one line of `ENGINES`: how a backend of Ibis is connected, with a session that is set as awkwardly as it
allows (a time zone of half an hour, for one), because no setting of a session may change a number. The last one is of
another distribution, which is installed for these tests.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

import ibis
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
from psycopg import sql

ENGINES: dict[str, Callable[[Any], Any]] = {
    "duckdb": lambda found: _with(ibis.duckdb.connect(), "SET TimeZone = 'America/St_Johns'"),
    "postgres": lambda found: _with(
        ibis.postgres.from_connection(psycopg.connect(found("server").url, autocommit=True)),
        "SET TimeZone = 'America/St_Johns'",
        "SET DateStyle = 'German'",
        "SET standard_conforming_strings = off",
        "SET transform_null_equals = on",
        "SET extra_float_digits = -15",
    ),
    "pyspark": lambda found: _with(
        ibis.pyspark.connect(found("spark").session),
        "SET spark.sql.session.timeZone = America/St_Johns",
        "SET spark.sql.ansi.enabled = false",
        "SET spark.sql.parser.escapedStringLiterals = true",
        "SET spark.sql.parser.quotedRegexColumnNames = true",
        "SET spark.sql.timestampType = TIMESTAMP_NTZ",
    ),
    "shelf": lambda found: _with(found("shelf").connect(), "SET TimeZone = 'America/St_Johns'"),
}
KINDS: dict[str, pa.DataType] = {
    "whole": pa.int64(),
    "double": pa.float64(),
    "text": pa.string(),
    "boolean": pa.bool_(),
    "date": pa.date32(),
    "time": pa.timestamp("us"),
    "instant": pa.timestamp("us", "UTC"),
}
"""What a column of Python values is stored as; dates are days and times microseconds from the beginning of 1970."""
_STORED = {"date": pa.int32(), "time": pa.int64(), "instant": pa.int64()}
_NAMES = (f"table {number}" for number in count())


def _with(backend: Any, *settings: str) -> Any:
    for setting in settings:
        backend.raw_sql(setting)
    return backend


def load(backend: Any, kinds: Mapping[str, str], rows: Iterable[Mapping[str, Any]]) -> Any:
    """The rows as a table of the engine, of Ibis."""
    listed = list(rows)
    columns = {
        name: pa.array([row[name] for row in listed], _STORED.get(kind, KINDS[kind])).cast(KINDS[kind])
        for name, kind in kinds.items()
    }
    if backend.name == "postgres":
        return _copied(backend, kinds, [[_text(row[name], kind) for name, kind in kinds.items()] for row in listed])
    if backend.name == "pyspark":
        return _stored(backend, pa.table(columns))
    return backend.create_table(next(_NAMES), pa.table(columns))


def _stored(backend: Any, data: pa.Table) -> Any:
    """Two Parquet files under a name of Spark; Ibis takes no names there that would have to be quoted."""
    name = next(_NAMES).replace(" ", "_")
    folder = Path(backend._session.conf.get("spark.sql.warehouse.dir").removeprefix("file:")) / f"files of {name}"
    folder.mkdir(parents=True)
    for place, half in enumerate((data[: len(data) // 2], data[len(data) // 2 :])):
        pq.write_table(half, folder / f"{place}.parquet")
    backend._session.read.parquet(str(folder)).createOrReplaceTempView(name)
    return backend.table(name)


_TYPES = {
    "whole": "bigint",
    "double": "double precision",
    "text": "text",
    "boolean": "boolean",
    "date": "date",
    "time": "timestamp",
    "instant": "timestamptz",
}


def _copied(backend: Any, kinds: Mapping[str, str], rows: list[list[Any]]) -> Any:
    """A table of PostgreSQL, of a schema that is not on the search path."""
    name = f"{os.getpid()} {next(_NAMES)}"
    with backend.con.cursor() as cursor, backend.con.transaction():
        cursor.execute("SET LOCAL DateStyle = 'ISO'; SET LOCAL TimeZone = 'UTC'; CREATE SCHEMA IF NOT EXISTS \"a b\"")
        columns = sql.SQL(", ").join(
            sql.SQL("{} {}").format(sql.Identifier(column), sql.SQL(_TYPES[kind])) for column, kind in kinds.items()
        )
        table = sql.Identifier("a b", name)
        cursor.execute(sql.SQL("CREATE TABLE {} ({})").format(table, columns))
        with cursor.copy(sql.SQL("COPY {} FROM STDIN").format(table)) as copy:
            for row in rows:
                copy.write_row(row)
    return backend.table(name, database="a b")


def _text(value: Any, kind: str) -> Any:
    """A value as PostgreSQL reads it; what is beyond its calendar becomes infinite there, and is in no bin either."""
    if value is None or kind not in ("date", "time", "instant"):
        return value
    try:
        moment = datetime(1970, 1, 1) + (timedelta(days=value) if kind == "date" else timedelta(microseconds=value))
    except OverflowError:
        return "infinity" if value > 0 else "-infinity"
    return (moment.date() if kind == "date" else moment).isoformat()

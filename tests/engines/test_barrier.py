"""The scan barrier and the pinned settings of each engine, each looked at without the other."""

from __future__ import annotations

import math
import re
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import duckdb
import ibis
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import noisewright as nw
from noisewright.release.engines.barrier import behind_barrier, selection
from noisewright.release.engines.duckdb import engine as duck
from noisewright.release.engines.postgres import engine as postgres
from noisewright.release.plan.arranging import layout_of
from noisewright.release.table.person_local import checked
from noisewright.release.table.sources import open_source

ROWS = pa.table({"u": [1, 2, 3], "x": [math.nan, 1.0, 30.0], "k": ["A", "a", "A"], "i": [5, 6, 7]})
FILTERS: dict[str, Any] = {
    "double": lambda t: t.x > 5,
    "whole": lambda t: t.i == 6,
    "text": lambda t: t.k == "A",
    "missing": lambda t: t.x.isnull(),
    "among": lambda t: t.i.isin([5, 7]),
}


def _plan(engine: Any, table: Any, *, pinned: bool) -> str:
    """How DuckDB would run a query; without the settings, only the barrier is between it and what it knows."""
    tree = behind_barrier(table, engine.backend, lambda leaf: selection(leaf, read=duck._opaque))
    with engine._pinned() if pinned else nullcontext():
        ((_, drawn),) = engine.backend.con.execute(f"EXPLAIN {tree.sql('duckdb')}").fetchall()
    return re.sub(r"[^\w(),.:=<>']+", " ", drawn)


def _sources(folder: Path) -> dict[str, Any]:
    pq.write_table(ROWS, folder / "rows.parquet")
    with duckdb.connect(str(folder / "rows.duckdb")) as connection:
        connection.register("given", ROWS)
        connection.execute("CREATE TABLE rows AS SELECT * FROM given")
        for column in ROWS.column_names:
            connection.execute(f"CREATE INDEX index_{column} ON rows ({column})")
    database = ibis.duckdb.connect(folder / "rows.duckdb", read_only=True)
    return {"file": str(folder / "rows.parquet"), "frame": ROWS, "table": database.table("rows")}


@pytest.mark.parametrize("name", FILTERS)
def test_a_scan_of_duckdb_is_asked_for_no_values_of_a_column(tmp_path: Path, name: str):
    for form, given in _sources(tmp_path).items():
        source = open_source(given, "u")
        table, _ = checked(source.table.filter(FILTERS[name]), source.bases, source.engine)
        plan = _plan(source.engine, table, pinned=False)
        # What a scan is handed is asked of an expression, which it has no statistics of, or nothing.
        handed = re.findall(r"Filters: \(*(\w+)", plan)
        assert set(handed) <= {"TRY"}, (form, plan)
        assert "Index Scan" not in plan, (form, plan)
        assert "TRY(" in plan


def test_columns_that_nobody_asks_for_are_not_read(tmp_path: Path):
    source = open_source(_sources(tmp_path)["file"], "u")
    table, _ = checked(source.table.filter(source.table.x > 5).select("u"), source.bases, source.engine)
    plan = _plan(source.engine, table, pinned=True)
    scan = plan[plan.rindex("READ_PARQUET") :]
    assert [f" {name} " in scan for name in ("u", "k", "i")] == [True, False, False]


def test_duckdb_is_asked_by_settings_of_its_own_and_gets_its_own_back():
    backend = ibis.duckdb.connect()
    backend.raw_sql("SET disabled_optimizers = 'top_n'; SET TimeZone = 'America/St_Johns'")
    engine: Any = open_source(backend.create_table("rows", ROWS), "u").engine
    query = "SELECT current_setting('disabled_optimizers'), current_setting('TimeZone')"
    with engine.snapshot():
        ((optimizers, zone),) = engine.backend.con.execute(query).fetchall()
    assert {"statistics_propagation", "join_filter_pushdown", "compressed_materialization"} <= set(
        optimizers.split(",")
    )
    assert zone == "UTC"
    assert engine.backend.con.execute(query).fetchall() == [("top_n", "America/St_Johns")]


def test_a_table_called_like_a_part_of_a_query_is_the_table():
    backend = ibis.duckdb.connect()
    tables = {name: backend.create_table(name, ROWS) for name in ("t0", "t1", "t2")}
    data = nw.Dataset(tables["t1"], "u", name="x").through(
        lambda t: t.mutate(y=t.x + 1).filter(lambda r: r.i > 5).group_by("u", "k").agg(n=lambda r: r.count())
    )
    for name in ("t0", "t2"):
        data = data.join_public(tables[name].mutate(one=1).select("k", name=ibis.literal(name)).view(), "k")
    assert data._checked.true_aggregates(
        layout_of([nw.count()], nw.Dataset(ROWS, "u", name="y", rows_per_group=99).limits), 1
    ) == [5]


@pytest.mark.parametrize("place", range(7))
def test_a_table_called_like_a_step_that_a_query_takes_twice_is_the_table(place: int):
    table = ibis.duckdb.connect().create_table(f"t{place}", ROWS)
    data = nw.Dataset(table, "u", name="x", rows_per_group=9)

    def twice(t: Any) -> Any:
        few = t.filter(t.i > 5).group_by("u").agg(j=t.i.max())
        return ibis.union(few, few.filter(few.j > 6), distinct=False)

    found = data.through(twice)
    assert found._checked.true_aggregates(layout_of([nw.count()], found.limits), 1) == [3]


@pytest.mark.parametrize("name", FILTERS)
def test_no_filter_chooses_an_index_or_a_part_of_a_table_of_postgres(server: Any, name: str):
    with psycopg.connect(server.url, autocommit=True) as connection:
        for words in (
            "DROP TABLE IF EXISTS public.scanned",
            "CREATE TABLE public.scanned (u bigint, x double precision, k text, i bigint CHECK (i < 9999))"
            " PARTITION BY LIST (k)",
            "CREATE TABLE public.scanned_a PARTITION OF public.scanned FOR VALUES IN ('A')",
            "CREATE TABLE public.scanned_b PARTITION OF public.scanned DEFAULT",
            "INSERT INTO public.scanned SELECT n, n, 'A', n % 9999 FROM generate_series(1, 20000) n",
            "INSERT INTO public.scanned VALUES (1, 'NaN', 'a', 6)",
            *(f"CREATE INDEX ON public.scanned ({column})" for column in "uxki"),
            "ANALYZE public.scanned",
        ):
            connection.execute(words)
        backend = ibis.postgres.from_connection(connection)
        source = open_source(backend.table("scanned", database="public"), "u")
        table, _ = checked(source.table.filter(FILTERS[name]), source.bases, source.engine)
        connection.execute("SET search_path TO pg_catalog")
        found = connection.execute(f"EXPLAIN {postgres.written(backend, table)}".encode()).fetchall()
        plan = "\n".join(line for (line,) in found)
        assert "Index" not in plan
        assert all(part in plan for part in ("scanned_a", "scanned_b"))


def test_postgres_is_asked_by_settings_of_its_own(server: Any):
    with psycopg.connect(server.url, autocommit=True) as connection:
        backend = ibis.postgres.from_connection(connection)
        connection.execute("CREATE TABLE IF NOT EXISTS public.empty (u bigint)")
        engine = open_source(backend.table("empty", database="public"), "u").engine
        names = [name for name in postgres._SETTINGS if name.startswith(("enable_", "constraint_"))]
        assert {"constraint_exclusion", "enable_partition_pruning", "enable_indexscan"} <= set(names)
        with engine.snapshot():
            held = {name: connection.execute(f"SHOW {name}".encode()).fetchall() for name in names}
        assert held == {name: [("off",)] for name in names}


def test_names_that_postgres_cuts_are_one(server: Any):
    # What comes behind the sixty-third byte is cut off, and letters are not cut in two.
    long = "a" * 62
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS public.named (u bigint, x double precision)")
        backend = ibis.postgres.from_connection(connection)
        data = nw.Dataset(backend.table("named", database="public"), "u", name="x")
        for one, other in ((long + "bc", long + "bd"), (long + "ä", long + "ö"), (long + "b", long + "b2")):
            with pytest.raises(nw.errors.InvalidTableError, match="the length at which names are cut"):
                data.mutate(**{one: 1, other: 2})
        assert {long + "b", long + "B"} <= set(data.mutate(**{long + "b": 1, long + "B": 2}).columns)


@pytest.mark.xdist_group("spark")
@pytest.mark.parametrize("condition", ["x > 5", "i = 6", "k = 'A'", "x IS NULL", "i IN (5, 7)"])
def test_no_filter_reaches_a_file_of_spark(spark: Any, tmp_path: Path, condition: str):
    from noisewright.release.engines.spark.sessions import opaque

    pq.write_table(ROWS, tmp_path / "rows.parquet")
    frame = spark.session.read.parquet(str(tmp_path))
    # In the session that was given, where filters are handed down.
    plain = frame.filter(condition)._jdf.queryExecution().toString()
    assert "PushedFilters: []" not in plain
    behind = opaque(frame).filter(condition)._jdf.queryExecution().toString()
    assert "PushedFilters: []" in behind
    engine: Any = open_source(f"spark:{tmp_path}", "u").engine
    own = engine._home.own
    assert own.conf.get("spark.sql.parquet.filterPushdown") == "false"
    held = {name: own.conf.get(name, "") for name in own.conf.getAll if name.startswith("parquet.filter.")}
    assert held == dict.fromkeys([f"parquet.filter.{kind}.enabled" for kind in KINDS], "false")


KINDS = ("stats", "columnindex", "bloom", "dictionary")
"""What a reader of Parquet leaves parts of a file out by."""


@pytest.mark.xdist_group("spark")
def test_numbers_on_spark_hang_on_nobody_else(spark: Any, tmp_path: Path):
    found = []
    for place, more in enumerate(([], [1.0], [99.0], [200.0])):
        folder = tmp_path / str(place)
        folder.mkdir()
        x = [*more, *[math.nan] * 99]
        pq.write_table(pa.table({"u": list(range(len(x))), "x": x}), folder / "rows.parquet")
        data = nw.Dataset(f"spark:{folder}", "u")
        few = data.filter(lambda t: t.x > 5)
        asked = [nw.count(), nw.ask.sum("x", bounds=(0, 100), step=1)]
        found.append([*few._checked.true_aggregates(layout_of(asked, data.limits), 1)])
        found.append([*data._checked.true_aggregates(layout_of(asked, data.limits), 1)])
    assert found == [[99, 0], [99, 0], [99, 0], [100, 1], [100, 99], [100, 99], [100, 100], [100, 100]]

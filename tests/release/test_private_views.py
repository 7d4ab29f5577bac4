"""A view over the private table is the private table; one of which nobody knows what it reads is not public."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import quote

import ibis
import pandas as pd
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import noisewright as nw
from tests.postgres_server import Server
from tests.release.private import ROWS, refused_as_public

UNSURE = "cannot be found out"
MADE_OF_IT = {
    "itself": "SELECT * FROM visits",
    "a view": "SELECT * FROM itself",
    "a part of the query": "WITH q AS (SELECT * FROM visits) SELECT * FROM q",
    "called like another table": "WITH wards AS (SELECT * FROM visits) SELECT * FROM wards",
    "a condition": "SELECT * FROM wards WHERE ward IN (SELECT ward FROM visits)",
    "a value": "SELECT ward, (SELECT count(*) FROM visits) AS n FROM wards",
    "a union": "SELECT ward FROM wards UNION ALL SELECT ward FROM visits",
    "a join": "SELECT w.* FROM wards w JOIN visits USING (ward)",
    "beside": "SELECT w.* FROM wards w, LATERAL (SELECT 1 FROM visits v WHERE v.ward = w.ward) x",
    "whether there is one": "SELECT * FROM wards w WHERE EXISTS (SELECT 1 FROM visits v WHERE v.ward = w.ward)",
    "a window": "SELECT ward, row_number() OVER () AS n FROM visits",
    "again and again": "WITH RECURSIVE r AS (SELECT ward FROM visits UNION SELECT ward FROM r) SELECT * FROM r",
    'quoted "AS" (': 'SELECT ward AS "AS ( x", ward FROM "visits"',
}
PUBLIC = {
    "wards only": "SELECT * FROM wards",
    "wards in capitals": "SELECT upper(ward) AS ward, beds + 1 AS n, count(*) OVER () AS m FROM wards",
    "of a part": "WITH part AS (SELECT * FROM wards) SELECT * FROM part",
    "constants": "SELECT * FROM (VALUES ('A')) t(ward)",
}


def _taken(data: nw.Dataset, table: Any) -> None:
    assert data.plan(nw.count(by=nw.keys("ward", table)), privacy=nw.PureDP(1)).layout.dimension == 1


def _unsure(data: nw.Dataset, table: Any) -> None:
    for asked in (lambda: nw.keys("ward", table), lambda: data.join_public(table, "ward")):
        with pytest.raises(nw.errors.InvalidTableError, match=UNSURE):
            asked()


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Path]:
    """A database with a private table and views, and the folder of files that some of them read."""
    folder = tmp_path_factory.mktemp("views")
    pd.DataFrame(ROWS).to_csv(folder / "visits.csv", index=False)
    pq.write_table(pa.table(ROWS), folder / "visits.parquet")
    (folder / "wards.csv").write_text("ward,beds\nA,3\n", encoding="utf-8")
    backend = ibis.duckdb.connect(folder / "clinic.duckdb")
    for words in (
        f"CREATE TABLE visits AS FROM '{folder}/visits.csv'; CREATE TABLE wards AS FROM '{folder}/wards.csv'",
        "CREATE MACRO most() AS (SELECT max(ward) FROM visits); CREATE MACRO all_of() AS TABLE SELECT * FROM visits",
        "CREATE SCHEMA s; CREATE TABLE s.visits AS FROM wards",
        *(f"CREATE VIEW {_name(name)} AS {query}" for name, query in (MADE_OF_IT | PUBLIC).items()),
        'CREATE VIEW "with ""its"" columns" ("ward", "a AS (b") AS SELECT ward, id FROM visits',
    ):
        backend.con.execute(words)
    return backend, folder


def _name(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


@pytest.mark.parametrize("name", [*MADE_OF_IT, 'with "its" columns'])
def test_a_view_of_duckdb_over_the_private_table_is_the_private_table(held: tuple[Any, Path], name: str):
    backend, _ = held
    refused_as_public(nw.Dataset(backend.table("visits"), "id", name="x"), backend.table(name))


@pytest.mark.parametrize("name", PUBLIC)
def test_a_view_of_duckdb_over_public_tables_is_public(held: tuple[Any, Path], name: str):
    backend, _ = held
    _taken(nw.Dataset(backend.table("visits"), "id", name="x"), backend.table(name))


@pytest.mark.parametrize(
    ("reads", "private"),
    [
        ("read_parquet('{}/visits.parquet')", "visits.parquet"),
        ("read_parquet('{}/v*.parquet')", "visits.parquet"),
        ("read_parquet(['{}/v?sits.parquet'])", "visits.parquet"),
        ("'{}/visits.csv'", "visits.csv"),
        ("read_csv(['{0}/wards.csv', '{0}/visits.csv'], union_by_name = true)", "visits.csv"),
    ],
)
def test_a_view_of_duckdb_over_a_private_file_is_that_file(held: tuple[Any, Path], reads: str, private: str):
    backend, folder = held
    backend.con.execute(f"CREATE OR REPLACE VIEW of_file AS SELECT * FROM {reads.format(folder)}")
    refused_as_public(nw.Dataset(folder / private, "id", name="x"), backend.table("of_file"))
    _taken(nw.Dataset(backend.table("visits"), "id", name="y"), backend.table("wards only"))


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM query_table('visits')",
        "SELECT * FROM query('SELECT * FROM visits')",
        "SELECT table_name AS ward, estimated_size FROM duckdb_tables()",
        "SELECT most() AS ward",
        "SELECT * FROM all_of()",
        "SELECT file_name AS ward FROM parquet_metadata('{}/visits.parquet')",
        "SELECT column_name AS ward FROM (SUMMARIZE visits)",
        "SELECT * FROM read_csv('{}/' || 'visits.csv')",
        "SELECT ward FROM wards UNION ALL SELECT table_name FROM information_schema.tables",
    ],
)
def test_a_view_of_duckdb_of_which_nobody_knows_what_it_reads_is_not_public(held: tuple[Any, Path], query: str):
    backend, folder = held
    backend.con.execute(f"CREATE OR REPLACE VIEW dark AS {query.format(folder)}")
    data = nw.Dataset(backend.table("visits"), "id", name="x")
    _unsure(data, backend.table("dark"))
    backend.con.execute("CREATE OR REPLACE VIEW darker AS SELECT * FROM dark")
    _unsure(data, backend.table("darker"))


def test_a_view_of_duckdb_that_names_a_file_by_a_relative_path_is_not_public(
    held: tuple[Any, Path], monkeypatch: pytest.MonkeyPatch
):
    backend, folder = held
    monkeypatch.chdir(folder)
    backend.con.execute("CREATE OR REPLACE VIEW near AS FROM 'wards.csv'")
    _unsure(nw.Dataset(backend.table("visits"), "id", name="x"), backend.table("near"))


def test_the_base_of_a_private_view_is_private_and_views_in_attached_databases_are_seen_through(held: tuple[Any, Path]):
    backend, folder = held
    data = nw.Dataset(backend.table("a view"), "id", name="x", local_views=["a view"])
    refused_as_public(data, backend.table("visits"))
    _taken(data, backend.table("wards only"))
    other = ibis.duckdb.connect()
    backend.con.execute("CHECKPOINT")
    (folder / "copy.duckdb").write_bytes((folder / "clinic.duckdb").read_bytes())
    other.con.execute(f"ATTACH '{folder}/copy.duckdb' AS o (READ_ONLY)")
    other.con.execute('CREATE VIEW through AS SELECT * FROM o.main."a view"')
    visits = nw.Dataset(f"{folder}/copy.duckdb::visits", "id", name="y")
    refused_as_public(visits, other.table("a view", database=("o", "main")))
    refused_as_public(visits, other.table("through"))
    _taken(visits, other.table("wards only", database=("o", "main")))
    other.disconnect()


@pytest.fixture(scope="module")
def base(server: Server) -> str:
    """The address of a database with a private table and views over it."""
    server.execute("CREATE DATABASE views")
    found = server.url.replace("/postgres", "/views")
    with psycopg.connect(found, autocommit=True) as connection:
        for words in (
            "CREATE TABLE visits (id bigserial, ward text); INSERT INTO visits (ward) VALUES ('A'), ('Q')",
            "CREATE TABLE wards (ward text, beds int); INSERT INTO wards VALUES ('A', 1); ANALYZE visits",
            "CREATE TABLE parts (id bigint, ward text) PARTITION BY LIST (ward)",
            "CREATE TABLE part PARTITION OF parts FOR VALUES IN ('A'); INSERT INTO parts VALUES (1, 'A')",
            "CREATE FUNCTION most() RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT max(ward) FROM public.visits'",
            "CREATE FUNCTION all_of() RETURNS SETOF visits LANGUAGE sql AS 'SELECT * FROM public.visits'",
            "CREATE FUNCTION same(int, int) RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT true'",
            "CREATE OPERATOR === (FUNCTION = same, LEFTARG = int, RIGHTARG = int)",
            "CREATE AGGREGATE joined(text) (SFUNC = textcat, STYPE = text)",
            *(f"CREATE VIEW {_name(name)} AS {query}" for name, query in (MADE_OF_IT | PUBLIC | DARK).items()),
            "CREATE MATERIALIZED VIEW kept AS SELECT * FROM visits",
            "CREATE MATERIALIZED VIEW kept_wards AS SELECT * FROM wards",
            "CREATE VIEW of_parts AS SELECT * FROM parts; CREATE VIEW of_part AS SELECT * FROM part",
        ):
            connection.execute(words.encode())
    return found


DARK = {
    "statistics": "SELECT most_common_vals::text AS ward FROM pg_stats WHERE tablename = 'visits'",
    "how many rows": "SELECT reltuples::text AS ward FROM pg_class",
    "names": "SELECT table_name::text AS ward FROM information_schema.tables",
    "a query in a text": "SELECT query_to_xml('SELECT * FROM public.visits', true, true, '')::text AS ward",
    "a table in a text": "SELECT table_to_xml('public.visits', true, true, '')::text AS ward",
    "words of a query": "SELECT word AS ward FROM ts_stat('SELECT to_tsvector(ward) FROM public.visits')",
    "a function": "SELECT most() AS ward",
    "a function of rows": "SELECT * FROM all_of()",
    "an operator": "SELECT (1 === 2)::text AS ward",
    "a summary": "SELECT joined(ward) AS ward FROM wards",
    "a sequence": "SELECT last_value::text AS ward FROM visits_id_seq",
    "the next number": "SELECT nextval('visits_id_seq')::text AS ward",
}


def _at(base: str, name: str) -> str:
    return f"{base}/public.{quote(name, safe='')}"


@pytest.mark.parametrize("name", [*MADE_OF_IT, "kept"])
def test_a_view_of_postgres_over_the_private_table_is_the_private_table(base: str, name: str):
    refused_as_public(nw.Dataset(f"{base}/visits", "id"), _at(base, name))


@pytest.mark.parametrize("name", [*PUBLIC, "kept_wards"])
def test_a_view_of_postgres_over_public_tables_is_public(base: str, name: str):
    _taken(nw.Dataset(f"{base}/visits", "id"), _at(base, name))


@pytest.mark.parametrize("name", DARK)
def test_a_view_of_postgres_of_which_nobody_knows_what_it_reads_is_not_public(base: str, name: str):
    _unsure(nw.Dataset(f"{base}/visits", "id"), _at(base, name))


def test_views_of_postgres_know_parts_and_private_views_their_base(base: str):
    for private in ("parts", "part"):
        for view in ("of_parts", "of_part"):
            refused_as_public(nw.Dataset(f"{base}/{private}", "id"), f"{base}/{view}")
    data = nw.Dataset(f"{base}/itself", "id", name="x", local_views=["itself"])
    refused_as_public(data, f"{base}/visits")
    refused_as_public(data, f"{base}/kept")
    _taken(data, f"{base}/kept_wards")
    for catalogue in ("pg_catalog.pg_stats", "information_schema.tables"):
        with pytest.raises(nw.errors.InvalidTableError, match=UNSURE):
            data.join_public(f"{base}/{catalogue}", "ward")

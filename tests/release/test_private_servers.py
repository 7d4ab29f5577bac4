"""A private table of PostgreSQL or Spark is the same however it is reached: by what the server, or the files, say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ibis
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import noisewright as nw
from tests.postgres_server import Server
from tests.release.private import LISTED, REFUSED, ROWS, refused_as_public
from tests.spark_session import Sparks


@pytest.fixture(scope="module")
def clinic(server: Server) -> str:
    """The address of a database with private tables and a public one, and of a user who may read them."""
    server.execute("CREATE DATABASE clinic")
    server.execute("CREATE DATABASE twin")
    for name in ("clinic", "twin"):
        with psycopg.connect(server.url.replace("/postgres", f"/{name}"), autocommit=True) as connection:
            for statement in (
                "CREATE TABLE visits (id bigint, ward text)",
                "INSERT INTO visits VALUES (1, 'A'), (2, 'Q')",
                "CREATE TABLE wards (ward text, beds int)",
                "INSERT INTO wards VALUES ('A', 3)",
                "CREATE SCHEMA parts",
                "CREATE TABLE parts.visits (id bigint, ward text) PARTITION BY LIST (ward)",
                "CREATE TABLE parts.a PARTITION OF parts.visits FOR VALUES IN ('A')",
                "INSERT INTO parts.visits VALUES (1, 'A')",
            ):
                connection.execute(statement.encode())
    server.execute("CREATE ROLE onlooker LOGIN PASSWORD 'look' IN ROLE pg_read_all_data")
    return server.url.replace("/postgres", "/clinic")


def test_a_table_of_a_server_is_one_however_the_server_is_reached(clinic: str, server: Server):
    address = f"postgresql://onlooker:look@localhost:{server.port}/clinic"
    addresses: list[Any] = [
        f"{clinic}/visits",
        f"{clinic}/public.visits?statement_timeout=9000",
        f"{clinic.replace('postgresql://', 'postgres://')}/visits?connect_timeout=9",
        f"{clinic.replace('127.0.0.1', 'localhost')}/visits",
        f"{address}/visits?application_name=other",
    ]
    connection = psycopg.connect(address, autocommit=True)
    addresses.append(ibis.postgres.from_connection(connection).table("visits"))
    for private in (addresses[0], addresses[4]):
        data = nw.Dataset(private, "id")
        for table in addresses:
            refused_as_public(data, table)
        assert data.plan(nw.count(by=nw.keys("ward", f"{address}/wards")), privacy=nw.PureDP(1)).layout.dimension == 1
        twin = f"{clinic.replace('/clinic', '/twin')}/visits"
        assert data.plan(nw.count(by=nw.keys("ward", twin)), privacy=nw.PureDP(1)).layout.dimension == 2
    assert "beds" in nw.Dataset(f"{clinic}/visits", "id").join_public(f"{clinic}/wards", "ward").columns
    refused_as_public(nw.Dataset(f"{clinic}/parts.visits", "id"), f"{address}/parts.a")
    refused_as_public(nw.Dataset(f"{clinic}/parts.a", "id"), f"{address}/parts.visits")
    connection.close()


def test_a_table_of_a_server_is_one_where_users_may_not_ask_which_cluster_it_is(clinic: str, server: Server):
    with psycopg.connect(clinic, autocommit=True) as connection:
        connection.execute("REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC")
    try:
        refused_as_public(
            nw.Dataset(f"{clinic}/visits", "id"), f"postgresql://onlooker:look@localhost:{server.port}/clinic/visits"
        )
    finally:
        with psycopg.connect(clinic, autocommit=True) as connection:
            connection.execute("GRANT EXECUTE ON FUNCTION pg_control_system() TO PUBLIC")


def test_a_table_of_a_server_that_was_started_anew_is_the_same(server: Server):
    other = server.another()
    try:
        other.execute("CREATE TABLE visits AS SELECT 1::bigint AS id, 'A' AS ward")
        keys = nw.keys("ward", f"{other.url}/visits")
        other.stop()
        other.start()
        with pytest.raises(REFUSED, match=LISTED):
            nw.Dataset(f"{other.url}/visits", "id").plan(nw.count(by=keys), privacy=nw.PureDP(1))
    finally:
        other.remove()


@pytest.mark.xdist_group("spark")
def test_a_table_of_spark_is_the_files_that_it_reads(spark: Sparks, tmp_path: Path):
    (tmp_path / "a b").mkdir()
    path = tmp_path / "a b" / "1.parquet"
    pq.write_table(pa.table(ROWS), path)
    pq.write_table(pa.table({"ward": ["A"], "beds": [3]}), tmp_path / "wards.parquet")
    session = spark.session
    try:
        session.sql(f"CREATE TABLE private_visits (id BIGINT, ward STRING) USING parquet LOCATION '{path.parent}'")
        session.read.parquet(str(path)).createOrReplaceTempView("seen")
        names = [f"spark:{path}", f"spark:{path.parent}", f"spark:{tmp_path}/a*/*.parquet", "spark:private_visits"]
        frames = [session.table("private_visits"), session.read.parquet(f"file://{path}")]
        tables = [
            *names,
            "spark:default.PRIVATE_visits",
            *frames,
            ibis.pyspark.connect(session).table("private_visits"),
        ]
        for private in (names[0], names[3], frames[0]):
            data = nw.Dataset(private, "id", name="visits")
            for table in (*tables, "spark:seen"):
                refused_as_public(data, table)
            wards = f"spark:{tmp_path}/wards.parquet"
            assert data.plan(nw.count(by=nw.keys("ward", wards)), privacy=nw.PureDP(1)).layout.dimension == 1
            assert "beds" in data.join_public(wards, "ward").columns
            with pytest.raises(REFUSED, match=LISTED):
                data.plan(nw.count(by=nw.keys("ward", path)), privacy=nw.PureDP(1))
        data = nw.Dataset(path, "id")
        with pytest.raises(REFUSED, match=LISTED):
            data.plan(nw.count(by=nw.keys("ward", "spark:private_visits")), privacy=nw.PureDP(1))
        keys = nw.keys("ward", f"spark:{path.parent}")
        pq.write_table(pa.table({"id": [7], "ward": ["Z"]}), path.with_name("2.parquet"))
        path.unlink()  # rows are written anew into the same folder
        with pytest.raises(REFUSED, match=LISTED):
            nw.Dataset("spark:private_visits", "id").plan(nw.count(by=keys), privacy=nw.PureDP(1))
    finally:
        session.sql("DROP TABLE IF EXISTS private_visits")
